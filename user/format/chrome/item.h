/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Events that are kept in memory as they were split, so that they need not be split again: in
 * chunks, each of which is given back with the last of its items.
 */
#ifndef FORMAT_CHROME_ITEM_H
#define FORMAT_CHROME_ITEM_H

#include "event.h"
#include "model/open_stack.h"

struct item_chunk;

/* An event, or what is made of one, until it is played. */
struct kept_item {
	struct open_node open;		/* of an open slice: among those of its track or id */
	struct item_chunk *chunk;
	struct kept_item *older, *younger;	/* of an open slice: of all tracks, by time of begin */
	struct kept_item *end;	/* of a slice that ended: its end, NULL if there is nothing in it */
	int64_t ts_ns, duration_ns;	/* duration below 0: none is known */
	uint64_t rank;
	uint32_t track, kind;		/* enum record_kind */
	struct chrome_event event;	/* with fields_cnt of its fields only; its text is after them */
};

/* All zero is an empty store. */
struct item_store {
	struct item_chunk *current, *empty;	/* where items are added; a list of those to be used again */
	size_t bytes;		/* of chunks with items in them */
};

/* Copies @e, NULL: an event without members. All between @open and it is 0. NULL: no memory. */
struct kept_item *item_new(struct item_store *s, const struct chrome_event *e);
void item_free(struct item_store *s, struct kept_item *item);
/* Its items must be freed before. */
void item_store_fini(struct item_store *s);

#endif
