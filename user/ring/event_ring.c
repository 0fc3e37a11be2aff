// SPDX-License-Identifier: GPL-2.0
/*
 * The reading end of a CPU's event ring. The acquire of a record's first word is the
 * partner of event_submit()'s release; the release of the tail is that of
 * event_reserve()'s look at it: by then what was walked over is zero again.
 */
#include <string.h>

#include "fxt/format.h"
#include "cache_flush.h"
#include "event_ring.h"

static uint64_t *record_at(const struct event_ring *r, uint64_t pos)
{
	const uint64_t chunk_bytes = 1ULL << r->chunk_shift;

	return (uint64_t *)(r->data + (pos >> r->chunk_shift) % r->chunks * (chunk_bytes + r->slack_bytes) +
			    (pos & (chunk_bytes - 1)));
}

static uint64_t record_bytes(const uint64_t *rec)
{
	return FXT_GET(*rec, FXT_F_SIZE) * 8;
}

void event_ring_look(struct event_ring *r)
{
	r->head = __atomic_load_n(r->reserved, __ATOMIC_ACQUIRE);
}

uint64_t *event_ring_next(struct event_ring *r)
{
	uint64_t *rec;

	if (r->pos >= r->head)	/* beyond: a record was trimmed since we looked, others came after it */
		return NULL;
	rec = record_at(r, r->pos);
	if (!__atomic_load_n(rec, __ATOMIC_ACQUIRE))
		return NULL;	/* claimed, not yet written */
	r->pos += record_bytes(rec);
	return rec;
}

void event_ring_release(struct event_ring *r)
{
	uint64_t tail = *r->tail, bytes;
	uint64_t *rec;

	for (; tail != r->pos; tail += bytes) {
		rec = record_at(r, tail);
		bytes = record_bytes(rec);
		memset(rec, 0, bytes);
		cache_flush(rec, (const char *)rec + bytes);
	}
	__atomic_store_n(r->tail, tail, __ATOMIC_RELEASE);
	__atomic_store_n(r->notified, 0, __ATOMIC_RELEASE);
}
