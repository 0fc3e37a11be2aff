/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How long the output takes: the wall time of the calls that write a trace, or that wait for the
 * thread that does. A process that is stopped (SIGSTOP, SIGTSTP) within such a call is not delayed by
 * its output, although wall time passes. The two are distinguished by how often the thread slept
 * within the call, and how often the process was continued.
 */
#ifndef IO_OUTPUT_TIME_H
#define IO_OUTPUT_TIME_H

#include <stdint.h>

struct output_time {
	uint64_t ns;		/* in calls of the output so far */
	uint64_t unsure_ns;	/* of these, calls of which a part that is not known was spent stopped */
};

/* A call that is under way. */
struct output_call {
	uint64_t began_ns;
	uint64_t sleeps;	/* of this thread until then */
	unsigned int continued;	/* this process until then */
};

/*
 * From now on counts how often this process is continued, by a handler of SIGCONT; calls that a signal
 * interrupts are restarted where the kernel does that. Without it no call counts as stopped. Programs
 * executed from here have the default again. 0 or -errno.
 */
int output_time_init(void);
/* Both by the thread that makes the call. */
void output_call_begin(struct output_call *call);
void output_call_end(const struct output_call *call, struct output_time *t);
/*
 * Adds to @t a call of @ns in which the thread slept @sleeps times and the process was continued
 * @continued times. Each stop is one sleep. So if it slept no more often than that, it was only ever
 * stopped, and none of this is the output's; if it slept more often, both may have taken any part of it.
 */
void output_time_add(struct output_time *t, uint64_t ns, uint64_t sleeps, unsigned int continued);

#endif
