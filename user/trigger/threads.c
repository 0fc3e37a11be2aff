// SPDX-License-Identifier: GPL-2.0
/*
 * A hash table with linear probing. It is rebuilt when it is half full: without the threads that
 * have exited, so it grows with those that live.
 */
#include "threads.h"

#include <stdlib.h>
#include <string.h>

#include "bpf/abi/ids.h"

#define CAP_MIN		1024U
#define EXITING_NS	10000000000ULL	/* since when nothing has been seen of a thread that exits */

_Static_assert(sizeof(struct thread) == 64, "a thread is one cache line");

/* Its last switch is past; it may be hidden by a filter, by a gap, or be on a CPU that is not recorded. */
static bool is_dead(const struct threads *th, const struct thread *t)
{
	if (t->last_ns >= th->complete_ns)
		return false;
	if (t->state == THREAD_DEAD || !t->is_exiting)
		return t->state == THREAD_DEAD;
	return th->complete_ns - t->last_ns > EXITING_NS && (t->state <= THREAD_UNKNOWN || t->last_ns < th->blind_ns);
}

/* Nothing more is to be known of it: it is dead, or its id is another thread's. */
static bool is_gone(const struct threads *th, const struct thread *t)
{
	if (t->is_process || t->gaps != THREAD_NO_GAPS)
		return false;
	if (is_dead(th, t))
		return true;
	return t->last_ns < th->complete_ns && threads_find(th, t->koid + ID_GENERATION_STEP);
}

/* A process is kept while it has threads that are, whether its first thread lives or not. */
static void find_processes(struct threads *th)
{
	struct thread *t, *process;

	for (t = th->slots; t < th->slots + th->cap; t++)
		t->is_process = false;
	for (t = th->slots; t < th->slots + th->cap; t++) {
		if (!t->koid || t->process == t->koid || t->process == THREADS_NO_PROCESS ||
		    is_dead(th, t))
			continue;
		process = threads_find(th, t->process);
		if (process)
			process->is_process = true;
	}
}

static struct thread *new_slots(size_t cap)
{
	struct thread *slots = aligned_alloc(sizeof(*slots), cap * sizeof(*slots));

	if (slots)
		memset(slots, 0, cap * sizeof(*slots));
	return slots;
}

static size_t count_left(struct threads *th)
{
	const struct thread *t;
	size_t left = 0;

	find_processes(th);
	for (t = th->slots; t < th->slots + th->cap; t++)
		left += t->koid && !is_gone(th, t);
	return left;
}

/* Makes space for one more; false: no memory. */
static bool rebuild(struct threads *th)
{
	const size_t left = count_left(th);
	struct threads new = { .complete_ns = th->complete_ns, .blind_ns = th->blind_ns, .cap = CAP_MIN, .cnt = left };
	const struct thread *t;

	/* A quarter full at most, so that it is not rebuilt again soon. */
	while (new.cap < 4 * left)
		new.cap *= 2;
	new.shift = 64 - (unsigned int)__builtin_ctzll(new.cap);
	new.slots = new_slots(new.cap);
	if (!new.slots)
		return false;
	for (t = th->slots; t < th->slots + th->cap; t++)
		if (t->koid && !is_gone(th, t))
			*threads_slot(&new, t->koid) = *t;
	free(th->slots);
	*th = new;
	return true;
}

struct thread *threads_add(struct threads *th, uint64_t koid)
{
	struct thread *t;

	if (2 * th->cnt >= th->cap && !rebuild(th))
		return NULL;
	t = threads_slot(th, koid);
	*t = (struct thread){ .koid = koid, .process = THREADS_NO_PROCESS, .gaps = THREAD_NO_GAPS };
	th->cnt++;
	return t;
}

void threads_exiting(struct thread *t, uint64_t now_ns)
{
	t->is_exiting = true;
	if (t->state <= THREAD_UNKNOWN && t->last_ns < now_ns)
		t->last_ns = now_ns;
}

void threads_free(struct threads *th)
{
	free(th->slots);
	*th = (struct threads){ .slots = NULL };
}
