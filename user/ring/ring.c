// SPDX-License-Identifier: GPL-2.0
/*
 * The reading end of a CPU's ring. The acquire and release here are the partners
 * of store_release() and of the tail's load in bpf/lib/ring.bpf.h.
 */
#include "bpf/abi/ring.h"
#include "cache_flush.h"
#include "ring.h"

uint64_t ring_head(const struct ring *r)
{
	return __atomic_load_n(&r->ctl->head, __ATOMIC_ACQUIRE);
}

/* Whole records from @pos on that lie in one chunk; returns where they end. */
static uint64_t piece_at(const struct ring *r, uint64_t pos, uint64_t head, struct iovec *piece)
{
	const uint64_t chunk_bytes = 1ULL << r->chunk_shift, stride = chunk_bytes + RING_SLACK_BYTES;
	const uint64_t chunk_end = (pos | (chunk_bytes - 1)) + 1;
	const char *chunk = r->data + (pos >> r->chunk_shift) % r->chunks * stride;
	uint64_t len = head - pos;

	if (head >= chunk_end)	/* the last record here runs on into the slack */
		len = chunk_end - pos + *(const uint64_t *)(chunk + stride - 8);
	*piece = (struct iovec){ (void *)(chunk + (pos & (chunk_bytes - 1))), len };
	return pos + len;
}

int ring_pieces(const struct ring *r, uint64_t head, struct iovec *iov)
{
	uint64_t pos = r->ctl->tail;
	int n = 0;

	while (pos < head)
		pos = piece_at(r, pos, head, &iov[n++]);
	return n;
}

void ring_release(struct ring *r, uint64_t head)
{
	uint64_t pos = r->ctl->tail;
	struct iovec piece;

	while (pos < head) {
		pos = piece_at(r, pos, head, &piece);
		cache_flush(piece.iov_base, (const char *)piece.iov_base + piece.iov_len);
	}
	__atomic_store_n(&r->ctl->tail, head, __ATOMIC_RELEASE);
	__atomic_store_n(&r->ctl->notified, 0, __ATOMIC_RELEASE);
}
