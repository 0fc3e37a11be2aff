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

#define CLOCK_SUSPEND_NS	1000000ULL	/* shorter ones are not noticed */

/* How long the machine has been suspended; all zero: not known yet. */
struct clock_suspends {
	uint64_t sum_ns, looked_ns;
};

/* Whether the machine was suspended since the last look, which was at *@from_ns; now is *@to_ns, both of CLOCK_BOOTTIME. */
static inline bool clock_was_suspended(struct clock_suspends *s, uint64_t *from_ns, uint64_t *to_ns)
{
	const uint64_t before_ns = s->sum_ns;
	uint64_t now_ns = 0, sum_ns = UINT64_MAX, again;

	/* We may have been kept off the CPU between two clocks. */
	for (again = 0; again < 3 && sum_ns > before_ns + CLOCK_SUSPEND_NS; again++) {
		const uint64_t monotonic_ns = clock_ns(CLOCK_MONOTONIC);

		now_ns = clock_ns(CLOCK_BOOTTIME);
		sum_ns = now_ns - monotonic_ns < sum_ns ? now_ns - monotonic_ns : sum_ns;
	}
	*from_ns = s->looked_ns;
	*to_ns = now_ns;
	s->sum_ns = sum_ns > before_ns + CLOCK_SUSPEND_NS ? sum_ns : before_ns;
	s->looked_ns = now_ns;
	return *from_ns && s->sum_ns != before_ns;
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
