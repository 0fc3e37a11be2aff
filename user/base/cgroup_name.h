/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the path of a cgroup says by the conventions of container runtimes and of systemd. Nobody is asked, so whoever
 * may create cgroups can have them say anything.
 */
#ifndef BASE_CGROUP_NAME_H
#define BASE_CGROUP_NAME_H

#include <stddef.h>

#define CGROUP_LABEL_BYTES	256U	/* with the NUL */

/* A part of a path, which is not the caller's to free; @len 0: there is none. */
struct cgroup_part {
	const char *text;
	size_t len;
};

/*
 * The id of the innermost container that a cgroup is, or is below: 64 hexadecimal digits at the end of a directory's
 * name, as "docker-ID.scope", "cri-containerd-ID.scope", "crio-ID", "libpod-ID.scope" and "ID" have it. A process that
 * watches a container (conmon) is in none.
 */
struct cgroup_part cgroup_container(const char *path);
/*
 * The systemd unit of a cgroup: its innermost directory that is named as one that has processes (service, scope, mount,
 * socket, swap). For the manager of a user or of a container, which is in "init.scope", it is the unit around that.
 */
struct cgroup_part cgroup_unit(const char *path);
/*
 * What tells a process of the cgroup of this path, @len bytes, from one of the same name elsewhere, for viewers:
 * "container ID", cut to 12 digits as runtimes print it, and the unit if that is in the container; else the unit, else
 * as much of the end of @path as fits; "" for the root.
 */
void cgroup_label(char buf[CGROUP_LABEL_BYTES], const char *path, size_t len);
/*
 * The path of a cgroup of the v2 hierarchy whose directory is @path, as /proc/PID/cgroup has it: the end of @path, which
 * begins with a slash or is "" for the root. NULL: @path is below no place where that hierarchy is mounted.
 */
const char *cgroup_below_mount(const char *path);

#endif
