/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The options that say which functions, common to record and list, and what the
 * user is shown about them.
 */
#ifndef CLI_OPT_FUNC_OPTS_H
#define CLI_OPT_FUNC_OPTS_H

#include "source/func/funcs.h"
#include "opt.h"

struct ledger_row;

struct func_opts {
	struct opt_list globs, user, via;
	bool returns, parents, no_excludes;
	bool comms;	/* no option of its own: whether there is --comm */
	uint64_t max_rate;
};

/* Rows of a command whose config type @cfg has a struct func_opts @field. */
#define FUNC_CHOICE_OPTS(cfg, field) \
	{ .name = "function", .letter = 'f', .kind = OPT_LIST, .metavar = "GLOB", \
	  .help = "kernel functions; !GLOB excludes some again", \
	  .offset = offsetof(cfg, field.globs) }, \
	{ .name = "user-function", .letter = 'u', .kind = OPT_LIST, .metavar = "WHAT", \
	  .help = "PATH:GLOB or usdt:PATH:PROVIDER:NAME", \
	  .offset = offsetof(cfg, field.user) }, \
	{ .name = "returns", .kind = OPT_FLAG, \
	  .offset = offsetof(cfg, field.returns) }, \
	{ .name = "caller", .kind = OPT_FLAG, \
	  .offset = offsetof(cfg, field.parents) }, \
	{ .name = "exit", .kind = OPT_ALIAS, .value = "returns" }, \
	{ .name = "parent", .kind = OPT_ALIAS, .value = "caller" }, \
	{ .name = "func-via", .kind = OPT_LIST, .metavar = "HOW", \
	  .offset = offsetof(cfg, field.via) }, \
	{ .name = "no-func-excludes", .kind = OPT_FLAG, \
	  .offset = offsetof(cfg, field.no_excludes) }
#define FUNC_OPTS(cfg, field) \
	FUNC_CHOICE_OPTS(cfg, field), \
	{ .name = "func-max-rate", .kind = OPT_U64, .metavar = "N", \
	  .offset = offsetof(cfg, field.max_rate), .min = 1, .max = 4000000000ULL }

/*
 * Chooses functions and mechanisms; *@out stays NULL if none were asked for. An exit
 * code; the message is printed, as @command's. @only_list: no mechanism is no error.
 */
int func_opts_choose(const struct func_opts *opts, const char *command, bool only_list,
		     struct funcs **out);
/* What @cnt of the @user's or the kernel's functions are called. */
const char *func_opts_noun(bool user, unsigned int cnt);
/* How many by what, and which were refused. */
void func_opts_show_attached(const struct funcs *f);
/* What was left out by --func-max-rate, and what had not returned. */
void func_opts_show_end(const struct funcs *f, const struct ledger_row *calls);

#endif
