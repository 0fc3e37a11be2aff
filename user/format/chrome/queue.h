/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Items in order of time, for those that are nearly in order already: what is added is sorted in
 * batches, and merged with what is still there.
 */
#ifndef FORMAT_CHROME_QUEUE_H
#define FORMAT_CHROME_QUEUE_H

#include <stddef.h>
#include <stdint.h>

#define QUEUE_ALL	INT64_MAX	/* as a limit of time: everything */

struct kept_item;

struct queue_slot {
	int64_t ts;
	uint64_t rank;
	struct kept_item *item;
};

/* All zero is an empty one. */
struct queue {
	struct queue_slot *slots, *spare;
	size_t first, sorted, cnt;	/* taken before @first; in order before @sorted */
	size_t cap, spare_cap;
};

/* Items of one time and rank stay in the order they are added in. 0 or -ENOMEM. */
int queue_add(struct queue *q, struct kept_item *item);
/* What was added is put in its place; only then is it taken. 0 or -ENOMEM. */
int queue_settle(struct queue *q);
/* Takes the first item if it is before @limit; else NULL. */
struct kept_item *queue_take(struct queue *q, int64_t limit);
void queue_fini(struct queue *q);

#endif
