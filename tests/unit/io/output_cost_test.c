// SPDX-License-Identifier: GPL-2.0
/*
 * Unit tests of what a byte of output costs.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/resource.h>

#include <cmocka.h>

#include "io/output_cost.h"

/* Whatever the machine: a byte takes less than a microsecond; a directory that is not there is none. */
static void test_each_place(void **state)
{
	static const char *const dirs[] = { NULL, ".", "/nonexistent" };
	struct output_cost *o;
	unsigned int i, k;

	(void)state;
	for (i = 0; i < sizeof(dirs) / sizeof(dirs[0]); i++) {
		assert_int_equal(output_cost_open(&o, dirs[i]), 0);
		assert_true(output_cost_copy_ns(o) > 0 && output_cost_copy_ns(o) < 1000);
		assert_true(output_cost_write_ns(o) == 0);
		output_cost_write(o, 0);
		assert_true(output_cost_write_ns(o) == 0);
		for (k = 0; k < 10; k++)
			output_cost_write(o, 100000);
		assert_true(output_cost_write_ns(o) > 0 && output_cost_write_ns(o) < 1000);
		output_cost_close(o);
	}
	output_cost_close(NULL);
}

/* What was measured before it could not be written any more stays; however much there is, little is written. */
static void test_much(void **state)
{
	struct rlimit limit, before;
	struct output_cost *o;
	double ns;
	unsigned int i;

	(void)state;
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
	limit = before;
	limit.rlim_cur = 4 << 20;
	assert_int_equal(output_cost_open(&o, NULL), 0);
	for (i = 0; i < 1000; i++)
		output_cost_write(o, UINT64_MAX);
	ns = output_cost_write_ns(o);
	assert_true(ns > 0);
	output_cost_write(o, 1000);
	assert_true(output_cost_write_ns(o) == ns);
	output_cost_close(o);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
	assert_int_equal(output_cost_open(&o, NULL), 0);
	for (i = 0; i < 100; i++)
		output_cost_write(o, 100000);
	ns = output_cost_write_ns(o);
	assert_true(ns > 0);
	output_cost_write(o, 100000);
	assert_true(output_cost_write_ns(o) == ns);
	output_cost_close(o);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_place),
		cmocka_unit_test(test_much),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
