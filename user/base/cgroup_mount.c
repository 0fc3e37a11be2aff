// SPDX-License-Identifier: GPL-2.0
#include "cgroup_mount.h"

#include <mntent.h>
#include <stdio.h>
#include <string.h>

const char *cgroup_below_mount(const char *path)
{
	FILE *mounts = setmntent("/proc/mounts", "re");
	const struct mntent *m;
	const char *below = NULL;

	while (mounts && !below && (m = getmntent(mounts))) {
		const size_t len = strlen(m->mnt_dir);

		if (!strcmp(m->mnt_type, "cgroup2") && !strncmp(path, m->mnt_dir, len) && (!path[len] || path[len] == '/'))
			below = path + len;
	}
	if (mounts)
		endmntent(mounts);
	return below;
}
