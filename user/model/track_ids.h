/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Processes and threads of what is no thread of Linux, as importer and recorder
 * have them.
 */
#ifndef MODEL_TRACK_IDS_H
#define MODEL_TRACK_IDS_H

#include <stddef.h>

#include "bpf/abi/ids.h"
#include "fxt/fxt.h"

/* From PSEUDO_BASE on. Threads: base + 10,000 * (1 + kind) + cpu. */
#define PSEUDO_STEP	10000U
#define PSEUDO_MARKERS	(PSEUDO_BASE + 1000000U)	/* and up: second tracks of threads */
#define PSEUDO_TRACKS	(PSEUDO_BASE + 50000000U)	/* and up: ids that are none of Linux */

enum pseudo {
	PSEUDO_IDLE,		/* what the idle thread did; its koid 0 is shared by all CPUs */
	PSEUDO_CPU,		/* what no thread is known of */
	PSEUDO_IRQ, PSEUDO_SOFTIRQ, PSEUDO_PREEMPT, PSEUDO_IRQSOFF, PSEUDO_LOST,
	PSEUDO_LOST_EVENTS,	/* by event rings */
	PSEUDO_SHED,		/* of the whole machine: what is left out for its cost */
	PSEUDO_CNT
};
#define PROCESS_INTERRUPTS	(PSEUDO_BASE + 1)
#define PROCESS_LOST		(PSEUDO_BASE + 2)
#define PROCESS_COUNTERS	(PSEUDO_BASE + 3)
#define PROCESS_GLOBAL		(PSEUDO_BASE + 4)	/* of the trace as a whole; written by tracks.c */
#define PSEUDO_PROCESSES	4	/* those above it, and base itself, which is none */

struct fxt_thread pseudo_thread(enum pseudo kind, unsigned int cpu);
/* "irq CPU 3" */
void pseudo_thread_name(enum pseudo kind, unsigned int cpu, char *buf, size_t size);
/* "interrupts" for PROCESS_INTERRUPTS */
const char *pseudo_process_name(uint64_t process);

#endif
