// SPDX-License-Identifier: GPL-2.0
/*
 * Strings that are kept once: the same ones again, what is not text, and the limit.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "symbol/kept_names.h"

#define ENTRIES(table)	(sizeof(table) / sizeof((table)[0]))

static void test_names(void **state)
{
	static const struct {
		const char *text, *kept;
	} table[] = {
		{ "plain", "plain" }, { "a\nb\x7f", "a?b?" }, { "\xff\xc3)", "?" "?)" },
		{ "\u00e9\u20ac", "\u00e9\u20ac" }, { "\xc2\x9b[m", "?[m" }, { "", "" },
	};
	struct kept_names *n;
	const char *kept;
	size_t i;

	(void)state;
	assert_int_equal(kept_names_open(&n, 4096), 0);
	for (i = 0; i < ENTRIES(table); i++) {
		kept = kept_names_put(n, table[i].text, strlen(table[i].text));
		assert_string_equal(kept, table[i].kept);
		assert_ptr_equal(kept_names_put(n, table[i].text, strlen(table[i].text)), kept);
	}
	assert_string_equal(kept_names_put(n, "a\0b", 3), "a?b");
	kept_names_close(n);
	kept_names_close(NULL);
}

static void test_names_end(void **state)
{
	char text[32], longest[2 * KEPT_NAME_LEN_MAX];
	size_t bytes = KEPT_NAME_LEN_MAX;
	struct kept_names *n;
	int i, len;

	(void)state;
	memset(longest, 'x', sizeof(longest));
	memcpy(longest + KEPT_NAME_LEN_MAX - 1, "\u00e9", 2);
	assert_int_equal(kept_names_open(&n, 1 << 20), 0);
	assert_int_equal(strlen(kept_names_put(n, longest, sizeof(longest))), KEPT_NAME_LEN_MAX - 1);
	for (i = 0;; i++) {
		len = sprintf(text, "name%d", i);
		if (!kept_names_put(n, text, len))
			break;
		bytes += len + 1;
		assert_true(bytes <= 1 << 20);
	}
	assert_true(bytes > (1 << 20) - 16);
	assert_true(kept_names_are_full(n));
	/* What was there before still is. */
	assert_string_equal(kept_names_put(n, "name1", 5), "name1");
	kept_names_forget(n);
	assert_false(kept_names_are_full(n));
	assert_string_equal(kept_names_put(n, text, len), text);
	assert_string_equal(kept_names_put(n, longest, sizeof(longest)), kept_names_put(n, longest, sizeof(longest)));
	kept_names_close(n);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_names_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
