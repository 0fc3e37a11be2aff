// SPDX-License-Identifier: GPL-2.0
/*
 * Context switches: the current thread of each CPU and the state of each thread by the
 * records written so far, which is how readers will see it. What would contradict them
 * is not written as scheduling: a switch from a thread that was not current is preceded
 * by a gap, what is too late to be put in order is an instant.
 */
#include "sched.h"

#include <errno.h>
#include <string.h>

/* ---- records --------------------------------------------------------------- */

/* A string that is not registered, in ASCII; the words it took. */
static unsigned int put_inline(uint64_t *at, enum fixed name, const char *data, size_t len)
{
	unsigned int words = 1 + (unsigned int)((len + 7) / 8);
	char *to = (char *)(at + 1);
	size_t i;

	at[words - 1] = 0;
	at[0] = FXT_ARG_HEADER(FXT_ARG_STRING, words, name) |
		FXT_PUT(len ? FXT_STR_INLINE | len : 0, FXT_F_ARG_STRING);
	for (i = 0; i < len; i++)
		to[i] = data[i] & 0x80 || !data[i] ? '?' : data[i];
	return words;
}

void sched_put_stacks(struct builder *b, unsigned int *words, unsigned int *nargs)
{
	struct fxt_str text;
	unsigned int i;

	for (i = 0; b->stacks && i < 2; i++) {
		if (!build_take_stack(b, i, &text))
			continue;
		*words += put_inline(b->words + *words, i ? FIXED_USER_STACK : FIXED_STACK, text.data,
				     text.len);
		(*nargs)++;
	}
}

static int32_t weight_of(const struct builder *b, struct side s)
{
	if (s.t == b->idle)
		return FXT_WEIGHT_IDLE;
	return s.prio == FXT_WEIGHT_IDLE ? 0 : s.prio;
}

/* "Context Switch Record", with fixed strings only: no table has to be asked. */
static int put_switch(struct builder *b, struct cpu *c, const struct switch_record *s)
{
	unsigned int words = 6, nargs = 2;
	uint64_t *w = b->words;

	w[4] = FXT_I32_ARG(FIXED_OUTGOING_WEIGHT, weight_of(b, s->out));
	w[5] = FXT_I32_ARG(FIXED_INCOMING_WEIGHT, weight_of(b, s->in));
	if (s->linux_state.len) {
		words += put_inline(w + words, FIXED_LINUX_STATE, s->linux_state.data,
				    s->linux_state.len);
		nargs++;
	}
	if (s->mark) {
		w[words++] = FXT_STR_ARG(FIXED_MARK, s->mark);
		nargs++;
	} else {
		sched_put_stacks(b, &words, &nargs);
	}
	if (s->is_filtered) {
		w[words++] = FXT_BOOL_ARG(FIXED_FILTERED, true);
		nargs++;
	}
	FXT_PUT_SWITCH(w, words, nargs, c->nr, s->state, s->ts, s->out.t->koid, s->in.t->koid);
	c->switch_ns = build_ns(b, s->ts);
	return fxt_write_raw(b->w, w, words * sizeof(*w));
}

/* ---- states ---------------------------------------------------------------- */

void sched_set_state(struct builder *b, struct thread *t, enum sched_state state, uint64_t ts)
{
	if (t == b->idle)
		return;
	t->state = (uint8_t)state;
	t->sched_ts = ts;
	t->sched_ns = build_ns(b, ts);
}

static void set_horizon(struct builder *b, uint64_t ts)
{
	uint64_t ns = build_ns(b, ts);

	if (ns > b->horizon)
		b->horizon = ns;
}

/* Across a gap of any CPU a thread that does not run may have been woken, run and slept. */
enum sched_state sched_state_at(const struct builder *b, const struct thread *t, uint64_t ns)
{
	if (t->state == SCHED_RUNNING || t->sched_ns >= b->horizon || b->horizon > ns)
		return (enum sched_state)t->state;
	return SCHED_UNKNOWN;
}

bool sched_in_order(const struct builder *b, const struct thread *t, uint64_t ns)
{
	return t == b->idle || ns >= t->sched_ns;
}

/* ---- gaps ------------------------------------------------------------------ */

/* From the last known time of the CPU, or @limit, its current thread is not known. */
static int begin_gap(struct builder *b, struct cpu *c, uint64_t limit)
{
	struct switch_record s = {
		.ts = c->cur_ts < limit ? c->cur_ts : limit, .out = { c->cur, c->cur_prio },
		.in = { b->idle, 0 }, .state = FXT_STATE_RUNNING, .mark = FIXED_GAP,
	};

	sched_set_state(b, c->cur, SCHED_RUNNABLE, s.ts);
	set_horizon(b, s.ts);
	c->cur = NULL;
	c->in_gap = true;
	b->stats.gaps++;
	return put_switch(b, c, &s);
}

/* @t is about to run somewhere: where it was believed to run, it does not any more. */
static int leave(struct builder *b, struct thread *t, uint64_t ts)
{
	if (t == b->idle || t->state != SCHED_RUNNING)
		return 0;
	return begin_gap(b, b->cpus[t->cpu], ts);
}

/* The CPU's records begin, or begin again: @in runs. */
static int begin_cpu(struct builder *b, struct cpu *c, uint64_t ts, struct side in, enum fixed mark)
{
	struct thread *t = (struct thread *)in.t;
	struct switch_record s = {
		.out = { b->idle, 0 }, .in = in, .state = FXT_STATE_RUNNING, .mark = mark,
	};
	uint64_t since = build_ns(b, c->line_since);
	int err;

	s.ts = ts;
	if (c->line == t && c->line_since <= ts && since >= c->switch_ns &&
	    sched_in_order(b, t, since))
		s.ts = c->line_since;
	err = leave(b, t, s.ts);
	if (err)
		return err;
	sched_set_state(b, t, SCHED_RUNNING, s.ts);
	set_horizon(b, s.ts);
	t->cpu = c->nr;
	c->cur = t;
	c->cur_prio = in.prio;
	c->cur_ts = ts;
	c->started = true;
	c->in_gap = false;
	return put_switch(b, c, &s);
}

/* Before a switch from @out: whatever the CPU was believed to do, now @out runs. */
static int ensure_runs(struct builder *b, struct cpu *c, uint64_t ts, struct side out)
{
	int err = 0;

	if (c->cur == out.t)
		return 0;
	if (c->cur)
		err = begin_gap(b, c, ts);
	if (err)
		return err;
	return begin_cpu(b, c, ts, out, c->started ? FIXED_GAP : FIXED_START);
}

int sched_lose(struct builder *b, struct cpu *c)
{
	c->line = NULL;
	return c->cur ? begin_gap(b, c, UINT64_MAX) : 0;
}

int sched_forget(struct builder *b, struct thread *t)
{
	int err = leave(b, t, UINT64_MAX);
	unsigned int i;

	for (i = 0; i < b->cpus_cnt; i++)
		if (b->cpus[i] && b->cpus[i]->line == t)
			b->cpus[i]->line = NULL;
	return err;
}

/* ---- context switches ------------------------------------------------------ */

static void set_out_state(struct builder *b, struct thread *t, const struct switch_record *s)
{
	switch (s->state) {
	case FXT_STATE_RUNNING:
		sched_set_state(b, t, SCHED_RUNNABLE, s->ts);
		break;
	case FXT_STATE_DEAD:
		sched_set_state(b, t, SCHED_DEAD, s->ts);
		break;
	default:
		sched_set_state(b, t, SCHED_BLOCKED, s->ts);
		if (t->maybe_woken && build_ns(b, s->ts - t->wake_ts) > MAYBE_MAX_NS)
			t->maybe_woken = false;
	}
	if (s->state == FXT_STATE_DEAD || s->state == FXT_STATE_DYING)
		t->exited = t != b->idle;
}

bool sched_is_late(const struct builder *b, const struct cpu *c, uint64_t ns, const struct thread *out,
		   const struct thread *in)
{
	return !c || ns < c->switch_ns || !sched_in_order(b, out, ns) || !sched_in_order(b, in, ns);
}

int sched_play_switch(struct builder *b, struct cpu *c, struct switch_record *s)
{
	struct thread *out = (struct thread *)s->out.t, *in = (struct thread *)s->in.t;
	int err = ensure_runs(b, c, s->ts, s->out);

	if (!err && in != out)
		err = leave(b, in, s->ts);
	if (!err && in != out)
		err = sched_ensure_woken(b, c, in, s->ts);
	if (err)
		return err;
	if (s->state == FXT_STATE_DEAD && thread_is_last(out))
		s->state = FXT_STATE_DYING;
	set_out_state(b, out, s);
	sched_set_state(b, in, SCHED_RUNNING, s->ts);
	out->prio = s->out.prio;
	in->prio = s->in.prio;
	in->cpu = c->nr;
	in->maybe_woken = false;
	c->cur = in;
	c->cur_prio = s->in.prio;
	c->cur_ts = s->ts;
	return put_switch(b, c, s);
}

int sched_write_switch(struct builder *b, struct cpu *c, struct switch_record *s)
{
	struct thread *out = (struct thread *)s->out.t, *in = (struct thread *)s->in.t;
	int err;

	set_out_state(b, out, s);
	if (s->is_filtered || s->mark == FIXED_FILTER)
		sched_set_state(b, out, SCHED_UNKNOWN, s->ts);
	sched_set_state(b, in, SCHED_RUNNABLE, s->ts);	/* not on a CPU: the recorder ends what runs */
	in->prio = s->in.prio;
	err = put_switch(b, c, s);
	return err ? err : OUT_SWITCH;
}

/* ---- CPUs ------------------------------------------------------------------ */

/* A gap lasts at least until the first record after it: nothing of before is known then. */
static void bound_gap(struct builder *b, struct cpu *c, uint64_t ts, uint64_t ns)
{
	if (ns <= c->switch_ns)
		return;
	c->switch_ns = ns;
	set_horizon(b, ts);
}

void sched_line(struct builder *b, struct cpu *c, struct thread *t, uint64_t ts, uint64_t ns)
{
	if (c->in_gap && c->line != t)
		bound_gap(b, c, ts, ns);
	if (c->line != t) {
		c->line = t;
		c->line_since = ts;
		c->line_ts = ts;
		t->line_cpu = c->nr;
	} else if (ts > c->line_ts) {
		c->line_ts = ts;
	}
	if (c->cur == t && ts > c->cur_ts)
		c->cur_ts = ts;
}

/* Of a CPU without a switch, or none since a gap, lines still show which thread ran. */
static int begin_by_lines(struct builder *b, struct cpu *c)
{
	struct thread *t = c->line;
	uint64_t since = build_ns(b, c->line_since);

	if (c->cur || !t || !b->outcomes[OUT_SWITCH] || c->line_ts <= c->line_since ||
	    since < c->switch_ns || !sched_in_order(b, t, since) || t->state == SCHED_RUNNING ||
	    t->state == SCHED_DEAD)
		return 0;
	return begin_cpu(b, c, c->line_ts, (struct side){ t, t->prio },
			 c->started ? FIXED_GAP : FIXED_START);
}

static int stop_cpu(struct builder *b, struct cpu *c)
{
	struct switch_record s = {
		.in = { b->idle, 0 }, .state = FXT_STATE_RUNNING, .mark = FIXED_STOP,
	};
	int err = begin_by_lines(b, c);

	if (err || !c->cur)
		return err;
	s.ts = c->cur_ts;
	s.out = (struct side){ c->cur, c->cur_prio };
	sched_set_state(b, c->cur, SCHED_RUNNABLE, s.ts);
	set_horizon(b, s.ts);
	c->cur = NULL;
	return put_switch(b, c, &s);
}

int sched_stop(struct builder *b)
{
	unsigned int i;
	int err = 0;

	for (i = 0; i < b->cpus_cnt && !err; i++)
		if (b->cpus[i])
			err = stop_cpu(b, b->cpus[i]);
	return err;
}

void sched_reset(struct builder *b)
{
	unsigned int i;

	for (i = 0; i < b->cpus_cnt; i++) {
		struct cpu *c = b->cpus[i];

		if (!c)
			continue;
		c->started = false;
		c->in_gap = false;
		c->lost = false;
		c->lost_cnt = 0;
		c->line = NULL;
		c->assumed = NULL;
		c->now = 0;
		c->cur_ts = 0;
	}
}
