/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Where cgroups are directories.
 */
#ifndef BASE_CGROUP_MOUNT_H
#define BASE_CGROUP_MOUNT_H

/*
 * The path of a cgroup of the v2 hierarchy whose directory is @path, as /proc/PID/cgroup has it: the end of @path, which
 * begins with a slash or is "" for the root. NULL: @path is below no place where that hierarchy is mounted.
 */
const char *cgroup_below_mount(const char *path);

#endif
