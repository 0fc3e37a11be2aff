// SPDX-License-Identifier: GPL-2.0
/*
 * Unit tests of names made from patterns, and of which names are of one.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "archive/name.h"

#define WHEN	1795442707	/* 2026-11-23 14:05:07 UTC */

static struct name_pattern *open_pattern(const char *text)
{
	struct name_pattern *p = NULL;
	char why[256] = "";

	if (name_pattern_open(&p, text, why, sizeof(why)))
		fail_msg("%s: %s", text, why);
	return p;
}

static void assert_made(const char *text, const char *purpose, const char *expected)
{
	struct name_pattern *p = open_pattern(text);
	char name[NAME_MAX + 1], numbered[NAME_MAX + 1], base[NAME_MAX + 1];

	assert_int_equal(name_make(p, &(struct name_facts){ WHEN, purpose }, name), 0);
	assert_string_equal(name, expected);
	assert_true(name_matches(p, name));
	assert_int_equal(name_add_number(p, name, 17, numbered), 0);
	assert_true(name_matches(p, numbered));
	name_strip_number(p, numbered, base);
	assert_string_equal(base, name);
	name_pattern_close(p);
}

static void test_made(void **state)
{
	char host[NAME_PART_MAX + 1], name[HOST_NAME_MAX + 1] = "", expected[NAME_MAX + 1];

	(void)state;
	assert_int_equal(gethostname(name, sizeof(name) - 1), 0);
	name_clean(name, host);
	snprintf(expected, sizeof(expected), "%s-20261123T140507Z-runq-5ms.fxt.zst", host);
	assert_made("/var/lib/kfxt/%H-%Y%m%dT%H%M%SZ-%t.fxt.zst", "runq>5ms", expected);
	assert_made("%h-%Y%m%dT%H%M%SZ-%t.fxt.zst", "runq>5ms", expected);
	snprintf(expected, sizeof(expected), "2026-11-23-%s", host);
	assert_made("%Y-%m-%d-%H", NULL, expected);
	assert_made("a/%Y-%m-%dT%H.fxt", NULL, "2026-11-23T14.fxt");
	assert_made("%Y%m%d%H.fxt", NULL, "2026112314.fxt");
	assert_made("%H:%M:%S", NULL, "14:05:07");
	assert_made("100%%-%t", "mark=begin of load", "100%-mark=begin-of-load");
	assert_made("%S%%", NULL, "07%");
	assert_made("%t.fxt", NULL, "trace.fxt");
	assert_made("trace.fxt", NULL, "trace-20261123T140507Z.fxt");
	assert_made("my.trace.fxt.gz", NULL, "my.trace-20261123T140507Z.fxt.gz");
	assert_made("trace", NULL, "trace-20261123T140507Z");
}

/* What is a number in a name is not always ours. */
static void test_numbers(void **state)
{
	struct name_pattern *p = open_pattern("%t-%Y.fxt.zst");
	char name[NAME_MAX + 1];

	(void)state;
	assert_int_equal(name_add_number(p, "a-2026.fxt.zst", 3, name), 0);
	assert_string_equal(name, "a-2026-3.fxt.zst");
	name_strip_number(p, "a-2026.fxt.zst", name);
	assert_string_equal(name, "a-2026.fxt.zst");
	name_strip_number(p, "a-7-2026-12.fxt.zst", name);
	assert_string_equal(name, "a-7-2026.fxt.zst");
	name_pattern_close(p);
}

static void test_matches(void **state)
{
	static const char *const not[] = {
		"", "x", "p-20261123-a.fx", "p-20261123-a.fxtx", "p-2026112-a.fxt", "p-2026112x-a.fxt",
		"p-20261123-.fxt", "p-20261123-a b.fxt", "p-20261123-a/b.fxt", "q-20261123-a.fxt",
		"p-20261123-a.fxt.tmp", "p-20261123-a.fxt-1", "p-20261123.fxt", " p-20261123-a.fxt",
		"p-20261123-a.fxt.old",
	};
	static const char *const matching[] = {
		"p-20261123-a.fxt", "p-00000000-a.fxt", "p-20261123-a-1.fxt", "p-20261123-a-b_c+d=e.f.fxt",
		"p-20261123-a.fxt.fxt", "p-20261123-4294967295.fxt",
	};
	struct name_pattern *p = open_pattern("p-%Y%m%d-%t.fxt");
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(not) / sizeof(*not); i++)
		if (name_matches(p, not[i]))
			fail_msg("matches: %s", not[i]);
	for (i = 0; i < sizeof(matching) / sizeof(*matching); i++)
		if (!name_matches(p, matching[i]))
			fail_msg("does not match: %s", matching[i]);
	name_pattern_close(p);
	p = open_pattern("p-%Y%m%d.fxt");
	assert_true(name_matches(p, "p-20261123-1.fxt"));
	assert_true(name_matches(p, "p-20261123-4294967295.fxt"));
	assert_false(name_matches(p, "p-20261123-0.fxt"));
	assert_false(name_matches(p, "p-20261123-01.fxt"));
	assert_false(name_matches(p, "p-20261123-.fxt"));
	assert_false(name_matches(p, "p-20261123-12345678901.fxt"));
	assert_false(name_matches(p, "p-20261123-a.fxt"));
	name_pattern_close(p);
	/* What is not complete is none of them, whatever is at the end. */
	p = open_pattern("p-%Y%m%d-%t");
	assert_true(name_matches(p, "p-20261123-a.b"));
	assert_false(name_matches(p, "p-20261123-a.tmp"));
	assert_false(name_matches(p, "p-20261123-a-1.tmp"));
	name_pattern_close(p);
}

static void test_refused(void **state)
{
	static const struct { const char *text, *why; } wrong[] = {
		{ "", "no name of a file" }, { "/tmp/", "no name of a file" },
		{ "-", "stdout is one file: several need names" },
		{ "/tmp/%Y/a.fxt", "%: only in the name of the file, not in that of its directory" },
		{ "a-%q.fxt", "%q: not known in the name of a file (%Y %m %d %H %M %S %t %h %%)" },
		{ "a-%", "%: not known in the name of a file (%Y %m %d %H %M %S %t %h %%)" },
		{ "%t-%t", "%t: may be there once only" },
		{ "/tmp/a-%Y.tmp", "ends with .tmp, as the names of files that are not complete" },
	};
	char why[256], text[NAME_MAX + 1];
	struct name_pattern *p;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		assert_int_equal(name_pattern_open(&p, wrong[i].text, why, sizeof(why)), -EINVAL);
		assert_string_equal(why, wrong[i].why);
	}
	memset(text, 'a', sizeof(text) - 1);
	text[sizeof(text) - 1] = 0;
	for (i = 1; i < sizeof(text); i++) {
		const int err = name_pattern_open(&p, text + sizeof(text) - 1 - i, why, sizeof(why));

		assert_int_equal(err, i > 127 ? -EINVAL : 0);
		if (err)
			assert_string_equal(why, "the name is too long");
		else
			name_pattern_close(p);
	}
	/* Short, and long names. */
	memset(text, 0, sizeof(text));
	for (i = 0; i < 61; i++)
		strcat(text, "%Y");
	assert_int_equal(name_pattern_open(&p, text, why, sizeof(why)), -EINVAL);
	assert_string_equal(why, "the name is too long");
}

static void test_date(void **state)
{
	static const struct { const char *text; bool has; } cases[] = {
		{ "trace.fxt", true }, { "%t.fxt", false }, { "%Y%m-%t", false }, { "%H:%M", false },
		{ "%m%d%Y", true },
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct name_pattern *p = open_pattern(cases[i].text);

		assert_int_equal(name_pattern_has_date(p), cases[i].has);
		name_pattern_close(p);
	}
}

static void test_clean(void **state)
{
	static const struct { const char *text, *part; } cases[] = {
		{ "runq>5ms:comm=a*", "runq-5ms-comm=a" }, { "", "trace" }, { "../../etc/passwd", "etc-passwd" },
		{ "--", "trace" }, { ".hidden", "hidden" }, { "a\nb\xff", "a-b" },
		{ "log~soft lockup", "log-soft-lockup" }, { "$(reboot)", "reboot" },
		{ "mark=a.tmp", "mark=a-tmp" }, { "a.tmp*", "a-tmp" },
	};
	char part[NAME_PART_MAX + 1], text[200];
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		assert_string_equal(name_clean(cases[i].text, part), cases[i].part);
	memset(text, 'x', sizeof(text));
	text[sizeof(text) - 1] = 0;
	assert_int_equal(strlen(name_clean(text, part)), NAME_PART_MAX);
}

static void test_directory(void **state)
{
	static const struct { const char *text, *dir; } cases[] = {
		{ "a", "." }, { "/a", "/" }, { "b/a", "b" }, { "/c/b/a", "/c/b" }, { "./a", "." },
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct name_pattern *p = open_pattern(cases[i].text);

		assert_string_equal(name_pattern_dir(p), cases[i].dir);
		name_pattern_close(p);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_made),	  cmocka_unit_test(test_numbers), cmocka_unit_test(test_matches),
		cmocka_unit_test(test_refused),	  cmocka_unit_test(test_date),	  cmocka_unit_test(test_clean),
		cmocka_unit_test(test_directory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
