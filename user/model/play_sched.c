// SPDX-License-Identifier: GPL-2.0
/*
 * Scheduling of readers that know threads, not lines of text: switches, wakeups, and states, of
 * which one that begins is the end of the one before.
 */
#include "play.h"

#include <errno.h>

#include "sched.h"

#define LINUX_STATE_MAX	16U

static enum fxt_thread_state fxt_state(enum model_state state)
{
	switch (state) {
	case MODEL_SLEEPING:
	case MODEL_BLOCKED:
		return FXT_STATE_BLOCKED;
	case MODEL_STOPPED:
		return FXT_STATE_SUSPENDED;
	case MODEL_DYING:
		return FXT_STATE_DYING;
	case MODEL_DEAD:
		return FXT_STATE_DEAD;
	default:
		return FXT_STATE_RUNNING;
	}
}

static struct model_text linux_state(const struct model_sched *s)
{
	if (!s->linux_state.len && s->state == MODEL_BLOCKED)
		return (struct model_text){ "D", 1 };
	return (struct model_text){ s->linux_state.data, s->linux_state.len < LINUX_STATE_MAX ?
							  s->linux_state.len : LINUX_STATE_MAX };
}

/* What is too late to be put in order. */
static int late(struct builder *b, const struct model_event *ev, struct source_track *st, const char *name)
{
	int out = st->t == b->idle ? OUT_NO_OP : play_instant(b, ev, st, name);

	if (out == OUT_INSTANT)
		b->stats.out_of_order++;
	return out;
}

/* A thread that is dead does not run: it is another one of that id. */
static struct thread *live_thread(struct builder *b, struct source_track *st)
{
	struct thread *t = track_thread(b, st);

	return t && t != b->idle && t->state == SCHED_DEAD ? track_renew(b, st) : t;
}

/* ---- switches -------------------------------------------------------------- */

int play_switch(struct builder *b, const struct model_event *ev, struct source_track *st)
{
	struct source_track *other = track_at(b, ev->sched.other);
	struct cpu *c = build_cpu(b, ev->sched.cpu);
	struct switch_record s = {
		.ts = play_ts(ev->ts_ns), .state = fxt_state(ev->sched.state), .linux_state = linux_state(&ev->sched),
	};
	struct thread *in, *out;
	int err;

	if (!other || ev->sched.cpu >= CPUS_MAX)
		return -EINVAL;
	in = track_thread(b, st);
	out = track_thread(b, other);
	if (!in || !out || !c)
		return -ENOMEM;
	if (sched_is_late(b, c, s.ts, out, in))
		return late(b, ev, st, "sched_switch");
	in = live_thread(b, st);
	out = live_thread(b, other);
	if (!in || !out)
		return -ENOMEM;
	s.in = (struct side){ in, ev->sched.priority };
	s.out = (struct side){ out, ev->sched.other_priority };
	err = sched_play_switch(b, c, &s);
	return err ? err : OUT_SWITCH;
}

/* ---- wakeups --------------------------------------------------------------- */

int play_wakeup(struct builder *b, const struct model_event *ev, struct source_track *st)
{
	struct source_track *other = track_at(b, ev->sched.other);
	struct thread *waker = other ? track_thread(b, other) : NULL;
	struct wake w = { .t = track_thread(b, st), .cpu = ev->sched.cpu, .waker = waker ? waker->koid : 0 };
	uint64_t ts = play_ts(ev->ts_ns);

	if (ev->sched.cpu >= CPUS_MAX)
		return -EINVAL;
	if (!w.t || (other && !waker) || sched_have_wakes(b))
		return -ENOMEM;
	if (w.t == b->idle)
		return OUT_NO_OP;
	if (!sched_in_order(b, w.t, ts) || b->unsafe_wakes)
		return late(b, ev, st, "sched_wakeup");
	w.t = live_thread(b, st);
	if (!w.t)
		return -ENOMEM;
	w.t->prio = ev->sched.priority;
	return sched_play_wake(b, ts, &w);
}

/* ---- states ---------------------------------------------------------------- */

/* Whatever else runs there is preempted. */
static int switch_in(struct builder *b, const struct model_event *ev, struct source_track *st, uint64_t ts)
{
	struct cpu *c = build_cpu(b, ev->sched.cpu);
	struct thread *t = track_thread(b, st);
	struct switch_record s = { .ts = ts, .state = FXT_STATE_RUNNING };
	int err;

	if (!c || !t)
		return ev->sched.cpu < CPUS_MAX ? -ENOMEM : -EINVAL;
	if (c->cur == t)
		return OUT_STATE;
	s.out = c->cur ? (struct side){ c->cur, c->cur_prio } : (struct side){ b->idle, 0 };
	if (sched_is_late(b, c, ts, s.out.t, t))
		return late(b, ev, st, "Running");
	t = live_thread(b, st);
	if (!t)
		return -ENOMEM;
	s.in = (struct side){ t, ev->sched.priority };
	err = sched_play_switch(b, c, &s);
	return err ? err : OUT_SWITCH;
}

/* What runs next is not known yet: the idle thread, for no time if another thread's state follows. */
static int switch_out(struct builder *b, const struct model_event *ev, struct source_track *st, uint64_t ts)
{
	struct cpu *c = b->cpus[st->t->cpu];
	struct switch_record s = {
		.ts = ts, .out = { st->t, st->t->prio }, .in = { b->idle, 0 }, .state = fxt_state(ev->sched.state),
		.linux_state = linux_state(&ev->sched),
	};
	int err;

	if (sched_is_late(b, c, ts, st->t, b->idle))
		return late(b, ev, st, "state");
	err = sched_play_switch(b, c, &s);
	return err ? err : OUT_SWITCH;
}

static enum sched_state sleep_state(enum model_state state)
{
	return state == MODEL_RUNNABLE ? SCHED_RUNNABLE : SCHED_BLOCKED;
}

int play_state(struct builder *b, const struct model_event *ev, struct source_track *st)
{
	struct thread *t = track_thread(b, st);
	uint64_t ts = play_ts(ev->ts_ns);
	struct wake w;
	int err;

	if (!t)
		return -ENOMEM;
	if (t == b->idle)
		return OUT_STATE;
	if (ev->sched.state == MODEL_RUNNING)
		return switch_in(b, ev, st, ts);
	if (t->state == SCHED_RUNNING)
		return switch_out(b, ev, st, ts);
	if (ev->sched.state == MODEL_DEAD && sched_in_order(b, t, ts)) {
		sched_set_state(b, t, SCHED_DEAD, ts);
		return OUT_STATE;
	}
	t = live_thread(b, st);
	if (!t)
		return -ENOMEM;
	if (ev->sched.state != MODEL_RUNNABLE || t->state != SCHED_BLOCKED) {
		if (t->state == SCHED_UNKNOWN)
			sched_set_state(b, t, sleep_state(ev->sched.state), ts);
		return OUT_STATE;
	}
	if (!sched_in_order(b, t, ts))
		return late(b, ev, st, "Runnable");
	err = sched_have_wakes(b);
	w = (struct wake){ .t = t, .cpu = t->cpu };
	return err ? err : sched_play_wake(b, ts, &w);
}
