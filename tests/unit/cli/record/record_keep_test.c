// SPDX-License-Identifier: GPL-2.0
/*
 * Unit tests of what kfxt record says of triggers that have fired.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "cli/record/record_keep.h"
#include "trigger/trigger.h"

#define MS	1000000ULL

static void test_fired(void **state)
{
	static const struct {
		const char *text;
		struct trigger_fired fired;
	} cases[] = {
		{ "7.250 ms, db (71)",
		  { .name = "runq", .value = 7250000, .threshold = 5 * MS, .thread = 10000071, .comm = "db", .cpu = -1 } },
		{ ">= 60.000 ms, thread (71), still going on",
		  { .name = "blocked", .value = 60 * MS, .threshold = 5 * MS, .thread = 71, .is_partial = true, .is_ongoing = true, .cpu = -1 } },
		{ "12.000 ms, fsync, db (71)",
		  { .name = "syscall", .value = 12 * MS, .threshold = MS, .thread = 71, .comm = "db", .text = "fsync", .cpu = -1 } },
		{ "93 %, CPU 3", { .name = "busy", .value = 930000, .threshold = 900000, .cpu = 3 } },
		{ ">= 99.9512 %, CPU 0", { .name = "idle", .value = 999512, .threshold = 999500, .is_partial = true } },
		{ "1.500 ms, TIMER, softirq CPU 2",
		  { .name = "irq", .value = 1500000, .threshold = MS, .thread = 4200040002, .comm = "softirq CPU 2", .text = "TIMER", .cpu = -1 } },
		{ "1.500 ms, TIMER", { .name = "irq", .value = 1500000, .threshold = MS, .thread = 4200040002, .text = "TIMER", .cpu = -1 } },
		{ "soft lockup, kworker/0:1 (9)",
		  { .name = "log", .value = 1, .thread = 9, .comm = "kworker/0:1", .text = "soft lockup", .cpu = -1 } },
	};
	char text[RECORD_KEEP_TEXT];
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		record_keep_fired_text(&cases[i].fired, text);
		assert_string_equal(text, cases[i].text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_fired),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
