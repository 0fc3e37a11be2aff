/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Options as rows of a table: one row yields parsing, default and help text.
 *
 *	struct dump_cfg { bool json; uint64_t tid; };
 *	static const struct opt rows[] = {
 *		{ "json", 'j', OPT_FLAG, NULL, "print JSON", offsetof(struct dump_cfg, json) },
 *		{ "tid", 't', OPT_U64, "TID", "this thread only", offsetof(struct dump_cfg, tid) },
 *		{ 0 },
 *	};
 *
 * Every command also has -h --help, -q --quiet and -v --verbose, which act on
 * their own; a row of the command with one of these names replaces them.
 */
#ifndef CLI_OPT_H
#define CLI_OPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define OPT_LIST_MAX	256	/* values of one repeatable option */
#define OPT_ROWS_MAX	40	/* options of one command */

/* What a value is and, after the colon, the type of the field at @offset. */
enum opt_kind {
	OPT_FLAG,		/* no value: bool */
	OPT_STRING,		/* const char *, points into argv */
	OPT_OPTIONAL,		/* may be given without a value, which follows -x or --name= at once: const char *, then "" */
	OPT_U64,		/* uint64_t */
	OPT_SIZE,		/* 64K, 16M, 1G: uint64_t, bytes */
	OPT_DURATION,		/* 10, 10s, 500ms: uint64_t, ns */
	OPT_LIST,		/* may be repeated: struct opt_list */
	OPT_CPUS,		/* 0-3,7: struct num_cpus */
	OPT_HELP, OPT_QUIET, OPT_VERBOSE,	/* opt.c's own */
};

struct opt_list {
	const char *items[OPT_LIST_MAX];	/* point into argv */
	unsigned int cnt;
};

struct opt {
	const char *name;	/* long name without dashes; NULL ends the table */
	char letter;		/* short name or 0 */
	enum opt_kind kind;
	const char *metavar;	/* NULL for flags */
	const char *help;	/* short: help lines have 80 columns; NULL: rarely needed, the man page explains it */
	size_t offset;		/* of the field in the command's config */
	const char *value;	/* default as a user would type it; NULL: the field is left alone */
	uint64_t min, max;	/* of numbers, sizes, durations; max 0: no upper limit */
};

struct opt_command {
	const char *name;		/* "dump" */
	const char *operands;		/* as in the usage line: "FILE" */
	const char *summary;		/* one sentence */
	const struct opt *rows;
	const char *examples;		/* lines as typed, each ending with a newline */
	unsigned int operands_min, operands_max;
	bool stops_at_operand;		/* what follows belongs to another program */
};

/*
 * Sets the defaults and then what @argv says in @cfg. Returns the index of the
 * first operand in @argv (permuted so that operands come last), 0 if help was
 * asked for and printed, or -EINVAL when @argv is wrong; the message is printed.
 */
int opt_parse(const struct opt_command *cmd, void *cfg, int argc, char **argv);
/* Prints what --help prints to stdout. */
void opt_print_help(const struct opt_command *cmd);
/* The one of @names a mistyped or shortened @word was likely meant to be, or NULL. */
const char *opt_nearest(const char *word, const char *const *names, size_t cnt);

#endif
