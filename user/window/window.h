/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The last records of a recording, kept in memory as compressed blocks; the oldest are given up. Files can be made of
 * what there is at any time (dumps), each by a thread, while records go on being added. One whose file system hangs keeps
 * nobody waiting.
 *
 * Times are nanoseconds of the trace's clock. All calls are made by one thread, that of the drain.
 */
#ifndef WINDOW_WINDOW_H
#define WINDOW_WINDOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/thread_hooks.h"
#include "io/compress.h"
#include "io/stage.h"
#include "piece/state.h"

#define WINDOW_DUMPS	3U	/* at a time, each in its place */

struct fxt_writer;
struct window;

#define WINDOW_LEVEL	1

struct window_cfg {
	/*
	 * Records at least as old as @age_ns are there, and no blocks that are older as a whole; memory for blocks is at most @bytes.
	 * The one that is reached first counts. 0: not bound by this.
	 */
	uint64_t age_ns, bytes;
	struct compress_cfg compress;	/* of the files; if those have none, or a stage, blocks are zstd of WINDOW_LEVEL */
	const struct stage_ops *stage;	/* makes files of another format; NULL: FXT */
	uint64_t stall_ns;		/* a dump whose file takes nothing for so long is given up; 0: 30 s */
	struct thread_hooks thread;	/* of each */
	/*
	 * Writes records that follow the first ones of a file, which are those of @s. Called by the thread of window_dump()
	 * or, with @last_ns, by those of dumps. 0 or -errno. NULL: none.
	 */
	int (*write_more)(void *ctx, struct fxt_writer *w, const struct piece_state *s);
	/* What goes on where a file ends, before its last records; adds to @cut->more_events. NULL: nothing. */
	void (*write_open)(void *ctx, struct fxt_writer *w, struct piece_cut *cut);
	void *ctx;
};

/* Starts the threads, which take no signals. 0, -EINVAL if there is no such level, an error of thread.begin(), or -errno. */
int window_open(struct window **out, const struct window_cfg *cfg);
/*
 * Adds whole records of a recording, in the order of a file; they are copied. 0, -ENOMEM, or -EINVAL if their sizes do not
 * add up. After an error the window is not that of the recording any more: every call returns it again.
 */
int window_add(struct window *w, const void *records, size_t len);
/*
 * A round over the rings has ended at @now_ns; a file could be cut here, as @cut says. Blocks may end, old ones are given
 * up: after this the bounds hold. Waits while too much is to be compressed: more than 64 MiB or a quarter of @bytes. Not
 * to be called before the names are read from /proc at the beginning. 0, or an error of window_add(); -ENOMEM: what
 * could not be done is tried again in the next round.
 */
int window_round(struct window *w, const struct piece_cut *cut, uint64_t now_ns);
/* Memory for blocks is at most @bytes from the next round on, not 0. */
void window_limit(struct window *w, uint64_t bytes);
/* No CPU is in a gap, so that a file could end here with the gaps that it has. */
bool window_can_cut(const struct window *w, const struct piece_cut *cut);

struct window_dump {
	unsigned int place;		/* below WINDOW_DUMPS */
	int fd;				/* where to; from then on the window's, whose thread closes it: that can take long, too */
	int (*check)(int fd);		/* called first by the thread: 0 or -errno; NULL: nothing */
	uint64_t last_ns;		/* not more than what is as old as this; 0: all there is */
};

/*
 * Starts to write all there is up to here, after a round, to a file: what a file needs first and last is made now, the rest by a thread.
 * Of @cut also number, online and realtime_offset_ns are used. 0; or @fd remains the caller's: -EBUSY: the place is
 * taken; -ENODATA: nothing was added so far; -ENOMEM; an error of window_add() or @write_more.
 */
int window_dump(struct window *w, const struct window_dump *d, const struct piece_cut *cut);

/* Whether a dump may begin there: one that was given up has its place until write(2) returns. */
bool window_place_is_free(struct window *w, unsigned int place);

struct window_dumped {
	unsigned int place;
	int err;			/* 0 or -errno: then the file is not whole */
	uint64_t bytes, raw_bytes;	/* written; of records that is */
	uint64_t from_ns, to_ns;	/* session of the file */
};

/*
 * Whether a dump has ended, with its result: once for each. One that was given up is reported at once, with -ETIMEDOUT or
 * -ECANCELED, and what only it needs of the window is freed; its thread, and its place, are taken until write(2) returns.
 */
bool window_dumped(struct window *w, struct window_dumped *out);
/* To be polled: readable while window_dumped() would be true, unless a file stalls. It is the window's. */
int window_fd(const struct window *w);
/* Gives the dump in that place up, if there is one. */
void window_cancel(struct window *w, unsigned int place);

struct window_totals {
	uint64_t held_ns;		/* from the first record to the last round */
	uint64_t bytes;			/* memory that blocks take */
	uint64_t raw_bytes;		/* of records in them */
	uint64_t given_up_bytes;	/* memory of blocks that were given up and are still to be written to a file */
	size_t blocks;
	struct piece_sums overwritten;	/* records that were given up */
	/* So far: bytes of records; of these, those that were compressed, and memory that blocks took for them. */
	uint64_t added_bytes, packed_from_bytes, packed_bytes;
};

void window_totals(struct window *w, struct window_totals *out);
/* About how large a file will be that has not more than what is as old as @last_ns; 0: all there is. */
uint64_t window_file_bytes(struct window *w, uint64_t last_ns);
/*
 * Waits for dumps that are under way. NULL is fine. The error of a dump that was not reported, or 0; -ETIMEDOUT: a file
 * stalls, and what its thread uses is not freed.
 */
int window_close(struct window *w);

#endif
