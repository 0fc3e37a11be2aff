// SPDX-License-Identifier: GPL-2.0
#include "record_window.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "base/log.h"
#include "base/num.h"
#include "session/budget.h"
#include "session/session.h"
#include "trigger/trigger.h"

enum shed_class record_window_class(const char *word)
{
	static const struct {
		const char *begin;
		enum shed_class class;
	} kinds[] = {
		{ "func:", SHED_CALLS }, { "syscall:", SHED_SYSCALLS }, { "event=", SHED_TRACEPOINTS }, { "irq>", SHED_PRESETS },
	};
	unsigned int i;

	for (i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (!strncmp(word, kinds[i].begin, strlen(kinds[i].begin)))
			return kinds[i].class;
	return SHED_CNT;
}

/* For how long what it looks at was left out. */
static uint64_t shed_ns(const struct budget *b, const char *word)
{
	const enum shed_class class = record_window_class(word);
	struct budget_class c = { 0 };

	if (class != SHED_CNT)
		budget_class(b, class, &c);
	return c.ns;
}

static void show_trigger(const struct trigger_counts *c, uint64_t shed_ns)
{
	char shed[80] = "";

	if (shed_ns)
		snprintf(shed, sizeof(shed), ", blind for %.1f s (--budget)", shed_ns / 1e9);
	log_info("trigger %s: %" PRIu64 " fired, %" PRIu64 " suppressed%s%s%s%s", c->word, c->fired, c->suppressed, shed,
		 c->blind ? " (blind: " : "", c->blind ?: "", c->blind ? ")" : "");
}

void record_window_show(const struct triggers *triggers, const struct budget *b, const struct recorder_totals *t)
{
	const struct piece_sums *o = &t->window.overwritten;
	char bytes[NUM_SIZE_TEXT];
	struct trigger_counts c;
	unsigned int i;

	log_info("window: %.1f s, %s, %" PRIu64 " events overwritten as they were older", t->window.held_ns / 1e9,
		 num_size_text(t->window.bytes, bytes), o->switches + o->wakeups + o->calls + o->logs + o->events);
	for (i = 0; triggers && triggers_counts(triggers, i, &c); i++)
		show_trigger(&c, shed_ns(b, c.word));
}

static void print_triggers(struct json *j, const struct triggers *triggers, const struct budget *b)
{
	struct trigger_counts c;
	unsigned int i;

	json_line(j, "  ");
	json_key(j, "triggers");
	json_array(j);
	for (i = 0; triggers && triggers_counts(triggers, i, &c); i++) {
		json_line(j, "    ");
		json_object(j);
		json_key_text(j, "trigger", c.word);
		json_key_u64(j, "fired", c.fired);
		json_key_u64(j, "suppressed", c.suppressed);
		json_key_bool(j, "blind", c.blind);
		json_key_u64(j, "shed_ns", shed_ns(b, c.word));
		json_end(j);
	}
	json_end(j);
}

void record_window_print_json(struct json *j, const struct triggers *triggers, const struct budget *b,
			      const struct recorder_totals *t)
{
	json_line(j, "  ");
	json_key(j, "window");
	json_object(j);
	json_key_u64(j, "files", t->files);
	json_key_u64(j, "files_late", t->files_late);
	json_key_u64(j, "held_ns", t->window.held_ns);
	json_key_u64(j, "bytes", t->window.bytes);
	json_key_u64(j, "raw_bytes", t->window.raw_bytes);
	json_key(j, "overwritten");
	json_object(j);
	json_key_u64(j, "switches", t->window.overwritten.switches);
	json_key_u64(j, "wakeups", t->window.overwritten.wakeups);
	json_key_u64(j, "calls", t->window.overwritten.calls);
	json_key_u64(j, "events", t->window.overwritten.events);
	json_key_u64(j, "logs", t->window.overwritten.logs);
	json_end(j);
	json_end(j);
	print_triggers(j, triggers, b);
}
