/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A tracefs instance of our own that gets a copy of every marker (option copy_trace_marker, since
 * 6.16): costs nothing while nobody writes any.
 */
#ifndef SOURCE_MARKER_INSTANCE_H
#define SOURCE_MARKER_INSTANCE_H

#include <stdbool.h>
#include <stdint.h>

#include "marker_helper.h"
#include "marker_page.h"

struct marker_instance;

/*
 * Begins to make it, by a process of its own. 0, -ENOTSUP where the kernel makes no such copies,
 * or another -errno.
 */
int marker_instance_open(struct marker_instance **out);
/*
 * Copies from now on what is written on these CPUs, into @bytes of memory for each. 0 or -errno; also 0
 * where the kernel lets it wait: copies then begin later, or never.
 */
int marker_instance_begin(struct marker_instance *c, const uint32_t *cpus, unsigned int cpus_cnt, uint64_t bytes);
/*
 * Whether copies were not there from the beginning on; then @since_ns is the time since which they are
 * or, 0, there are none, @why saying what is waited for or what failed.
 */
bool marker_instance_late(const struct marker_instance *c, uint64_t *since_ns, char why[SOURCE_WHY_BYTES]);
/* Readable when a buffer is half full, or copies have begun late. */
int marker_instance_fd(const struct marker_instance *c);
/* Hands over what there is; the text is borrowed. What @take returns, if that is not 0, ends it. */
int marker_instance_read(struct marker_instance *c, int (*take)(void *ctx, const struct page_marker *m), void *ctx);
/* No more copies. */
void marker_instance_end(struct marker_instance *c);
/* Markers of the @i'th CPU that were overwritten before they could be read, as far as has been read. */
uint64_t marker_instance_lost(const struct marker_instance *c, unsigned int i);
/* Has it removed; where the kernel lets that wait, a process does so later. NULL is fine. */
void marker_instance_close(struct marker_instance *c);

#endif
