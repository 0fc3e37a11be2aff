/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What -e asks for: sources of events besides scheduling and functions. Chooses them and
 * writes what their programs left to be completed.
 */
#ifndef RECORD_EVENTS_H
#define RECORD_EVENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "progress.h"
#include "sources.h"

struct events;
struct fxt_writer;
struct kfxt_bpf;
struct markers_cfg;

struct events_cfg {
	const char *const *wanted;	/* as for -e, in order; "!" before one takes it out again */
	unsigned int wanted_cnt;
};

/* Events that are no CPU's; recorder_cpu has the others. */
struct events_counts {
	uint64_t events;		/* in the trace */
	uint64_t late;			/* of these, from records that were CPUs' and were taken before */
	uint64_t lost, unwritten;
	uint64_t filtered;		/* by filters on fields */
	unsigned int refused;		/* tracepoints that cannot be attached to, among those of globs */
	const char *first_refused;
};

/*
 * Chooses. On failure @why says in one line what is wrong: -EINVAL: no such events,
 * -ENOTSUP: there are, but not on this kernel or not for us, -ENOMEM.
 */
int events_open(struct events **out, const struct events_cfg *cfg, char *why, size_t why_size);
bool events_has(const struct events *e, enum source_id source);
/* Whether the log, for which nobody asked by name, is not to be had. */
bool events_lack_log(const struct events *e);
/* Whether any program is to write to the event rings; and any but that of the log. */
bool events_any(const struct events *e);
bool events_any_but_log(const struct events *e);
/*
 * Life of the programs: which to load; what they look up, once they are loaded; attaching those
 * that libbpf does not, *@which being what that failed for; taking those off. @e may be NULL:
 * none. 0 or -errno; -ECANCELED if @progress said no.
 */
int events_prepare(const struct events *e, struct kfxt_bpf *skel);
int events_fill(const struct events *e, struct kfxt_bpf *skel);
int events_attach(const struct events *e, struct kfxt_bpf *skel, const char **which, progress_fn progress, void *ctx);
void events_detach(const struct events *e, progress_fn progress, void *ctx);
/* Events that the kernel skipped, where it does not count them itself. */
uint64_t events_skipped(const struct events *e, const struct kfxt_bpf *skel);
/* The recording begins. 0 or -errno. */
int events_begin(struct events *e, const struct markers_cfg *cfg);
/* Readable when events_poll() should run; -1: nothing to wait for. */
int events_fd(const struct events *e);
/*
 * Writes a raw record (session.h) but that of a line of the log; -EINVAL if it is none, or the
 * writer's error. *@written is how many records of events it became.
 */
int events_write_raw(struct events *e, struct fxt_writer *w, const uint64_t *rec, unsigned int *written);
/* Takes what does not come through the event rings. 0 or -ENOMEM. */
int events_read(struct events *e);
/* Of the @i'th CPU, what the kernel overwrote of that before it was read. */
uint64_t events_overwritten(const struct events *e, unsigned int i);
/*
 * Between these two looks the event rings have lost some or, if @overwritten, the kernel has
 * overwritten some. 0 or -ENOMEM.
 */
int events_gap(struct events *e, bool overwritten, uint64_t from_ns, uint64_t to_ns);
/* The recording has ended: what events_read() takes now is the last. */
void events_stop(struct events *e);
/*
 * Called a few times a second and, with @last, at the end: writes what is not told by programs.
 * 0 or the writer's error.
 */
int events_poll(struct events *e, struct fxt_writer *w, uint64_t now_ns, bool last);
/* All zero if @e is NULL. */
void events_counts(const struct events *e, struct events_counts *counts);
/* NULL is fine. */
void events_close(struct events *e);

#endif
