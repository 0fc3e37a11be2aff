/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The options that say what of command lines and log lines is not written.
 */
#ifndef CLI_OPT_TEXT_OPTS_H
#define CLI_OPT_TEXT_OPTS_H

#include "opt.h"

struct tasks_hidden;

struct text_opts {
	bool no_cmdlines;
	struct opt_list redact;
};

/* See struct opt; there is no memory: nothing is wrong with it. */
const char *text_opts_check_redact(const char *regex);

/* Rows of a command whose config type @cfg has a struct text_opts @field. */
#define TEXT_OPTS(cfg, field) \
	{ .name = "no-cmdlines", .kind = OPT_FLAG, \
	  .offset = offsetof(cfg, field.no_cmdlines) }, \
	{ .name = "redact", .kind = OPT_LIST, .metavar = "REGEX", \
	  .offset = offsetof(cfg, field.redact), .check = text_opts_check_redact }

/* @out->redact, NULL without an expression, is the caller's to close. An exit code; the message is printed, as @command's. */
int text_opts_choose(const struct text_opts *opts, const char *command, struct tasks_hidden *out);

#endif
