/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Arguments that a record of FXT had no space for: its argument "more" is a JSON object of them.
 */
#ifndef FORMAT_PERFETTO_OUT_MORE_H
#define FORMAT_PERFETTO_OUT_MORE_H

#include <stddef.h>

#include "fxt/fxt.h"

/* All zero is an empty one. */
struct out_more {
	struct fxt_arg *args;	/* their strings are in @text */
	size_t cnt, cap;
	char *text;
	size_t text_cap;
};

/* Sets @m to the members of @json. 0, -EBADMSG if it is no object of strings, numbers, true, false, null; -ENOMEM. */
int out_more_read(struct out_more *m, struct fxt_str json);
void out_more_fini(struct out_more *m);

#endif
