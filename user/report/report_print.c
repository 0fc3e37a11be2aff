// SPDX-License-Identifier: GPL-2.0
/*
 * What kfxt report found, as a page or as JSON.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "report/columns.h"
#include "base/json.h"
#include "base/log.h"
#include "report.h"
#include "schema.h"

/* Threads that ran, up to as many as were asked for. None that was not selected. */
static size_t shown_cnt(const struct report *r, const struct report_cfg *cfg)
{
	size_t i;

	for (i = 0; i < r->tl->threads_cnt && i < cfg->top; i++)
		if (!r->time.threads[i].slices || r->time.threads[i].is_partial)
			break;
	return i;
}

/* Of the time of all CPUs together, in percent. */
static double share_of(const struct report *r, const struct cpu_time_thread *u)
{
	double total = (double)r->summary.duration_ns * r->summary.cpus;

	return total > 0 ? 100.0 * (double)u->run_ns / total : 0;
}

/* How many a second; 0 if the trace has no length. */
static double rate_of(const struct report *r, uint64_t cnt)
{
	return r->summary.duration_ns ? (double)cnt * 1e9 / (double)r->summary.duration_ns : 0;
}

static double percent_of(const struct report *r, uint64_t ns)
{
	return r->summary.duration_ns ? 100.0 * (double)ns / (double)r->summary.duration_ns : 0;
}

/* A trace of others without wakeups need not have been asked for any. */
static bool has_wakeups(const struct report *r)
{
	return r->tl->wakeups || r->tl->session.has_start;
}

/* The start by the wall clock as @format has it, in UTC; false if it is not known. */
static bool start_date(const struct report *r, const char *format, char *text, size_t size)
{
	const time_t seconds = (time_t)(r->tl->session.realtime_ns / 1000000000);
	struct tm tm;

	return seconds && gmtime_r(&seconds, &tm) && strftime(text, size, format, &tm);
}

static void print_head(const struct report *r)
{
	const struct timeline_session *s = &r->tl->session;
	char date[64];

	if (s->host) {
		printf("host:             ");
		log_text_print(stdout, s->host, strlen(s->host));
	}
	if (s->kernel) {
		printf("%sLinux ", s->host ? ", " : "kernel:           ");
		log_text_print(stdout, s->kernel, strlen(s->kernel));
	}
	if (s->host || s->kernel)
		putchar('\n');
	if (start_date(r, "%F %T UTC", date, sizeof(date)))
		printf("date:             %s\n", date);
	if (s->filter) {
		printf("filter:           ");
		log_text_print(stdout, s->filter, strlen(s->filter));
		printf(" (other threads are filtered out)\n");
	}
}

static void print_rates(const struct report *r)
{
	if (!r->summary.duration_ns)
		return;
	printf("rates:            %.1f switches/s", rate_of(r, r->tl->switches));
	if (has_wakeups(r))
		printf(", %.1f wakeups/s", rate_of(r, r->tl->wakeups));
	putchar('\n');
}

static void print_cpus(const struct report *r, const struct report_cfg *cfg)
{
	const struct cpu_time_cpu *c = r->time.cpus;
	size_t shown = r->time.cpus_cnt < cfg->top ? r->time.cpus_cnt : cfg->top;

	if (!shown || !r->summary.duration_ns)
		return;
	printf("\n%6s %8s %8s %11s\n", "CPU", "busy", "idle", "switches/s");
	for (; c < r->time.cpus + shown; c++)
		printf("%6u %7.2f%% %7.2f%% %11.1f\n", c->cpu, percent_of(r, c->busy_ns), percent_of(r, c->idle_ns),
		       rate_of(r, c->switches));
	if (shown < r->time.cpus_cnt)
		printf("%zu more CPU%s (-n, --json)\n", r->time.cpus_cnt - shown, r->time.cpus_cnt - shown == 1 ? "" : "s");
}

static void print_name(const char *name, size_t width)
{
	char text[64] = "?";

	if (name)
		log_text(text, sizeof(text), name, strlen(name));
	fputs(text, stdout);
	columns_pad(text, width);
}

/* A lower bound is cut, not rounded, and none at all is "-". */
static const char *wait_text(char *text, size_t size, const struct report *r, const struct cpu_time_thread *u)
{
	const struct waits_longest wait = waits_of(r->time.waits, u->thread);

	if (wait.complete)
		snprintf(text, size, "%.6f", (double)wait.ns / 1e9);
	else if (wait.ns >= 1000)
		snprintf(text, size, ">= %" PRIu64 ".%06" PRIu64, wait.ns / 1000000000, wait.ns / 1000 % 1000000);
	else
		snprintf(text, size, "-");
	return text;
}

static const struct timeline_process *process_of(const struct report *r, const struct cpu_time_thread *u)
{
	const struct timeline_thread *t = &r->tl->threads[u->thread];

	return t->has_process ? timeline_process(r->tl, t->process) : NULL;
}

/* Where the column of processes begins, where that of containers and units, and how wide that is at least. */
#define PROCESS_FROM	83
#define PLACE_FROM	(PROCESS_FROM + 28)
#define PLACE_WIDTH	18

/* The container that a process is in or, if none, its unit: at most @width columns. False: neither is known. */
static bool place_text(char text[128], const struct timeline_process *p, size_t width)
{
	const bool in_container = p && p->container && *p->container;
	char name[128] = "";

	if (in_container)
		snprintf(name, sizeof(name), "container %.12s", p->container);
	else if (p && p->unit)
		snprintf(name, sizeof(name), "%s", p->unit);
	log_text(text, 128, name, strlen(name));
	columns_cut(text, width);
	return *text;
}

/* How wide a column of places is that @cnt rows have; 0: none has one, or there is no space. */
static size_t place_width(const struct report *r, size_t cnt)
{
	const size_t columns = columns_of_terminal(STDOUT_FILENO);
	char text[128];
	size_t i;

	if (columns && columns < PLACE_FROM + PLACE_WIDTH)
		return 0;
	for (i = 0; i < cnt; i++)
		if (place_text(text, process_of(r, &r->time.threads[i]), PLACE_WIDTH))
			return columns ? columns - PLACE_FROM : sizeof(text);
	return 0;
}

static void print_process(const struct timeline_thread *t, const struct timeline_process *p, size_t place)
{
	char name[64] = "?", text[128], where[128];

	if (p && p->name)
		log_text(name, sizeof(name), p->name, strlen(p->name));
	if (t->has_process && t->process)
		snprintf(text, sizeof(text), "%s (%" PRIu64 ")", name, t->process);
	else
		snprintf(text, sizeof(text), "%s", name);
	fputs(text, stdout);
	if (!place || !place_text(where, p, place))
		return;
	columns_pad(text, PLACE_FROM - PROCESS_FROM - 1);
	printf(" %s", where);
}

static void print_text_row(const struct report *r, const struct cpu_time_thread *u, size_t place)
{
	const struct timeline_thread *t = &r->tl->threads[u->thread];
	char wait[40];

	printf("%12.6f %6.2f%% %10.1f", (double)u->run_ns / 1e9, share_of(r, u), rate_of(r, u->slices));
	if (has_wakeups(r))
		printf(" %10.1f", rate_of(r, u->wakeups));
	else
		printf(" %10s", "-");
	printf(" %12s %8" PRIu64 "  ", wait_text(wait, sizeof(wait), r, u), t->koid);
	print_name(t->name, 16);
	putchar(' ');
	print_process(t, process_of(r, u), place);
	putchar('\n');
}

/* States by Linux's letters, the most urgent first. */
static const struct {
	char letter;
	const char *text;
} still_states[] = {
	{ 'R', "runnable" }, { 'D', "in uninterruptible sleep" }, { 'S', "sleeping" }, { 'I', "idle" },
	{ 'T', "stopped" }, { 't', "traced" }, { 'P', "parked" }, { 'Z', "zombie" }, { 'X', "dead" },
};

static size_t still_cnt(const struct report *r, char state)
{
	size_t i, cnt = 0;

	for (i = 0; i < r->tl->threads_cnt; i++)
		cnt += r->tl->threads[i].still == state;
	return cnt;
}

/* Since when one that did not run has been ready to; 0: it was not. */
static uint64_t ready_since(const struct timeline_thread *t)
{
	return t->still == 'R' ? t->still_from_ns : t->still ? t->woken_ns : 0;
}

static void print_still_text(const struct report *r, const struct report_cfg *cfg)
{
	const char *before = "threads that never ran: ";
	const struct timeline_thread *t;
	uint64_t shown = 0;
	size_t i, cnt;

	for (i = 0; i < sizeof(still_states) / sizeof(still_states[0]); i++) {
		cnt = still_cnt(r, still_states[i].letter);
		if (!cnt)
			continue;
		printf("%s%zu %s", before, cnt, still_states[i].text);
		before = ", ";
	}
	if (*before == ',')
		putchar('\n');
	for (t = r->tl->threads; t < r->tl->threads + r->tl->threads_cnt && shown < cfg->top; t++) {
		if (!ready_since(t) || ready_since(t) > t->still_to_ns)
			continue;
		printf("starved:          %.6f s, tid %" PRIu64 ", ", (double)(t->still_to_ns - ready_since(t)) / 1e9,
		       t->koid);
		print_name(t->name, 0);
		putchar('\n');
		shown++;
	}
}

static void print_report_text(const struct report *r, const struct report_cfg *cfg)
{
	size_t i, cnt = shown_cnt(r, cfg), place = place_width(r, cnt);

	print_head(r);
	summary_print_text(&r->summary);
	print_rates(r);
	print_still_text(r, cfg);
	print_cpus(r, cfg);
	if (!cnt)
		return;
	printf("\n%12s %7s %10s %10s %12s %8s  %-16s ", "run time s", "share", "switches/s", "wakeups/s", "max wait s", "tid",
	       "thread");
	if (place)
		printf("%-*s %s\n", PLACE_FROM - PROCESS_FROM - 1, "process", "container or unit");
	else
		puts("process");
	for (i = 0; i < cnt; i++)
		print_text_row(r, &r->time.threads[i], place);
}

static void print_wakeups_json(struct json *j, const struct report *r, uint64_t cnt)
{
	json_key(j, "wakeups_per_s");
	if (has_wakeups(r))
		json_fixed(j, rate_of(r, cnt), 3);
	else
		json_null(j);
}

static void print_head_json(struct json *j, const struct report *r)
{
	const struct timeline_session *s = &r->tl->session;
	char date[64];

	json_key_text(j, "host", s->host);
	json_key_text(j, "kernel", s->kernel);
	json_key_text(j, "date", start_date(r, "%FT%TZ", date, sizeof(date)) ? date : NULL);
	json_key_text(j, "filter", s->filter);
}

static void print_cpus_json(struct json *j, const struct report *r)
{
	const struct cpu_time_cpu *c;

	json_key(j, "per_cpu");
	json_array(j);
	for (c = r->time.cpus; c < r->time.cpus + r->time.cpus_cnt; c++) {
		json_object(j);
		json_key_u64(j, "cpu", c->cpu);
		json_key_u64(j, "busy_ns", c->busy_ns);
		json_key_u64(j, "idle_ns", c->idle_ns);
		json_key_fixed(j, "busy_percent", percent_of(r, c->busy_ns), 4);
		json_key_fixed(j, "idle_percent", percent_of(r, c->idle_ns), 4);
		json_key_u64(j, "switches", c->switches);
		json_key_fixed(j, "switches_per_s", rate_of(r, c->switches), 3);
		json_end(j);
	}
	json_end(j);
}

/* null if there is none or it is not known. */
static void json_key_name(struct json *j, const char *key, const char *name)
{
	json_key_text(j, key, name && *name ? name : NULL);
}

static void print_json_row(struct json *j, const struct report *r, const struct cpu_time_thread *u)
{
	const struct timeline_thread *t = &r->tl->threads[u->thread];
	const struct waits_longest wait = waits_of(r->time.waits, u->thread);
	const struct timeline_process *p = process_of(r, u);

	json_object(j);
	json_key_u64(j, "run_ns", u->run_ns);
	json_key_fixed(j, "share_percent", share_of(r, u), 4);
	json_key_u64(j, "slices", u->slices);
	json_key_fixed(j, "switches_per_s", rate_of(r, u->slices), 3);
	print_wakeups_json(j, r, u->wakeups);
	json_key(j, "max_wait_ns");
	if (wait.ns || wait.complete)
		json_u64(j, wait.ns);
	else
		json_null(j);
	json_key_bool(j, "max_wait_complete", wait.complete);
	json_key_u64(j, "tid", t->koid);
	json_key_text(j, "thread", t->name);
	json_key(j, "pid");
	if (t->has_process)
		json_u64(j, t->process);
	else
		json_null(j);
	json_key_text(j, "process", p ? p->name : NULL);
	json_key_name(j, "container", p ? p->container : NULL);
	json_key_name(j, "unit", p ? p->unit : NULL);
	json_end(j);
}

static void print_still_json(struct json *j, const struct report *r)
{
	const struct timeline_thread *t;

	json_key(j, "did_not_run");
	json_array(j);
	for (t = r->tl->threads; t < r->tl->threads + r->tl->threads_cnt; t++) {
		if (!t->still)
			continue;
		json_object(j);
		json_key_u64(j, "tid", t->koid);
		json_key_text(j, "thread", t->name);
		json_key_text(j, "state", (const char[]){ t->still, 0 });
		json_key_u64(j, "starved_ns", ready_since(t) && ready_since(t) < t->still_to_ns ?
					      t->still_to_ns - ready_since(t) : 0);
		json_end(j);
	}
	json_end(j);
}

static void print_report_json(const struct report *r, const struct report_cfg *cfg)
{
	size_t i, cnt = shown_cnt(r, cfg);
	struct json j;

	json_init(&j, stdout, false);
	json_schema_object(&j);
	print_head_json(&j, r);
	summary_print_json(&r->summary, &j);
	json_key_fixed(&j, "switches_per_s", rate_of(r, r->tl->switches), 3);
	print_wakeups_json(&j, r, r->tl->wakeups);
	print_cpus_json(&j, r);
	json_key(&j, "busiest");
	json_array(&j);
	for (i = 0; i < cnt; i++)
		print_json_row(&j, r, &r->time.threads[i]);
	json_end(&j);
	print_still_json(&j, r);
	json_end(&j);
}

const struct report_ops report_threads = {
	.name = "threads",
	.text = print_report_text,
	.json = print_report_json,
};
