/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What any trace can say, before it is FXT: readers of formats make these, the trace builder
 * (builder.h) writes them. An event is on a track, which builder_track() finds.
 */
#ifndef MODEL_EVENT_H
#define MODEL_EVENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fxt/fxt.h"
#include "profile/profile.h"

/* An id as the source has it: @text if its data is not NULL, else @number. */
struct model_id {
	int64_t number;
	struct fxt_str text;
};

enum model_track_kind {
	MODEL_TRACK_THREAD,	/* @thread of @process */
	MODEL_TRACK_PROCESS,	/* @process as a whole: a thread "process" in it */
	MODEL_TRACK_GLOBAL,	/* the trace as a whole: the only thread of a process "global" */
	MODEL_TRACK_CPU,	/* CPU number @cpu: thread "CPU n" of the kernel's process */
	MODEL_TRACK_IDLE,	/* the idle thread of Linux: for scheduling only */
	MODEL_TRACK_NAMED,	/* number @thread of a space of its own, beside @process's threads; name it by MODEL_NAME */
};

/* What a track is known by. Two specifications that are equal in what their kind uses are one track. */
struct model_track {
	enum model_track_kind kind;
	bool no_process;	/* MODEL_TRACK_NAMED: of the process "global", @process does not count */
	struct model_id process, thread;
	uint16_t cpu;
};

enum model_kind {
	MODEL_SLICE,		/* from @ts_ns for @duration_ns */
	MODEL_SLICE_OPEN,	/* from @ts_ns on, without an end */
	MODEL_SLICE_BEGIN,	/* ended by MODEL_SLICE_END or with the slice around it; else it has no end */
	MODEL_SLICE_END,	/* the innermost open one; with a name the innermost of that name or of none */
	MODEL_ASYNC,		/* @id, from @ts_ns for @duration_ns: slices of one id that nest share a track in viewers */
	MODEL_ASYNC_BEGIN,	/* @id: begins and ends of one id and name belong together, last begun first */
	MODEL_ASYNC_INSTANT,	/* inside of the async slice of @id, or an instant without one */
	MODEL_ASYNC_END,	/* without a name: the last begun of @id */
	MODEL_FLOW_BEGIN,	/* @id: an arrow from the slice that is open on the track, or the last slice or instant */
	MODEL_FLOW_STEP,	/* ... to such a slice, and on from there */
	MODEL_FLOW_END,		/* ... to such a slice; one more if it has ended and began by MODEL_FLOW_BEGIN */
	MODEL_FLOW,		/* begin or step: whichever it is by what came before */
	MODEL_INSTANT,
	MODEL_COUNTER,		/* arguments that are numbers: a series each; @id distinguishes counters of one name */
	MODEL_LOG,		/* @text; @name: of the instant that shows it, "log" if empty */
	MODEL_SWITCH,		/* @sched; the track is the incoming thread */
	MODEL_WAKEUP,		/* @sched; the track is the woken thread */
	MODEL_STATE,		/* @sched: from now on the track's thread is in that state */
	MODEL_NAME,		/* @name is the track's; of a MODEL_TRACK_PROCESS the process's. No time. */
	MODEL_ORDER,		/* @order: where viewers put the track, or process. No time. */
	MODEL_STACK,		/* @stack: where the track's thread was; without arguments */
	MODEL_LOG_LINE,		/* @text: as MODEL_LOG, if the instant that shows it is another event */
	MODEL_KIND_CNT
};

enum model_state {
	MODEL_RUNNING,		/* on @cpu */
	MODEL_RUNNABLE,		/* waits for a CPU: woken or preempted */
	MODEL_SLEEPING,		/* until it is woken */
	MODEL_BLOCKED,		/* the same, uninterruptibly: D of Linux */
	MODEL_STOPPED,
	MODEL_DYING,		/* will not run again; its parent has not noticed */
	MODEL_DEAD,
};

/* Priorities are the kernel's, 0 to 139 (120 is normal), -1 for deadline. */
struct model_sched {
	uint16_t cpu;			/* where; of MODEL_WAKEUP the one that it is to run on */
	uint32_t other;			/* MODEL_SWITCH: the outgoing thread; MODEL_WAKEUP: the waker, 0: not known */
	int32_t priority, other_priority;
	enum model_state state;		/* MODEL_SWITCH: of the outgoing thread; MODEL_STATE: of the track's */
	struct fxt_str linux_state;	/* letters of Linux if they say more, at most 16 bytes; else empty */
};

/* A sample of a thread; see struct profile_sample. */
struct model_stack {
	enum profile_source source;
	struct fxt_str source_name;	/* of PROFILE_OTHER */
	int cpu;			/* -1: not known */
	bool user_mode;
	uint64_t weight;
	const struct profile_frame *frames;	/* outermost first */
	unsigned int frames_cnt;
};

/*
 * Arguments of scheduling, names and order are written only where an instant takes their place.
 * @id is 64 bits that the reader makes of what its format calls an id, its scope and category; those of
 * async slices, flows and counters have nothing to do with each other.
 * MODEL_STATE: MODEL_RUNNING switches the thread in on @cpu, another state switches it out if it runs, and
 * MODEL_RUNNABLE wakes it if it sleeps; where states of two threads change at once that of the outgoing
 * one comes first.
 */
struct model_event {
	enum model_kind kind;
	uint32_t track;			/* of builder_track(), 0 is none */
	uint64_t ts_ns;			/* at most INT64_MAX */
	struct fxt_str category, name;
	const struct fxt_arg *args;	/* of any number and type; NULL if there are none */
	unsigned int args_cnt;
	uint64_t id;			/* async, flows, counters */
	union {
		uint64_t duration_ns;
		int64_t order;
		struct fxt_str text;
		struct model_sched sched;
		struct model_stack stack;
	};
};

#endif
