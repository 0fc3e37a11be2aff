/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What an FXT file says about scheduling: switches and wakeups in compact
 * form and in time order, threads and processes with their names, and the
 * facts `kfxt record` left about its session. replay.h plays it.
 *
 * Times are nanoseconds. Callers read the structs; only timeline.c writes them.
 */
#ifndef ANALYSIS_TIMELINE_H
#define ANALYSIS_TIMELINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/num.h"
#include "fxt/fxt.h"
#include "losses.h"
#include "base/map.h"

#define TIMELINE_CPUS_MAX	NUM_CPUS_MAX	/* records of CPUs beyond are not kept */
#define TIMELINE_IDLE		UINT32_MAX	/* in place of a thread index: idle, or nobody */

enum timeline_kind {
	TIMELINE_SWITCH,
	TIMELINE_WAKEUP,
};

/* Switches that `kfxt record` made up; they are none of the machine's. Of a wakeup: see there. */
enum timeline_mark {
	TIMELINE_MARK_NONE,
	TIMELINE_MARK_START,	/* in: the task running when the CPU's records begin */
	TIMELINE_MARK_STOP,	/* out: the task running when they end */
	TIMELINE_MARK_GAP,	/* records are missing from here on, or up to here; wakeup: that the woken ran and slept */
	TIMELINE_MARK_FILTER,	/* the task from here on, or up to here, was not selected: none is named */
	TIMELINE_MARK_STATE,	/* out: a thread that has not run, and its state */
	TIMELINE_MARK_IMPLIED,	/* wakeup: nobody reported it; it was at some time before */
};

/* One scheduling record. Threads are indexes of timeline.threads or TIMELINE_IDLE. */
struct timeline_event {
	uint64_t ts_ns;
	uint64_t offset;	/* of the record in the file, which is also file order */
	uint32_t out;		/* wakeup: the waker */
	uint32_t in;		/* wakeup: the woken */
	uint16_t cpu;		/* wakeup: where the woken ran last */
	uint8_t kind;		/* enum timeline_kind */
	uint8_t state;		/* enum fxt_thread_state of @out */
	uint8_t mark;		/* enum timeline_mark */
	bool filtered;		/* @out was not selected: its next state is not recorded */
};

struct timeline_thread {
	uint64_t koid;
	uint64_t process;	/* koid */
	char *name;		/* NUL-terminated copy; NULL without a kernel object */
	uint64_t offset;	/* of the first record that named it */
	bool has_object, has_process;
	bool ran;
	bool selected;		/* by the filter, at some time; if there is none nothing sets it */
	char still;		/* the recorder says that it did not run, and its state at the start; 0: it does not */
	uint64_t still_from_ns, still_to_ns;
	uint64_t still_offset;
	uint64_t woken_ns;	/* its first wakeup; 0: none */
};

struct timeline_process {
	uint64_t koid;
	char *name;
	char *cmdline;		/* NULL if unknown */
	char *container, *unit;	/* id, systemd's name; "" if the process is in none, NULL if unknown */
};

/* Kernel-side counts of one CPU, from its events `ledger`, one for each kind of event. */
struct timeline_ledger {
	uint64_t offset;
	uint64_t switches, wakeups;
	uint64_t lost[LOSS_KIND_CNT];	/* to full rings; of calls also the other losses that programs count */
	uint64_t unreported_switches;	/* by the kernel; the gaps show where */
	uint64_t unreported_wakeups;	/* or the sleep before; they are in the trace, marked */
	uint64_t calls, ratelimited_calls;	/* of functions */
	uint64_t events;		/* of other sources */
	uint64_t write_failed;		/* of any kind, by a full disk and the like */
	uint64_t unbalanced;		/* offset of the first one that does not add up; 0: none */
	uint16_t cpu;
};

/* A slice where `kfxt record` lost something. */
struct timeline_gap {
	uint64_t offset;
	uint64_t from_ns, to_ns;
	uint16_t cpu;
	bool of_events;		/* of an event ring: its CPU's scheduling is complete */
	uint64_t lost[LOSS_KIND_CNT];	/* calls, logs and events: of event rings */
	uint64_t unreported;
};

/* What `kfxt record` says about itself. */
struct timeline_session {
	bool has_start, has_stop;
	bool is_piece;			/* of a recording that began in an earlier file */
	bool repaired;			/* by kfxt verify: records are missing that nothing here counts */
	uint64_t dropped_bytes, damages, first_damage;	/* then; an offset in the damaged file */
	uint64_t start_ns, stop_ns;
	bool has_cpus, has_online;
	struct num_cpus cpus, online;	/* recorded, and there at the start */
	bool has_online_stop;
	struct num_cpus online_start, online_stop;
	char *filter;			/* which threads were selected; NULL: all */
	char *host, *kernel;		/* of the machine, NULL if unknown */
	uint64_t realtime_ns;		/* at the start, since 1970; 0: unknown */
	struct timeline_ledger *ledgers;
	size_t ledgers_cnt, ledgers_cap;
	struct timeline_gap *gaps;
	size_t gaps_cnt, gaps_cap;
	bool has_totals;		/* the last of the ledgers, the one of no CPU */
	uint64_t names, lost_names;
	uint64_t prog_skipped;		/* lost events of unknown kind */
	uint64_t lost_calls;		/* that are no CPU's */
	bool has_logs, has_events;
	uint64_t logs;			/* lines of the kernel's log */
	uint64_t events;		/* of other sources, all together */
	uint64_t lost_events;		/* that are no CPU's */
	uint64_t missed_calls;		/* made while another call was being traced */
	uint64_t shared_koids;		/* threads with the koid of an earlier one */
	uint64_t write_failed;		/* of no particular CPU */
	uint64_t cut_wakeups, cut_calls, cut_logs, cut_events;	/* of those counted: not in the file after all */
	uint64_t procstat_excess;	/* switches that /proc/stat counts beyond those seen */
	struct losses losses;		/* all of the ledgers */
};

struct timeline {
	struct timeline_event *events;		/* by time, then by file order, once sorted */
	size_t events_cnt, events_cap;
	struct timeline_thread *threads;
	size_t threads_cnt, threads_cap;
	struct timeline_process *processes;
	size_t processes_cnt, processes_cap;
	struct map thread_map, process_map;	/* koid to index */
	struct map provider_map;		/* id to 0: the recorder, 1: another program */
	struct timeline_session session;
	uint64_t switches, wakeups, marks;	/* marks are not among the switches */
	uint64_t logs;				/* log records */
	uint64_t calls;				/* of functions; not those the recorder closed */
	uint64_t others;			/* events of none of the categories that kfxt gives its own */
	uint64_t others_from_ns, others_to_ns;	/* from the first to the last of them, or its end */
	struct num_cpus cpus;			/* that have switches */
	struct num_cpus started, stopped;	/* that have a `start`, a `stop` mark */
};

/* Returns 0 or -ENOMEM. */
int timeline_open(struct timeline **out);
/*
 * Takes what @rec has to say; records of other kinds are ignored, and so are
 * scheduling records with a CPU or a time out of range. Returns 0 or -ENOMEM.
 */
int timeline_add(struct timeline *tl, const struct fxt_record *rec, uint64_t ticks_per_second);
/* Puts events into order, after the last timeline_add(). */
void timeline_sort(struct timeline *tl);
void timeline_close(struct timeline *tl);

/* The exact time in ns; false if it does not fit or there are no ticks. */
bool timeline_ns(uint64_t ticks, uint64_t ticks_per_second, uint64_t *ns);
/* The process of that koid or NULL. */
const struct timeline_process *timeline_process(const struct timeline *tl, uint64_t koid);
/* Whether CPUs were online that were not recorded, so that threads move without a record. */
bool timeline_is_partial(const struct timeline *tl);
/* Whether the CPU's records have a beginning: before it, nothing is known. */
bool timeline_is_recorded(const struct timeline *tl, unsigned int cpu);
/* Whether they lack their end, so that what follows the last one is unknown. */
bool timeline_is_cut_cpu(const struct timeline *tl, unsigned int cpu);
/* Events that could not be written, by a full disk and the like: what names or draws them may be missing too. */
uint64_t timeline_write_failed(const struct timeline *tl);
/* Whether `kfxt record` began the trace and the end of any CPU or of all is missing. */
bool timeline_is_cut(const struct timeline *tl);
/* Whether a program says so that is not the recorder: a recording that was converted and converted back is none. */
bool timeline_is_foreign(const struct timeline *tl, const struct fxt_record *rec);

#endif
