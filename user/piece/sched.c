// SPDX-License-Identifier: GPL-2.0
/*
 * Context switches and wakeups, straight from their words: they are nearly all that there is.
 */
#include "state_p.h"

#include <errno.h>

#include "cut_p.h"

/* The arguments of a record that are used. */
struct args {
	int32_t out_prio, in_prio;	/* a wakeup: @in_prio is the woken one's */
	uint64_t waker;
	enum text mark, linux_state;
	bool filtered;
};

/* @value: what follows the name. */
static void take_arg(const struct piece_state *s, struct args *a, uint64_t head, enum text name, const uint64_t *value)
{
	const bool is_text = FXT_GET(head, FXT_F_ARG_TYPE) == FXT_ARG_STRING;
	const int32_t i32 = (int32_t)(head >> 32);

	if (name == TEXT_OUTGOING_WEIGHT)
		a->out_prio = i32;
	else if (name == TEXT_INCOMING_WEIGHT || name == TEXT_WEIGHT)
		a->in_prio = i32;
	else if (name == TEXT_WAKER && value)
		a->waker = *value;
	else if (name == TEXT_FILTERED)
		a->filtered = true;
	else if (name == TEXT_MARK && is_text)
		a->mark = piece_text(s, FXT_GET(head, FXT_F_ARG_STRING), value);
	else if (name == TEXT_LINUX_STATE && is_text)
		a->linux_state = piece_text(s, FXT_GET(head, FXT_F_ARG_STRING), value);
}

/* All but a text that would be beyond the end of its argument. */
static int take_args(const struct piece_state *s, struct args *a, const uint64_t *at, const uint64_t *end,
		     unsigned int nargs)
{
	const uint64_t *value;
	unsigned int name;
	size_t size, used;

	for (; nargs; nargs--, at += size) {
		size = at < end ? FXT_GET(*at, FXT_F_ARG_SIZE) : 0;
		if (!size || size > (size_t)(end - at))
			return -EINVAL;
		name = FXT_GET(*at, FXT_F_ARG_NAME);
		used = 1 + piece_ref_words(name);
		if (FXT_GET(*at, FXT_F_ARG_TYPE) == FXT_ARG_STRING)
			used += piece_ref_words(FXT_GET(*at, FXT_F_ARG_STRING));
		if (used > size)
			return -EINVAL;
		value = at + 1 + piece_ref_words(name);
		take_arg(s, a, *at, piece_text(s, name, at + 1), value < at + size ? value : NULL);
	}
	return 0;
}

static bool is_inline(uint64_t arg)
{
	return FXT_GET(arg, FXT_F_ARG_NAME) & FXT_STR_INLINE;
}

/* The index of @koid, which is usually what runs on the CPU anyway. */
static int thread_of(struct piece_state *s, const struct cpu *cpu, uint64_t koid, uint32_t *out)
{
	*out = NONE;
	if (!koid)
		return 0;
	if (cpu->begun && cpu->thread != NONE && s->threads[cpu->thread].koid == koid) {
		*out = cpu->thread;
		return 0;
	}
	return piece_thread(s, koid, out);
}

static enum run_state state_after(unsigned int state, const struct args *a)
{
	if (a->filtered || a->mark == TEXT_GAP || a->mark == TEXT_FILTER || a->mark == TEXT_STOP)
		return RUN_UNKNOWN;
	switch (state) {
	case FXT_STATE_RUNNING:
		return RUN_QUEUED;
	case FXT_STATE_SUSPENDED:
	case FXT_STATE_BLOCKED:
		return RUN_ASLEEP;
	case FXT_STATE_DYING:
		return a->mark == TEXT_STATE ? RUN_ASLEEP : RUN_DEAD;
	case FXT_STATE_DEAD:
		return RUN_DEAD;
	default:
		return RUN_UNKNOWN;
	}
}

static void switch_out(struct piece_state *s, uint32_t thread, const uint64_t *rec, const struct args *a)
{
	const unsigned int state = FXT_GET(*rec, FXT_F_SCHED_STATE);
	const struct thread left = {
		.since_ns = rec[1], .cpu = FXT_GET(*rec, FXT_F_SCHED_CPU), .prio = a->out_prio,
		.state = (uint8_t)state_after(state, a), .fxt_state = (uint8_t)state, .linux_state = (uint8_t)a->linux_state,
		.initial = a->mark == TEXT_STATE,
	};

	if (thread != NONE)
		piece_thread_out(s, thread, &left);
}

/* When idle on both sides, only their order says which mark of a gap begins it. */
static bool begins_gap(const struct cpu *cpu, const uint64_t *rec)
{
	return rec[2] || (!rec[3] && cpu->gap == GAP_NONE);
}

static void take_mark(struct piece_state *s, struct cpu *cpu, const uint64_t *rec, enum text mark)
{
	const uint64_t ts = rec[1];

	cpu->hidden = mark == TEXT_FILTER && !rec[3];
	if (mark == TEXT_START && ts > s->started_ns)
		s->started_ns = ts;
	if (mark == TEXT_STOP)
		cpu->ended = true;
	if (mark != TEXT_GAP) {
		cpu->gap = GAP_NONE;
	} else if (begins_gap(cpu, rec)) {
		cpu->gap = GAP_BEGUN;
	} else {
		cpu->gap = GAP_NONE;
		s->blind_ns = ts > s->blind_ns ? ts : s->blind_ns;
	}
}

/* The usual arguments of a switch, both weights. False: others. */
static bool take_weights(const struct piece_state *s, struct args *a, const uint64_t *rec, size_t words)
{
	if (words != FXT_SWITCH_WORDS + 2 || FXT_GET(*rec, FXT_F_SCHED_NARGS) != 2 || is_inline(rec[4]) || is_inline(rec[5]) ||
	    s->texts[FXT_GET(rec[4], FXT_F_ARG_NAME)] != TEXT_OUTGOING_WEIGHT ||
	    s->texts[FXT_GET(rec[5], FXT_F_ARG_NAME)] != TEXT_INCOMING_WEIGHT)
		return false;
	a->out_prio = (int32_t)(rec[4] >> 32);
	a->in_prio = (int32_t)(rec[5] >> 32);
	return true;
}

/* The usual arguments of a wakeup, its weight and its waker. */
static bool take_waker(const struct piece_state *s, struct args *a, const uint64_t *rec, size_t words)
{
	if (words != FXT_WAKEUP_WORDS + 3 || FXT_GET(*rec, FXT_F_SCHED_NARGS) != 2 || is_inline(rec[3]) || is_inline(rec[4]) ||
	    s->texts[FXT_GET(rec[3], FXT_F_ARG_NAME)] != TEXT_WEIGHT || FXT_GET(rec[3], FXT_F_ARG_SIZE) != 1 ||
	    s->texts[FXT_GET(rec[4], FXT_F_ARG_NAME)] != TEXT_WAKER)
		return false;
	a->in_prio = (int32_t)(rec[3] >> 32);
	a->waker = rec[5];
	return true;
}

static void see(struct piece_state *s, uint64_t ts)
{
	if (ts > s->newest_ns)
		s->newest_ns = ts;
	if (ts > s->seen_ns)
		s->seen_ns = ts;
}

static int take_switch(struct piece_state *s, const uint64_t *rec, size_t words)
{
	const unsigned int nargs = FXT_GET(*rec, FXT_F_SCHED_NARGS), number = FXT_GET(*rec, FXT_F_SCHED_CPU);
	struct args a = { 0 };
	struct cpu *cpu;
	uint32_t out, in;
	int err;

	if (words < FXT_SWITCH_WORDS)
		return -EINVAL;
	if (number >= PIECE_CPUS)
		return 0;
	cpu = &s->cpus[number];
	err = take_weights(s, &a, rec, words) ? 0 : take_args(s, &a, rec + FXT_SWITCH_WORDS, rec + words, nargs);
	err = err ? err : thread_of(s, cpu, rec[2], &out);
	err = err ? err : thread_of(s, cpu, rec[3], &in);
	if (err)
		return err;
	see(s, rec[1]);
	switch_out(s, out, rec, &a);
	if (a.mark == TEXT_STATE)
		return 0;
	if (in != NONE)
		piece_thread_in(s, in, rec[1], number, a.in_prio);
	if (a.mark || cpu->hidden || cpu->gap)
		take_mark(s, cpu, rec, a.mark);
	if (number >= s->cpus_end)
		s->cpus_end = number + 1;
	cpu->counts.switches += !a.mark;
	cpu->begun = true;
	cpu->thread = in;
	cpu->prio = a.in_prio;
	cpu->last_ns = rec[1];
	return 0;
}

unsigned int piece_wakeup_cpu(const struct piece_state *s, unsigned int cpu)
{
	return piece_cpu_known(s, cpu) ? cpu : s->first_cpu;
}

static int take_wakeup(struct piece_state *s, const uint64_t *rec, size_t words)
{
	const unsigned int nargs = FXT_GET(*rec, FXT_F_SCHED_NARGS), number = FXT_GET(*rec, FXT_F_SCHED_CPU);
	struct args a = { 0 };
	struct piece_cpu *counts;
	struct wake wake;
	uint32_t thread;
	int err;

	if (words < FXT_WAKEUP_WORDS)
		return -EINVAL;
	if (number >= PIECE_CPUS || !rec[2])
		return 0;
	err = take_waker(s, &a, rec, words) ? 0 : take_args(s, &a, rec + FXT_WAKEUP_WORDS, rec + words, nargs);
	err = err ? err : piece_thread(s, rec[2], &thread);
	if (err)
		return err;
	see(s, rec[1]);
	if (number >= s->cpus_end)
		s->cpus_end = number + 1;
	counts = &s->cpus[piece_wakeup_cpu(s, number)].counts;
	counts->wakeups++;
	counts->unreported_wakeups += a.mark != TEXT_OTHER;
	wake = (struct wake){ .ts = rec[1], .waker = a.waker, .prio = a.in_prio, .cpu = number, .mark = a.mark };
	return piece_thread_woken(s, thread, &wake);
}

int piece_take_sched(struct piece_state *s, const uint64_t *rec, size_t words)
{
	switch (FXT_GET(*rec, FXT_F_SCHED_TYPE)) {
	case FXT_SCHED_SWITCH:
		return take_switch(s, rec, words);
	case FXT_SCHED_WAKEUP:
		return take_wakeup(s, rec, words);
	default:
		return 0;
	}
}
