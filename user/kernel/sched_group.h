/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Groups that the fair scheduler divides CPU time between: autogroups, one a session, and cgroups.
 */
#ifndef KERNEL_SCHED_GROUP_H
#define KERNEL_SCHED_GROUP_H

#include <stdbool.h>

/*
 * Whether a nice value of this process counts in such a group only, and others are in it: those of its session that it has
 * not begun, or of its cgroup, or, @with_command, what it starts. false if it cannot be read. @root: before "/proc" and
 * "/sys", "" except in tests.
 */
bool sched_group_is_shared(const char *root, bool with_command);

#endif
