/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A tree of stacks, as text and as JSON.
 */
#ifndef REPORT_STACKS_PRINT_H
#define REPORT_STACKS_PRINT_H

#include <stddef.h>
#include <stdint.h>

#include "analysis/stacks_view.h"
#include "base/json.h"

struct stacks_print {
	uint64_t top;	/* frames and groups that are printed, the heaviest */
	size_t width;	/* columns that a line may have; 0: any number */
};

#define STACKS_NAME_BYTES	512	/* of a frame or group for a terminal, with the NUL; longer ones are cut */

/* "[k] schedule", safe for a terminal. Returns @text. */
const char *stacks_name_text(struct fxt_str name, enum profile_frame_kind kind, char text[STACKS_NAME_BYTES]);
/* The same of a frame. */
const char *stacks_frame_text(const struct stacks *s, uint32_t frame, char text[STACKS_NAME_BYTES]);
/* "kernel", "jit", ... */
const char *stacks_kind_name(enum profile_frame_kind kind);
/* On stdout. */
void stacks_print_text(const struct stacks_view *v, const struct stacks_print *p);
/* An object. */
void stacks_print_json(struct json *j, const struct stacks_view *v, const struct stacks_print *p);

#endif
