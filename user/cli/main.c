// SPDX-License-Identifier: GPL-2.0
/*
 * kfxt: record a machine's scheduling as Fuchsia trace, and read such traces.
 * This file is the table of commands and picks one; options are theirs.
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/suggest.h"
#include "cmd.h"
#include "exit.h"
#include "base/log.h"
#include "cli/opt/opt.h"
#include "output.h"
#include "version.h"

struct command {
	const char *name;
	const char *help;
	int (*run)(int argc, char **argv);
};

static const struct command commands[] = {
	{ "record", "record scheduling until stopped or a command ends", cmd_record },
	{ "estimate", "measure what a recording costs before making it", cmd_estimate },
	{ "convert", "convert ftrace text, Trace Event JSON and the like to a trace", cmd_convert },
	{ "dump", "print the records of a trace, one line each", cmd_dump },
	{ "verify", "check a trace for damage and contradictions", cmd_verify },
	{ "report", "summarise a trace: CPUs, rates, busiest threads", cmd_report },
	{ "diff", "compare the stack samples of two traces", cmd_diff },
	{ "list", "list tracepoints, functions that would be traced, and presets", cmd_list },
	{ "mark", "write a marker into the traces being recorded", cmd_mark },
	{ "snapshot", "write what a recorder that runs has in memory into a file", cmd_snapshot },
	{ "status", "show what a recorder that runs has, costs and lost", cmd_status },
	{ "check", "report what this kernel supports and what is missing", cmd_check },
};

#define COMMAND_CNT	(sizeof(commands) / sizeof(commands[0]))

static int print_help(void)
{
	size_t i;

	printf("Usage: kfxt COMMAND [OPTION]... [OPERAND]...\n"
	       "Record a machine's scheduling as Fuchsia trace (FXT) and read such traces.\n\n"
	       "Commands:\n");
	for (i = 0; i < COMMAND_CNT; i++)
		printf("  %-8s  %s\n", commands[i].name, commands[i].help);
	printf("\nSee kfxt help COMMAND for each; kfxt --version prints the version.\n");
	return EXIT_OK;
}

static int print_version(void)
{
	printf("kfxt %s\n", KFXT_VERSION);
	return EXIT_OK;
}

static int complain_unknown(const char *name)
{
	char near[SUGGEST_CNT][SUGGEST_BYTES], text[SUGGEST_TEXT_BYTES];
	const char *names[COMMAND_CNT];
	size_t i;

	for (i = 0; i < COMMAND_CNT; i++)
		names[i] = commands[i].name;
	suggest_names(name, names, COMMAND_CNT, near);
	if (near[0][0])
		log_error("unknown command: %s%s", name, suggest_text(text, "", near));
	else
		log_error("unknown command: %s (see kfxt --help)", name);
	return EXIT_USAGE;
}

static const struct command *find_command(const char *name)
{
	size_t i;

	for (i = 0; i < COMMAND_CNT; i++)
		if (!strcmp(commands[i].name, name))
			return &commands[i];
	return NULL;
}

static int complain_extra(const char *name, const char *word)
{
	log_error("%s: too many operands: %s (see kfxt --help)", name, word);
	return EXIT_USAGE;
}

/* `kfxt help COMMAND` is `kfxt COMMAND --help`. */
static int run_help(int argc, char **argv)
{
	char *help_argv[] = { argv[1], (char []){ "--help" }, NULL };
	const struct command *command;

	if (argc < 2)
		return print_help();
	command = find_command(argv[1]);
	if (!command)
		return complain_unknown(argv[1]);
	return argc > 2 ? complain_extra("help", argv[2]) : command->run(2, help_argv);
}

/* Runs what the first of @argv says. */
static int call_command(int argc, char **argv)
{
	const struct command *command;

	if (!strcmp(argv[0], "help"))
		return run_help(argc, argv);
	command = find_command(argv[0]);
	if (command)
		return command->run(argc, argv);
	if (!strcmp(argv[0], "--help") || !strcmp(argv[0], "-h"))
		return argc > 1 ? complain_extra(argv[0], argv[1]) : print_help();
	if (!strcmp(argv[0], "--version") || !strcmp(argv[0], "-V"))
		return argc > 1 ? complain_extra(argv[0], argv[1]) : print_version();
	return complain_unknown(argv[0]);
}

/*
 * Standard files that are closed: no other file may get their numbers, or it gets what is
 * meant for them. They stay unusable, by their direction.
 */
static void hold_standard_files(void)
{
	int fd;

	for (fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) != fd)
			return;
}

int main(int argc, char **argv)
{
	hold_standard_files();
	if (argc < 2) {
		log_error("no command given (see kfxt --help)");
		return EXIT_USAGE;
	}
	return output_end(argv[1], call_command(argc - 1, argv + 1));
}
