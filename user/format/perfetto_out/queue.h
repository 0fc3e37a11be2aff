/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Scheduling records until they are in order of time.
 *
 * A recorder drains one ring after the other, each in order of time, and then all of them again: when a round over
 * the rings is over, what is older than the last record of its first ring is in the trace, as the others were drained
 * later; so is what is older than the newest record of the round before. A round is over where a CPU that was in it
 * follows another one. Records do not wait for longer than 1.5 s of the trace or 65536 of them: what is taken out then
 * may not be in order with other CPUs.
 */
#ifndef FORMAT_PERFETTO_OUT_QUEUE_H
#define FORMAT_PERFETTO_OUT_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define OUT_CPUS_MAX	1024U	/* readers refuse more */

enum out_sched_kind {
	OUT_SCHED_SWITCH,
	OUT_SCHED_WAKEUP,
};

struct out_sched {
	uint64_t ts_ns;
	uint32_t in, out;	/* of tasks[]; of a wakeup the woken thread and the waker, OUT_IDLE: an interrupt */
	int32_t in_prio, out_prio;
	uint16_t cpu;
	uint16_t state;		/* bits of the outgoing thread as Linux has them since 4.14 */
	uint16_t ring;		/* the CPU on which a wakeup happened, or OUT_NO_CPU */
	uint8_t kind, mark;	/* @mark: enum pf_mark */
	uint32_t record;	/* where it is in records[], if it is kept */
};

struct out_queue {
	struct out_sched *items, *spare;
	size_t cnt, cap, spare_cap;
	uint64_t newest_ns;		/* of all items */
	uint64_t settled_ns;		/* nothing older than this is to come; newer items may be out of order */
	uint64_t round_ns;		/* the newest when the current round began */
	uint16_t first_ring;		/* of the current round */
	uint64_t first_ns;		/* and the time of its last switch */
	uint16_t ring;			/* CPU of the last switch, or OUT_NO_CPU */
	uint64_t ring_ns;		/* and its time */
	size_t unplaced;		/* wakeups from here on follow it */
	size_t due_cnt;			/* so many are enough to be taken out */
	uint64_t in_round[OUT_CPUS_MAX / 64];
	/* The records of items, if they are kept; the first ones are of items that waited when the last ones were written. */
	uint64_t *records;
	size_t records_cnt, records_cap, waited_cnt;
};

#define OUT_RECORD_WORDS	9U	/* of each record, at most */

void out_queue_init(struct out_queue *q);
void out_queue_fini(struct out_queue *q);
/* Adds an item. 0 or -ENOMEM. */
int out_queue_add(struct out_queue *q, const struct out_sched *item);
/* Whether it is time to take items out. */
bool out_queue_is_due(const struct out_queue *q);
/*
 * Sorts by time; items of one time stay in the order they were added. Returns how many of the first ones
 * can be taken: all if @all. 0 with *@ready set, or -ENOMEM.
 */
int out_queue_sort(struct out_queue *q, bool all, size_t *ready);
/* Keeps the record of the item added last: @cnt words, cut to OUT_RECORD_WORDS. 0 or -ENOMEM. */
int out_queue_keep(struct out_queue *q, const uint64_t *words, size_t cnt);
/* What was taken out is written: of the records those of items that wait are kept. 0 or -ENOMEM. */
int out_queue_written(struct out_queue *q);
/* Drops all items and records. */
void out_queue_clear(struct out_queue *q);
/* Takes the first @cnt items out. */
void out_queue_drop(struct out_queue *q, size_t cnt);

#endif
