/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The options that say which threads.
 */
#ifndef CLI_OPT_FILTER_OPTS_H
#define CLI_OPT_FILTER_OPTS_H

#include "opt.h"

struct filter;

struct filter_opts {
	struct opt_list pids, tids, comms, cgroups;
	bool follow;
};

/* Rows of a command whose config type @cfg has a struct filter_opts @field. */
#define FILTER_OPTS(cfg, field) \
	{ .name = "pid", .letter = 'p', .kind = OPT_LIST, .metavar = "PID", \
	  .help = "threads of this process only; or of several: 1,2", \
	  .offset = offsetof(cfg, field.pids) }, \
	{ .name = "tid", .letter = 't', .kind = OPT_LIST, .metavar = "TID", .help = "this thread", \
	  .offset = offsetof(cfg, field.tids) }, \
	{ .name = "comm", .kind = OPT_LIST, .metavar = "GLOB", .help = "threads of this name", \
	  .offset = offsetof(cfg, field.comms) }, \
	{ .name = "cgroup", .kind = OPT_LIST, .metavar = "DIR", \
	  .help = "threads in a cgroup (v2), container=ID, unit=GLOB", \
	  .offset = offsetof(cfg, field.cgroups) }, \
	{ .name = "follow", .kind = OPT_FLAG, \
	  .offset = offsetof(cfg, field.follow) }

/*
 * Looks up what was asked for; *@out is NULL if that is all threads. @has_command: there is one
 * to follow. @stays: units may come later. An exit code; the message is printed, as @command's.
 */
int filter_opts_choose(const struct filter_opts *opts, const char *command, bool has_command, bool stays,
		       struct filter **out);

#endif
