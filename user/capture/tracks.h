/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Tracks that belong to no thread: one for each CPU and kind, one for all counters, one for what is left out. Their
 * kernel objects are written when a track is first asked for.
 */
#ifndef CAPTURE_TRACKS_H
#define CAPTURE_TRACKS_H

#include <stdint.h>

#include "model/track_ids.h"

struct fxt_writer;
struct tracks;

/* 0 or -ENOMEM. */
int tracks_open(struct tracks **out);
/* The track of a CPU. 0 or the writer's error; -EINVAL: no such CPU. */
int tracks_get_cpu(struct tracks *t, struct fxt_writer *w, enum pseudo kind, uint32_t cpu, struct fxt_thread *at);
/* The track of what is left out for its cost. 0 or the writer's error. */
int tracks_get_shed(struct tracks *t, struct fxt_writer *w, struct fxt_thread *at);
/* The track of all counters. 0 or the writer's error. */
int tracks_get_counters(struct tracks *t, struct fxt_writer *w, struct fxt_thread *at);
/* NULL is fine. */
void tracks_close(struct tracks *t);

#endif
