/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Processes that work beside a command and outlive it where they have to.
 */
#ifndef BASE_SIDE_PROCESS_H
#define BASE_SIDE_PROCESS_H

#include <stdbool.h>

#define SIDE_PROCESS_FDS_MAX	4

/*
 * Called by a child that has just been forked: it is @name from then on, in a session of its own, and neither a terminal
 * nor a service manager ends it by a signal. Of what it has open the @cnt descriptors of @fds stay, which may get
 * other numbers, and with @says stderr, which is then stdout, too. 0 or -errno.
 */
int side_process_begin(const char *name, bool says, int *const fds[], unsigned int cnt);

#endif
