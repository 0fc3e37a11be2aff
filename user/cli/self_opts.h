/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The options about kfxt's own process: where and how urgently it runs, and what it gives up.
 */
#ifndef CLI_SELF_OPTS_H
#define CLI_SELF_OPTS_H

#include "../record/confine.h"
#include "num.h"
#include "opt.h"

struct self_opts {
	const char *nice;		/* NULL: as high as may be */
	struct num_cpus cpus;		/* none: as they are */
	bool no_sandbox;
};

/* Rows of a command whose config type @cfg has a struct self_opts @field. */
#define SELF_OPTS(cfg, field) \
	{ "nice", 0, OPT_STRING, "N", NULL, offsetof(cfg, field.nice), NULL, 0, 0 }, \
	{ "cpu-affinity", 0, OPT_CPUS, "CPUS", NULL, offsetof(cfg, field.cpus), NULL, 0, 0 }, \
	{ "no-sandbox", 0, OPT_FLAG, NULL, NULL, offsetof(cfg, field.no_sandbox), NULL, 0, 0 }

/* Whether they can be meant. An exit code; the message is printed, as @command's. */
int self_opts_check(const struct self_opts *opts, const char *command);
/* Priority and CPUs of this process, after what is not to have them has been forked. The same. */
int self_opts_apply(const struct self_opts *opts, const char *command);
/* Gives up what is no longer needed. The same. */
int self_opts_confine(const struct self_opts *opts, const struct confine_cfg *cfg, const char *command);
/* Memory of this process that is neither the kernel's nor a file's; 0: not known. */
uint64_t self_memory_bytes(void);

#endif
