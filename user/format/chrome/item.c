// SPDX-License-Identifier: GPL-2.0
/*
 * Items one after the other in chunks. Events come and go nearly in the same order, so that chunks
 * become empty as a whole.
 */
#include "item.h"

#include <stdlib.h>
#include <string.h>

#include "bytes.h"

#define CHUNK_BYTES	(64U << 10)

struct item_chunk {
	struct item_chunk *next;	/* of those to be used again */
	size_t used, cap;
	size_t items;
	char data[] __attribute__((aligned(16)));
};

static struct item_chunk *new_chunk(struct item_store *s, size_t size)
{
	struct item_chunk *c = s->empty;
	size_t cap = size > CHUNK_BYTES ? size : CHUNK_BYTES;

	if (c && size <= CHUNK_BYTES) {
		s->empty = c->next;
	} else {
		c = malloc(sizeof(*c) + cap);
		if (!c)
			return NULL;
		c->cap = cap;
	}
	c->used = 0;
	c->items = 0;
	s->bytes += c->cap;
	return c;
}

static void free_chunk(struct item_store *s, struct item_chunk *c)
{
	s->bytes -= c->cap;
	if (c->cap > CHUNK_BYTES) {
		free(c);
		return;
	}
	c->next = s->empty;
	s->empty = c;
}

static void *alloc(struct item_store *s, size_t size)
{
	struct item_chunk *c = s->current;

	if (!c || size > c->cap - c->used) {
		c = new_chunk(s, size);
		if (!c)
			return NULL;
		if (s->current && !s->current->items)
			free_chunk(s, s->current);
		s->current = c;
	}
	c->items++;
	c->used += size;
	return c->data + c->used - size;
}

struct kept_item *item_new(struct item_store *s, const struct chrome_event *e)
{
	size_t head = offsetof(struct kept_item, event.fields), fields = e ? e->fields_cnt * sizeof(e->fields[0]) : 0;
	size_t len = e ? e->len : 0, size = (head + fields + len + CHROME_PAD_BYTES + 15) & ~(size_t)15;
	struct kept_item *item = alloc(s, size);
	char *text;

	if (!item)
		return NULL;
	/* What is before it is set when it is needed. */
	memset(&item->chunk, 0, offsetof(struct kept_item, event) - offsetof(struct kept_item, chunk));
	item->chunk = s->current;
	text = (char *)item + head + fields;
	if (e) {
		memcpy(&item->event, e, offsetof(struct chrome_event, fields) + fields);
		memcpy(text, e->text, len);
	} else {
		memset(&item->event, 0, offsetof(struct chrome_event, fields));
	}
	memset(text + len, '"', CHROME_PAD_BYTES);
	item->event.text = text;
	return item;
}

void item_free(struct item_store *s, struct kept_item *item)
{
	struct item_chunk *c = item->chunk;

	if (--c->items)
		return;
	if (c == s->current)
		c->used = 0;
	else
		free_chunk(s, c);
}

void item_store_fini(struct item_store *s)
{
	struct item_chunk *c;

	while ((c = s->empty)) {
		s->empty = c->next;
		free(c);
	}
	free(s->current);
	*s = (struct item_store){ 0 };
}
