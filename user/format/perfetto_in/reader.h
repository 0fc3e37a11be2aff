/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Perfetto traces as events of the model. Two passes: through the file, where packets are decoded with
 * the state of their sequences and put in order of time, and in that order, where they get their meaning.
 * Events of ftrace are handed to a function: another format gives them meaning.
 */
#ifndef FORMAT_PERFETTO_IN_READER_H
#define FORMAT_PERFETTO_IN_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/text.h"

struct builder;
struct pf_reader;

/* What became of a packet. Each is in exactly one count. */
enum pf_fate {
	PF_EMPTY,		/* nothing but state: interned data, defaults, an empty packet */
	PF_UNKNOWN,		/* of an unknown type; by_field has them */
	PF_SKIPPED,		/* has no event for a timeline: statistics, markers for synchronization */
	PF_USED,
	PF_FIRST_DROPPED,	/* those below are dropped, each for a reason */
	PF_DAMAGED = PF_FIRST_DROPPED,
	PF_NEEDS_STATE, PF_NO_SEQUENCE, PF_NO_TIME, PF_BAD_TIME, PF_BAD_CLOCK, PF_NO_TYPE, PF_NO_TRACK,
	PF_NO_COUNTER, PF_NO_VALUE, PF_NO_PARENT, PF_NO_THREAD, PF_NEGATIVE_DURATION, PF_NO_UUID, PF_NO_CPU,
	PF_NO_CALLSTACK, PF_NESTED, PF_OTHER_MACHINE, PF_TOO_MANY_SEQUENCES,
	PF_TOO_MANY_TRACKS, PF_OTHER_TRACK,
	PF_FATES
};

#define PF_KEPT		10	/* dropped packets that are named, with their places */
#define PF_TALLY_MAX	128	/* numbers that are counted each; all others together */

struct pf_tally {
	unsigned int cnt;
	uint64_t others;
	struct { uint32_t number; uint64_t times; } of[PF_TALLY_MAX];
};

/* The sum of fates is packets. */
struct pf_counts {
	uint64_t bytes, packets, compressed, fates[PF_FATES];
	uint64_t damaged;		/* stretches of the file that are no packets */
	bool cut;			/* it ends in a packet */
	uint64_t handed_on;		/* events of the model and of ftrace, names of lists */
	uint64_t samples, lost_samples;
	uint64_t sequences, lost_packets;	/* lost: notices of packets lost before */
	uint64_t extras_dropped;	/* values of extra counters that are none */
	uint64_t unknown_ids, bad_args;	/* interned ids that are not known; arguments that were not read */
	uint64_t ids_dropped, strings_dropped, cut_strings;	/* dropped: there was no space for them */
	uint64_t snapshots, refused_snapshots, clock_steps;
	uint64_t ftrace_events, ftrace_dropped, ftrace_losses, bad_compact;
	uint64_t buffer_losses, lost_ftrace, lost_lines;	/* what the recorder says: times, events of ftrace, lines of logs */
	struct pf_tally by_field, event_fields, ftrace_unknown;
	unsigned int runs;		/* of the temporary file */
	struct {
		uint64_t packet, offset;	/* number from 1; in the input, not decompressed */
		const char *reason;	/* static string */
	} first[PF_KEPT];
	unsigned int first_cnt;
};

enum pf_ftrace_kind { PF_FTRACE_EVENT, PF_FTRACE_SWITCH, PF_FTRACE_WAKEUP, PF_FTRACE_LOST, PF_FTRACE_MARKER };

/*
 * An event of ftrace, in order of time. Strings are borrowed for the call, those of scheduling live as long
 * as the reader.
 */
struct pf_ftrace_event {
	enum pf_ftrace_kind kind;
	uint64_t ts_ns;
	uint16_t cpu;
	int32_t tid;			/* -1: not known */
	bool in_irq;
	bool recorded;			/* of a trace that was written from FXT: see @sched.mark */
	struct model_text system, name, args;	/* "sched", "sched_migrate_task", as the kernel prints them */
	struct {
		struct model_text prev_comm, comm, state;
		int32_t prev_tid, prev_prio, tid, prio, cpu;
		uint8_t mark;		/* enum pf_mark */
	} sched;			/* PF_FTRACE_SWITCH, _WAKEUP: @tid, @comm, @prio, @cpu, @mark only */
};

typedef long (*pf_read_input_fn)(void *ctx, void *buf, size_t len);
/* 0 or -errno, which ends the reading. */
typedef int (*pf_ftrace_fn)(void *ctx, const struct pf_ftrace_event *event);

/* "no time": for messages, of the fates from PF_FIRST_DROPPED on. */
const char *pf_fate_name(enum pf_fate fate);

/* Nothing is read yet; borrows @b. 0 or -ENOMEM. */
int pf_reader_open(struct pf_reader **out, pf_read_input_fn read, void *ctx, struct builder *b);
/* Where events of ftrace go; without it they are left out. */
void pf_reader_set_ftrace(struct pf_reader *r, pf_ftrace_fn fn, void *ctx);
/* Reads a piece: 1, 0 when that was the last, or -errno of the input, the builder or the temporary file. */
int pf_reader_read(struct pf_reader *r);
void pf_reader_counts(const struct pf_reader *r, struct pf_counts *counts);
/* NULL is fine. */
void pf_reader_close(struct pf_reader *r);

#endif
