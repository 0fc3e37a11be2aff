/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Arguments of FXT records as members of a JSON object.
 */
#ifndef FORMAT_CHROME_OUT_ARGS_H
#define FORMAT_CHROME_OUT_ARGS_H

#include "fxt/fxt.h"
#include "buf.h"

/*
 * Appends "name":value for each, with a comma before all but the first of @b. Integers that a
 * double would round, pointers and BLOBs (hexadecimal digits) are strings. Of those of one name, which JSON
 * has once, the second is "NAME (2)".
 */
void write_args_put(struct write_buf *b, const struct fxt_arg *args, unsigned int cnt);
/* The same for those that a counter can have: finite numbers. Returns how many that were. */
unsigned int write_args_put_numbers(struct write_buf *b, const struct fxt_arg *args, unsigned int cnt);

#endif
