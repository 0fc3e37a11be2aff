// SPDX-License-Identifier: GPL-2.0
/*
 * Unit tests of what the commands share: numbers, options, messages, input.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include "cli/cmd.h"
#include "io/input.h"
#include "base/log.h"
#include "base/num.h"
#include "cli/opt/opt.h"
#include "cli_made.h"

/* ---- num ------------------------------------------------------------------- */

static void test_num_u64(void **state)
{
	const char *why = NULL;
	uint64_t v = 7;

	(void)state;
	assert_int_equal(num_parse_u64("0", &v, &why), 0);
	assert_int_equal(v, 0);
	assert_int_equal(num_parse_u64("18446744073709551615", &v, NULL), 0);
	assert_true(v == UINT64_MAX);
	v = 7;
	assert_int_equal(num_parse_u64("18446744073709551616", &v, &why), -ERANGE);
	assert_string_equal(why, "number too large");
	assert_int_equal(num_parse_u64("12abc", &v, &why), -EINVAL);
	assert_string_equal(why, "text follows the number");
	assert_int_equal(num_parse_u64("-1", &v, &why), -EINVAL);
	assert_string_equal(why, "negative numbers are not allowed");
	assert_int_equal(num_parse_u64("", &v, &why), -EINVAL);
	assert_string_equal(why, "a number is missing");
	assert_int_equal(num_parse_u64(" 1", &v, &why), -EINVAL);
	assert_int_equal(num_parse_u64("+1", &v, &why), -EINVAL);
	assert_int_equal(num_parse_u64("1 ", &v, NULL), -EINVAL);
	assert_int_equal(v, 7);
}

static void test_num_size(void **state)
{
	const char *why = NULL;
	uint64_t v;

	(void)state;
	assert_int_equal(num_parse_size("4096", &v, NULL), 0);
	assert_int_equal(v, 4096);
	assert_int_equal(num_parse_size("64K", &v, NULL), 0);
	assert_int_equal(v, 65536);
	assert_int_equal(num_parse_size("3G", &v, NULL), 0);
	assert_true(v == 3ULL << 30);
	assert_int_equal(num_parse_size("1KB", &v, &why), -EINVAL);
	assert_string_equal(why, "unknown unit, use K, M or G");
	assert_int_equal(num_parse_size("99999999999999G", &v, &why), -ERANGE);
	assert_int_equal(num_parse_size("M", &v, &why), -EINVAL);
}

/* Digits without groups, one unit, and nothing that reads as 1024 of a smaller one. */
static void test_num_size_text(void **state)
{
	static const struct {
		uint64_t bytes;
		const char *text;
	} sizes[] = {
		{ 0, "0 bytes" }, { 1, "1 byte" }, { 1023, "1023 bytes" }, { 1024, "1.0 KiB" },
		{ 47512, "46.4 KiB" }, { 1048524, "1023.9 KiB" }, { 1048525, "1.0 MiB" }, { 1048576, "1.0 MiB" },
		{ 47612672, "45.4 MiB" }, { 1073741823, "1.0 GiB" }, { 3ULL << 40, "3072.0 GiB" },
	};
	char buf[NUM_SIZE_TEXT];
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
		assert_string_equal(num_size_text(sizes[i].bytes, buf), sizes[i].text);
}

static void test_num_duration(void **state)
{
	static const struct {
		const char *text;
		uint64_t ns;
	} good[] = {
		{ "10", 10000000000 }, { "10s", 10000000000 }, { "500ms", 500000000 },
		{ "2m", 120000000000 }, { "1h", 3600000000000 }, { "7us", 7000 }, { "9ns", 9 },
		{ "1.5s", 1500000000 }, { "0.000000001", 1 }, { "1.25us", 1250 }, { "0", 0 },
		{ ".5", 500000000 }, { ".5s", 500000000 }, { ".25ms", 250000 },
		{ "18446744073709551615ns", UINT64_MAX },
	};
	static const char *const bad[] = {
		"", "-1", "s", "1x", "1.s", ".", ".s", "5.", "-.5", "..5", ".5ns", "1..5", "0.5ns", "1.0000000001", "5 s",
		"18446744073709551616ns", "99999999999h", "1.5.5s", "1e3",
	};
	const char *why;
	uint64_t v;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		assert_int_equal(num_parse_duration(good[i].text, &v, NULL), 0);
		assert_true(v == good[i].ns);
	}
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		why = NULL;
		assert_true(num_parse_duration(bad[i], &v, &why) < 0);
		assert_non_null(why);
	}
}

static void test_num_cpus(void **state)
{
	static const char *const bad[] = { "", "0-", "-3", "3-1", "4096", "0,,1", "0,", "a", "0 1" };
	struct num_cpus cpus;
	const char *why;
	char text[32];
	size_t i;

	(void)state;
	assert_int_equal(num_parse_cpus("0-3,7,4095", &cpus, NULL), 0);
	assert_int_equal(num_cpus_count(&cpus), 6);
	assert_true(num_cpus_has(&cpus, 3) && num_cpus_has(&cpus, 7) && num_cpus_has(&cpus, 4095));
	assert_false(num_cpus_has(&cpus, 4) || num_cpus_has(&cpus, 4096));
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		why = NULL;
		assert_true(num_parse_cpus(bad[i], &cpus, &why) < 0);
		assert_non_null(why);
	}
	assert_int_equal(num_cpus_count(&cpus), 6);
	num_print_cpus(&cpus, text, sizeof(text));
	assert_string_equal(text, "0-3,7,4095");
	num_print_cpus(&cpus, text, 6);
	assert_string_equal(text, "0-3,7");
	num_print_cpus(&(struct num_cpus){ 0 }, text, sizeof(text));
	assert_string_equal(text, "");
}

/* ---- opt ------------------------------------------------------------------- */

struct opt_cfg {
	bool flag;
	const char *string;
	uint64_t number, size, duration;
	struct opt_list list;
	struct num_cpus cpus;
};

static const struct opt test_rows[] = {
	{ "flag", 'f', OPT_FLAG, NULL, "a flag", offsetof(struct opt_cfg, flag), NULL, 0, 0, NULL },
	{ "string", 's', OPT_STRING, "S", "a string", offsetof(struct opt_cfg, string), "x", 0, 0, NULL },
	{ "number", 0, OPT_U64, "N", "one to nine", offsetof(struct opt_cfg, number), "5", 1, 9, NULL },
	{ "size", 'z', OPT_SIZE, "SIZE", "a size", offsetof(struct opt_cfg, size), "4M", 0, 0, NULL },
	{ "time", 't', OPT_DURATION, "T", "a time", offsetof(struct opt_cfg, duration), NULL, 0, 0, NULL },
	{ "item", 'i', OPT_LIST, "I", "an item", offsetof(struct opt_cfg, list), NULL, 0, 0, NULL },
	{ .name = "former", .kind = OPT_ALIAS, .value = "number" },
	{ "cpus", 'c', OPT_CPUS, "LIST", "some CPUs", offsetof(struct opt_cfg, cpus), NULL, 0, 0, NULL },
	{ 0 },
};

static const struct opt_command test_command = {
	.name = "test", .operands = "[COMMAND...]", .summary = "Test.", .rows = test_rows,
	.examples = "kfxt test\nkfxt test -- ls\n", .operands_max = UINT_MAX,
	.stops_at_operand = true,
};

static struct opt_cfg parsed;

static int cmd_parse(int argc, char **argv)
{
	parsed = (struct opt_cfg){ .duration = 77 };
	return opt_parse(&test_command, &parsed, argc, argv);
}

static int cmd_parse_one(int argc, char **argv)
{
	struct opt_command one = test_command;

	one.stops_at_operand = false;
	one.operands = "FILE";
	one.operands_min = one.operands_max = 1;
	parsed = (struct opt_cfg){ 0 };
	return opt_parse(&one, &parsed, argc, argv);
}

static void test_opt_kinds(void **state)
{
	struct run r;

	(void)state;
	r = run_command(cmd_parse, "test", "-f", "-s", "a", "--number=9", "-z64K", "-t", "1.5s",
			"-i", "a", "--item", "b", "-c", "0-2", NULL);
	assert_int_equal(r.code, 14);
	assert_true(parsed.flag);
	assert_string_equal(parsed.string, "a");
	assert_int_equal(parsed.number, 9);
	assert_int_equal(parsed.size, 65536);
	assert_int_equal(parsed.duration, 1500000000);
	assert_int_equal(parsed.list.cnt, 2);
	assert_string_equal(parsed.list.items[1], "b");
	assert_int_equal(num_cpus_count(&parsed.cpus), 3);
	run_free(&r);
}

static void test_opt_defaults(void **state)
{
	struct run r;

	(void)state;
	r = run_command(cmd_parse, "test", "ls", "-f", NULL);
	assert_int_equal(r.code, 1);
	assert_false(parsed.flag);
	assert_string_equal(parsed.string, "x");
	assert_int_equal(parsed.number, 5);
	assert_int_equal(parsed.size, 4 << 20);
	assert_int_equal(parsed.duration, 77);
	run_free(&r);
	r = run_command(cmd_parse, "test", "-f", "--", "-x", NULL);
	assert_int_equal(r.code, 3);
	run_free(&r);
}

/* Each with its whole message. */
static void test_opt_errors(void **state)
{
	static const struct {
		const char *arg, *message;
	} bad[] = {
		{ "--strinng=3", "kfxt: test: unknown option: --strinng=3 (did you mean --string?)\n" },
		{ "--zzzzzz", "kfxt: test: unknown option: --zzzzzz (see kfxt help test)\n" },
		/* beginnings of names are not names, with and without a value */
		{ "--fl", "kfxt: test: unknown option: --fl (did you mean --flag?)\n" },
		{ "--fla=1", "kfxt: test: unknown option: --fla=1 (did you mean --flag?)\n" },
		{ "--nu", "kfxt: test: unknown option: --nu (did you mean --number?)\n" },
		{ "--nu=3", "kfxt: test: unknown option: --nu=3 (did you mean --number?)\n" },
		{ "--s", "kfxt: test: unknown option: --s (did you mean --size, --string?)\n" },
		{ "-x", "kfxt: test: unknown option: -x (see kfxt help test)\n" },
		{ "-s", "kfxt: test: -s: a value is missing\n" },
		{ "--string", "kfxt: test: --string: a value is missing\n" },
		{ "--flag=1", "kfxt: test: --flag: takes no value\n" },
		{ "--number=12abc", "kfxt: test: --number: text follows the number: '12abc'\n" },
		{ "--number=0", "kfxt: test: --number: too small: '0'\n" },
		{ "--number=10", "kfxt: test: --number: too large: '10'\n" },
		{ "--cpus=3-1", "kfxt: test: --cpus: range runs backwards: '3-1'\n" },
		{ "--size=\x1b[2J", "kfxt: test: --size: not a number: '\\x1b[2J'\n" },
	};
	struct run r;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		r = run_command(cmd_parse, "test", bad[i].arg, NULL);
		assert_int_equal(r.code, -EINVAL);
		assert_string_equal(r.err, bad[i].message);
		assert_string_equal(r.out, "");
		run_free(&r);
	}
	r = run_command(cmd_parse_one, "test", "a", "--num", "3", NULL);
	assert_int_equal(r.code, -EINVAL);
	assert_string_equal(r.err, "kfxt: test: unknown option: --num (did you mean --number?)\n");
	run_free(&r);
}

/* As many items as a list holds, and one more */
static int cmd_parse_many(int unused, char **unused_argv)
{
	static char *argv[OPT_LIST_MAX + 3] = { "test" };
	int i;

	(void)unused;
	(void)unused_argv;
	for (i = 1; i <= OPT_LIST_MAX; i++)
		argv[i] = "-ia";
	assert_int_equal(cmd_parse(OPT_LIST_MAX + 1, argv), OPT_LIST_MAX + 1);
	assert_int_equal(parsed.list.cnt, OPT_LIST_MAX);
	argv[i] = "-ia";
	return cmd_parse(OPT_LIST_MAX + 2, argv);
}

static void test_opt_list_limit(void **state)
{
	struct run r = run_command(cmd_parse_many, "test", NULL);

	(void)state;
	assert_int_equal(r.code, -EINVAL);
	assert_string_equal(r.err, "kfxt: test: --item: given more than 256 times: 'a'\n");
	run_free(&r);
}

static void test_opt_operands(void **state)
{
	struct run r;

	(void)state;
	r = run_command(cmd_parse_one, "test", NULL);
	assert_int_equal(r.code, -EINVAL);
	assert_string_equal(r.err,
			    "kfxt: test: operand missing (usage: kfxt test [OPTION]... FILE)\n");
	run_free(&r);
	r = run_command(cmd_parse_one, "test", "a", "-f", "b", NULL);
	assert_int_equal(r.code, -EINVAL);
	assert_string_equal(r.err, "kfxt: test: too many operands: b (see kfxt help test)\n");
	run_free(&r);
	r = run_command(cmd_parse_one, "test", "a", "-f", NULL);
	assert_int_equal(r.code, 2);
	assert_true(parsed.flag);
	run_free(&r);
}

static void check_help(int (*cmd)(int, char **), const char *name)
{
	struct run r = run_command(cmd, name, "--help", NULL);
	unsigned int lines = 0;
	const char *s;
	size_t len;

	assert_int_equal(r.code, 0);
	assert_string_equal(r.err, "");
	for (s = r.out; *s; s += len + 1) {
		len = strcspn(s, "\n");
		assert_true(len <= 80);
		lines++;
	}
	assert_true(lines <= 24);
	assert_has(r.out, "Usage: kfxt ");
	assert_has(r.out, "\nExamples:\n  kfxt ");
	run_free(&r);
}

/* A former name sets the option, and is neither printed nor proposed. */
static void test_opt_alias(void **state)
{
	struct run r = run_command(cmd_parse, "test", "--former", "7", NULL);

	(void)state;
	assert_int_equal(r.code, 3);
	assert_int_equal(parsed.number, 7);
	run_free(&r);
	r = run_command(cmd_parse, "test", "--formar", NULL);
	assert_string_equal(r.err, "kfxt: test: unknown option: --formar (see kfxt help test)\n");
	run_free(&r);
	r = run_command(cmd_parse, "test", "--former=10", NULL);
	assert_string_equal(r.err, "kfxt: test: --number: too large: '10'\n");
	run_free(&r);
	r = run_command(cmd_parse, "test", "-h", NULL);
	assert_null(strstr(r.out, "former"));
	run_free(&r);
}

static struct {
	struct opt_cfg test;
	bool own;
} parsed_also;

static int cmd_parse_also(int argc, char **argv)
{
	static const struct opt own_rows[] = {
		{ .name = "own", .kind = OPT_FLAG, .help = "its own", .offset = offsetof(typeof(parsed_also), own) },
		{ .name = "number", .kind = OPT_U64, .metavar = "N", .help = "another default",
		  .offset = offsetof(typeof(parsed_also), test.number), .value = "70" },
		{ 0 },
	};
	const struct opt_command more = {
		.name = "more", .operands = "", .summary = "More.", .rows = own_rows, .also = &test_command,
		.examples = "kfxt more\n",
	};

	parsed_also.own = false;
	return opt_parse(&more, &parsed_also, argc, argv);
}

/* Options of another command are taken, not listed, and replaced by those of the same name. */
static void test_opt_also(void **state)
{
	struct run r = run_command(cmd_parse_also, "more", "--own", "-s", "a", "--size", "1K", NULL);

	(void)state;
	assert_int_equal(r.code, 6);
	assert_true(parsed_also.own);
	assert_string_equal(parsed_also.test.string, "a");
	assert_int_equal(parsed_also.test.size, 1024);
	assert_int_equal(parsed_also.test.number, 70);
	run_free(&r);
	r = run_command(cmd_parse_also, "more", "-h", NULL);
	assert_has(r.out, "      --number N             another default [70]\n");
	assert_has(r.out, "Also the options of kfxt test (see kfxt help test).\n");
	assert_null(strstr(r.out, "--size"));
	run_free(&r);
	r = run_command(cmd_parse_also, "more", "--sizee=1", NULL);
	assert_string_equal(r.err, "kfxt: more: unknown option: --sizee=1 (did you mean --size?)\n");
	run_free(&r);
}

static void test_opt_help(void **state)
{
	struct run r = run_command(cmd_parse, "test", "-h", NULL);

	(void)state;
	assert_has(r.out, "      --number N             one to nine [5]\n");
	assert_has(r.out, "  -h, --help                 print this help\n");
	run_free(&r);
	check_help(cmd_parse, "test");
	check_help(cmd_dump, "dump");
	check_help(cmd_verify, "verify");
	check_help(cmd_report, "report");
}

/* ---- log, json, input ------------------------------------------------------ */

static void test_log_text(void **state)
{
	char buf[64], small[6];

	(void)state;
	assert_string_equal(log_text(buf, sizeof(buf), "a\x1b[m\n\x7f", 6), "a\\x1b[m\\x0a\\x7f");
	assert_string_equal(log_text(buf, sizeof(buf), "\xc3\xa4\xff\xc3", 4), "\xc3\xa4\\xff\\xc3");
	/* C1, bidirectional override, overlong, surrogate, NUL */
	assert_string_equal(log_text(buf, sizeof(buf), "\xc2\x9b", 2), "\\xc2\\x9b");
	assert_string_equal(log_text(buf, sizeof(buf), "\xe2\x80\xae", 3), "\\xe2\\x80\\xae");
	assert_string_equal(log_text(buf, sizeof(buf), "\xc0\xaf", 2), "\\xc0\\xaf");
	assert_string_equal(log_text(buf, sizeof(buf), "\xed\xa0\x80", 3), "\\xed\\xa0\\x80");
	assert_string_equal(log_text(buf, sizeof(buf), "\0", 1), "\\x00");
	assert_string_equal(log_text(small, sizeof(small), "abc\x01zz", 6), "abc");
	assert_string_equal(log_text(small, sizeof(small), "abcdefgh", 8), "abcde");
}

static int print_messages(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	log_info("one\ntwo %s", "\r");
	log_debug("not shown");
	log_set_level(LOG_LEVEL_ERROR);
	log_warn("not shown");
	log_error("last");
	return 0;
}

static void test_log_levels(void **state)
{
	struct run r = run_command(print_messages, NULL);

	(void)state;
	assert_string_equal(r.err, "kfxt: one\n      two \\x0d\nkfxt: last\n");
	run_free(&r);
}

static void write_gzip(const char *path, const void *data, size_t len)
{
	gzFile f = gzopen(path, "wb");

	assert_non_null(f);
	assert_int_equal(gzwrite(f, data, (unsigned int)len), len);
	assert_int_equal(gzclose(f), Z_OK);
}

/* What input_read() ends with: 0 or -errno. What came before it is the beginning of @data. */
static long read_all(const char *path, const char *data, size_t *len)
{
	struct input *in;
	char buf[4096];
	long n;

	*len = 0;
	n = input_open(&in, path);
	if (n)
		return n;
	while ((n = input_read(in, buf, sizeof(buf))) > 0) {
		assert_memory_equal(buf, data + *len, n);
		*len += n;
	}
	assert_int_equal(input_read(in, buf, sizeof(buf)), n);
	input_close(in);
	return n;
}

static void write_zstd(const char *path, const void *data, size_t len)
{
	static char packed[200000];
	int fd = open(path, O_WRONLY | O_TRUNC);
	ZSTD_CCtx *z = ZSTD_createCCtx();
	size_t n;

	ZSTD_CCtx_setParameter(z, ZSTD_c_checksumFlag, 1);
	n = ZSTD_compress2(z, packed, sizeof(packed), data, len);
	assert_false(ZSTD_isError(n));
	assert_int_equal(write(fd, packed, n), n);
	ZSTD_freeCCtx(z);
	close(fd);
}

static void change_bit(int fd, off_t at)
{
	char byte;

	assert_int_equal(pread(fd, &byte, 1, at), 1);
	byte ^= 0x10;
	assert_int_equal(pwrite(fd, &byte, 1, at), 1);
}

#define INPUT_BYTES	100000

/* Both ways of packing: whole, twice, with what does not belong there, damaged, cut. */
static void test_input_packed(void **state)
{
	const struct {
		void (*write)(const char *path, const void *data, size_t len);
		int checksum_at;	/* from the end */
		size_t least;		/* of what a cut in the middle leaves */
	} ways[] = { { write_gzip, -8, 50000 }, { write_zstd, -4, 0 /* its blocks have up to 128 KiB */ } };
	char path[] = "/tmp/kfxt-test-XXXXXX";
	char *data = malloc(2 * INPUT_BYTES), *packed = malloc(2 * INPUT_BYTES);
	int fd = mkstemp(path), i;
	ssize_t bytes;
	size_t len;

	(void)state;
	assert_true(data && packed && fd >= 0);
	for (i = 0; i < INPUT_BYTES; i++)
		data[i] = data[i + INPUT_BYTES] = (char)(rand() >> 8);
	for (i = 0; i < 2; i++) {
		ways[i].write(path, data, INPUT_BYTES);
		assert_int_equal(read_all(path, data, &len), 0);
		assert_int_equal(len, INPUT_BYTES);
		bytes = pread(fd, packed, 2 * INPUT_BYTES, 0);
		/* padded, once more, and then garbage */
		assert_int_equal(pwrite(fd, "\0\0\0\0\0", 5, bytes), 5);
		assert_int_equal(pwrite(fd, packed, bytes, bytes + 5), bytes);
		assert_int_equal(read_all(path, data, &len), 0);
		assert_int_equal(len, 2 * INPUT_BYTES);
		assert_int_equal(pwrite(fd, "x", 1, 2 * bytes + 5), 1);
		assert_int_equal(read_all(path, data, &len), -EBADMSG);
		assert_int_equal(len, 2 * INPUT_BYTES);
		assert_int_equal(ftruncate(fd, bytes), 0);
		change_bit(fd, bytes + ways[i].checksum_at);
		assert_int_equal(read_all(path, data, &len), -EBADMSG);
		/* libzstd keeps what it was about to give out with the error */
		assert_in_range(len, INPUT_BYTES - 4096, INPUT_BYTES);
		change_bit(fd, bytes + ways[i].checksum_at);
		assert_int_equal(ftruncate(fd, 60000), 0);
		assert_int_equal(read_all(path, data, &len), -ENODATA);
		assert_in_range(len, ways[i].least, 60000);
		assert_int_equal(ftruncate(fd, 4), 0);
		assert_int_equal(read_all(path, data, &len), -ENODATA);
	}
	close(fd);
	unlink(path);
	free(packed);
	free(data);
}

static void test_input(void **state)
{
	char path[] = "/tmp/kfxt-test-XXXXXX";
	int fd = mkstemp(path);
	size_t len;

	(void)state;
	assert_int_equal(read_all(path, "", &len), 0);
	assert_int_equal(write(fd, "\x1f", 1), 1);
	assert_int_equal(read_all(path, "\x1f", &len), 0);
	assert_int_equal(len, 1);
	assert_int_equal(write(fd, "plain", 5), 5);
	assert_int_equal(read_all(path, "\x1fplain", &len), 0);
	assert_int_equal(len, 6);
	assert_int_equal(read_all("/tmp", "", &len), -EISDIR);
	assert_int_equal(read_all("/nonexistent", "", &len), -ENOENT);
	assert_non_null(strstr(input_error(-EBADMSG), "corrupt"));
	close(fd);
	unlink(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_num_u64),
		cmocka_unit_test(test_num_size),
		cmocka_unit_test(test_num_size_text),
		cmocka_unit_test(test_num_duration),
		cmocka_unit_test(test_num_cpus),
		cmocka_unit_test(test_opt_kinds),
		cmocka_unit_test(test_opt_defaults),
		cmocka_unit_test(test_opt_errors),
		cmocka_unit_test(test_opt_list_limit),
		cmocka_unit_test(test_opt_operands),
		cmocka_unit_test(test_opt_alias),
		cmocka_unit_test(test_opt_also),
		cmocka_unit_test(test_opt_help),
		cmocka_unit_test(test_log_text),
		cmocka_unit_test(test_log_levels),
		cmocka_unit_test(test_input),
		cmocka_unit_test(test_input_packed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
