/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Waits that go on and of which the records are no proof: a gap hides a part, or the thread could run without a record, where
 * the kernel does not report each switch. The kernel is asked what the thread does.
 *
 * A thread that does not run at one answer, and has been switched out no more by a second one, has not run in between,
 * whatever is hidden. Of one that is runnable only the time for which it has run says whether it runs: that is up to date
 * at each tick, on CPUs without one (nohz_full) once a second. A wait that nothing divides is as long as the records say, if
 * the kernel says the same of its end.
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

#define ASKED_PER_S	100U	/* an answer takes 10 us to 20 us */
#define ASKED_AT_ONCE	50U
#define ASKED_RUN_NS	1100000000ULL	/* of one that runs the time in which it has run grows in so long */

/* The wait of a thread that a record began. */
struct asked_wait {
	uint64_t koid, record_ns;
	uint64_t due_ns;	/* for the next step, once all records up to then are there */
	uint64_t from_ns;	/* the first answer: since then it is as it is */
	uint64_t to_ns;		/* the last one */
	uint64_t switches, run_ns;	/* of the first one */
	uint8_t id;		/* enum thread_wait */
	uint8_t record_state;	/* enum thread_state by the record */
	char state;		/* by the first answer, as in /proc/PID/status; 0: there was none */
	bool is_whole;		/* the records are no contradiction: it waits since @record_ns */
};

/* The one that is due first on top. */
struct asked_heap {
	struct asked_wait *list;
	size_t cnt, cap;
};

/* All zero asks nobody. */
struct asked {
	triggers_ask_fn *ask;
	void *ctx;
	const struct threads *threads;	/* borrowed, all three */
	const struct blind *blind;
	struct firing *firing;
	struct asked_heap asks[WAIT_LISTS];	/* to be asked for */
	struct asked_heap answers;	/* enough is known, but records of its time may be missing */
	uint64_t suspended_ns;		/* what began before is over: the machine was suspended */
	uint64_t looked_ns;
	uint64_t left_ns;		/* how many may be asked at present, 1e9 / ASKED_PER_S for each */
};

/*
 * @t has waited for longer than a threshold. @is_whole: nothing divides the wait. Its state may be THREAD_UNKNOWN: it was
 * running as a gap began.
 */
void asked_add(struct asked *a, struct thread *t, enum thread_wait id, bool is_whole, uint64_t complete_ns);
/* All records of times before @complete_ns are there. */
void asked_round(struct asked *a, uint64_t complete_ns);
/* Whether the thread is runnable, as it is if it runs; true if nobody can say, false if it is to be asked for later. */
bool asked_is_runnable(struct asked *a, uint64_t koid);
void asked_fini(struct asked *a);

#endif
