// SPDX-License-Identifier: GPL-2.0
/*
 * The counts of a conversion: as one JSON object, and as a line for the user.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "convert.h"
#include "json.h"
#include "log.h"

/* A member of an object; @first of it or not. */
static void print_count(const char *name, uint64_t value, bool first)
{
	printf("%s\"%s\": %" PRIu64, first ? "" : ", ", name, value);
}

static void print_events(const struct census *c)
{
	const struct census_event *e;
	unsigned int i;

	printf(",\n  \"records_by_event\": {");
	for (i = 0; (e = census_event(c, i)); i++) {
		printf("%s", i ? ", " : "");
		json_print_text(e->name);
		printf(": %" PRIu64, e->records);
	}
	printf("}");
}

static void print_cpus(const struct census *c)
{
	const struct census_cpu *cpu;
	bool first = true;
	unsigned int i;

	printf(",\n  \"per_cpu\": {");
	for (i = 0; i < CENSUS_CPUS_MAX; i++) {
		cpu = census_cpu(c, i);
		if (!cpu->records)
			continue;
		printf("%s\"%u\": {\"records\": %" PRIu64, first ? "" : ", ", i, cpu->records);
		if (cpu->has_ts)
			printf(", \"first_ts\": %" PRIu64 ", \"last_ts\": %" PRIu64, cpu->first_ts,
			       cpu->last_ts);
		printf("}");
		first = false;
	}
	printf("}");
}

static void print_threads(const struct census *c)
{
	const struct census_thread *t;
	unsigned int i;

	printf(",\n  \"threads\": [");
	for (i = 0; (t = census_thread(c, i)); i++) {
		printf("%s[%d, ", i ? ", " : "", t->tid);
		json_print_string(t->name, t->name_len);
		if (t->tgid >= 0)
			printf(", %d]", t->tgid);
		else
			printf(", null]");
	}
	printf("]");
}

static void print_unparsed(const struct ftrace_stats *s)
{
	unsigned int i;

	printf(",\n  \"unparsed\": {\"lines\": %" PRIu64 ", \"first\": [", s->unparsed);
	for (i = 0; i < s->unparsed && i < FTRACE_UNPARSED_KEPT; i++) {
		printf("%s{\"line\": %" PRIu64 ", \"reason\": ", i ? ", " : "", s->first_unparsed[i].line);
		json_print_text(s->first_unparsed[i].reason);
		printf("}");
	}
	printf("]}");
}

static void print_input(const struct convert_totals *t)
{
	const struct ftrace_stats *s = &t->input;

	printf("{\"input\": {");
	printf("\"file\": ");
	json_print_text(t->path);
	printf(", \"wrapper\": ");
	json_print_text(t->peel.wrapper);
	printf(", \"problem\": ");
	json_print_text(t->peel.problem);
	print_count("texts", t->peel.texts, false);
	print_count("skipped_blocks", t->peel.skipped_blocks, false);
	print_count("trace_events", t->peel.trace_events, false);
	print_count("bytes", s->bytes, false);
	print_count("lines", s->lines, false);
	print_count("records", s->records, false);
	print_count("comments", s->comments, false);
	print_count("blanks", s->blanks, false);
	print_count("continuation_lines", s->continuation_lines, false);
	print_count("lost_notices", s->lost_notices, false);
	print_count("lost_events", s->lost_events, false);
	print_unparsed(s);
	print_events(t->census);
	print_cpus(t->census);
	print_threads(t->census);
	printf("},\n");
}

/* How many records of each type of the format; those that do not occur are left out. */
static void print_types(const struct fxt_writer_stats *s)
{
	static const char *const names[16] = {
		"metadata", "initialization", "string", "thread", "event", "blob",
		"userspace_object", "kernel_object", "scheduling", "log", "profiler",
		[FXT_LARGE] = "large",
	};
	bool first = true;
	unsigned int i;

	printf(", \"fxt_records_by_type\": {");
	for (i = 0; i < 16; i++) {
		if (!s->by_type[i] || !names[i])
			continue;
		print_count(names[i], s->by_type[i], first);
		first = false;
	}
	printf("}");
}

static void print_output(const struct convert_totals *t)
{
	const struct builder_stats *b = &t->built;

	printf(" \"output\": {\"file\": ");
	json_print_text(t->output);
	print_count("fxt_records", t->written.records, false);
	print_count("fxt_bytes", t->written.bytes, false);
	print_types(&t->written);
	print_count("records", b->records, false);
	print_count("switches", b->switches, false);
	print_count("wakeups", b->wakeups, false);
	print_count("names", b->names, false);
	print_count("slices", b->slices, false);
	print_count("counters", b->counters, false);
	print_count("instants", b->instants, false);
	print_count("logs", b->logs, false);
	print_count("stacks", b->stacks, false);
	print_count("no_op_wakes", b->no_op_wakes, false);
	print_count("duplicate_wakes", b->duplicate_wakes, false);
	print_count("unmatched_ends", b->unmatched_ends, false);
	print_count("incomplete", b->incomplete, false);
	print_count("implied_wakes", b->implied_wakes, false);
	print_count("out_of_order", b->out_of_order, false);
	print_count("closed_slices", b->closed_slices, false);
	print_count("gaps", b->gaps, false);
	print_count("threads", b->threads, false);
	print_count("processes", b->processes, false);
	printf("}}\n");
}

void convert_print_json(const struct convert_totals *t)
{
	print_input(t);
	print_output(t);
}

void convert_print_summary(const struct convert_totals *t)
{
	const struct ftrace_stats *s = &t->input;

	log_info("%s: %" PRIu64 " records in %" PRIu64 " lines, %" PRIu64 " switches, %" PRIu64
		 " wakeups, %" PRIu64 " threads, %" PRIu64 " lost, %" PRIu64 " lines unparsed",
		 strcmp(t->output, "-") ? t->output : "stdout", s->records, s->lines, t->built.switches,
		 t->built.wakeups, t->built.threads, s->lost_events, s->unparsed);
	if (s->unparsed)
		log_warn("%s:%" PRIu64 ": %s (the first of %" PRIu64 " unparsed; -v and --stats=json tell more)",
			 t->path, s->first_unparsed[0].line, s->first_unparsed[0].reason, s->unparsed);
}
