/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Closes descriptors that others have opened: where their file system hangs, close(2) waits for it, so a thread does it.
 */
#ifndef BASE_CLOSE_LATER_H
#define BASE_CLOSE_LATER_H

struct close_later;

/* Starts the thread, which takes no signals and calls @thread_init first: 0 or -errno; NULL: nothing. 0 or -errno. */
int close_later_open(struct close_later **out, int (*thread_init)(void));
/*
 * Without waiting, unless @c is NULL. One more than some thousand that wait already stays open until the process ends.
 */
void close_later(struct close_later *c, int fd);
/* Waits for nothing; what was handed over is closed all the same. NULL is fine. */
void close_later_close(struct close_later *c);

#endif
