/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Cgroups of the v2 hierarchy: their paths by the kernel's ids, which are the inode numbers of their directories.
 */
#ifndef CAPTURE_CGROUPS_H
#define CAPTURE_CGROUPS_H

#include <stdbool.h>
#include <stdint.h>

struct cgroups;

/* Without that hierarchy none has a path. 0 or -ENOMEM. */
int cgroups_open(struct cgroups **out);
/*
 * The path below the hierarchy's root, "/" for that, of the cgroup of this id, in which process @pid is or was; with
 * id 0 of the one in which it is. NULL: not known. It lives until the next call.
 */
const char *cgroups_path(struct cgroups *c, uint64_t id, uint32_t pid);
/*
 * Calls @found for each cgroup that there is now but the root, with its path as above and its id, before those below,
 * which are left out where it returns true.
 */
void cgroups_each(const struct cgroups *c, bool (*found)(void *ctx, const char *path, uint64_t id), void *ctx);
/* NULL is fine. */
void cgroups_close(struct cgroups *c);

#endif
