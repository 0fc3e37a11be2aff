// SPDX-License-Identifier: GPL-2.0
/*
 * Async slices.
 *
 * Viewers have one namespace of ids for a whole trace and name a track after the
 * first slice of an id. So an id is given to one begin of one name and no other.
 */
#include "core.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define ASYNCS_MAX	65536U		/* open at a time; more are not ended */

/* One that is open; its name and, after it, its category. */
struct async {
	struct async *below;	/* begun before it, of the same key */
	uint64_t id;
	struct fxt_thread at;
	uint32_t name_len, category_len;
	char text[];
};

static struct fxt_str name_of(const struct async *a)
{
	return fxt_str_n(a->text, a->name_len);
}

static struct fxt_str category_of(const struct async *a)
{
	return fxt_str_n(a->text + a->name_len, a->category_len);
}

static void copy_text(char *to, struct fxt_str from)
{
	if (from.len)
		memcpy(to, from.data, from.len);
}

static int open_async(struct builder *b, uint64_t key, struct fxt_event *e)
{
	struct async *a = malloc(sizeof(*a) + e->name.len + e->category.len);

	if (!a)
		return -ENOMEM;
	*a = (struct async){
		.below = id_table_get(&b->asyncs, key), .id = ++b->async_ids, .at = e->thread,
		.name_len = (uint32_t)e->name.len, .category_len = (uint32_t)e->category.len,
	};
	copy_text(a->text, e->name);
	copy_text(a->text + a->name_len, e->category);
	if (id_table_put(&b->asyncs, key, a)) {
		free(a);
		return -ENOMEM;
	}
	b->asyncs_cnt++;
	e->id = a->id;
	return 0;
}

/* Takes @a out of those of @key. */
static void close_async(struct builder *b, uint64_t key, struct async *a)
{
	struct async *top = id_table_get(&b->asyncs, key), *above = top;

	while (above != a && above->below != a)
		above = above->below;
	if (above != a)
		above->below = a->below;
	else if (a->below)
		id_table_put(&b->asyncs, key, a->below);	/* replaces: no memory is needed */
	else
		id_table_remove(&b->asyncs, key);
	b->asyncs_cnt--;
	free(a);
}

int async_push(struct builder *b, struct fxt_event *e, uint64_t key, const struct fxt_arg *args, unsigned int n)
{
	int err = 0;

	e->type = FXT_ASYNC_BEGIN;
	if (b->asyncs_cnt < ASYNCS_MAX)
		err = open_async(b, key, e);
	else
		e->type = FXT_INSTANT;
	if (!err)
		err = build_event(b, e, args, n);
	return err ? err : e->type == FXT_INSTANT ? OUT_INSTANT : OUT_SLICE;
}

int async_begin(struct builder *b, struct fxt_event *e, uint64_t key, const struct fxt_arg *args,
		unsigned int n)
{
	struct async *again = id_table_get(&b->asyncs, key | 1);

	if (again && b->asyncs_cnt < ASYNCS_MAX) {
		b->stats.closed_slices++;	/* begun again before its end */
		close_async(b, key | 1, again);
	}
	return async_push(b, e, key | 1, args, n);
}

/* OUT_UNMATCHED: written as an instant. */
static int end_async(struct builder *b, struct fxt_event *e, uint64_t key, struct async *a,
		     const struct fxt_arg *args, unsigned int n)
{
	int err;

	e->type = a ? FXT_ASYNC_END : FXT_INSTANT;
	if (a) {
		e->id = a->id;
		e->name = name_of(a);
		e->category = category_of(a);
	}
	err = build_event(b, e, args, n);
	if (a)
		close_async(b, key, a);
	return err ? err : a ? OUT_SLICE : OUT_UNMATCHED;
}

int async_end(struct builder *b, struct fxt_event *e, uint64_t key, const struct fxt_arg *args,
	      unsigned int n)
{
	return end_async(b, e, key | 1, id_table_get(&b->asyncs, key | 1), args, n);
}

int async_pop(struct builder *b, struct fxt_event *e, uint64_t key, const struct fxt_arg *args, unsigned int n)
{
	struct async *a = id_table_get(&b->asyncs, key);

	while (a && e->name.len && (a->name_len != e->name.len || memcmp(a->text, e->name.data, e->name.len) != 0))
		a = a->below;
	return end_async(b, e, key, a, args, n);
}

uint64_t async_open_id(const struct builder *b, uint64_t key)
{
	const struct async *a = id_table_get(&b->asyncs, key);

	return a ? a->id : 0;
}

static int end_at_last(struct builder *b, const struct async *a)
{
	const struct fxt_event e = {
		.type = FXT_ASYNC_END, .ts = b->now, .thread = a->at, .id = a->id,
		.category = category_of(a), .name = name_of(a),
	};
	int err = fxt_write_event(b->w, &e, NULL, 0);

	b->stats.events += !err;
	b->stats.closed_slices++;
	return err;
}

int asyncs_close(struct builder *b)
{
	struct async *a, *below;
	size_t i;
	int err = 0;

	for (i = 0; i < b->asyncs.cap; i++) {
		for (a = b->asyncs.slots[i].value; a; a = below) {
			below = a->below;
			err = err || b->recorded ? err : end_at_last(b, a);
			free(a);
		}
	}
	id_table_fini(&b->asyncs);
	b->asyncs_cnt = 0;
	return err;
}

void asyncs_fini(struct builder *b)
{
	struct async *a, *below;
	size_t i;

	for (i = 0; i < b->asyncs.cap; i++) {
		for (a = b->asyncs.slots[i].value; a; a = below) {
			below = a->below;
			free(a);
		}
	}
	id_table_fini(&b->asyncs);
}
