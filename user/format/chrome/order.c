// SPDX-License-Identifier: GPL-2.0
/*
 * Records as items of a sort.
 */
#include "order.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "bytes.h"

/* Begins the data of an item; the text and CHROME_PAD_BYTES quotes follow. */
struct head {
	uint32_t track, kind;
};

#define AROUND_TEXT	(sizeof(struct head) + CHROME_PAD_BYTES)
#define TS_BIAS		((uint64_t)1 << 63)	/* makes times before 0 the smaller ones */

struct chrome_order {
	struct event_sort *sort;
};

int chrome_order_open(struct chrome_order **out, size_t bytes)
{
	struct chrome_order *o = calloc(1, sizeof(*o));
	int err = o ? event_sort_open(&o->sort, bytes) : -ENOMEM;

	if (err)
		free(o);
	else
		*out = o;
	return err;
}

int chrome_order_add(struct chrome_order *o, const struct chrome_record *r)
{
	const struct event_sort_key key = { .ts = (uint64_t)r->ts_ns ^ TS_BIAS, .rank = r->rank };
	const struct head head = { .track = r->track, .kind = r->kind };
	void *data;
	char *text;
	int err = event_sort_add_empty(o->sort, key, r->len + AROUND_TEXT, &data);

	if (err)
		return err;
	memcpy(data, &head, sizeof(head));
	text = (char *)data + sizeof(head);
	if (r->len)
		memcpy(text, r->text, r->len);
	memset(text + r->len, '"', CHROME_PAD_BYTES);
	return 0;
}

int chrome_order_next(struct chrome_order *o, struct chrome_record *r)
{
	struct event_sort_item item;
	struct head head;
	int got = event_sort_next(o->sort, &item);

	if (got <= 0)
		return got;
	memcpy(&head, item.data, sizeof(head));
	*r = (struct chrome_record){
		.ts_ns = (int64_t)(item.key.ts ^ TS_BIAS), .rank = item.key.rank, .track = head.track, .kind = head.kind,
		.len = (uint32_t)(item.len - AROUND_TEXT), .text = (const char *)item.data + sizeof(head),
	};
	return 1;
}

unsigned int chrome_order_runs(const struct chrome_order *o)
{
	return event_sort_runs(o->sort);
}

void chrome_order_close(struct chrome_order *o)
{
	if (!o)
		return;
	event_sort_close(o->sort);
	free(o);
}
