// SPDX-License-Identifier: GPL-2.0
/*
 * Unit tests of what is made of clocks, which go on here only where a test says so.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/clock.h"

#define NS_PER_MS	1000000ULL

static uint64_t monotonic_ns = 1000 * NS_PER_MS, suspended_ns, late_ns;

/* In place of libc's. Once, the thread is kept off the CPU before it reads the second one. */
int clock_gettime(clockid_t clock, struct timespec *ts)
{
	uint64_t ns = monotonic_ns;

	if (clock == CLOCK_BOOTTIME) {
		ns += suspended_ns + late_ns;
		monotonic_ns += late_ns;
		late_ns = 0;
	}
	*ts = (struct timespec){ .tv_sec = (time_t)(ns / 1000000000), .tv_nsec = (long)(ns % 1000000000) };
	return 0;
}

static void test_suspends(void **state)
{
	struct clock_suspends s = { 0 };
	uint64_t from_ns, to_ns;

	(void)state;
	suspended_ns = 50 * NS_PER_MS;		/* before the first look */
	assert_false(clock_was_suspended(&s, &from_ns, &to_ns));
	monotonic_ns += 100 * NS_PER_MS;
	assert_false(clock_was_suspended(&s, &from_ns, &to_ns));
	suspended_ns += 7000 * NS_PER_MS;
	monotonic_ns += 100 * NS_PER_MS;
	assert_true(clock_was_suspended(&s, &from_ns, &to_ns));
	assert_int_equal(from_ns, 1150 * NS_PER_MS);
	assert_int_equal(to_ns, 8250 * NS_PER_MS);
	assert_false(clock_was_suspended(&s, &from_ns, &to_ns));
	late_ns = 500 * NS_PER_MS;
	assert_false(clock_was_suspended(&s, &from_ns, &to_ns));
	suspended_ns += 2 * NS_PER_MS;
	assert_true(clock_was_suspended(&s, &from_ns, &to_ns));
}

static void test_share(void **state)
{
	struct time_share s = { 0 };

	(void)state;
	assert_true(time_share_is_left(&s, 10, 100 * NS_PER_MS));
	time_share_take(&s, 99 * NS_PER_MS);
	assert_true(time_share_is_left(&s, 10, 100 * NS_PER_MS));
	time_share_take(&s, 31 * NS_PER_MS);
	assert_false(time_share_is_left(&s, 10, 100 * NS_PER_MS));
	monotonic_ns += 290 * NS_PER_MS;
	assert_false(time_share_is_left(&s, 10, 100 * NS_PER_MS));
	monotonic_ns += 20 * NS_PER_MS;
	assert_true(time_share_is_left(&s, 10, 100 * NS_PER_MS));
	/* What was not used is not kept. */
	monotonic_ns += 1000000 * NS_PER_MS;
	assert_true(time_share_is_left(&s, 10, 100 * NS_PER_MS));
	time_share_take(&s, 100 * NS_PER_MS);
	assert_false(time_share_is_left(&s, 10, 100 * NS_PER_MS));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_suspends),
		cmocka_unit_test(test_share),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
