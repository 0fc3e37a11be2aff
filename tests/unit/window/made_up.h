/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A recording that never was, of as many threads and events as are asked for: on each CPU its threads run in turn, each
 * is woken by the one before it, which then sleeps. Failures end the test.
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
	uint64_t out_word[6], wake_word[6];	/* a switch and a wakeup, but for times, threads, CPU */
};

/* @threads in all, more than 2 * MADE_UP_CPUS; @begin gets the first records, up to `start` of each CPU. */
void made_up_open(struct made_up *m, uint32_t threads, struct fxt_mem *begin);
/* Puts at @to the records of a wakeup and a switch each on one CPU after the other, @pairs of them, @step_ns apart. */
void made_up_round(struct made_up *m, uint64_t *to, uint32_t pairs, uint64_t step_ns);

#endif
