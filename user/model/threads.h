/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Inside the trace builder: threads and processes, and what is known of them.
 */
#ifndef MODEL_THREADS_H
#define MODEL_THREADS_H

#include <stdbool.h>
#include <stdint.h>

#include "text.h"

struct builder;
struct source_track;
struct track;

#define NAME_BYTES	32
#define NOT_AN_ID	UINT64_MAX
#define NO_TID		(-1)	/* of a thread or process that is not known by an id of Linux */

enum sched_state { SCHED_UNKNOWN, SCHED_RUNNING, SCHED_RUNNABLE, SCHED_BLOCKED, SCHED_DEAD };
enum name_from { NAME_NONE, NAME_CUT, NAME_ARGUMENT, NAME_COLUMN, NAME_LIST };	/* the best last */

struct thread {
	int32_t tid, tgid;	/* tgid: NO_TID if not known */
	uint32_t generation;
	uint64_t koid, process;	/* process: koid, 0 is the kernel */
	char name[NAME_BYTES];
	uint8_t name_len, name_from;
	bool kernel, user;	/* known to be, by its parent or by what it does */
	bool exited, tgid_is_guess;
	bool freed, free_due;	/* @free_due: the event is still to come for who had the id before */
	uint8_t births;		/* which events of its birth there were */
	uint8_t state;		/* enum sched_state, by the records written */
	bool woken;		/* by a sched_waking whose sched_wakeup is to come */
	bool maybe_woken;	/* a wake came while it ran; the fields below */
	uint16_t cpu;		/* where it runs */
	uint16_t line_cpu;	/* where its last line came from */
	int32_t prio;
	uint64_t sched_ns, sched_ts;	/* of its last scheduling record */
	uint64_t wake_ts, wake_waker;
	uint16_t wake_cpu;
	struct track *track, *markers;
	const struct source_track *source;	/* NULL: a thread by the ids of Linux */
	uint16_t lane;			/* of @source; 0: it is no lane */
	bool no_object;		/* another one of its koid has the kernel object */
};

struct model_process {
	uint64_t koid;
	int32_t tgid;
	uint32_t name_len;
	char *name;		/* NULL: that of its main thread */
	uint64_t parent;	/* koid or NOT_AN_ID */
	const struct source_track *source;	/* of builder_track(), or NULL */
};

struct thread *thread_find(struct builder *b, int32_t tid);
/* Makes it if it is new; NULL: no memory. */
struct thread *thread_get(struct builder *b, int32_t tid);
/* One that is not known by an id of Linux; NULL: no memory. */
struct thread *thread_add(struct builder *b);
uint64_t thread_koid_of(struct builder *b, int32_t tid);
/* A name is kept unless one from a better source is known. */
void thread_name(struct builder *b, struct thread *t, struct model_text name, enum name_from from);
/* Its process; a guess is replaced by what is known. */
void thread_tgid(struct builder *b, struct thread *t, int32_t tgid, bool guess);
/* Decides again whose thread it is, after what is known of it has changed. */
void thread_classify(struct builder *b, struct thread *t);
/* The id has a new thread: the old one is written and forgotten. */
int thread_renew(struct builder *b, struct thread *t);
/* There is no koid for another thread of this id. */
bool thread_is_last(const struct thread *t);
/* Of a process dump. */
int process_name(struct builder *b, int32_t tgid, struct model_text name);
/* There are records of it: it gets a kernel object. */
int process_use(struct builder *b, uint64_t koid, int32_t tgid);
/* The same of a process of builder_track(); @source may be NULL. */
int process_use_source(struct builder *b, uint64_t koid, const struct source_track *source);
/* The process of @t, if it is its main thread, was forked by that of koid @parent. */
int process_parent(struct builder *b, const struct thread *t, uint64_t parent);
/* The kernel object of its second track. */
int thread_write_markers(struct builder *b, const struct thread *t);
/* The kernel objects of all. */
int threads_write(struct builder *b);
void threads_fini(struct builder *b);

#endif
