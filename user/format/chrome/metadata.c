// SPDX-License-Identifier: GPL-2.0
/*
 * What is said of the trace besides its events: names and places of tracks, which may come anywhere and again, so
 * that the last one counts, and members of the outermost object.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bytes.h"
#include "reader_p.h"
#include "value.h"

#define MEMBER_SHOWN_BYTES	(64U << 10)

/* ---- names and order of processes and threads -------------------------------------- */

/* Of args all but what was used. */
static void count_others(struct chrome_reader *r, const struct chrome_event *e)
{
	struct chrome_value args = chrome_value_of(e, chrome_field(e, CHROME_ARGS)), v;
	struct chrome_each each;

	r->counts.dropped_members--;
	chrome_each_begin(&each, args.data, args.len);
	while (chrome_each_next(&each, &v))
		r->counts.dropped_members++;
}

/* A string, or a number as it is written. 1, 0: there is none, or -errno. */
static int add_name(struct chrome_reader *r, const struct chrome_event *e, uint32_t track)
{
	struct chrome_value args = chrome_value_of(e, chrome_field(e, CHROME_ARGS)), name;
	struct model_event ev = { .kind = MODEL_NAME, .track = track };
	int err;

	if (!chrome_member_find(&args, "name", &name) || (name.type != CHROME_STRING && name.type != CHROME_NUMBER))
		return 0;
	chrome_args_clear(r->args);
	ev.name = chrome_args_decode(r->args, name.data, name.len, name.escaped, NAME_MAX_BYTES);
	ev.name.inlined = false;
	err = reader_add(r, &ev);
	count_others(r, e);
	return err ? err : 1;
}

/* An integer, or a string of one, as Bazel has it. */
static bool integer_of(const struct fxt_arg *arg, int64_t *value)
{
	if (arg && arg->type == FXT_ARG_INT64)
		*value = arg->i64;
	else if (!arg || arg->type != FXT_ARG_STRING || chrome_int64(arg->str.data, arg->str.len, value))
		return false;
	return true;
}

/* As add_name(). */
static int add_order(struct chrome_reader *r, const struct chrome_event *e, uint32_t track)
{
	int64_t order;
	int err;

	chrome_args_clear(r->args);
	chrome_args_object(r->args, e, chrome_field(e, CHROME_ARGS), false);
	if (!integer_of(chrome_args_find(r->args, "sort_index"), &order))
		return 0;
	err = reader_add(r, &(struct model_event){ .kind = MODEL_ORDER, .track = track, .order = order });
	count_others(r, e);
	return err ? err : 1;
}

int reader_metadata(struct chrome_reader *r, const struct chrome_event *e, bool *is_name)
{
	uint32_t thread, process;
	int got = reader_track(r, e, &thread, &process);

	*is_name = true;
	if (got)
		return got;
	if (reader_is_text(e, CHROME_NAME, "process_name"))
		got = add_name(r, e, process);
	else if (reader_is_text(e, CHROME_NAME, "thread_name"))
		got = add_name(r, e, thread);
	else if (reader_is_text(e, CHROME_NAME, "process_sort_index"))
		got = add_order(r, e, process);
	else if (reader_is_text(e, CHROME_NAME, "thread_sort_index"))
		got = add_order(r, e, thread);
	else
		*is_name = false;
	r->counts.empty_names += *is_name && !got;
	return got < 0 ? got : 0;
}

/* ---- members of the outermost object ------------------------------------------------- */

static bool is_named(const struct chrome_member *m, const char *name)
{
	return m->name_len == strlen(name) && !memcmp(m->name, name, m->name_len);
}

/* Other JSON is known by one of its members. */
static void note_format(struct chrome_reader *r, const struct chrome_member *m)
{
	static const struct {
		const char *name, *format;
	} known[] = {
		{ "snapshot", "a heap snapshot of V8" }, { "head", "a heap profile of V8" },
		{ "nodes", "a CPU profile of V8" },
		{ "$schema", "a speedscope profile" }, { "profiles", "a speedscope profile" },
		{ "threads", "a profile of the Firefox Profiler" }, { "ph", "one event a line" },
		{ "linux-perf-json-version", "samples of perf data convert" },
		{ "resourceSpans", "spans of OpenTelemetry" }, { "log", "a log of HTTP requests" },
		{ "inputs", "a metafile of esbuild" }, { "mappings", "a source map" },
		{ "traceEvents", "that is no array" },
	};
	size_t i;

	for (i = 0; i < sizeof(known) / sizeof(known[0]) && !r->counts.looks_like; i++)
		if (is_named(m, known[i].name))
			r->counts.looks_like = known[i].format;
}

/* Whether the event is a sample; @record has its time then. */
static bool sample_time(const struct chrome_event *e, struct chrome_record *record)
{
	const struct chrome_field *ts = chrome_field(e, CHROME_TS);

	return ts && chrome_field(e, CHROME_TID) && !chrome_field(e, CHROME_PH) &&
	       !chrome_time_ns(chrome_text(e, ts->value), ts->value.len, &record->ts_ns);
}

/* Samples of perf say only a thread, which is taken for a main thread; ours have a process, too. */
int reader_take_sample(struct chrome_reader *r)
{
	const struct chrome_event *e = &r->event;
	struct chrome_record record = {
		.rank = RANK_OTHER, .kind = RECORD_EVENT, .text = e->text, .len = e->len,
	};
	int err;

	if (!sample_time(e, &record)) {
		r->counts.bad_samples++;
		return 0;
	}
	if (chrome_field(e, CHROME_PID))
		err = reader_track(r, e, &record.track, NULL);
	else
		err = reader_main_track(r, e, &record.track);
	if (err)
		return err;
	r->counts.listed_samples++;
	reader_note_time(r, record.ts_ns);
	return stream_add(r, &record, e, -1);
}

/* ---- what else is said of the trace ---------------------------------------------- */

/* What only says how times are to be shown. */
static bool is_of_display(const struct chrome_member *m)
{
	struct chrome_value v, object = { .type = CHROME_OBJECT, .data = m->value, .len = m->value_len };
	struct chrome_each each;

	chrome_each_begin(&each, object.data, m->first == '{' ? object.len : 0);
	while (chrome_each_next(&each, &v))
		if ((v.name_len != 12 || memcmp(v.name, "clock-domain", 12)) &&
		    (v.name_len != 13 || memcmp(v.name, "highres-ticks", 13)))
			return false;
	return m->first == '{' || is_named(m, "displayTimeUnit") || is_named(m, "controllerTraceDataKey");
}

/* Such a name is as it is written. */
static bool is_plain(const struct chrome_member *m)
{
	size_t i;

	for (i = 0; i < m->name_len; i++)
		if (m->name[i] == '"' || m->name[i] == '\\' || (unsigned char)m->name[i] < ' ')
			return false;
	return m->name_len;
}

/* As an event: an instant of the whole trace, whose arguments are the value. */
static int add_instant(struct chrome_reader *r, const struct chrome_member *m)
{
	static const char head[] = "{\"cat\":\"metadata\",\"name\":\"";
	bool is_object = m->first == '{';
	size_t len = sizeof(head) + 2 * m->name_len + m->value_len + 32;
	struct chrome_record record = { .ts_ns = INT64_MAX, .rank = UINT64_MAX, .kind = RECORD_MEMBER };
	char *text = malloc(len + CHROME_PAD_BYTES);
	const char *reason;
	size_t bad_at;
	int n, err;

	if (!text)
		return -ENOMEM;
	n = is_object ? snprintf(text, len, "%s%.*s\",\"args\":", head, (int)m->name_len, m->name) :
			snprintf(text, len, "%s%.*s\",\"args\":{\"%.*s\":", head, (int)m->name_len, m->name,
				 (int)m->name_len, m->name);
	memcpy(text + n, m->value, m->value_len);
	record.len = (uint32_t)((size_t)n + m->value_len);
	memcpy(text + record.len, "}}", 2);
	record.len += is_object ? 1 : 2;
	memset(text + record.len, '"', CHROME_PAD_BYTES);
	record.text = text;
	err = chrome_event_parse(&r->inner, text, record.len, &bad_at, &reason) ? 0 : reader_global_track(r, &record.track);
	if (!err && record.track)
		err = stream_add(r, &record, &r->inner, -1);
	r->counts.members_used += record.track != 0;
	free(text);
	return err;
}

/* Large ones, such as the sources of a program, are counted as skipped. */
static int take_other(struct chrome_reader *r, const struct chrome_member *m)
{
	if (is_of_display(m)) {
		r->counts.members_used++;
		return 0;
	}
	if (!is_plain(m) || m->value_len > MEMBER_SHOWN_BYTES || is_named(m, "systemTraceEvents") ||
	    is_named(m, "traceEvents"))
		return 0;
	return add_instant(r, m);
}

static void note_skipped(struct chrome_reader *r, const struct chrome_member *m)
{
	struct chrome_skipped *s = r->counts.skipped;
	size_t i, len = m->name_len < sizeof(s->name) - 1 ? m->name_len : sizeof(s->name) - 1;

	while (s < r->counts.skipped + CHROME_SKIPPED_KEPT && s->name[0])
		s++;
	if (s == r->counts.skipped + CHROME_SKIPPED_KEPT || !len)
		return;
	for (i = 0; i < len; i++)
		s->name[i] = m->name[i] > ' ' && m->name[i] < 0x7f ? m->name[i] : '?';
}

int reader_take_member(struct chrome_reader *r, const struct chrome_member *m)
{
	uint64_t used = r->counts.members_used;
	int err;

	note_format(r, m);
	err = m->skipped ? 0 : take_other(r, m);
	if (r->counts.members_used == used)
		note_skipped(r, m);
	return err;
}
