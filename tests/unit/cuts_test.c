// SPDX-License-Identifier: GPL-2.0
/*
 * Which places are tried: none is left out by accident.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cuts.h"

#define TEXT_BYTES	200U

/* Two lines, the second from byte 100 on. */
static size_t tried(const char *step, char *places)
{
	char text[TEXT_BYTES + 1];
	struct cuts c;
	size_t at, cnt = 0;

	memset(text, 'x', TEXT_BYTES);
	text[99] = text[TEXT_BYTES - 1] = '\n';
	text[TEXT_BYTES] = 0;
	if (step)
		setenv("CUT_STEP", step, 1);
	else
		unsetenv("CUT_STEP");
	cuts_init(&c, TEXT_BYTES);
	cuts_lines(&c, text);
	for (at = cuts_next(&c, 0); at <= TEXT_BYTES; at = cuts_next(&c, at + 1), cnt++)
		places += sprintf(places, "%zu ", at);
	cuts_free(&c);
	return cnt;
}

static void test_usual(void **state)
{
	char places[1024];

	(void)state;
	tried(NULL, places);
	assert_string_equal(places, "0 1 2 37 74 98 99 100 101 102 111 148 185 198 199 200 ");
	tried("37", places);
	assert_string_equal(places, "0 1 2 37 74 98 99 100 101 102 111 148 185 198 199 200 ");
}

static void test_every_byte(void **state)
{
	char places[1024];

	(void)state;
	assert_int_equal(tried("1", places), TEXT_BYTES + 1);
}

/* Of three borders with 74 every other one. */
static void test_few(void **state)
{
	char places[1024];

	(void)state;
	tried("74", places);
	assert_string_equal(places, "0 1 2 74 148 198 199 200 ");
}

/* The magic number, a record of two words, a large one of three. */
static void test_records(void **state)
{
	static const uint64_t words[] = { 0x0016547846040010ULL, 0x21, 0, 0x3f, 0, 0 };
	struct cuts c;

	(void)state;
	setenv("CUT_STEP", "1000", 1);
	cuts_init(&c, sizeof(words));
	c.step = CUT_STEP_USUAL;
	cuts_records(&c, words);
	assert_int_equal(c.borders, 4);
	assert_int_equal(cuts_next(&c, 3), 6);
	assert_int_equal(cuts_next(&c, 11), 22);
	assert_int_equal(cuts_next(&c, 27), 46);
	assert_int_equal(cuts_next(&c, 49), 49);
	cuts_free(&c);
}

static void test_tries(void **state)
{
	(void)state;
	setenv("CUT_STEP", "1", 1);
	assert_int_equal(cuts_tries(1000), 1000);
	setenv("CUT_STEP", "37", 1);
	assert_int_equal(cuts_tries(1000), 250);
	setenv("CUT_STEP", "997", 1);
	assert_int_equal(cuts_tries(1000), 20);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_usual),
		cmocka_unit_test(test_every_byte),
		cmocka_unit_test(test_few),
		cmocka_unit_test(test_records),
		cmocka_unit_test(test_tries),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
