/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Where a trace goes: a file or a pipe, as it is or compressed by a thread of its own.
 * The only writer of it.
 *
 * Every record that is handed over gets into the trace or is told as lost. A regular file
 * always ends with a whole record: when a write fails (disk full), it is cut back to where
 * the record that did not fit began. A compressed one is cut back to the last block that
 * was written, and is a whole gzip or zstd file after every block, whatever happens then.
 *
 * Behind what is written of a regular file room can be kept for some last words, so that a
 * trace that the disk has no more room for says so itself.
 */
#ifndef RECORD_SINK_H
#define RECORD_SINK_H

#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

#include "compress.h"

/* Told of @len bytes of whole records that are not in the trace and never will be. */
typedef void (*sink_lost_fn)(void *ctx, const void *records, size_t len);

struct sink_cfg {
	const char *path;		/* "-" is stdout */
	struct compress_cfg compress;
	size_t reserve;			/* bytes of room for last words */
	sink_lost_fn lost;		/* called within the calls below; NULL: not told */
	void *lost_ctx;
};

struct sink;

/*
 * Renames an existing regular file to PATH.old. 0; 1: what is there is a FIFO or a device, and stays;
 * or -errno, and then *@hint is text as below:
 *   -ELOOP	a symbolic link
 *   -EISDIR	a directory
 */
int sink_keep_old(const char *path, const char **hint);
/*
 * Opens a new file of mode 0600; an existing regular one is kept as PATH.old, a FIFO or a character
 * device is written to. Returns 0 or -errno, and then *@hint is static text to go with it, or NULL:
 *   -ENOTTY	a terminal
 *   -ELOOP	a symbolic link, which is never followed
 *   -ENXIO	a FIFO that nobody reads
 *   -EACCES	among others: somebody else's FIFO in a directory that all may write to
 */
int sink_open(struct sink **out, const struct sink_cfg *cfg, const char **hint);
/*
 * Writes whole FXT records, however often write(2) takes less than it was given; waits
 * where a pipe is full. To be compressed, they are copied and written later, and it waits
 * only if 63 MiB are waiting already. 0 or -errno, which may be that of earlier records;
 * after an error nothing more is written and every call returns that error.
 */
int sink_writev(struct sink *s, struct iovec *iov, int cnt);
/* The same for one piece, as libfxt's fxt_write_fn; @ctx is the sink. */
int sink_write(void *ctx, const void *data, size_t len);
/* To be called a few times a second, so that what was written does not wait for more. The same. */
int sink_flush(struct sink *s);
/*
 * After an error: what is handed over from now on goes behind what was written before it, into the
 * room that was kept, and is not told of as lost if it cannot. 0; that error, where there is no such room,
 * as in a pipe; -EINVAL if there was none.
 */
int sink_last_words(struct sink *s);
/* Waits until all is in the trace, and ends it: nothing may be written any more. The same. */
int sink_finish(struct sink *s);
/* Bytes that are in the trace. */
uint64_t sink_bytes(const struct sink *s);
/* Of which these are the records, not compressed. */
uint64_t sink_raw_bytes(const struct sink *s);
/* How many of @len bytes of @data, which starts with a record, are whole records. */
size_t sink_whole_records(const void *data, size_t len);
/* Finishes and closes; returns the first error there was. NULL is fine. */
int sink_close(struct sink *s);

#endif
