// SPDX-License-Identifier: GPL-2.0
/*
 * Wakeups: written exactly for threads that sleep by the records written. A wakeup of a
 * thread that is awake is counted; one that must have been and was not recorded is added
 * where it is needed, and marked.
 */
#include "sched.h"

#include <stdlib.h>

#define IMPLIED_MAX	16384U

/* ---- records --------------------------------------------------------------- */

struct wake_record {
	uint64_t ts, koid, waker;
	int32_t prio;
	uint16_t cpu;
	enum fixed mark;
	bool has_stacks;
};

/* "Thread Wakeup Record" */
static int put_wakeup(struct builder *b, const struct wake_record *s)
{
	unsigned int words = 6, nargs = 2;
	uint64_t *w = b->words;

	w[3] = FXT_I32_ARG(FIXED_WEIGHT, s->prio == FXT_WEIGHT_IDLE ? 0 : s->prio);
	w[4] = FXT_ARG_HEADER(FXT_ARG_KOID, 2, FIXED_WAKER);
	w[5] = s->waker;
	if (s->mark) {
		w[words++] = FXT_STR_ARG(FIXED_MARK, s->mark);
		nargs++;
	} else if (s->has_stacks) {
		sched_put_stacks(b, &words, &nargs);
	}
	FXT_PUT_WAKEUP(w, words, nargs, s->cpu, s->ts, s->koid);
	return fxt_write_raw(b->w, w, words * sizeof(*w));
}

/* ---- wakeups that were not recorded ---------------------------------------- */

/*
 * Traces without wakeups have none. In others a sleeper that runs was woken, but
 * only the first wakeup shows which kind of trace it is: until then what would
 * be missing is kept.
 */
static void keep_implied(struct builder *b, const struct thread *t, uint64_t ts, uint16_t cpu)
{
	if (!b->implied)
		b->implied = calloc(IMPLIED_MAX, sizeof(*b->implied));
	if (!b->implied || b->implied_cnt == IMPLIED_MAX || ts == t->sched_ts) {
		b->unsafe_wakes = true;
		return;
	}
	/* It will be after the switch in the file, so it must be before it in time. */
	b->implied[b->implied_cnt++] = (struct implied){
		.ts = ts - 1, .koid = t->koid, .prio = t->prio, .cpu = cpu,
	};
}

static int put_implied(struct builder *b, const struct wake_record *s)
{
	b->stats.implied_wakes++;
	return put_wakeup(b, s);
}

/* If not all could be kept, no wakeup is written at all. */
static int flush_implied(struct builder *b)
{
	unsigned int i;
	int err = 0;

	for (i = 0; i < b->implied_cnt && !err && !b->unsafe_wakes; i++) {
		struct wake_record s = {
			.ts = b->implied[i].ts, .koid = b->implied[i].koid,
			.prio = b->implied[i].prio, .cpu = b->implied[i].cpu, .mark = FIXED_IMPLIED,
		};

		err = put_implied(b, &s);
	}
	b->implied_cnt = 0;
	free(b->implied);
	b->implied = NULL;
	return err;
}

/* A wake that met its target on the way out belongs after the switch-out, at the same time. */
static int put_maybe(struct builder *b, struct thread *t)
{
	struct wake_record s = {
		.ts = t->sched_ts, .koid = t->koid, .waker = t->wake_waker, .prio = t->prio,
		.cpu = t->wake_cpu,
	};

	b->outcomes[OUT_NO_OP]--;
	b->outcomes[OUT_WAKEUP]++;
	return put_wakeup(b, &s);
}

int sched_ensure_woken(struct builder *b, struct cpu *c, struct thread *t, uint64_t ts)
{
	struct wake_record s = {
		.ts = ts, .koid = t->koid, .prio = t->prio, .cpu = c->nr, .mark = FIXED_IMPLIED,
	};

	if (sched_state_at(b, t, build_ns(b, ts)) != SCHED_BLOCKED)
		return 0;
	if (b->woke && !b->unsafe_wakes && t->maybe_woken)
		return put_maybe(b, t);
	if (b->unsafe_wakes)
		return 0;
	if (b->woke)
		return put_implied(b, &s);
	keep_implied(b, t, ts, c->nr);
	return 0;
}

/* ---- wakeups --------------------------------------------------------------- */

/* Runs by its own lines on a CPU without a switch so far. */
static bool runs_unreported(const struct builder *b, const struct thread *t)
{
	const struct cpu *c = b->cpus[t->line_cpu];

	return c && !c->cur && c->line == t;
}

int sched_write_wake(struct builder *b, uint64_t ts, struct thread *t, uint64_t waker, uint16_t cpu)
{
	struct wake_record s = {
		.ts = ts, .koid = t->koid, .waker = waker, .prio = t->prio, .cpu = cpu,
		.has_stacks = true,
	};
	int err;

	sched_set_state(b, t, SCHED_RUNNABLE, ts);
	t->maybe_woken = false;
	err = put_wakeup(b, &s);
	return err ? err : OUT_WAKEUP;
}

int sched_write_marked_wake(struct builder *b, uint64_t ts, const struct wake *w, enum fixed mark)
{
	struct wake_record s = {
		.ts = ts, .koid = w->t->koid, .waker = w->waker, .prio = w->t->prio, .cpu = w->cpu, .mark = mark,
	};
	int err;

	sched_set_state(b, w->t, SCHED_RUNNABLE, ts);
	err = put_wakeup(b, &s);
	return err ? err : OUT_WAKEUP;
}

int sched_have_wakes(struct builder *b)
{
	int err = b->woke ? 0 : flush_implied(b);

	b->woke = true;
	return err;
}

/* The thread is awake. It may be about to sleep, having seen nothing of the wake. */
static void note_maybe(uint64_t ts, const struct wake *w)
{
	if (w->t->state != SCHED_RUNNING)
		return;
	w->t->maybe_woken = true;
	w->t->wake_ts = ts;
	w->t->wake_waker = w->waker;
	w->t->wake_cpu = w->cpu;
}

bool sched_is_awake(const struct builder *b, const struct thread *t, uint64_t ns)
{
	enum sched_state state = sched_state_at(b, t, ns);

	return state == SCHED_RUNNING || state == SCHED_RUNNABLE ||
	       (state == SCHED_UNKNOWN && runs_unreported(b, t));
}

int sched_play_wake(struct builder *b, uint64_t ts, const struct wake *w)
{
	w->t->woken = false;
	if (sched_is_awake(b, w->t, build_ns(b, ts))) {
		note_maybe(ts, w);
		return OUT_NO_OP;
	}
	return sched_write_wake(b, ts, w->t, w->waker, w->cpu);
}
