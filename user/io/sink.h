/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Where a trace goes: a file or a pipe, as it is or made into something else, compressed or both, by a thread of its own.
 * The only writer of it.
 *
 * Every record that is handed over is written, or reported through lost(). A regular file
 * always ends with a whole record: when a write fails (disk full), it is cut back to where
 * the record that did not fit began. A compressed one is cut back to the last block that
 * was written, and is a whole gzip or zstd file after every block, whatever happens then.
 *
 * After the data of a regular file space can be reserved for a trailer, so that a trace for which
 * the disk is too small says so itself.
 */
#ifndef IO_SINK_H
#define IO_SINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

#include "base/thread_hooks.h"
#include "compress.h"
#include "output_time.h"
#include "records.h"
#include "stage.h"

struct sink_cfg {
	const char *path;		/* "-" is stdout */
	bool is_open;			/* @fd is an empty regular file, which is now the sink's; @path is not opened or renamed */
	int fd;
	struct compress_cfg compress;
	const struct stage_ops *stage;	/* makes what is written of records; NULL: they are written as they are */
	bool any_bytes;			/* it is no FXT: what is written may end anywhere */
	bool remove_on_signal;		/* see temp_file_make(): for a command that handles no signals itself */
	size_t reserve;			/* bytes for a trailer */
	records_lost_fn lost;		/* called within the calls below; may be NULL */
	void *lost_ctx;
	struct thread_hooks thread;	/* of the one that compresses */
};

struct sink;

/*
 * Gives the file @temp the name @path; a regular file of that name is kept as PATH.old. 0 or -errno,
 * and then *@hint is text as below, if there is any:
 *   -ELOOP	@path is a symbolic link
 *   -EISDIR	a directory
 *   -EINVAL	a FIFO or a device
 */
int sink_replace(const char *temp, const char *path, const char **hint);
/*
 * Opens a new file of mode 0600, called PATH.XXXXXX until sink_publish(); a FIFO or a character
 * device is written to as it is. Returns 0 or -errno, and then *@hint is static text to go with it, or NULL:
 *   -ENOTTY	a terminal
 *   -ELOOP	a symbolic link, which is never followed
 *   -ENXIO	a FIFO without a reader
 *   -EACCES	among others: somebody else's FIFO in a directory that all may write to
 */
int sink_open(struct sink **out, const struct sink_cfg *cfg, const char **hint);
/* Gives a new file its name: what was written is worth replacing another one. As sink_replace(). */
int sink_publish(struct sink *s, const char **hint);
/*
 * Writes whole FXT records (or any bytes, if so opened), however often write(2) takes less than it was given; waits
 * where a pipe is full. For the thread that compresses or makes something else of them, they are copied and written later, and it waits
 * only if 63 MiB are waiting already. 0 or -errno, which may be that of earlier records;
 * after an error nothing more is written and every call returns that error.
 */
int sink_writev(struct sink *s, struct iovec *iov, int cnt);
/* The same for one piece, as libfxt's fxt_write_fn; @ctx is the sink. */
int sink_write(void *ctx, const void *data, size_t len);
/* To be called a few times a second, so that what was written does not wait for more. The same. */
int sink_flush(struct sink *s);
/*
 * After an error: what is handed over from now on is written after the data, into the reserved
 * space, and is not reported as lost if it cannot be. 0; that error, where there is no such space,
 * as in a pipe; -EINVAL if there was none.
 */
int sink_trailer(struct sink *s);
/* Waits until all is in the trace, and ends it: nothing may be written any more. The same. */
int sink_finish(struct sink *s);
/* Its descriptor, which stays the sink's, if it is a file that only the sink writes to; -1: it is none. NULL is fine. */
int sink_file(const struct sink *s);
/* Bytes that are in the trace. */
uint64_t sink_bytes(const struct sink *s);
/* Of which these are the records, not compressed. */
uint64_t sink_raw_bytes(const struct sink *s);
/* Time it took so far: in write(2), or while it waited because too much is to be compressed. */
struct output_time sink_output_time(const struct sink *s);
/* Finishes and closes; a file that was not published is removed. The first error there was. NULL is fine. */
int sink_close(struct sink *s);
/*
 * As that; but space that was allocated beyond the end of sink_file(), which may take the file system long to get back, is
 * left for sink_trim(): *@fd is the file then, else -1.
 */
int sink_close_untrimmed(struct sink *s, int *fd);
/* Gives that back, and closes the file. */
void sink_trim(int fd);

#endif
