// SPDX-License-Identifier: GPL-2.0
/*
 * What begins here and ends elsewhere: asynchronous slices of markers and block
 * requests, flows of binder transactions.
 *
 * Viewers have one namespace of ids for a whole trace and name a track after the
 * first slice of an id. So an id is given to one begin of one name and no other.
 */
#include "build_p.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define ASYNCS_MAX	65536U		/* open at a time; more are not ended */

struct async {
	uint64_t key, id;
	struct fxt_thread at;
	bool block;		/* its category, else a marker's */
	uint32_t name_len;
	char *name;
};

/* ---- what is open: open addressing by key, 0 is free ----------------------- */

static struct async *find_slot(struct async *slots, size_t cap, uint64_t key)
{
	size_t i = (size_t)((key * 0x9e3779b97f4a7c15ULL) >> 32) & (cap - 1);

	while (slots[i].key && slots[i].key != key)
		i = (i + 1) & (cap - 1);
	return &slots[i];
}

static int grow(struct builder *b)
{
	size_t cap = b->asyncs_cap ? b->asyncs_cap * 2 : 256, i;
	struct async *slots = calloc(cap, sizeof(*slots));

	if (!slots)
		return -ENOMEM;
	for (i = 0; i < b->asyncs_cap; i++)
		if (b->asyncs[i].key)
			*find_slot(slots, cap, b->asyncs[i].key) = b->asyncs[i];
	free(b->asyncs);
	b->asyncs = slots;
	b->asyncs_cap = cap;
	return 0;
}

/* What stands behind the freed slot and does not belong there moves up. */
static void drop(struct builder *b, struct async *a)
{
	size_t mask = b->asyncs_cap - 1, i = (size_t)(a - b->asyncs);
	struct async moved;

	free(a->name);
	*a = (struct async){ 0 };
	b->asyncs_cnt--;
	for (i = (i + 1) & mask; b->asyncs[i].key; i = (i + 1) & mask) {
		moved = b->asyncs[i];
		b->asyncs[i] = (struct async){ 0 };
		*find_slot(b->asyncs, b->asyncs_cap, moved.key) = moved;
	}
}

void asyncs_fini(struct builder *b)
{
	size_t i;

	for (i = 0; i < b->asyncs_cap; i++)
		free(b->asyncs[i].name);
	free(b->asyncs);
}

/* An end without a name has that of its begin. */
static int open_async(struct builder *b, uint64_t key, struct fxt_event *e)
{
	struct fxt_str name = e->name;
	struct async *a;

	if (2 * (b->asyncs_cnt + 1) > b->asyncs_cap && grow(b))
		return -ENOMEM;
	a = find_slot(b->asyncs, b->asyncs_cap, key);
	if (!a->key) {
		*a = (struct async){ .key = key };
		b->asyncs_cnt++;
	} else {
		b->stats.closed_slices++;	/* begun again before its end */
	}
	free(a->name);
	a->name = malloc(name.len + 1);
	if (!a->name)
		return -ENOMEM;
	memcpy(a->name, name.len ? name.data : "", name.len);
	a->name_len = (uint32_t)name.len;
	a->id = ++b->async_ids;
	a->at = e->thread;
	a->block = e->category.len == 5;
	e->id = a->id;
	return 0;
}

int async_begin(struct builder *b, struct fxt_event *e, uint64_t key, const struct fxt_arg *args,
		unsigned int n)
{
	int err = 0;

	e->type = FXT_ASYNC_BEGIN;
	if (b->asyncs_cnt < ASYNCS_MAX)
		err = open_async(b, key | 1, e);
	else
		e->type = FXT_INSTANT;
	if (!err)
		err = build_event(b, e, args, n);
	return err ? err : e->type == FXT_INSTANT ? OUT_INSTANT : OUT_SLICE;
}

/* OUT_UNMATCHED: written as an instant. */
int async_end(struct builder *b, struct fxt_event *e, uint64_t key, const struct fxt_arg *args,
	      unsigned int n)
{
	struct async *a = b->asyncs_cap ? find_slot(b->asyncs, b->asyncs_cap, key | 1) : NULL;
	int err;

	if (!a || !a->key) {
		e->type = FXT_INSTANT;
		err = build_event(b, e, args, n);
		return err ? err : OUT_UNMATCHED;
	}
	e->type = FXT_ASYNC_END;
	e->id = a->id;
	e->name = fxt_str_n(a->name, a->name_len);
	err = build_event(b, e, args, n);
	drop(b, a);
	return err ? err : OUT_SLICE;
}

int asyncs_close(struct builder *b)
{
	size_t i;
	int err = 0;

	for (i = 0; i < b->asyncs_cap && !err; i++) {
		struct async *a = &b->asyncs[i];
		struct fxt_event e = {
			.type = FXT_ASYNC_END, .ts = b->now, .thread = a->at, .id = a->id,
			.category = fxt_str(a->block ? "block" : "atrace"),
			.name = fxt_str_n(a->name, a->name_len),
		};

		if (!a->key)
			continue;
		err = fxt_write_event(b->w, &e, NULL, 0);
		b->stats.events += !err;
		b->stats.closed_slices++;
		free(a->name);
		*a = (struct async){ 0 };
	}
	b->asyncs_cnt = 0;
	return err;
}

/* ---- block requests -------------------------------------------------------- */

struct request {
	struct ftrace_text device, rwbs;
	uint64_t key;
};

static bool eat_word(struct ftrace_text *text, struct ftrace_text *word)
{
	const char *blank = memchr(text->data, ' ', text->len);

	if (!blank)
		return false;
	*word = (struct ftrace_text){ text->data, (size_t)(blank - text->data) };
	text->len -= word->len + 1;
	text->data = blank + 1;
	return true;
}

/* "8,0 WS 4096 () 123456 + 8 [kworker]"; a completion has no bytes. Keyed by "123456 + 8". */
static bool parse_request(const struct ftrace_event *ev, struct request *rq)
{
	struct ftrace_text rest = ev->args, word;
	const char *close = memmem(rest.data, rest.len, ") ", 2), *end;

	if (!close || !ev->complete || !eat_word(&rest, &rq->device) || !eat_word(&rest, &rq->rwbs))
		return false;
	rest.data = close + 2;
	rest.len = (size_t)(ev->args.data + ev->args.len - rest.data);
	end = memmem(rest.data, rest.len, " [", 2);
	if (!end)
		end = rest.data + rest.len;
	word = (struct ftrace_text){ rest.data, (size_t)(end - rest.data) };
	/* Newer kernels print an I/O priority behind a comma. */
	end = memchr(word.data, ',', word.len);
	if (end)
		end = memchr(word.data, ' ', word.len);
	if (end)
		word.len = (size_t)(end - word.data);
	rq->key = (uint64_t)text_hash(rq->device.data, rq->device.len) << 32 |
		  text_hash(word.data, word.len);
	return word.len > 0;
}

static struct fxt_event request_event(const struct record *r, const struct request *rq)
{
	return (struct fxt_event){
		.ts = r->ts, .category = r->kind->category,
		.name = fxt_str_n(rq->rwbs.data, rq->rwbs.len),
	};
}

int on_block_begin(struct builder *b, const struct record *r)
{
	struct ftrace_text text = r->ev->args;
	struct fxt_arg arg = fxt_arg_str("request", fxt_str_inline(text.data, text.len));
	struct request rq;
	struct fxt_event e;

	if (text.len > TEXT_BYTES_MAX || !parse_request(r->ev, &rq))
		return OUT_OTHER;
	e = request_event(r, &rq);
	e.thread = place_of(b, r);
	return async_begin(b, &e, rq.key, &arg, 1);
}

int on_block_end(struct builder *b, const struct record *r)
{
	struct ftrace_text text = r->ev->args;
	struct fxt_arg arg = fxt_arg_str("completion", fxt_str_inline(text.data, text.len));
	struct request rq;
	struct fxt_event e;

	if (text.len > TEXT_BYTES_MAX || !parse_request(r->ev, &rq))
		return OUT_OTHER;
	e = request_event(r, &rq);
	e.thread = place_of(b, r);
	return async_end(b, &e, rq.key, &arg, 1);
}

/* ---- binder ---------------------------------------------------------------- */

/*
 * An instant on either thread and a flow from one to the other, which instants
 * may be the ends of. Ids of transactions are the driver's own.
 */
int on_binder(struct builder *b, const struct record *r)
{
	struct fxt_event e = {
		.ts = r->ts, .thread = place_of(b, r), .category = r->kind->category,
		.name = fxt_str("binder transaction"),
	};
	int64_t id;
	int out, err;

	if (!text_find_int(r->ev, "transaction", &id))
		return OUT_OTHER;
	out = on_instant(b, r);
	if (out < 0)
		return out;
	e.type = r->kind->name.len > strlen("binder_transaction") ? FXT_FLOW_END : FXT_FLOW_BEGIN;
	e.id = (uint64_t)id;
	err = fxt_write_event(b->w, &e, NULL, 0);
	b->stats.events += !err;
	return err ? err : out;
}
