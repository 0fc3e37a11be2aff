/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Events whose strings and thread are in the tables already, as nearly all are: put into the buffer
 * as they are looked up, without a draft. What needs more than that is left to the draft.
 */
#include "writer.h"

#include "table.h"
#include "utf8.h"

/* "String references": its bytes go to @at if they are in the record. After them; NULL: not this way. */
static inline uint64_t *put_string(struct fxt_writer *w, uint64_t *at, const uint64_t *limit, const struct fxt_str *s,
				   unsigned int *ref)
{
	size_t len = s->data ? s->len : 0;

	*ref = 0;
	if (!len)
		return at;
	if (len > FXT_STRING_BYTES_MAX)
		return NULL;
	if (!s->inlined) {
		*ref = fxt_table_find(w->strings, s->data, len);
		return *ref ? at : NULL;
	}
	if (fxt_words(len) > (size_t)(limit - at) || !fxt_utf8_valid(s->data, len))
		return NULL;
	*ref = FXT_STR_INLINE | (unsigned int)len;
	return fxt_put_bytes(at, s->data, len);
}

/* "Argument types" */
static inline uint64_t *put_arg(struct fxt_writer *w, uint64_t *at, const uint64_t *limit, const struct fxt_arg *arg)
{
	unsigned int name, value = 0;
	uint64_t *head = at;

	if (at == limit || (unsigned int)arg->type >= FXT_ARG_BLOB)
		return NULL;
	at = put_string(w, at + 1, limit, &arg->name, &name);
	if (at && arg->type == FXT_ARG_STRING)
		at = put_string(w, at, limit, &arg->str, &value);
	if (!at)
		return NULL;
	if (FXT_WORD_TYPES >> arg->type & 1) {
		if (at == limit)
			return NULL;
		*at++ = arg->u64;
	}
	*head = FXT_ARG_HEADER(arg->type, at - head, name) | fxt_value_bits(arg, value);
	return at;
}

/* "Event record" */
bool fxt_put_event(struct fxt_writer *w, const struct fxt_event *e, const struct fxt_arg *args, unsigned int nargs)
{
	size_t space = FXT_BUF_WORDS - w->used;
	uint64_t *head = w->buf + w->used, *at = head + 2;
	const uint64_t *limit = head + (space < FXT_RECORD_WORDS_MAX ? space : FXT_RECORD_WORDS_MAX);
	const uint64_t key[2] = { e->thread.process, e->thread.thread };
	unsigned int thread, category, name, i;

	if (w->err || space < 3 || (unsigned int)e->type > FXT_FLOW_END || nargs > FXT_ARGS_MAX || e->thread.inlined)
		return false;
	fxt_table_begin(w->strings);
	fxt_table_begin(w->threads);
	thread = fxt_table_find(w->threads, key, sizeof(key));
	at = thread ? put_string(w, at, limit, &e->category, &category) : NULL;
	at = at ? put_string(w, at, limit, &e->name, &name) : NULL;
	for (i = 0; i < nargs && at; i++)
		at = put_arg(w, at, limit, &args[i]);
	if (at && fxt_event_has_id(e->type)) {
		if (at == limit)
			return false;
		*at++ = e->id;
	}
	if (!at)
		return false;
	head[0] = FXT_HEADER(FXT_EVENT, at - head) | FXT_PUT(e->type, FXT_F_EVENT_TYPE) |
		  FXT_PUT(nargs, FXT_F_EVENT_NARGS) | FXT_PUT(thread, FXT_F_EVENT_THREAD) |
		  FXT_PUT(category, FXT_F_EVENT_CATEGORY) | FXT_PUT(name, FXT_F_EVENT_NAME);
	head[1] = e->ts;
	w->used += (size_t)(at - head);
	w->stats.records++;
	w->stats.bytes += (uint64_t)(at - head) * FXT_WORD;
	return true;
}
