/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the process that opens files keeps of its rights.
 */
#ifndef ARCHIVE_RIGHTS_H
#define ARCHIVE_RIGHTS_H

#include <stdbool.h>

/*
 * Drops all capabilities but CAP_DAC_OVERRIDE, if without it no file can be made in the directory @dir, and CAP_KILL,
 * if there are @hooks: they may change their user. 0 or -errno: capabilities could not be dropped.
 */
int rights_drop(int dir, bool hooks);
/*
 * Without @hooks, which may need any, all threads may make only the system calls that files take; the others fail with ENOSYS. 0 or
 * -errno.
 */
int rights_filter(bool hooks);

#endif
