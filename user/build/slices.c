// SPDX-License-Identifier: GPL-2.0
/*
 * Durations. Viewers close the innermost open slice of a thread whatever an end
 * is called, so every thread has a stack here: an end closes what was begun inside
 * of its slice and still open, one without a slice is none. Each CPU has pseudo
 * threads for what is not a thread's doing.
 *
 * A frame: struct frame, then its name. The next one begins behind it, aligned.
 */
#include "build_p.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define DEPTH_MAX	500U		/* Perfetto draws 512 */
#define BACK_MAX_NS	1000000U	/* clocks of CPUs differ by less: beyond, it is no slice */

struct frame {
	uint64_t ts;
	const char *category;
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

/* ---- tracks ---------------------------------------------------------------- */

static struct track *new_track(uint64_t process, uint64_t thread)
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
		c->tracks[kind] = new_track(at.process, at.thread);
	return c->tracks[kind];
}

struct track *track_of(struct builder *b, const struct record *r)
{
	struct track *softirq;

	if (r->ev->in_irq && r->cpu) {
		softirq = r->cpu->tracks[PSEUDO_SOFTIRQ];
		if (softirq && softirq->depth &&
		    !(r->cpu->tracks[PSEUDO_IRQ] && r->cpu->tracks[PSEUDO_IRQ]->depth))
			return softirq;
		return track_of_cpu(b, r->cpu, PSEUDO_IRQ);
	}
	if (!r->t)
		return track_of_cpu(b, r->cpu, PSEUDO_CPU);
	if (r->t == b->idle)
		return track_of_cpu(b, r->cpu, PSEUDO_IDLE);
	if (!r->t->track)
		r->t->track = new_track(r->t->process, r->t->koid);
	return r->t->track;
}

/*
 * A marker is written by write(2). Where calls are traced too it lies within
 * one, its slice would end after the call has and be closed with it: such markers
 * get a track of their own beside the thread's.
 */
struct track *track_of_marker(struct builder *b, const struct record *r, bool begins)
{
	struct thread *t = r->t;

	if (!t || t == b->idle)
		return r->t ? track_of_cpu(b, r->cpu, PSEUDO_IDLE) :
			      track_of_cpu(b, r->cpu, PSEUDO_CPU);
	if (!t->markers && begins && (b->live ? b->live->own_tracks : t->track && t->track->kernel))
		t->markers = new_track(t->process, PSEUDO_MARKERS + b->marker_tracks++);
	if (t->markers && (begins || t->markers->depth || t->markers->deep))
		return t->markers;
	if (!t->track)
		t->track = new_track(t->process, t->koid);
	return t->track;
}

struct fxt_thread place_of(struct builder *b, const struct record *r)
{
	struct track *tr;

	if (r->t && r->t != b->idle)
		return (struct fxt_thread){ .process = r->t->process, .thread = r->t->koid };
	tr = track_of_cpu(b, r->cpu, r->t ? PSEUDO_IDLE : PSEUDO_CPU);
	return tr ? tr->at : (struct fxt_thread){ 0 };
}

/* ---- the stack ------------------------------------------------------------- */

static int push(struct track *tr, uint64_t ts, const struct slice *s)
{
	size_t size = (sizeof(struct frame) + s->name.len + 7) & ~(size_t)7;
	size_t cap = tr->cap ? tr->cap : 512;
	struct frame *f;
	char *moved;

	while (tr->used + size > cap)
		cap *= 2;
	if (cap != tr->cap) {
		moved = realloc(tr->stack, cap);
		if (!moved)
			return -ENOMEM;
		tr->stack = moved;
		tr->cap = (uint32_t)cap;
	}
	f = (struct frame *)(tr->stack + tr->used);
	*f = (struct frame){
		.ts = ts, .below = tr->top, .key = s->key, .depth = s->depth,
		.family = (uint8_t)s->family, .category = s->category.data,
		.category_len = (uint32_t)s->category.len, .name_len = (uint32_t)s->name.len,
	};
	if (s->name.len)
		memcpy(f + 1, s->name.data, s->name.len);
	tr->top = tr->used;
	tr->used += (uint32_t)size;
	tr->depth++;
	tr->kernel += s->family != FAMILY_USER;
	return 0;
}

/* Ends the top frame. */
static int pop(struct builder *b, struct track *tr, uint64_t ts, const struct fxt_arg *args,
	       unsigned int n)
{
	const struct frame *f = frame_at(tr, tr->top);
	struct fxt_event e = {
		.type = FXT_DURATION_END, .ts = ts, .thread = tr->at,
		.category = fxt_str_n(f->category, f->category_len),
		.name = fxt_str_n(name_at(f), f->name_len),
	};

	tr->kernel -= f->family != FAMILY_USER;
	tr->used = tr->top;
	tr->top = f->below;
	tr->depth--;
	tr->leaf = false;
	tr->last = ts;
	return build_event(b, &e, args, n);
}

/* The same where the record in hand is about something else, and so is its stack. */
static int pop_unasked(struct builder *b, struct track *tr, uint64_t ts)
{
	struct held *current = b->current;
	int err;

	b->current = NULL;
	err = pop(b, tr, ts, NULL, 0);
	b->current = current;
	return err;
}

/* A call that returned, but not later than what comes now. */
static int settle(struct builder *b, struct track *tr, uint64_t ts)
{
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
	if (b->clock != FTRACE_CLOCK_NONE && build_ns(b, tr->last - *ts) > BACK_MAX_NS)
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
	int err = settle(b, tr, ts);

	if (!err)
		err = push(tr, ts, s);
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

static bool matches(const struct frame *f, const struct slice *s)
{
	if (f->family != s->family)
		return false;
	if (s->family == FAMILY_USER)
		return true;
	if (s->family == FAMILY_GRAPH && f->depth != s->depth)
		return false;
	return !s->key || f->key == s->key;
}

/* The offset of the innermost frame that @s ends, or of none: then @tr->used. */
static uint32_t find(const struct track *tr, const struct slice *s)
{
	uint32_t at = tr->top;
	unsigned int i;

	for (i = 0; i < tr->depth; i++) {
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

bool slice_is_open(const struct track *tr, const struct slice *s)
{
	return find(tr, s) != tr->used;
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
	err = settle(b, tr, ts);
	if (err)
		return err;
	at = find(tr, s);
	if (at == tr->used)
		return OUT_UNMATCHED;
	while (!err && tr->top != at) {
		b->stats.closed_slices++;
		err = pop_unasked(b, tr, ts);
	}
	if (!err)
		err = pop(b, tr, ts, args, n);
	return err ? err : OUT_SLICE;
}

int slice_close(struct builder *b, struct track *tr, uint64_t ts, const struct slice *s)
{
	struct held *current = b->current;
	int out;

	b->current = NULL;
	out = slice_end(b, tr, ts, s, NULL, 0);
	b->current = current;
	b->stats.closed_slices += out == OUT_SLICE;
	return out;
}

int slices_close(struct builder *b, struct track *tr)
{
	uint64_t ts;
	int err;

	if (!tr)
		return 0;
	err = settle(b, tr, tr->leaf_end);
	ts = tr->last;
	tr->deep = 0;
	while (!err && tr->depth) {
		b->stats.closed_slices++;
		err = pop_unasked(b, tr, ts);
	}
	return err;
}
