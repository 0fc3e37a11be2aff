/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Markers of a live recording, which become what those of ftrace text do. The builder
 * then writes events only; koids, names and the file's head are the recorder's.
 */
#ifndef BUILD_LIVE_H
#define BUILD_LIVE_H

#include "../fxt/fxt.h"
#include "builder.h"

struct live_cfg {
	/* Is there a process of this id now? Then its koid. */
	bool (*find_process)(void *ctx, uint32_t pid, uint64_t *koid);
	void *ctx;
	bool own_tracks;	/* the threads' own are for slices of calls */
};

/* Borrows both. 0 or -ENOMEM. To be closed by builder_close(). */
int live_open(struct builder **out, struct fxt_writer *w, const struct live_cfg *cfg);
/* What the thread wrote to trace_marker; those of one thread in order of time. 0 or -errno. */
int live_add(struct builder *b, uint64_t ts_ns, struct fxt_thread at, const char *text, size_t len);
/* Markers of then are missing: closes what is open, which is not known to have gone on. 0 or -errno. */
int live_gap(struct builder *b, uint64_t ts_ns);
/* Closes at @ts_ns what is open. 0 or -errno. */
int live_end(struct builder *b, uint64_t ts_ns);

#endif
