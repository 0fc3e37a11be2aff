// SPDX-License-Identifier: GPL-2.0
/*
 * FXT records become events of Trace Event JSON.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "model/text.h"
#include "model/track_ids.h"
#include "args.h"
#include "writer_p.h"

#define OUT_BYTES	(64U << 10)
#define LOG_NAME_BYTES	80U
#define NS_PER_SECOND	1000000000ULL

const char *chrome_sched_name(enum chrome_sched sched)
{
	static const char *const names[CHROME_SCHED_CNT] = { "ftrace", "slices", "states" };

	return names[sched];
}

/* ---- lines ------------------------------------------------------------------------ */

void chrome_line_begin(struct chrome_writer *w, const char *phase, struct fxt_thread at, uint64_t ts_ns,
		       struct fxt_str category, struct fxt_str name)
{
	struct write_buf *b = &w->line;

	b->len = 0;
	write_buf_text(b, "{\"ph\":\"");
	write_buf_text(b, phase);
	write_buf_text(b, "\",\"pid\":");
	write_buf_u64(b, at.process);
	write_buf_text(b, ",\"tid\":");
	write_buf_u64(b, at.thread);
	write_buf_text(b, ",\"ts\":");
	write_buf_us(b, ts_ns);
	write_buf_text(b, ",\"cat\":");
	write_buf_string(b, category.data, category.len);
	write_buf_text(b, ",\"name\":");
	write_buf_string(b, name.data, name.len);
}

int chrome_line_end(struct chrome_writer *w, uint64_t ts_ns, uint64_t rank)
{
	const struct event_sort_key key = { .ts = ts_ns, .rank = rank };
	struct write_buf *b = &w->line;

	if (w->args.len) {
		write_buf_text(b, ",\"args\":{");
		write_buf_bytes(b, w->args.data, w->args.len);
		write_buf_char(b, '}');
	}
	write_buf_char(b, '}');
	if (b->failed || w->args.failed)
		return -ENOMEM;
	return event_sort_add(w->lines, key, b->data, b->len);
}

static bool ns_of(uint64_t ticks, uint64_t ticks_per_second, uint64_t *ns)
{
	unsigned __int128 value = ticks;

	if (ticks_per_second != NS_PER_SECOND) {
		if (!ticks_per_second)
			return false;
		value = value * NS_PER_SECOND / ticks_per_second;
	}
	*ns = (uint64_t)value;
	return value <= UINT64_MAX;
}

void chrome_line_id(struct chrome_writer *w, uint64_t id)
{
	write_buf_text(&w->line, ",\"id\":");
	write_buf_hex(&w->line, id);
}

/* ---- events ----------------------------------------------------------------------- */

static int take_complete(struct chrome_writer *w, const struct fxt_record *rec, uint64_t ts_ns)
{
	uint64_t end_ns;
	int err = chrome_sched_add_loss(w, rec, ts_ns);

	if (err)
		return err;
	if (!ns_of(rec->event.id, fxt_reader_ticks_per_second(w->reader), &end_ns)) {
		w->left_out[CHROME_LEFT_TIME]++;
		return 0;
	}
	chrome_line_begin(w, "X", rec->event.thread, ts_ns, rec->event.category, rec->event.name);
	end_ns = end_ns < ts_ns ? 0 : end_ns - ts_ns;
	write_buf_text(&w->line, ",\"dur\":");
	write_buf_us(&w->line, end_ns);
	write_args_put(&w->args, rec->args, rec->nargs);
	return chrome_line_end(w, ts_ns, RANK_SLICE(end_ns));
}

/* Those of a CPU have its number as their id, which may be 0; others have one of their own. */
static int take_counter(struct chrome_writer *w, const struct fxt_record *rec, uint64_t ts_ns)
{
	const struct fxt_event *e = &rec->event;
	unsigned int numbers = write_args_put_numbers(&w->args, rec->args, rec->nargs);

	w->left_out[CHROME_LEFT_COUNTER] += rec->nargs ? rec->nargs - numbers : 1;
	if (!numbers)
		return 0;
	chrome_line_begin(w, "C", e->thread, ts_ns, e->category, e->name);
	if (e->id || e->thread.process == PROCESS_COUNTERS)
		chrome_line_id(w, e->id);
	return chrome_line_end(w, ts_ns, RANK_OTHER);
}

static int put_log(struct chrome_writer *w, uint64_t ts_ns, struct fxt_thread at, struct fxt_str text)
{
	const size_t len = text_cut(text.data, text.len, LOG_NAME_BYTES);

	chrome_line_begin(w, "i", at, ts_ns, fxt_str("log"), fxt_str_n(text.data, len));
	write_buf_text(&w->line, ",\"s\":\"t\"");
	return chrome_line_end(w, ts_ns, RANK_OTHER);
}

static int flush_log(struct chrome_writer *w)
{
	const struct fxt_str text = fxt_str_n(w->log_text.data, w->log_text.len);
	const struct fxt_arg message = fxt_arg_str("message", text);

	if (!w->log_held)
		return 0;
	w->log_held = false;
	w->args.len = 0;
	write_args_put(&w->args, &message, 1);
	return put_log(w, w->log_ts, w->log_thread, text);
}

static int hold_log(struct chrome_writer *w, const struct fxt_record *rec, uint64_t ts_ns)
{
	w->log_held = true;
	w->log_ts = ts_ns;
	w->log_thread = rec->log.thread;
	w->log_text.len = 0;
	write_buf_bytes(&w->log_text, rec->log.text.data, rec->log.text.len);
	return w->log_text.failed ? -ENOMEM : 0;
}

/* Of the two records that a line of a log has, the instant has more to say. */
static bool shows_log(const struct chrome_writer *w, const struct fxt_record *rec, uint64_t ts_ns)
{
	const struct fxt_event *e = &rec->event;

	return w->log_held && rec->kind == FXT_KIND_EVENT && e->type == FXT_INSTANT && ts_ns == w->log_ts &&
	       e->thread.thread == w->log_thread.thread && e->thread.process == w->log_thread.process &&
	       e->category.len == 3 && !memcmp(e->category.data, "log", 3) && rec->nargs;
}

static int take_shown_log(struct chrome_writer *w, const struct fxt_record *rec, uint64_t ts_ns)
{
	w->log_held = false;
	write_args_put(&w->args, rec->args, rec->nargs);
	return put_log(w, ts_ns, rec->event.thread, fxt_str_n(w->log_text.data, w->log_text.len));
}

static const struct {
	const char *phase, *more;
	bool has_id;
} phases[] = {
	[FXT_INSTANT] = { "i", ",\"s\":\"t\"", false },
	[FXT_ASYNC_BEGIN] = { "b", "", true },
	[FXT_ASYNC_INSTANT] = { "n", "", true },
	[FXT_ASYNC_END] = { "e", "", true },
};

static int take_event(struct chrome_writer *w, const struct fxt_record *rec, uint64_t ts_ns)
{
	const struct fxt_event *e = &rec->event;
	int err = write_names_thread(&w->threads, e->thread);
	bool is_global;

	if (err)
		return err;
	w->args.len = 0;
	switch (e->type) {
	case FXT_COUNTER:
		return take_counter(w, rec, ts_ns);
	case FXT_DURATION_BEGIN:
	case FXT_DURATION_END:
		return chrome_early_add(w, (struct event_sort_key){ .group = EARLY_SLICE, .ts = ts_ns }, rec, ts_ns);
	case FXT_DURATION_COMPLETE:
		return take_complete(w, rec, ts_ns);
	case FXT_FLOW_BEGIN:
	case FXT_FLOW_STEP:
	case FXT_FLOW_END:
		return chrome_flows_add(w, rec, ts_ns);
	default:
		if (e->type < sizeof(phases) / sizeof(phases[0]))
			break;
		w->left_out[CHROME_LEFT_UNKNOWN]++;
		return 0;
	}
	chrome_line_begin(w, phases[e->type].phase, e->thread, ts_ns, e->category, e->name);
	is_global = e->type == FXT_INSTANT && e->thread.process == PROCESS_GLOBAL;
	write_buf_text(&w->line, is_global ? ",\"s\":\"g\"" : phases[e->type].more);
	if (phases[e->type].has_id)
		chrome_line_id(w, e->id);
	write_args_put(&w->args, rec->args, rec->nargs);
	return chrome_line_end(w, ts_ns, RANK_OTHER);
}

/* ---- objects ---------------------------------------------------------------------- */

/* One that is neither process nor thread: a metadata event of a name of its own. */
static int put_object(struct chrome_writer *w, const struct fxt_record *rec)
{
	const struct fxt_arg what[] = {
		fxt_arg_str("name", rec->object.name),
		rec->kind == FXT_KIND_KERNEL_OBJECT ? fxt_arg_koid("koid", rec->object.id)
						     : fxt_arg_ptr("pointer", rec->object.id),
		fxt_arg_u32("type", rec->object.kind),
	};
	const struct fxt_thread at = { .process = rec->object.process.process, .thread = rec->object.process.process };

	chrome_line_begin(w, "M", at, 0, fxt_str("object"), fxt_str("object"));
	w->args.len = 0;
	write_args_put(&w->args, what, rec->kind == FXT_KIND_KERNEL_OBJECT ? 3 : 2);
	write_args_put(&w->args, rec->args, rec->nargs);
	return chrome_line_end(w, 0, RANK_UNFINISHED);
}

static int take_object(struct chrome_writer *w, const struct fxt_record *rec)
{
	if (rec->kind == FXT_KIND_KERNEL_OBJECT && rec->object.kind == FXT_KOBJ_PROCESS)
		return write_names_object(&w->processes, rec);
	if (rec->kind == FXT_KIND_KERNEL_OBJECT && rec->object.kind == FXT_KOBJ_THREAD)
		return write_names_object(&w->threads, rec);
	return put_object(w, rec);
}

/* ---- stack samples ---------------------------------------------------------------- */

static int take_sample(void *ctx, const struct profile_sample *s)
{
	const struct fxt_thread at = { .process = s->process, .thread = s->thread };
	const struct event_sort_key key = { .ts = s->ts, .group = LINE_SAMPLE };
	struct chrome_writer *w = ctx;
	struct write_buf *b = &w->line;
	uint32_t frame;
	int err = write_names_thread(&w->threads, at);

	err = err ? err : write_frames_add(&w->frames, s->frames, s->frames_cnt, &frame);
	if (err)
		return err;
	b->len = 0;
	write_buf_char(b, '{');
	if (s->cpu >= 0)
		write_buf_printf(b, "\"cpu\":%d,", s->cpu);
	write_buf_printf(b, "\"pid\":%llu,\"tid\":%llu,\"ts\":", (unsigned long long)s->process,
			 (unsigned long long)s->thread);
	write_buf_us(b, s->ts);
	write_buf_text(b, ",\"name\":");
	write_buf_string(b, s->source_name.data, s->source_name.len);
	if (frame)
		write_buf_printf(b, ",\"sf\":%u", frame);
	write_buf_text(b, ",\"weight\":");
	write_buf_u64(b, s->weight);
	write_buf_char(b, '}');
	return b->failed ? -ENOMEM : event_sort_add(w->lines, key, b->data, b->len);
}

/* A BLOB of Perfetto's type; what has no samples, nor is for them, is left out. */
static int take_packets(struct chrome_writer *w, const struct fxt_record *rec)
{
	struct profile_stats before, after;
	int err;

	profile_reader_stats(w->profile, &before);
	err = profile_reader_blob(w->profile, rec->blob.data, rec->blob.len);
	profile_reader_stats(w->profile, &after);
	w->left_out[CHROME_LEFT_PERFETTO] += before.packets == after.packets;
	w->left_out[CHROME_LEFT_FRAME] = w->frames.left_out;
	return err;
}

/* ---- records ---------------------------------------------------------------------- */

/* Those with a time. */
static int take_timed(struct chrome_writer *w, const struct fxt_record *rec)
{
	uint64_t ts_ns;
	int err;

	if (!ns_of(rec->ts, fxt_reader_ticks_per_second(w->reader), &ts_ns)) {
		w->left_out[CHROME_LEFT_TIME]++;
		return 0;
	}
	if (shows_log(w, rec, ts_ns)) {
		w->args.len = 0;
		return take_shown_log(w, rec, ts_ns);
	}
	err = flush_log(w);
	if (err)
		return err;
	if (rec->kind == FXT_KIND_EVENT)
		return take_event(w, rec, ts_ns);
	if (rec->kind == FXT_KIND_LOG)
		return hold_log(w, rec, ts_ns);
	return chrome_sched_add(w, rec, ts_ns);
}

static void leave_out(struct chrome_writer *w, const struct fxt_record *rec)
{
	static const enum chrome_left_out kinds[] = {
		[FXT_KIND_MODULE] = CHROME_LEFT_MODULE, [FXT_KIND_MMAP] = CHROME_LEFT_MAPPING,
		[FXT_KIND_BACKTRACE] = CHROME_LEFT_BACKTRACE, [FXT_KIND_BLOB] = CHROME_LEFT_BLOB,
		[FXT_KIND_LARGE_BLOB] = CHROME_LEFT_BLOB, [FXT_KIND_UNKNOWN] = CHROME_LEFT_UNKNOWN,
		[FXT_KIND_DAMAGED] = CHROME_LEFT_DAMAGED,
	};

	w->left_out[kinds[rec->kind]]++;
}

static int take_record(struct chrome_writer *w, const struct fxt_record *rec)
{
	switch (rec->kind) {
	case FXT_KIND_EVENT:
	case FXT_KIND_LOG:
	case FXT_KIND_SWITCH:
	case FXT_KIND_WAKEUP:
	case FXT_KIND_LEGACY_SWITCH:
		return take_timed(w, rec);
	case FXT_KIND_USERSPACE_OBJECT:
	case FXT_KIND_KERNEL_OBJECT:
		return take_object(w, rec);
	case FXT_KIND_BLOB:
		if (rec->blob.type == FXT_BLOB_PERFETTO)
			return take_packets(w, rec);
		leave_out(w, rec);
		return 0;
	case FXT_KIND_MODULE:
	case FXT_KIND_MMAP:
	case FXT_KIND_BACKTRACE:
	case FXT_KIND_LARGE_BLOB:
	case FXT_KIND_UNKNOWN:
	case FXT_KIND_DAMAGED:
		leave_out(w, rec);
		return 0;
	default:
		return 0;
	}
}

static int take_all(struct chrome_writer *w)
{
	struct fxt_record rec;
	int got = 0;

	while (!w->err && (got = fxt_reader_next(w->reader, &rec)) > 0)
		w->err = take_record(w, &rec);
	if (!w->err && got < 0 && got != -EAGAIN)
		w->err = got;
	return w->err;
}

int chrome_writer_record(void *writer, const void *records, size_t len)
{
	struct chrome_writer *w = writer;

	w->input.data = records;
	w->input.len = len;
	return take_all(w);
}

uint64_t chrome_writer_left_out(const struct chrome_writer *w, enum chrome_left_out kind)
{
	return w->left_out[kind];
}

/* ---- output ----------------------------------------------------------------------- */

int chrome_flush(struct chrome_writer *w, bool all)
{
	int err;

	if (w->out.failed)
		return -ENOMEM;
	if (!w->out.len || (!all && w->out.len < OUT_BYTES))
		return 0;
	err = w->cfg.write(w->cfg.ctx, w->out.data, w->out.len);
	w->out.len = 0;
	return err;
}

static void separate(struct chrome_writer *w)
{
	write_buf_text(&w->out, w->has_lines ? ",\n" : "\n");
	w->has_lines = true;
}

static int put_name(struct chrome_writer *w, const struct write_name *name, bool is_process)
{
	w->line.len = 0;
	write_names_put(&w->line, name, is_process);
	if (!w->line.len)
		return w->line.failed ? -ENOMEM : 0;
	separate(w);
	write_buf_bytes(&w->out, w->line.data, w->line.len);
	return w->line.failed ? -ENOMEM : chrome_flush(w, false);
}

static int put_names(struct chrome_writer *w, const struct write_names *names, bool are_processes)
{
	const bool has_zero = w->has_sched || (are_processes ? write_names_has_kernel(&w->threads)
							     : write_names_has_idle(&w->threads));
	size_t i;
	int err = 0;

	for (i = 0; i < names->cnt && !err; i++)
		if (names->names[i].koid || has_zero)
			err = put_name(w, &names->names[i], are_processes);
	return err;
}

/* The list of events ends, that of samples begins, with the frames before it. */
static int begin_samples(struct chrome_writer *w)
{
	size_t next = 0;
	bool more = true;
	int err = 0;

	write_buf_text(&w->out, "\n],\"stackFrames\":{");
	while (more && !err) {
		more = write_frames_put(&w->frames, &w->out, &next);
		err = chrome_flush(w, false);
	}
	write_buf_text(&w->out, "\n},\"samples\":[");
	w->has_lines = false;
	return err;
}

/* Events, and samples if there are any; the last list stays open. */
static int put_lines(struct chrome_writer *w)
{
	enum line_group group = LINE_EVENT;
	struct event_sort_item item;
	int got, err = 0;

	while (!err && (got = event_sort_next(w->lines, &item)) > 0) {
		if (item.key.group != group)
			err = begin_samples(w);
		group = item.key.group;
		if (err)
			break;
		separate(w);
		write_buf_bytes(&w->out, item.data, item.len);
		err = chrome_flush(w, false);
	}
	return err ? err : got;
}

/* All but what ends the file. */
static int put_all(struct chrome_writer *w)
{
	struct event_sort_item item;
	int more = chrome_slices_pair(w, &item), err;

	if (more > 0)
		more = chrome_flows_put(w, &item);
	if (more < 0)
		return more;
	err = more && w->cfg.sched != CHROME_SCHED_FTRACE ? chrome_sched_write(w, &item) : 0;
	write_buf_text(&w->out, "{\"displayTimeUnit\":\"ns\",\"metadata\":{\"clock-domain\":\"LINUX_CLOCK_MONOTONIC\","
		       "\"highres-ticks\":true},\"traceEvents\":[");
	err = err ? err : put_names(w, &w->processes, true);
	err = err ? err : put_names(w, &w->threads, false);
	err = err ? err : put_lines(w);
	write_buf_text(&w->out, "\n]");
	if (!err && more && w->cfg.sched == CHROME_SCHED_FTRACE)
		err = chrome_sched_write(w, &item);
	return err;
}

static int finish(struct chrome_writer *w)
{
	int err;

	w->input.ended = true;
	err = take_all(w);
	err = err ? err : flush_log(w);
	err = err ? err : put_all(w);
	write_buf_text(&w->out, "}\n");
	return err ? err : chrome_flush(w, true);
}

/* ---- opening and closing ---------------------------------------------------------- */

static void release(struct chrome_writer *w)
{
	fxt_reader_close(w->reader);
	event_sort_close(w->early);
	event_sort_close(w->lines);
	profile_reader_close(w->profile);
	write_frames_fini(&w->frames);
	write_names_fini(&w->processes);
	write_names_fini(&w->threads);
	write_buf_fini(&w->line);
	write_buf_fini(&w->args);
	write_buf_fini(&w->out);
	write_buf_fini(&w->log_text);
	free(w);
}

int chrome_writer_open(struct chrome_writer **out, const struct chrome_writer_cfg *cfg)
{
	struct chrome_writer *w = calloc(1, sizeof(*w));
	int err;

	if (!w)
		return -ENOMEM;
	w->cfg = *cfg;
	err = fxt_reader_open(&w->reader, pieces_read, &w->input);
	err = err ? err : event_sort_open(&w->early, EVENT_SORT_BYTES);
	err = err ? err : event_sort_open(&w->lines, EVENT_SORT_BYTES);
	err = err ? err : profile_reader_open(&w->profile, take_sample, w);
	if (err) {
		release(w);
		return err;
	}
	*out = w;
	return 0;
}

int chrome_writer_close(struct chrome_writer *w)
{
	int err;

	if (!w)
		return 0;
	err = w->err ? w->err : finish(w);
	release(w);
	return err;
}
