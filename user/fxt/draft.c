/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The draft of a record: collects its strings, threads and arguments, knows
 * its size before anything is written, and registers what is missing in the
 * tables ("String references", "Thread references") just before it.
 */
#include "writer.h"

#include <errno.h>
#include <string.h>

#include "table.h"
#include "utf8.h"

void fxt_draft_begin(struct fxt_draft *d, struct fxt_writer *w, size_t words)
{
	d->w = w;
	d->err = w->err;
	d->missing = false;
	d->words = words;
	d->scratch_used = 0;
	d->cut = 0;
	d->repaired = 0;
	d->texts_cnt = 0;
	d->threads_cnt = 0;
	fxt_table_begin(w->strings);
	fxt_table_begin(w->threads);
}

void fxt_draft_require(struct fxt_draft *d, bool good)
{
	if (!d->err && !good)
		d->err = -EINVAL;
}

/*
 * Makes a string valid for the format. Repaired ones are in the scratch space,
 * which has space for one more string whenever the record can still fit.
 */
static void repair(struct fxt_draft *d, struct fxt_text *text, size_t max)
{
	char *place = d->w->scratch + d->scratch_used;
	struct fxt_utf8_repair done;

	if (text->len <= max && fxt_utf8_valid(text->data, text->len))
		return;
	done = fxt_utf8_repair(place, max, text->data, text->len);
	text->data = place;
	text->len = done.len;
	d->cut += done.cut;
	d->repaired += done.repaired;
}

/* A string whose bytes are in the record. */
static void add_in_place(struct fxt_draft *d, struct fxt_text *text, size_t max)
{
	const char *given = text->data;

	if (d->scratch_used > FXT_RECORD_WORDS_MAX * FXT_WORD) {
		if (!d->err)
			d->err = -EMSGSIZE;
		return;
	}
	repair(d, text, max);
	if (text->data != given)
		d->scratch_used += text->len;
	text->in_place = true;
	d->words += fxt_words(text->len);
}

static inline struct fxt_text *next_text(struct fxt_draft *d, const struct fxt_str *s)
{
	struct fxt_text *text = &d->texts[d->texts_cnt++];

	*text = (struct fxt_text){ .data = s->data ? s->data : "", .len = s->data ? s->len : 0 };
	return text;
}

/* With almost every index fixed, one record might need more than there are. */
static bool can_register(const struct fxt_table *t, unsigned int needed)
{
	return fxt_table_space(t) >= needed;
}

/* A string that is not in the table: to be registered, or in the record. */
static __attribute__((noinline)) void add_unregistered(struct fxt_draft *d, struct fxt_text *text, bool inlined)
{
	text->pending = !inlined && can_register(d->w->strings, FXT_DRAFT_TEXTS);
	d->missing |= text->pending;
	if (text->pending)
		return;
	add_in_place(d, text, FXT_STRING_BYTES_MAX);
	text->ref = FXT_STR_INLINE | text->len;
}

static inline struct fxt_text *add_string(struct fxt_draft *d, const struct fxt_str *s)
{
	struct fxt_text *text = next_text(d, s);

	if (!text->len || d->err)
		return text;
	/* What is in the table is known to be UTF-8: repeated names cost a lookup. */
	if (!s->inlined && text->len <= FXT_STRING_BYTES_MAX)
		text->ref = fxt_table_find(d->w->strings, text->data, text->len);
	if (!text->ref)
		add_unregistered(d, text, s->inlined);
	return text;
}

struct fxt_text *fxt_draft_string(struct fxt_draft *d, struct fxt_str s)
{
	return add_string(d, &s);
}

struct fxt_text *fxt_draft_plain(struct fxt_draft *d, struct fxt_str s, size_t max)
{
	struct fxt_text *text = next_text(d, &s);

	if (!d->err)
		add_in_place(d, text, max);
	return text;
}

struct fxt_draft_thread *fxt_draft_thread(struct fxt_draft *d, struct fxt_thread t)
{
	struct fxt_draft_thread *thread = &d->threads[d->threads_cnt++];
	struct fxt_table *threads = d->w->threads;

	thread->key[0] = t.process;
	thread->key[1] = t.thread;
	thread->ref = 0;
	thread->pending = false;
	if (!t.inlined) {
		thread->ref = fxt_table_find(threads, thread->key, sizeof(thread->key));
		thread->pending = !thread->ref && can_register(threads, FXT_DRAFT_THREADS);
		d->missing |= thread->pending;
	}
	if (!thread->ref && !thread->pending)
		d->words += fxt_thread_words(0);
	return thread;
}

static void add_blob(struct fxt_draft *d, const struct fxt_arg *arg)
{
	size_t words = fxt_words(arg->blob.len);

	/* Saturates: fifteen times the largest size_t must not wrap to something small. */
	if (words > FXT_RECORD_WORDS_MAX)
		d->err = d->err ? d->err : -EMSGSIZE;
	else
		d->words += 1 + words;
}

static inline void add_arg(struct fxt_draft *d, const struct fxt_arg *arg)
{
	fxt_draft_require(d, (unsigned int)arg->type <= FXT_ARG_BLOB);
	if (arg->type == FXT_ARG_BLOB)
		fxt_draft_require(d, arg->blob.data || !arg->blob.len);
	if (d->err)
		return;
	add_string(d, &arg->name);
	if (arg->type == FXT_ARG_STRING)
		add_string(d, &arg->str);
	if (arg->type == FXT_ARG_BLOB)
		add_blob(d, arg);
	else
		d->words += 1 + (FXT_WORD_TYPES >> arg->type & 1);
}

void fxt_draft_args(struct fxt_draft *d, const struct fxt_arg *args, unsigned int nargs)
{
	unsigned int i;

	fxt_draft_require(d, nargs <= FXT_ARGS_MAX);
	for (i = 0; i < nargs && !d->err; i++)
		add_arg(d, &args[i]);
}

/* "String record" */
int fxt_put_string_record(struct fxt_writer *w, unsigned int index, const void *data, size_t len)
{
	size_t words = 1 + fxt_words(len);
	uint64_t *at = fxt_writer_reserve(w, words);

	if (!at)
		return w->err;
	*at = FXT_HEADER(FXT_STRING, words) | FXT_PUT(index, FXT_F_STRING_INDEX) |
	      FXT_PUT(len, FXT_F_STRING_LEN);
	fxt_put_bytes(at + 1, data, len);
	return 0;
}

/* "Thread record" */
int fxt_put_thread_record(struct fxt_writer *w, unsigned int index, const void *key)
{
	uint64_t *at = fxt_writer_reserve(w, 3);

	if (!at)
		return w->err;
	*at = FXT_HEADER(FXT_THREAD, 3) | FXT_PUT(index, FXT_F_THREAD_INDEX);
	fxt_put_bytes(at + 1, key, 2 * FXT_WORD);
	return 0;
}

static int register_string(struct fxt_draft *d, struct fxt_text *text)
{
	struct fxt_table *strings = d->w->strings;
	int index;

	repair(d, text, FXT_STRING_BYTES_MAX);
	text->ref = fxt_table_find(strings, text->data, text->len);
	if (text->ref)
		return 0;
	index = fxt_table_add(strings, text->data, text->len);
	if (index < 0)
		return index;
	text->ref = index;
	return fxt_put_string_record(d->w, index, text->data, text->len);
}

static int register_thread(struct fxt_writer *w, struct fxt_draft_thread *t)
{
	int index;

	t->ref = fxt_table_find(w->threads, t->key, sizeof(t->key));
	if (t->ref)
		return 0;
	index = fxt_table_add(w->threads, t->key, sizeof(t->key));
	if (index < 0)
		return index;
	t->ref = index;
	return fxt_put_thread_record(w, index, t->key);
}

static void register_missing(struct fxt_draft *d)
{
	unsigned int i;

	for (i = 0; i < d->texts_cnt && !d->err; i++)
		if (d->texts[i].pending)
			d->err = register_string(d, &d->texts[i]);
	for (i = 0; i < d->threads_cnt && !d->err; i++)
		if (d->threads[i].pending)
			d->err = register_thread(d->w, &d->threads[i]);
}

uint64_t *fxt_draft_place(struct fxt_draft *d)
{
	uint64_t *at;

	if (!d->err && d->words > FXT_RECORD_WORDS_MAX)
		d->err = -EMSGSIZE;
	if (!d->err && d->missing)
		register_missing(d);
	if (d->err)
		return NULL;
	at = fxt_writer_reserve(d->w, d->words);
	if (!at) {
		d->err = d->w->err;
		return NULL;
	}
	d->w->stats.strings_cut += d->cut;
	d->w->stats.strings_repaired += d->repaired;
	return at;
}

/* "Atoms": a stream, padded with zeros. */
uint64_t *fxt_put_bytes(uint64_t *at, const void *data, size_t len)
{
	size_t words = fxt_words(len);

	if (!words)
		return at;
	at[words - 1] = 0;
	memcpy(at, data, len);
	return at + words;
}

uint64_t *fxt_put_text(uint64_t *at, const struct fxt_text *text)
{
	return text->in_place ? fxt_put_bytes(at, text->data, text->len) : at;
}

uint64_t *fxt_put_thread(uint64_t *at, const struct fxt_draft_thread *t)
{
	if (t->ref)
		return at;
	at[0] = t->key[0];
	at[1] = t->key[1];
	return at + 2;
}

/* What follows an argument's name. */
static uint64_t *put_value(uint64_t *at, const struct fxt_arg *arg, const struct fxt_text *value)
{
	switch (arg->type) {
	case FXT_ARG_INT64:
	case FXT_ARG_UINT64:
	case FXT_ARG_POINTER:
	case FXT_ARG_KOID:
		*at = arg->u64;
		return at + 1;
	case FXT_ARG_DOUBLE:
		memcpy(at, &arg->f64, sizeof(*at));
		return at + 1;
	case FXT_ARG_STRING:
		return fxt_put_text(at, value);
	case FXT_ARG_BLOB:
		return fxt_put_bytes(at, arg->blob.data, arg->blob.len);
	default:
		return at;
	}
}

uint64_t *fxt_put_args(uint64_t *at, const struct fxt_text *texts, const struct fxt_arg *args,
		       unsigned int nargs)
{
	unsigned int i;

	for (i = 0; i < nargs; i++) {
		const struct fxt_text *name = texts++;
		const struct fxt_text *value = args[i].type == FXT_ARG_STRING ? texts++ : NULL;
		uint64_t *head = at;

		at = fxt_put_text(at + 1, name);
		at = put_value(at, &args[i], value);
		*head = FXT_ARG_HEADER(args[i].type, at - head, name->ref) |
			fxt_value_bits(&args[i], value ? value->ref : 0);
	}
	return at;
}
