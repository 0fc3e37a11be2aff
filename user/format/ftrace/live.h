/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Markers of a live recording, which become what those of ftrace text do. The builder
 * then writes events only; koids, names and the file's head are the recorder's.
 */
#ifndef FORMAT_FTRACE_LIVE_H
#define FORMAT_FTRACE_LIVE_H

#include "fxt/fxt.h"
#include "model/builder.h"

struct live;

struct live_cfg {
	/* Is there a process of this id now? Then its koid. */
	bool (*find_process)(void *ctx, uint32_t pid, uint64_t *koid);
	void *ctx;
	bool own_tracks;	/* the threads' own are for slices of calls */
};

/* Borrows both. 0 or -ENOMEM. */
int live_open(struct live **out, struct fxt_writer *w, const struct live_cfg *cfg);
/* What the thread wrote to trace_marker; those of one thread in order of time. 0 or -errno. */
int live_add(struct live *l, uint64_t ts_ns, struct fxt_thread at, const char *text, size_t len);
/* Markers of then are missing: closes what is open, which is not known to have gone on. 0 or -errno. */
int live_gap(struct live *l, uint64_t ts_ns);
/* Closes at @ts_ns what is open. 0 or -errno. */
int live_end(struct live *l, uint64_t ts_ns);
void live_stats(const struct live *l, struct builder_stats *stats);
/* NULL is fine. */
void live_close(struct live *l);

#endif
