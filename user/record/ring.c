// SPDX-License-Identifier: GPL-2.0
/*
 * The reading end of a CPU's ring. The acquire and release here are the partners
 * of store_release() and of the tail's load in bpf/ring.bpf.h.
 */
#include "ring.h"

uint64_t ring_head(const struct ring *r)
{
	return __atomic_load_n(&r->ctl->head, __ATOMIC_ACQUIRE);
}

uint64_t ring_fill(const struct ring *r)
{
	return ring_head(r) - r->ctl->tail;
}

int ring_pieces(const struct ring *r, uint64_t head, struct iovec *iov)
{
	const uint64_t chunk_bytes = 1ULL << r->chunk_shift, stride = chunk_bytes + RING_SLACK_BYTES;
	uint64_t pos = r->ctl->tail, len, chunk_end;
	const char *chunk;
	int n = 0;

	while (pos < head) {
		chunk = r->data + (pos >> r->chunk_shift) % r->chunks * stride;
		chunk_end = (pos | (chunk_bytes - 1)) + 1;
		len = head - pos;
		if (head >= chunk_end)	/* the last record here runs on into the slack */
			len = chunk_end - pos + *(const uint64_t *)(chunk + stride - 8);
		iov[n].iov_base = (void *)(chunk + (pos & (chunk_bytes - 1)));
		iov[n++].iov_len = len;
		pos += len;
	}
	return n;
}

void ring_release(struct ring *r, uint64_t head)
{
	__atomic_store_n(&r->ctl->tail, head, __ATOMIC_RELEASE);
	__atomic_store_n(&r->ctl->rung, 0, __ATOMIC_RELEASE);
}
