/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The options of a recording that makes several files: a new one every so often (--rotate), or whenever something
 * happens, of what is kept in memory (--keep, --trigger); and which files are kept.
 */
#ifndef CLI_OPT_ARCHIVE_OPTS_H
#define CLI_OPT_ARCHIVE_OPTS_H

#include <stdint.h>

#include "opt.h"

struct broker;
struct func_opts;
struct funcs;
struct recorder_cfg;
struct sources;

struct archive_opts {
	const char *rotate, *keep;	/* NULL: not given */
	struct opt_list triggers;
	const char *after, *cooldown;	/* times; NULL: not given */
	const char *hook;		/* command; NULL: none */
	uint64_t max_files, max_total;	/* 0: no limit */
};

/* See struct opt; there is no memory: nothing is wrong with it. */
const char *archive_opts_check_trigger(const char *word);
const char *archive_opts_check_keep(const char *text);
const char *archive_opts_check_rotate(const char *text);
const char *archive_opts_check_time(const char *text);

/* Rows of a command whose config type @cfg has a struct archive_opts @field. */
#define ARCHIVE_OPTS(cfg, field) \
	{ .name = "keep", .kind = OPT_STRING, .metavar = "WINDOW", \
	  .help = "keep the last 30s or 30s,256M in memory only", \
	  .offset = offsetof(cfg, field.keep), .check = archive_opts_check_keep }, \
	{ .name = "trigger", .kind = OPT_LIST, .metavar = "WHAT", \
	  .help = "write them to a file: runq>5ms, log~REGEX, ...", \
	  .offset = offsetof(cfg, field.triggers), .check = archive_opts_check_trigger }, \
	{ .name = "after", .kind = OPT_STRING, .metavar = "TIME", \
	  .offset = offsetof(cfg, field.after), .check = archive_opts_check_time }, \
	{ .name = "cooldown", .kind = OPT_STRING, .metavar = "TIME", \
	  .offset = offsetof(cfg, field.cooldown), .check = archive_opts_check_time }, \
	{ .name = "on-trigger", .kind = OPT_STRING, .metavar = "COMMAND", \
	  .offset = offsetof(cfg, field.hook) }, \
	{ .name = "rotate", .kind = OPT_STRING, .metavar = "WHEN", \
	  .offset = offsetof(cfg, field.rotate), .check = archive_opts_check_rotate }, \
	{ .name = "max-files", .kind = OPT_U64, .metavar = "N", \
	  .offset = offsetof(cfg, field.max_files), .min = 1 }, \
	{ .name = "max-total", .kind = OPT_SIZE, .metavar = "SIZE", \
	  .offset = offsetof(cfg, field.max_total), .min = 1 }

/*
 * Parses them and, if there are to be several files, starts the process that makes them, named like @output; before
 * threads and other open files. With @no_files, as for kfxt estimate, all is checked alike, and what would be kept in memory
 * is. An exit code; the message is printed, as @command's. archive_close() in any case.
 */
int archive_opts_open(const struct archive_opts *opts, const char *command, const char *output, bool no_files,
		      struct recorder_cfg *out);
/* Selects what the triggers need, before what the user does, whose words may take it out again. The same. */
int archive_opts_add_funcs(const struct recorder_cfg *cfg, const char *command, struct func_opts *funcs);
int archive_opts_add_sources(const struct recorder_cfg *cfg, const char *command, struct sources *sources);
/* Once all is selected, @funcs (NULL: none) too: refuses a trigger of which the user has taken out all that it is about. */
int archive_opts_check_sources(const struct recorder_cfg *cfg, const char *command, const struct sources *sources,
			       const struct funcs *funcs);
/* Prints what happened to files since the last call. @b may be NULL. */
void archive_opts_show(struct broker *b);
/*
 * After that: whether the process that makes files has ended, so that what is kept in memory can never be written, which is an error
 * that is printed.
 */
bool archive_opts_is_lost(const struct recorder_cfg *cfg, const char *command);
void archive_close(struct recorder_cfg *cfg);

#endif
