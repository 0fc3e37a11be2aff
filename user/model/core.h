/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The trace builder's state, and what its parts and readers that know of CPUs ask of each other:
 * the import of ftrace text (format/ftrace/), where each line shows which thread is on which CPU.
 *
 * Times of live state are those of the clock in force ("ts"); what must hold across clocks,
 * because readers sort the whole file, is in ns. Functions return outcomes, so that every record
 * is counted once, or -errno.
 */
#ifndef MODEL_CORE_H
#define MODEL_CORE_H

#include "fxt/fxt.h"
#include "base/map.h"
#include "builder_stats.h"
#include "clock.h"
#include "open_stack.h"
#include "text.h"
#include "track_ids.h"

struct model_process;
struct model_stack;
struct profile_writer;
struct thread;
struct track;

#define CPUS_MAX	4096		/* Perfetto's limit; the parser keeps it */
#define TEXT_BYTES_MAX	24000U	/* with names and stacks it fits in a record */
#define NAME_BYTES_MAX	2048U	/* of a name; what is longer is cut, and counted */

enum outcome {
	OUT_SWITCH, OUT_WAKEUP, OUT_NAME, OUT_SLICE, OUT_COUNTER, OUT_INSTANT, OUT_LOG,
	OUT_STACK, OUT_NO_OP, OUT_DUPLICATE, OUT_INCOMPLETE, OUT_FLOW, OUT_STATE,
	OUT_SAMPLE,
	OUT_CNT,
	OUT_UNMATCHED,			/* an end without a begin, written as an instant */
	OUT_LATE,			/* scheduling out of order, written as an instant */
	OUT_OTHER,			/* not the handler's: make an instant of it */
};

/* Fixed strings; the order is that of fixed_strings[] in builder.c. */
enum fixed {
	FIXED_OUTGOING_WEIGHT = 1, FIXED_INCOMING_WEIGHT, FIXED_WEIGHT, FIXED_WAKER, FIXED_LINUX_STATE,
	FIXED_MARK, FIXED_START, FIXED_STOP, FIXED_GAP, FIXED_IMPLIED, FIXED_STACK, FIXED_USER_STACK,
	FIXED_FILTER, FIXED_STATE, FIXED_FILTERED,
};

struct cpu {
	uint16_t nr;
	bool started, in_gap, lost;
	uint64_t now;		/* the last time known */
	uint64_t lost_cnt;
	struct thread *line;	/* the thread of the last lines, from its first to its last one */
	uint64_t line_since, line_ts;
	struct thread *cur;	/* the current thread by the records written; was still at cur_ts */
	int32_t cur_prio;
	uint64_t cur_ts;
	uint64_t switch_ns;	/* of its last context switch record */
	struct thread *assumed;	/* by function_graph's ruled blocks */
	struct track *tracks[PSEUDO_CNT];
};

/* The kernel's and the user's call stack of the record in hand: arguments of the first one written for it. */
struct call_stacks {
	struct model_text text[2];
	bool has[2];
};

struct builder {
	struct fxt_writer *w;
	struct builder_cfg cfg;
	struct builder_stats stats;
	uint64_t outcomes[OUT_CNT];
	uint64_t ticks_per_second;	/* of the clock in force; 0: none yet */
	enum model_clock clock;
	bool recorded;			/* what never ends stays as it is: builder_set_source() */
	uint32_t providers[MODEL_CLOCK_TICKS + 1], providers_cnt;
	struct call_stacks *stacks;	/* NULL: there are none */
	struct cpu **cpus, *no_cpu;	/* CPUS_MAX; events of no known CPU */
	unsigned int cpus_cnt;		/* the highest one seen and one */
	uint64_t now;			/* the latest time of the clock in force */
	struct thread *idle, **threads;
	size_t threads_cnt, threads_cap;
	struct model_process *processes;
	size_t processes_cnt, processes_cap;
	struct map thread_map, process_map;
	uint64_t horizon;		/* ns: what was known of sleepers before is not any more */
	bool woke;			/* there are events of wakeups */
	bool unsafe_wakes;		/* but too late to write what was missed before: see wake.c */
	struct implied { uint64_t ts, koid; int32_t prio; uint16_t cpu; } *implied;
	unsigned int implied_cnt;
	struct id_table asyncs;		/* of struct async: the last one of each id */
	struct id_table async_names;	/* the same of each name, where many of an id are open */
	size_t asyncs_cnt;
	uint64_t async_ids;
	struct source_tracks *sources;	/* of builder_track(); NULL: none */
	struct id_table flows;		/* that have begun: their ids in FXT */
	uint64_t flow_ids;
	struct begun_flow *begun_flows;	/* where those of readers began: see play_async.c */
	struct nest *nests;		/* async slices that nest, by id: see play_async.c */
	struct profile_writer *profile;	/* NULL: no sample of a stack yet */
	bool counted;			/* there are counters of the machine */
	uint32_t pseudo_used;		/* bits: pseudo processes */
	uint64_t *words;		/* a record being made */
};

/* builder.c */
/* What is open ends; the next event is of another trace. */
int build_end_trace(struct builder *b);
/* What is open on the CPU's own tracks. */
int build_end_tracks(struct builder *b, struct cpu *c);
/* The clock of what follows; what is open ends if there was another one. 0 or -errno. */
int build_set_clock(struct builder *b, enum model_clock clock);
/* The same before the first event of a trace without times. */
int build_set_provider(struct builder *b, enum model_clock clock);
/* So many records had that outcome. */
void build_count(struct builder *b, int out, unsigned int times);
/* Ticks per second. */
uint64_t build_rate(const struct builder *b, enum model_clock clock);
/* For build_ns(): by a clock of another rate. */
uint64_t build_ns_of_ticks(const struct builder *b, uint64_t ts);
/* For build_cpu(): one that is not there yet. */
struct cpu *build_new_cpu(struct builder *b, int32_t nr);

/* As readers see it: nanoseconds, rounded down. */
static inline uint64_t build_ns(const struct builder *b, uint64_t ts)
{
	return b->ticks_per_second == 1000000000 ? ts : build_ns_of_ticks(b, ts);
}

/* Makes it if it is new; NULL: no such CPU, or no memory. */
static inline struct cpu *build_cpu(struct builder *b, int32_t nr)
{
	if ((uint32_t)nr >= CPUS_MAX)
		return NULL;
	return b->cpus[nr] ? b->cpus[nr] : build_new_cpu(b, nr);
}

/* Registered if it is likely to come again; beyond 2048 bytes cut, which is counted. */
struct fxt_str build_str(struct builder *b, struct model_text text);
/* With the stacks of the record in hand, if there is space. */
int build_event(struct builder *b, struct fxt_event *e, const struct fxt_arg *args, unsigned int n);
/* The kernel's (0) or the user's (1) stack of the record in hand, where there is b->stacks; once, then it counts. */
bool build_take_stack(struct builder *b, unsigned int which, struct fxt_str *text);

/* play_stack.c */
/* A sample of a thread: an outcome or -errno. */
int build_sample(struct builder *b, const struct thread *t, uint64_t ts_ns, const struct model_stack *s);

/* sched.c */
/* Its id is going to be another thread's. */
int sched_forget(struct builder *b, struct thread *t);

/* async.c */
/* Write @e with an id of its own, and end what has @key; outcomes or -errno. */
int async_begin(struct builder *b, struct fxt_event *e, uint64_t key,
		const struct fxt_arg *args, unsigned int n);
int async_end(struct builder *b, struct fxt_event *e, uint64_t key,
	      const struct fxt_arg *args, unsigned int n);
/* Whether async_begin() would end something. */
bool async_is_open(const struct builder *b, uint64_t key);
/* The same where several of one key may be open: async_pop() ends the last one, or the last of @e's name or of none. */
int async_push(struct builder *b, struct fxt_event *e, uint64_t key, const struct fxt_arg *args, unsigned int n);
int async_pop(struct builder *b, struct fxt_event *e, uint64_t key, const struct fxt_arg *args, unsigned int n);
/* The id in FXT of the last one that is open; 0: there is none. */
uint64_t async_open_id(const struct builder *b, uint64_t key);
/* What has not ended when the trace does. */
int asyncs_close(struct builder *b);
void asyncs_fini(struct builder *b);

#endif
