/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A trace that begins or ends in the middle of a recording. The state is what a reader knows after the records so
 * far: names, strings, which thread runs on each CPU and the state of all others, open slices. From it a file that
 * begins here gets its first records, and one that ends here its last ones.
 *
 * A cut is a place in the order of the file, not a time: each CPU has its own time of the cut, where its records of
 * one file end and those of the next one begin. Times are nanoseconds.
 */
#ifndef PIECE_STATE_H
#define PIECE_STATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fxt/fxt.h"

struct fxt_writer;
struct piece_counts;
struct piece_state;

/* What the caller knows of a cut. All zero: nothing. */
struct piece_cut {
	/*
	 * No switch or wakeup that follows, of any CPU, is older than this. A CPU's cut is there or, if that is later, at
	 * its last switch. 0: not known, the cut is at the last switch, so that the slice of what runs is cut short.
	 * What is dated back must be considered (see docs/internals.md). Of wakeups 0.1 s of that are allowed for.
	 */
	uint64_t bound_ns;
	/* The same for each CPU by its number, for CPUs below @cpus_cnt in place of @bound_ns; NULL: none. */
	const uint64_t *cpu_bound_ns;
	unsigned int cpus_cnt;
	/* No begin or end of a slice that follows is older than this. 0: open slices are cut at the last one. */
	uint64_t slices_ns;
	uint64_t realtime_offset_ns;	/* wall clock less boot time; 0: what it was when the recording began */
	uint64_t more_events;		/* that the caller writes at the end of the file that ends here: for its ledger */
	uint64_t number;		/* of the file that begins: argument `piece` of the event `start` */
	const char *online;		/* CPUs that are online, for the event `stop`; NULL: not known */
};

/* Counts are of the records since the last piece_state_cut(), which are those of a file if it began there. */
struct piece_cpu {
	bool live;			/* its records have begun and not ended */
	bool in_gap;			/* the cut is between the records of a gap */
	uint64_t cut_ns;		/* where its records end in the one file and begin in the other */
	uint64_t running;		/* koid; 0: idle */
	uint64_t switches;		/* without those that have a mark */
	/* Of threads that ran last there; the first CPU also has those of CPUs that are not recorded. With carried ones. */
	uint64_t wakeups;
	uint64_t unreported_wakeups;	/* of these: marked `implied` or `gap` */
	/* As the slices of gaps have it. */
	uint64_t lost_switches, lost_wakeups, unreported_switches;
	uint64_t lost_calls, lost_logs, lost_events;
};

struct piece_totals {
	uint64_t calls, logs, events;	/* as verify counts them; events: with those of the head, and of the tail to come */
	uint64_t from_ns, to_ns;	/* `start` of a file that begins, `stop` of one that ends here */
	uint64_t carried;		/* wakeups that the head has */
	uint64_t threads, processes;	/* whose names are kept */
};

/* Of a file. */
struct piece_session {
	uint64_t from_ns, to_ns;	/* `start` and `stop` */
	uint64_t ticks_per_second;	/* 0: not said so far */
};

/* Of all CPUs: records since the last piece_state_cut(), as those of a CPU are counted. */
struct piece_sums {
	uint64_t switches, wakeups, calls, logs, events;
};

/* 0 or -ENOMEM. */
int piece_state_open(struct piece_state **out);
/*
 * Takes whole records of a recording of `kfxt record`, in the order of the file; @records is aligned to 8 bytes. 0,
 * -ENOMEM, or -EINVAL if their sizes do not add up to @len.
 */
int piece_state_add(struct piece_state *s, const void *records, size_t len);
/*
 * The first records of a file that begins here: magic number, provider, ticks, strings and threads by their indexes,
 * objects, the event `start`, the states of all threads that do nothing (marked `state`), what runs on each CPU (marked
 * `start`), open slices begun again with an argument `continued`. @w has written nothing before; once flushed, the
 * records that follow can be appended by anyone. 0 or the writer's error.
 *
 * Rings are drained one after the other, so a wakeup may have come before the switch by which its thread fell asleep.
 * If the cut is between the two, the wakeup is in the head once more, with an argument `carried`: whoever joins pieces
 * leaves it out.
 */
int piece_state_write_head(const struct piece_state *s, struct fxt_writer *w, const struct piece_cut *cut);
/*
 * The last records of a file that ends here: slices that began by a record of their own are ended with an argument
 * `unfinished`, what runs is switched out (marked `stop`), the event `stop`. The ledger is to follow. 0 or the writer's
 * error.
 */
int piece_state_write_tail(const struct piece_state *s, struct fxt_writer *w, const struct piece_cut *cut);
/*
 * The ledger of a file from the last piece_state_cut() to here, by what is in the file alone: seen is what was recorded
 * and what is drawn as lost. 0 or the writer's error.
 */
int piece_state_write_ledger(const struct piece_state *s, struct fxt_writer *w, const struct piece_cut *cut);
/* A new file has begun here: counts begin anew. After its head was written with the same @cut. 0 or -ENOMEM. */
int piece_state_cut(struct piece_state *s, const struct piece_cut *cut);

/* What is known of a CPU; false: nothing. */
bool piece_state_cpu(const struct piece_state *s, const struct piece_cut *cut, unsigned int cpu, struct piece_cpu *out);
/* 0 or -ENOMEM. */
int piece_state_totals(const struct piece_state *s, const struct piece_cut *cut, struct piece_totals *out);
void piece_state_sums(const struct piece_state *s, struct piece_sums *out);
/*
 * The counts of a file that ends here with @cut, apart from the state, which can go on. For piece_counts_free(). NULL:
 * no memory.
 */
struct piece_counts *piece_counts_take(const struct piece_state *s, const struct piece_cut *cut);
/*
 * The file begins later than the counts do, after the records that @begin has: they become those of a file whose head
 * was written from @begin with @cut. Neither state was cut since the counts began. 0 or -ENOMEM.
 */
int piece_counts_begin(struct piece_counts *c, const struct piece_state *begin, const struct piece_cut *cut);
/* For the ledger: what was recorded before the file begins and overwritten since, which is what @begin has been given. */
void piece_counts_overwritten(struct piece_counts *c, const struct piece_state *begin);
/* The session of that file. */
struct piece_session piece_counts_session(const struct piece_counts *c);
/* As piece_state_write_ledger(). 0 or the writer's error. */
int piece_counts_write_ledger(const struct piece_counts *c, struct fxt_writer *w);
/* NULL is fine. */
void piece_counts_free(struct piece_counts *c);
/* A process as its last record has it. Strings are the state's, without a NUL; without data there is none. */
struct piece_process {
	uint64_t koid, parent;
	struct fxt_str cmdline, cgroup;
};

/*
 * Each process that has a name, for records that are not written here. @fn returns 0, or an error that ends this and is
 * returned.
 */
int piece_state_processes(const struct piece_state *s,
			  int (*fn)(void *ctx, const struct piece_process *process), void *ctx);
/* NULL is fine. */
void piece_state_close(struct piece_state *s);

#endif
