// SPDX-License-Identifier: GPL-2.0
/*
 * Context switches: who runs on each CPU and the state of each thread, as the
 * records written so far tell it, which is how readers will see it. What would
 * contradict them is not written as scheduling: a switch from someone who did not
 * run is mended by a gap, what comes too late to be put in order is an instant.
 */
#include "sched_p.h"

#include <errno.h>
#include <string.h>

struct side {
	const struct thread *t;
	int32_t prio;
};

/* ---- records --------------------------------------------------------------- */

uint64_t sched_arg_i32(enum fixed name, int32_t v)
{
	return FXT_ARG_HEADER(FXT_ARG_INT32, 1, name) | FXT_PUT((uint32_t)v, FXT_F_ARG_VALUE32);
}

uint64_t sched_arg_ref(enum fixed name, enum fixed v)
{
	return FXT_ARG_HEADER(FXT_ARG_STRING, 1, name) | FXT_PUT(v, FXT_F_ARG_STRING);
}

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

	for (i = 0; i < 2; i++) {
		if (!build_take_stack(b, i, &text))
			continue;
		*words += put_inline(b->words + *words, i ? STR_USER_STACK : STR_STACK, text.data,
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

struct switch_record {
	uint64_t ts;
	struct side out, in;
	enum fxt_thread_state state;
	struct ftrace_text linux_state;
	enum fixed mark;		/* 0: a switch of the machine */
};

/* "Context Switch Record", with fixed strings only: no table has to be asked. */
static int put_switch(struct builder *b, struct cpu *c, const struct switch_record *s)
{
	unsigned int words = 6, nargs = 2;
	uint64_t *w = b->words;

	w[1] = s->ts;
	w[2] = s->out.t->koid;
	w[3] = s->in.t->koid;
	w[4] = sched_arg_i32(STR_OUTGOING_WEIGHT, weight_of(b, s->out));
	w[5] = sched_arg_i32(STR_INCOMING_WEIGHT, weight_of(b, s->in));
	if (s->linux_state.len) {
		words += put_inline(w + words, STR_LINUX_STATE, s->linux_state.data,
				    s->linux_state.len);
		nargs++;
	}
	if (s->mark) {
		w[words++] = sched_arg_ref(STR_MARK, s->mark);
		nargs++;
	} else {
		sched_put_stacks(b, &words, &nargs);
	}
	w[0] = FXT_SCHED_HEADER(FXT_SCHED_SWITCH, words, nargs, c->nr) |
	       FXT_PUT(s->state, FXT_F_SCHED_STATE);
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

/* From the last time that is known of the CPU, or @limit, nobody knows who runs. */
static int begin_gap(struct builder *b, struct cpu *c, uint64_t limit)
{
	struct switch_record s = {
		.ts = c->cur_ts < limit ? c->cur_ts : limit, .out = { c->cur, c->cur_prio },
		.in = { b->idle, 0 }, .state = FXT_STATE_RUNNING, .mark = STR_GAP,
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
	return begin_cpu(b, c, ts, out, c->started ? STR_GAP : STR_START);
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

static enum fxt_thread_state state_of_letter(char c)
{
	switch (c) {
	case 'R':
		return FXT_STATE_RUNNING;
	case 'T': case 't':
		return FXT_STATE_SUSPENDED;
	case 'Z':
		return FXT_STATE_DYING;
	case 'X': case 'x':
		return FXT_STATE_DEAD;
	default:
		return FXT_STATE_BLOCKED;
	}
}

/* Of several states the one that lasts. */
static unsigned int rank_of(enum fxt_thread_state state)
{
	static const uint8_t ranks[] = {
		[FXT_STATE_BLOCKED] = 1, [FXT_STATE_SUSPENDED] = 2, [FXT_STATE_DYING] = 3,
		[FXT_STATE_DEAD] = 4,
	};

	return ranks[state];
}

/* Of field dumps: bits as in the kernel's task_report_str[], since 4.14. */
static struct ftrace_text letter_of_number(int64_t bits)
{
	static const char letters[] = "SDTtXZPI";
	unsigned int i;

	if (bits & 0x100)
		return (struct ftrace_text){ "R+", 2 };
	for (i = 8; i > 0; i--)
		if (bits & 1 << (i - 1))
			return (struct ftrace_text){ letters + i - 1, 1 };
	return (struct ftrace_text){ "R", 1 };
}

/* Letters as the kernel prints them, also several with bars between; plain R and S say no more. */
static void set_switch_state(const struct ftrace_event *ev, struct ftrace_text state,
			     struct switch_record *s)
{
	enum fxt_thread_state one;
	int64_t bits;
	size_t i;

	if (text_int(state, &bits))
		state = letter_of_number(bits);
	/* trace-cmd has an older table: it prints the idle state as W. */
	if (ev->dialect == FTRACE_TRACE_CMD && text_is(state, "W"))
		state = (struct ftrace_text){ "I", 1 };
	s->state = FXT_STATE_RUNNING;
	for (i = 0; i < state.len && state.data[state.len - 1] != '+'; i++) {
		one = state.data[i] == '|' ? FXT_STATE_RUNNING : state_of_letter(state.data[i]);
		if (rank_of(one) > rank_of(s->state))
			s->state = one;
	}
	if (!text_is(state, "R") && !text_is(state, "S")) {
		s->linux_state = state;
		s->linux_state.len = state.len < 16 ? state.len : 16;
	}
}

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

/* Whether the switch can be put in order with what is written. */
static bool is_late(const struct builder *b, const struct record *r, const struct thread *out,
		    const struct thread *in)
{
	return !r->cpu || r->ns < r->cpu->switch_ns || !sched_in_order(b, out, r->ns) ||
	       !sched_in_order(b, in, r->ns);
}

/* Both ends are known and in order; from here on nothing contradicts. */
static int play_switch(struct builder *b, const struct record *r, struct switch_record *s)
{
	struct thread *out = (struct thread *)s->out.t, *in = (struct thread *)s->in.t;
	struct cpu *c = r->cpu;
	int err = ensure_runs(b, c, r->ts, s->out);

	if (!err && in != out)
		err = leave(b, in, r->ts);
	if (!err && in != out)
		err = sched_ensure_woken(b, c, in, r->ts);
	if (err)
		return err;
	if (s->state == FXT_STATE_DEAD && thread_is_last(out))
		s->state = FXT_STATE_DYING;
	set_out_state(b, out, s);
	sched_set_state(b, in, SCHED_RUNNING, r->ts);
	out->prio = s->out.prio;
	in->prio = s->in.prio;
	in->cpu = c->nr;
	in->maybe_woken = false;
	c->cur = in;
	c->cur_prio = s->in.prio;
	c->cur_ts = r->ts;
	return put_switch(b, c, s);
}

int on_switch(struct builder *b, const struct record *r)
{
	struct switch_record s = { .ts = r->ts };
	struct sched_text text;
	struct thread *out, *in;
	int err = 0;
	bool late;

	if (!sched_parse_switch(r->ev, &text))
		return OUT_OTHER;
	out = r->t && r->t->tid == text.prev_tid ? r->t : thread_get(b, text.prev_tid);
	in = thread_get(b, text.next_tid);
	if (!out || !in)
		return -ENOMEM;
	late = is_late(b, r, out, in);
	if (!late && out->state == SCHED_DEAD)
		err = thread_renew(b, out);
	if (!late && !err && in->state == SCHED_DEAD)
		err = thread_renew(b, in);
	if (err)
		return err;
	thread_name(b, out, text.prev_comm, NAME_ARGUMENT);
	thread_name(b, in, text.next_comm, NAME_ARGUMENT);
	if (late)
		return OUT_LATE;
	s.out = (struct side){ out, text.prev_prio };
	s.in = (struct side){ in, text.next_prio };
	set_switch_state(r->ev, text.state, &s);
	err = play_switch(b, r, &s);
	return err ? err : OUT_SWITCH;
}

/* ---- CPUs ------------------------------------------------------------------ */

/* A gap lasts at least until the first record after it: nothing of before is known then. */
static void bound_gap(struct builder *b, const struct record *r)
{
	if (r->ns <= r->cpu->switch_ns)
		return;
	r->cpu->switch_ns = r->ns;
	set_horizon(b, r->ts);
}

void sched_line(struct builder *b, const struct record *r)
{
	struct cpu *c = r->cpu;

	if (c->in_gap && c->line != r->t)
		bound_gap(b, r);
	if (c->line != r->t) {
		c->line = r->t;
		c->line_since = r->ts;
		c->line_ts = r->ts;
		r->t->line_cpu = c->nr;
	} else if (r->ts > c->line_ts) {
		c->line_ts = r->ts;
	}
	if (c->cur == r->t && r->ts > c->cur_ts)
		c->cur_ts = r->ts;
}

/* Of a CPU without a switch, or none since a gap, lines still tell who ran. */
static int begin_by_lines(struct builder *b, struct cpu *c)
{
	struct thread *t = c->line;
	uint64_t since = build_ns(b, c->line_since);

	if (c->cur || !t || !b->outcomes[OUT_SWITCH] || c->line_ts <= c->line_since ||
	    since < c->switch_ns || !sched_in_order(b, t, since) || t->state == SCHED_RUNNING ||
	    t->state == SCHED_DEAD)
		return 0;
	return begin_cpu(b, c, c->line_ts, (struct side){ t, t->prio },
			 c->started ? STR_GAP : STR_START);
}

static int stop_cpu(struct builder *b, struct cpu *c)
{
	struct switch_record s = {
		.in = { b->idle, 0 }, .state = FXT_STATE_RUNNING, .mark = STR_STOP,
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
