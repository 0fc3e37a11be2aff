/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a profile writer has in its sequence: strings, mappings, frames and stacks by number, and those of
 * them that have not been written yet.
 */
#ifndef PROFILE_INTERN_H
#define PROFILE_INTERN_H

#include <stddef.h>
#include <stdint.h>

#include "format/perfetto/encode.h"
#include "format/perfetto/pool.h"
#include "profile.h"

#define PROFILE_CACHED_FRAMES	2048U

struct profile_cached_frame;

/* All zero is an empty one. */
struct profile_intern {
	/* Numbers of a pool are the iids of its table; an entry of a table of messages is the key of its fields. */
	struct pf_pool functions, build_ids, paths, source_paths, mappings, frames, stacks;
	struct profile_cached_frame *cache;	/* PROFILE_CACHED_FRAMES that were met last; NULL: none yet */
	struct pb_buf added;	/* entries of InternedData that have not been written */
	uint32_t *iids;		/* of the frames of a stack; PROFILE_FRAMES_MAX */
};

/*
 * The number of that stack; what is new is in @in->added. 0 is no frames. 0, -ENOSPC if a table is full,
 * or -ENOMEM; after either, fini and begin anew.
 */
int profile_intern_stack(struct profile_intern *in, const struct profile_frame *frames, unsigned int cnt,
			 uint32_t *stack);
/* It is empty after that and may be used again. */
void profile_intern_fini(struct profile_intern *in);

#endif
