// SPDX-License-Identifier: GPL-2.0
/*
 * What begins in one place and ends elsewhere: block requests are async slices, transactions of
 * binder are flows.
 */
#include "import_p.h"

#include <string.h>

/* ---- block requests -------------------------------------------------------- */

struct request {
	struct model_text device, rwbs;
	uint64_t key;
};

static bool eat_word(struct model_text *text, struct model_text *word)
{
	const char *blank = memchr(text->data, ' ', text->len);

	if (!blank)
		return false;
	*word = (struct model_text){ text->data, (size_t)(blank - text->data) };
	text->len -= word->len + 1;
	text->data = blank + 1;
	return true;
}

/*
 * "8,0 WS 4096 () 123456 + 8 [kworker]"; a completion has no bytes. Keyed by "123456 + 8", or by the sector alone: when
 * all is done nothing is left of the 8.
 */
static bool parse_request(const struct ftrace_event *ev, bool by_sector, struct request *rq)
{
	struct model_text rest = ev->args, word;
	const char *close = memmem(rest.data, rest.len, ") ", 2), *end;

	if (!close || !ev->complete || !eat_word(&rest, &rq->device) || !eat_word(&rest, &rq->rwbs))
		return false;
	rest.data = close + 2;
	rest.len = (size_t)(ev->args.data + ev->args.len - rest.data);
	end = memmem(rest.data, rest.len, " [", 2);
	if (!end)
		end = rest.data + rest.len;
	word = (struct model_text){ rest.data, (size_t)(end - rest.data) };
	/* Newer kernels print an I/O priority after a comma. */
	end = memchr(word.data, ',', word.len);
	if (end)
		end = memchr(word.data, ' ', word.len);
	if (end)
		word.len = (size_t)(end - word.data);
	end = by_sector ? memchr(word.data, ' ', word.len) : NULL;
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

typedef int async_fn(struct builder *b, struct fxt_event *e, uint64_t key, const struct fxt_arg *args, unsigned int n);

/* Its text is the argument @name. */
static int on_request(struct builder *b, const struct record *r, bool by_sector, const char *name, async_fn *add)
{
	struct model_text text = r->ev->args;
	struct fxt_arg arg = fxt_arg_str(name, fxt_str_inline(text.data, text.len));
	struct request rq;
	struct fxt_event e;

	if (text.len > TEXT_BYTES_MAX || !parse_request(r->ev, by_sector, &rq))
		return OUT_OTHER;
	e = request_event(r, &rq);
	e.thread = place_of(b, r);
	return add(b, &e, rq.key, &arg, 1);
}

int on_block_begin(struct builder *b, const struct record *r)
{
	return on_request(b, r, false, "request", async_begin);
}

int on_block_end(struct builder *b, const struct record *r)
{
	return on_request(b, r, false, "completion", async_end);
}

/* From the first to the last moment of a request, around the others. */
int on_block_io_start(struct builder *b, const struct record *r)
{
	return on_request(b, r, true, "request", async_begin);
}

int on_block_io_done(struct builder *b, const struct record *r)
{
	return on_request(b, r, true, "completion", async_end);
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
