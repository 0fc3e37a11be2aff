/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Stacks that share their outer frames, as a tree: a node is a label below its parent, a stack is the
 * node it ends in. What labels are is the caller's: functions, threads.
 */
#ifndef ANALYSIS_STACK_TREE_H
#define ANALYSIS_STACK_TREE_H

#include <stddef.h>
#include <stdint.h>

#include "base/map.h"

#define STACK_TREE_NONE		UINT32_MAX	/* no node; the parent of roots */
#define STACK_TREE_NODES_MAX	(4U << 20)	/* some 400 MiB; a tree takes no more */

struct stack_value {
	uint64_t samples;
	uint64_t weight_ns;
};

/* Parents are before their children in the array. */
struct stack_node {
	uint32_t parent, label;
	struct stack_value self;	/* of stacks that end here */
	struct stack_value total;	/* of stacks that end here or below; see stack_tree_total() */
};

/* All zero is an empty one. */
struct stack_tree {
	struct stack_node *nodes;
	size_t nodes_cnt, nodes_cap;
	struct map by_place;		/* node by parent and label */
};

/*
 * The node @label below @parent, a new one if there is none; STACK_TREE_NONE is the parent of roots. 0,
 * -ENOMEM, or -ENOSPC with STACK_TREE_NODES_MAX nodes.
 */
int stack_tree_child(struct stack_tree *t, uint32_t parent, uint32_t label, uint32_t *node);
/* Works out the totals, after the last change of any self. */
void stack_tree_total(struct stack_tree *t);
void stack_tree_fini(struct stack_tree *t);

static inline void stack_value_add(struct stack_value *to, struct stack_value v)
{
	to->samples += v.samples;
	to->weight_ns += v.weight_ns;
}

#endif
