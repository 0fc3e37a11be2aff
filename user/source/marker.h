/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What programs write to trace_marker. It comes from the kernel's copies (marker_copy.h) or from
 * bpf/marker.bpf.c, is put in order, since a thread's markers come through the buffers of several
 * CPUs, and gets the meaning that it has in ftrace text (user/format/ftrace/live.h).
 */
#ifndef SOURCE_MARKER_H
#define SOURCE_MARKER_H

#include <stdbool.h>
#include <stdint.h>

struct filter;
struct fxt_writer;
struct markers;
struct tasks;

struct markers_cfg {
	const struct tasks *names;
	uint64_t start_ns;		/* what is older is left out */
	const uint32_t *cpus;
	unsigned int cpus_cnt;
	uint64_t ring_bytes;
	const struct filter *filter;	/* whose copies are recorded; NULL: everybody's */
	bool own_tracks;		/* slices of calls are on the threads' own */
};

/* With the kernel's copies, if there are any. 0 or -ENOMEM. */
int markers_open(struct markers **out);
/* Are there? Or need a program be asked? */
bool markers_are_copied(const struct markers *m);
/* Borrows @cfg's parts. 0 or -errno. */
int markers_begin(struct markers *m, const struct markers_cfg *cfg);
/* Readable when they should be written; -1: nothing to wait for. */
int markers_fd(const struct markers *m);
/* A deferred record (enum marker_word). 0 or -ENOMEM. */
int markers_take(struct markers *m, const uint64_t *rec);
/* Takes the copies there are, if any are made. The same. */
int markers_read(struct markers *m);
/* Copies on the @i'th CPU that the kernel overwrote before they were read. */
uint64_t markers_overwritten(const struct markers *m, unsigned int i);
/*
 * Between these times some were lost: slices that are open at the one or the other end there. Older
 * ones than @from_ns have all been taken. 0 or -ENOMEM.
 */
int markers_gap(struct markers *m, uint64_t from_ns, uint64_t to_ns);
/* No more copies are made; those there are can still be read. */
void markers_stop(struct markers *m);
/* Writes what will have nothing older come after it; with @last all as far as @now_ns. 0 or -errno. */
int markers_write(struct markers *m, struct fxt_writer *w, uint64_t now_ns, bool last);
/* NULL is fine. */
void markers_close(struct markers *m);

#endif
