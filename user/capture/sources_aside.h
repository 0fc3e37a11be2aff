/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What sources attach in a process of its own, since the kernel may let whoever does that wait for long: for an RCU grace
 * period, for threads of other CPUs, for another tracer. The recording begins without what has not come to its end
 * by then, which is late.
 */
#ifndef CAPTURE_SOURCES_ASIDE_H
#define CAPTURE_SOURCES_ASIDE_H

#include <stdbool.h>
#include <stdint.h>

#include "bpf/abi/shed.h"

struct sources;

/* Before that process is forked: makes what it shares with the recorder. 0 or -ENOMEM. */
int sources_aside_open(struct sources *s);
/* Whether there is something for it to attach. */
bool sources_aside_any(const struct sources *s);

/* In that process. Gives up once @until_fd, a pipe's end, has no other end any more. */
void sources_aside_attach(struct sources *s, int until_fd);
/*
 * Of those whose programs have to have ended when their rings are read for the last time: counts what was skipped,
 * and detaches them.
 */
void sources_aside_count(struct sources *s);
void sources_aside_detach(struct sources *s);

struct sources_aside_look {
	unsigned int steps;		/* so far; unchanged: it has made no progress since the last look */
	unsigned int done, all;		/* of @what */
	const char *what;		/* NULL: nothing yet */
	bool is_done;			/* all is attached, or could not be */
	int err;			/* of the first that could not, and for what */
	const char *which;
};

/* In the recorder. */
void sources_aside_look(struct sources *s, struct sources_aside_look *look);
/* The recording begins: what is not attached by now is late, since the process @waits. */
void sources_aside_begin(struct sources *s, const char *waits);
/* The process has ended, and all that it held with it: @why, a text that lives on. */
void sources_aside_end(struct sources *s, const char *why);
/* It was asked to detach what has to be, and that has taken too long, or not: whether it has counted before is known then. */
void sources_aside_stop(struct sources *s);

/* Whether there are some whose programs have to have ended when their rings are read for the last time. */
bool sources_detach_at_stop(const struct sources *s);
/* Of those whose events are of @class, whether there are some that can be detached for good, while the others record; and that they were. */
bool sources_can_detach(const struct sources *s, enum shed_class class);
void sources_detach_class(struct sources *s, enum shed_class class);
/* The process has: as poll() with @final, for the last time. 0 or the first error. */
int sources_end_detached(struct sources *s, uint64_t now_ns);

#endif
