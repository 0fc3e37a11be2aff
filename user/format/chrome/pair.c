// SPDX-License-Identifier: GPL-2.0
/*
 * The pass between: begins and ends, in order of time, become slices of a known length. An end
 * with a name ends the innermost open slice of that name, without one the innermost; what is
 * open inside stays open. Slices are of a track, async ones of an id: which of these nest, and so
 * belong to one track in viewers, is known only with their ends.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "reader_p.h"

#define PAIRS_A_READ	1000

struct open_slice {
	struct open_node open;
	int64_t ts_ns;
	uint32_t track, len;
	char text[];		/* the event, and CHROME_PAD_BYTES */
};

uint64_t pair_name(const struct chrome_event *e, uint64_t stack)
{
	const struct chrome_field *f = chrome_field(e, CHROME_NAME);

	return f && f->type != CHROME_NULL && f->value.len ? open_name(stack, chrome_text(e, f->value), f->value.len) : 0;
}

bool pair_has_more(const struct chrome_event *end)
{
	return end->has_unknown || end->at[CHROME_ARGS] || end->at[CHROME_TTS] || end->at[CHROME_TDUR] || chrome_has_rare(end) ||
	       reader_has_spare_ids(end);
}

/* Where the innermost slice of the track is kept; NULL: no memory. */
static struct open_node **innermost(struct chrome_reader *r, uint32_t track)
{
	size_t cap = r->open_cap;

	if (track >= cap) {
		if (array_reserve(r->open, cap, r->open_cap, track + 1 - cap))
			return NULL;
		memset(r->open + cap, 0, (r->open_cap - cap) * sizeof(*r->open));
	}
	return &r->open[track];
}

/* As one that does not end. */
static int add_open(struct chrome_reader *r, uint32_t track, int64_t ts, const char *text, uint32_t len)
{
	const struct chrome_record record = {
		.ts_ns = ts, .rank = RANK_BEGIN(INT64_MAX), .track = track, .kind = RECORD_OPEN, .text = text, .len = len,
	};

	return chrome_order_add(r->order, &record);
}

static bool is_full(const struct chrome_reader *r, const struct chrome_record *record)
{
	return r->open_bytes + record->len > OPEN_BYTES_MAX;
}

/* Of a begin; NULL: no memory. */
static struct open_slice *new_slice(struct chrome_reader *r, const struct chrome_record *record)
{
	struct open_slice *slice = malloc(sizeof(*slice) + record->len + 1);

	if (!slice)
		return NULL;
	*slice = (struct open_slice){ .ts_ns = record->ts_ns, .track = record->track, .len = record->len };
	memcpy(slice->text, record->text, record->len + 1);
	r->open_bytes += record->len;
	return slice;
}

static void free_slice(struct chrome_reader *r, struct open_slice *slice)
{
	r->open_bytes -= slice->len;
	free(slice);
}

/* Beyond a limit of memory begins stay without their ends. */
int pair_push(struct chrome_reader *r, const struct chrome_record *record, const struct chrome_event *e)
{
	struct open_node **top = innermost(r, record->track);
	struct open_slice *slice;

	if (!top)
		return -ENOMEM;
	if (is_full(r, record))
		return add_open(r, record->track, record->ts_ns, record->text, record->len);
	slice = new_slice(r, record);
	if (!slice)
		return -ENOMEM;
	slice->open.name = pair_name(e, record->track);
	return open_push(&r->names, top, &slice->open);
}

/* As one text: the head, the begin, a quote, the end. */
int pair_add(struct chrome_reader *r, struct chrome_record *record, const struct pair_head *head, const char *begin,
	     const char *end)
{
	char *text;
	int err;

	record->kind = RECORD_PAIR;
	record->rank = RANK_BEGIN(head->duration_ns);
	record->len = (uint32_t)sizeof(*head) + head->begin_len + 1 + head->end_len;
	text = malloc(record->len);
	if (!text)
		return -ENOMEM;
	memcpy(text, head, sizeof(*head));
	memcpy(text + sizeof(*head), begin, head->begin_len);
	text[sizeof(*head) + head->begin_len] = '"';
	if (head->end_len)
		memcpy(text + sizeof(*head) + head->begin_len + 1, end, head->end_len);
	record->text = text;
	err = chrome_order_add(r->order, record);
	free(text);
	return err;
}

int64_t pair_duration_ns(int64_t begin_ns, int64_t end_ns)
{
	int64_t duration_ns;

	return __builtin_sub_overflow(end_ns, begin_ns, &duration_ns) ? INT64_MAX : duration_ns;
}

/* The end at hand, of @slice. */
static int add_ended(struct chrome_reader *r, const struct open_slice *slice, const struct chrome_record *end)
{
	const struct pair_head head = {
		.duration_ns = pair_duration_ns(slice->ts_ns, end->ts_ns), .begin_len = slice->len,
		.end_len = pair_has_more(&r->event) ? end->len : 0,
	};
	struct chrome_record record = { .ts_ns = slice->ts_ns, .track = slice->track };

	return pair_add(r, &record, &head, slice->text, end->text);
}

static int pair_end(struct chrome_reader *r, const struct chrome_record *record)
{
	struct open_node **top = innermost(r, record->track), *begun;
	struct chrome_record alone = *record;
	int err = top ? open_pop(&r->names, top, pair_name(&r->event, record->track), 0, &begun) : -ENOMEM;

	if (err)
		return err;
	if (!begun) {
		alone.kind = RECORD_UNMATCHED;
		alone.rank = RANK_OTHER;
		r->counts.unmatched_ends++;
		return chrome_order_add(r->order, &alone);
	}
	err = add_ended(r, (struct open_slice *)begun, record);
	free_slice(r, (struct open_slice *)begun);
	return err;
}

/* ---- async slices -------------------------------------------------------------- */

/* What stays alone is for the builder to pair, or to show as it is. */
static int add_alone(struct chrome_reader *r, const struct chrome_record *record)
{
	struct chrome_record alone = *record;

	alone.kind = RECORD_EVENT;
	return chrome_order_add(r->order, &alone);
}

int pair_push_async(struct chrome_reader *r, const struct chrome_record *record, const struct chrome_event *e)
{
	struct open_slice *slice;
	struct open_node *top;
	uint64_t id;

	if (is_full(r, record) || !reader_async_id(r, e, 'b', &id))
		return add_alone(r, record);
	slice = new_slice(r, record);
	top = id_table_get(&r->asyncs, id);
	if (slice && !id_table_put(&r->asyncs, id, slice)) {
		slice->open.name = pair_name(e, id);
		return open_push(&r->names, &top, &slice->open);
	}
	if (slice)
		free_slice(r, slice);
	return -ENOMEM;
}

static int pair_async(struct chrome_reader *r, const struct chrome_record *record)
{
	struct open_node *top, *begun;
	uint64_t id;
	int err;

	if (!reader_async_id(r, &r->event, 'b', &id))
		return add_alone(r, record);
	top = id_table_get(&r->asyncs, id);
	err = open_pop(&r->names, &top, pair_name(&r->event, id), 0, &begun);
	if (err)
		return err;
	if (!begun)
		return add_alone(r, record);
	if (top)
		id_table_put(&r->asyncs, id, top);	/* replaces: no memory is needed */
	else
		id_table_remove(&r->asyncs, id);
	err = add_ended(r, (struct open_slice *)begun, record);
	free_slice(r, (struct open_slice *)begun);
	return err;
}

/* All of an id, in any order. */
static int end_asyncs(struct chrome_reader *r, struct open_node *node)
{
	struct open_node *outer;
	int err = 0;

	for (; node; node = outer) {
		const struct open_slice *slice = (const struct open_slice *)node;
		const struct chrome_record record = {
			.ts_ns = slice->ts_ns, .rank = RANK_OTHER, .track = slice->track, .text = slice->text, .len = slice->len,
		};

		outer = node->outer;
		err = err ? err : add_alone(r, &record);
		free(node);
	}
	return err;
}

/* ---- the pass ------------------------------------------------------------------ */

static int pair_record(struct chrome_reader *r, const struct chrome_record *record)
{
	const char *reason;
	size_t bad_at;

	if (record->kind < RECORD_BEGIN || record->kind > RECORD_ASYNC_END)
		return chrome_order_add(r->order, record);
	if (chrome_event_parse(&r->event, record->text, record->len, &bad_at, &reason))
		return -EINVAL;
	switch (record->kind) {
	case RECORD_BEGIN:
		return pair_push(r, record, &r->event);
	case RECORD_END:
		return pair_end(r, record);
	case RECORD_ASYNC_BEGIN:
		return pair_push_async(r, record, &r->event);
	default:
		return pair_async(r, record);
	}
}

/* Begins whose end did not come. */
static int end_pairs(struct chrome_reader *r)
{
	struct open_slice *slice;
	uint32_t track;
	size_t i;
	int err = 0;

	for (i = 0; i < r->asyncs.cap; i++) {
		int failed = end_asyncs(r, r->asyncs.slots[i].value);

		err = err ? err : failed;
		r->asyncs.slots[i].value = NULL;
	}
	for (track = 0; track < r->open_cap; track++) {
		while ((slice = (struct open_slice *)r->open[track])) {
			if (!err)
				err = add_open(r, track, slice->ts_ns, slice->text, slice->len);
			r->counts.unmatched_begins++;
			r->open[track] = slice->open.outer;
			free(slice);
		}
	}
	r->open_bytes = 0;
	return err;
}

int reader_pair(struct chrome_reader *r)
{
	struct chrome_record record;
	int got = 1, i, err = 0;

	for (i = 0; i < PAIRS_A_READ && got > 0; i++) {
		got = chrome_order_next(r->by_time, &record);
		err = got > 0 ? pair_record(r, &record) : got ? got : end_pairs(r);
		if (err)
			return err;
	}
	return got;
}

static void free_all(struct open_node *node)
{
	struct open_node *outer;

	for (; node; node = outer) {
		outer = node->outer;
		free(node);
	}
}

void reader_free_pairs(struct chrome_reader *r)
{
	size_t i;

	for (i = 0; i < r->open_cap; i++)
		free_all(r->open[i]);
	for (i = 0; i < r->asyncs.cap; i++)
		free_all(r->asyncs.slots[i].value);
	id_table_fini(&r->asyncs);
	id_table_fini(&r->names);
	free(r->open);
}
