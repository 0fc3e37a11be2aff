/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The reading end of one CPU's event ring (bpf/event_ring.bpf.h writes it): one
 * reader, who walks from record to record and gives back what it walked over.
 */
#ifndef RECORD_EVENT_RING_H
#define RECORD_EVENT_RING_H

#include <stdint.h>

#include "../../bpf/session.h"

struct event_ring {
	struct cpu_ctl *ctl;	/* shared with the CPU's programs */
	char *data;		/* the first chunk; writable, as what is taken is zeroed */
	uint32_t chunk_shift;	/* bytes of a chunk, without its slack: 1 << chunk_shift */
	uint32_t chunks;	/* a power of two */
	uint64_t pos;		/* walked so far */
	uint64_t head;		/* how far to walk */
};

/* What has been claimed by now is what event_ring_next() will yield. */
void event_ring_look(struct event_ring *r);
/*
 * The next record, complete and in place until event_ring_release(); NULL: no more, or
 * it is still being written. Its length stands in its header.
 */
uint64_t *event_ring_next(struct event_ring *r);
/* Gives everything walked over back to the CPU and lets it ring again. */
void event_ring_release(struct event_ring *r);

#endif
