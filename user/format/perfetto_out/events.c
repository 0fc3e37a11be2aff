// SPDX-License-Identifier: GPL-2.0
/*
 * TrackEvent and AndroidLogPacket.
 */
#include "events.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "format/perfetto/fields.h"
#include "nest.h"
#include "writer.h"

#define LOG_NAME_BYTES	80U
#define LOG_ID_KERNEL	7U
#define PRIO_UNKNOWN	2U	/* verbose */

void out_events_init(struct out_events *v, struct out_tasks *tasks, struct pb_buf *out)
{
	v->out = out;
	out_tracks_init(&v->tracks, tasks, out);
}

void out_events_fini(struct out_events *v)
{
	out_tracks_fini(&v->tracks);
	out_async_fini(&v->async);
	out_strings_fini(&v->strings);
	pb_buf_fini(&v->body);
	pb_buf_fini(&v->line);
}

void out_events_forget(struct out_events *v)
{
	v->begun = v->held = v->line_held = false;
	out_strings_fini(&v->strings);
	out_async_fini(&v->async);
	out_tracks_forget(&v->tracks);
}

/* ---- packets ---------------------------------------------------------------------- */

/* Begins a TrackEvent in the body. */
static void begin_body(struct out_events *v, enum pf_event_type type, uint64_t uuid)
{
	v->body.len = 0;
	pb_put_u64(&v->body, PF_EVENT_TYPE, type);
	pb_put_u64(&v->body, PF_EVENT_TRACK_UUID, uuid);
}

/* The end of a slice whose begin is the packet before: it has no strings, and so needs no state. */
static int put_end(struct out_events *v)
{
	const size_t packet = pb_begin(v->out, PF_TRACE_PACKET);
	size_t event;

	pb_put_u64(v->out, PF_PACKET_TIMESTAMP, v->end_ns);
	event = pb_begin(v->out, PF_PACKET_TRACK_EVENT);
	pb_put_u64(v->out, PF_EVENT_TYPE, PF_TYPE_END);
	pb_put_u64(v->out, PF_EVENT_TRACK_UUID, v->uuid);
	pb_end(v->out, event);
	pb_put_u64(v->out, PF_PACKET_SEQUENCE_ID, OUT_SEQUENCE);
	if (v->is_async)	/* else the reader makes one record of both */
		pb_put_u64(v->out, PF_PACKET_SEQUENCE_FLAGS, PF_FLAG_NEEDS_STATE);
	pb_end(v->out, packet);
	return v->out->failed ? -ENOMEM : 0;
}

/* The body as a packet, with the strings that are new in it. */
static int put_body(struct out_events *v, uint64_t ts_ns)
{
	size_t packet = pb_begin(v->out, PF_TRACE_PACKET);

	pb_put_u64(v->out, PF_PACKET_TIMESTAMP, ts_ns);
	pb_put_bytes(v->out, PF_PACKET_TRACK_EVENT, v->body.data, v->body.len);
	pb_put_u64(v->out, PF_PACKET_SEQUENCE_ID, OUT_SEQUENCE);
	pb_put_u64(v->out, PF_PACKET_SEQUENCE_FLAGS, PF_FLAG_NEEDS_STATE | (v->begun ? 0 : PF_FLAG_CLEARED));
	if (v->strings.news.len)
		pb_put_bytes(v->out, PF_PACKET_INTERNED_DATA, v->strings.news.data, v->strings.news.len);
	pb_end(v->out, packet);
	v->begun = true;
	v->strings.news.len = 0;
	return v->out->failed || v->body.failed || v->strings.news.failed ? -ENOMEM : 0;
}

static int put_held(struct out_events *v)
{
	int err;

	if (!v->held)
		return 0;
	v->held = false;
	err = put_body(v, v->ts_ns);
	return err || !v->has_end ? err : put_end(v);
}

/* An event with its name and arguments, which waits for flows of the same time. */
static int hold(struct out_events *v, struct out_place place, const struct fxt_event *e, const struct fxt_arg *args,
		unsigned int nargs, uint64_t ts_ns)
{
	begin_body(v, place.type, place.uuid);
	if (place.type != PF_TYPE_END) {
		if (e->category.len)
			out_strings_put(&v->strings, &v->body, OUT_CATEGORIES, e->category, PF_EVENT_CATEGORY_IIDS,
					PF_EVENT_CATEGORIES);
		out_strings_put(&v->strings, &v->body, OUT_NAMES, e->name, PF_EVENT_NAME_IID, PF_EVENT_NAME);
	}
	out_args_put(&v->strings, &v->body, args, nargs);
	v->held = true;
	v->uuid = place.uuid;
	v->ts_ns = ts_ns;
	v->has_end = v->is_async = false;
	v->is_end = place.type == PF_TYPE_END;
	return v->body.failed ? -ENOMEM : 0;
}

/* ---- events ----------------------------------------------------------------------- */

/* A begin or an end by a program itself, not by the kernel. */
static bool is_marker(const struct fxt_event *e)
{
	return (e->type == FXT_DURATION_BEGIN || e->type == FXT_DURATION_END) && e->category.len == 6 &&
	       !memcmp(e->category.data, "atrace", 6);
}

static int take_on_thread(struct out_events *v, const struct fxt_record *rec, uint64_t ts_ns, enum pf_event_type type)
{
	struct out_place place = { .type = type };
	int err = is_marker(&rec->event) ? out_tracks_markers(&v->tracks, rec->event.thread, ts_ns, &place.uuid) :
		  out_tracks_thread(&v->tracks, rec->event.thread, ts_ns, &place.uuid);

	err = err ? err : put_held(v);
	return err ? err : hold(v, place, &rec->event, rec->args, rec->nargs, ts_ns);
}

static int take_complete(struct out_events *v, const struct fxt_record *rec, uint64_t ts_ns, uint64_t ticks_per_second)
{
	uint64_t end_ns;
	int err;

	if (!out_ns_of(rec->event.id, ticks_per_second, &end_ns)) {
		v->left_out[PF_LEFT_TIME]++;
		return 0;
	}
	err = take_on_thread(v, rec, ts_ns, PF_TYPE_BEGIN);
	v->has_end = true;
	v->end_ns = end_ns < ts_ns ? ts_ns : end_ns;
	return err;
}

static int take_async(struct out_events *v, const struct fxt_record *rec, uint64_t ts_ns)
{
	struct out_place place;
	int err = out_async_place(&v->async, &v->tracks, &rec->event, ts_ns, &place);

	err = err ? err : put_held(v);
	if (!err && !place.uuid)
		v->left_out[PF_LEFT_EVENT]++;
	if (err || !place.uuid)
		return err;
	err = hold(v, place, &rec->event, rec->args, rec->nargs, ts_ns);
	v->is_async = true;
	v->has_end = place.end_ns;
	v->end_ns = place.end_ns;
	return err;
}

/*
 * A flow is of the event before it, if that is of the same thread and time; else of an instant of its own. Viewers
 * bind one at an end to the slice that ends, a record of FXT to what is open after it.
 */
static int take_flow(struct out_events *v, const struct fxt_record *rec, uint64_t ts_ns)
{
	const unsigned int field = rec->event.type == FXT_FLOW_END ? PF_EVENT_TERMINATING : PF_EVENT_FLOW_IDS;
	uint64_t uuid;
	int err = out_tracks_thread(&v->tracks, rec->event.thread, ts_ns, &uuid);

	if (!err && !(v->held && !v->is_end && v->uuid == uuid && v->ts_ns == ts_ns))
		err = take_on_thread(v, rec, ts_ns, PF_TYPE_INSTANT);
	pb_put_fixed64(&v->body, field, rec->event.id ? rec->event.id : UINT64_MAX);	/* 0 is none */
	return err;
}

/* ---- counters --------------------------------------------------------------------- */

/* False: it is no number. */
static bool put_number(struct pb_buf *b, const struct fxt_arg *arg)
{
	switch (arg->type) {
	case FXT_ARG_INT32:
		pb_put_i64(b, PF_EVENT_COUNTER_VALUE, arg->i32);
		return true;
	case FXT_ARG_UINT32:
		pb_put_u64(b, PF_EVENT_COUNTER_VALUE, arg->u32);
		return true;
	case FXT_ARG_INT64:
		pb_put_i64(b, PF_EVENT_COUNTER_VALUE, arg->i64);
		return true;
	case FXT_ARG_UINT64:
		if (arg->u64 > INT64_MAX)
			pb_put_double(b, PF_EVENT_DOUBLE_VALUE, (double)arg->u64);
		else
			pb_put_u64(b, PF_EVENT_COUNTER_VALUE, arg->u64);
		return true;
	case FXT_ARG_DOUBLE:
		pb_put_double(b, PF_EVENT_DOUBLE_VALUE, arg->f64);
		return isfinite(arg->f64);
	default:
		return false;
	}
}

static int take_counter(struct out_events *v, const struct fxt_record *rec, uint64_t ts_ns)
{
	unsigned int i, numbers = 0;
	uint64_t uuid;
	int err = put_held(v);

	for (i = 0; i < rec->nargs && !err; i++) {
		begin_body(v, PF_TYPE_COUNTER, 0);
		if (!put_number(&v->body, &rec->args[i]))
			continue;
		err = out_tracks_counter(&v->tracks, &rec->event, rec->args[i].name, ts_ns, &uuid);
		if (err || !uuid)
			continue;
		begin_body(v, PF_TYPE_COUNTER, uuid);
		put_number(&v->body, &rec->args[i]);
		err = put_body(v, ts_ns);
		numbers++;
	}
	v->left_out[PF_LEFT_COUNTER] += !numbers;
	return err;
}

/* ---- the log ---------------------------------------------------------------------- */

static bool is_text(const struct fxt_arg *arg, const char *text)
{
	return arg && arg->type == FXT_ARG_STRING && arg->str.len == strlen(text) &&
	       !memcmp(arg->str.data, text, arg->str.len);
}

/* Fatal, error, warning, info, debug are 7, 6, 5, 4 and 3. */
static unsigned int log_prio(const struct fxt_arg *level)
{
	static const struct {
		const char *name;
		unsigned int prio;
	} levels[] = {
		{ "emerg", 7 }, { "alert", 7 }, { "crit", 7 }, { "err", 6 }, { "warning", 5 }, { "notice", 4 },
		{ "info", 4 }, { "debug", 3 },
	};
	size_t i;

	for (i = 0; i < sizeof(levels) / sizeof(levels[0]); i++)
		if (is_text(level, levels[i].name))
			return levels[i].prio;
	return PRIO_UNKNOWN;
}

/* The line that is held, for the view of logs. That has times of the wall clock: none without one. */
static int put_line(struct out_events *v, const struct fxt_arg *level, const struct fxt_arg *facility)
{
	const struct out_tasks *tasks = v->tracks.tasks;
	size_t packet, log, event;
	uint32_t at;
	int err = out_tasks_event(v->tracks.tasks, v->line_thread);

	err = err ? err : out_tasks_get(v->tracks.tasks, v->line_thread.thread, &at);
	if (err || !v->realtime_offset_ns)
		return err;
	packet = pb_begin(v->out, PF_TRACE_PACKET);
	pb_put_u64(v->out, PF_PACKET_TIMESTAMP, v->line_ns);
	log = pb_begin(v->out, PF_PACKET_ANDROID_LOG);
	event = pb_begin(v->out, PF_ANDROID_LOG_EVENTS);
	pb_put_u64(v->out, PF_ANDROID_LOG_ID, LOG_ID_KERNEL);
	pb_put_u64(v->out, PF_ANDROID_LOG_PID, out_process_id(&tasks->tasks[at]));
	pb_put_u64(v->out, PF_ANDROID_LOG_TID, out_id(v->line_thread.thread));
	pb_put_u64(v->out, PF_ANDROID_LOG_TIME, v->line_ns + v->realtime_offset_ns);
	if (facility && facility->type == FXT_ARG_STRING)
		pb_put_string(v->out, PF_ANDROID_LOG_TAG, facility->str.data, facility->str.len);
	else
		pb_put_text(v->out, PF_ANDROID_LOG_TAG, "kern");
	pb_put_u64(v->out, PF_ANDROID_LOG_PRIO, log_prio(level));
	pb_put_string(v->out, PF_ANDROID_LOG_MESSAGE, v->line.data, v->line.len);
	pb_end(v->out, event);
	pb_end(v->out, log);
	pb_end(v->out, packet);
	return v->out->failed ? -ENOMEM : 0;
}

/* The line that is held has no instant: it gets one. */
static int put_lone_line(struct out_events *v)
{
	const struct fxt_str text = fxt_str_inline((const char *)v->line.data, v->line.len);
	const struct fxt_arg arg = fxt_arg_str("text", text);
	struct fxt_event e = { .category = fxt_str("log"), .thread = v->line_thread };
	struct out_place place = { .type = PF_TYPE_INSTANT };
	int err;

	if (!v->line_held)
		return 0;
	v->line_held = false;
	e.name = fxt_str_n(text.data, text.len < LOG_NAME_BYTES ? text.len : LOG_NAME_BYTES);
	while (e.name.len && e.name.len < text.len && (text.data[e.name.len] & 0xc0) == 0x80)
		e.name.len--;	/* not inside of a character */
	err = put_line(v, NULL, NULL);
	err = err ? err : out_tracks_thread(&v->tracks, v->line_thread, v->line_ns, &place.uuid);
	err = err ? err : put_held(v);
	return err ? err : hold(v, place, &e, &arg, 1, v->line_ns);
}

int out_events_log(struct out_events *v, const struct fxt_record *rec, uint64_t ts_ns)
{
	int err = put_lone_line(v);

	v->line_held = true;
	v->line_ns = ts_ns;
	v->line_thread = rec->log.thread;
	v->line.len = 0;
	pb_put_raw(&v->line, rec->log.text.data, rec->log.text.len);
	return err ? err : v->line.failed ? -ENOMEM : 0;
}

/* Of the two records that a line of a log has, the instant has more to say. */
static bool is_of_line(const struct out_events *v, const struct fxt_event *e, uint64_t ts_ns)
{
	return v->line_held && e->type == FXT_INSTANT && ts_ns == v->line_ns && e->thread.thread == v->line_thread.thread &&
	       e->thread.process == v->line_thread.process && e->category.len == 3 && !memcmp(e->category.data, "log", 3);
}

static int take_line(struct out_events *v, const struct fxt_record *rec, uint64_t ts_ns)
{
	if (!is_of_line(v, &rec->event, ts_ns))
		return put_lone_line(v);
	v->line_held = false;
	return put_line(v, fxt_record_arg(rec, "level"), fxt_record_arg(rec, "facility"));
}

/* ---- all -------------------------------------------------------------------------- */

int out_events_take(struct out_events *v, const struct fxt_record *rec, uint64_t ts_ns, uint64_t ticks_per_second)
{
	int err = take_line(v, rec, ts_ns);

	if (err)
		return err;
	switch (rec->event.type) {
	case FXT_INSTANT:
		return take_on_thread(v, rec, ts_ns, PF_TYPE_INSTANT);
	case FXT_COUNTER:
		return take_counter(v, rec, ts_ns);
	case FXT_DURATION_BEGIN:
		return take_on_thread(v, rec, ts_ns, PF_TYPE_BEGIN);
	case FXT_DURATION_END:
		return take_on_thread(v, rec, ts_ns, PF_TYPE_END);
	case FXT_DURATION_COMPLETE:
		return take_complete(v, rec, ts_ns, ticks_per_second);
	case FXT_ASYNC_BEGIN:
	case FXT_ASYNC_INSTANT:
	case FXT_ASYNC_END:
		return take_async(v, rec, ts_ns);
	case FXT_FLOW_BEGIN:
	case FXT_FLOW_STEP:
	case FXT_FLOW_END:
		return take_flow(v, rec, ts_ns);
	default:
		v->left_out[PF_LEFT_EVENT]++;
		return 0;
	}
}

int out_events_put(struct out_events *v)
{
	int err = put_lone_line(v);

	return err ? err : put_held(v);
}
