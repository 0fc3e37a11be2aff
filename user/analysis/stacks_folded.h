/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Folded stacks: "process;thread;outer;inner VALUE", one line for each distinct stack, of one trace or of
 * two with a value of each. Values are samples, of other sources than the CPU microseconds.
 */
#ifndef ANALYSIS_STACKS_FOLDED_H
#define ANALYSIS_STACKS_FOLDED_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "stacks.h"

#define STACKS_FOLDED_SIDES	2

/* All zero is an empty one. */
struct stacks_folded {
	const char *comm;		/* only threads whose name matches this glob; NULL: all */
	struct pf_pool text;		/* frames as they are written */
	struct stack_tree tree;		/* labels: numbers of @text */
	struct stacks_folded_value {
		uint64_t of[STACKS_FOLDED_SIDES];
	} *values;			/* of each node: samples, or ns */
	bool is_time[STACKS_FOLDED_SIDES];
	size_t values_cnt, values_cap;
};

/* Adds the stacks of @source as side 0 or 1. 0 or -ENOMEM. */
int stacks_folded_add(struct stacks_folded *f, const struct stacks *s, enum profile_source source, unsigned int side);
/* Writes all lines, with so many values each. Errors are those of @out. */
void stacks_folded_write(const struct stacks_folded *f, FILE *out, unsigned int sides);
void stacks_folded_fini(struct stacks_folded *f);

#endif
