/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Inside the state of a piece.
 */
#ifndef PIECE_STATE_P_H
#define PIECE_STATE_P_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/map.h"
#include "base/num.h"
#include "base/pieces.h"
#include "format/perfetto/encode.h"
#include "fxt/fxt.h"
#include "kept.h"
#include "state.h"
#include "texts_p.h"

#define PIECE_CPUS	NUM_CPUS_MAX	/* records of CPUs beyond are not looked at */
#define NONE		UINT32_MAX	/* no index: idle, the end of a list */
#define SLICE_CHAINS	1024U

enum run_state {
	RUN_UNKNOWN,
	RUN_RUNNING,
	RUN_QUEUED,	/* switched out, and did not go to sleep */
	RUN_ASLEEP,	/* until its first wakeup, if it has one */
	RUN_DEAD,
};

/* A wakeup that nothing of its thread that is younger has followed. Those of a thread are in order of time. */
struct wake {
	uint64_t ts, waker;
	uint32_t next;
	int32_t prio;
	uint16_t cpu;
	uint8_t mark;			/* enum text */
};

/* The state is that of the youngest record, which need not be the last one in the file. */
struct thread {
	uint64_t koid;
	uint64_t since_ns, exiting_ns;
	struct kept *object;		/* NULL: not named so far */
	uint32_t wakes, last_wake;	/* index of the first one and, if there is any, of the last one */
	int32_t prio;
	uint16_t cpu;			/* where it left that state */
	uint8_t state;			/* enum run_state */
	uint8_t fxt_state;		/* enum fxt_thread_state */
	uint8_t linux_state;		/* enum text; TEXT_OTHER: none was said */
	bool initial;			/* it has done nothing since the recording began */
	bool exited;			/* at @since_ns, or noticed then */
	bool exiting;			/* its object says so, since @exiting_ns */
};

struct process {
	uint64_t koid;
	uint64_t named_ns;		/* when its object was taken, by @seen_ns */
	struct kept *object;
	bool used;			/* while the tables are cleared: a thread is its */
};

enum gap_phase {
	GAP_NONE,
	GAP_BEGUN,			/* its first mark was there */
	GAP_DRAWN,			/* and its slice */
};

struct cpu {
	bool begun, ended;
	bool hidden;			/* with a filter: what runs is not selected */
	uint8_t gap;			/* enum gap_phase */
	uint32_t thread;		/* index of what runs, NONE: idle */
	int32_t prio;
	uint64_t last_ns;		/* its last switch */
	uint64_t gap_to_ns;		/* GAP_DRAWN */
	struct fxt_thread gap_track;
	struct piece_cpu counts;	/* only the counts are used */
};

struct piece_state {
	/* What the provider said. */
	bool has_magic, has_provider;
	uint32_t provider, strings_end;	/* from the latter index on no string is registered */
	char *provider_name;
	uint64_t ticks_per_second;	/* 0: not said so far */

	struct fxt_str strings[FXT_STRING_INDEX_MAX + 1];	/* malloc()ed; NULL: not registered */
	uint8_t texts[FXT_STRING_INDEX_MAX + 1];		/* enum text of each */
	struct fxt_thread refs[FXT_THREAD_INDEX_MAX + 1];
	bool refs_known[FXT_THREAD_INDEX_MAX + 1];

	struct fxt_reader *reader;	/* of the rare records, which it is fed with */
	struct pieces input;

	struct thread *threads;
	size_t threads_cnt, threads_cap;
	struct map thread_map;
	size_t exited_cnt, exiting_cnt;
	uint64_t cleared_ns;		/* when what exited was last looked through */
	struct process *processes;
	size_t processes_cnt, processes_cap;
	struct map process_map;
	struct wake *wakes;
	size_t wakes_cnt, wakes_cap;
	uint32_t free_wake;

	struct kept *start;		/* the event `start` of the recording */
	struct num_cpus session_cpus;	/* that it says are recorded */
	bool partial;			/* others are online */
	unsigned int first_cpu;		/* of those recorded */
	uint64_t stop_ns;		/* the event `stop` of the recording; 0: not in this file so far */
	struct cpu *cpus;		/* PIECE_CPUS */
	unsigned int cpus_end;		/* beyond the last one of which anything is known */

	uint64_t newest_ns;		/* of all scheduling records */
	uint64_t seen_ns;		/* and of what the recorder says, which goes on where nothing selected runs */
	uint64_t started_ns, blind_ns;	/* end of the last CPU's start, of the last gap: older states are not certain */

	struct slice *slices[SLICE_CHAINS];

	uint64_t calls, logs, events;
	uint64_t lost_names, unread_names;	/* since the last cut; those since /proc was last read */

	/* Of the packet sequence that has stack samples. */
	uint64_t sequence;
	uint64_t sampled_ns;		/* the newest one */
	struct pb_buf interned, defaults;	/* packets; the message of the last defaults */
	struct pb_buf rest;		/* of a BLOB, that goes on in the next one */
};

/* ---- state.c ----------------------------------------------------------------------------- */

/* Words that a string reference adds to its record. */
static inline size_t piece_ref_words(unsigned int ref)
{
	return ref & FXT_STR_INLINE ? ((ref & FXT_STRING_INDEX_MAX) + 7) / 8 : 0;
}

/* What a string reference of a record means; @inline_at: its bytes, if they are in the record. */
enum text piece_text(const struct piece_state *s, unsigned int ref, const void *inline_at);

/* ---- sched.c ------------------------------------------------------------------------------- */

/* A scheduling record of so many words. 0, -ENOMEM or -EINVAL. */
int piece_take_sched(struct piece_state *s, const uint64_t *rec, size_t words);

/* Where a wakeup of a thread that ran last on that CPU is counted: at the first CPU, if that one is not recorded. */
unsigned int piece_wakeup_cpu(const struct piece_state *s, unsigned int cpu);

/* ---- rare.c -------------------------------------------------------------------------------- */

/* A record that is not looked at word by word. 0 or -ENOMEM. */
int piece_take_rare(struct piece_state *s, const uint64_t *rec, size_t words);

/* ---- threads.c ----------------------------------------------------------------------------- */

/* The index of the thread, which is made if it is new. 0 or -ENOMEM. */
int piece_thread(struct piece_state *s, uint64_t koid, uint32_t *out);
int piece_name_thread(struct piece_state *s, struct kept *object);
int piece_name_process(struct piece_state *s, struct kept *object);
void piece_thread_in(struct piece_state *s, uint32_t thread, uint64_t ts, uint16_t cpu, int32_t prio);
/* @left: a thread with all but koid, object and wakes set, as it is from @left->since_ns on. */
void piece_thread_out(struct piece_state *s, uint32_t thread, const struct thread *left);
int piece_thread_woken(struct piece_state *s, uint32_t thread, const struct wake *wake);
void piece_thread_exit(struct piece_state *s, struct thread *t, uint64_t ts);
/* The koid of what runs on a CPU, 0: idle. */
uint64_t piece_running(const struct piece_state *s, const struct cpu *cpu);
/* Forgets what exited long ago; now, or if that may be much. 0 or -ENOMEM. */
int piece_threads_clear(struct piece_state *s, bool now);
void piece_threads_close(struct piece_state *s);

/* ---- slices.c ------------------------------------------------------------------------------ */

int piece_slice_event(struct piece_state *s, const struct fxt_record *rec);
void piece_slices_drop(struct piece_state *s, uint64_t thread);
/*
 * Asynchronous ones whose threads have been forgotten go to the first thread of the process, which may end them; without
 * one they are dropped.
 */
void piece_slices_inherit(struct piece_state *s);
/*
 * Ends all that are open, or begins them @again: those of programs at @bound_ns, the recorder's own at @own_ns, or at the
 * last begin or end of their thread if that is later. 0 or the writer's error.
 */
int piece_slices_write(const struct piece_state *s, struct fxt_writer *w, uint64_t bound_ns, uint64_t own_ns, bool again);
/* How many of those that are open verify would count as calls, and as events. */
void piece_slices_count(const struct piece_state *s, uint64_t *calls, uint64_t *events);
void piece_slices_close(struct piece_state *s);

/* ---- interned.c ---------------------------------------------------------------------------- */

/* A BLOB record of so many words. 0, -ENOMEM or -EINVAL. */
int piece_take_blob(struct piece_state *s, const uint64_t *rec, size_t words);
int piece_interned_write(const struct piece_state *s, struct fxt_writer *w);
void piece_interned_close(struct piece_state *s);

#endif
