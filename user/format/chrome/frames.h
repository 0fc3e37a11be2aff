/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Frames of call stacks that events refer to by an id: each has a name and a parent. In bounded
 * memory: those beyond the limit are not known.
 */
#ifndef FORMAT_CHROME_FRAMES_H
#define FORMAT_CHROME_FRAMES_H

#include "base/map.h"
#include "fxt/fxt.h"
#include "model/event.h"
#include "each.h"

#define CHROME_DEPTH_MAX	512U	/* frames of a stack */
#define CHROME_FRAMES_MAX	(1U << 17)
#define CHROME_FRAMES_BYTES_MAX	(8U << 20)	/* of all names and places */

struct chrome_frame;

/* All zero is an empty table. */
struct chrome_frames {
	struct map by_key;
	struct chrome_frame *all;
	size_t cnt, cap;
	char *text;
	size_t text_len, text_cap;
};

/*
 * The name of frame @key, what it is of, and where it is; both of these may be empty. The last ones count. @name
 * and @category are decoded. 0; -ENOMEM, also where there is no space for more.
 */
int chrome_frames_name(struct chrome_frames *f, uint64_t key, const struct chrome_value *name,
		       const struct chrome_value *category, const char *place, size_t place_len);
/* The caller of frame @key, which may get its name later. 0 or -ENOMEM. */
int chrome_frames_parent(struct chrome_frames *f, uint64_t key, uint64_t parent);
/* Name and place of a frame, until the next change; false: there is none of that key. */
bool chrome_frames_find(const struct chrome_frames *f, uint64_t key, struct fxt_str *name, struct fxt_str *place);
/*
 * The names from the root to that frame, with ; between: its length, 0 if there is no such frame. Long ones
 * lose roots, and *@cut is set.
 */
size_t chrome_frames_stack(const struct chrome_frames *f, uint64_t key, char *out, size_t size, bool *cut);
/*
 * The same as frames of a sample, at most CHROME_DEPTH_MAX, of more the innermost, and *@cut is set: how many. They live until the
 * next change.
 */
unsigned int chrome_frames_list(const struct chrome_frames *f, uint64_t key, struct profile_frame *out, bool *cut);
void chrome_frames_fini(struct chrome_frames *f);

#endif
