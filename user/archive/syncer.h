/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A thread that puts files on the disk, one after the other, for as long as that takes: meanwhile others are opened.
 */
#ifndef ARCHIVE_SYNCER_H
#define ARCHIVE_SYNCER_H

#include <stdbool.h>
#include <stdint.h>

#define SYNCER_MAX	16U	/* that wait or are done, at a time */

struct syncer;

/* The thread has the rights that the caller has at that time, but for a filter of system calls. 0 or -errno. */
int syncer_open(struct syncer **out);
/* Readable when one is done. */
int syncer_fd(const struct syncer *s);
/*
 * @fd is not closed before it is done. @all: with its metadata, as a directory needs. 0, or -EBUSY if there are SYNCER_MAX.
 */
int syncer_add(struct syncer *s, uint32_t id, int fd, bool all);
/* The next one that is done, without waiting: its @id, and 0 or -errno. False: none. */
bool syncer_next(struct syncer *s, uint32_t *id, int *err);

#endif
