/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The options that say which threads.
 */
#ifndef CLI_FILTER_OPTS_H
#define CLI_FILTER_OPTS_H

#include "opt.h"

struct filter;

struct filter_opts {
	struct opt_list pids, tids, comms, cgroups;
	bool follow;
};

/* Rows of a command whose config type @cfg has a struct filter_opts @field. */
#define FILTER_OPTS(cfg, field) \
	{ "pid", 'p', OPT_LIST, "PID", "threads of this process only; or of several: 1,2", \
	  offsetof(cfg, field.pids), NULL, 0, 0 }, \
	{ "tid", 't', OPT_LIST, "TID", "this thread", \
	  offsetof(cfg, field.tids), NULL, 0, 0 }, \
	{ "comm", 0, OPT_LIST, "GLOB", "threads of this name", \
	  offsetof(cfg, field.comms), NULL, 0, 0 }, \
	{ "cgroup", 0, OPT_LIST, "DIR", "threads in this cgroup (v2) or below", \
	  offsetof(cfg, field.cgroups), NULL, 0, 0 }, \
	{ "follow", 0, OPT_FLAG, NULL, "COMMAND and its descendants", \
	  offsetof(cfg, field.follow), NULL, 0, 0 }

/*
 * Looks up what was asked for; *@out is NULL if that is all threads. @has_command: there is one
 * to follow. An exit code; the message is printed.
 */
int filter_opts_choose(const struct filter_opts *opts, bool has_command, struct filter **out);

#endif
