/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Events in order of time. Trace Event JSON is in no order, and what a slice is in is known
 * only in order. Sorted by sort.h, which says what memory that takes.
 */
#ifndef FORMAT_CHROME_ORDER_H
#define FORMAT_CHROME_ORDER_H

#include <stddef.h>
#include <stdint.h>

#include "model/sort.h"

#define CHROME_ORDER_BYTES	EVENT_SORT_BYTES

struct chrome_order;

/* Ordered by @ts_ns, then @rank, then as they were added. */
struct chrome_record {
	int64_t ts_ns;
	uint64_t rank;
	uint32_t track;		/* @track, @kind: the caller's */
	uint32_t kind;
	uint32_t len;
	/*
	 * @len bytes. Those that are handed out last until the next call; after them are quotes, as
	 * many as CHROME_PAD_BYTES says.
	 */
	const char *text;
};

/* 0 or -ENOMEM. @bytes of memory, CHROME_ORDER_BYTES but in tests. */
int chrome_order_open(struct chrome_order **out, size_t bytes);
/* Copies it. 0 or an error of event_sort_add(). */
int chrome_order_add(struct chrome_order *o, const struct chrome_record *record);
/* The next in order; the first call ends the adding. 1, 0 after the last, or -errno. */
int chrome_order_next(struct chrome_order *o, struct chrome_record *record);
/* How many runs went to the file. */
unsigned int chrome_order_runs(const struct chrome_order *o);
/* NULL is fine. */
void chrome_order_close(struct chrome_order *o);

#endif
