/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The exit codes of every command; scripts rely on them, so numbers stay.
 */
#ifndef CLI_EXIT_H
#define CLI_EXIT_H

#include <errno.h>

enum exit_code {
	EXIT_OK			= 0,
	EXIT_FAILED		= 1,	/* the run failed */
	EXIT_USAGE		= 2,	/* a wrong option, operand or command */
	EXIT_PROBLEMS		= 3,	/* problems found; loss under --strict */
	EXIT_INCOMPLETE		= 4,	/* recorded, but a requested source was missing */
	EXIT_UNSUPPORTED	= 5,	/* a right or a kernel feature is missing */
};

/* What becomes of a choice that failed: -EINVAL: it is wrong, -ENOTSUP: not here. */
static inline int exit_of(int err)
{
	return !err ? EXIT_OK : err == -EINVAL ? EXIT_USAGE : err == -ENOTSUP ? EXIT_UNSUPPORTED : EXIT_FAILED;
}

#endif
