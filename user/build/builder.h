/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The trace builder: gives events meaning and writes them as FXT. Used by every
 * importer. Keeps who runs on each CPU and what state each thread is in, so that
 * the file is free of contradictions (kfxt verify) even where its source is not.
 *
 * Koids are ids as in kfxt(1), recycled ones too. From 4,200,000,000 on they are
 * of what is no thread of Linux: processes +1 "interrupts", +2 "lost events" and
 * +3 "counters"; per CPU the idle thread (+10,000 + cpu; koid 0 is that of all
 * CPUs), what no thread is known of (+20,000), interrupts (+30,000), softirqs
 * (+40,000), preemption and interrupts off (+50,000, +60,000), losses (+70,000);
 * from +1,000,000 on second tracks of threads, for markers inside of traced calls.
 *
 * A record without a time is where its CPU's clock stands. Of a whole trace
 * without times each CPU begins at 0 and goes on by the durations that are told.
 */
#ifndef BUILD_BUILDER_H
#define BUILD_BUILDER_H

#include <stdbool.h>
#include <stdint.h>

#include "../ftrace/event.h"

struct builder;
struct fxt_writer;

struct builder_cfg {
	const char *source;		/* provider's name: "ftrace"; NULL: only events, no file head (live.h) */
	uint64_t ticks_per_second;	/* of integer clocks; 0: not known, a tick is written as 1 ns */
};

/*
 * Where each record went; nothing is lost in silence:
 *
 *	records = switches + wakeups + names + slices + counters + instants + logs +
 *		  stacks + no_op_wakes + duplicate_wakes + incomplete
 *
 * The others count what is among those, or was added.
 */
struct builder_stats {
	uint64_t records;		/* of kinds below FTRACE_KIND_RECORDS, leaves twice */
	uint64_t switches, wakeups;	/* written as scheduling records */
	uint64_t names;			/* fork, exec, exit, rename: became kernel objects */
	uint64_t slices;		/* begins and ends of durations, async and complete ones */
	uint64_t counters, instants, logs;
	uint64_t stacks;		/* became an argument of the record before */
	uint64_t no_op_wakes;		/* of threads that ran or were queued: not written */
	uint64_t duplicate_wakes;	/* sched_wakeup after its sched_waking: not written again */
	uint64_t unmatched_ends;	/* an end without a begin: among instants */
	uint64_t incomplete;		/* cut in a number: not used */
	uint64_t closed_slices;		/* begins without an end, closed by what came or at the end */
	uint64_t gaps;			/* stretches of lost events that were drawn */
	uint64_t implied_wakes;		/* nobody told who woke a thread that slept and runs */
	uint64_t out_of_order;		/* scheduling too late to be put in order: among instants */
	uint64_t threads, processes;
	uint64_t events;		/* event records written */
};

/* Writes the file's head; borrows @w. 0 or -errno. */
int builder_open(struct builder **out, struct fxt_writer *w, const struct builder_cfg *cfg);
/* An ftrace_emit_fn; @ctx is the builder. */
int builder_add(void *ctx, const struct ftrace_event *event);
/* Ends every CPU, closes slices, writes names. 0 or -errno. */
int builder_end(struct builder *b);
void builder_stats(const struct builder *b, struct builder_stats *stats);
/* NULL is fine. */
void builder_close(struct builder *b);

#endif
