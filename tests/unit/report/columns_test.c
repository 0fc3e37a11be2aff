// SPDX-License-Identifier: GPL-2.0
/*
 * Text cut to columns of a terminal.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>

#include <cmocka.h>

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "report/columns.h"

static void assert_cut(const char *text, size_t width, const char *expected)
{
	char buf[40];

	snprintf(buf, sizeof(buf), "%s", text);
	columns_cut(buf, width);
	assert_string_equal(buf, expected);
	assert_true(columns_of(buf) <= width);
}

static void text_is_cut_between_characters(void **state)
{
	(void)state;
	assert_cut("function", 8, "function");
	assert_cut("function", 7, "func...");
	assert_cut("function", 5, "funct");
	assert_cut("function", 0, "");
	assert_cut("", 0, "");
	assert_cut("\xc3\xa4\xc3\xb6\xc3\xbc\xc3\xa4\xc3\xb6\xc3\xbc\xc3\xa4", 7, "\xc3\xa4\xc3\xb6\xc3\xbc\xc3\xa4\xc3\xb6\xc3\xbc\xc3\xa4");
	assert_cut("\xc3\xa4\xc3\xb6\xc3\xbc\xc3\xa4\xc3\xb6\xc3\xbc\xc3\xa4", 6, "\xc3\xa4\xc3\xb6\xc3\xbc...");
	assert_cut("\xc3\xa4\xc3\xb6", 1, "\xc3\xa4");
}

static void what_is_no_terminal_has_no_width(void **state)
{
	int fd = open("/dev/null", O_RDONLY);

	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(columns_of_terminal(fd), 0);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(text_is_cut_between_characters),
		cmocka_unit_test(what_is_no_terminal_has_no_width),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
