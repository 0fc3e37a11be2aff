// SPDX-License-Identifier: GPL-2.0
#include "poll_until.h"

#include <errno.h>
#include <limits.h>

#include "clock.h"

#define NS_PER_MS	1000000ULL

/* Rounded up, or it would spin in the last millisecond. */
static int ms_until(uint64_t end_ns)
{
	const uint64_t now_ns = clock_ns(CLOCK_MONOTONIC);
	const uint64_t ms = now_ns < end_ns ? (end_ns - now_ns) / NS_PER_MS + 1 : 0;

	return ms < INT_MAX ? (int)ms : INT_MAX;
}

int poll_until(struct pollfd *fds, unsigned int cnt, uint64_t end_ns)
{
	int n;

	do
		n = poll(fds, cnt, end_ns == UINT64_MAX ? -1 : ms_until(end_ns));
	while (n < 0 && errno == EINTR);
	return n < 0 ? -errno : n;
}
