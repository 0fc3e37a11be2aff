/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Stack samples in a trace: Perfetto packets in BLOB records of type 3, whose strings, mappings, frames and
 * stacks are written once and referred to by number. Samples of the CPU are PerfSamples, all others are
 * StackSamples with a weight; viewers show both as flame graphs beside the FXT records.
 */
#ifndef PROFILE_H
#define PROFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fxt/fxt.h"

#define PROFILE_FRAMES_MAX	1024U	/* of a sample; of more the innermost ones, below a frame "[cut]" */
#define PROFILE_STRING_MAX	4096U	/* bytes of a name or path, which is cut there */
#define PROFILE_STACKS_MAX	200000U	/* distinct ones that are remembered, if not said otherwise */

enum profile_source {
	PROFILE_CPU,		/* what a CPU executed when a timer or counter expired */
	PROFILE_OFF_CPU,	/* where a thread blocked; from @ts for @weight ns */
	PROFILE_WAKER,		/* who ended a sleep of the thread: @ts is the wakeup, @weight the length of the sleep */
	PROFILE_OTHER,		/* @source_name says which */
	PROFILE_SOURCE_CNT
};

enum profile_frame_kind {	/* 0: not known */
	PROFILE_NATIVE = 1, PROFILE_KERNEL, PROFILE_INTERPRETED, PROFILE_JIT, PROFILE_FRAME_KIND_CNT
};

struct profile_frame {
	struct fxt_str name;
	struct fxt_str mapping;		/* path of the file, "[kernel]", ...; may be empty */
	struct fxt_str build_id;	/* of the mapping, in hexadecimal; may be empty */
	struct fxt_str source_file;	/* may be empty */
	uint32_t line;			/* 0: not known */
	uint64_t rel_pc;		/* address in the file; 0: not known */
	enum profile_frame_kind kind;
};

struct profile_sample {
	uint64_t ts;			/* ns */
	uint64_t process, thread;	/* koids as in the FXT records, below 2^32 */
	uint32_t pid, tid;		/* reader: the ids of Linux in these koids; the writer does not use them */
	int cpu;			/* -1: not known */
	enum profile_source source;
	struct fxt_str source_name;	/* reader: always set, "cpu" of PROFILE_CPU; writer: of PROFILE_OTHER */
	bool user_mode;			/* the innermost frame is not the kernel's */
	uint64_t weight;		/* ns; of PROFILE_CPU the period, 0: writer: as before, reader: not known */
	const struct profile_frame *frames;	/* outermost first */
	unsigned int frames_cnt;	/* 0: without a stack */
};

/* "cpu", "off-cpu", "waker"; "other" of PROFILE_OTHER. */
const char *profile_source_name(enum profile_source source);

/* ---- writer ------------------------------------------------------------- */

struct profile_config {
	uint64_t period_ns;	/* between two samples of a CPU (PROFILE_CPU), until one has another; 0: not known */
	const char *clock;	/* what expires: "cpu-clock" or "cycles"; NULL: "cpu-clock" */
	uint32_t stacks_max;	/* distinct stacks remembered, after that the numbers begin anew; 0: PROFILE_STACKS_MAX */
};

struct profile_writer;

/* Borrows @w; @cfg is copied. 0 or -ENOMEM. Nothing is written before the first sample is. */
int profile_writer_open(struct profile_writer **out, struct fxt_writer *w, const struct profile_config *cfg);
/*
 * Gathers a sample; what it points to is copied. Flushes by itself when much is gathered. 0, -EINVAL if
 * its source is none, -ENOMEM, or the writer's error.
 */
int profile_writer_add(struct profile_writer *p, const struct profile_sample *s);
/* Writes what was gathered, sorted by source, as BLOBs of up to 32,752 bytes. 0, -ENOMEM or the writer's error. */
int profile_writer_flush(struct profile_writer *p);
/* Writes nothing: flush before. NULL is fine. */
void profile_writer_close(struct profile_writer *p);

/* ---- reader ------------------------------------------------------------- */

struct profile_stats {
	uint64_t samples[PROFILE_SOURCE_CNT];	/* handed over */
	uint64_t packets;		/* that had samples, or what samples refer to */
	uint64_t without_stack;		/* of these: their packet names no stack */
	uint64_t unknown_stack;		/* of these: their packet names one that was not in the trace */
	uint64_t unknown_frames;	/* frames, mappings and strings that were not in the trace, where stacks refer to them */
	uint64_t skipped;		/* samples without a time or a thread, of another clock, or whose sequence has no state */
	uint64_t damaged;		/* packets, and ends of BLOBs, that are none */
	uint64_t dropped;		/* interned entries beyond what memory is kept for */
};

struct profile_reader;

/*
 * @sample is called with each sample in the order of the file; what it points to lives until it returns. It
 * returns 0, or an error that ends profile_reader_blob(). 0 or -ENOMEM.
 */
int profile_reader_open(struct profile_reader **out, int (*sample)(void *ctx, const struct profile_sample *s),
			void *ctx);
/*
 * Reads a BLOB of type 3 of an FXT file, in order: packets, the last of which may go on in the next BLOB.
 * Those without samples, interned data or defaults are skipped. Its content is not trusted: what is damaged or not known is counted. 0, -ENOMEM or
 * what @sample returned.
 */
int profile_reader_blob(struct profile_reader *r, const void *data, size_t bytes);
void profile_reader_stats(const struct profile_reader *r, struct profile_stats *stats);
/* NULL is fine. */
void profile_reader_close(struct profile_reader *r);

#endif
