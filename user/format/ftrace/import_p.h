/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Inside the import of ftrace text: its state and what its parts ask of each other.
 *
 * An event becomes a struct record: its CPU, thread and time resolved. A handler writes it and
 * returns an outcome, so that every record is counted once.
 */
#ifndef FORMAT_FTRACE_IMPORT_P_H
#define FORMAT_FTRACE_IMPORT_P_H

#include "import.h"
#include "live.h"
#include "model/core.h"
#include "model/sched.h"
#include "model/slices.h"
#include "text_args.h"

#define HELD_MAX	64
#define HELD_STACKS	16U		/* where there are stacks */

/* What the trace says of pairs of one key (modulo that many): bits. */
#define RECENT_KINDS	16U
#define PAIRS_MAX	1024U
#define PAIR_ENDS	1U		/* there are ends */
#define PAIR_ALONE	2U		/* beginnings follow each other without one */

struct record {
	struct ftrace_import *im;
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

/* An event that waits for its stacks, or until it is known whether a trace begins. */
struct held {
	struct ftrace_event ev;
	struct sched_text sched;
	struct call_stacks stacks;
	char *text, *stack_text[2];
	size_t text_cap, stack_cap[2];
};

#define MEMORIES_MAX	65536U	/* further ones are known by their own processes only */

/* Whose memory it is, by the number that rss_stat has for it: koids of threads. */
struct memories {
	struct map by_id;
	uint64_t *owners;
	uint32_t cnt, cap;
};

struct ftrace_import {
	struct builder *b;
	const struct live_cfg *live;	/* NULL: text */
	struct held held[HELD_MAX];
	unsigned int held_first, held_cnt, held_depth;
	bool looking, ending;		/* at what follows; nothing does */
	bool begins;			/* a trace, after others with switches */
	uint64_t shift;			/* of its times, in ticks of the clock */
	struct kind **kinds, spare_kind;	/* open addressing by name */
	const struct kind *recent_kinds[RECENT_KINDS];	/* by recent_place() of the name */
	size_t kinds_cnt;
	uint8_t pairs[PAIRS_MAX];
	uint64_t marker_tracks;
	struct memories memories;
	struct ftrace_sync syncs[FTRACE_SYNCS_MAX];
	unsigned int syncs_cnt;
};

/* import.c */
/* One event that is held back no more. */
int import_take(struct ftrace_import *im, const struct ftrace_event *ev);
/* Losses after which their CPU has no record: until the end of the trace. 0 or -errno. */
int import_draw_losses(struct ftrace_import *im);

/* stacks.c */
/* The oldest event that is held back goes on, unless more have to be looked at first. */
int held_release(struct ftrace_import *im);
void held_fini(struct ftrace_import *im);

/* restart.c */
/* Whether @ev, the oldest event that is not written, may begin a trace: what follows must be looked at. */
static inline bool restart_is_near(const struct ftrace_import *im, const struct ftrace_event *ev)
{
	const struct cpu *c;

	if (ev->kind >= FTRACE_KIND_RECORDS || im->begins)
		return ev->kind < FTRACE_KIND_RECORDS;
	if ((uint32_t)ev->cpu >= CPUS_MAX || ev->clock != im->b->clock || ev->clock == MODEL_CLOCK_NONE)
		return false;
	c = im->b->cpus[ev->cpu];
	return c && ev->ts + im->shift < c->now;
}
/* It is as much as there will be: begins the trace if it is one. */
int restart_look(struct ftrace_import *im);

/* sched_text.c, sched_events.c */
/* What the event says, if it is not text as it is, else made in @buf; NULL: no switch or wakeup that can be. */
const struct sched_text *sched_parse_switch(const struct ftrace_event *ev, struct sched_text *buf);
const struct sched_text *sched_parse_wakeup(const struct ftrace_event *ev, struct sched_text *buf);
record_fn on_switch, on_waking, on_wakeup, on_wakeup_new;

/* handlers.c */
int kinds_init(struct ftrace_import *im);
void kinds_fini(struct ftrace_import *im);
const struct kind *kind_of(struct ftrace_import *im, const struct ftrace_event *ev);

/* events.c, thread_events.c, counters.c, graph.c, markers.c, requests.c */
extern const struct handler event_handlers[], counter_handlers[];
record_fn on_fork, on_exit_thread, on_free_thread, on_exec, on_rename, on_newtask;
record_fn on_instant, on_pair_begin, on_pair_end, on_counter, on_marker, on_graph, on_syscall,
	on_text, on_function, on_raw_marker, on_raw_syscall, on_named_syscall, on_block_begin,
	on_block_end, on_block_io_start, on_block_io_done, on_binder, on_stack;

/* counters.c */
void memories_fini(struct ftrace_import *im);

/* import_tracks.c */
/* Where what a record says happened. In interrupts that is the CPU, not the thread. */
struct track *track_of(struct builder *b, const struct record *r);
/* The same where it is known to be in an interrupt, which packets do not say. */
struct track *track_of_interrupt(struct builder *b, const struct record *r);
/* Where its marker belongs. */
struct track *track_of_marker(struct builder *b, const struct record *r, bool begins);
/* The thread an instant is on. */
struct fxt_thread place_of(struct builder *b, const struct record *r);

#endif
