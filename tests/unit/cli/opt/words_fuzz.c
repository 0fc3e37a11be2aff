// SPDX-License-Identifier: GPL-2.0
/*
 * libFuzzer entry for what users type: command lines against the option table of each command,
 * without running it, and each word as a value of every kind there is.
 *
 * The input: a byte that chooses the command, then words, each ending with a NUL. The word after --config is
 * what is in that file.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cgroup_name.h"
#include "base/glob.h"
#include "base/redact.h"
#include "cli/cmd.h"
#include "cli/exit.h"
#include "base/log.h"
#include "base/num.h"
#include "cli/opt/opt.h"
#include "capture/thread_filter.h"
#include "source/func/set.h"
#include "source/syscall.h"

#define WORDS_MAX	40

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerInitialize(int *argc, char ***argv);
int __real_opt_parse(const struct opt_command *cmd, void *cfg, int argc, char **argv);
int __wrap_opt_parse(const struct opt_command *cmd, void *cfg, int argc, char **argv);
int __real_text_file_read(const char *path, size_t max_bytes, char **text, size_t *len);
int __wrap_text_file_read(const char *path, size_t max_bytes, char **text, size_t *len);

static bool in_opt_parse;

static int (*const commands[])(int, char **) = {
	cmd_record, cmd_convert, cmd_dump, cmd_verify, cmd_report, cmd_check, cmd_list, cmd_mark,
	cmd_snapshot, cmd_status,
};

static void must(bool holds)
{
	if (!holds)
		abort();
}

/* Of the files of options, whose names are what is in them. */
int __wrap_text_file_read(const char *path, size_t max_bytes, char **text, size_t *len)
{
	if (!in_opt_parse)
		return __real_text_file_read(path, max_bytes, text, len);
	*text = strdup(path);
	must(*text);
	*len = strlen(path);
	return 0;
}

static void close_config(const struct opt *row, void *cfg)
{
	for (; row->name; row++)
		if (row->kind == OPT_CONFIG)
			opt_config_close((struct opt_config *)((char *)cfg + row->offset));
}

/* The table is the command's own; what it would do with the result is not done. */
int __wrap_opt_parse(const struct opt_command *cmd, void *cfg, int argc, char **argv)
{
	int operand;

	in_opt_parse = true;
	operand = __real_opt_parse(cmd, cfg, argc, argv);
	in_opt_parse = false;
	if (operand > 0)
		close_config(cmd->rows, cfg);
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

/* What is found in a path lies in it, and nothing is left of what is replaced. */
static void try_texts(const char *word)
{
	const struct cgroup_part parts[] = { cgroup_container(word), cgroup_unit(word) };
	const char *end = word + strlen(word);
	char out[512], why[64];
	struct redact *r;
	size_t i, len;

	for (i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		must(!parts[i].len || (parts[i].text >= word && parts[i].text + parts[i].len <= end));
	must(!redact_open(&r) && !redact_add(r, "x+y?|[^ ]z", why, sizeof(why)));
	len = redact_text(r, word, (size_t)(end - word), out, sizeof(out));
	must(len <= sizeof(out) && !memchr(out, 'x', len));
	redact_close(r);
}

static void try_word(const char *word)
{
	static const char *const names[] = { "tcp_sendmsg", "vfs_read", "vfs_write", "" };
	struct syscalls *calls = NULL;
	struct comm_glob comm;
	char near[SUGGEST_CNT][SUGGEST_BYTES], text[SUGGEST_TEXT_BYTES], why[512], safe[64];

	try_numbers(word);
	try_texts(word);
	glob_match(word, "tcp_sendmsg");
	glob_has_wildcard(word);
	suggest_names(word, names, 4, near);
	must(strlen(suggest_text(text, "--", near)) < sizeof(text));
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
