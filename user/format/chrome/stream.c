// SPDX-License-Identifier: GPL-2.0
/*
 * Events on their way through memory: put in order of time, begins and ends paired, put in order of
 * their begins, played. What the three passes do with files, as far as it is known that nothing
 * earlier is to come; the results are the same.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "reader_p.h"

/* ---- slices that are open -------------------------------------------------------- */

/* Where the innermost one of the track is; NULL: no memory. */
static struct open_node **innermost(struct stream *s, uint32_t track)
{
	size_t cap = s->open_cap;

	if (track >= cap) {
		if (array_reserve(s->open, cap, s->open_cap, track + 1 - cap))
			return NULL;
		memset(s->open + cap, 0, (s->open_cap - cap) * sizeof(*s->open));
	}
	return &s->open[track];
}

/* They are opened in order of time. */
static void link_open(struct stream *s, struct kept_item *item)
{
	item->older = s->youngest;
	item->younger = NULL;
	if (s->youngest)
		s->youngest->younger = item;
	else
		s->oldest = item;
	s->youngest = item;
}

static void unlink_open(struct stream *s, struct kept_item *item)
{
	if (item->older)
		item->older->younger = item->younger;
	else
		s->oldest = item->younger;
	if (item->younger)
		item->younger->older = item->older;
	else
		s->youngest = item->older;
}

static int begin_slice(struct stream *s, struct kept_item *item)
{
	struct open_node **top = innermost(s, item->track);

	if (!top)
		return -ENOMEM;
	link_open(s, item);
	item->open.name = pair_name(&item->event, item->track);
	return open_push(&s->names, top, &item->open);
}

/* @item and its end become one. */
static int add_pair(struct chrome_reader *r, struct kept_item *item, struct kept_item *end)
{
	struct stream *s = &r->stream;

	unlink_open(s, item);
	item->kind = RECORD_PAIR;
	item->duration_ns = pair_duration_ns(item->ts_ns, end->ts_ns);
	item->rank = RANK_BEGIN(item->duration_ns);
	if (pair_has_more(&end->event))
		item->end = end;
	else
		item_free(&s->store, end);
	return queue_add(&s->order, item);
}

static int end_slice(struct chrome_reader *r, struct kept_item *end)
{
	struct stream *s = &r->stream;
	struct open_node **top = innermost(s, end->track), *begun;
	int err = top ? open_pop(&s->names, top, pair_name(&end->event, end->track), 0, &begun) : -ENOMEM;

	if (err)
		return err;
	if (begun)
		return add_pair(r, (struct kept_item *)begun, end);
	end->kind = RECORD_UNMATCHED;
	end->rank = RANK_OTHER;
	r->counts.unmatched_ends++;
	return queue_add(&s->order, end);
}

/* What stays alone is for the builder to pair, or to show as it is. */
static int add_alone(struct stream *s, struct kept_item *item)
{
	item->kind = RECORD_EVENT;
	item->rank = RANK_OTHER;
	return queue_add(&s->order, item);
}

static int begin_async(struct chrome_reader *r, struct kept_item *item)
{
	struct stream *s = &r->stream;
	struct open_node *top;
	uint64_t id;

	if (!reader_async_id(r, &item->event, 'b', &id))
		return add_alone(s, item);
	top = id_table_get(&s->asyncs, id);
	if (id_table_put(&s->asyncs, id, item)) {
		item_free(&s->store, item);
		return -ENOMEM;
	}
	link_open(s, item);
	item->open.name = pair_name(&item->event, id);
	return open_push(&s->names, &top, &item->open);
}

static int end_async(struct chrome_reader *r, struct kept_item *end)
{
	struct stream *s = &r->stream;
	struct open_node *top, *begun;
	uint64_t id;
	int err;

	if (!reader_async_id(r, &end->event, 'b', &id))
		return add_alone(s, end);
	top = id_table_get(&s->asyncs, id);
	err = open_pop(&s->names, &top, pair_name(&end->event, id), 0, &begun);
	if (err)
		return err;
	if (!begun)
		return add_alone(s, end);
	if (top)
		id_table_put(&s->asyncs, id, top);	/* replaces: no memory is needed */
	else
		id_table_remove(&s->asyncs, id);
	return add_pair(r, (struct kept_item *)begun, end);
}

/* Begins whose end did not come. */
static int end_all(struct chrome_reader *r)
{
	struct stream *s = &r->stream;
	struct open_node *node;
	struct kept_item *item;
	uint32_t track;
	size_t i;
	int err = 0;

	for (i = 0; i < s->asyncs.cap; i++) {
		while (!err && (node = s->asyncs.slots[i].value)) {
			s->asyncs.slots[i].value = node->outer;
			err = add_alone(s, (struct kept_item *)node);
		}
	}
	for (track = 0; track < s->open_cap; track++) {
		while (!err && s->open[track]) {
			item = (struct kept_item *)s->open[track];
			s->open[track] = item->open.outer;
			item->kind = RECORD_OPEN;
			item->rank = RANK_BEGIN(INT64_MAX);
			r->counts.unmatched_begins++;
			err = queue_add(&s->order, item);
		}
	}
	s->oldest = s->youngest = NULL;
	return err;
}

/* ---- playing --------------------------------------------------------------------- */

static void free_item(struct stream *s, struct kept_item *item)
{
	if (item->end)
		item_free(&s->store, item->end);
	item_free(&s->store, item);
}

static int play(struct chrome_reader *r, struct kept_item *item)
{
	int err = reader_play(r, &(struct play_item){
		.kind = item->kind, .track = item->track, .ts_ns = item->ts_ns, .duration_ns = item->duration_ns,
		.event = &item->event, .end = item->end ? &item->end->event : NULL,
	});

	free_item(&r->stream, item);
	return err;
}

static int pair_item(struct chrome_reader *r, struct kept_item *item)
{
	switch (item->kind) {
	case RECORD_BEGIN:
		return begin_slice(&r->stream, item);
	case RECORD_END:
		return end_slice(r, item);
	case RECORD_ASYNC_BEGIN:
		return begin_async(r, item);
	case RECORD_ASYNC_END:
		return end_async(r, item);
	default:
		return queue_add(&r->stream.order, item);
	}
}

static int pair_until(struct chrome_reader *r, int64_t limit)
{
	struct stream *s = &r->stream;
	struct kept_item *item;
	int err = queue_settle(&s->by_time);

	while (!err && (item = queue_take(&s->by_time, limit)))
		err = pair_item(r, item);
	return err;
}

int stream_play(struct chrome_reader *r, int64_t limit)
{
	struct stream *s = &r->stream;
	struct kept_item *item;
	int err;

	if (s->ended || limit <= s->played_ns)
		return 0;
	s->played_ns = limit;
	err = pair_until(r, limit);
	if (!err && limit == QUEUE_ALL)
		err = end_all(r);
	/* A slice that is open comes before what began after it. */
	if (s->oldest && s->oldest->ts_ns < limit)
		limit = s->oldest->ts_ns;
	err = err ? err : queue_settle(&s->order);
	while (!err && (item = queue_take(&s->order, limit)))
		err = play(r, item);
	return err;
}

/* ---- into the temporary files ----------------------------------------------------- */

static struct chrome_record record_of(const struct kept_item *item)
{
	return (struct chrome_record){
		.ts_ns = item->ts_ns, .rank = item->rank, .track = item->track, .kind = item->kind,
		.len = item->event.len, .text = item->event.text,
	};
}

static int move_queue(struct chrome_reader *r, struct queue *q, struct chrome_order *to)
{
	struct kept_item *item;
	int err = queue_settle(q);

	while (!err && (item = queue_take(q, QUEUE_ALL))) {
		struct chrome_record record = record_of(item);

		if (item->kind == RECORD_PAIR)
			err = pair_add(r, &record, &(struct pair_head){
				.duration_ns = item->duration_ns, .begin_len = item->event.len,
				.end_len = item->end ? item->end->event.len : 0,
			}, item->event.text, item->end ? item->end->event.text : NULL);
		else
			err = chrome_order_add(to, &record);
		free_item(&r->stream, item);
	}
	return err;
}

/* All that is open, oldest first: as it was begun. */
static int move_open(struct chrome_reader *r)
{
	struct stream *s = &r->stream;
	struct kept_item *item;
	int err = 0;

	while (!err && (item = s->oldest)) {
		struct chrome_record record = record_of(item);

		s->oldest = item->younger;
		err = item->kind == RECORD_BEGIN ? pair_push(r, &record, &item->event) :
		      pair_push_async(r, &record, &item->event);
		free_item(s, item);
	}
	return err;
}

static int spill(struct chrome_reader *r)
{
	struct stream *s = &r->stream;
	int err = chrome_order_open(&r->by_time, CHROME_ORDER_BYTES);

	s->ended = true;
	err = err ? err : chrome_order_open(&r->order, CHROME_ORDER_BYTES);
	err = err ? err : move_queue(r, &s->by_time, r->by_time);
	err = err ? err : move_queue(r, &s->order, r->order);
	err = err ? err : move_open(r);
	if (!err)
		stream_fini(s);
	return err;
}

int stream_add(struct chrome_reader *r, const struct chrome_record *record, const struct chrome_event *e,
	       int64_t duration_ns)
{
	struct stream *s = &r->stream;
	struct kept_item *item;
	int err;

	if (s->ended)
		return chrome_order_add(r->by_time, record);
	item = item_new(&s->store, e);
	if (!item)
		return -ENOMEM;
	item->ts_ns = record->ts_ns;
	item->duration_ns = duration_ns;
	item->rank = record->rank;
	item->track = record->track;
	item->kind = record->kind;
	/* One that lasts has its place among the slices: their ends come later, and so do all that are equal to it. */
	err = queue_add(duration_ns > 0 && duration_ns < INT64_MAX ? &s->order : &s->by_time, item);
	return err || s->store.bytes <= s->bytes_max ? err : spill(r);
}

static void free_queue(struct stream *s, struct queue *q)
{
	struct kept_item *item;

	q->sorted = q->cnt;
	while ((item = queue_take(q, QUEUE_ALL)))
		free_item(s, item);
	queue_fini(q);
}

void stream_fini(struct stream *s)
{
	struct kept_item *item;

	free_queue(s, &s->by_time);
	free_queue(s, &s->order);
	while ((item = s->oldest)) {
		s->oldest = item->younger;
		free_item(s, item);
	}
	s->youngest = NULL;
	free(s->open);
	id_table_fini(&s->asyncs);
	id_table_fini(&s->names);
	s->open = NULL;
	s->open_cap = 0;
	item_store_fini(&s->store);
}
