/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Sorting more than there is memory for: items are collected and sorted in runs; if there is more
 * than one run, they go to a temporary file and are merged when they are read back. Stable.
 *
 * Memory: EVENT_SORT_BYTES at most while items are added, more only for an item that is longer;
 * as much at most while they are read, but at least 4 KiB for each run, and up to twice the longest
 * item of a run whose items are longer than its share.
 */
#ifndef MODEL_SORT_H
#define MODEL_SORT_H

#include <stddef.h>
#include <stdint.h>

#define EVENT_SORT_BYTES	(16U << 20)

/* Items are in order of @group, then @ts, then @rank, then as they were added. */
struct event_sort_key {
	uint64_t ts;
	uint64_t rank;
	uint32_t group;
};

struct event_sort_item {
	struct event_sort_key key;
	const void *data;	/* until the next item is asked for */
	size_t len;
};

struct event_sort;

/* @run_bytes of memory, EVENT_SORT_BYTES but in tests. *@out is untouched on failure (-ENOMEM). */
int event_sort_open(struct event_sort **out, size_t run_bytes);
/*
 * Copies an item. 0, -ENOMEM, -EMSGSIZE above 2^31 bytes, -EINVAL once an item was asked for, or
 * -errno of the temporary file.
 */
int event_sort_add(struct event_sort *s, struct event_sort_key key, const void *data, size_t len);
/* The same for an item whose @len bytes at *@data are filled in before the next call. */
int event_sort_add_empty(struct event_sort *s, struct event_sort_key key, size_t len, void **data);
/* The next item in order: 1, 0 at the end, or -errno. */
int event_sort_next(struct event_sort *s, struct event_sort_item *item);
/* How many runs went to the temporary file. */
unsigned int event_sort_runs(const struct event_sort *s);
/* NULL is fine. */
void event_sort_close(struct event_sort *s);

#endif
