/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Checks in a child process, which cannot fail the test by itself.
 */
#ifndef UNIT_CHILD_H
#define UNIT_CHILD_H

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

/* Ends the child, with what is wrong on stderr. */
#define CHECK(condition) \
	do { \
		if (!(condition)) { \
			dprintf(STDERR_FILENO, "%s:%d: %s (errno %d)\n", __FILE__, __LINE__, #condition, errno); \
			_exit(1); \
		} \
	} while (0)

#endif
