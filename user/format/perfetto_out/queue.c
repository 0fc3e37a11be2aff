// SPDX-License-Identifier: GPL-2.0
/*
 * Sorting scheduling records, which come as runs of ascending times.
 */
#include "queue.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "format/perfetto/fields.h"
#include "fxt/format.h"
#include "tasks.h"

#define DUE_ITEMS	4096U		/* more each time: bundles of a few hundred events on a machine of some CPUs */
#define DUE_NS		500000000ULL	/* or as much time */
#define WAIT_ITEMS	65536U		/* no longer than these */
#define WAIT_NS		1500000000ULL	/* or so long, where no round ends: one ring has all records */

void out_queue_init(struct out_queue *q)
{
	*q = (struct out_queue){ .ring = OUT_NO_CPU, .first_ring = OUT_NO_CPU, .due_cnt = DUE_ITEMS };
}

void out_queue_fini(struct out_queue *q)
{
	free(q->items);
	free(q->spare);
	free(q->records);
}

/* ---- rounds ----------------------------------------------------------------------- */

static bool test_and_set(uint64_t *bits, unsigned int i)
{
	const bool was = bits[i / 64] >> i % 64 & 1;

	bits[i / 64] |= 1ULL << i % 64;
	return was;
}

/*
 * Wakeups between two switches of one CPU, in order of time with these, are from the ring of that CPU: so
 * they happened there.
 */
static void place_wakeups(struct out_queue *q, const struct out_sched *next)
{
	for (; q->unplaced < q->cnt; q->unplaced++) {
		struct out_sched *item = &q->items[q->unplaced];

		if (item->kind == OUT_SCHED_WAKEUP && next->cpu == q->ring && item->ts_ns >= q->ring_ns &&
		    item->ts_ns <= next->ts_ns)
			item->ring = next->cpu;
	}
}

static uint64_t later(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* The one before is over. */
static void begin_round(struct out_queue *q, uint16_t cpu)
{
	q->settled_ns = later(q->settled_ns, later(q->round_ns, q->first_ns));
	q->round_ns = q->newest_ns;
	q->first_ring = cpu;
	memset(q->in_round, 0, sizeof(q->in_round));
	test_and_set(q->in_round, cpu);
}

static void note_switch(struct out_queue *q, const struct out_sched *item)
{
	place_wakeups(q, item);
	if (item->cpu != q->ring && test_and_set(q->in_round, item->cpu))
		begin_round(q, item->cpu);
	if (q->first_ring == OUT_NO_CPU)
		q->first_ring = item->cpu;
	if (item->cpu == q->first_ring)
		q->first_ns = item->ts_ns;
	q->ring = item->cpu;
	q->ring_ns = item->ts_ns;
}

int out_queue_add(struct out_queue *q, const struct out_sched *item)
{
	if (array_reserve(q->items, q->cnt, q->cap, 1))
		return -ENOMEM;
	/* Marks of threads that do not run are all written at once. */
	if (item->kind == OUT_SCHED_SWITCH && item->mark != PF_MARK_STATE)
		note_switch(q, item);
	q->items[q->cnt++] = *item;
	if (q->newest_ns < item->ts_ns)
		q->newest_ns = item->ts_ns;
	if (item->kind == OUT_SCHED_SWITCH)
		q->unplaced = q->cnt;
	return 0;
}

bool out_queue_is_due(const struct out_queue *q)
{
	if (!q->cnt || q->cnt >= WAIT_ITEMS || q->newest_ns - q->items[0].ts_ns > WAIT_NS)
		return q->cnt;
	return q->items[0].ts_ns < q->settled_ns &&
	       (q->cnt >= q->due_cnt || q->settled_ns - q->items[0].ts_ns > DUE_NS);
}

/* ---- sorting ---------------------------------------------------------------------- */

/* The end of the run of ascending times that begins with the @at'th. */
static size_t run_end(const struct out_queue *q, size_t at)
{
	for (at++; at < q->cnt && q->items[at].ts_ns >= q->items[at - 1].ts_ns; at++)
		;
	return at;
}

static void merge(const struct out_sched *a, const struct out_sched *a_end, const struct out_sched *b,
		  const struct out_sched *b_end, struct out_sched *to)
{
	while (a < a_end && b < b_end)
		*to++ = a->ts_ns <= b->ts_ns ? *a++ : *b++;
	while (a < a_end)
		*to++ = *a++;
	while (b < b_end)
		*to++ = *b++;
}

/* Merges each two runs that follow one another; returns how many there were. */
static size_t merge_runs(struct out_queue *q)
{
	size_t at = 0, middle, end, runs = 0;

	while (at < q->cnt) {
		middle = run_end(q, at);
		end = middle < q->cnt ? run_end(q, middle) : middle;
		merge(q->items + at, q->items + middle, q->items + middle, q->items + end, q->spare + at);
		runs += 1 + (end > middle);
		at = end;
	}
	return runs;
}

static void swap(struct out_queue *q)
{
	struct out_sched *items = q->items;
	size_t cap = q->cap;

	q->items = q->spare;
	q->cap = q->spare_cap;
	q->spare = items;
	q->spare_cap = cap;
}

/* The first place whose time is not below @ts_ns. */
static size_t find(const struct out_queue *q, uint64_t ts_ns)
{
	size_t low = 0, high = q->cnt, middle;

	while (low < high) {
		middle = low + (high - low) / 2;
		if (q->items[middle].ts_ns < ts_ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

int out_queue_sort(struct out_queue *q, bool all, size_t *ready)
{
	if (array_reserve(q->spare, 0, q->spare_cap, q->cnt))
		return -ENOMEM;
	while (run_end(q, 0) < q->cnt && merge_runs(q) > 1)
		swap(q);
	q->unplaced = q->cnt;
	*ready = all ? q->cnt : find(q, q->settled_ns);
	if (q->cnt && !*ready && (q->cnt >= WAIT_ITEMS || q->newest_ns - q->items[0].ts_ns > WAIT_NS))
		*ready = q->cnt;
	return 0;
}

void out_queue_drop(struct out_queue *q, size_t cnt)
{
	if (cnt)
		memmove(q->items, q->items + cnt, (q->cnt - cnt) * sizeof(*q->items));
	q->cnt -= cnt;
	q->unplaced = q->cnt;
	q->due_cnt = q->cnt + DUE_ITEMS;
}

/* ---- records ---------------------------------------------------------------------- */

int out_queue_keep(struct out_queue *q, const uint64_t *words, size_t cnt)
{
	uint64_t *to;

	cnt = cnt < OUT_RECORD_WORDS ? cnt : OUT_RECORD_WORDS;
	if (q->records_cnt > UINT32_MAX - cnt || array_reserve(q->records, q->records_cnt, q->records_cap, cnt))
		return -ENOMEM;
	to = q->records + q->records_cnt;
	memcpy(to, words, cnt * sizeof(*to));
	to[0] = (to[0] & ~FXT_PUT(UINT64_MAX, FXT_F_SIZE)) | FXT_PUT(cnt, FXT_F_SIZE);
	q->items[q->cnt - 1].record = (uint32_t)q->records_cnt;
	q->records_cnt += cnt;
	return 0;
}

int out_queue_written(struct out_queue *q)
{
	uint64_t *left = NULL;
	size_t cnt = 0, cap = 0, i, words;

	if (q->cnt && array_reserve(left, 0, cap, q->cnt * OUT_RECORD_WORDS))
		return -ENOMEM;
	for (i = 0; i < q->cnt; i++) {
		words = FXT_GET(q->records[q->items[i].record], FXT_F_SIZE);
		memcpy(left + cnt, q->records + q->items[i].record, words * sizeof(*left));
		q->items[i].record = (uint32_t)cnt;
		cnt += words;
	}
	free(q->records);
	q->records = left;
	q->records_cnt = q->waited_cnt = cnt;
	q->records_cap = cap;
	return 0;
}

void out_queue_clear(struct out_queue *q)
{
	q->cnt = q->unplaced = q->records_cnt = q->waited_cnt = 0;
	q->due_cnt = DUE_ITEMS;
	q->ring = OUT_NO_CPU;
}
