// SPDX-License-Identifier: GPL-2.0
/*
 * Trace Event JSON as an input: its events (chrome/), and the ftrace text that is in it (ftrace/),
 * neither of which knows the other.
 */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "format/chrome/reader.h"
#include "format/ftrace/import.h"
#include "format/ftrace/parse.h"
#include "formats_p.h"
#include "stats.h"

struct chrome_input {
	struct chrome_reader *reader;
	struct ftrace_parser *parser;	/* NULL: there is no text */
	struct ftrace_import *import;	/* the same */
	struct builder *builder;
	struct event_stats *event_stats;		/* of the text; NULL: not asked for, or no text */
	bool statistics;
	uint64_t texts;
	struct chrome_counts before;	/* of parts of the same input before this one */
	unsigned int syncs;	/* of its text, that the reader of events has */
	format_read_fn read;
	void *read_ctx;
	const char *cut;	/* the compressed data ended so; NULL: it did not */
};

static const char *const forms[] = { "trace-event", NULL };
static const char *const suffixes[] = { ".json", ".json.gz", NULL };

static enum format_sniff chrome_sniff(const void *head, size_t len)
{
	const char *p = head, *end = p + len;
	bool is_array;

	if (len >= 3 && !memcmp(p, "\xef\xbb\xbf", 3))
		p += 3;
	while (p < end && strchr(" \t\r\n", *p) && *p)
		p++;
	if (p == end)
		return len ? FORMAT_MAYBE : FORMAT_NO;
	if (*p != '[' && *p != '{')
		return FORMAT_NO;
	is_array = *p++ == '[';
	if (!is_array && memmem(p, (size_t)(end - p), "\"traceEvents\"", 13))
		return FORMAT_YES;
	while (p < end && strchr(" \t\r\n,", *p) && *p)
		p++;
	/* A line of ftrace text may begin with a bracket, too; one with a NUL after it is UTF-16. */
	if (p == end || *p == '/')
		return FORMAT_YES;
	if (is_array)
		return *p == '{' || *p == ']' ? FORMAT_YES : *p ? FORMAT_MAYBE : FORMAT_NO;
	return *p == '"' || *p == '}' ? FORMAT_YES : FORMAT_NO;
}

static void chrome_close(void *reader)
{
	struct chrome_input *in = reader;

	if (!in)
		return;
	chrome_reader_close(in->reader);
	ftrace_parser_close(in->parser);
	ftrace_import_close(in->import);
	event_stats_close(in->event_stats);
	free(in);
}

/* One record of the text; an ftrace_emit_fn. */
static int add_record(void *ctx, const struct ftrace_event *event)
{
	struct chrome_input *in = ctx;
	int err = in->event_stats ? event_stats_add(in->event_stats, event) : 0;

	return err ? err : ftrace_import_add(in->import, event);
}

/* Says what the text says of its clock, from the @from'th time on: how often it does. */
static unsigned int add_syncs(struct chrome_input *in, const struct ftrace_import *import, unsigned int from)
{
	unsigned int cnt;
	const struct ftrace_sync *syncs = ftrace_import_syncs(import, &cnt), *s;

	for (; from < cnt; from++) {
		s = &syncs[from];
		chrome_reader_add_sync(in->reader, &(struct chrome_sync){
			.text_ns = (int64_t)s->ns, .events_ns = (int64_t)(s->parent_ns ? s->parent_ns : s->ns),
			.id = s->has_parent ? NULL : s->id, .id_len = s->id_len,
		});
	}
	return cnt;
}

/* A piece of the text; a chrome_text_fn. */
static int add_text(void *ctx, const char *data, size_t len)
{
	struct chrome_input *in = ctx;
	int err = 0;

	if (!in->parser) {
		err = ftrace_import_open(&in->import, in->builder);
		err = err ? err : ftrace_parser_open(&in->parser, add_record, in);
		if (!err && in->statistics)
			err = event_stats_open(&in->event_stats);
	}
	if (err)
		return err;
	if (len)
		return ftrace_parser_feed(in->parser, data, len);
	in->texts++;
	err = ftrace_parser_end(in->parser);
	err = err ? err : ftrace_import_end(in->import);
	if (!err)
		in->syncs = add_syncs(in, in->import, in->syncs);
	return err;
}

/* What was decompressed counts where the rest cannot be, as in a file that was cut before it was compressed. */
static long read_packed(void *ctx, void *buf, size_t len)
{
	struct chrome_input *in = ctx;
	long n = in->cut ? 0 : in->read(in->read_ctx, buf, len);

	if (n != -ENODATA && n != -EBADMSG)
		return n;
	in->cut = n == -ENODATA ? "the compressed data ends early" : "corrupt compressed data";
	return 0;
}

static int chrome_open(void **reader, const struct reader_cfg *cfg)
{
	struct chrome_input *in = calloc(1, sizeof(*in));
	int err;

	if (!in)
		return -ENOMEM;
	in->builder = cfg->builder;
	in->statistics = cfg->statistics;
	in->read = cfg->read;
	in->read_ctx = cfg->read_ctx;
	err = chrome_reader_open(&in->reader, read_packed, in, cfg->builder);
	if (!err && cfg->read_at)
		err = chrome_reader_look_ahead(in->reader, cfg->read_at, cfg->read_ctx);
	if (err) {
		chrome_close(in);
		return err;
	}
	chrome_reader_set_text(in->reader, add_text, in);
	*reader = in;
	return 0;
}

/* Of this part and those before it. */
static void sum_counts(const struct chrome_input *in, struct chrome_counts *sum)
{
	struct chrome_counts c;

	*sum = in->before;
	chrome_reader_counts(in->reader, &c);
	chrome_counts_add(sum, &c);
}

void chrome_json_hold(void *reader)
{
	struct chrome_input *in = reader;

	chrome_reader_hold(in->reader, true);
}

void chrome_json_release(void *reader, const struct ftrace_import *import)
{
	struct chrome_input *in = reader;

	add_syncs(in, import, 0);
	chrome_reader_hold(in->reader, false);
}

void chrome_json_follow(void *reader, void *before)
{
	struct chrome_input *in = reader;

	if (before)
		sum_counts(before, &in->before);
	chrome_close(before);
}

static int chrome_read(void *reader)
{
	struct chrome_input *in = reader;

	return chrome_reader_read(in->reader);
}

static uint64_t count_unusable(const struct chrome_counts *c)
{
	uint64_t sum = 0;
	int i;

	for (i = CHROME_UNUSABLE; i < CHROME_FATES; i++)
		sum += c->fates[i];
	return sum;
}

static void count_text(const struct chrome_input *in, struct reader_counts *c)
{
	struct ftrace_stats s;

	ftrace_parser_stats(in->parser, &s);
	c->event_stats = in->event_stats;
	c->texts = in->texts;
	c->lines = s.lines;
	c->records += s.records;
	c->comments = s.comments;
	c->blanks = s.blanks;
	c->continuation_lines = s.continuation_lines;
	c->lost_notices += s.lost_notices;
	c->lost_events = s.lost_events;
	c->unparsed += s.unparsed;
}

/* The number of the event is where text has that of the line. */
static void note_unused(struct reader_counts *counts, const struct chrome_counts *c)
{
	unsigned int i, n = 0;

	for (i = 0; i < CHROME_DAMAGE_KEPT && i < c->scan.damaged; i++, n++) {
		counts->first_unparsed[n].line = c->scan.first[i].event;
		counts->first_unparsed[n].offset = c->scan.first[i].offset;
		counts->first_unparsed[n].reason = c->scan.first[i].reason;
	}
	for (i = 0; i < CHROME_UNUSED_KEPT && c->first_unused[i].reason; i++, n++) {
		counts->first_unparsed[n].line = c->first_unused[i].event;
		counts->first_unparsed[n].reason = c->first_unused[i].reason;
	}
	if (!n && c->args.bad_escapes)
		counts->first_unparsed[n++].reason = "an escape that JSON does not have";
	if (!n && c->args.damaged)
		counts->first_unparsed[n++].reason = "args that are not JSON";
	if (!n && c->scan.not_objects)
		counts->first_unparsed[n++].reason = "an element that is no object";
	if (!n && c->bad_samples)
		counts->first_unparsed[n++].reason = "a sample that is damaged, or has no time or thread";
}

static __attribute__((format(printf, 2, 3))) void add_left_out(struct reader_counts *counts, const char *fmt, ...)
{
	size_t n = strlen(counts->left_out);
	va_list ap;

	if (n && n < sizeof(counts->left_out) - 2)
		n += (size_t)sprintf(counts->left_out + n, ", ");
	va_start(ap, fmt);
	vsnprintf(counts->left_out + n, sizeof(counts->left_out) - n, fmt, ap);
	va_end(ap);
}

/* "V 4, = 2, member x not converted" */
static void note_left_out(struct reader_counts *counts, const struct chrome_counts *c)
{
	uint64_t skipped = c->scan.members - c->members_used;
	int i;

	for (i = 0; i < 128; i++)
		if (c->not_converted[i])
			add_left_out(counts, "%c %" PRIu64, isgraph(i) ? i : '?', c->not_converted[i]);
	for (i = 0; i < CHROME_SKIPPED_KEPT && c->skipped[i].name[0]; i++, skipped--)
		add_left_out(counts, "member %s", c->skipped[i].name);
	if (skipped)
		add_left_out(counts, "%" PRIu64 " %smember%s", skipped, i ? "more " : "", skipped == 1 ? "" : "s");
	if (c->dropped_frames)
		add_left_out(counts, "%" PRIu64 " frame%s of stacks", c->dropped_frames, c->dropped_frames == 1 ? "" : "s");
}

/* The event that the JSON ends in; 0: none. */
static uint64_t event_of_problem(const struct chrome_scan_counts *c)
{
	return c->problem_event > c->events + c->empty + c->not_objects + c->damaged ? c->problem_event : 0;
}

static void chrome_counts(const void *reader, struct reader_counts *counts)
{
	const struct chrome_input *in = reader;
	struct chrome_counts c, sum;

	chrome_reader_counts(in->reader, &c);
	sum_counts(in, &sum);
	*counts = (struct reader_counts){
		.wrapper = c.scan.form == CHROME_FORM_ARRAY ? "JSON array" : "JSON",
		.problem = in->cut ? in->cut : c.scan.problem,
		.problem_offset = in->cut ? c.scan.bytes : c.scan.problem_offset,
		.problem_event = event_of_problem(&c.scan),
		.bytes = c.scan.bytes, .records = c.handed_on, .shifted_s = c.shifted_s, .lost_notices = c.overflows,
		.unparsed = c.scan.damaged + c.scan.not_objects + count_unusable(&c) + c.args.bad_escapes + c.args.damaged +
			    c.bad_samples + (in->cut || c.scan.problem),
	};
	note_unused(counts, &c);
	note_left_out(counts, &sum);
	if (c.scan.form == CHROME_FORM_OBJECT && !c.scan.has_list && !in->parser) {
		counts->foreign = "JSON without traceEvents";
		counts->foreign_hint = c.looks_like ? c.looks_like : "such a member has the events";
	}
	if (!c.handed_on && c.scan.has_list && c.first_unused[0].reason && !in->parser) {
		counts->foreign = "JSON without a usable event";
		counts->foreign_hint = c.first_unused[0].reason;
	}
	if (in->parser)
		count_text(in, counts);
}

static void put_phases(struct json *j, const char *key, const uint64_t counts[128])
{
	char name[2] = { 0 };
	int i;

	json_key(j, key);
	json_object(j);
	for (i = 0; i < 128; i++) {
		name[0] = (char)i;
		if (counts[i])
			json_key_u64(j, i == 0 ? "none" : i == 127 ? "other" : name, counts[i]);
	}
	json_end(j);
}

static void put_unusable(struct json *j, const struct chrome_counts *c)
{
	int i;

	json_key(j, "unusable");
	json_object(j);
	for (i = CHROME_UNUSABLE; i < CHROME_FATES; i++)
		if (c->fates[i])
			json_key_u64(j, chrome_fate_name((enum chrome_fate)i), c->fates[i]);
	json_end(j);
}

static void put_damage(struct json *j, const struct chrome_scan_counts *c)
{
	unsigned int i;

	json_key(j, "first_damaged");
	json_array(j);
	for (i = 0; i < c->damaged && i < CHROME_DAMAGE_KEPT; i++) {
		json_object(j);
		json_key_u64(j, "offset", c->first[i].offset);
		json_key_u64(j, "event", c->first[i].event);
		json_key_text(j, "reason", c->first[i].reason);
		json_end(j);
	}
	json_end(j);
}

/* The events of the list, each in one of these. */
static void put_fates(struct json *j, const struct chrome_counts *c)
{
	static const struct {
		const char *key;
		enum chrome_fate fate;
	} fates[] = {
		{ "as_slices", CHROME_AS_SLICE }, { "as_async", CHROME_AS_ASYNC }, { "as_counters", CHROME_AS_COUNTER },
		{ "as_instants", CHROME_AS_INSTANT }, { "as_flows", CHROME_AS_FLOW }, { "as_names", CHROME_AS_NAME },
		{ "as_samples", CHROME_AS_SAMPLE }, { "as_states", CHROME_AS_STATE },
		{ "as_marks", CHROME_AS_MARK },
		{ "not_converted", CHROME_NOT_CONVERTED },
	};
	size_t i;

	for (i = 0; i < sizeof(fates) / sizeof(fates[0]); i++)
		json_key_u64(j, fates[i].key, c->fates[fates[i].fate]);
	put_unusable(j, c);
}

static void chrome_stats(const void *reader, struct json *j)
{
	const struct chrome_input *in = reader;
	struct chrome_counts c;

	sum_counts(in, &c);
	json_key_u64(j, "events", c.scan.events + c.scan.empty);
	json_key_u64(j, "handed_on", c.handed_on);
	json_key_u64(j, "empty", c.scan.empty);
	json_key_u64(j, "damaged", c.scan.damaged);
	json_key_u64(j, "not_objects", c.scan.not_objects);
	put_fates(j, &c);
	put_phases(j, "by_phase", c.by_phase);
	put_phases(j, "phases_not_converted", c.not_converted);
	put_damage(j, &c.scan);
	json_key_u64(j, "stray_commas", c.scan.stray_commas);
	json_key_u64(j, "missing_commas", c.scan.missing_commas);
	json_key_u64(j, "bad_escapes", c.args.bad_escapes);
	json_key_u64(j, "not_json_values", c.args.not_json);
	json_key_u64(j, "damaged_args", c.args.damaged);
	json_key_u64(j, "cut_values", c.args.cut + c.cut_lists);
	json_key_u64(j, "duplicate_members", c.duplicate_members + c.args.duplicates);
	json_key_u64(j, "dropped_members", c.dropped_members);
	json_key_u64(j, "series_without_number", c.not_numbers);
	json_key_u64(j, "empty_names", c.empty_names);
	json_key_u64(j, "members_skipped", c.scan.members - c.members_used);
	json_key_u64(j, "listed_samples", c.listed_samples);
	json_key_u64(j, "bad_samples", c.bad_samples);
	json_key_u64(j, "profile_samples", c.profile_samples);
	json_key_u64(j, "dropped_frames", c.dropped_frames);
	json_key_u64(j, "early_flow_ends", c.early_flow_ends);
	json_key_u64(j, "unmatched_begins", c.unmatched_begins);
	json_key_u64(j, "unmatched_ends", c.unmatched_ends);
	json_key_u64(j, "shifted_s", c.shifted_s);
	json_key(j, "clock_offset_ns");
	json_i64(j, c.clock_offset_ns);
	json_key_u64(j, "sorted_runs", c.runs);
}

const struct reader_ops chrome_json_reader = {
	.name = "trace-event",
	.about = "Trace Event JSON",
	.forms = forms,
	.suffixes = suffixes,
	.sniff = chrome_sniff,
	.open = chrome_open,
	.read = chrome_read,
	.counts = chrome_counts,
	.stats = chrome_stats,
	.close = chrome_close,
};
