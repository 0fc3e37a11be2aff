/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Clocks, in nanoseconds.
 */
#ifndef BASE_CLOCK_H
#define BASE_CLOCK_H

#include <stdint.h>
#include <time.h>

/* What @clock says now: CLOCK_BOOTTIME is the trace's, CLOCK_MONOTONIC for durations. */
static inline uint64_t clock_ns(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return ts.tv_sec * 1000000000ULL + ts.tv_nsec;
}

#endif
