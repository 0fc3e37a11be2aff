/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Windows and their files, for the tests of user/window. Failures end the test.
 */
#ifndef WINDOW_WALK_H
#define WINDOW_WALK_H

#include "fxt/fxt_mem.h"
#include "window/window.h"

#define WALK_PLACE	1U	/* of dumps */

/* A new empty file without a name. */
int walk_file(void);
/* Its records, decompressed. */
void walk_read(int fd, struct fxt_mem *out);
/* Waits for the dump that was begun; it may not take a minute. */
struct window_dumped walk_wait(struct window *w);
/* Dumps to @fd, which stays open, and waits, without an error. */
struct window_dumped walk_dump(struct window *w, int fd, uint64_t last_ns, const struct piece_cut *cut);
/* The same, read: verify finds nothing. */
struct window_dumped walk_dumped(struct window *w, uint64_t last_ns, const struct piece_cut *cut, struct fxt_mem *out);

#endif
