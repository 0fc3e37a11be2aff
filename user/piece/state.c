// SPDX-License-Identifier: GPL-2.0
/*
 * The state as records go by: what each of them needs is chosen by its header.
 */
#include "state_p.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const struct fxt_str texts[TEXT_CNT] = {
#define X(id, text) [id] = { text, sizeof(text) - 1, false },
	PIECE_TEXTS(X)
#undef X
};

const char *piece_text_name(enum text text)
{
	return texts[text].data;
}

enum text piece_text_of(const char *data, size_t len)
{
	enum text t;

	for (t = TEXT_OTHER + 1; t < TEXT_CNT; t++)
		if (texts[t].len == len && !memcmp(texts[t].data, data, len))
			return t;
	return TEXT_OTHER;
}

enum text piece_text(const struct piece_state *s, unsigned int ref, const void *inline_at)
{
	if (ref & FXT_STR_INLINE)
		return piece_text_of(inline_at, ref & FXT_STRING_INDEX_MAX);
	return s->texts[ref];
}

int piece_state_open(struct piece_state **out)
{
	struct piece_state *s = calloc(1, sizeof(*s));

	if (!s)
		return -ENOMEM;
	s->free_wake = NONE;
	s->cpus = calloc(PIECE_CPUS, sizeof(*s->cpus));
	if (!s->cpus || fxt_reader_open(&s->reader, pieces_read, &s->input)) {
		piece_state_close(s);
		return -ENOMEM;
	}
	*out = s;
	return 0;
}

/* ---- events ------------------------------------------------------------------------------- */

/* Whether an event has an argument `unfinished`. */
static bool is_unfinished(const struct piece_state *s, const uint64_t *rec, size_t words)
{
	const uint64_t *at = rec + 2 + (FXT_GET(*rec, FXT_F_EVENT_THREAD) ? 0 : 2), *end = rec + words;
	unsigned int nargs = FXT_GET(*rec, FXT_F_EVENT_NARGS), name;
	size_t size;

	at += piece_ref_words(FXT_GET(*rec, FXT_F_EVENT_CATEGORY)) + piece_ref_words(FXT_GET(*rec, FXT_F_EVENT_NAME));
	for (; nargs && at < end; nargs--, at += size) {
		size = FXT_GET(*at, FXT_F_ARG_SIZE);
		name = FXT_GET(*at, FXT_F_ARG_NAME);
		if (!size || size > (size_t)(end - at) || 1 + piece_ref_words(name) > size)
			return false;
		if (piece_text(s, name, at + 1) == TEXT_UNFINISHED)
			return true;
	}
	return false;
}

static enum text category_of(const struct piece_state *s, const uint64_t *rec, size_t words)
{
	const unsigned int ref = FXT_GET(*rec, FXT_F_EVENT_CATEGORY);
	const size_t at = 2 + (FXT_GET(*rec, FXT_F_EVENT_THREAD) ? 0 : 2);

	return at + piece_ref_words(ref) > words ? TEXT_OTHER : piece_text(s, ref, rec + at);
}

/* Most are only counted, as verify does. */
static int take_event(struct piece_state *s, const uint64_t *rec, size_t words)
{
	const unsigned int type = FXT_GET(*rec, FXT_F_EVENT_TYPE);
	const enum text category = category_of(s, rec, words);

	if (category == TEXT_FUNCTION || category == TEXT_USDT)
		s->calls += !is_unfinished(s, rec, words);
	else if (category != TEXT_KFXT && category != TEXT_LOG)
		s->events++;
	if (category == TEXT_KFXT && rec[1] > s->seen_ns)
		s->seen_ns = rec[1];
	if (category == TEXT_KFXT || type == FXT_DURATION_BEGIN || type == FXT_DURATION_END || type == FXT_ASYNC_BEGIN ||
	    type == FXT_ASYNC_END)
		return piece_take_rare(s, rec, words);
	return 0;
}

/* ---- records ------------------------------------------------------------------------------ */

static int take_record(struct piece_state *s, const uint64_t *rec, size_t words)
{
	switch (FXT_GET(*rec, FXT_F_TYPE)) {
	case FXT_SCHEDULING:
		return piece_take_sched(s, rec, words);
	case FXT_EVENT:
		return take_event(s, rec, words);
	case FXT_BLOB:
		return piece_take_blob(s, rec, words);
	case FXT_LOG:
		s->logs++;
		return 0;
	case FXT_METADATA:
	case FXT_INITIALIZATION:
	case FXT_STRING:
	case FXT_THREAD:
	case FXT_KERNEL_OBJECT:
		return piece_take_rare(s, rec, words);
	default:
		return 0;
	}
}

int piece_state_add(struct piece_state *s, const void *records, size_t len)
{
	const uint64_t *at = records, *end = at + len / 8;
	int err = piece_threads_clear(s, false);
	size_t words;

	for (; !err && at < end; at += words) {
		words = FXT_RECORD_WORDS(*at);
		if (!words || words > (size_t)(end - at))
			return -EINVAL;
		err = take_record(s, at, words);
	}
	return err ? err : len % 8 ? -EINVAL : 0;
}

void piece_state_close(struct piece_state *s)
{
	unsigned int i;

	if (!s)
		return;
	for (i = 0; i < s->strings_end; i++)
		free((char *)s->strings[i].data);
	free(s->provider_name);
	free(s->start);
	free(s->cpus);
	fxt_reader_close(s->reader);
	piece_threads_close(s);
	piece_slices_close(s);
	piece_interned_close(s);
	free(s);
}
