/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Frames of stack samples as Trace Event JSON has them: each with its caller, so that a stack is one number.
 */
#ifndef FORMAT_CHROME_OUT_SAMPLES_H
#define FORMAT_CHROME_OUT_SAMPLES_H

#include "base/map.h"
#include "profile/profile.h"
#include "buf.h"

#define WRITE_FRAMES_MAX	(1U << 20)	/* further ones are left out of their stacks, and counted */

struct write_frame;

/* All zero is an empty one. */
struct write_frames {
	struct map by_hash;	/* index of the first frame of each hash */
	struct write_frame *all;
	size_t cnt, cap;
	struct write_buf text;	/* names and paths */
	uint64_t left_out;
};

/* The number of a stack's innermost frame; 0: none. 0 or -ENOMEM. */
int write_frames_add(struct write_frames *f, const struct profile_frame *frames, unsigned int cnt, uint32_t *number);
/* Appends the members of the object stackFrames that begin with frame @*next, some KiB of them; false: that was all. */
bool write_frames_put(const struct write_frames *f, struct write_buf *out, size_t *next);
void write_frames_fini(struct write_frames *f);

#endif
