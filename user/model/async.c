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

#define ASYNCS_MAX	65536U		/* open at a time; more are instants */

/* One that is open; its name and, after it, its category. */
struct async {
	struct open_node open;	/* among those of its key */
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

/* Of an end. */
static uint64_t name_key(uint64_t key, const struct fxt_event *e)
{
	return e->name.len ? open_name(key, e->name.data, e->name.len) : 0;
}

static int open_async(struct builder *b, uint64_t key, struct fxt_event *e)
{
	struct async *a = malloc(sizeof(*a) + e->name.len + e->category.len);
	struct open_node *top = id_table_get(&b->asyncs, key);

	if (!a)
		return -ENOMEM;
	*a = (struct async){
		.open.name = open_name(key, e->name.data, e->name.len), .id = ++b->async_ids, .at = e->thread,
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
	return open_push(&b->async_names, &top, &a->open);
}

/* Takes the last of @key out, or if @name is not 0 the last of that or of no name; *@a NULL: there is none. 0 or -ENOMEM. */
static int close_async(struct builder *b, uint64_t key, uint64_t name, struct async **a)
{
	struct open_node *top = id_table_get(&b->asyncs, key), *node;
	int err = open_pop(&b->async_names, &top, name, open_name(key, "", 0), &node);

	*a = (struct async *)node;
	if (err || !node)
		return err;
	if (top)
		id_table_put(&b->asyncs, key, top);	/* replaces: no memory is needed */
	else
		id_table_remove(&b->asyncs, key);
	b->asyncs_cnt--;
	return 0;
}

int async_push(struct builder *b, struct fxt_event *e, uint64_t key, const struct fxt_arg *args, unsigned int n)
{
	int err = 0;

	e->type = FXT_ASYNC_BEGIN;
	if (b->asyncs_cnt < ASYNCS_MAX)
		err = open_async(b, key, e);
	else
		e->type = FXT_INSTANT;
	b->stats.crowded += e->type == FXT_INSTANT;
	if (!err)
		err = build_event(b, e, args, n);
	return err ? err : e->type == FXT_INSTANT ? OUT_INSTANT : OUT_SLICE;
}

int async_begin(struct builder *b, struct fxt_event *e, uint64_t key, const struct fxt_arg *args,
		unsigned int n)
{
	struct async *again = NULL;
	int err = b->asyncs_cnt < ASYNCS_MAX ? close_async(b, key | 1, 0, &again) : 0;

	if (err)
		return err;
	b->stats.closed_slices += again != NULL;	/* begun again before its end */
	free(again);
	return async_push(b, e, key | 1, args, n);
}

/* OUT_UNMATCHED: written as an instant. */
static int end_async(struct builder *b, struct fxt_event *e, uint64_t key, uint64_t name, const struct fxt_arg *args,
		     unsigned int n)
{
	struct async *a;
	int err = close_async(b, key, name, &a);

	if (err)
		return err;
	e->type = a ? FXT_ASYNC_END : FXT_INSTANT;
	if (a) {
		e->id = a->id;
		e->name = name_of(a);
		e->category = category_of(a);
	}
	err = build_event(b, e, args, n);
	free(a);
	return err ? err : a ? OUT_SLICE : OUT_UNMATCHED;
}

int async_end(struct builder *b, struct fxt_event *e, uint64_t key, const struct fxt_arg *args,
	      unsigned int n)
{
	return end_async(b, e, key | 1, 0, args, n);
}

int async_pop(struct builder *b, struct fxt_event *e, uint64_t key, const struct fxt_arg *args, unsigned int n)
{
	return end_async(b, e, key, name_key(key, e), args, n);
}

uint64_t async_open_id(const struct builder *b, uint64_t key)
{
	const struct async *a = id_table_get(&b->asyncs, key);

	return a ? a->id : 0;
}

bool async_is_open(const struct builder *b, uint64_t key)
{
	return id_table_get(&b->asyncs, key | 1) != NULL;
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
	struct open_node *node, *outer;
	size_t i;
	int err = 0;

	for (i = 0; i < b->asyncs.cap; i++) {
		for (node = b->asyncs.slots[i].value; node; node = outer) {
			outer = node->outer;
			err = err || b->recorded ? err : end_at_last(b, (const struct async *)node);
			free(node);
		}
	}
	id_table_fini(&b->asyncs);
	id_table_fini(&b->async_names);
	b->asyncs_cnt = 0;
	return err;
}

void asyncs_fini(struct builder *b)
{
	struct open_node *node, *outer;
	size_t i;

	for (i = 0; i < b->asyncs.cap; i++) {
		for (node = b->asyncs.slots[i].value; node; node = outer) {
			outer = node->outer;
			free(node);
		}
	}
	id_table_fini(&b->asyncs);
	id_table_fini(&b->async_names);
}
