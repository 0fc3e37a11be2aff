// SPDX-License-Identifier: GPL-2.0
/*
 * Another tree out of that of all stacks. Each of them is walked once.
 */
#include "stacks_view.h"

#include <errno.h>
#include <stdlib.h>

/* A stack of the trace on its way into the view. */
struct stack {
	const struct stacks_thread *thread;
	uint32_t frames[PROFILE_FRAMES_MAX];	/* innermost first */
	unsigned int frames_cnt;
	struct stack_value value;
};

/* False: it is not one of the view's. */
static bool get_stack(const struct stacks_view *v, const struct stack_node *n, struct stack *stack)
{
	enum profile_source source;

	stack->value = n->self;
	stack->frames_cnt = 0;
	for (; n->parent != STACK_TREE_NONE; n = &v->stacks->tree.nodes[n->parent])
		stack->frames[stack->frames_cnt++] = n->label;
	stack->thread = stacks_thread_of(v->stacks, n, &source);
	return source == v->cfg.source && stacks_thread_matches(v->stacks, stack->thread, v->cfg.comm);
}

/* A line that says who woke the thread is no frame of it. */
static unsigned int own_frames(const struct stacks_view *v, const struct stack *stack)
{
	unsigned int cnt = stack->frames_cnt;

	return cnt - (cnt && v->stacks->frames[stack->frames[cnt - 1]].mapping == v->stacks->waker_mapping);
}

static bool is_cut(const struct stacks_view *v, const struct stack *stack)
{
	unsigned int cnt = own_frames(v, stack);

	return cnt && v->stacks->frames[stack->frames[cnt - 1]].name == v->stacks->cut_name;
}

static bool has_user_part(const struct stacks_view *v, const struct stack *stack)
{
	unsigned int i, cnt = own_frames(v, stack);

	for (i = 0; i < cnt; i++)
		if (v->stacks->frames[stack->frames[i]].kind != PROFILE_KERNEL)
			return true;
	return false;
}

static void count(struct stacks_view *v, const struct stack *stack)
{
	stack_value_add(&v->all, stack->value);
	if (is_cut(v, stack))
		stack_value_add(&v->cut, stack->value);
	if (stack->thread->process && !has_user_part(v, stack))
		stack_value_add(&v->no_user, stack->value);
}

enum stacks_named stacks_view_named(enum stacks_by by)
{
	static const enum stacks_named named[STACKS_BY_CNT] = {
		[STACKS_BY_THREAD] = STACKS_THREAD, [STACKS_BY_PROCESS] = STACKS_PROCESS, [STACKS_BY_COMM] = STACKS_THREAD,
		[STACKS_BY_CGROUP] = STACKS_CGROUP, [STACKS_BY_CONTAINER] = STACKS_CONTAINER, [STACKS_BY_UNIT] = STACKS_UNIT,
	};

	return named[by];
}

static uint64_t group_key(const struct stacks_view *v, const struct stacks_thread *t)
{
	struct fxt_str name;

	switch (v->cfg.by) {
	case STACKS_BY_PROCESS:
		return t->process;
	case STACKS_BY_THREAD:
		return t->process << 32 | (uint32_t)t->thread;
	default:
		name = stacks_name_of(v->stacks, stacks_view_named(v->cfg.by), t);
		return (uintptr_t)(name.len ? name.data : NULL);	/* each string of the pool is there once */
	}
}

/* The root of the group the thread is in; the first thread gives the label. */
static int find_group(struct stacks_view *v, struct map *groups, const struct stacks_thread *t, uint32_t *node)
{
	const uint64_t key = group_key(v, t);
	uint32_t first = map_get(groups, key);
	int err = 0;

	if (first == MAP_NONE) {
		first = (uint32_t)(t - v->stacks->threads);
		err = map_add(groups, key, first);
	}
	return err ? err : stack_tree_child(&v->tree, STACK_TREE_NONE, first, node);
}

static int add_stack(struct stacks_view *v, struct map *groups, const struct stack *stack)
{
	uint32_t node = STACK_TREE_NONE;
	unsigned int i, at;
	int err = 0;

	if (v->cfg.by != STACKS_BY_NOTHING)
		err = find_group(v, groups, stack->thread, &node);
	for (i = 0; !err && i < stack->frames_cnt; i++) {
		at = v->cfg.inverted ? i : stack->frames_cnt - 1 - i;
		err = stack_tree_child(&v->tree, node, stack->frames[at], &node);
	}
	if (!err && node != STACK_TREE_NONE)
		stack_value_add(&v->tree.nodes[node].self, stack->value);
	return err;
}

static int add_stacks(struct stacks_view *v)
{
	const struct stack_tree *from = &v->stacks->tree;
	struct map groups = { 0 };
	struct stack stack;
	size_t i;
	int err = 0;

	for (i = 0; !err && i < from->nodes_cnt; i++) {
		if (!from->nodes[i].self.samples || !get_stack(v, &from->nodes[i], &stack))
			continue;
		count(v, &stack);
		err = add_stack(v, &groups, &stack);
	}
	map_fini(&groups);
	return err;
}

/* ---- order ------------------------------------------------------------------- */

static int by_weight(const void *pa, const void *pb, void *ctx)
{
	const uint32_t a = *(const uint32_t *)pa, b = *(const uint32_t *)pb;
	const struct stacks_view *v = ctx;
	const uint64_t va = stack_value_of(v->tree.nodes[a].total, v->weights);
	const uint64_t vb = stack_value_of(v->tree.nodes[b].total, v->weights);

	if (va != vb)
		return va > vb ? -1 : 1;
	return a < b ? -1 : a > b;
}

static int by_parent(const void *pa, const void *pb, void *ctx)
{
	const uint32_t a = *(const uint32_t *)pa, b = *(const uint32_t *)pb;
	const struct stacks_view *v = ctx;
	const uint32_t parent_a = v->tree.nodes[a].parent, parent_b = v->tree.nodes[b].parent;

	if (parent_a != parent_b)
		return parent_a < parent_b ? -1 : 1;
	return v->rank[a] < v->rank[b] ? -1 : 1;
}

static int put_in_order(struct stacks_view *v)
{
	const size_t cnt = v->tree.nodes_cnt;
	uint32_t i, at = 0;

	v->rank = calloc(cnt + 1, sizeof(*v->rank));
	v->by_rank = calloc(cnt + 1, sizeof(*v->by_rank));
	v->order = calloc(cnt + 1, sizeof(*v->order));
	v->first = calloc(cnt + 2, sizeof(*v->first));
	if (!v->rank || !v->by_rank || !v->order || !v->first)
		return -ENOMEM;
	for (i = 0; i < cnt; i++)
		v->order[i] = v->by_rank[i] = i;
	qsort_r(v->by_rank, cnt, sizeof(*v->by_rank), by_weight, v);
	for (i = 0; i < cnt; i++)
		v->rank[v->by_rank[i]] = i;
	qsort_r(v->order, cnt, sizeof(*v->order), by_parent, v);
	for (i = 0; i <= cnt; i++) {
		v->first[i] = at;
		while (i < cnt && at < cnt && v->tree.nodes[v->order[at]].parent == i)
			at++;
	}
	v->first[cnt + 1] = (uint32_t)cnt;
	return 0;
}

const uint32_t *stacks_view_children(const struct stacks_view *v, uint32_t node, size_t *cnt)
{
	const size_t i = node == STACK_TREE_NONE ? v->tree.nodes_cnt : node;

	*cnt = v->first[i + 1] - v->first[i];
	return v->order + v->first[i];
}

/* ---- opening and closing ----------------------------------------------------- */

int stacks_view_init(struct stacks_view *v, const struct stacks *s, const struct stacks_view_cfg *cfg)
{
	int err;

	*v = (struct stacks_view){ .cfg = *cfg, .stacks = s, .weights = stacks_has_weights(s, cfg->source) };
	err = add_stacks(v);
	if (err)
		return err == -ENOSPC ? -ENOMEM : err;
	stack_tree_total(&v->tree);
	return put_in_order(v);
}

void stacks_view_fini(struct stacks_view *v)
{
	stack_tree_fini(&v->tree);
	free(v->rank);
	free(v->by_rank);
	free(v->order);
	free(v->first);
}

double stacks_view_share(const struct stacks_view *v, struct stack_value value)
{
	const uint64_t all = stack_value_of(v->all, v->weights);

	return all ? 100.0 * (double)stack_value_of(value, v->weights) / (double)all : 0;
}
