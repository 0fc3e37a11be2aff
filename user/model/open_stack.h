/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Stacks of what has begun and not ended. An end with a name ends the last one of that name, which takes no
 * longer the more are open: a stack that is searched in its depth is indexed from then on, until it is empty.
 */
#ifndef MODEL_OPEN_STACK_H
#define MODEL_OPEN_STACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "id_table.h"

/* The first member of what is on a stack. */
struct open_node {
	struct open_node *outer, *inner;	/* that began before it, and after it; NULL: none */
	struct open_node *same;		/* of those that are indexed: of its name, and began before it */
	uint64_t name;			/* of open_name(); 0: it has none */
	uint64_t order;			/* of those on a stack */
	bool is_indexed;
};

/* Never 0. @stack: a number that no other stack of the index has. */
uint64_t open_name(uint64_t stack, const char *name, size_t len);
/* @node, of which only the name is set, is the last of the stack now; *@top is NULL of an empty one. 0 or -ENOMEM. */
int open_push(struct id_table *index, struct open_node **top, struct open_node *node);
/*
 * Takes the last one of @name, if it is 0 of any, out of the stack; *@node NULL: there is none. One of the name @wild, if that is
 * not 0, has any name. 0 or -ENOMEM.
 */
int open_pop(struct id_table *index, struct open_node **top, uint64_t name, uint64_t wild, struct open_node **node);

#endif
