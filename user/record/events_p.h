/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Inside the events: what the sources keep, and who writes what.
 */
#ifndef RECORD_EVENTS_P_H
#define RECORD_EVENTS_P_H

#include "events.h"

struct markers;
struct syscalls;

struct events {
	bool has[SOURCE_CNT];		/* by programs */
	bool named[SOURCE_CNT];		/* asked for by name */
	struct tracepoints *tracepoints;
	struct markers *markers;	/* NULL: not wanted */
	struct syscalls *syscalls;	/* NULL: none were ever wanted */
	struct events_counts counts;
	uint64_t async_ids;		/* given so far: viewers have one namespace for a whole trace */
	struct presets *presets;	/* NULL: none of them */
};

#endif
