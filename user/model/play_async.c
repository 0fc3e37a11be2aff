// SPDX-License-Identifier: GPL-2.0
/*
 * Async slices and flows of readers. FXT has one namespace of ids of each for a whole trace, and
 * viewers name a track after the first slice of an id: so ids of the source are not those of FXT.
 */
#include "play.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "arg_fold.h"
#include "builder.h"

#define NESTS		8192U	/* a power of two: ids that are remembered */
#define NESTS_A_SET	4U		/* places of which an id has one */
#define NEST_DEPTH	12U
#define FLOWS_MAX	(1U << 20)
#define BEGUN		65536U	/* a power of two: begins of flows that are remembered */
#define BEGUN_A_SET	4U		/* of which the last ones stay */

/* What is open under an id. It is as true without it, but the slices would not share a track. */
struct nest {
	uint64_t key, id;		/* in the source, mixed; in FXT */
	uint64_t begun;			/* the last one did */
	uint64_t ends[NEST_DEPTH];	/* outermost first */
	unsigned int depth;
};

/* Where a flow began that may end more than once. */
struct begun_flow {
	uint64_t key, ts;
	struct thread *t;
};

/* Of the ids of a reader, none of them 0. */
static uint64_t key_of(uint64_t id)
{
	id = (id ^ id >> 30) * 0xbf58476d1ce4e5b9ULL;
	id = (id ^ id >> 27) * 0x94d049bb133111ebULL;
	id ^= id >> 31;
	return id ? id : 1;
}

/* ---- with a known end ------------------------------------------------------ */

/* The place of an id, or NULL. */
static struct nest *find_nest(const struct builder *b, uint64_t key)
{
	struct nest *set = b->nests ? &b->nests[key & (NESTS - NESTS_A_SET)] : NULL;
	unsigned int i;

	for (i = 0; set && i < NESTS_A_SET; i++)
		if (set[i].key == key)
			return &set[i];
	return NULL;
}

/* The same, else one of which nothing is open, else any. */
static struct nest *take_nest(const struct builder *b, uint64_t key, uint64_t ts)
{
	struct nest *found = find_nest(b, key), *set = &b->nests[key & (NESTS - NESTS_A_SET)];
	unsigned int i;

	for (i = 0; !found && i < NESTS_A_SET; i++)
		if (!set[i].depth || set[i].ends[0] <= ts)
			found = &set[i];
	return found ? found : &set[key >> 32 & (NESTS_A_SET - 1)];
}

/* The id in FXT: that of the slices that are open under the same id if it nests in them. */
static uint64_t nest_id(struct builder *b, struct nest *n, uint64_t key, uint64_t ts, uint64_t end)
{
	while (n->depth && n->ends[n->depth - 1] <= ts)
		n->depth--;
	if (n->key == key && n->depth && n->depth < NEST_DEPTH && ts >= n->begun && end <= n->ends[n->depth - 1]) {
		n->begun = ts;
		n->ends[n->depth++] = end;
		return n->id;
	}
	/* One that overlaps has a track of its own, and those that follow go on with the other. */
	if (n->key == key && n->depth)
		return ++b->async_ids;
	*n = (struct nest){ .key = key, .id = ++b->async_ids, .begun = ts, .ends = { end }, .depth = 1 };
	return n->id;
}

int play_async(struct builder *b, const struct model_event *ev, struct source_track *st)
{
	struct thread *t = track_thread(b, st);
	uint64_t key = key_of(ev->id), end = play_end(ev);
	struct fxt_event e;
	int err;

	if (!b->nests)
		b->nests = calloc(NESTS, sizeof(*b->nests));
	if (!b->nests || !t)
		return -ENOMEM;
	e = play_event(ev, t);
	e.type = FXT_ASYNC_BEGIN;
	e.id = nest_id(b, take_nest(b, key, e.ts), key, e.ts, end);
	err = play_put(b, &e, ev);
	if (err)
		return err;
	e.type = FXT_ASYNC_END;
	e.ts = end;
	if (end > b->now)
		b->now = end;
	err = build_event(b, &e, NULL, 0);
	return err ? err : OUT_SLICE;
}

/* ---- begin and end --------------------------------------------------------- */

int play_async_begin(struct builder *b, const struct model_event *ev, struct source_track *st)
{
	struct thread *t = track_thread(b, st);
	struct arg_fold fold;
	struct fxt_event e;
	unsigned int n = arg_fold(&fold, ev->args, ev->args_cnt);

	if (!t)
		return -ENOMEM;
	play_count_fold(b, &fold);
	e = play_event(ev, t);
	return async_push(b, &e, key_of(ev->id), fold.args, n);
}

int play_async_end(struct builder *b, const struct model_event *ev, struct source_track *st)
{
	struct thread *t = track_thread(b, st);
	struct arg_fold fold;
	struct fxt_event e;
	unsigned int n = arg_fold(&fold, ev->args, ev->args_cnt);

	if (!t)
		return -ENOMEM;
	play_count_fold(b, &fold);
	e = play_event(ev, t);
	return async_pop(b, &e, key_of(ev->id), fold.args, n);
}

/* The id in FXT of the slice that is open then; 0: none is. */
static uint64_t open_id(const struct builder *b, uint64_t key, uint64_t ts)
{
	const struct nest *n = find_nest(b, key);
	uint64_t id = async_open_id(b, key);

	return id || !n || !n->depth || n->ends[0] < ts ? id : n->id;
}

bool builder_has_async(const struct builder *b, uint64_t id, uint64_t ts_ns)
{
	return open_id(b, key_of(id), play_ts(ts_ns)) != 0;
}

/* FXT has them inside of slices only. */
int play_async_instant(struct builder *b, const struct model_event *ev, struct source_track *st)
{
	struct thread *t = track_thread(b, st);
	struct fxt_event e;
	int err;

	if (!t)
		return -ENOMEM;
	e = play_event(ev, t);
	e.id = open_id(b, key_of(ev->id), e.ts);
	e.type = e.id ? FXT_ASYNC_INSTANT : FXT_INSTANT;
	err = play_put(b, &e, ev);
	return err ? err : OUT_INSTANT;
}

/* ---- flows ----------------------------------------------------------------- */

static enum fxt_event_type flow_type(const struct model_event *ev, bool has_begun)
{
	if (ev->kind == MODEL_FLOW)
		return has_begun ? FXT_FLOW_STEP : FXT_FLOW_BEGIN;
	return ev->kind == MODEL_FLOW_BEGIN ? FXT_FLOW_BEGIN : ev->kind == MODEL_FLOW_END ? FXT_FLOW_END : FXT_FLOW_STEP;
}

/* Begun again it is another one. Its id in FXT, 0: there are too many. 0 or -ENOMEM. */
static int begin_flow(struct builder *b, uint64_t key, uint64_t *id)
{
	*id = 0;
	if (b->flows.cnt >= FLOWS_MAX && !id_table_get(&b->flows, key)) {
		b->stats.crowded_flows++;
		return 0;
	}
	*id = ++b->flow_ids;
	return id_table_put(&b->flows, key, (void *)(uintptr_t)*id);
}

/* The place of an id, else the one whose flow began first: the last one of its set. */
static unsigned int begun_place(const struct begun_flow *set, uint64_t key)
{
	unsigned int i = 0;

	while (i < BEGUN_A_SET - 1 && set[i].key != key)
		i++;
	return i;
}

/* Without memory for it second ends are not drawn. */
static void note_begin(struct builder *b, uint64_t key, uint64_t ts, struct thread *t)
{
	struct begun_flow *set;

	if (!b->begun_flows)
		b->begun_flows = calloc(BEGUN, sizeof(*b->begun_flows));
	if (!b->begun_flows)
		return;
	set = &b->begun_flows[key & (BEGUN - BEGUN_A_SET)];
	memmove(set + 1, set, begun_place(set, key) * sizeof(*set));
	*set = (struct begun_flow){ .key = key, .ts = ts, .t = t };
}

/* NULL: it is not known. */
static const struct begun_flow *find_begun(const struct builder *b, uint64_t key)
{
	const struct begun_flow *set = b->begun_flows ? &b->begun_flows[key & (BEGUN - BEGUN_A_SET)] : NULL;
	unsigned int i = set ? begun_place(set, key) : 0;

	return set && set[i].key == key ? &set[i] : NULL;
}

bool builder_has_flow(const struct builder *b, uint64_t id)
{
	return id_table_get(&b->flows, key_of(id)) || find_begun(b, key_of(id));
}

/* One that has ended is drawn from its begin once more, under another id; 0: it cannot be, which is counted. */
static int begin_again(struct builder *b, const struct model_event *ev, uint64_t *id)
{
	uint64_t key = key_of(ev->id);
	const struct begun_flow *begun = find_begun(b, key);
	struct fxt_event e;
	int err;

	if (!begun) {
		b->stats.unmatched_flows++;
		return 0;
	}
	err = begin_flow(b, key, id);
	if (err || !*id)
		return err;
	e = play_event(ev, begun->t);
	e.type = FXT_FLOW_BEGIN;
	e.ts = begun->ts;
	e.id = *id;
	return build_event(b, &e, NULL, 0);
}

int builder_move_flow(struct builder *b, uint64_t id, uint64_t to)
{
	uint64_t from_key = key_of(id), to_key = key_of(to);
	const struct begun_flow *begun = find_begun(b, from_key);
	void *open = id_table_get(&b->flows, from_key);

	if (begun)
		note_begin(b, to_key, begun->ts, begun->t);
	if (!open)
		return 0;
	id_table_remove(&b->flows, from_key);
	return id_table_put(&b->flows, to_key, open);
}

/* Sets type and id; 0: it is not to be written. */
static int find_flow(struct builder *b, const struct model_event *ev, struct fxt_event *e, struct thread *t)
{
	uint64_t key = key_of(ev->id);
	int err = 0;

	e->id = (uint64_t)(uintptr_t)id_table_get(&b->flows, key);
	e->type = flow_type(ev, e->id);
	if (e->type == FXT_FLOW_BEGIN) {
		err = begin_flow(b, key, &e->id);
		/* Others end once: what comes then is another flow. */
		if (e->id && ev->kind == MODEL_FLOW_BEGIN)
			note_begin(b, key, e->ts, t);
		return err;
	}
	if (!e->id)
		err = begin_again(b, ev, &e->id);
	if (e->type == FXT_FLOW_END)
		id_table_remove(&b->flows, key);
	return err;
}

/* The one of two threads of a track whose slice began last, of those that are open at @ts. */
static int choose_thread(struct builder *b, struct thread *t, uint64_t ts, struct thread **chosen, uint64_t *begun)
{
	uint64_t since;
	int err = t->track ? slice_settle(b, t->track, ts) : 0;

	if (err || !t->track || !slice_since(t->track, &since) || (*chosen && since < *begun))
		return err;
	*chosen = t;
	*begun = since;
	return 0;
}

/* Where the innermost slice is that is open; the last one there was if none is. */
static int thread_of_flow(struct builder *b, const struct source_track *st, uint64_t ts, struct thread **t)
{
	uint64_t begun;
	unsigned int i;
	int err;

	*t = NULL;
	err = st->lanes_cnt ? choose_thread(b, st->t, ts, t, &begun) : 0;
	for (i = 0; i < st->lanes_cnt && !err; i++)
		err = choose_thread(b, st->lanes[i].t, ts, t, &begun);
	if (!*t)
		*t = st->last;
	return err;
}

/* On the thread of the slice that it binds to. */
int play_flow(struct builder *b, const struct model_event *ev, struct source_track *st)
{
	struct thread *t = track_thread(b, st);
	struct fxt_event e;
	int err = t ? thread_of_flow(b, st, play_ts(ev->ts_ns), &t) : -ENOMEM;

	if (err)
		return err;
	e = play_event(ev, t);
	err = find_flow(b, ev, &e, t);
	if (!err && e.id)
		err = play_put(b, &e, ev);
	return err ? err : OUT_FLOW;
}
