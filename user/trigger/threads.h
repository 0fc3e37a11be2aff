/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What is kept of each thread: a cache line, found by koid. Threads that have exited are dropped.
 */
#ifndef TRIGGER_THREADS_H
#define TRIGGER_THREADS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define THREAD_NO_GAPS		UINT32_MAX
#define THREAD_COMM_BYTES	16

/* What a record of a thread says about the time after it. */
enum thread_state {
	THREAD_UNKNOWN_YET,	/* no record */
	THREAD_UNKNOWN,
	THREAD_RUNS,
	THREAD_RUNS_MARKED,	/* and maybe did before */
	THREAD_RUNNABLE,	/* switched out, not asleep */
	THREAD_WOKEN,
	THREAD_WOKEN_AGAIN,	/* that it ran and slept before was not reported */
	THREAD_WOKEN_BEFORE,	/* when was not reported */
	THREAD_SLEEPS,
	THREAD_BLOCKED,		/* in state D */
	THREAD_DEAD,
};

/* What may be a wait that goes on: by the last record, and by the last switch. */
enum thread_wait { WAIT_LAST, WAIT_OFF, WAIT_LISTS };

struct thread {
	uint64_t koid;		/* 0: a free slot */
	uint64_t process;	/* koid; THREADS_NO_PROCESS: unknown */
	uint64_t last_ns;	/* of its last switch or wakeup */
	uint64_t switched_ns;	/* of its last switch */
	char comm[THREAD_COMM_BYTES];	/* without a NUL if it is full */
	uint32_t gaps;		/* first of those in waits.h that are its, THREAD_NO_GAPS */
	uint32_t fired;		/* triggers that the wait that goes on has fired */
	uint32_t cgroups;	/* of a process: triggers whose cgroup it is in */
	uint8_t state : 4;	/* enum thread_state, by its last record */
	uint8_t switched : 4;	/* by its last switch */
	uint8_t exit_value;	/* of a process: the signal or code */
	bool has_exited : 1;	/* that is known */
	bool by_signal : 1;
	bool is_evaluated : 1;	/* of its exit triggers have been evaluated */
	bool is_begun : 1;	/* the state is older than its record: a mark `state` */
	bool switch_is_begun : 1;	/* of the last switch */
	uint8_t listed : 2;	/* in the lists of waits.h, as bits of enum thread_wait */
	uint8_t listed_later : 2;	/* in those of threads that are above a threshold */
	uint8_t asked : 2;	/* the kernel is asked for the wait that goes on, or was, as bits of the same */
	bool is_process : 1;	/* another thread belongs to it; while threads are dropped */
	bool is_exiting : 1;	/* by its last name; its last switch may never be seen */
};

#define THREADS_NO_PROCESS	UINT64_MAX

struct threads {
	struct thread *slots;
	size_t cap;		/* 0 or a power of two */
	size_t cnt;		/* slots in use */
	unsigned int shift;	/* of the hash */
	uint64_t complete_ns;	/* no record of a time before is to come */
	uint64_t blind_ns;	/* before it, records may be missing */
};

/* Makes one that is not there; NULL: no memory. Invalidates all pointers to threads. */
struct thread *threads_add(struct threads *th, uint64_t koid);
/* It has said that it exits; @now_ns: the time of the latest record. */
void threads_exiting(struct thread *t, uint64_t now_ns);
/* The slot of that thread, or the free one where it belongs; the table has some. */
static inline struct thread *threads_slot(const struct threads *th, uint64_t koid)
{
	size_t i = (size_t)(koid * 0x9e3779b97f4a7c15ULL >> th->shift);

	while (th->slots[i].koid && th->slots[i].koid != koid)
		i = (i + 1) & (th->cap - 1);
	return &th->slots[i];
}

/* NULL if there is none. */
static inline struct thread *threads_find(const struct threads *th, uint64_t koid)
{
	struct thread *t = th->cap ? threads_slot(th, koid) : NULL;

	return t && t->koid ? t : NULL;
}

/* The thread, which is made if it is new, as by threads_add(); its koid is not 0. */
static inline struct thread *threads_get(struct threads *th, uint64_t koid)
{
	return threads_find(th, koid) ?: threads_add(th, koid);
}

/* As far as is known; NULL: a thread of which nothing is. */
static inline bool threads_has_ended(const struct thread *t)
{
	return t && (t->is_exiting || t->state == THREAD_DEAD);
}

void threads_free(struct threads *th);

#endif
