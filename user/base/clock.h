/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Clocks, in nanoseconds.
 */
#ifndef BASE_CLOCK_H
#define BASE_CLOCK_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

/* What @clock says now: CLOCK_BOOTTIME is the trace's, CLOCK_MONOTONIC for durations. */
static inline uint64_t clock_ns(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return ts.tv_sec * 1000000000ULL + ts.tv_nsec;
}

/* What work may take of the time that passes; all zero: it has taken none. */
struct time_share {
	uint64_t owed_ns, at_ns;	/* what it has taken beyond its share, at this time of CLOCK_MONOTONIC */
};

/* Whether it may go on: it has taken less than @burst_ns more than one of @parts parts of the time. */
static inline bool time_share_is_left(struct time_share *s, unsigned int parts, uint64_t burst_ns)
{
	const uint64_t now = clock_ns(CLOCK_MONOTONIC), paid = (now - s->at_ns) / parts;

	s->owed_ns -= paid < s->owed_ns ? paid : s->owed_ns;
	s->at_ns = now;
	return s->owed_ns < burst_ns;
}

static inline void time_share_take(struct time_share *s, uint64_t ns)
{
	s->owed_ns += ns;
}

#endif
