/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The options about kfxt's own process: where and how urgently it runs, and what it gives up.
 */
#ifndef CLI_OPT_SELF_OPTS_H
#define CLI_OPT_SELF_OPTS_H

#include "session/privileges.h"
#include "base/num.h"
#include "opt.h"

struct self_opts {
	const char *nice;		/* NULL: as high as may be */
	struct num_cpus cpus;		/* none: as they are */
	bool no_sandbox;
};

/* Rows of a command whose config type @cfg has a struct self_opts @field. */
#define SELF_OPTS(cfg, field) \
	{ .name = "nice", .kind = OPT_STRING, .metavar = "N", \
	  .offset = offsetof(cfg, field.nice) }, \
	{ .name = "cpu-affinity", .kind = OPT_CPUS, .metavar = "CPUS", \
	  .offset = offsetof(cfg, field.cpus) }, \
	{ .name = "no-sandbox", .kind = OPT_FLAG, \
	  .offset = offsetof(cfg, field.no_sandbox) }

/* Whether they can be meant. An exit code; the message is printed, as @command's. */
int self_opts_check(const struct self_opts *opts, const char *command);
/* The nice value of --nice, or the default. */
int self_opts_nice(const struct self_opts *opts);
/* Whether, without --nice, a nice value is not enough: kernel_is_preempt_rt(), sched_group_is_shared(). */
bool self_opts_realtime(const struct self_opts *opts, bool with_command);
/* Priority and CPUs of this process, after what is not to have them has been forked. The same. */
int self_opts_apply(const struct self_opts *opts, const char *command);
/* Gives up what is no longer needed. The same. */
int self_opts_confine(const struct self_opts *opts, const struct privileges_cfg *cfg, const char *command);

#endif
