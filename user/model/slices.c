// SPDX-License-Identifier: GPL-2.0
/*
 * Durations. Viewers close the innermost open slice of a thread whatever an end
 * is called, so every thread has a stack here: an end closes what was begun inside
 * of its slice and still open, one without a slice is none. Each CPU has pseudo
 * threads for what is not a thread's doing.
 *
 * A frame: struct frame, then its name, and of FAMILY_EVENT its category. The next one begins
 * after it, aligned.
 */
#include "slices.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "core.h"

#define DEPTH_MAX	500U		/* Perfetto draws 512 */
#define BACK_MAX_NS	1000000U	/* clocks of CPUs differ by less: beyond, it is no slice */

struct frame {
	uint64_t ts;
	uint64_t end;		/* FAMILY_SPAN */
	const char *category;	/* NULL: after the name */
	uint32_t category_len;
	uint32_t below;		/* offset of the frame below */
	uint32_t key;
	uint32_t name_len;
	uint16_t depth;
	uint8_t family;
};

static const struct frame *frame_at(const struct track *tr, uint32_t offset)
{
	return (const struct frame *)(tr->stack + offset);
}

static const char *name_at(const struct frame *f)
{
	return (const char *)(f + 1);
}

static const char *category_at(const struct frame *f)
{
	return f->category ? f->category : name_at(f) + f->name_len;
}

/* ---- tracks ---------------------------------------------------------------- */

struct track *track_new(uint64_t process, uint64_t thread)
{
	struct track *tr = calloc(1, sizeof(*tr));

	if (tr)
		tr->at = (struct fxt_thread){ .process = process, .thread = thread };
	return tr;
}

void track_free(struct track *tr)
{
	if (tr)
		free(tr->stack);
	free(tr);
}

struct track *track_of_cpu(struct builder *b, struct cpu *c, enum pseudo kind)
{
	struct fxt_thread at;

	if (!c)
		c = b->no_cpu;
	at = pseudo_thread(kind, c->nr);
	if (!c->tracks[kind])
		c->tracks[kind] = track_new(at.process, at.thread);
	return c->tracks[kind];
}

/* ---- the stack ------------------------------------------------------------- */

/* @end: of a slice whose end is written already. */
static int push(struct track *tr, uint64_t ts, uint64_t end, const struct slice *s)
{
	size_t kept = s->family == FAMILY_EVENT ? s->category.len : 0;
	size_t size = (sizeof(struct frame) + s->name.len + kept + 7) & ~(size_t)7;
	struct frame *f;

	if (array_reserve(tr->stack, tr->used, tr->cap, size))
		return -ENOMEM;
	f = (struct frame *)(tr->stack + tr->used);
	*f = (struct frame){
		.ts = ts, .end = end, .below = tr->top, .key = s->key, .depth = s->depth,
		.family = (uint8_t)s->family, .category = kept ? NULL : s->category.data,
		.category_len = (uint32_t)s->category.len, .name_len = (uint32_t)s->name.len,
	};
	if (s->name.len)
		memcpy(f + 1, s->name.data, s->name.len);
	if (kept)
		memcpy((char *)(f + 1) + s->name.len, s->category.data, kept);
	tr->top = tr->used;
	tr->used += (uint32_t)size;
	tr->depth++;
	tr->kernel += s->family != FAMILY_USER;
	tr->spans += s->family == FAMILY_SPAN;
	tr->events += s->family == FAMILY_EVENT;
	return 0;
}

static void drop_top(struct track *tr)
{
	const struct frame *f = frame_at(tr, tr->top);

	tr->kernel -= f->family != FAMILY_USER;
	tr->spans -= f->family == FAMILY_SPAN;
	tr->events -= f->family == FAMILY_EVENT;
	tr->used = tr->top;
	tr->top = f->below;
	tr->depth--;
	tr->leaf = false;
}

/* Ends the top frame. */
static int pop(struct builder *b, struct track *tr, uint64_t ts, const struct fxt_arg *args,
	       unsigned int n)
{
	const struct frame *f = frame_at(tr, tr->top);
	struct fxt_event e = {
		.type = FXT_DURATION_END, .ts = ts, .thread = tr->at,
		.category = fxt_str_n(category_at(f), f->category_len),
		.name = fxt_str_n(name_at(f), f->name_len),
	};

	drop_top(tr);
	tr->last = ts;
	return build_event(b, &e, args, n);
}

/* The same where the record in hand is about something else, and so is its stack. */
static int pop_unasked(struct builder *b, struct track *tr, uint64_t ts)
{
	struct call_stacks *stacks = b->stacks;
	int err;

	b->stacks = NULL;
	err = pop(b, tr, ts, NULL, 0);
	b->stacks = stacks;
	return err;
}

/* The innermost slice whose end is known; there is one. */
static const struct frame *innermost_span(const struct track *tr)
{
	const struct frame *f = frame_at(tr, tr->top);

	while (f->family != FAMILY_SPAN)
		f = frame_at(tr, f->below);
	return f;
}

/* Ends all frames above @at at @ts; those whose end is known have theirs in the trace. */
static int close_above(struct builder *b, struct track *tr, uint32_t at, uint64_t ts)
{
	int err = 0;

	while (!err && tr->top != at) {
		if (frame_at(tr, tr->top)->family == FAMILY_SPAN) {
			drop_top(tr);
			continue;
		}
		b->stats.closed_slices++;
		err = pop_unasked(b, tr, ts);
	}
	return err;
}

/* Slices whose known end is not after @ts are over, and with them what began inside. */
static int close_spans(struct builder *b, struct track *tr, uint64_t ts)
{
	const struct frame *f;
	int err = 0;

	while (!err && tr->spans) {
		f = innermost_span(tr);
		if (f->end > ts)
			break;
		err = close_above(b, tr, (uint32_t)((const char *)f - tr->stack), f->end);
		if (!err)
			drop_top(tr);
	}
	return err;
}

/* Also a call that returned, but not later than what comes now. */
int slice_settle(struct builder *b, struct track *tr, uint64_t ts)
{
	if (tr->spans)
		return close_spans(b, tr, ts);
	if (!tr->leaf)
		return 0;
	return pop_unasked(b, tr, tr->leaf_end < ts ? tr->leaf_end : ts);
}

/*
 * Clocks of CPUs may differ a little, so that a thread that moves goes back in
 * time, which would turn its slices inside out. False: too far back.
 */
static bool fits(const struct builder *b, const struct track *tr, uint64_t *ts)
{
	if (*ts >= tr->last)
		return true;
	if (b->clock != MODEL_CLOCK_NONE && build_ns(b, tr->last - *ts) > BACK_MAX_NS)
		return false;
	*ts = tr->last;
	return true;
}

static int begin(struct builder *b, struct track *tr, uint64_t ts, const struct slice *s,
		 const struct fxt_arg *args, unsigned int n)
{
	struct fxt_event e = {
		.type = FXT_DURATION_BEGIN, .ts = ts, .thread = tr->at, .category = s->category,
		.name = s->name,
	};
	int err = slice_settle(b, tr, ts);

	if (!err)
		err = push(tr, ts, 0, s);
	if (err)
		return err;
	tr->last = ts;
	err = build_event(b, &e, args, n);
	return err ? err : OUT_SLICE;
}

/* What cannot be a slice is an instant of the same name. */
static int as_instant(struct builder *b, const struct track *tr, uint64_t ts, const struct slice *s,
		      const struct fxt_arg *args, unsigned int n)
{
	struct fxt_event e = {
		.type = FXT_INSTANT, .ts = ts, .thread = tr->at, .category = s->category,
		.name = s->name,
	};
	int err = build_event(b, &e, args, n);

	b->stats.crowded += tr->depth >= DEPTH_MAX;
	return err ? err : OUT_INSTANT;
}

int slice_begin(struct builder *b, struct track *tr, uint64_t ts, const struct slice *s,
		const struct fxt_arg *args, unsigned int n)
{
	if (!tr)
		return -ENOMEM;
	if (tr->depth >= DEPTH_MAX || !fits(b, tr, &ts)) {
		tr->deep += tr->depth >= DEPTH_MAX && s->family == FAMILY_USER;
		return as_instant(b, tr, ts, s, args, n);
	}
	return begin(b, tr, ts, s, args, n);
}

int slice_leaf(struct builder *b, struct track *tr, uint64_t ts, uint64_t end,
	       const struct slice *s, const struct fxt_arg *args, unsigned int n)
{
	int out;

	if (!tr)
		return -ENOMEM;
	if (tr->depth >= DEPTH_MAX || !fits(b, tr, &ts))
		return as_instant(b, tr, ts, s, args, n);
	out = begin(b, tr, ts, s, args, n);
	tr->leaf = out >= 0;
	tr->leaf_end = end > ts ? end : ts;
	return out;
}

/* Of those whose end is known the innermost one ends first. */
bool slice_fits(const struct track *tr, uint64_t ts, uint64_t end, uint64_t *until, bool *deep)
{
	bool fits;

	*until = tr->spans ? innermost_span(tr)->end : UINT64_MAX;
	fits = ts >= tr->last && end <= *until;
	*deep = fits && tr->depth >= DEPTH_MAX;
	return fits && !*deep;
}

int slice_span(struct builder *b, struct track *tr, uint64_t ts, uint64_t end, const struct slice *s,
	       const struct fxt_arg *args, unsigned int n)
{
	struct fxt_event e = {
		.type = FXT_DURATION_COMPLETE, .ts = ts, .thread = tr->at, .category = s->category,
		.name = s->name, .id = end,
	};
	int err = push(tr, ts, end, s);

	if (err)
		return err;
	tr->last = ts;
	if (end > tr->reach)
		tr->reach = end;
	err = build_event(b, &e, args, n);
	return err ? err : OUT_SLICE;
}

static bool matches(const struct frame *f, const struct slice *s)
{
	if (f->family != s->family)
		return false;
	if (s->family == FAMILY_USER)
		return true;
	if (s->family == FAMILY_GRAPH && f->depth != s->depth)
		return false;
	/* An event without a name begins, or ends, one of any name. */
	return !s->key || f->key == s->key || (s->family == FAMILY_EVENT && !f->key);
}

/* The offset of the innermost frame that @s ends, or of none: then @tr->used. */
static uint32_t find(const struct track *tr, const struct slice *s)
{
	unsigned int i = s->family == FAMILY_EVENT && !tr->events ? tr->depth : 0;
	uint32_t at = tr->top;

	for (; i < tr->depth; i++) {
		const struct frame *f = frame_at(tr, at);

		if (matches(f, s))
			return at;
		at = f->below;
	}
	return tr->used;
}

bool slice_top(const struct track *tr, struct slice *s, uint64_t *ts)
{
	uint32_t at = tr->top;
	unsigned int i;

	for (i = 0; i < tr->depth; i++) {
		const struct frame *f = frame_at(tr, at);

		if (f->family == s->family && !(tr->leaf && !i)) {
			s->depth = f->depth;
			s->key = f->key;
			s->name = fxt_str_n(name_at(f), f->name_len);
			*ts = f->ts;
			return true;
		}
		at = f->below;
	}
	return false;
}

bool slice_is_full(const struct track *tr)
{
	return tr->depth >= DEPTH_MAX;
}

bool slice_since(const struct track *tr, uint64_t *ts)
{
	if (tr->depth)
		*ts = frame_at(tr, tr->top)->ts;
	return tr->depth;
}

bool slice_is_open(const struct track *tr, const struct slice *s)
{
	return find(tr, s) != tr->used;
}

/* A slice lasts as long as those inside of it: @ts, or the latest end above @at. */
static uint64_t end_inside(const struct track *tr, uint32_t at, uint64_t ts)
{
	const struct frame *f;
	uint32_t above = tr->top;

	for (; tr->spans && above != at; above = f->below) {
		f = frame_at(tr, above);
		if (f->family == FAMILY_SPAN && f->end > ts)
			ts = f->end;
	}
	return ts;
}

int slice_end(struct builder *b, struct track *tr, uint64_t ts, const struct slice *s,
	      const struct fxt_arg *args, unsigned int n)
{
	uint32_t at;
	int err;

	if (!tr)
		return -ENOMEM;
	if (tr->deep && s->family == FAMILY_USER) {
		tr->deep--;
		return as_instant(b, tr, ts, s, args, n);
	}
	if (!fits(b, tr, &ts))
		return OUT_UNMATCHED;
	err = slice_settle(b, tr, ts);
	if (err)
		return err;
	at = find(tr, s);
	if (at == tr->used)
		return OUT_UNMATCHED;
	ts = end_inside(tr, at, ts);
	err = close_above(b, tr, at, ts);
	if (!err)
		err = pop(b, tr, ts, args, n);
	return err ? err : OUT_SLICE;
}

int slice_close(struct builder *b, struct track *tr, uint64_t ts, const struct slice *s)
{
	struct call_stacks *stacks = b->stacks;
	int out;

	b->stacks = NULL;
	out = slice_end(b, tr, ts, s, NULL, 0);
	b->stacks = stacks;
	b->stats.closed_slices += out == OUT_SLICE;
	return out;
}

/* Whether nothing is open but begins that may stay so. */
static bool may_stay_open(const struct track *tr)
{
	unsigned int i = tr->depth;
	uint32_t at = tr->top;

	for (; i && frame_at(tr, at)->family == FAMILY_EVENT; i--)
		at = frame_at(tr, at)->below;
	return !i;
}

int slices_close(struct builder *b, struct track *tr)
{
	uint64_t ts;
	int err;

	if (!tr)
		return 0;
	err = slice_settle(b, tr, tr->spans ? UINT64_MAX : tr->leaf_end);
	ts = tr->last > tr->reach ? tr->last : tr->reach;
	tr->deep = 0;
	for (; !err && !may_stay_open(tr); b->stats.closed_slices++)
		err = pop_unasked(b, tr, ts);
	for (; !err && tr->depth; b->stats.unfinished++)
		drop_top(tr);
	return err;
}
