/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Trace Event JSON made of FXT records.
 *
 * Names come first, then events in order of time, parents before children, then the scheduling
 * if it is ftrace text. All is known only at the end: until then events are in memory and, beyond
 * what sort.h says, in a temporary file. Memory grows with the number of processes, threads
 * and slices that are open.
 */
#ifndef FORMAT_CHROME_OUT_WRITER_H
#define FORMAT_CHROME_OUT_WRITER_H

#include <stddef.h>
#include <stdint.h>

/* How scheduling is written. */
enum chrome_sched {
	CHROME_SCHED_FTRACE,	/* text in systemTraceEvents: priorities, wakers and D survive */
	CHROME_SCHED_SLICES,	/* slices on a thread for each CPU, which every viewer shows */
	CHROME_SCHED_STATES,	/* a state event ("T") for each stretch of a thread's time */
	CHROME_SCHED_CNT
};

/* Records, and values of counters, that have no place in the format. */
enum chrome_left_out {
	CHROME_LEFT_PERFETTO,	/* packets of Perfetto's */
	CHROME_LEFT_BLOB,	/* other BLOBs, also large ones */
	CHROME_LEFT_MODULE,
	CHROME_LEFT_MAPPING,
	CHROME_LEFT_BACKTRACE,
	CHROME_LEFT_COUNTER,	/* values that are no finite numbers, and counters without a value */
	CHROME_LEFT_TIME,	/* times beyond 2^64 ns */
	CHROME_LEFT_UNKNOWN,	/* of types that the reader does not know */
	CHROME_LEFT_DAMAGED,
	CHROME_LEFT_FRAME,	/* of stack samples, beyond what memory is kept for */
	CHROME_LEFT_CNT
};

struct chrome_writer_cfg {
	/* Takes whole lines, at most some 64 KiB beyond the longest: 0 or -errno. */
	int (*write)(void *ctx, const void *data, size_t len);
	void *ctx;
	enum chrome_sched sched;
};

struct chrome_writer;

/* "ftrace", "slices", "states" */
const char *chrome_sched_name(enum chrome_sched sched);
/* *@out is untouched on failure (-ENOMEM). */
int chrome_writer_open(struct chrome_writer **out, const struct chrome_writer_cfg *cfg);
/*
 * An fxt_write_fn; @writer is the struct chrome_writer. 0, -ENOMEM, or -errno of the temporary
 * file; after an error every call returns it.
 */
int chrome_writer_record(void *writer, const void *records, size_t len);
/* How many of that kind there were in the records taken so far. */
uint64_t chrome_writer_left_out(const struct chrome_writer *w, enum chrome_left_out kind);
/* Writes it all and closes: 0 or the first error there was. NULL is fine. */
int chrome_writer_close(struct chrome_writer *w);

#endif
