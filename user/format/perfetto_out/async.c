// SPDX-License-Identifier: GPL-2.0
/*
 * Lanes: tracks of one name, of which viewers make as many rows as overlap.
 */
#include "async.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "format/perfetto/fields.h"

#define NONE		UINT32_MAX
#define SEARCH_MAX	64U	/* lanes that are looked at for a free one */
#define OPEN_MAX	(1U << 20)
#define ENDED_MAX	(1U << 16)
#define KEY_BYTES	512U

void out_async_fini(struct out_async *a)
{
	pf_pool_fini(&a->categories);
	pf_pool_fini(&a->groups);
	free(a->first_lanes);
	free(a->lanes);
	free(a->open);
	*a = (struct out_async){ 0 };
}

/* ---- what is open ----------------------------------------------------------------- */

static uint32_t *find_open(struct out_async *a, uint32_t category, uint64_t id)
{
	uint32_t *at = &a->buckets[(id * 0x9e3779b97f4a7c15ULL >> 32 ^ category) % OUT_ASYNC_BUCKETS];

	while (*at && (a->open[*at - 1].id != id || a->open[*at - 1].category != category))
		at = &a->open[*at - 1].next;
	return at;
}

static int add_open(struct out_async *a, const struct out_open *open)
{
	uint32_t *at, number = a->free;

	if (number) {
		a->free = a->open[number - 1].next;
	} else {
		if (array_reserve(a->open, a->open_cnt, a->open_cap, 1))
			return -ENOMEM;
		number = (uint32_t)++a->open_cnt;
	}
	at = find_open(a, open->category, open->id);
	a->open[number - 1] = *open;
	*at = number;
	return 0;
}

static void remove_open(struct out_async *a, uint32_t *at)
{
	const uint32_t number = *at;
	struct out_open *o = &a->open[number - 1];

	*at = o->next;
	o->next = a->free;
	a->free = number;
}

static void close_open(struct out_async *a, uint32_t *at, uint64_t ts_ns)
{
	struct out_open *o = &a->open[*at - 1];

	if (--o->depth)
		return;
	a->lanes[o->lane].free_ns = ts_ns;
	remove_open(a, at);
}

/* When what begins now has ended, if that was there before; 0: it was not. */
static uint64_t take_ended(struct out_async *a, uint32_t *at, uint64_t ts_ns)
{
	const uint64_t end_ns = a->open[*at - 1].end_ns;

	a->ended_cnt--;
	remove_open(a, at);
	return end_ns >= ts_ns ? end_ns : 0;
}

/* ---- lanes ------------------------------------------------------------------------ */

/* What viewers have the thread in; see tracks.c. */
static uint64_t process_of(const struct fxt_event *e)
{
	return !e->thread.process && out_is_linux(e->thread.thread) ? e->thread.thread : e->thread.process;
}

/* *@first is where the group's first lane is; NULL: there are too many groups. */
static int find_group(struct out_async *a, const struct fxt_event *e, uint32_t category, uint32_t **first)
{
	const size_t before = a->groups.cnt;
	const uint64_t process = process_of(e);
	const size_t len = e->name.len < KEY_BYTES ? e->name.len : KEY_BYTES;
	char key[sizeof(process) + sizeof(category) + KEY_BYTES];
	uint32_t number;

	memcpy(key, &process, sizeof(process));
	memcpy(key + sizeof(process), &category, sizeof(category));
	memcpy(key + sizeof(process) + sizeof(category), e->name.data, len);
	number = pf_pool_add(&a->groups, key, sizeof(process) + sizeof(category) + len);
	*first = NULL;
	if (number == PF_POOL_FULL)
		return 0;
	if (array_reserve(a->first_lanes, before, a->first_lanes_cap, 1))
		return -ENOMEM;
	*first = &a->first_lanes[number - 1];
	if (a->groups.cnt > before)
		**first = NONE;
	return 0;
}

static int add_lane(struct out_async *a, struct out_tracks *t, const struct fxt_event *e, uint32_t *first,
		    uint64_t ts_ns)
{
	struct out_lane lane = { .next = *first };
	int err = array_reserve(a->lanes, a->lanes_cnt, a->lanes_cap, 1);

	err = err ? err : out_tracks_add(t, process_of(e), e->name, ts_ns, &lane.uuid);
	if (err)
		return err;
	*first = (uint32_t)a->lanes_cnt;
	a->lanes[a->lanes_cnt++] = lane;
	return 0;
}

/* One that is free by then: 0 with *@found, which is NONE if there are too many, or -ENOMEM. */
static int find_lane(struct out_async *a, struct out_tracks *t, const struct fxt_event *e, uint32_t category,
		     uint64_t ts_ns, uint32_t *found)
{
	unsigned int looked = 0;
	uint32_t *first, at;
	int err = find_group(a, e, category, &first);

	*found = NONE;
	if (err || !first || a->lanes_cnt >= NONE)
		return err;
	for (at = *first; at != NONE && a->lanes[at].free_ns > ts_ns && ++looked < SEARCH_MAX; at = a->lanes[at].next)
		;
	if (at == NONE || a->lanes[at].free_ns > ts_ns) {
		err = add_lane(a, t, e, first, ts_ns);
		at = *first;
	}
	*found = err ? NONE : at;
	return err;
}

/* An event of what is open. */
static void continue_open(struct out_async *a, uint32_t *open, const struct fxt_event *e, uint64_t ts_ns,
			  struct out_place *place)
{
	place->uuid = a->lanes[a->open[*open - 1].lane].uuid;
	if (e->type == FXT_ASYNC_BEGIN) {
		a->open[*open - 1].depth++;
		place->type = PF_TYPE_BEGIN;
	} else if (e->type == FXT_ASYNC_END) {
		close_open(a, open, ts_ns);
		place->type = PF_TYPE_END;
	}
}

/* Its begin may follow: 0 or -ENOMEM. */
static int keep_end(struct out_async *a, struct out_open *open, uint64_t ts_ns)
{
	if (a->ended_cnt == ENDED_MAX || (a->open_cnt >= OPEN_MAX && !a->free))
		return 0;
	a->ended_cnt++;
	open->depth = 0;
	open->end_ns = ts_ns;
	return add_open(a, open);
}

int out_async_place(struct out_async *a, struct out_tracks *t, const struct fxt_event *e, uint64_t ts_ns,
		    struct out_place *place)
{
	const uint32_t category = pf_pool_add(&a->categories, e->category.data, e->category.len);
	uint32_t *at = find_open(a, category, e->id);
	struct out_open open = { .id = e->id, .category = category, .depth = 1 };
	const bool has_ended = *at && !a->open[*at - 1].depth;
	int err;

	*place = (struct out_place){ .type = PF_TYPE_INSTANT };
	if (*at && !has_ended) {
		continue_open(a, at, e, ts_ns, place);
		return 0;
	}
	if (has_ended && e->type == FXT_ASYNC_BEGIN)
		place->end_ns = take_ended(a, at, ts_ns);
	if (e->type == FXT_ASYNC_BEGIN && a->open_cnt >= OPEN_MAX && !a->free)
		return 0;
	err = find_lane(a, t, e, category, ts_ns, &open.lane);
	if (err || open.lane == NONE)
		return err;
	place->uuid = a->lanes[open.lane].uuid;
	if (e->type != FXT_ASYNC_BEGIN)
		return e->type == FXT_ASYNC_END && !has_ended ? keep_end(a, &open, ts_ns) : 0;
	place->type = PF_TYPE_BEGIN;
	a->lanes[open.lane].free_ns = place->end_ns ? place->end_ns : UINT64_MAX;
	return place->end_ns ? 0 : add_open(a, &open);
}
