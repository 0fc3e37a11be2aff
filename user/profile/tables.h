/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a profile reader knows of a packet sequence: interned data by iid, and defaults. Within a generation
 * the first entry of an iid counts.
 */
#ifndef PROFILE_TABLES_H
#define PROFILE_TABLES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/map.h"
#include "format/perfetto/decode.h"
#include "format/perfetto/pool.h"
#include "profile.h"

#define PROFILE_ENTRIES_MAX	(1U << 21)	/* of a sequence; further ones are dropped */
#define PROFILE_IIDS_MAX	(1U << 25)	/* of frames in all its stacks */

/* A frame as it was interned; @f is what that means, found when it is first used. */
struct profile_entry_frame {
	uint32_t name, mapping, source_path;	/* iids, 0: none */
	bool is_resolved;
	struct profile_frame f;
};

struct profile_entry_stack {
	uint32_t first, cnt;	/* in @iids */
};

struct profile_entry_mapping {
	uint32_t build_id, path;	/* iids, 0: none */
};

/* All zero has no state. */
struct profile_tables {
	bool is_valid;			/* the state was cleared, and nothing lost since */
	uint64_t period_ns;		/* defaults */
	enum profile_source source;
	uint32_t source_name;		/* in @source_names */
	uint32_t clock_id;		/* 0: none */
	struct map by_iid;		/* of table and iid: the number of a string, or index in an array below */
	struct pf_pool strings, source_names;
	struct profile_entry_frame *frames;
	struct profile_entry_stack *stacks;
	struct profile_entry_mapping *mappings;
	uint32_t *iids;
	uint32_t frames_cnt, frames_cap, stacks_cnt, stacks_cap, mappings_cnt, mappings_cap, iids_cnt, iids_cap;
};

/* InternedData. 0, -EBADMSG or -ENOMEM; @stats: what has no space. */
int profile_tables_intern(struct profile_tables *t, struct pf_cursor message, struct profile_stats *stats);
/* TracePacketDefaults. 0 or -EBADMSG. */
int profile_tables_defaults(struct profile_tables *t, struct pf_cursor message);
/*
 * The frames of a stack, at most PROFILE_FRAMES_MAX, outermost first; their strings live as long as the
 * tables. False: there is no such stack. @stats: what is not known.
 */
bool profile_tables_stack(struct profile_tables *t, uint64_t iid, struct profile_frame *frames, unsigned int *cnt,
			  struct profile_stats *stats);
/* Forgets everything, also the defaults. */
void profile_tables_clear(struct profile_tables *t);

#endif
