/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Copies of records that are written again later.
 */
#ifndef PIECE_KEPT_H
#define PIECE_KEPT_H

#include "fxt/fxt.h"

/* An event or an object; one block of memory with all that it points to. */
struct kept {
	union {
		struct fxt_event event;
		struct fxt_object object;
	};
	unsigned int nargs;
	struct fxt_arg args[];
};

/* Of a record that is an event or a kernel object. NULL: no memory. free() ends it. */
struct kept *kept_copy(const struct fxt_record *rec);
/* The argument of that name, or NULL. */
const struct fxt_arg *kept_arg(const struct kept *k, const char *name);

#endif
