/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Which files are deleted when there are too many: regular files with names of one pattern, of our user and with
 * permission to write for it; those last written to first. Files that a person asked for lack that permission;
 * chmod a-w protects any other.
 *
 * Where a clock was set back, the files that were just made would be the oldest: they get times after all others.
 */
#ifndef ARCHIVE_RETENTION_H
#define ARCHIVE_RETENTION_H

#include <stdbool.h>
#include <stdint.h>

#include "name.h"

/* 0: no limit. */
struct retention_limits {
	uint64_t files, bytes;
};

/* What retention_apply() left; 0 for both without limits. */
struct retention_total {
	uint64_t files, bytes;
};

/* Of each file that is deleted; with @err, -errno, one that should be and cannot. */
typedef void (*retention_fn)(void *ctx, const char *name, uint64_t bytes, int err);

struct retention_cfg {
	int dir;			/* the directory, open */
	const struct name_pattern *names;
	struct retention_limits limits;
	const char *const *newest;	/* files that were just made */
	size_t newest_cnt;
	retention_fn deleted;
	void *ctx;
	bool (*is_used)(void *ctx, const char *name);	/* is not deleted now, but counts; NULL: none is */
	void *used_ctx;
};

/*
 * Deletes as many of the oldest files as there are beyond the limits; @more_bytes, of files that
 * are still being written, count too. The newest file stays unless there are such bytes. 0 or -errno: the directory
 * cannot be read.
 */
int retention_apply(const struct retention_cfg *cfg, uint64_t more_bytes, struct retention_total *total);
/* Calls @found for the name of each entry of the directory @dir. The same. */
int retention_list(int dir, int (*found)(void *ctx, const char *name), void *ctx);

#endif
