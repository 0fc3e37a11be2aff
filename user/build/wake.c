// SPDX-License-Identifier: GPL-2.0
/*
 * Wakeups: written exactly for threads that sleep, as far as the records tell.
 * What wakes someone awake is counted; what must have woken someone and was not
 * told is made up where it is needed, and marked.
 */
#include "sched_p.h"

#include <errno.h>
#include <stdlib.h>

#define IMPLIED_MAX	16384U

/* ---- records --------------------------------------------------------------- */

struct wake_record {
	uint64_t ts, koid, waker;
	int32_t prio;
	uint16_t cpu;
	bool implied, has_stacks;
};

/* "Thread Wakeup Record" */
static int put_wakeup(struct builder *b, const struct wake_record *s)
{
	unsigned int words = 6, nargs = 2;
	uint64_t *w = b->words;

	w[1] = s->ts;
	w[2] = s->koid;
	w[3] = sched_arg_i32(STR_WEIGHT, s->prio == FXT_WEIGHT_IDLE ? 0 : s->prio);
	w[4] = FXT_ARG_HEADER(FXT_ARG_KOID, 2, STR_WAKER);
	w[5] = s->waker;
	if (s->implied) {
		w[words++] = sched_arg_ref(STR_MARK, STR_IMPLIED);
		nargs++;
	} else if (s->has_stacks) {
		sched_put_stacks(b, &words, &nargs);
	}
	w[0] = FXT_SCHED_HEADER(FXT_SCHED_WAKEUP, words, nargs, s->cpu);
	return fxt_write_raw(b->w, w, words * sizeof(*w));
}

/* ---- wakeups nobody told of ------------------------------------------------ */

/*
 * Traces without wakeups have none. In others a sleeper that runs was woken, but
 * only the first wakeup tells which kind of trace it is: until then what would
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
	/* It will stand behind the switch in the file, so it must be before it in time. */
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
			.prio = b->implied[i].prio, .cpu = b->implied[i].cpu, .implied = true,
		};

		err = put_implied(b, &s);
	}
	b->implied_cnt = 0;
	free(b->implied);
	b->implied = NULL;
	return err;
}

/* A wake that met its target on the way out belongs behind the switch-out, at the same time. */
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
		.ts = ts, .koid = t->koid, .prio = t->prio, .cpu = c->nr, .implied = true,
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

/* Runs by its own lines on a CPU of which no switch has told yet. */
static bool runs_unseen(const struct builder *b, const struct thread *t)
{
	const struct cpu *c = b->cpus[t->line_cpu];

	return c && !c->cur && c->line == t;
}

static int write_wake(struct builder *b, const struct record *r, struct thread *t, uint64_t waker,
		      uint16_t cpu)
{
	struct wake_record s = {
		.ts = r->ts, .koid = t->koid, .waker = waker, .prio = t->prio, .cpu = cpu,
		.has_stacks = true,
	};
	int err;

	sched_set_state(b, t, SCHED_RUNNABLE, r->ts);
	t->maybe_woken = false;
	err = put_wakeup(b, &s);
	return err ? err : OUT_WAKEUP;
}

struct wake {
	struct thread *t;
	uint64_t waker;
	uint16_t cpu;
};

/* OUT_WAKEUP if it is one that can be written, else what it is. */
static int parse_wake(struct builder *b, const struct record *r, struct wake *w, bool is_new)
{
	struct sched_text text;
	bool late;

	if (!sched_parse_wakeup(r->ev, &text))
		return OUT_OTHER;
	w->t = thread_get(b, text.next_tid);
	if (!w->t || (!b->woke && flush_implied(b)))
		return -ENOMEM;
	b->woke = true;
	if (w->t == b->idle || !text.success)
		return OUT_NO_OP;
	late = !sched_in_order(b, w->t, r->ns) || b->unsafe_wakes;
	if (!late && (w->t->state == SCHED_DEAD || (is_new && w->t->exited)) &&
	    thread_renew(b, w->t))
		return -ENOMEM;
	thread_name(b, w->t, text.next_comm, NAME_ARGUMENT);
	w->cpu = r->cpu ? r->cpu->nr : 0;
	if (text.cpu >= 0 && text.cpu < CPUS_MAX)
		w->cpu = (uint16_t)text.cpu;
	w->waker = r->ev->in_irq || !r->t ? 0 : r->t->koid;
	w->t->prio = text.next_prio;
	return late ? OUT_LATE : OUT_WAKEUP;
}

/* The thread is awake. It may be about to sleep, having seen nothing of the wake. */
static void note_maybe(const struct record *r, const struct wake *w)
{
	if (w->t->state != SCHED_RUNNING)
		return;
	w->t->maybe_woken = true;
	w->t->wake_ts = r->ts;
	w->t->wake_waker = w->waker;
	w->t->wake_cpu = w->cpu;
}

static bool is_awake(const struct builder *b, const struct thread *t, uint64_t ns)
{
	enum sched_state state = sched_state_at(b, t, ns);

	return state == SCHED_RUNNING || state == SCHED_RUNNABLE ||
	       (state == SCHED_UNKNOWN && runs_unseen(b, t));
}

int on_waking(struct builder *b, const struct record *r)
{
	struct wake w;
	int out = parse_wake(b, r, &w, false);

	if (out != OUT_WAKEUP)
		return out;
	w.t->woken = false;
	if (is_awake(b, w.t, r->ns)) {
		note_maybe(r, &w);
		return OUT_NO_OP;
	}
	out = write_wake(b, r, w.t, w.waker, w.cpu);
	w.t->woken = true;
	return out;
}

/* The waking of a thread that then went to sleep: its waker is the true one. */
int on_wakeup(struct builder *b, const struct record *r)
{
	struct wake w;
	int out = parse_wake(b, r, &w, false);
	bool woken;

	if (out != OUT_WAKEUP)
		return out;
	woken = w.t->woken;
	w.t->woken = false;
	if (is_awake(b, w.t, r->ns))
		return woken ? OUT_DUPLICATE : OUT_NO_OP;
	if (w.t->maybe_woken)
		return write_wake(b, r, w.t, w.t->wake_waker, w.t->wake_cpu);
	return write_wake(b, r, w.t, w.waker, w.cpu);
}

int on_wakeup_new(struct builder *b, const struct record *r)
{
	struct wake w;
	int out = parse_wake(b, r, &w, true);

	if (out != OUT_WAKEUP)
		return out;
	w.t->woken = false;
	if (is_awake(b, w.t, r->ns))
		return OUT_NO_OP;
	return write_wake(b, r, w.t, w.waker, w.cpu);
}
