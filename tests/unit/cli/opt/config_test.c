// SPDX-License-Identifier: GPL-2.0
/*
 * Unit tests of files of options.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "cli/opt/opt.h"
#include "cli/cli_made.h"

#define LINE_MAX_BYTES	4096

struct cfg {
	bool flag;
	const char *string, *optional;
	uint64_t number, size;
	struct opt_list list;
	struct num_cpus cpus;
	struct opt_config config;
};

static const char *check_item(const char *text)
{
	return strcmp(text, "wrong") ? NULL : "wrong: it is";
}

static const struct opt rows[] = {
	{ .name = "config", .kind = OPT_CONFIG, .metavar = "FILE", .offset = offsetof(struct cfg, config) },
	{ .name = "flag", .letter = 'f', .kind = OPT_FLAG, .offset = offsetof(struct cfg, flag) },
	{ .name = "string", .letter = 's', .kind = OPT_STRING, .metavar = "S", .offset = offsetof(struct cfg, string),
	  .value = "x" },
	{ .name = "optional", .letter = 'o', .kind = OPT_OPTIONAL, .metavar = "O",
	  .offset = offsetof(struct cfg, optional) },
	{ .name = "number", .kind = OPT_U64, .metavar = "N", .offset = offsetof(struct cfg, number), .value = "5",
	  .min = 1, .max = 9 },
	{ .name = "former", .kind = OPT_ALIAS, .value = "number" },
	{ .name = "size", .kind = OPT_SIZE, .metavar = "SIZE", .offset = offsetof(struct cfg, size) },
	{ .name = "item", .letter = 'i', .kind = OPT_LIST, .metavar = "I", .offset = offsetof(struct cfg, list), .check = check_item },
	{ .name = "cpus", .kind = OPT_CPUS, .metavar = "LIST", .offset = offsetof(struct cfg, cpus) },
	{ 0 },
};

static const struct opt_command command = {
	.name = "test", .operands = "[COMMAND...]", .summary = "Test.", .rows = rows, .examples = "kfxt test\n",
	.operands_max = UINT_MAX, .stops_at_operand = true,
};

static struct cfg parsed;
static enum log_level level;

static int cmd_parse(int argc, char **argv)
{
	int first;

	opt_config_close(&parsed.config);
	parsed = (struct cfg){ 0 };
	first = opt_parse(&command, &parsed, argc, argv);
	level = log_get_level();
	return first;
}

static char path[] = "/tmp/kfxt-config-XXXXXX";

static int make_file(void **state)
{
	const int fd = mkstemp(path);

	(void)state;
	return fd < 0 ? -1 : close(fd);
}

static int remove_file(void **state)
{
	(void)state;
	opt_config_close(&parsed.config);
	return unlink(path);
}

static void write_file(const char *text, size_t len)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	assert_int_equal(fwrite(text, 1, len, f), len);
	assert_int_equal(fclose(f), 0);
}

/* `kfxt test --config FILE` with this in the file. */
static struct run parse_text(const char *text)
{
	write_file(text, strlen(text));
	return run_command(cmd_parse, "test", "--config", path, NULL);
}

static void test_values(void **state)
{
	struct run r = parse_text("# all kinds\n\n  \t \nflag\n  string  with  spaces, \"quotes\" # and more \t\n"
				  "optional\nnumber\t7\r\nsize 64K\nitem a b\nitem !c\ncpus 0-2\n");

	(void)state;
	assert_string_equal(r.err, "");
	assert_int_equal(r.code, 3);
	assert_true(parsed.flag);
	assert_string_equal(parsed.string, "with  spaces, \"quotes\" # and more");
	assert_string_equal(parsed.optional, "");
	assert_int_equal(parsed.number, 7);
	assert_int_equal(parsed.size, 65536);
	assert_int_equal(parsed.list.cnt, 2);
	assert_string_equal(parsed.list.items[0], "a b");
	assert_string_equal(parsed.list.items[1], "!c");
	assert_int_equal(num_cpus_count(&parsed.cpus), 3);
	run_free(&r);
	r = parse_text("optional how\nformer 8\n");
	assert_string_equal(parsed.optional, "how");
	assert_int_equal(parsed.number, 8);
	assert_string_equal(parsed.string, "x");
	run_free(&r);
	r = parse_text("");
	assert_int_equal(r.code, 3);
	assert_int_equal(parsed.number, 5);
	run_free(&r);
}

/* Single values of the command line replace those of the file, wherever it is named; lists are joined. */
static void test_command_line_wins(void **state)
{
	static const char text[] = "number 7\nitem a\nsize 1K\ncpus 0-2\nquiet\n";
	struct run r;

	(void)state;
	write_file(text, sizeof(text) - 1);
	r = run_command(cmd_parse, "test", "--number=3", "-ib", "--cpus", "5", "--config", path, "-v", "ls", "--config", "x",
			NULL);
	assert_string_equal(r.err, "");
	assert_int_equal(r.code, 8);
	assert_int_equal(parsed.number, 3);
	assert_int_equal(parsed.size, 1024);
	assert_int_equal(parsed.list.cnt, 2);
	assert_string_equal(parsed.list.items[0], "a");
	assert_string_equal(parsed.list.items[1], "b");
	assert_true(num_cpus_count(&parsed.cpus) == 1 && num_cpus_has(&parsed.cpus, 5));
	assert_int_equal(level, LOG_LEVEL_DEBUG);
	run_free(&r);
	r = run_command(cmd_parse, "test", "--config", path, NULL);
	assert_int_equal(level, LOG_LEVEL_ERROR);
	run_free(&r);
}

/* Each with its whole message after the name of the file. */
static void test_errors(void **state)
{
	static const struct {
		const char *text, *message;
	} bad[] = {
		{ "flag\n\nnumbr 3\n", ":3: numbr: not known (did you mean number?)\n" },
		{ "zzzzzz\n", ":1: zzzzzz: not known (kfxt-record(1) has the options)\n" },
		{ "--number 3\n", ":1: --number: not known (did you mean number?)\n" },
		{ "number=3\n", ":1: number=3: not known (did you mean number?)\n" },
		{ "-s a\n", ":1: -s: not known (did you mean string?)\n" },
		{ "-- ls\n", ":1: --: not known (kfxt-record(1) has the options)\n" },
		{ "string\n", ":1: string: a value is missing\n" },
		{ "string \t \n", ":1: string: a value is missing\n" },
		{ "flag yes\n", ":1: flag: takes no value\n" },
		{ "quiet yes\n", ":1: quiet: takes no value\n" },
		{ "number 10\n", ":1: number: too large: '10'\n" },
		{ "number 7 # seven\n", ":1: number: text follows the number: '7 # seven'\n" },
		{ "number 7\nitem a\nitem a\nnumber 7\n", ":4: number: given twice (first in line 1)\n" },
		{ "number 7\nformer 7\n", ":2: former: given twice (first in line 1)\n" },
		{ "flag\nflag\n", ":2: flag: given twice (first in line 1)\n" },
		{ "optional\noptional\n", ":2: optional: given twice (first in line 1)\n" },
		{ "item a\nitem wrong\n", ":2: item: wrong: it is\n" },
		{ "help\n", ":1: help: not allowed in a file\n" },
		{ "config /etc/x\n", ":1: config: not allowed in a file\n" },
		{ "flag\nnumber 3", ":2: no newline at the end: the file may be cut\n" },
		{ "string \x1b[2J\n\x1b[2J\n", ":2: \\x1b[2J: not known (kfxt-record(1) has the options)\n" },
	};
	char expected[256];
	struct run r;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		r = parse_text(bad[i].text);
		snprintf(expected, sizeof(expected), "kfxt: %s%s", path, bad[i].message);
		assert_string_equal(r.err, expected);
		assert_string_equal(r.out, "");
		assert_int_equal(r.code, -EINVAL);
		assert_null(parsed.config.text);
		run_free(&r);
	}
}

static void assert_error(struct run r, const char *what)
{
	char expected[256];

	snprintf(expected, sizeof(expected), "kfxt: %s%s", path, what);
	assert_string_equal(r.err, expected);
	assert_int_equal(r.code, -EINVAL);
	run_free(&r);
}

static void test_bytes(void **state)
{
	char text[LINE_MAX_BYTES + 2];
	struct run r;

	(void)state;
	write_file("flag\nflag\0\n", 11);
	assert_error(run_command(cmd_parse, "test", "--config", path, NULL), ":2: a NUL byte: the file is not text\n");
	write_file("\0", 1);
	assert_error(run_command(cmd_parse, "test", "--config", path, NULL), ":1: a NUL byte: the file is not text\n");
	memset(text, 'a', sizeof(text));
	text[0] = '#';
	text[LINE_MAX_BYTES + 1] = '\n';
	write_file(text, sizeof(text));
	assert_error(run_command(cmd_parse, "test", "--config", path, NULL),
		     ":1: the line is too long: at most 4096 bytes\n");
	text[LINE_MAX_BYTES] = '\n';
	write_file(text, LINE_MAX_BYTES + 1);
	r = run_command(cmd_parse, "test", "--config", path, NULL);
	assert_string_equal(r.err, "");
	run_free(&r);
}

static void test_long_list(void **state)
{
	char text[8 * (OPT_LIST_MAX + 1) + 1] = "";
	unsigned int i;

	(void)state;
	for (i = 0; i <= OPT_LIST_MAX; i++)
		strcat(text, "item a\n");
	write_file(text, strlen(text));
	assert_error(run_command(cmd_parse, "test", "--config", path, NULL),
		     ":257: item: given more than 256 times: 'a'\n");
}

static void test_unreadable(void **state)
{
	static const struct {
		const char *path, *message;
	} bad[] = {
		{ "/tmp", "kfxt: test: --config: /tmp: Is a directory\n" },
		{ "/nonexistent/x", "kfxt: test: --config: /nonexistent/x: No such file or directory\n" },
		{ "", "kfxt: test: --config: : No such file or directory\n" },
		{ "/dev/zero", "kfxt: test: --config: /dev/zero: larger than 1 MiB\n" },
		{ "/dev/null", "" },
	};
	struct run r;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		r = run_command(cmd_parse, "test", "--config", bad[i].path, NULL);
		assert_string_equal(r.err, bad[i].message);
		run_free(&r);
	}
}

/* What is wrong on the command line is reported before what is wrong in the file; help needs no file. */
static void test_order(void **state)
{
	struct run r;

	(void)state;
	write_file("zzzzzz\n", 7);
	r = run_command(cmd_parse, "test", "--config", path, "--flagg", NULL);
	assert_string_equal(r.err, "kfxt: test: unknown option: --flagg (did you mean --flag?)\n");
	run_free(&r);
	r = run_command(cmd_parse, "test", "--conf", path, NULL);
	assert_string_equal(r.err, "kfxt: test: unknown option: --conf (did you mean --config?)\n");
	run_free(&r);
	r = run_command(cmd_parse, "test", "--config", NULL);
	assert_string_equal(r.err, "kfxt: test: --config: a value is missing\n");
	run_free(&r);
	r = run_command(cmd_parse, "test", "--config", path, "--help", NULL);
	assert_int_equal(r.code, 0);
	assert_string_equal(r.err, "");
	run_free(&r);
	/* The values of a file are not kept if the command line is wrong after all. */
	write_file("item a\n", 7);
	r = run_command(cmd_parse, "test", "--config", path, "--number=0", NULL);
	assert_string_equal(r.err, "kfxt: test: --number: too small: '0'\n");
	assert_null(parsed.config.text);
	run_free(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_values),
		cmocka_unit_test(test_command_line_wins),
		cmocka_unit_test(test_errors),
		cmocka_unit_test(test_bytes),
		cmocka_unit_test(test_long_list),
		cmocka_unit_test(test_unreadable),
		cmocka_unit_test(test_order),
	};

	return cmocka_run_group_tests(tests, make_file, remove_file);
}
