/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Waits of threads: for a CPU, off any CPU, in uninterruptible sleep.
 *
 * A thread's records come out of order, since those of different CPUs are drained one CPU after another.
 * A wait is the time between two records that follow each other, and another record may yet come in
 * between. So each time between two records that is longer than the lowest threshold is kept as a gap
 * until all records up to its end are there; a record that comes late divides the gap it is in. One
 * that is in none divides a time that was too short to count.
 */
#ifndef TRIGGER_WAITS_H
#define TRIGGER_WAITS_H

#include <errno.h>

#include "asked.h"
#include "blind.h"
#include "firing.h"
#include "threads.h"

/* Between two records of a thread. */
struct wait_gap {
	uint64_t koid;
	uint64_t from_ns, to_ns;
	uint32_t next;		/* of the same thread, or THREAD_NO_GAPS */
	uint32_t fired;		/* triggers that have fired while it went on */
	uint8_t from, to;	/* enum thread_state after these records */
	bool of_switches;	/* between two switches: wakeups do not count */
	bool is_begun;		/* as in struct thread */
};

/* Threads of which that is so, or was when the list was last gone through, each once. */
struct wait_list {
	uint64_t *koids;
	size_t cnt, cap;
	size_t looked_cnt;	/* those that were left then */
	uint64_t due_ns;	/* before that none is above a threshold */
};

struct thread_waits {
	struct threads *threads;	/* borrowed, all three */
	const struct blind *blind;
	struct firing *firing;
	struct wait_gap *gaps;
	size_t gaps_cnt, gaps_cap;
	struct wait_list lists[WAIT_LISTS];
	struct wait_list later[WAIT_LISTS];	/* those above a threshold: due by a higher one, or at the end of a cooldown */
	struct asked asked;		/* of those that a gap divides */
	uint64_t least_ns;		/* the lowest threshold of runq and blocked */
	uint64_t least_off_ns;		/* of offcpu */
	uint32_t runq, blocked, offcpu;	/* triggers, as bits */
	bool is_filtered;		/* records of threads that were not selected are left out */
	bool is_blank;			/* CPUs are not recorded: nothing can be proven */
};

/* A record of a thread. */
struct wait_record {
	uint64_t koid, ts_ns;
	uint64_t run_ns;	/* it ends a run on its CPU that began then; UINT64_MAX: it does not */
	uint8_t state;		/* enum thread_state */
	bool is_switch;
	bool is_begun;
};

/* Slow parts of the next function. */
int thread_waits_add_gap(struct thread_waits *w, struct thread *t, const struct wait_record *rec, bool of_switches);
int thread_waits_add_late(struct thread_waits *w, struct thread *t, const struct wait_record *rec, bool of_switches);
int thread_waits_list(struct thread_waits *w, struct thread *t, enum thread_wait list);

static inline bool thread_waits_is_runnable(uint8_t state)
{
	return state == THREAD_RUNNABLE || state == THREAD_WOKEN || state == THREAD_WOKEN_AGAIN;
}

static inline bool thread_waits_is_off(uint8_t state)
{
	return state == THREAD_RUNNABLE || state == THREAD_SLEEPS || state == THREAD_BLOCKED;
}

/* Triggers that a wait of that state may fire. */
static inline uint32_t thread_waits_of(const struct thread_waits *w, uint8_t state)
{
	return thread_waits_is_runnable(state) ? w->runq : state == THREAD_BLOCKED ? w->blocked : 0;
}

/* It was running, or not recorded, when a gap began, and what it has done since only the kernel can say. */
static inline bool thread_waits_is_unsure(const struct thread_waits *w, uint8_t state)
{
	return state == THREAD_UNKNOWN && w->asked.ask && !w->is_filtered;
}

/* Of equal times: a thread is switched out, woken and switched in. */
static inline unsigned int thread_waits_rank(uint8_t state)
{
	if (state == THREAD_RUNS || state == THREAD_RUNS_MARKED)
		return 2;
	return state == THREAD_WOKEN || state == THREAD_WOKEN_AGAIN || state == THREAD_WOKEN_BEFORE;
}

/* A gap may begin with the last switch there is a record of: the thread is switched out at once. */
static inline unsigned int thread_waits_rank_of(const struct wait_record *rec)
{
	return rec->run_ns == rec->ts_ns ? 3 : thread_waits_rank(rec->state);
}

/* Does @rec come after the record of @last_ns, after which the state was @state? */
static inline bool thread_waits_is_later(const struct wait_record *rec, uint64_t last_ns, uint8_t state)
{
	if (rec->ts_ns != last_ns)
		return rec->ts_ns > last_ns;
	return thread_waits_rank_of(rec) >= thread_waits_rank(state);
}

/* 0 or -ENOMEM. */
static inline int thread_waits_add(struct thread_waits *w, const struct wait_record *rec)
{
	struct thread *t = threads_get(w->threads, rec->koid);
	int err = 0;

	if (!t)
		return -ENOMEM;
	if (rec->is_switch && w->offcpu) {
		if (!thread_waits_is_later(rec, t->switched_ns, t->switched)) {
			err = thread_waits_add_late(w, t, rec, true);
		} else {
			if (rec->ts_ns - t->switched_ns > w->least_off_ns && rec->run_ns != t->switched_ns)
				err = thread_waits_add_gap(w, t, rec, true);
			t->switched_ns = rec->ts_ns;
			t->switched = rec->state;
			t->switch_is_begun = rec->is_begun;
			if ((thread_waits_is_off(t->switched) || thread_waits_is_unsure(w, t->switched)) &&
			    !(t->listed & 1 << WAIT_OFF))
				err = thread_waits_list(w, t, WAIT_OFF) ?: err;
		}
	}
	if (!thread_waits_is_later(rec, t->last_ns, t->state))
		return thread_waits_add_late(w, t, rec, false) ?: err;
	if (rec->ts_ns - t->last_ns > w->least_ns && rec->run_ns != t->last_ns)
		err = thread_waits_add_gap(w, t, rec, false) ?: err;
	t->last_ns = rec->ts_ns;
	t->state = rec->state;
	t->is_begun = rec->is_begun;
	if ((thread_waits_of(w, t->state) || (w->runq | w->blocked && thread_waits_is_unsure(w, t->state))) &&
	    !(t->listed & 1 << WAIT_LAST))
		err = thread_waits_list(w, t, WAIT_LAST) ?: err;
	return err;
}

/* Sets what follows from the triggers. */
void thread_waits_init(struct thread_waits *w);
/* All records of times before @complete_ns are there: evaluates waits that have ended and those that go on. */
void thread_waits_round(struct thread_waits *w, uint64_t complete_ns);
void thread_waits_fini(struct thread_waits *w);

#endif
