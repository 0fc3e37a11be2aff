/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Other bytes made of records on their way to the output, in the thread that writes these. A block of
 * records becomes bytes that are written as a whole or not at all.
 */
#ifndef IO_STAGE_H
#define IO_STAGE_H

#include <stddef.h>
#include <stdint.h>

#include "records.h"

/* What makes them; @s is what open() returned. */
struct stage_ops {
	/* put() takes bytes, at which the output may end: 0 or -errno. 0 or -errno itself. */
	int (*open)(void **s, int (*put)(void *ctx, const void *data, size_t len), void *ctx);
	/* Takes whole records, and puts bytes of all that need not wait: 0 or -errno. */
	int (*record)(void *s, const void *records, size_t len);
	/* Puts bytes of what waits: 0 or -errno. */
	int (*end)(void *s);
	/* What was put is in the output; or what was put since then is not: calls @lost with the records taken before it
	 * whose bytes are not in the output, and begins anew. @lost may be NULL.
	 */
	void (*written)(void *s);
	void (*lost)(void *s, records_lost_fn lost, void *ctx);
	void (*close)(void *s);		/* NULL is fine */
};

/* One at work, and the bytes of the last call. */
struct stage {
	const struct stage_ops *ops;
	void *s;
	uint8_t *bytes;
	size_t len, cap;
};

/* 0 or -errno, and then it is as if it was not opened: stage_close() is fine. */
int stage_open(struct stage *st, const struct stage_ops *ops);
/* Makes @st->bytes of records, or of what waits. 0 or -errno. */
int stage_take(struct stage *st, const void *records, size_t len);
int stage_end(struct stage *st);
void stage_close(struct stage *st);

#endif
