// SPDX-License-Identifier: GPL-2.0
/*
 * Format files, records and filters of tracepoints: made ones, of all that kernels write.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "bpf/abi/tracepoint.h"
#include "fxt/fxt.h"
#include "tracepoint/filter.h"
#include "tracepoint/tracepoint.h"

#define COMMON \
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n" \
	"\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n" \
	"\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n" \
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"
#define FIELD(decl, offset, size, sign) \
	"\tfield:" decl ";\toffset:" #offset ";\tsize:" #size ";\tsigned:" #sign ";\n"
#define FORMAT(fields, print)	"name: made\nID: 77\nformat:\n" COMMON fields "\nprint fmt: " print "\n"

static bool value_of(void *ctx, const char *name, int64_t *value)
{
	(void)ctx;
	*value = 5;
	return !strcmp(name, "FIVE");
}

static struct tracepoint_format *opened(const char *text)
{
	struct tracepoint_format *f;

	assert_int_equal(tracepoint_format_open(&f, "sys", text, strlen(text), value_of, NULL), 0);
	assert_string_equal(tracepoint_format_name(f), "made");
	assert_int_equal(tracepoint_format_id(f), 77);
	return f;
}

/* A record as text: "a=1 b=x"; what is Null is "-". */
static const char *decoded(const struct tracepoint_format *f, const void *record, size_t len)
{
	static char out[4096];
	const struct tracepoint_names names = { 0 };
	char *text = malloc(TRACEPOINT_TEXT_BYTES);
	void *copy = malloc(len + !len);
	struct fxt_arg args[FXT_ARGS_MAX];
	unsigned int n, i;
	size_t used = 0;

	memcpy(copy, record, len);
	n = tracepoint_format_decode(f, &names, copy, len, args, text);
	out[0] = 0;
	for (i = 0; i < n; i++) {
		const struct fxt_arg *a = &args[i];

		used += (size_t)snprintf(out + used, sizeof(out) - used, "%s%s=", i ? " " : "", a->name.data);
		if (a->type == FXT_ARG_STRING)
			used += (size_t)snprintf(out + used, sizeof(out) - used, "%.*s", (int)a->str.len, a->str.data);
		else if (a->type == FXT_ARG_INT32)
			used += (size_t)snprintf(out + used, sizeof(out) - used, "%d", a->i32);
		else if (a->type == FXT_ARG_UINT32)
			used += (size_t)snprintf(out + used, sizeof(out) - used, "%uu", a->u32);
		else if (a->type == FXT_ARG_INT64)
			used += (size_t)snprintf(out + used, sizeof(out) - used, "%lldl", (long long)a->i64);
		else if (a->type == FXT_ARG_UINT64)
			used += (size_t)snprintf(out + used, sizeof(out) - used, "%lluul", (unsigned long long)a->u64);
		else if (a->type == FXT_ARG_POINTER)
			used += (size_t)snprintf(out + used, sizeof(out) - used, "0x%llx", (unsigned long long)a->u64);
		else if (a->type == FXT_ARG_BOOL)
			used += (size_t)snprintf(out + used, sizeof(out) - used, "%s", a->b ? "true" : "false");
		else
			used += (size_t)snprintf(out + used, sizeof(out) - used, "-");
	}
	free(copy);
	free(text);
	return out;
}

/* ---- records ---------------------------------------------------------------------------- */

static void test_numbers(void **state)
{
	const struct {
		uint64_t common;
		int8_t a; uint8_t b; int16_t c; int32_t d; uint32_t e; uint8_t f; uint8_t pad[3];
		int64_t g; uint64_t h; uint64_t i;
	} r = { 0, -1, 255, -2, -3, 4000000000U, 1, { 0 }, -5, UINT64_MAX, 0xffff888000001000 };
	struct tracepoint_format *f = opened(FORMAT(
		FIELD("signed char a", 8, 1, 1) FIELD("u8 b", 9, 1, 0) FIELD("short c", 10, 2, 1)
		FIELD("pid_t d", 12, 4, 1) FIELD("unsigned int e", 16, 4, 0) FIELD("bool f", 20, 1, 0)
		FIELD("long g", 24, 8, 1) FIELD("u64 h", 32, 8, 0) FIELD("const void * i", 40, 8, 0),
		"\"%d\", REC->a"));

	(void)state;
	assert_int_equal(tracepoint_format_bytes(f), 48);
	assert_string_equal(decoded(f, &r, 48), "a=-1 b=255u c=-2 d=-3 e=4000000000u f=true g=-5l "
			    "h=18446744073709551615ul i=0xffff888000001000");
	/* Cut short: what is not there is Null. */
	assert_string_equal(decoded(f, &r, 16), "a=-1 b=255u c=-2 d=-3 e=- f=- g=- h=- i=-");
	assert_string_equal(decoded(f, &r, 0), "a=- b=- c=- d=- e=- f=- g=- h=- i=-");
	tracepoint_format_close(f);
}

static void test_strings(void **state)
{
	struct {
		uint64_t common;
		char comm[16];
		uint32_t name, rel;
		char bytes[24];
	} r = { 0, "sixteen bytes ok", 24 << 0, 0, "dyn\0rel\0" };
	struct tracepoint_format *f = opened(FORMAT(
		FIELD("char comm[16]", 8, 16, 0) FIELD("__data_loc char[] name", 24, 4, 0)
		FIELD("__rel_loc char[] rel", 28, 4, 0), "\"%s\", REC->comm"));

	(void)state;
	r.name = 4U << 16 | offsetof(typeof(r), bytes);
	r.rel = 4U << 16 | 4;		/* from the end of the word itself, at 32 */
	assert_string_equal(decoded(f, &r, sizeof(r)), "comm=sixteen bytes ok name=dyn rel=rel");
	memcpy(r.bytes, "\xff\x01\\", 4);
	assert_string_equal(decoded(f, &r, sizeof(r)), "comm=sixteen bytes ok name=\\xff\\x01\\ rel=rel");
	/* Lengths from outside are not believed. */
	r.name = 0xffffU << 16 | offsetof(typeof(r), bytes);
	r.rel = 1U << 16 | 0xffff;
	assert_string_equal(decoded(f, &r, sizeof(r)), "comm=sixteen bytes ok name=- rel=-");
	tracepoint_format_close(f);
}

static void test_arrays(void **state)
{
	struct {
		uint64_t common;
		uint8_t v4[4], mac[6], pad[2], v6[16], raw[4];
		uint32_t words[2], mask;
		uint64_t bits[1];
	} r = { 0, { 10, 0, 0, 1 }, { 0, 0x16, 0x3e, 0, 0, 1 }, { 0 }, { 0x20, 1, [15] = 1 }, { 1, 2, 0xab, 0 },
		{ 7, 0xffffffff }, 0, { 0x100000003 } };
	struct tracepoint_format *f = opened(FORMAT(
		FIELD("__u8 v4[4]", 8, 4, 0) FIELD("unsigned char mac[6]", 12, 6, 0) FIELD("__u8 v6[16]", 20, 16, 0)
		FIELD("u8 raw[4]", 36, 4, 0) FIELD("u32 words[2]", 40, 8, 0) FIELD("__data_loc unsigned long[] mask", 48, 4, 0),
		"\"%pI4 %pM %pI6c %s %s %s\", REC->v4, REC->mac, REC->v6, __print_hex(REC->raw, 4), "
		"__print_array(REC->words, 2, 4), __get_bitmask(mask)"));

	(void)state;
	r.mask = 8U << 16 | offsetof(typeof(r), bits);
	assert_string_equal(decoded(f, &r, sizeof(r)), "v4=10.0.0.1 mac=00:16:3e:00:00:01 v6=2001::1 raw=01 02 ab 00 "
			    "words={0x7,0xffffffff} mask=00000001,00000003");
	tracepoint_format_close(f);
}

/* By the print format: what it says is what the kernel would print. */
static const char *printed(const char *print, int32_t value)
{
	static char out[256];
	const struct { uint64_t common; int32_t x; } r = { 0, value };
	char text[2048];
	struct tracepoint_format *f;

	snprintf(text, sizeof(text), FORMAT(FIELD("int x", 8, 4, 1), "%s"), print);
	f = opened(text);
	snprintf(out, sizeof(out), "%s", decoded(f, &r, sizeof(r)) + 2);
	tracepoint_format_close(f);
	return out;
}

static void test_print_formats(void **state)
{
	static const char flags[] = "\"%s\", __print_flags(REC->x, \"|\", { 1, \"A\" }, { 1 << 1, \"B\" }, { (unsigned long)(0x0cUL), \"CD\" })";
	static const char symbols[] = "\"x=%s\", __print_symbolic(REC->x & 7, { 0, \"ZERO\" }, { 1, \"O\" \"NE\" }, { -2 & 7, \"six\" })";
	static const char choice[] = "\"%s%s\", (REC->x & ((1 << 2) - 1)) ? __print_flags(REC->x & 3, \"+\", { 1, \"S\" }, { 2, \"D\" }) : \"R\", REC->x & 4 ? \"+\" : \"\"";

	(void)state;
	assert_string_equal(printed(flags, 0), "");
	assert_string_equal(printed(flags, 3), "A|B");
	assert_string_equal(printed(flags, 12 + 1), "A|CD");
	assert_string_equal(printed(flags, 0x18), "0x18");	/* of CD only a part */
	assert_string_equal(printed(flags, 0x11), "A|0x10");
	assert_string_equal(printed(symbols, 8), "ZERO");
	assert_string_equal(printed(symbols, 9), "ONE");
	assert_string_equal(printed(symbols, 6), "six");
	assert_string_equal(printed(symbols, 5), "0x5");
	assert_string_equal(printed(choice, 8), "R");
	assert_string_equal(printed(choice, 3), "S+D");
	assert_string_equal(printed(choice, 4 + 1), "S+");
	/* What says nothing of it, or cannot be understood, leaves the number. */
	assert_string_equal(printed("\"%d\", REC->x", 7), "7");
	assert_string_equal(printed("\"%s\", ({ char *p = y; p; })", 7), "7");
	assert_string_equal(printed("\"%s\", __print_symbolic(unknown(REC->x), { 1, \"one\" })", 1), "1l");
	assert_string_equal(printed("\"%s\", __print_symbolic(REC->x, { ENUM, \"one\" })", 1), "0x1");
	assert_string_equal(printed("\"%s\", __print_symbolic(REC->x, { ENUM, \"one\" }, { FIVE + 1, \"six\" })", 6), "six");
	assert_string_equal(printed("\"%s\", __print_symbolic(REC->x, { 1, \"one\" }", 1), "1");
	assert_string_equal(printed("\"%s\", REC->nosuch", 1), "1");
}

static void test_precedence(void **state)
{
	(void)state;
	assert_string_equal(printed("\"%s\", __print_symbolic(2 + REC->x * 3 << 1 & 0xff | 1, { 17, \"yes\" })", 2), "yes");
	assert_string_equal(printed("\"%s\", __print_symbolic(10 - 2 - REC->x, { 5, \"left\" })", 3), "left");
	assert_string_equal(printed("\"%s\", __print_symbolic(!REC->x == 0 && ~0 < 0, { 1, \"yes\" })", 3), "yes");
	assert_string_equal(printed("\"%s\", __print_symbolic((u8)REC->x, { 255, \"yes\" })", -1), "yes");
	assert_string_equal(printed("\"%s\", __print_symbolic(100 / REC->x, { 1, \"yes\" })", 0), "0l");
}

static void test_more_fields_than_arguments(void **state)
{
	struct tracepoint_format *f;
	uint32_t r[2 + 20];
	char text[8192];
	size_t len;
	int i;

	(void)state;
	len = (size_t)sprintf(text, "name: made\nID: 77\nformat:\n" COMMON);
	for (i = 0; i < 20; i++) {
		len += (size_t)sprintf(text + len, "\tfield:u32 f%d;\toffset:%d;\tsize:4;\tsigned:0;\n", i, 8 + 4 * i);
		r[2 + i] = (uint32_t)i;
	}
	sprintf(text + len, "\nprint fmt: \"\"\n");
	f = opened(text);
	assert_string_equal(strstr(decoded(f, r, sizeof(r)), "f12="), "f12=12u f13=13u more=f14=14 f15=15 f16=16 f17=17 f18=18 f19=19");
	tracepoint_format_close(f);
}

static void test_no_formats(void **state)
{
	static const char *const bad[] = {
		"", "name: made\n", "name: made\nID: x\nformat:\n\nprint fmt: \"\"\n",
		"name: made\nID: 77\nformat:\n" COMMON FIELD("u32 x[", 8, 4, 0) "\nprint fmt: \"\"\n",
		"name: made\nID: 77\nformat:\n" COMMON FIELD("x", 8, 4, 0) "\nprint fmt: \"\"\n",
		"name: made\nID: 77\nformat:\n" COMMON FIELD("u32 x", 5000, 4, 0) "\nprint fmt: \"\"\n",
		"name: made\nID: 77\nformat:\n" COMMON FIELD("u32 x", 8, 99999, 0) "\nprint fmt: \"\"\n",
		"name: made\nID: 77\nformat:\n" COMMON FIELD("u32 x", 8, 4000000000, 0) "\nprint fmt: \"\"\n",
		"name: made\nID: 77\nformat:\n" COMMON FIELD("__data_loc char[] x", 8, 8, 0) "\nprint fmt: \"\"\n",
		"name: made\nID: 77\nformat:\n" COMMON FIELD("u32 x", 8, 4, 0),
	};
	struct tracepoint_format *f;
	unsigned int i;

	(void)state;
	for (i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		assert_int_equal(tracepoint_format_open(&f, "sys", bad[i], strlen(bad[i]), NULL, NULL), -EINVAL);
	assert_int_equal(tracepoint_format_open(&f, "sys", "name: made\0", 11, NULL, NULL), -EINVAL);
}

/* ---- filters ---------------------------------------------------------------------------------- */

struct filtered {
	uint64_t common;
	char comm[8];
	int32_t pid;
	uint32_t bytes;
	int64_t delta;
	uint32_t name;
	char text[12];
};

static struct tracepoint_format *filtered_format(void)
{
	return opened(FORMAT(FIELD("char comm[8]", 8, 8, 0) FIELD("pid_t pid", 16, 4, 1) FIELD("u32 bytes", 20, 4, 0)
			     FIELD("s64 delta", 24, 8, 1) FIELD("__data_loc char[] name", 32, 4, 0)
			     FIELD("u32 list[2]", 36, 8, 0), "\"\""));
}

/* What the kernel side does (passes_filter() in bpf/tracepoint.bpf.c), in words of its own. */
static bool holds(const struct tracepoint_info *info, const struct field_test *t, const struct filtered *r)
{
	const char *at = (const char *)r + t->offset;
	int64_t v = 0;
	uint32_t where;

	if (t->op == FIELD_TEXT) {
		if (t->is_dynamic) {
			memcpy(&where, at, 4);
			if (where >> 16 < t->size)
				return false;
			at = (const char *)r + (where & 0xffff);
		}
		return !memcmp(at, &info->texts[t->value], t->size);
	}
	if (t->size == 8)
		memcpy(&v, at, 8);
	else
		v = t->is_signed ? (int64_t)*(const int32_t *)at : (int64_t)*(const uint32_t *)at;
	switch (t->op) {
	case FIELD_EQ:
		return v == (int64_t)t->value;
	case FIELD_LT:
		return t->is_signed ? v < (int64_t)t->value : (uint64_t)v < t->value;
	case FIELD_GT:
		return t->is_signed ? v > (int64_t)t->value : (uint64_t)v > t->value;
	default:
		return v & (int64_t)t->value;
	}
}

static bool chosen(const char *filter)
{
	struct filtered r = { 0, "bash", -5, 4096, -70000, 4U << 16 | 36, "sda" };
	struct tracepoint_format *f = filtered_format();
	struct tracepoint_info info = { 0 };
	char why[256];
	unsigned int at = 0;

	if (tracepoint_filter_compile(&info, f, filter, why, sizeof(why)))
		fail_msg("%s: %s", filter, why);
	while (at < info.tests)
		at = holds(&info, &info.test[at], &r) ? info.test[at].yes : info.test[at].no;
	assert_int_equal(tracepoint_filter_matches(&info, &r, sizeof(r)), at == FIELD_YES);
	tracepoint_format_close(f);
	return at == FIELD_YES;
}

static void test_filters(void **state)
{
	static const char *const yes[] = {
		"pid == -5", "pid < 0", "pid <= -5", "pid >= -5", "pid != 5", "pid > -6", "bytes > 4095", "bytes >= 4096",
		"bytes == 0x1000", "bytes & 0x1000", "delta < -69999", "comm == bash", "comm == \"bash\"", "comm != ba",
		"comm ~ \"ba*\"", "comm ~ ba*", "name == sda", "name != sd", "name ~ 's*'", "comm ~ bash",
		"pid == 1 || bytes == 4096", "pid == -5 && bytes == 4096", "!(pid == 1)", "!pid == 1",
		"pid == 1 || pid == 2 || pid == -5", "(pid == 1 || pid == -5) && (bytes == 1 || name == sda)",
		"!(pid == 1 && bytes == 4096) && !(comm == x || name == y)", "pid == -5 || pid == 1 && pid == 2",
	};
	static const char *const no[] = {
		"pid == 5", "pid > 0", "pid != -5", "pid < -5", "pid > -5", "bytes < 4096", "bytes & 0xfff", "delta > 0", "comm == bas",
		"comm == bashx", "comm ~ \"x*\"", "name == sd", "name == sdaa", "name == sdabcdef", "pid == -5 && bytes == 1",
		"!(pid == -5)", "(pid == 1 || pid == -5) && (bytes == 1 || name == x)", "(pid == -5 || pid == 1) && pid == 2",
	};
	unsigned int i;

	(void)state;
	for (i = 0; i < sizeof(yes) / sizeof(*yes); i++)
		if (!chosen(yes[i]))
			fail_msg("not chosen: %s", yes[i]);
	for (i = 0; i < sizeof(no) / sizeof(*no); i++)
		if (chosen(no[i]))
			fail_msg("chosen: %s", no[i]);
}

/* Records that are cut, or whose strings are beyond their end. */
static void test_filters_of_short_records(void **state)
{
	struct filtered r = { .pid = 5, .name = 64U << 16 | 36, .text = "sda" };
	struct tracepoint_format *f = filtered_format();
	struct tracepoint_info info = { 0 };
	char why[256];

	(void)state;
	assert_true(tracepoint_filter_matches(&info, &r, 0));
	assert_int_equal(tracepoint_filter_compile(&info, f, "pid == 5", why, sizeof(why)), 0);
	assert_true(tracepoint_filter_matches(&info, &r, 20));
	assert_false(tracepoint_filter_matches(&info, &r, 19));
	assert_int_equal(tracepoint_filter_compile(&info, f, "name ~ s*", why, sizeof(why)), 0);
	assert_true(tracepoint_filter_matches(&info, &r, 37));
	assert_false(tracepoint_filter_matches(&info, &r, 36));
	r.name = 64U << 16 | 0xffff;
	assert_false(tracepoint_filter_matches(&info, &r, sizeof(r)));
	tracepoint_format_close(f);
}

static void test_no_filters(void **state)
{
	static const struct {
		const char *filter, *why;
	} rows[] = {
		{ "", "a field is missing at the end" }, { "pid ==", "a value is missing at the end" },
		{ "pid == 1 &&", "a field is missing at the end" }, { "pid == 1 || ", "a field is missing at the end" },
		{ "!", "a field is missing at the end" }, { "pid == 1 && && pid", "a field is missing at \"&& pid\"" },
		{ "== 1", "a field is missing at \"== 1\"" }, { "pid == )", "a value is missing at \")\"" },
		{ "pid", "a comparison (==, !=, <, <=, >, >=, & or ~) is missing at the end" },
		{ "pid && bytes", "a comparison (==, !=, <, <=, >, >=, & or ~) is missing at \"&& bytes\"" },
		{ "nosuch == 1", "there is no field nosuch (there are: comm, pid, bytes" },
		{ "pid == x", "pid is a number, \"x\" is none" }, { "pid == 1x", "is none" },
		{ "bytes == -1", "never negative" }, { "pid ~ 1", "~ is for strings" }, { "pid == \"1\"", "is a number in the record" },
		{ "comm > a", "comm is a string" }, { "comm ~ *a", "only a '*' at the end" }, { "comm ~ \"a?\"", "only a '*'" },
		{ "comm == ninebytes", "comm has 8 bytes" }, { "list == 1", "list is an array" }, { "(pid == 1", "a ')' is missing at the end" },
		{ "pid == 1)", "is too much" }, { "comm == \"a", "a quotation mark" }, { "pid == 99999999999999999999", "is none" },
		{ "((((((((((((((((((((((((((((((((((pid == 1", "too many parentheses" },
		{ "pid==1||pid==1||pid==1||pid==1||pid==1||pid==1||pid==1||pid==1||pid==1||pid==1||pid==1||pid==1||pid==1||"
		  "pid==1||pid==1||pid==1||pid==1", "more than 16 comparisons" },
	};
	struct tracepoint_format *f = filtered_format();
	struct tracepoint_info info;
	char why[256];
	unsigned int i;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		assert_int_equal(tracepoint_filter_compile(&info, f, rows[i].filter, why, sizeof(why)), -EINVAL);
		if (!strstr(why, rows[i].why))
			fail_msg("%s: %s", rows[i].filter, why);
	}
	tracepoint_format_close(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_numbers),
		cmocka_unit_test(test_strings),
		cmocka_unit_test(test_arrays),
		cmocka_unit_test(test_print_formats),
		cmocka_unit_test(test_precedence),
		cmocka_unit_test(test_more_fields_than_arguments),
		cmocka_unit_test(test_no_formats),
		cmocka_unit_test(test_filters),
		cmocka_unit_test(test_filters_of_short_records),
		cmocka_unit_test(test_no_filters),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
