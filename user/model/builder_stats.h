/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a trace builder is opened with, and what it counts.
 */
#ifndef MODEL_BUILDER_STATS_H
#define MODEL_BUILDER_STATS_H

#include <stdint.h>

struct builder_cfg {
	const char *source;		/* provider's name: "ftrace"; NULL: only events, no file head (live.h) */
	uint64_t ticks_per_second;	/* of integer clocks; 0: not known, a tick is written as 1 ns */
};

/*
 * Where each record went; nothing is lost in silence:
 *
 *	records = switches + wakeups + names + slices + counters + instants + logs +
 *		  stacks + no_op_wakes + duplicate_wakes + incomplete + flows + states +
 *		  samples
 *
 * The others count what is among those, or was added.
 */
struct builder_stats {
	uint64_t records;		/* events; of text the records of the ring buffer, calls in one line twice */
	uint64_t switches, wakeups;	/* written as scheduling records */
	uint64_t names;			/* fork, exec, exit, rename: became kernel objects */
	uint64_t slices;		/* begins and ends of durations, async and complete ones */
	uint64_t counters, instants, logs;
	uint64_t stacks;		/* became an argument of the record before */
	uint64_t no_op_wakes;		/* of threads that ran or were queued: not written */
	uint64_t duplicate_wakes;	/* sched_wakeup after its sched_waking: not written again */
	uint64_t flows;			/* begins, steps and ends */
	uint64_t states;		/* MODEL_STATE that changed nothing: not written */
	uint64_t samples;		/* of stacks, written as Perfetto packets */
	uint64_t unmatched_ends;	/* an end without a begin: among instants */
	uint64_t unmatched_flows;	/* a step or end without a begin: among flows, not written */
	uint64_t crowded_flows;		/* begins of more flows than can be open at one time: among flows, not written */
	uint64_t overlapping;		/* slices that did not nest, or nested too deep: on a second track, among slices */
	uint64_t deep;			/* of these the latter: viewers draw some 500 levels */
	uint64_t crowded;		/* slices that are too many to be open at one time: among instants */
	uint64_t names_cut;		/* names and categories of more than 2048 bytes */
	uint64_t args_dropped;		/* arguments for which a record has no space */
	uint64_t args_cut;		/* their names and texts that are cut for the same reason */
	uint64_t incomplete;		/* cut in a number: not used */
	uint64_t closed_slices;		/* begins without an end, closed by what came or at the end */
	uint64_t unfinished;		/* begins without an end that stay open, among slices */
	uint64_t gaps;			/* stretches of lost events that were drawn */
	uint64_t implied_wakes;		/* a sleeping thread runs, and no wakeup was recorded */
	uint64_t out_of_order;		/* scheduling too late to be put in order: among instants */
	uint64_t out_of_order_line;	/* of the first */
	uint64_t shifted;		/* traces of times that there are switches of: shown later ... */
	uint64_t shifted_line, shifted_s;	/* ... the first, from that line on by so many seconds */
	uint64_t threads, processes;
	uint64_t events;		/* event records written */
};

#endif
