/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Functions in the stacks of two traces: which part of each trace they have, and how it changed.
 */
#ifndef ANALYSIS_STACKS_DIFF_H
#define ANALYSIS_STACKS_DIFF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "stacks.h"

enum { STACKS_BEFORE, STACKS_AFTER, STACKS_SIDES };

struct stacks_diff_cfg {
	enum profile_source source;
	bool total;		/* sorted by the difference of totals; else by that of self */
	const char *comm;	/* only threads whose name matches this glob; NULL: all */
};

/* A function, by its name: files and addresses may differ between two builds of it. */
struct stacks_diff_row {
	uint32_t name;		/* number of stacks_diff.text */
	enum profile_frame_kind kind;
	struct stack_value self[STACKS_SIDES];	/* it was the innermost */
	struct stack_value total[STACKS_SIDES];	/* it was in the stack, however often */
	size_t last;		/* stack it was counted in */
};

struct stacks_diff {
	struct stacks_diff_cfg cfg;
	struct pf_pool text;
	struct stacks_diff_row *rows;	/* the largest difference first */
	size_t rows_cnt, rows_cap;
	struct map by_name;
	struct stack_value all[STACKS_SIDES];
	bool weights[STACKS_SIDES];	/* shares are of time; else of samples */
	size_t stacks;			/* counted so far */
};

/* The glob must outlive @d. 0 or -ENOMEM; stacks_diff_fini() frees in either case. */
int stacks_diff_init(struct stacks_diff *d, const struct stacks *before, const struct stacks *after,
		     const struct stacks_diff_cfg *cfg);
void stacks_diff_fini(struct stacks_diff *d);

/* In percent of all of that side. */
double stacks_diff_share(const struct stacks_diff *d, const struct stack_value sides[STACKS_SIDES], unsigned int side);
/* What changed, in points of a percent. */
double stacks_diff_delta(const struct stacks_diff *d, const struct stack_value sides[STACKS_SIDES]);
/*
 * How far that is from the true difference by chance, one sigma in points: of samples of the CPU, which are
 * random. 0 of other sources, whose samples are all there were.
 */
double stacks_diff_sigma(const struct stacks_diff *d, const struct stack_value sides[STACKS_SIDES]);

#endif
