/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A recording that never was, of as many threads and events as are asked for: on each CPU its threads run in turn, each
 * is woken by the one before it, which then sleeps. Threads may exit and others take their places. Failures end the test.
 */
#ifndef WINDOW_MADE_UP_H
#define WINDOW_MADE_UP_H

#include <stdint.h>

#include "fxt/fxt_mem.h"

#define MADE_UP_CPUS	4U
/* Bytes of a wakeup and of a switch. */
#define MADE_UP_BYTES	96U

struct made_up {
	uint64_t now_ns;
	uint64_t events;		/* switches and wakeups, so far */
	uint32_t threads;		/* of each CPU */
	uint32_t at[MADE_UP_CPUS];	/* the one that runs */
	uint64_t *koids;		/* by CPU and place; NULL: none exits */
	uint64_t born[MADE_UP_CPUS];	/* the next one that switches exits, and this one takes its place; 0: it does not */
	uint64_t next;			/* the koid of the next one */
	struct fxt_writer *w;		/* of names, to: */
	struct fxt_mem names;
	uint64_t out_word[6], wake_word[6];	/* a switch and a wakeup, but for times, threads, CPU */
};

/* @threads in all, more than 2 * MADE_UP_CPUS; @begin gets the first records, up to `start` of each CPU. */
void made_up_open(struct made_up *m, uint32_t threads, struct fxt_mem *begin);
/* From now on threads exit. */
void made_up_turn_over(struct made_up *m);
void made_up_close(struct made_up *m);
/* In the next round a thread of each CPU exits: what comes before, of names, in @m->names until the next call. */
void made_up_names(struct made_up *m);
/* Puts at @to the records of a wakeup and a switch each on one CPU after the other, @pairs of them, @step_ns apart. */
void made_up_round(struct made_up *m, uint64_t *to, uint32_t pairs, uint64_t step_ns);

#endif
