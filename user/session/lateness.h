/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Why rings were full: what kept the recorder from draining them, measured from one look at them to
 * the next where records were lost in between.
 */
#ifndef SESSION_LATENESS_H
#define SESSION_LATENESS_H

#include <stdbool.h>
#include <stdint.h>

#include "bpf/abi/ctl.h"
#include "io/output_time.h"

enum late_cause {
	LATE_UNKNOWN,		/* none of those below took most of the time, or it is not known which */
	LATE_NOT_SCHEDULED,	/* runnable, and waited for a CPU */
	LATE_OUTPUT,		/* in write(2), or waiting for the thread that compresses */
	LATE_BUSY,		/* ran: completing events, reading names */
	LATE_STOPPED,		/* none of these, and longer than it sleeps by itself: SIGSTOP and the like */
	LATE_CAUSE_CNT
};

#define LATE_NO_DELAY	UINT64_MAX

struct late_times {
	uint64_t now_ns, delay_ns, cpu_ns;	/* @delay_ns: LATE_NO_DELAY if the kernel does not say */
	struct output_time output;
};

/* A time in which rings were not drained. */
struct late_span {
	enum late_cause cause;
	uint64_t ns;		/* what the cause took of it */
	bool at_most;		/* it may have taken less: the recorder was also stopped */
};

struct lateness {
	int fd;			/* the thread's schedstat; -1: the kernel has none */
	uint64_t sleep_ns;	/* how long the recorder may sleep */
	struct late_times before;
	struct late_span longest[LATE_CAUSE_CNT];
};

/* By the thread that drains. */
void lateness_open(struct lateness *l, uint64_t sleep_ns);
/* How much a CPU's rings have lost so far because they were full. */
uint64_t lateness_lost(const struct cpu_ctl *ctl);
/*
 * At each look; @output: time spent on output so far. @lost: records were lost since the one before; then it returns
 * what kept the recorder in between.
 */
struct late_span lateness_look(struct lateness *l, struct output_time output, bool lost);
/* What most of the time from @from to @to went to, of which the recorder may have slept @sleep_ns. */
struct late_span late_span_of(const struct late_times *from, const struct late_times *to, uint64_t sleep_ns);
/* "waited for a CPU", "output", ...; "" for LATE_UNKNOWN. */
const char *late_cause_name(enum late_cause cause);
/* The cause that took longest at a time. */
struct late_span lateness_longest(const struct lateness *l);
void lateness_close(struct lateness *l);

#endif
