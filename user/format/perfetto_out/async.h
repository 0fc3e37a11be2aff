/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Tracks of asynchronous slices. Those of one category and id that overlap are on one track, others of the same
 * name in the same process share tracks that are free again.
 */
#ifndef FORMAT_PERFETTO_OUT_ASYNC_H
#define FORMAT_PERFETTO_OUT_ASYNC_H

#include "fxt/fxt.h"
#include "format/perfetto/pool.h"
#include "tracks.h"

#define OUT_ASYNC_BUCKETS	1024U

struct out_lane {
	uint64_t uuid, free_ns;		/* UINT64_MAX: in use */
	uint32_t next;			/* of the same name; an index of lanes[] */
};

/* A category and id that is begun and not ended, or ended and not yet begun: then @depth is 0. */
struct out_open {
	uint64_t id, end_ns;
	uint32_t category, lane, depth, next;
};

struct out_async {
	struct pf_pool categories, groups;	/* a group has process, category and name */
	uint32_t *first_lanes;			/* group 1 has first_lanes[0] */
	size_t first_lanes_cap;
	struct out_lane *lanes;
	size_t lanes_cnt, lanes_cap;
	struct out_open *open;			/* @free and next lists */
	size_t open_cnt, open_cap, ended_cnt;	/* @ended_cnt: of them ended and not begun */
	uint32_t free, buckets[OUT_ASYNC_BUCKETS];	/* index + 1; 0: none */
};

/* Where an event goes, and as what; @uuid 0: nowhere, there are too many. @end_ns: of a begin whose end was there before. */
struct out_place {
	uint64_t uuid, end_ns;
	unsigned int type;	/* enum pf_event_type */
};

/* Also makes it an empty one, which all zero is. */
void out_async_fini(struct out_async *a);
/* Of an event of a type that begins with FXT_ASYNC; an end before its begin, or without one, is an instant. 0 or -ENOMEM. */
int out_async_place(struct out_async *a, struct out_tracks *t, const struct fxt_event *e, uint64_t ts_ns,
		    struct out_place *place);

#endif
