/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How long threads waited for a CPU: runnable, and running nowhere.
 *
 * A wait is seen only while every CPU is recorded: in a gap, or on a CPU that is not recorded, the
 * thread may have run. What is proven, what is possible and what is certain are kept apart.
 */
#ifndef ANALYSIS_WAITS_H
#define ANALYSIS_WAITS_H

#include "replay.h"

struct waits;

/* The longest wait of a thread between the first and the last moment all CPUs were recorded. */
struct waits_longest {
	uint64_t ns;	/* it was at least that */
	bool complete;	/* and not longer; 0 ns: it did not wait */
};

/* Of a sorted timeline. @damaged: records are missing, and nothing says where. 0 or -ENOMEM. */
int waits_open(struct waits **out, const struct timeline *tl, bool damaged);
/* For replay_run(), before @ev takes effect; 0 or -ENOMEM. */
int waits_play(struct waits *w, const struct replay *rp, const struct timeline_event *ev);
/* After the last event. */
void waits_end(struct waits *w);
/* Of the thread of that index; of one that has no scheduling record it is not known. */
struct waits_longest waits_of(const struct waits *w, uint32_t thread);
/* NULL is fine. */
void waits_close(struct waits *w);

#endif
