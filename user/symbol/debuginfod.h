/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Debug files by build id from the servers in $DEBUGINFOD_URLS. Uses the network: never while
 * recording.
 */
#ifndef SYMBOL_DEBUGINFOD_H
#define SYMBOL_DEBUGINFOD_H

#include <limits.h>

/*
 * Fetches the debug file of @build_id (hex) into debuginfod's cache; @path is where it is then. 0 or
 * -errno: -ENOSYS without libdebuginfod.so.1, -ENOENT if no server is set or none has it, -EINVAL if
 * @build_id is none.
 */
int debuginfod_fetch(const char *build_id, char path[PATH_MAX]);

#endif
