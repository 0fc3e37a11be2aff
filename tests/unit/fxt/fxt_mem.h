/* SPDX-License-Identifier: BSD-2-Clause */
/* Sinks and sources in memory for the tests of libfxt. */
#ifndef FXT_MEM_H
#define FXT_MEM_H

#include <stddef.h>

#include "fxt/fxt.h"

/* A sink that keeps what it is given. */
struct fxt_mem {
	unsigned char *data;
	size_t len, cap;
	int fail;			/* what it returns from now on, unless 0 */
};

int fxt_mem_write(void *ctx, const void *data, size_t len);
void fxt_mem_free(struct fxt_mem *m);

/* A source that gives at most @chunk bytes (0: all) at a time. */
struct fxt_mem_source {
	const unsigned char *data;
	size_t len, pos, chunk;
	int err;			/* -errno for every second call, or 0 */
	unsigned int calls;
};

long fxt_mem_read(void *ctx, void *buf, size_t len);

#endif
