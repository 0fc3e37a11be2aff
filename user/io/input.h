/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The trace a command reads: a file or stdin, plain or packed with gzip or zstd,
 * whatever its name.
 */
#ifndef IO_INPUT_H
#define IO_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct input;

/*
 * Opens @path, "-" meaning stdin. Returns 0 or -errno: what open(2) says, and
 *   -ENOTTY	stdin is a terminal
 *   -EISDIR	a directory
 */
int input_open(struct input **out, const char *path);
/*
 * An fxt_read_fn, @ctx is the struct input: bytes read, 0 at the end, or
 *   -EBADMSG	corrupt compressed data
 *   -ENODATA	compressed data that ends early
 *   -EFBIG	compressed data that need too much memory
 * An error is returned after all bytes before it, and then by each call.
 */
long input_read(void *ctx, void *buf, size_t len);
/* Whether input_read_at() can read it: a regular file that is not packed, and not stdin. */
bool input_can_seek(struct input *in);
/* The same at an offset, apart from what input_read() does: bytes read, 0 at the end, or -errno. */
long input_read_at(const struct input *in, void *buf, size_t len, uint64_t offset);
/* What to call it in messages: the path or "stdin". */
const char *input_name(const struct input *in);
/* NULL is fine. */
void input_close(struct input *in);
/* Whether input_read() ended because of damage: what was read before it counts. */
bool input_was_readable(int err);
/* The reason in words for an error of the calls above. */
const char *input_error(int err);

#endif
