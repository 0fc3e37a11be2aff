/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Executable mappings of all processes as they are made, and what ends them: perf's mmap, fork, exec
 * and exit records, from a ring of each CPU. Unlike /proc they are there for processes that have ended.
 */
#ifndef ELF_MMAP_EVENTS_H
#define ELF_MMAP_EVENTS_H

#include <stdint.h>

#include "mmap_records.h"

struct mmap_events;

/* The path in @e lives until it returns. */
typedef int (*mmap_event_fn)(void *ctx, const struct mmap_event *e);

/* For all CPUs that are online; nothing is reported so far. 0 or -errno; -EACCES or -EPERM: not permitted. */
int mmap_events_open(struct mmap_events **out);
/* From now on. 0 or -errno. */
int mmap_events_begin(struct mmap_events *m);
/* Hands over what there is with a time before @until_ns, in order of time. 0, or what @fn returned. */
int mmap_events_read(struct mmap_events *m, uint64_t until_ns, mmap_event_fn fn, void *ctx);
/* Records for which the rings had no space. @m NULL: 0. */
uint64_t mmap_events_lost(const struct mmap_events *m);
/* NULL is fine. */
void mmap_events_close(struct mmap_events *m);

#endif
