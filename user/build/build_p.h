/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Inside the trace builder: its state and what its parts ask of each other.
 *
 * An event becomes a struct record: its CPU, thread and time resolved. A handler
 * writes it and returns an outcome, so that every record is counted once.
 * Times of live state are those of the clock in force ("ts"); what must hold
 * across clocks, because readers sort the whole file, is in ns.
 */
#ifndef BUILD_BUILD_P_H
#define BUILD_BUILD_P_H

#include "../fxt/fxt.h"
#include "../read/map.h"
#include "args.h"
#include "builder.h"
#include "live.h"
#include "slices.h"
#include "threads.h"

#define CPUS_MAX	4096		/* Perfetto's limit; the parser keeps it */
#define HELD_MAX	16

/* What the trace has told of pairs of one key (modulo that many): bits. */
#define PAIRS_MAX	1024U
#define PAIR_ENDS	1U		/* there are ends */
#define PAIR_ALONE	2U		/* beginnings follow each other without one */

enum outcome {
	OUT_SWITCH, OUT_WAKEUP, OUT_NAME, OUT_SLICE, OUT_COUNTER, OUT_INSTANT, OUT_LOG,
	OUT_STACK, OUT_NO_OP, OUT_DUPLICATE, OUT_INCOMPLETE,
	OUT_CNT,
	OUT_UNMATCHED,			/* an end without a begin, written as an instant */
	OUT_LATE,			/* scheduling out of order, written as an instant */
	OUT_OTHER,			/* not the handler's: make an instant of it */
};

/* Fixed strings; the order is that of fixed_strings[] in builder.c. */
enum fixed {
	STR_OUTGOING_WEIGHT = 1, STR_INCOMING_WEIGHT, STR_WEIGHT, STR_WAKER, STR_LINUX_STATE,
	STR_MARK, STR_START, STR_STOP, STR_GAP, STR_IMPLIED, STR_STACK, STR_USER_STACK,
};

struct cpu {
	uint16_t nr;
	bool started, in_gap, lost;
	uint64_t now;		/* the last time known */
	uint64_t lost_cnt;
	struct thread *line;	/* who printed the last lines, since when and until when */
	uint64_t line_since, line_ts;
	struct thread *cur;	/* who runs by the records written, and is known to at cur_ts */
	int32_t cur_prio;
	uint64_t cur_ts;
	uint64_t switch_ns;	/* of its last context switch record */
	struct thread *assumed;	/* by function_graph's ruled blocks */
	struct track *tracks[PSEUDO_CNT];
};

struct record {
	const struct ftrace_event *ev;
	const struct kind *kind;	/* FTRACE_EVENT only */
	struct cpu *cpu;		/* NULL: not known */
	struct thread *t;		/* NULL: not known */
	uint64_t ts, ns;
};

typedef int record_fn(struct builder *b, const struct record *r);

/* What is to be done with events of one name. */
struct kind {
	record_fn *fn;
	const struct handler *handler;
	struct fxt_str name, category;
	uint32_t key, hash;	/* of a pair: of what both ends share */
};

/* A row of the tables of known events. */
struct handler {
	const char *name, *category;
	record_fn *fn;
	const char *value, *instance, *label;	/* counters: argument keys */
};

struct held {
	struct ftrace_event ev;
	char *text, *stacks[2];
	size_t text_cap, stacks_cap[2], stacks_len[2];
	bool has_stack[2];
};

struct builder {
	struct fxt_writer *w;
	struct builder_cfg cfg;
	const struct live_cfg *live;	/* NULL: an import */
	struct builder_stats stats;
	uint64_t outcomes[OUT_CNT];
	uint64_t ticks_per_second;	/* of the clock in force; 0: none yet */
	enum ftrace_clock clock;
	uint32_t providers[FTRACE_CLOCK_TICKS + 1], providers_cnt;
	struct held held[HELD_MAX], *current;
	unsigned int held_first, held_cnt, held_depth;
	struct cpu **cpus, *no_cpu;	/* CPUS_MAX; events of no known CPU */
	unsigned int cpus_cnt;		/* the highest one seen and one */
	uint64_t now;			/* the latest time of the clock in force */
	struct thread *idle, **threads;
	size_t threads_cnt, threads_cap;
	struct process *processes;
	size_t processes_cnt, processes_cap;
	struct map thread_map, process_map;
	uint64_t horizon;		/* ns: what was known of sleepers before is not any more */
	bool woke;			/* there are events of wakeups */
	bool unsafe_wakes;		/* but too late to tell what was missed before: see wake.c */
	struct implied { uint64_t ts, koid; int32_t prio; uint16_t cpu; } *implied;
	unsigned int implied_cnt;
	struct kind *kinds, spare_kind;	/* open addressing by name */
	size_t kinds_cnt;
	uint8_t pairs[PAIRS_MAX];
	struct async *asyncs;
	size_t asyncs_cnt, asyncs_cap;
	uint64_t async_ids, marker_tracks;
	bool counted;			/* there are counters of the machine */
	uint32_t pseudo_used;		/* bits: pseudo processes */
	uint64_t *words;		/* a record being made */
};

/* builder.c */
/* One event that is held back no more. */
int build_take(struct builder *b, const struct ftrace_event *ev);
/* As readers see it: nanoseconds, rounded down. */
uint64_t build_ns(const struct builder *b, uint64_t ts);
/* Makes it if it is new; NULL: no such CPU, or no memory. */
struct cpu *build_cpu(struct builder *b, int32_t nr);
/* Registered if it is likely to come again. */
struct fxt_str build_str(struct ftrace_text text);
/* With the stacks that follow the record, if there is room. */
int build_event(struct builder *b, struct fxt_event *e, const struct fxt_arg *args, unsigned int n);
/* The kernel's (0) or the user's (1) stack that follows the record; once, then it counts. */
bool build_take_stack(struct builder *b, unsigned int which, struct fxt_str *text);

/* hold.c */
/* The oldest event that is held back goes on. */
int build_release(struct builder *b);
void held_fini(struct builder *b);

/* threads.c */
record_fn on_fork, on_exit_thread, on_exec, on_rename, on_newtask;

/* sched.c, wake.c, sched_text.c */
struct sched_text {
	struct ftrace_text prev_comm, next_comm, state;
	int32_t prev_tid, next_tid, prev_prio, next_prio, cpu;
	int32_t success;		/* of a wakeup, on old kernels; else 1 */
};
bool sched_parse_switch(const struct ftrace_event *ev, struct sched_text *out);
bool sched_parse_wakeup(const struct ftrace_event *ev, struct sched_text *out);
record_fn on_switch, on_waking, on_wakeup, on_wakeup_new;
/* Every record tells who runs where. */
void sched_line(struct builder *b, const struct record *r);
/* Records of the CPU are missing from here on. */
int sched_lose(struct builder *b, struct cpu *c);
/* Its id is going to be another thread's. */
int sched_forget(struct builder *b, struct thread *t);
/* The trace ends: whoever runs is switched out. */
int sched_stop(struct builder *b);
/* Another trace begins, after sched_stop(). */
void sched_reset(struct builder *b);

/* events.c, kinds.c, graph.c, markers.c, async.c, counters.c */
int kinds_init(struct builder *b);
void kinds_fini(struct builder *b);
void asyncs_fini(struct builder *b);
const struct kind *kind_of(struct builder *b, const struct ftrace_event *ev);
extern const struct handler event_handlers[], counter_handlers[];
record_fn on_instant, on_pair_begin, on_pair_end, on_counter, on_marker, on_graph, on_syscall,
	on_text, on_function, on_raw_marker, on_raw_syscall, on_named_syscall, on_block_begin,
	on_block_end, on_binder, on_stack;
/* What has not ended when the trace does. */
int asyncs_close(struct builder *b);
/* Write @e with an id of its own, and end what has @key; outcomes or -errno. */
int async_begin(struct builder *b, struct fxt_event *e, uint64_t key,
		const struct fxt_arg *args, unsigned int n);
int async_end(struct builder *b, struct fxt_event *e, uint64_t key,
	      const struct fxt_arg *args, unsigned int n);

#endif
