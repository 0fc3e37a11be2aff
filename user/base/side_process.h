/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Processes that work beside a command and outlive it where they have to.
 */
#ifndef BASE_SIDE_PROCESS_H
#define BASE_SIDE_PROCESS_H

#include <stdbool.h>
#include <sys/types.h>

#define SIDE_PROCESS_FDS_MAX	4
/* Real-time. One below those of the kernel: stop machine, watchdogs, threaded interrupts are at 99, at 50. */
#define SIDE_PROCESS_PRIORITY	98

/*
 * As fork(2), for a child that calls side_process_begin() or side_process_settled(). Up to there it is real-time where that is
 * permitted and the caller is no real-time, batch or idle thread by somebody's choice: until it runs it has open what the
 * caller has, of which others may wait for the end.
 */
pid_t side_process_fork(void);
void side_process_settled(void);
/* Makes it, or with 0 the calling thread, so again. Whether it is. */
bool side_process_hurry(pid_t pid);
/*
 * Called by a child that has just been forked: it is @name from then on, in a session of its own, and neither a terminal
 * nor a service manager ends it by a signal. Of what it has open the @cnt descriptors of @fds stay, which may get
 * other numbers, and with @says stderr, which is then stdout, too. 0 or -errno.
 */
int side_process_begin(const char *name, bool says, int *const fds[], unsigned int cnt);

#endif
