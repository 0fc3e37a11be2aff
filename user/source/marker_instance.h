/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A tracefs instance of our own that gets a copy of every marker (option copy_trace_marker, since
 * 6.16): costs nothing while nobody writes any.
 */
#ifndef SOURCE_MARKER_INSTANCE_H
#define SOURCE_MARKER_INSTANCE_H

#include <stdint.h>

#include "marker_page.h"

struct marker_copy;

/*
 * Makes it, and removes those of recorders that were killed. 0, -ENOTSUP where the
 * kernel makes no such copies, or another -errno.
 */
int marker_copy_open(struct marker_copy **out);
/* Copies from now on what is written on these CPUs, into @bytes of memory for each. 0 or -errno. */
int marker_copy_begin(struct marker_copy *c, const uint32_t *cpus, unsigned int cpus_cnt, uint64_t bytes);
/* Readable when a buffer is half full. */
int marker_copy_fd(const struct marker_copy *c);
/* Hands over what there is; the text is borrowed. What @take returns, if that is not 0, ends it. */
int marker_copy_read(struct marker_copy *c, int (*take)(void *ctx, const struct page_marker *m), void *ctx);
/* No more copies. */
void marker_copy_end(struct marker_copy *c);
/* Markers of the @i'th CPU that were overwritten before they could be read, as far as has been read. */
uint64_t marker_copy_lost(const struct marker_copy *c, unsigned int i);
/* Removes it. NULL is fine. */
void marker_copy_close(struct marker_copy *c);

#endif
