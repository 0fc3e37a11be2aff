/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Inside the trace builder: a track of builder_track(), and its name.
 */
#ifndef MODEL_SOURCE_TRACK_H
#define MODEL_SOURCE_TRACK_H

#include "event.h"

struct thread;

/* A further thread that shows a track, for what does not nest in the others. */
struct lane {
	struct thread *t;
	uint64_t until;		/* what is open there ends then: what ends later, but begins before, overlaps it */
};

struct source_track {
	struct model_track spec;	/* its strings are copies */
	uint32_t same_hash;		/* the next one of its hash, MAP_NONE: there is none */
	uint64_t koid, process;		/* as FXT has them; of a process its own in both */
	bool is_invented;		/* the koid is not the number in the source */
	struct thread *t;		/* NULL: nothing of it is written yet */
	struct thread *last;		/* where its last slice is: @t, or a lane */
	struct lane *lanes;
	unsigned int lanes_cnt, lanes_cap;
	char *name;			/* NULL: not named */
	size_t name_len;
	bool has_order;
	int64_t order;
};

/* What viewers are to show: the name, and the id in the source where the koid differs; the length. */
size_t track_full_name(const struct source_track *st, unsigned int lane, char *buf, size_t size);

#endif
