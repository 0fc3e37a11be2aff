/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Plays a timeline: which task runs on each CPU and the state of each thread, event
 * by event. Where the file cannot know a state, it is unknown, not guessed.
 */
#ifndef ANALYSIS_REPLAY_H
#define ANALYSIS_REPLAY_H

#include "timeline.h"

enum replay_state {
	REPLAY_UNKNOWN,
	REPLAY_RUNNING,
	REPLAY_RUNNABLE,	/* preempted or woken, waits for a CPU */
	REPLAY_BLOCKED,		/* until a wakeup */
	REPLAY_DEAD,
};

struct replay_thread {
	enum replay_state state;	/* raw: callers use replay_state() */
	uint64_t since_ns;		/* in this state */
	uint32_t epoch;			/* of the replay when the state was set */
	uint16_t cpu;			/* where it runs or ran last */
};

struct replay_cpu {
	bool known;		/* @thread is certain */
	bool in_gap;
	bool live;		/* its records are complete just now */
	uint32_t thread;	/* index or TIMELINE_IDLE */
	const struct timeline_event *last;	/* switch before the cut, NULL if there is none */
};

struct replay {
	const struct timeline *tl;
	struct replay_thread *threads;	/* as timeline.threads */
	struct replay_cpu *cpus;	/* TIMELINE_CPUS_MAX */
	/*
	 * CPUs whose records are missing just now: not started, in a gap,
	 * stopped or cut short, and all those never recorded as one. While there are any, a
	 * thread that does not run may have been woken, run and blocked without a record.
	 */
	unsigned int blind;
	uint32_t epoch;		/* steps when a blind time ends; older states are unknown */
	uint32_t starting;	/* CPUs that have yet to start, and each of which will end one */
};

/* Called before @ev takes effect; other than 0 ends the play and is returned. */
typedef int (*replay_fn)(void *ctx, const struct replay *rp, const struct timeline_event *ev);

/* Plays a sorted timeline. Returns 0, -ENOMEM or what @fn returned. */
int replay_run(const struct timeline *tl, replay_fn fn, void *ctx);
/* What is certain about the thread of that index. */
enum replay_state replay_state(const struct replay *rp, uint32_t thread);
/* Whether the CPU's records were cut short after this switch; the task it switches in is forgotten. */
bool replay_is_last(const struct replay *rp, const struct timeline_event *ev);

#endif
