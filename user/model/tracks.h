/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Inside the trace builder: the tracks of builder_track(), and the threads of FXT that show them.
 */
#ifndef MODEL_TRACKS_H
#define MODEL_TRACKS_H

#include "base/map.h"
#include "source_track.h"

struct builder;
struct thread;

#define LANES_MAX	1023U	/* of one track */

struct source_tracks {
	struct source_track **all;	/* number 1 is the first */
	size_t cnt, cap;
	struct map by_hash;		/* index of the first of each hash */
	struct map koids;		/* number in the source: index of the process that it is of */
	uint64_t invented;
};

/* What builder_track() does. */
int tracks_find(struct builder *b, const struct model_track *spec, uint32_t *track);
/* NULL: there is none of that number. */
struct source_track *track_at(const struct builder *b, uint32_t nr);
/* The thread of FXT that shows it, made if need be; NULL: no memory. */
struct thread *track_thread(struct builder *b, struct source_track *st);
/* A further lane. NULL: no memory. */
struct lane *track_add_lane(struct builder *b, struct source_track *st);
/* Its thread is dead and runs again: a new one of another koid. NULL: no memory. */
struct thread *track_renew(struct builder *b, struct source_track *st);
/* The process that it is in exists. 0 or -ENOMEM. */
int track_use_process(struct builder *b, const struct source_track *st);
/* 0 or -ENOMEM */
int track_set_name(struct builder *b, struct source_track *st, struct fxt_str name);
int track_set_order(struct builder *b, struct source_track *st, int64_t order);
void tracks_fini(struct builder *b);

#endif
