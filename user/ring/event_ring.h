/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The reading end of one CPU's event ring (bpf/lib/event_ring.bpf.h writes it): one
 * reader, who walks from record to record and gives back what it walked over.
 */
#ifndef RING_EVENT_RING_H
#define RING_EVENT_RING_H

#include <linux/types.h>
#include <stdint.h>

struct event_ring {
	/* Shared with the CPU's programs: bytes ever reserved, bytes ever taken out, whether the drain was notified. */
	__u64 *reserved, *tail;
	__u32 *notified;
	char *data;		/* the first chunk; writable, as what is taken is zeroed */
	uint32_t chunk_shift;	/* bytes of a chunk, without its slack: 1 << chunk_shift */
	uint32_t chunks;	/* a power of two */
	uint32_t slack_bytes;	/* after each chunk */
	uint64_t pos;		/* walked so far */
	uint64_t head;		/* how far to walk */
};

/* What has been claimed by now is what event_ring_next() will yield. */
void event_ring_look(struct event_ring *r);
/*
 * The next record, complete and in place until event_ring_release(); NULL: no more, or
 * it is still being written. Its length is in its header.
 */
uint64_t *event_ring_next(struct event_ring *r);
/* Gives everything walked over back to the CPU and lets it ring again. */
void event_ring_release(struct event_ring *r);

#endif
