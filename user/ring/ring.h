/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The reading end of one CPU's ring (bpf/lib/ring.bpf.h writes it): one reader, no
 * copies. Records are taken where they lie and given back once written.
 */
#ifndef RING_RING_H
#define RING_RING_H

#include <stdint.h>
#include <sys/uio.h>

#include "bpf/abi/ctl.h"

struct ring {
	struct cpu_ctl *ctl;	/* shared with the CPU's programs */
	const char *data;	/* the first chunk */
	uint32_t chunk_shift;	/* bytes of a chunk, without its slack: 1 << chunk_shift */
	uint32_t chunks;	/* a power of two */
};

/* The bytes ever written: everything before is readable. */
uint64_t ring_head(const struct ring *r);
/*
 * The records between the tail and @head (an earlier ring_head()), as at most
 * chunks + 1 pieces of whole records; returns how many.
 */
int ring_pieces(const struct ring *r, uint64_t head, struct iovec *iov);
/* Gives everything before @head back to the CPU and lets it ring again. */
void ring_release(struct ring *r, uint64_t head);

#endif
