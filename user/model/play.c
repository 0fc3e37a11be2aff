// SPDX-License-Identifier: GPL-2.0
/*
 * Events as readers make them: slices, instants, counters, log lines, names. Each ends in
 * exactly one count.
 */
#include "play.h"

#include <errno.h>
#include <string.h>

#include "arg_fold.h"

#define NAME_REGISTERED_MAX	200U	/* bytes: what is longer does not come again */
#define LOG_ARGS_MAX		12U
#define LOG_LONG_BYTES		8000U
#define LOG_STRING_MAX		1000U

uint64_t play_ts(uint64_t ts_ns)
{
	return ts_ns < INT64_MAX ? ts_ns : INT64_MAX;
}

uint64_t play_end(const struct model_event *ev)
{
	uint64_t ts = play_ts(ev->ts_ns);

	return ev->duration_ns < INT64_MAX - ts ? ts + ev->duration_ns : INT64_MAX;
}

static struct fxt_str short_str(struct fxt_str s)
{
	if (s.len > NAME_REGISTERED_MAX)
		s.inlined = true;
	s.len = text_cut(s.data, s.len, NAME_BYTES_MAX);
	return s;
}

struct fxt_event play_event(const struct model_event *ev, const struct thread *t)
{
	return (struct fxt_event){
		.ts = play_ts(ev->ts_ns), .thread = { .process = t->process, .thread = t->koid },
		.category = short_str(ev->category), .name = short_str(ev->name),
	};
}

void play_count_fold(struct builder *b, const struct arg_fold *fold)
{
	b->stats.args_dropped += fold->dropped;
	b->stats.args_cut += fold->cut;
}

int play_put(struct builder *b, struct fxt_event *e, const struct model_event *ev)
{
	struct arg_fold fold;
	unsigned int n = arg_fold(&fold, ev->args, ev->args_cnt);

	play_count_fold(b, &fold);
	return build_event(b, e, fold.args, n);
}

int play_instant(struct builder *b, const struct model_event *ev, struct source_track *st, const char *name)
{
	struct thread *t = track_thread(b, st);
	struct fxt_event e;
	int err;

	if (!t)
		return -ENOMEM;
	e = play_event(ev, t);
	e.type = FXT_INSTANT;
	if (!e.name.len)
		e.name = fxt_str(name);
	err = play_put(b, &e, ev);
	return err ? err : OUT_INSTANT;
}

static int play_plain_instant(struct builder *b, const struct model_event *ev, struct source_track *st)
{
	return play_instant(b, ev, st, "");
}

/* ---- slices ---------------------------------------------------------------- */

/* One whose end is known is not looked for by its name. */
static struct slice slice_of(const struct model_event *ev, enum family family)
{
	struct fxt_str name = short_str(ev->name);

	return (struct slice){
		.family = family, .category = short_str(ev->category), .name = name,
		.key = name.len && family == FAMILY_EVENT ? text_hash(name.data, name.len) | 1 : 0,
	};
}

static struct track *slices_of(struct thread *t)
{
	if (!t->track)
		t->track = track_new(t->process, t->koid);
	return t->track;
}

static int settle_lane(struct builder *b, struct thread *t, uint64_t ts)
{
	return t && slices_of(t) ? slice_settle(b, t->track, ts) : -ENOMEM;
}

/* The same of those beside the track's thread. */
static int find_further_lane(struct builder *b, struct source_track *st, uint64_t ts, uint64_t end, struct thread **lane,
			     bool *any_deep)
{
	struct lane *l;
	bool deep;
	int err = 0;

	for (l = st->lanes; l < st->lanes + st->lanes_cnt && !err; l++) {
		if (l->until > ts && l->until < end)
			continue;
		err = settle_lane(b, l->t, ts);
		if (!err && slice_fits(l->t->track, ts, end, &l->until, &deep)) {
			l->until = end;
			*lane = l->t;
			return 0;
		}
		*any_deep |= !err && deep;
	}
	*lane = NULL;
	if (err || st->lanes_cnt == LANES_MAX)
		return err;
	l = track_add_lane(b, st);
	if (!l || !slices_of(l->t))
		return -ENOMEM;
	l->until = end;
	*lane = l->t;
	return 0;
}

/* The first thread of the track that the slice nests in, NULL: none does, and there may be no more. 0 or -errno. */
static int find_lane(struct builder *b, struct source_track *st, uint64_t ts, uint64_t end, struct thread **lane)
{
	bool deep;
	uint64_t until;
	int err;

	*lane = track_thread(b, st);
	err = settle_lane(b, *lane, ts);
	if (err || slice_fits((*lane)->track, ts, end, &until, &deep))
		return err;
	err = find_further_lane(b, st, ts, end, lane, &deep);
	b->stats.deep += !err && deep;
	return err;
}

/* No lane has space for it. */
static int play_crowded(struct builder *b, const struct model_event *ev, struct source_track *st)
{
	b->stats.crowded++;
	return play_instant(b, ev, st, "");
}

static int play_slice(struct builder *b, const struct model_event *ev, struct source_track *st)
{
	uint64_t ts = play_ts(ev->ts_ns), end = play_end(ev);
	struct slice s = slice_of(ev, FAMILY_SPAN);
	struct arg_fold fold;
	struct thread *t;
	unsigned int n;
	int err = find_lane(b, st, ts, end, &t);

	if (err)
		return err;
	if (!t)
		return play_crowded(b, ev, st);
	b->stats.overlapping += t->lane > 0;
	st->last = t;
	n = arg_fold(&fold, ev->args, ev->args_cnt);
	play_count_fold(b, &fold);
	return slice_span(b, t->track, ts, end, &s, fold.args, n);
}

/* @t shows the track. */
static int begin_on(struct builder *b, const struct model_event *ev, struct source_track *st, struct thread *t)
{
	struct slice s = slice_of(ev, FAMILY_EVENT);
	struct arg_fold fold;
	unsigned int n = arg_fold(&fold, ev->args, ev->args_cnt);

	play_count_fold(b, &fold);
	b->stats.overlapping += t->lane > 0;
	st->last = t;
	return slice_begin(b, t->track, play_ts(ev->ts_ns), &s, fold.args, n);
}

/* What is around it must not end. */
static int play_open(struct builder *b, const struct model_event *ev, struct source_track *st)
{
	struct thread *t;
	int err = find_lane(b, st, play_ts(ev->ts_ns), UINT64_MAX, &t);

	if (err)
		return err;
	return t ? begin_on(b, ev, st, t) : play_crowded(b, ev, st);
}

/* The last thread of the track that has a begin which is open: those inside of each other fill the first one first. */
static struct thread *innermost_thread(const struct source_track *st)
{
	unsigned int i = st->lanes_cnt;

	while (i && !(st->lanes[i - 1].t->track && st->lanes[i - 1].t->track->events))
		i--;
	return i ? st->lanes[i - 1].t : st->t;
}

/* What ends it is not known, so it is inside of all that is open; where that is too deep, on the next lane. */
static int play_begin(struct builder *b, const struct model_event *ev, struct source_track *st)
{
	struct thread *t = track_thread(b, st) ? innermost_thread(st) : NULL;
	struct lane *l;
	int err = settle_lane(b, t, play_ts(ev->ts_ns));

	if (err)
		return err;
	if (slice_is_full(t->track)) {
		if (t->lane == LANES_MAX)
			return play_crowded(b, ev, st);
		l = t->lane < st->lanes_cnt ? &st->lanes[t->lane] : track_add_lane(b, st);
		t = l ? l->t : NULL;
		err = settle_lane(b, t, play_ts(ev->ts_ns));
	}
	if (err)
		return err;
	b->stats.deep += t->lane > 0;
	return begin_on(b, ev, st, t);
}

/* The thread with the innermost slice that it ends; the track's own if there is none. */
static struct thread *thread_to_end(const struct source_track *st, const struct slice *s)
{
	unsigned int i = st->lanes_cnt;

	while (i && !(st->lanes[i - 1].t->track && slice_is_open(st->lanes[i - 1].t->track, s)))
		i--;
	return i ? st->lanes[i - 1].t : st->t;
}

static int play_slice_end(struct builder *b, const struct model_event *ev, struct source_track *st)
{
	struct thread *t = track_thread(b, st);
	struct slice s = slice_of(ev, FAMILY_EVENT);
	struct arg_fold fold;
	unsigned int n = arg_fold(&fold, ev->args, ev->args_cnt);
	int out;

	if (t)
		t = thread_to_end(st, &s);
	out = slice_end(b, t ? slices_of(t) : NULL, play_ts(ev->ts_ns), &s, fold.args, n);
	play_count_fold(b, &fold);
	if (out != OUT_UNMATCHED)
		return out;
	out = play_instant(b, ev, st, "end");
	return out < 0 ? out : OUT_UNMATCHED;
}

/* ---- counters -------------------------------------------------------------- */

static bool is_number(const struct fxt_arg *arg)
{
	switch (arg->type) {
	case FXT_ARG_INT32:
	case FXT_ARG_UINT32:
	case FXT_ARG_INT64:
	case FXT_ARG_UINT64:
	case FXT_ARG_DOUBLE:
		return true;
	default:
		return false;
	}
}

/* Counters are shown with their process; those of the machine have one of their own. */
static int counter_event(struct builder *b, const struct model_event *ev, struct source_track *st,
			 struct fxt_event *e)
{
	const struct thread *t;

	*e = (struct fxt_event){
		.type = FXT_COUNTER, .ts = play_ts(ev->ts_ns), .id = ev->id,
		.category = short_str(ev->category), .name = short_str(ev->name),
	};
	if (st->spec.kind == MODEL_TRACK_CPU && !ev->id)
		e->id = st->spec.cpu;
	if (st->process && st->process != PROCESS_GLOBAL) {
		t = track_thread(b, st);
		if (t)
			e->thread = (struct fxt_thread){ .process = t->process, .thread = t->koid };
		return t ? 0 : -ENOMEM;
	}
	e->thread = (struct fxt_thread){ .process = PROCESS_COUNTERS, .thread = PROCESS_COUNTERS };
	b->counted = true;
	return 0;
}

static int play_counter(struct builder *b, const struct model_event *ev, struct source_track *st)
{
	struct fxt_arg args[FXT_ARGS_MAX];
	struct fxt_event e;
	unsigned int i, n = 0;
	bool any = false;
	int err = counter_event(b, ev, st, &e);

	for (i = 0; i < ev->args_cnt && !err; i++) {
		if (is_number(&ev->args[i]))
			args[n++] = ev->args[i];
		else
			b->stats.args_dropped++;
		if (n < FXT_ARGS_MAX)
			continue;
		err = build_event(b, &e, args, n);
		any = true;
		n = 0;
	}
	if (n && !err)
		err = build_event(b, &e, args, n);
	if (err)
		return err;
	if (any || n)
		return OUT_COUNTER;
	b->stats.args_dropped -= ev->args_cnt;
	return play_instant(b, ev, st, "counter");
}

/* ---- log lines, names ------------------------------------------------------ */

/* The line and, if it is no long one, the event's own arguments; how many. */
static unsigned int log_args(struct builder *b, const struct model_event *ev, struct fxt_arg *args)
{
	bool is_long = ev->text.len > LOG_LONG_BYTES;
	struct arg_fold fold;
	unsigned int n = arg_fold(&fold, ev->args, is_long ? 0 : ev->args_cnt), i;

	args[0] = fxt_arg_str("text", fxt_str_inline(ev->text.data, ev->text.len < TEXT_BYTES_MAX ?
						     ev->text.len : TEXT_BYTES_MAX));
	for (i = 0; i < n && i < LOG_ARGS_MAX; i++) {
		args[i + 1] = fold.args[i];
		if (fold.args[i].type == FXT_ARG_STRING && fold.args[i].str.len > LOG_STRING_MAX)
			args[i + 1].str.len = LOG_STRING_MAX;
	}
	b->stats.args_dropped += ev->args_cnt - i;
	return 1 + i;
}

/* Viewers do not show log records: it is an instant too. */
static int play_log(struct builder *b, const struct model_event *ev, struct source_track *st)
{
	struct thread *t = track_thread(b, st);
	struct fxt_arg args[1 + LOG_ARGS_MAX];
	struct fxt_event e;
	int err;

	if (!t)
		return -ENOMEM;
	e = play_event(ev, t);
	e.type = FXT_INSTANT;
	if (!e.category.len)
		e.category = fxt_str("log");
	if (!e.name.len)
		e.name = fxt_str("log");
	err = fxt_write_log(b->w, e.ts, e.thread, fxt_str_n(ev->text.data, ev->text.len));
	err = err ? err : build_event(b, &e, args, log_args(b, ev, args));
	/* A record has no space for more: the whole of it is a BLOB. */
	if (!err && ev->text.len > TEXT_BYTES_MAX)
		err = fxt_write_blob(b->w, FXT_BLOB_DATA, e.name, ev->text.data, ev->text.len);
	return err ? err : OUT_LOG;
}

/* Whose instant is another event. */
static int play_log_line(struct builder *b, const struct model_event *ev, struct source_track *st)
{
	struct thread *t = track_thread(b, st);
	struct fxt_event e;
	int err;

	if (!t)
		return -ENOMEM;
	e = play_event(ev, t);
	err = fxt_write_log(b->w, e.ts, e.thread, fxt_str_n(ev->text.data, ev->text.len));
	return err ? err : OUT_LOG;
}

static int play_name(struct builder *b, const struct model_event *ev, struct source_track *st)
{
	int err = track_set_name(b, st, ev->name);

	return err ? err : OUT_NAME;
}

static int play_order(struct builder *b, const struct model_event *ev, struct source_track *st)
{
	int err = track_set_order(b, st, ev->order);

	return err ? err : OUT_NAME;
}

/* ---- dispatch -------------------------------------------------------------- */

static const struct {
	play_fn *fn;
	bool is_sched, is_timeless;
} kinds[MODEL_KIND_CNT] = {
	[MODEL_SLICE] = { play_slice, false, false },
	[MODEL_SLICE_OPEN] = { play_open, false, false },
	[MODEL_SLICE_BEGIN] = { play_begin, false, false },
	[MODEL_SLICE_END] = { play_slice_end, false, false },
	[MODEL_ASYNC] = { play_async, false, false },
	[MODEL_ASYNC_BEGIN] = { play_async_begin, false, false },
	[MODEL_ASYNC_INSTANT] = { play_async_instant, false, false },
	[MODEL_ASYNC_END] = { play_async_end, false, false },
	[MODEL_FLOW_BEGIN] = { play_flow, false, false },
	[MODEL_FLOW_STEP] = { play_flow, false, false },
	[MODEL_FLOW_END] = { play_flow, false, false },
	[MODEL_FLOW] = { play_flow, false, false },
	[MODEL_INSTANT] = { play_plain_instant, false, false },
	[MODEL_COUNTER] = { play_counter, false, false },
	[MODEL_LOG] = { play_log, false, false },
	[MODEL_LOG_LINE] = { play_log_line, false, false },
	[MODEL_SWITCH] = { play_switch, true, false },
	[MODEL_WAKEUP] = { play_wakeup, true, false },
	[MODEL_STATE] = { play_state, true, false },
	[MODEL_STACK] = { play_stack, false, false },
	[MODEL_NAME] = { play_name, false, true },
	[MODEL_ORDER] = { play_order, false, true },
};

/* A thread with events runs at least until then, if it was switched in. */
static void note_running(struct builder *b, const struct thread *t, uint64_t ts)
{
	struct cpu *c = t && t->state == SCHED_RUNNING ? b->cpus[t->cpu] : NULL;

	if (c && c->cur == t && ts > c->cur_ts)
		c->cur_ts = ts;
}

static int play_time(struct builder *b, const struct source_track *st, uint64_t ts)
{
	int err = b->clock == MODEL_CLOCK_NS ? 0 : build_set_clock(b, MODEL_CLOCK_NS);

	if (ts > b->now)
		b->now = ts;
	note_running(b, st->t, ts);
	return err;
}

int play_add(struct builder *b, const struct model_event *ev)
{
	struct source_track *st = track_at(b, ev->track);
	int out = 0;

	if (!st || (unsigned int)ev->kind >= MODEL_KIND_CNT)
		return -EINVAL;
	if (st->spec.kind == MODEL_TRACK_IDLE && !kinds[ev->kind].is_sched)
		return -EINVAL;
	b->stats.names_cut += (ev->name.len > NAME_BYTES_MAX) + (ev->category.len > NAME_BYTES_MAX);
	if (!kinds[ev->kind].is_timeless)
		out = play_time(b, st, play_ts(ev->ts_ns));
	if (!out)
		out = kinds[ev->kind].fn(b, ev, st);
	if (out < 0)
		return out;
	build_count(b, out, 1);
	return 0;
}
