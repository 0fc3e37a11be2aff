/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The options --budget and --mem-budget: what a recording may cost.
 */
#ifndef CLI_OPT_BUDGET_OPTS_H
#define CLI_OPT_BUDGET_OPTS_H

#include <stdint.h>

#include "opt.h"

struct budget_opts {
	const char *percent;		/* NULL: no limit */
	uint64_t memory_bytes;		/* 0: no limit */
};

/* See struct opt. */
const char *budget_opts_check(const char *text);

/* Rows of a command whose config type @cfg has a struct budget_opts @field. */
#define BUDGET_OPTS(cfg, field) \
	{ .name = "budget", .kind = OPT_STRING, .metavar = "N%", \
	  .offset = offsetof(cfg, field.percent), .check = budget_opts_check }, \
	{ .name = "mem-budget", .kind = OPT_SIZE, .metavar = "SIZE", \
	  .offset = offsetof(cfg, field.memory_bytes), .min = 1 }

/* The limit as a share of one CPU, 0: none. An exit code; the message is printed, as @command's. */
int budget_opts_choose(const struct budget_opts *opts, const char *command, double *limit);

#endif
