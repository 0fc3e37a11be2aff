/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Where a trace goes: a file or a pipe. The only writer of it.
 *
 * A regular file always ends with a whole record: when a write fails in the
 * middle of one (disk full), the file is cut back to where that record began.
 */
#ifndef RECORD_SINK_H
#define RECORD_SINK_H

#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

struct sink;

/*
 * Opens @path for writing, mode 0600; an existing regular file is kept as
 * PATH.old. "-" is stdout. Returns 0 or -errno, and then *@hint is static text
 * to go with it, or NULL:
 *   -ENOTTY	stdout is a terminal
 *   -ELOOP	a symbolic link, which is never followed
 */
int sink_open(struct sink **out, const char *path, const char **hint);
/*
 * Writes whole FXT records, however often write(2) takes less than it was
 * given; waits where a pipe is full. 0 or -errno; after an
 * error nothing more is written and every call returns that error.
 */
int sink_writev(struct sink *s, struct iovec *iov, int cnt);
/* The same for one piece, as libfxt's fxt_write_fn; @ctx is the sink. */
int sink_write(void *ctx, const void *data, size_t len);
/* Bytes that are in the trace. */
uint64_t sink_bytes(const struct sink *s);
/* Closes; returns the first error there was. NULL is fine. */
int sink_close(struct sink *s);

#endif
