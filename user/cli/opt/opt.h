/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Options as rows of a table: one row yields parsing, default and help text.
 *
 *	struct dump_cfg { bool json; uint64_t tid; };
 *	static const struct opt rows[] = {
 *		{ .name = "json", .letter = 'j', .kind = OPT_FLAG, .help = "print JSON",
 *		  .offset = offsetof(struct dump_cfg, json) },
 *		{ .name = "tid", .kind = OPT_U64, .metavar = "TID", .help = "this thread only",
 *		  .offset = offsetof(struct dump_cfg, tid) },
 *		{ 0 },
 *	};
 *
 * Every command also has -h --help, -q --quiet and -v --verbose, which act on
 * their own; a row of the command with one of these names replaces them.
 */
#ifndef CLI_OPT_OPT_H
#define CLI_OPT_OPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define OPT_LIST_MAX	256	/* values of one repeatable option */
#define OPT_ROWS_MAX	64	/* options of one command */

/* What a value is and, after the colon, the type of the field at @offset. */
enum opt_kind {
	OPT_FLAG,		/* no value: bool */
	OPT_STRING,		/* const char *, points into argv or the text of a file */
	OPT_OPTIONAL,		/* may be given without a value, which follows -x or --name= at once: const char *, then "" */
	OPT_U64,		/* uint64_t */
	OPT_SIZE,		/* 64K, 16M, 1G: uint64_t, bytes */
	OPT_DURATION,		/* 10, 10s, 500ms: uint64_t, ns */
	OPT_LIST,		/* may be repeated: struct opt_list */
	OPT_CPUS,		/* 0-3,7: struct num_cpus */
	OPT_CONFIG,		/* a file with options, read before those of the command line: struct opt_config */
	OPT_ALIAS,		/* a former name of the option @value: parsed as that one, in no help */
	OPT_HELP, OPT_QUIET, OPT_VERBOSE,	/* opt.c's own */
};

struct opt_list {
	const char *items[OPT_LIST_MAX];	/* point into argv or the text of a file */
	unsigned int cnt;
};

struct opt_config {
	char *text;		/* to which values point; NULL: no file was given */
};

struct opt {
	const char *name;	/* long name without dashes; NULL ends the table */
	char letter;		/* short name or 0 */
	enum opt_kind kind;
	const char *metavar;	/* NULL for flags */
	const char *help;	/* short: help lines have 80 columns; NULL: rarely needed, the man page explains it */
	size_t offset;		/* of the field in the command's config */
	const char *value;	/* default as a user would type it; NULL: the field is left alone; see OPT_ALIAS */
	uint64_t min, max;	/* of numbers, sizes, durations; max 0: no upper limit */
	/*
	 * What is wrong with a text, as in "trigger rung>5ms: WHY", or NULL; valid until the next call. Asked of a file, so that the
	 * message has its line: the command itself looks at the texts of its options later. NULL: nothing is.
	 */
	const char *(*check)(const char *text);
};

struct opt_command {
	const char *name;		/* "dump" */
	const char *operands;		/* as in the usage line: "FILE" */
	const char *summary;		/* one sentence */
	const struct opt *rows;
	/*
	 * Another command, whose options this one takes, too, but for those that its own rows replace; NULL: none.
	 * The config of this command begins with that one's.
	 */
	const struct opt_command *also;
	const char *examples;		/* lines as typed, each ending with a newline */
	unsigned int operands_min, operands_max;
	bool stops_at_operand;		/* what follows belongs to another program */
};

/*
 * Sets the defaults, then what the file of an OPT_CONFIG says, then what @argv says in @cfg. Returns the index of the
 * first operand in @argv (permuted so that operands come last), 0 if help was
 * asked for and printed, or -EINVAL when @argv or the file is wrong; the message is printed.
 * The caller frees a struct opt_config in @cfg by opt_config_close() if an index is returned.
 */
int opt_parse(const struct opt_command *cmd, void *cfg, int argc, char **argv);
/* Frees the values of the file: once @cfg is no longer used. */
void opt_config_close(struct opt_config *config);
/* Prints what --help prints to stdout. */
void opt_print_help(const struct opt_command *cmd);

#endif
