/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The stacks of one source as one tree, or one for each thread, process or name: from the outermost frame
 * inwards, or from the innermost one outwards.
 */
#ifndef ANALYSIS_STACKS_VIEW_H
#define ANALYSIS_STACKS_VIEW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "stacks.h"

enum stacks_by {
	STACKS_BY_NOTHING,	/* roots are frames */
	STACKS_BY_THREAD,	/* roots are threads, by koid */
	STACKS_BY_PROCESS,	/* by koid */
	STACKS_BY_COMM,		/* threads of one name */
	STACKS_BY_CGROUP,	/* processes that were in one last */
	STACKS_BY_CONTAINER,	/* the same */
	STACKS_BY_UNIT,		/* the same */
	STACKS_BY_CNT
};

struct stacks_view_cfg {
	enum profile_source source;
	enum stacks_by by;
	bool inverted;
	const char *comm;	/* only threads whose name matches this glob; NULL: all */
};

/*
 * Labels of the tree: of roots an index of stacks.threads, one of the group, unless they are grouped by
 * nothing; of all others a frame. If it is inverted, only totals have a meaning.
 */
struct stacks_view {
	struct stacks_view_cfg cfg;
	const struct stacks *stacks;	/* borrowed */
	bool weights;			/* shares are of time; else of samples */
	struct stack_tree tree;
	struct stack_value all;
	struct stack_value cut;		/* of these: callers beyond [cut] are not known */
	struct stack_value no_user;	/* of these: threads of processes, with frames of the kernel only */
	uint32_t *rank;			/* of each node: 0 is the heaviest; a parent is always before its children */
	uint32_t *by_rank;		/* nodes, the heaviest first */
	uint32_t *order;		/* nodes: those with one parent together, the heaviest first */
	uint32_t *first;		/* of each node, and of no node at last: where its children begin in @order */
};

/* @s and the glob must outlive the view. 0 or -ENOMEM; stacks_view_fini() frees in either case. */
int stacks_view_init(struct stacks_view *v, const struct stacks *s, const struct stacks_view_cfg *cfg);
void stacks_view_fini(struct stacks_view *v);

/* Children of @node, the heaviest first; of STACK_TREE_NONE: roots. */
const uint32_t *stacks_view_children(const struct stacks_view *v, uint32_t node, size_t *cnt);
/* Whether the label is a thread. */
static inline bool stacks_view_is_group(const struct stacks_view *v, const struct stack_node *n)
{
	return v->cfg.by != STACKS_BY_NOTHING && n->parent == STACK_TREE_NONE;
}

/* The names that tell groups apart, or of threads and processes their own. */
enum stacks_named stacks_view_named(enum stacks_by by);

/* In percent of all. */
double stacks_view_share(const struct stacks_view *v, struct stack_value value);

#endif
