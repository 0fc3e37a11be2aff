// SPDX-License-Identifier: GPL-2.0
/*
 * The counts of a conversion: as one JSON object, and as a line for the user.
 */
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "convert_stats.h"
#include "converted.h"
#include "base/json.h"
#include "format/stats.h"
#include "report/schema.h"
#include "base/log.h"

#define LEFT_OUT_BYTES	512

static void print_events(struct json *j, const struct event_stats *c)
{
	const struct event_stats_event *e;
	unsigned int i;

	json_line(j, "  ");
	json_key(j, "records_by_event");
	json_object(j);
	for (i = 0; (e = event_stats_event(c, i)); i++)
		json_key_u64(j, e->name, e->records);
	json_end(j);
}

static void print_cpu(struct json *j, unsigned int i, const struct event_stats_cpu *cpu)
{
	char number[12];

	snprintf(number, sizeof(number), "%u", i);
	json_key(j, number);
	json_object(j);
	json_key_u64(j, "records", cpu->records);
	if (cpu->has_ts) {
		json_key_u64(j, "first_ts", cpu->first_ts);
		json_key_u64(j, "last_ts", cpu->last_ts);
	}
	json_end(j);
}

static void print_cpus(struct json *j, const struct event_stats *c)
{
	unsigned int i;

	json_line(j, "  ");
	json_key(j, "per_cpu");
	json_object(j);
	for (i = 0; i < EVENT_STATS_CPUS_MAX; i++)
		if (event_stats_cpu(c, i)->records)
			print_cpu(j, i, event_stats_cpu(c, i));
	json_end(j);
}

static void print_threads(struct json *j, const struct event_stats *c)
{
	const struct event_stats_thread *t;
	unsigned int i;

	json_line(j, "  ");
	json_key(j, "threads");
	json_array(j);
	for (i = 0; (t = event_stats_thread(c, i)); i++) {
		json_array(j);
		json_i64(j, t->tid);
		json_string(j, t->name, t->name_len);
		if (t->tgid >= 0)
			json_i64(j, t->tgid);
		else
			json_null(j);
		json_end(j);
	}
	json_end(j);
}

static void print_unparsed(struct json *j, const struct reader_counts *s)
{
	unsigned int i;

	json_line(j, "  ");
	json_key(j, "unparsed");
	json_object(j);
	json_key_u64(j, "lines", s->unparsed);
	json_key(j, "first");
	json_array(j);
	for (i = 0; i < READER_UNPARSED_KEPT && s->first_unparsed[i].reason; i++) {
		json_object(j);
		json_key_u64(j, "line", s->first_unparsed[i].line);
		json_key_text(j, "reason", s->first_unparsed[i].reason);
		json_end(j);
	}
	json_end(j);
	json_end(j);
}

static void print_input(struct json *j, const struct convert_totals *t, const struct reader_ops *ops, const void *reader)
{
	const struct reader_counts *s = &t->input;

	json_key(j, "input");
	json_object(j);
	json_key_text(j, "file", t->path);
	json_key_text(j, "wrapper", s->wrapper);
	json_key_text(j, "problem", s->problem);
	json_key_u64(j, "texts", s->texts);
	json_key_u64(j, "skipped_blocks", s->skipped_blocks);
	json_key_u64(j, "trace_events", s->trace_events);
	json_key_u64(j, "bytes", s->bytes);
	json_key_u64(j, "lines", s->lines);
	json_key_u64(j, "records", s->records);
	json_key_u64(j, "comments", s->comments);
	json_key_u64(j, "blanks", s->blanks);
	json_key_u64(j, "continuation_lines", s->continuation_lines);
	json_key_u64(j, "lost_notices", s->lost_notices);
	json_key_u64(j, "lost_events", s->lost_events);
	print_unparsed(j, s);
	if (s->event_stats) {
		print_events(j, s->event_stats);
		print_cpus(j, s->event_stats);
		print_threads(j, s->event_stats);
	}
	if (ops->stats)
		ops->stats(reader, j);
	json_end(j);
}

/* How many records of each type of the format; those that do not occur are left out. */
static void print_types(struct json *j, const struct fxt_writer_stats *s)
{
	static const char *const names[16] = {
		"metadata", "initialization", "string", "thread", "event", "blob",
		"userspace_object", "kernel_object", "scheduling", "log", "profiler",
		[FXT_LARGE] = "large",
	};
	unsigned int i;

	json_key(j, "fxt_records_by_type");
	json_object(j);
	for (i = 0; i < 16; i++)
		if (s->by_type[i] && names[i])
			json_key_u64(j, names[i], s->by_type[i]);
	json_end(j);
}

/* "counter values" as "counter_values" */
static void put_kind(struct json *j, const struct convert_left_out *kind)
{
	char key[64];
	size_t i;

	for (i = 0; kind->many[i] && i < sizeof(key) - 1; i++)
		key[i] = isalnum((unsigned char)kind->many[i]) ? (char)tolower((unsigned char)kind->many[i]) : '_';
	key[i] = '\0';
	json_key_u64(j, key, kind->cnt);
}

/* By kind; those that do not occur are left out. */
static void print_left_out(struct json *j, const struct convert_totals *t)
{
	const struct convert_left_out *kind;

	json_key_u64(j, "left_out", t->left_out);
	json_key(j, "left_out_by_kind");
	json_object(j);
	for (kind = t->left_out_by_kind; kind->one; kind++)
		if (kind->cnt)
			put_kind(j, kind);
	json_end(j);
}

/* What the trace builder made. */
static void print_built(struct json *j, const struct convert_totals *t)
{
	const struct builder_stats *b = &t->built;

	json_key_u64(j, "fxt_records", t->written.records);
	json_key_u64(j, "fxt_bytes", t->written.bytes);
	json_key_u64(j, "strings_repaired", t->written.strings_repaired);
	json_key_u64(j, "strings_cut", t->written.strings_cut);
	print_types(j, &t->written);
	json_key_u64(j, "records", b->records);
	json_key_u64(j, "switches", b->switches);
	json_key_u64(j, "wakeups", b->wakeups);
	json_key_u64(j, "names", b->names);
	json_key_u64(j, "slices", b->slices);
	json_key_u64(j, "counters", b->counters);
	json_key_u64(j, "instants", b->instants);
	json_key_u64(j, "logs", b->logs);
	json_key_u64(j, "stacks", b->stacks);
	json_key_u64(j, "flows", b->flows);
	json_key_u64(j, "states", b->states);
	json_key_u64(j, "samples", b->samples);
	json_key_u64(j, "no_op_wakes", b->no_op_wakes);
	json_key_u64(j, "duplicate_wakes", b->duplicate_wakes);
	json_key_u64(j, "unmatched_ends", b->unmatched_ends);
	json_key_u64(j, "unmatched_flows", b->unmatched_flows);
	json_key_u64(j, "crowded_flows", b->crowded_flows);
	json_key_u64(j, "overlapping_slices", b->overlapping);
	json_key_u64(j, "deep_slices", b->deep);
	json_key_u64(j, "crowded_slices", b->crowded);
	json_key_u64(j, "cut_names", b->names_cut);
	json_key_u64(j, "dropped_args", b->args_dropped);
	json_key_u64(j, "cut_args", b->args_cut);
	json_key_u64(j, "incomplete", b->incomplete);
	json_key_u64(j, "implied_wakes", b->implied_wakes);
	json_key_u64(j, "out_of_order", b->out_of_order);
	json_key_u64(j, "shifted_traces", b->shifted);
	json_key_u64(j, "closed_slices", b->closed_slices);
	json_key_u64(j, "unfinished_slices", b->unfinished);
	json_key_u64(j, "gaps", b->gaps);
	json_key_u64(j, "threads", b->threads);
	json_key_u64(j, "processes", b->processes);
}

static void print_output(struct json *j, const struct convert_totals *t, const struct reader_ops *ops)
{
	json_line(j, " ");
	json_key(j, "output");
	json_object(j);
	json_key_text(j, "file", t->output);
	json_key_text(j, "format", t->format);
	print_left_out(j, t);
	if (!ops->makes_records)
		print_built(j, t);
	json_end(j);
}

void convert_print_json(const struct convert_totals *t, const struct reader_ops *ops, const void *reader)
{
	struct json j;

	json_init(&j, stdout, true);
	json_schema_object(&j);
	print_input(&j, t, ops, reader);
	print_output(&j, t, ops);
	json_end(&j);
}

static const char *plural(uint64_t cnt)
{
	return cnt == 1 ? "" : "s";
}

/* "event 4, byte 103", as much as is known of it. */
static void name_event(const struct reader_counts *s, unsigned int i, char *out, size_t size)
{
	int n = 0;

	out[0] = '\0';
	if (s->first_unparsed[i].line)
		n = snprintf(out, size, "event %" PRIu64, s->first_unparsed[i].line);
	if (s->first_unparsed[i].offset)
		snprintf(out + n, size - (size_t)n, "%sbyte %" PRIu64, n ? ", " : "", s->first_unparsed[i].offset);
}

void convert_print_problems(const struct convert_totals *t)
{
	const struct reader_counts *s = &t->input;
	char which[60] = "";
	unsigned int i;

	if (s->problem && (s->records || !s->foreign)) {
		if (s->problem_event)
			snprintf(which, sizeof(which), " in event %" PRIu64, s->problem_event);
		log_warn("%s: %s at byte %" PRIu64 "%s (what could be read was converted)", t->path, s->problem,
			 s->problem_offset, which);
	}
	for (i = 0; i < READER_UNPARSED_KEPT && s->first_unparsed[i].reason; i++) {
		name_event(s, i, which, sizeof(which));
		if (s->lines)
			log_debug("%s:%" PRIu64 ": %s", t->path, s->first_unparsed[i].line, s->first_unparsed[i].reason);
		else
			log_debug("%s: %s%s%s", t->path, which, which[0] ? ": " : "", s->first_unparsed[i].reason);
	}
}

/* The first event that was not used, with its place if it is known. */
static void warn_unused(const struct convert_totals *t)
{
	const struct reader_counts *s = &t->input;
	char which[60];

	if (!s->unparsed || !s->first_unparsed[0].reason)
		return;
	name_event(s, 0, which, sizeof(which));
	log_warn("%s: %s (%s%sthe first of %" PRIu64 "; -v and --stats=json print more)", t->path,
		 s->first_unparsed[0].reason, which, which[0] ? "; " : "", s->unparsed);
}

/* Of a format that has events, not lines. */
static void print_events_summary(const struct convert_totals *t, const char *output)
{
	const struct reader_counts *s = &t->input;

	log_info("%s: %" PRIu64 " event%s, %" PRIu64 " slice%s, %" PRIu64 " counter%s, %" PRIu64 " instant%s, %" PRIu64
		 " flow%s, %" PRIu64 " thread%s, %" PRIu64 " damaged or unusable", output, s->records, plural(s->records),
		 t->built.slices, plural(t->built.slices), t->built.counters, plural(t->built.counters),
		 t->built.instants, plural(t->built.instants), t->built.flows, plural(t->built.flows),
		 t->built.threads, plural(t->built.threads), s->unparsed);
	converted_warn_missing(t->path, s);
	warn_unused(t);
}

static const char *output_of(const struct convert_totals *t)
{
	return strcmp(t->output, "-") ? t->output : "stdout";
}

/* "8 Perfetto packets, 1 module" */
static void list_left_out(const struct convert_totals *t, char *buf, size_t size)
{
	const struct convert_left_out *kind;
	size_t len = 0;

	buf[0] = '\0';
	for (kind = t->left_out_by_kind; kind->one && len < size; kind++)
		if (kind->cnt)
			len += (size_t)snprintf(buf + len, size - len, "%s%" PRIu64 " %s", len ? ", " : "", kind->cnt,
						kind->cnt == 1 ? kind->one : kind->many);
}

static void warn_crowded(const struct convert_totals *t)
{
	if (t->built.crowded)
		log_warn("%s: %" PRIu64 " slice%s shown as instant%s (a thread has too many that overlap, or are inside of each other)",
			 t->path, t->built.crowded, plural(t->built.crowded), plural(t->built.crowded));
}

void convert_print_summary(const struct convert_totals *t)
{
	const char *output = output_of(t);
	const struct reader_counts *s = &t->input;
	char kinds[LEFT_OUT_BYTES];

	list_left_out(t, kinds, sizeof(kinds));
	warn_crowded(t);
	if (t->left_out)
		log_info("%s: left out, as %s has no place for them: %s", output, t->format, kinds);
	if (!s->lines) {
		print_events_summary(t, output);
		return;
	}
	log_info("%s: %" PRIu64 " record%s in %" PRIu64 " line%s, %" PRIu64 " %s, %" PRIu64
		 " wakeup%s, %" PRIu64 " thread%s, %" PRIu64 " lost, %" PRIu64 " line%s unparsed",
		 output, s->records, plural(s->records), s->lines, plural(s->lines), t->built.switches,
		 t->built.switches == 1 ? "switch" : "switches", t->built.wakeups, plural(t->built.wakeups),
		 t->built.threads, plural(t->built.threads), s->lost_events, s->unparsed, plural(s->unparsed));
	if (s->unparsed && s->first_unparsed[0].reason)
		log_warn("%s:%" PRIu64 ": %s (the first of %" PRIu64 " unparsed; -v and --stats=json print more)",
			 t->path, s->first_unparsed[0].line, s->first_unparsed[0].reason, s->unparsed);
}

void convert_print_passed(const struct convert_totals *t)
{
	char kinds[LEFT_OUT_BYTES];

	list_left_out(t, kinds, sizeof(kinds));
	if (t->input.in_two_files)
		log_info("%s: files of one recording, joined: %" PRIu64 " record%s that two of them have %s written once", t->path,
			 t->input.in_two_files, plural(t->input.in_two_files), t->input.in_two_files == 1 ? "is" : "are");
	log_info("%s: %" PRIu64 " records, %" PRIu64 " left out%s%s%s", output_of(t), t->input.records, t->left_out,
		 *kinds ? " (" : "", kinds, *kinds ? ")" : "");
}
