// SPDX-License-Identifier: GPL-2.0
/*
 * Arrays that grow: what is in them stays, whatever cannot be had changes nothing.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/array.h"

static void test_one_by_one(void **state)
{
	unsigned int cnt, cap = 0, moves = 0, was;
	uint64_t *numbers = NULL;

	(void)state;
	for (cnt = 0; cnt < 100000; cnt++) {
		was = cap;
		assert_int_equal(array_reserve(numbers, cnt, cap, 1), 0);
		assert_true(cap > cnt);
		moves += cap != was;
		numbers[cnt] = cnt;
	}
	assert_true(moves < 15);
	for (cnt = 0; cnt < 100000; cnt++)
		assert_int_equal(numbers[cnt], cnt);
	free(numbers);
}

static void test_many_at_once(void **state)
{
	size_t cap = 0, none = 0;
	char *text = NULL;

	(void)state;
	assert_int_equal(array_reserve(text, 0, cap, none), 0);
	assert_null(text);
	assert_int_equal(array_reserve(text, 0, cap, 5000), 0);
	assert_true(cap >= 5000);
	text[4999] = 'x';
	assert_int_equal(array_reserve(text, 5000, cap, cap - 5000), 0);
	assert_int_equal(array_reserve(text, 5000, cap, cap - 4999), 0);
	assert_int_equal(text[4999], 'x');
	free(text);
}

/* Neither the number of elements nor that of bytes may wrap. */
static void test_too_many(void **state)
{
	uint64_t *numbers = NULL, *before;
	uint8_t small_cap = 0;
	size_t cap = 0;

	(void)state;
	assert_int_equal(array_reserve(numbers, 0, cap, 10), 0);
	before = numbers;
	assert_int_equal(array_reserve(numbers, 10, cap, SIZE_MAX), -ENOMEM);
	assert_int_equal(array_reserve(numbers, 10, cap, SIZE_MAX / 8), -ENOMEM);
	assert_ptr_equal(numbers, before);
	assert_int_equal(cap, 16);
	free(numbers);
	numbers = NULL;
	assert_int_equal(array_reserve(numbers, 0, small_cap, 200), 0);
	assert_in_range(small_cap, 200, 255);
	assert_int_equal(array_reserve(numbers, 200, small_cap, 56), -ENOMEM);
	assert_int_equal(array_reserve(numbers, 200, small_cap, 55), 0);
	assert_int_equal(small_cap, 255);
	free(numbers);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_one_by_one),
		cmocka_unit_test(test_many_at_once),
		cmocka_unit_test(test_too_many),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
