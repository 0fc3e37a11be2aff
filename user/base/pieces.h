/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Bytes that are handed over piece by piece, for readers that ask for them.
 */
#ifndef BASE_PIECES_H
#define BASE_PIECES_H

#include <stdbool.h>
#include <stddef.h>

struct pieces {
	const char *data;	/* what was not read yet; the caller's */
	size_t len;
	bool ended;		/* there will be no more */
};

/* @ctx is a struct pieces: at most @len bytes, 0 at the end, -EAGAIN until there is more. */
long pieces_read(void *ctx, void *buf, size_t len);

#endif
