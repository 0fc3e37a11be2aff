/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The rows of a command as one table, for the command line and for files.
 */
#ifndef CLI_OPT_OPT_P_H
#define CLI_OPT_OPT_P_H

#include "opt.h"

struct opt_table {
	const char *command;
	const struct opt *rows[OPT_ROWS_MAX];
	unsigned int cnt;
	unsigned int listed;	/* the first of them are in the help; those after are another command's */
};

/* NULL: there is none. */
const struct opt *opt_row_by_name(const struct opt_table *t, const char *name);
const struct opt *opt_row_by_letter(const struct opt_table *t, int letter);
/* The option that @row is a former name of, or @row. */
const struct opt *opt_resolve_alias(const struct opt_table *t, const struct opt *row);
/*
 * Sets the field of @row in @cfg; @text, NULL if there is no value, must live as long as @cfg. 0 or -errno with the
 * reason in *@why.
 */
int opt_set_field(const struct opt *row, void *cfg, const char *text, const char **why);
/* " (did you mean --NAME?)", with @prefix before each name, or "" if no name is like @word; returns @text. */
const char *opt_suggest(const struct opt_table *t, const char *word, const char *prefix, char *text);

/*
 * Reads the options in the file @path into @cfg and keeps its text in *@config. 0 or -EINVAL with the message
 * printed and nothing kept.
 */
int opt_config_read(struct opt_config *config, const char *path, const struct opt_table *t, void *cfg);

#endif
