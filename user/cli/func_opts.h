/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The options that say which functions, common to record and list, and what the
 * user is told about them.
 */
#ifndef CLI_FUNC_OPTS_H
#define CLI_FUNC_OPTS_H

#include "../record/funcs.h"
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
	{ "function", 'f', OPT_LIST, "GLOB", "kernel functions; !GLOB takes some out again", \
	  offsetof(cfg, field.globs), NULL, 0, 0 }, \
	{ "user-function", 'u', OPT_LIST, "WHAT", "PATH:GLOB or usdt:PATH:PROVIDER:NAME", \
	  offsetof(cfg, field.user), NULL, 0, 0 }, \
	{ "exit", 0, OPT_FLAG, NULL, "functions with their returns, as slices", \
	  offsetof(cfg, field.returns), NULL, 0, 0 }, \
	{ "parent", 0, OPT_FLAG, NULL, "functions with their callers", \
	  offsetof(cfg, field.parents), NULL, 0, 0 }, \
	{ "func-via", 0, OPT_LIST, "HOW", NULL, \
	  offsetof(cfg, field.via), NULL, 0, 0 }, \
	{ "no-func-excludes", 0, OPT_FLAG, NULL, NULL, \
	  offsetof(cfg, field.no_excludes), NULL, 0, 0 }
#define FUNC_OPTS(cfg, field) \
	FUNC_CHOICE_OPTS(cfg, field), \
	{ "func-max-rate", 0, OPT_U64, "N", NULL, \
	  offsetof(cfg, field.max_rate), NULL, 1, 4000000000ULL }

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
