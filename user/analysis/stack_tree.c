// SPDX-License-Identifier: GPL-2.0
/*
 * Nodes in one array, found by a hash of parent and label.
 */
#include "stack_tree.h"

#include <errno.h>
#include <stdlib.h>

#include "base/array.h"

int stack_tree_child(struct stack_tree *t, uint32_t parent, uint32_t label, uint32_t *node)
{
	const uint64_t place = (uint64_t)parent << 32 | label;
	uint32_t found = map_get(&t->by_place, place);
	int err = 0;

	if (found == MAP_NONE) {
		if (t->nodes_cnt >= STACK_TREE_NODES_MAX)
			return -ENOSPC;
		err = array_reserve(t->nodes, t->nodes_cnt, t->nodes_cap, 1);
		err = err ? err : map_add(&t->by_place, place, (uint32_t)t->nodes_cnt);
		if (err)
			return err;
		found = (uint32_t)t->nodes_cnt++;
		t->nodes[found] = (struct stack_node){ .parent = parent, .label = label };
	}
	*node = found;
	return 0;
}

void stack_tree_total(struct stack_tree *t)
{
	const struct stack_node *n;
	size_t i;

	for (i = 0; i < t->nodes_cnt; i++)
		t->nodes[i].total = t->nodes[i].self;
	while (i--) {
		n = &t->nodes[i];
		if (n->parent != STACK_TREE_NONE)
			stack_value_add(&t->nodes[n->parent].total, n->total);
	}
}

void stack_tree_fini(struct stack_tree *t)
{
	free(t->nodes);
	map_fini(&t->by_place);
	*t = (struct stack_tree){ 0 };
}
