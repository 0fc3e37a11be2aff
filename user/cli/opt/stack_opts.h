/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The options that say which stacks are sampled.
 */
#ifndef CLI_OPT_STACK_OPTS_H
#define CLI_OPT_STACK_OPTS_H

#include <stdint.h>

#include "opt.h"

struct json;
struct stack_source;

struct stack_opts {
	const char *sample, *off_cpu, *user;	/* NULL: not given; "": without a value */
	bool stacks, wakers, kernel, no_kernel;
};

/* Rows of a command whose config type @cfg has a struct stack_opts @field. */
#define STACK_OPTS(cfg, field) \
	{ .name = "stacks", .kind = OPT_FLAG, .help = "stack samples: on-CPU, off-CPU, wakers", \
	  .offset = offsetof(cfg, field.stacks) }, \
	{ .name = "sample", .kind = OPT_OPTIONAL, .metavar = "HZ", \
	  .offset = offsetof(cfg, field.sample) }, \
	{ .name = "off-cpu", .kind = OPT_OPTIONAL, .metavar = "TIME", \
	  .offset = offsetof(cfg, field.off_cpu) }, \
	{ .name = "wakers", .kind = OPT_FLAG, \
	  .offset = offsetof(cfg, field.wakers) }, \
	{ .name = "user-stack", .kind = OPT_STRING, .metavar = "HOW", \
	  .offset = offsetof(cfg, field.user) }, \
	{ .name = "kernel-stack", .kind = OPT_FLAG, \
	  .offset = offsetof(cfg, field.kernel) }, \
	{ .name = "no-kernel-stack", .kind = OPT_FLAG, \
	  .offset = offsetof(cfg, field.no_kernel) }

/*
 * From the options to what samples; *@out stays NULL if nothing is to be. @ring_bytes is of each CPU's ring.
 * An exit code; the message is printed, as @command's.
 */
int stack_opts_choose(const struct stack_opts *opts, const char *command, uint64_t ring_bytes, struct stack_source **out);
/* By what mechanism sleeps are sampled, and what that cannot do. */
void stack_opts_show_attached(const struct stack_source *s);
/* How many user stacks are not whole, and why. */
void stack_opts_show_end(const struct stack_source *s);
/* The same as the value of a key. */
void stack_opts_print_json(struct json *j, const struct stack_source *s);

#endif
