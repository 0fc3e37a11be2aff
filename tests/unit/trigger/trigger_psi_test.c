// SPDX-License-Identifier: GPL-2.0
/*
 * Unit tests of triggers on pressure: what the kernel reports of a window that began at the boot is not believed.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "trigger/psi.h"

#define MS	1000000ULL

/* So much of 150 ms since it was opened, with much before. */
static void test_first_window_is_doubted(void **state)
{
	struct psi_watch p = { .is_doubted = true, .total_us = 9000000 };

	assert_false(psi_is_true(&p, 9149999, 150 * MS));
	/* The next one is measured from there, */
	assert_false(psi_is_true(&p, 9299998, 150 * MS));
	assert_true(psi_is_true(&p, 9449998, 150 * MS));
	/* and what comes after one that is true is the kernel's to say: it is measured from before that. */
	assert_true(psi_is_true(&p, 9449998, 150 * MS));
	(void)state;
}

static void test_threshold_below_a_microsecond_is_rounded_down(void **state)
{
	struct psi_watch p = { .is_doubted = true, .total_us = 5 };

	assert_false(psi_is_true(&p, 5, 1999));
	assert_true(psi_is_true(&p, 6, 1999));
	(void)state;
}

static void test_window_counted_alone_is_believed(void **state)
{
	struct psi_watch p = { .total_us = 9000000 };

	assert_true(psi_is_true(&p, 9000000, 150 * MS));
	(void)state;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_first_window_is_doubted),
		cmocka_unit_test(test_threshold_below_a_microsecond_is_rounded_down),
		cmocka_unit_test(test_window_counted_alone_is_believed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
