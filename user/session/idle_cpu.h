/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Which CPU has had nothing to do, by /proc/stat: its workers run, which they do not on one that a thread or a work item
 * of another keeps busy.
 */
#ifndef SESSION_IDLE_CPU_H
#define SESSION_IDLE_CPU_H

#include <stdbool.h>
#include <stdint.h>

#include "base/affinity.h"
#include "base/num.h"

struct idle_times {
	uint64_t ticks[NUM_CPUS_MAX];	/* of USER_HZ, since the machine's start, and one more; 0: the CPU is not online */
	uint64_t all[NUM_CPUS_MAX];	/* idle or not, the same one more */
};

/* To be freed; NULL if they cannot be read. */
struct idle_times *idle_times_read(void);
/* The same from @text, which is what /proc/stat holds. */
struct idle_times *idle_times_parse(const char *text);
/*
 * The CPU of @allowed that was idle longest from @from to @to; of those that were idle as long, the one that was idle
 * longest since @begin. NULL: not known. -1 if none was idle. Less than an eighth of the time is not: where a real-time
 * thread does not sleep the kernel leaves a twentieth of it to others (sched_rt_runtime_us), and other real-time ones wait, too.
 */
int idle_cpu(const struct idle_times *begin, const struct idle_times *from, const struct idle_times *to, const struct affinity *allowed);
/*
 * Moves the calling thread to that of the CPUs it may run on, @to being now. Sets *@before to those CPUs, to be freed by
 * affinity_free() in any case. Whether it was idle lately, and another of the machine was not.
 */
bool idle_cpu_move(const struct idle_times *begin, const struct idle_times *from, struct affinity *before);

#endif
