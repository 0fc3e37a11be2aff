/* SPDX-License-Identifier: GPL-2.0 */
/*
 * poll(2) with a time to end at in place of a duration.
 */
#ifndef BASE_POLL_UNTIL_H
#define BASE_POLL_UNTIL_H

#include <poll.h>
#include <stdint.h>

/*
 * Waits until one of @cnt descriptors is ready, or CLOCK_MONOTONIC is at @end_ns; UINT64_MAX: for ever. Signals do not end
 * it. How many are ready, 0 at the end of that time, or -errno.
 */
int poll_until(struct pollfd *fds, unsigned int cnt, uint64_t end_ns);

#endif
