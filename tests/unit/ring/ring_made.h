/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Rings in the memory of a test, with records as ring_reserve() and ring_submit() of bpf/lib/ring.bpf.h place them.
 */
#ifndef RING_MADE_H
#define RING_MADE_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "bpf/abi/ring.h"
#include "ring/ring.h"

#define RING_MADE_SHIFT		20
#define RING_MADE_CHUNKS	4
#define RING_MADE_STRIDE	((1UL << RING_MADE_SHIFT) + RING_SLACK_BYTES)
#define RING_MADE_BYTES		(RING_MADE_CHUNKS * RING_MADE_STRIDE)	/* of memory */

/* @ctl is all zero; @memory has RING_MADE_BYTES. */
static inline struct ring ring_made(struct cpu_ctl *ctl, char *memory)
{
	return (struct ring){ ctl, memory, RING_MADE_SHIFT, RING_MADE_CHUNKS };
}

/* False: it is full. */
static inline bool ring_made_put(struct ring *r, const uint64_t *rec, size_t words)
{
	const uint64_t chunk_bytes = 1UL << r->chunk_shift, off = r->ctl->head & (chunk_bytes - 1), bytes = words * 8;
	char *chunk = (char *)r->data + (r->ctl->head >> r->chunk_shift) % r->chunks * RING_MADE_STRIDE;

	if (r->ctl->head + bytes - r->ctl->tail > r->chunks * chunk_bytes)
		return false;
	if (off + bytes >= chunk_bytes)
		*(uint64_t *)(chunk + RING_MADE_STRIDE - 8) = off + bytes - chunk_bytes;
	memcpy(chunk + off, rec, bytes);
	r->ctl->head += bytes;
	return true;
}

#endif
