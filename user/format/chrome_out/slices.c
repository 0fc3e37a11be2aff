// SPDX-License-Identifier: GPL-2.0
/*
 * Begins and ends of durations become complete events: in order of time, an end belongs to the
 * innermost slice of its thread that is open.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "writer_p.h"

#define DEPTH_MAX	512U	/* viewers show no more */

/* Of a thread. */
struct stack {
	struct early_event *open[DEPTH_MAX];
	unsigned int depth;
	uint64_t deeper;	/* begins beyond, whose ends are still to come */
};

struct stacks {
	struct map by_thread;
	struct stack **all;
	size_t cnt, cap;
};

/* ---- stacks ----------------------------------------------------------------------- */

static struct stack *add_stack(struct stacks *s, uint64_t thread)
{
	if (array_reserve(s->all, s->cnt, s->cap, 1) || map_add(&s->by_thread, thread, (uint32_t)s->cnt))
		return NULL;
	s->all[s->cnt] = calloc(1, sizeof(**s->all));
	return s->all[s->cnt] ? s->all[s->cnt++] : NULL;
}

static struct stack *stack_of(struct stacks *s, uint64_t thread)
{
	uint32_t at = map_get(&s->by_thread, thread);

	return at == MAP_NONE ? add_stack(s, thread) : s->all[at];
}

static void free_stacks(struct stacks *s)
{
	size_t i;

	for (i = 0; i < s->cnt; i++) {
		while (s->all[i]->depth)
			free(s->all[i]->open[--s->all[i]->depth]);
		free(s->all[i]);
	}
	free(s->all);
	map_fini(&s->by_thread);
}

/* ---- lines ------------------------------------------------------------------------ */

static bool is_begin(const struct early_event *s)
{
	return s->type == FXT_DURATION_BEGIN;
}

static void begin_line(struct chrome_writer *w, const char *phase, const struct early_event *s)
{
	chrome_line_begin(w, phase, s->at, s->ts_ns, chrome_early_category(s), chrome_early_name(s));
	w->args.len = 0;
	chrome_early_put_args(w, s);
}

/* Both ends: arguments of the end come last, and count where both have one of that name. */
static int put_complete(struct chrome_writer *w, const struct early_event *s, const struct early_event *end)
{
	const uint64_t duration_ns = end->ts_ns - s->ts_ns;

	begin_line(w, "X", s);
	write_buf_text(&w->line, ",\"dur\":");
	write_buf_us(&w->line, duration_ns);
	chrome_early_put_args(w, end);
	return chrome_line_end(w, s->ts_ns, RANK_SLICE(duration_ns));
}

/* One that never ended, or an end beyond the depth that is paired. */
static int put_alone(struct chrome_writer *w, const struct early_event *s)
{
	begin_line(w, is_begin(s) ? "B" : "E", s);
	return chrome_line_end(w, s->ts_ns, is_begin(s) ? RANK_UNFINISHED : RANK_OTHER);
}

/* Of an end without a begin viewers make nothing: an instant is shown. */
static int put_unmatched(struct chrome_writer *w, const struct early_event *s)
{
	begin_line(w, "i", s);
	write_buf_text(&w->line, ",\"s\":\"t\"");
	return chrome_line_end(w, s->ts_ns, RANK_OTHER);
}

/* ---- pairing ---------------------------------------------------------------------- */

static int take_begin(struct chrome_writer *w, struct stack *stack, const struct early_event *s, size_t len)
{
	struct early_event *copy;

	if (stack->depth == DEPTH_MAX) {
		stack->deeper++;
		return put_alone(w, s);
	}
	copy = malloc(len);
	if (!copy)
		return -ENOMEM;
	memcpy(copy, s, len);
	stack->open[stack->depth++] = copy;
	return 0;
}

static int take_end(struct chrome_writer *w, struct stack *stack, const struct early_event *s)
{
	struct early_event *begin;
	int err;

	if (stack->deeper) {
		stack->deeper--;
		return put_alone(w, s);
	}
	if (!stack->depth)
		return put_unmatched(w, s);
	begin = stack->open[--stack->depth];
	err = put_complete(w, begin, s);
	free(begin);
	return err;
}

/* Those that never ended, the outer ones first. */
static int put_open(struct chrome_writer *w, const struct stacks *s)
{
	unsigned int i;
	size_t t;
	int err = 0;

	for (t = 0; t < s->cnt; t++)
		for (i = 0; i < s->all[t]->depth && !err; i++)
			err = put_alone(w, s->all[t]->open[i]);
	return err;
}

int chrome_slices_pair(struct chrome_writer *w, struct event_sort_item *item)
{
	struct stacks stacks = { 0 };
	struct write_buf copy = { 0 };
	int got, err = 0;

	while (!err && (got = event_sort_next(w->early, item)) > 0 && item->key.group == EARLY_SLICE) {
		const struct early_event *s = chrome_early_get(&copy, item);
		struct stack *stack = s ? stack_of(&stacks, s->at.thread) : NULL;

		err = !stack ? -ENOMEM : is_begin(s) ? take_begin(w, stack, s, copy.len) : take_end(w, stack, s);
	}
	err = err ? err : put_open(w, &stacks);
	free_stacks(&stacks);
	write_buf_fini(&copy);
	return err ? err : got;
}
