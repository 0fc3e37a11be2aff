/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The options --stats and --stats-file: the counts of a recording as JSON, to stdout or to a file.
 */
#ifndef CLI_OPT_STATS_OPTS_H
#define CLI_OPT_STATS_OPTS_H

#include "opt.h"

struct stats_opts {
	const char *format;		/* NULL: not given */
	const char *file;		/* NULL: stdout */
};

/* Rows of a command whose config type @cfg has a struct stats_opts @field. */
#define STATS_OPTS(cfg, field) \
	{ .name = "stats", .kind = OPT_STRING, .metavar = "FORMAT", \
	  .offset = offsetof(cfg, field.format) }, \
	{ .name = "stats-file", .kind = OPT_STRING, .metavar = "FILE", \
	  .offset = offsetof(cfg, field.file) }

/* Whether the options are right, with @output being where the trace goes. An exit code; the message is printed. */
int stats_opts_check(const struct stats_opts *opts, const char *command, const char *output);
/*
 * Before the recording: opens the file, which keeps what it holds until stats_opts_write(). *@fd is
 * -1 if no counts were asked for. An exit code; the message is printed.
 */
int stats_opts_open(const struct stats_opts *opts, const char *command, int *fd);
/*
 * Writes what @print prints to stdout, all of it at once and in place of what the file held, and
 * closes @fd; nothing if that is -1. An exit code; the message is printed.
 */
int stats_opts_write(const struct stats_opts *opts, const char *command, int fd, void (*print)(const void *ctx),
		     const void *ctx);

#endif
