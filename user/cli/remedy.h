/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a user does about rights that are missing.
 */
#ifndef CLI_REMEDY_H
#define CLI_REMEDY_H

#include <stddef.h>

#define REMEDY_BYTES	8192	/* room for it, with a path */

/*
 * The command that gives this very program the capabilities it needs, or why none can; NULL:
 * it has them. Returns @buf.
 */
const char *remedy_command(char buf[REMEDY_BYTES]);

#endif
