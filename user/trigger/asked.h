/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Waits that go on, of which a gap hides a part: whether they are one wait the records do not say, so the kernel is
 * asked what the thread does.
 *
 * It is asked twice. A thread that does not run at the first answer, and has been switched out no more by the second one, has not
 * run in between, whatever is hidden. That it does not run follows from the records: a gap ends with the thread that
 * runs on its CPU, so one that has no record since the last gap is off its CPU. An answer from inside of a gap proves nothing.
 */
#ifndef TRIGGER_ASKED_H
#define TRIGGER_ASKED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "blind.h"
#include "firing.h"
#include "threads.h"
#include "trigger.h"

#define ASKED_PER_S	100U	/* an answer takes some 10 us */
#define ASKED_AT_ONCE	50U

/* The wait of a thread that a record began. */
struct asked_wait {
	uint64_t koid, record_ns;
	uint64_t due_ns;	/* for the next step, once all records up to then are there */
	uint64_t from_ns;	/* it is off its CPU since then, at the latest */
	uint64_t answer_ns;	/* time of the last answer, while that is not proven to be of use */
	uint64_t switches;	/* how often it had been switched out */
	uint8_t id;		/* enum thread_wait */
	uint8_t record_state;	/* enum thread_state by the record */
	uint8_t step;
	char state;		/* as in /proc/PID/status */
};

/* All zero asks nobody. */
struct asked {
	triggers_ask_fn *ask;
	void *ctx;
	const struct threads *threads;	/* borrowed, all three */
	const struct blind *blind;
	struct firing *firing;
	bool is_filtered;		/* records of threads that were not selected are left out */
	struct asked_wait *list;	/* a heap, the one that is due first on top */
	size_t cnt, cap;
	uint64_t suspended_ns;		/* what began before is over: the machine was suspended */
	uint64_t looked_ns;
	uint64_t left_ns;		/* how many may be asked at present, 1e9 / ASKED_PER_S for each */
};

/* @t has waited for longer than a threshold, in two pieces at least, or its state is not known. */
void asked_add(struct asked *a, struct thread *t, enum thread_wait id, uint64_t complete_ns);
/* All records of times before @complete_ns are there. */
void asked_round(struct asked *a, uint64_t complete_ns);
void asked_fini(struct asked *a);

#endif
