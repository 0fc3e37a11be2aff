// SPDX-License-Identifier: GPL-2.0
/*
 * The cost of a recording, for people and for scripts.
 */
#include "record_cost.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>

#include "base/json.h"
#include "base/log.h"
#include "session/budget.h"

static void print_class(const struct budget *b, enum shed_class class)
{
	struct budget_class c;
	char detached[80] = "";

	budget_class(b, class, &c);
	if (!c.times)
		return;
	if (c.detached_ns)
		snprintf(detached, sizeof(detached), "; detached at %.3f s, later ones are not counted", c.detached_ns / 1e9);
	log_warn("shed %s: %" PRIu64 " event%s in %.3f s, between %.3f and %.3f s, %" PRIu64 " time%s (--budget %g%%)%s",
		 budget_class_name(class), c.events, c.events == 1 ? "" : "s", c.ns / 1e9, c.first_ns / 1e9, c.last_ns / 1e9,
		 c.times, c.times == 1 ? "" : "s", budget_limit(b) * 100, detached);
}

void record_cost_print(const struct budget *b)
{
	struct cost_shares shares;
	enum shed_class class;
	char text[COST_TEXT];

	if (!b)
		return;
	if (budget_cost(b, false, &shares))
		log_info("%s%s", cost_text(&shares, text), budget_is_measured(b) ? "" : ", kernel by typical times, not measured");
	else
		log_info("cost - (the recording is too short to measure it)");
	for (class = 0; class < SHED_CNT; class++)
		print_class(b, class);
}

static void print_json_cost(struct json *j, const struct budget *b)
{
	struct cost_shares s;

	json_line(j, "  ");
	json_key(j, "cost");
	if (!budget_cost(b, false, &s)) {
		json_null(j);
		return;
	}
	json_object(j);
	json_key_bool(j, "measured", budget_is_measured(b));
	json_key_fixed(j, "total_percent", (s.kernel + s.drain + s.output) * 100, 4);
	json_key_fixed(j, "kernel_percent", s.kernel * 100, 4);
	json_key_fixed(j, "recorder_percent", (s.drain + s.output) * 100, 4);
	json_end(j);
}

static void print_json_class(struct json *j, const struct budget *b, enum shed_class class)
{
	struct budget_class c;

	budget_class(b, class, &c);
	if (!c.times)
		return;
	json_line(j, "    ");
	json_object(j);
	json_key_text(j, "name", budget_class_name(class));
	json_key_u64(j, "events", c.events);
	json_key_u64(j, "duration_ns", c.ns);
	json_key_u64(j, "times", c.times);
	json_key_u64(j, "first_ns", c.first_ns);
	json_key_u64(j, "last_ns", c.last_ns);
	if (c.detached_ns)
		json_key_u64(j, "detached_ns", c.detached_ns);
	json_end(j);
}

void record_cost_print_json(struct json *j, const struct budget *b)
{
	enum shed_class class;

	print_json_cost(j, b);
	json_line(j, "  ");
	json_key(j, "budget");
	if (!(budget_limit(b) > 0)) {
		json_null(j);
		return;
	}
	json_object(j);
	json_key_fixed(j, "percent", budget_limit(b) * 100, 4);
	json_key_bool(j, "exceeded", budget_was_exceeded(b));
	json_key(j, "shed");
	json_array(j);
	for (class = 0; class < SHED_CNT; class++)
		print_json_class(j, b, class);
	json_end(j);
	json_end(j);
}
