/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reads a trace from end to end, looks at every byte the reader hands out and
 * checks what must hold for any input.
 */
#ifndef FXT_WALK_H
#define FXT_WALK_H

#include <stddef.h>
#include <stdint.h>

#include "fxt/fxt.h"

struct fxt_walk {
	uint64_t digest;		/* of everything handed out */
	uint64_t kinds[FXT_KIND_CNT];
	uint64_t damage_bytes;
	uint64_t intact_bytes;		/* of records before the first damage but the magic's */
	const char *first_reason;
	const char *broken;		/* the promise that was not kept, or NULL */
};

struct fxt_walk_options {
	size_t chunk;			/* bytes at a time; 0: as many as asked for */
	int err;			/* the source's error before each read, or 0 */
	bool skip_payload;		/* of large records */
};

/* Promises: every byte is in one record or damage, and the end is reached. */
struct fxt_walk fxt_walk(const void *data, size_t len, struct fxt_walk_options how);

#endif
