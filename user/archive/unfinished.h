/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A file until it is complete. It is NAME.tmp, locked (flock(2)) by all that have it open, and gets its name, and is not
 * locked any more, when it is published. A NAME.tmp without a lock is that of a recorder that has ended.
 *
 * In all functions @dir is the directory, open, and no symbolic link in it is followed. 0 or -errno.
 */
#ifndef ARCHIVE_UNFINISHED_H
#define ARCHIVE_UNFINISHED_H

#include <stdbool.h>
#include <stdint.h>

#include "name.h"

/*
 * A file that a person asked for may not be written to, by its mode, 0400. Others have 0600, and may be deleted
 * when there are too many.
 */
#define UNFINISHED_MODE		0600
#define UNFINISHED_MODE_KEPT	0400

struct unfinished {
	int fd;					/* for reading and writing; -1: there is no file */
	int locked;				/* what holds the lock instead; -1: @fd does */
	const struct name_pattern *names;	/* borrowed */
	char base[NAME_MAX + 1];		/* a name without number */
	char name[NAME_MAX + 1];		/* the one that it is to have */
};

/* Makes a file under the first name that is not taken; @keep: a person asked for it. */
int unfinished_open(struct unfinished *u, int dir, const struct name_pattern *names, const struct name_facts *facts,
		    bool keep);
/*
 * Gives it its name, or the next free one: @u->name then says which. -ESTALE: the file that is there under its temporary name is
 * another one. The file stays open.
 */
int unfinished_rename(struct unfinished *u, int dir);
/* Removes it, if it is still there. */
int unfinished_discard(struct unfinished *u, int dir);
/* Bytes that are in it, 0 if that cannot be found out. */
uint64_t unfinished_bytes(const struct unfinished *u);
/*
 * Of a recorder that has ended: cuts an FXT file after its last whole record and publishes it, with the time at which it
 * was last written to before. Nothing is removed but a file without any record: *@kept is false then.
 */
int unfinished_recover(struct unfinished *u, int dir, bool *kept);
/*
 * Of a published file: a descriptor, the caller's, that locks it for others than us (unfinished_is_held()) as long as it
 * is open; -1: that is not possible. Others may read it, and lock it for that.
 */
int unfinished_hold(const struct unfinished *u, int dir);
/* Whether a file that is published is locked, by any process. False on file systems without locks. */
bool unfinished_is_held(int dir, const char *name);
/* Closes the file as it is. */
void unfinished_close(struct unfinished *u);
/*
 * Opens NAME.tmp of a recorder that has ended; @temp is this name. -EWOULDBLOCK: it is still being written; -ENOENT: it
 * is none of @names.
 */
int unfinished_find(struct unfinished *u, int dir, const struct name_pattern *names, const char *temp);

#endif
