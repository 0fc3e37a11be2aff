// SPDX-License-Identifier: GPL-2.0
/*
 * Unit tests of gaps: up to when nothing is missing.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>

#include <cmocka.h>

#include "base/num.h"
#include "session/gaps.h"
#include "session/session_p.h"

static void test_complete_until(void **state)
{
	static const uint32_t cpus[] = { 0, 2, 5 };
	struct cpu_look looks[3] = { { 0 } };
	struct num_cpus online;

	(void)state;
	assert_int_equal(num_parse_cpus("0-1,5", &online, NULL), 0);
	assert_int_equal(gaps_complete_until(looks, cpus, 3, NULL, 1000), 1000);
	looks[0].gap_ns = 700;
	looks[2].gap_ns = 800;
	assert_int_equal(gaps_complete_until(looks, cpus, 3, NULL, 1000), 700);
	looks[1].gap_ns = 300;
	assert_int_equal(gaps_complete_until(looks, cpus, 3, NULL, 1000), 300);
	/* One that is offline keeps no trigger from being looked at; what others hide is waited for. */
	assert_int_equal(gaps_complete_until(looks, cpus, 3, &online, 1000), 700);
	looks[0].gap_ns = looks[2].gap_ns = 0;
	assert_int_equal(gaps_complete_until(looks, cpus, 3, &online, 1000), 1000);
	/* Begun since the look began. */
	looks[0].gap_ns = 1001;
	assert_int_equal(gaps_complete_until(looks, cpus, 3, NULL, 250), 250);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_complete_until) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
