// SPDX-License-Identifier: GPL-2.0
/*
 * A sorted array that is taken from at its front, and a batch after it.
 */
#include "queue.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "item.h"

#define INSERT_MAX	8U	/* slots that are sorted by insertion */
#define FETCHED_BEFORE	4U	/* slots */

static inline bool is_after(const struct queue_slot *a, const struct queue_slot *b)
{
	return a->ts != b->ts ? a->ts > b->ts : a->rank > b->rank;
}

int queue_add(struct queue *q, struct kept_item *item)
{
	if (array_reserve(q->slots, q->cnt, q->cap, 1))
		return -ENOMEM;
	q->slots[q->cnt++] = (struct queue_slot){ .ts = item->ts_ns, .rank = item->rank, .item = item };
	return 0;
}

/* What was taken is forgotten. */
static void close_up(struct queue *q)
{
	if (!q->first)
		return;
	memmove(q->slots, q->slots + q->first, (q->cnt - q->first) * sizeof(*q->slots));
	q->cnt -= q->first;
	q->sorted -= q->first;
	q->first = 0;
}

static void insertion_sort(struct queue_slot *slots, size_t cnt)
{
	size_t i, j;

	for (i = 1; i < cnt; i++) {
		struct queue_slot slot = slots[i];

		for (j = i; j && is_after(&slots[j - 1], &slot); j--)
			slots[j] = slots[j - 1];
		slots[j] = slot;
	}
}

/*
 * The first @half of @cnt slots and the others are in order: all of them. From the back, with the
 * others in @spare, so that what is in its place already is not touched.
 */
static void merge(struct queue_slot *slots, struct queue_slot *spare, size_t half, size_t cnt)
{
	size_t a = half, b = cnt - half;

	if (!half || !b || !is_after(&slots[half - 1], &slots[half]))
		return;
	memcpy(spare, slots + half, b * sizeof(*spare));
	while (a && b) {
		if (is_after(&slots[a - 1], &spare[b - 1])) {
			a--;
			slots[a + b] = slots[a];
		} else {
			b--;
			slots[a + b] = spare[b];
		}
	}
	memcpy(slots, spare, b * sizeof(*slots));
}

static void sort(struct queue_slot *slots, struct queue_slot *spare, size_t cnt)
{
	size_t width, i;

	for (i = 0; i < cnt; i += INSERT_MAX)
		insertion_sort(slots + i, cnt - i < INSERT_MAX ? cnt - i : INSERT_MAX);
	for (width = INSERT_MAX; width < cnt; width *= 2)
		for (i = 0; i + width < cnt; i += 2 * width)
			merge(slots + i, spare, width, cnt - i < 2 * width ? cnt - i : 2 * width);
}

int queue_settle(struct queue *q)
{
	size_t added = q->cnt - q->sorted;

	if (!added)
		return 0;
	if (array_reserve(q->spare, 0, q->spare_cap, added))
		return -ENOMEM;
	if (q->first > (q->cnt - q->first) / 2)
		close_up(q);
	sort(q->slots + q->sorted, q->spare, added);
	merge(q->slots + q->first, q->spare, q->sorted - q->first, q->cnt - q->first);
	q->sorted = q->cnt;
	return 0;
}

struct kept_item *queue_take(struct queue *q, int64_t limit)
{
	if (q->first == q->sorted || (q->slots[q->first].ts >= limit && limit != QUEUE_ALL))
		return NULL;
	/* Items are too many to be still in the nearest cache. */
	if (q->first + FETCHED_BEFORE < q->sorted)
		__builtin_prefetch(q->slots[q->first + FETCHED_BEFORE].item);
	return q->slots[q->first++].item;
}

void queue_fini(struct queue *q)
{
	free(q->slots);
	free(q->spare);
	*q = (struct queue){ 0 };
}
