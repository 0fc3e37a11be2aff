/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The trace a command reads: a file or stdin, plain or gzip.
 */
#ifndef CLI_INPUT_H
#define CLI_INPUT_H

#include <stddef.h>

struct input;

/*
 * Opens @path, "-" meaning stdin. Returns 0 or -errno: what open(2) says, and
 *   -ENOTTY	stdin is a terminal
 *   -EISDIR	a directory
 */
int input_open(struct input **out, const char *path);
/*
 * An fxt_read_fn, @ctx is the struct input: bytes read, 0 at the end, or
 *   -EBADMSG	corrupt gzip data
 *   -ENODATA	gzip data that ends early
 */
long input_read(void *ctx, void *buf, size_t len);
/* What to call it in messages: the path or "stdin". */
const char *input_name(const struct input *in);
/* NULL is fine. */
void input_close(struct input *in);
/* The reason in words for an error of the calls above. */
const char *input_error(int err);

#endif
