// SPDX-License-Identifier: GPL-2.0
/*
 * libFuzzer entry for what users type: command lines against the option table of each command,
 * without running it, and each word as a value of every kind there is.
 *
 * The input: a byte that chooses the command, then words, each ending with a NUL.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../user/cli/cmd.h"
#include "../../user/cli/exit.h"
#include "../../user/cli/log.h"
#include "../../user/cli/num.h"
#include "../../user/cli/opt.h"
#include "../../user/record/filter.h"
#include "../../user/record/func_set.h"
#include "../../user/record/syscalls.h"

#define WORDS_MAX	40

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerInitialize(int *argc, char ***argv);
int __real_opt_parse(const struct opt_command *cmd, void *cfg, int argc, char **argv);
int __wrap_opt_parse(const struct opt_command *cmd, void *cfg, int argc, char **argv);

static int (*const commands[])(int, char **) = {
	cmd_record, cmd_convert, cmd_dump, cmd_verify, cmd_report, cmd_check, cmd_list, cmd_mark,
};

static void must(bool holds)
{
	if (!holds)
		abort();
}

/* The table is the command's own; what it would do with the result is not done. */
int __wrap_opt_parse(const struct opt_command *cmd, void *cfg, int argc, char **argv)
{
	const int operand = __real_opt_parse(cmd, cfg, argc, argv);

	must(operand == -EINVAL || (operand >= 0 && operand <= argc));
	must(operand <= 0 || (unsigned int)(argc - operand) >= cmd->operands_min);
	must(operand <= 0 || (unsigned int)(argc - operand) <= cmd->operands_max);
	return operand < 0 ? operand : 0;
}

/* libFuzzer has its own way to the terminal by now. */
int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc, (void)argv;
	stdout = fopen("/dev/null", "w");
	stderr = fopen("/dev/null", "w");
	must(stdout && stderr);
	return 0;
}

static void try_numbers(const char *word)
{
	const char *why = NULL;
	struct num_cpus cpus;
	uint64_t n;

	must(!num_parse_u64(word, &n, &why) || why);
	must(!num_parse_size(word, &n, &why) || why);
	must(!num_parse_duration(word, &n, &why) || why);
	if (!num_parse_cpus(word, &cpus, &why))
		must(num_cpus_count(&cpus) > 0 && num_cpus_count(&cpus) <= NUM_CPUS_MAX);
	else
		must(why != NULL);
}

static void try_filters(const char *const *words, unsigned int cnt)
{
	const struct filter_list list = { words, cnt };
	const struct filter_cfg cfgs[] = { { .pids = list }, { .tids = list }, { .comms = list }, { .cgroups = list } };
	struct filter *f;
	char why[512];
	size_t i;

	for (i = 0; i < sizeof(cfgs) / sizeof(cfgs[0]); i++) {
		memset(why, 0, sizeof(why));
		if (filter_open(&f, &cfgs[i], why, sizeof(why)))
			must(why[0] && strlen(why) < sizeof(why));
		else
			filter_close(f);
	}
}

static void try_word(const char *word)
{
	static const char *const names[] = { "tcp_sendmsg", "vfs_read", "vfs_write", "" };
	struct syscalls *calls = NULL;
	struct comm_glob comm;
	char near[3][128], why[512], safe[64];

	try_numbers(word);
	func_glob_match(word, "tcp_sendmsg");
	func_glob_is_wide(word);
	func_names_near(word, names, 4, near);
	opt_nearest(word, names, 4);
	filter_compile_comm(&comm, word);
	must(strlen(log_text(safe, sizeof(safe), word, strlen(word))) < sizeof(safe));
	if (syscalls_are_meant(word))
		syscalls_choose(&calls, word, false, why, sizeof(why));
	syscalls_close(calls);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *argv[WORDS_MAX + 2] = { "kfxt" }, *text = malloc(size + 1), *at;
	int argc = 1, i, code;

	must(text);
	memcpy(text, data, size);
	text[size] = 0;
	for (at = text + 1; at < text + size && argc <= WORDS_MAX; at += strlen(at) + 1)
		argv[argc++] = at;
	for (i = 1; i < argc; i++)
		try_word(argv[i]);
	try_filters((const char *const *)argv + 1, (unsigned int)argc - 1);
	if (size) {
		code = commands[data[0] % (sizeof(commands) / sizeof(commands[0]))](argc, argv);
		must(code == EXIT_OK || code == EXIT_USAGE);
		log_set_level(LOG_LEVEL_INFO);
	}
	free(text);
	return 0;
}
