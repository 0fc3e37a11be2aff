// SPDX-License-Identifier: GPL-2.0
/*
 * One table of functions for both traces.
 */
#include "stacks_diff.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

static int find_row(struct stacks_diff *d, struct fxt_str name, enum profile_frame_kind kind, uint32_t *row)
{
	const uint32_t number = pf_pool_add(&d->text, name.data, name.len);
	const uint64_t key = (uint64_t)kind << 32 | number;
	uint32_t i = map_get(&d->by_name, key);
	int err = number == PF_POOL_FULL ? -ENOMEM : 0;

	if (!err && i == MAP_NONE) {
		i = (uint32_t)d->rows_cnt;
		err = array_reserve(d->rows, d->rows_cnt, d->rows_cap, 1);
		err = err ? err : map_add(&d->by_name, key, i);
		if (!err)
			d->rows[d->rows_cnt++] = (struct stacks_diff_row){ .name = number, .kind = kind };
	}
	*row = i;
	return err;
}

/* @rows: of the frames that were seen before; others are MAP_NONE. */
static int row_of(struct stacks_diff *d, const struct stacks *s, uint32_t *rows, uint32_t frame, uint32_t *row)
{
	const struct stacks_frame *f = &s->frames[frame];
	int err = rows[frame] == MAP_NONE ? find_row(d, stacks_text(s, f->name), f->kind, &rows[frame]) : 0;

	*row = rows[frame];
	return err;
}

static int add_stack(struct stacks_diff *d, const struct stacks *s, const struct stack_node *n, uint32_t *rows,
		     unsigned int side)
{
	const struct stack_value value = n->self;
	const struct stack_node *leaf = n;
	struct stacks_diff_row *row;
	uint32_t i;
	int err;

	d->stacks++;
	stack_value_add(&d->all[side], value);
	for (; n->parent != STACK_TREE_NONE; n = &s->tree.nodes[n->parent]) {
		err = row_of(d, s, rows, n->label, &i);
		if (err)
			return err;
		row = &d->rows[i];
		if (n == leaf)
			stack_value_add(&row->self[side], value);
		if (row->last != d->stacks)
			stack_value_add(&row->total[side], value);
		row->last = d->stacks;
	}
	return 0;
}

static int add_side(struct stacks_diff *d, const struct stacks *s, unsigned int side)
{
	uint32_t *rows = malloc((s->frames_cnt + 1) * sizeof(*rows));
	const struct stacks_thread *thread;
	enum profile_source source;
	const struct stack_node *n;
	int err = 0;

	if (!rows)
		return -ENOMEM;
	memset(rows, 0xff, s->frames_cnt * sizeof(*rows));	/* MAP_NONE */
	d->weights[side] = stacks_has_weights(s, d->cfg.source);
	for (n = s->tree.nodes; !err && n < s->tree.nodes + s->tree.nodes_cnt; n++) {
		thread = n->self.samples ? stacks_thread_of(s, n, &source) : NULL;
		if (thread && source == d->cfg.source && stacks_thread_matches(s, thread, d->cfg.comm))
			err = add_stack(d, s, n, rows, side);
	}
	free(rows);
	return err;
}

/* ---- shares ------------------------------------------------------------------ */

double stacks_diff_share(const struct stacks_diff *d, const struct stack_value sides[STACKS_SIDES], unsigned int side)
{
	const uint64_t all = stack_value_of(d->all[side], d->weights[side]);

	return all ? 100.0 * (double)stack_value_of(sides[side], d->weights[side]) / (double)all : 0;
}

double stacks_diff_delta(const struct stacks_diff *d, const struct stack_value sides[STACKS_SIDES])
{
	return stacks_diff_share(d, sides, STACKS_AFTER) - stacks_diff_share(d, sides, STACKS_BEFORE);
}

/* Of a share: binomial. */
static double variance(const struct stacks_diff *d, const struct stack_value sides[STACKS_SIDES], unsigned int side)
{
	const double share = stacks_diff_share(d, sides, side);

	return d->all[side].samples ? share * (100.0 - share) / (double)d->all[side].samples : 0;
}

double stacks_diff_sigma(const struct stacks_diff *d, const struct stack_value sides[STACKS_SIDES])
{
	if (d->cfg.source != PROFILE_CPU)
		return 0;
	return sqrt(variance(d, sides, STACKS_BEFORE) + variance(d, sides, STACKS_AFTER));
}

/* The largest difference first, then the largest share, then as they were found. */
static int compare_totals(const void *pa, const void *pb, void *ctx)
{
	const struct stacks_diff_row *a = pa, *b = pb;
	const struct stacks_diff *d = ctx;
	const struct stack_value *va = d->cfg.total ? a->total : a->self, *vb = d->cfg.total ? b->total : b->self;
	const double by = fabs(stacks_diff_delta(d, vb)) - fabs(stacks_diff_delta(d, va));
	const double then = stacks_diff_share(d, vb, STACKS_AFTER) - stacks_diff_share(d, va, STACKS_AFTER);

	if (by != 0)
		return by < 0 ? -1 : 1;
	if (then != 0)
		return then < 0 ? -1 : 1;
	if (a->name != b->name)
		return a->name < b->name ? -1 : 1;
	return (int)a->kind - (int)b->kind;
}

/* ---- opening and closing ----------------------------------------------------- */

int stacks_diff_init(struct stacks_diff *d, const struct stacks *before, const struct stacks *after,
		     const struct stacks_diff_cfg *cfg)
{
	int err;

	*d = (struct stacks_diff){ .cfg = *cfg };
	err = add_side(d, before, STACKS_BEFORE);
	err = err ? err : add_side(d, after, STACKS_AFTER);
	if (!err && d->rows_cnt)
		qsort_r(d->rows, d->rows_cnt, sizeof(*d->rows), compare_totals, d);
	return err;
}

void stacks_diff_fini(struct stacks_diff *d)
{
	pf_pool_fini(&d->text);
	map_fini(&d->by_name);
	free(d->rows);
}
