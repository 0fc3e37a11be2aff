// SPDX-License-Identifier: GPL-2.0
/*
 * Most ends are of one of the last begins: those are compared one by one, and only then is there an index,
 * which has the last of each name; the one before it is known by that.
 */
#include "open_stack.h"

#include <errno.h>

#include "text.h"

#define NEAR	32U	/* compared one by one */

uint64_t open_name(uint64_t stack, const char *name, size_t len)
{
	uint64_t hash = text_hash_of(stack, name, len);

	return hash ? hash : 1;
}

/* In order of their begins. */
static int index_node(struct id_table *index, struct open_node *node)
{
	node->is_indexed = true;
	if (!node->name)
		return 0;
	node->same = id_table_get(index, node->name);
	return id_table_put(index, node->name, node);
}

static int index_all(struct id_table *index, struct open_node *top)
{
	struct open_node *node = top;
	int err = 0;

	if (top->is_indexed)
		return 0;
	while (node->outer)
		node = node->outer;
	for (; node && !err; node = node->inner)
		err = index_node(index, node);
	return err;
}

int open_push(struct id_table *index, struct open_node **top, struct open_node *node)
{
	struct open_node *outer = *top;

	node->outer = outer;
	node->order = outer ? outer->order + 1 : 0;
	node->inner = node->same = NULL;
	node->is_indexed = false;
	*top = node;
	if (!outer)
		return 0;
	outer->inner = node;
	return outer->is_indexed ? index_node(index, node) : 0;
}

/* It is the last of its name. */
static void unlink_node(struct id_table *index, struct open_node **top, struct open_node *node)
{
	if (node->outer)
		node->outer->inner = node->inner;
	if (node->inner)
		node->inner->outer = node->outer;
	else
		*top = node->outer;
	if (!node->is_indexed || !node->name)
		return;
	if (node->same)
		id_table_put(index, node->name, node->same);	/* replaces: no memory is needed */
	else
		id_table_remove(index, node->name);
}

/* The later one of the last of these two names. */
static struct open_node *last_of(struct id_table *index, uint64_t name, uint64_t wild)
{
	struct open_node *named = id_table_get(index, name), *other = wild ? id_table_get(index, wild) : NULL;

	return !named || (other && other->order > named->order) ? other : named;
}

int open_pop(struct id_table *index, struct open_node **top, uint64_t name, uint64_t wild, struct open_node **node)
{
	struct open_node *found = *top;
	unsigned int i;
	int err;

	*node = NULL;
	for (i = 0; i < NEAR && found && name && found->name != name && !(wild && found->name == wild); i++)
		found = found->outer;
	if (i == NEAR && found) {
		err = index_all(index, *top);
		if (err)
			return err;
		found = last_of(index, name, wild);
	}
	if (found)
		unlink_node(index, top, found);
	*node = found;
	return 0;
}
