// SPDX-License-Identifier: GPL-2.0
/*
 * Unit tests of why rings were full.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "session/lateness.h"

#define MS	1000000ULL
#define SLEEP	(200 * MS)

static void test_cause(void **state)
{
	static const struct {
		uint64_t all, delay, output, cpu, unsure;	/* ms; unsure: of the output's */
		struct late_span span;				/* its ns: ms */
	} cases[] = {
		{ 50, 40, 2, 3, 0, { LATE_NOT_SCHEDULED, 40, false } },
		{ 50, 2, 40, 3, 0, { LATE_OUTPUT, 40, false } },
		{ 50, 2, 40, 3, 1, { LATE_OUTPUT, 40, true } },
		{ 50, 2, 3, 40, 1, { LATE_BUSY, 40, false } },
		{ 3000, 2, 3, 5, 0, { LATE_STOPPED, 2790, false } },
		{ 200, 2, 3, 5, 0, { LATE_UNKNOWN, 0, false } },	/* it slept, as it may */
		{ 50, 15, 15, 15, 15, { LATE_UNKNOWN, 0, false } },	/* nothing that takes most of it */
		{ 0, 0, 0, 0, 0, { LATE_UNKNOWN, 0, false } },
	};
	const struct late_times from = { 7 * MS, 11 * MS, 13 * MS, { 17 * MS, 1 * MS } };
	struct late_span span;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct late_times to = {
			from.now_ns + cases[i].all * MS, from.delay_ns + cases[i].delay * MS,
			from.cpu_ns + cases[i].cpu * MS,
			{ from.output.ns + cases[i].output * MS, from.output.unsure_ns + cases[i].unsure * MS },
		};

		span = late_span_of(&from, &to, SLEEP);
		assert_int_equal(span.cause, cases[i].span.cause);
		assert_int_equal(span.ns, cases[i].span.ns * MS);
		assert_int_equal(span.at_most, cases[i].span.at_most);
	}
}

/* Without CONFIG_SCHED_INFO nobody knows whether it was stopped or waited for a CPU. */
static void test_no_delay(void **state)
{
	const struct late_times from = { .now_ns = MS, .delay_ns = LATE_NO_DELAY };
	const struct late_times idle = { .now_ns = 3001 * MS, .delay_ns = LATE_NO_DELAY };
	const struct late_times busy = { .now_ns = 3001 * MS, .delay_ns = LATE_NO_DELAY, .cpu_ns = 2000 * MS };

	(void)state;
	assert_int_equal(late_span_of(&from, &idle, SLEEP).cause, LATE_UNKNOWN);
	assert_int_equal(late_span_of(&from, &busy, SLEEP).cause, LATE_BUSY);
}

/* Of those that were reported lost, only what the ring had no space for. */
static void test_lost(void **state)
{
	const struct cpu_ctl ctl = {
		.lost_switches = 1, .lost_wakeups = 2, .calls = { .lost = 5, .contended = 1 },
		.logs = { .lost = 3 }, .raws = { .lost = 20, .contended = 2 }, .unpaired_raws = 18,
	};

	(void)state;
	assert_int_equal(lateness_lost(&ctl), 1 + 2 + 4 + 3 + 0);
}

/* The time before the first look is not attributed; without a loss nothing is late. */
static void test_looks(void **state)
{
	const uint64_t hour = 3600 * 1000 * MS;
	struct lateness l;

	(void)state;
	lateness_open(&l, SLEEP);
	lateness_look(&l, (struct output_time){ 1, 0 }, true);
	assert_int_equal(lateness_longest(&l).cause, LATE_UNKNOWN);
	assert_int_equal(lateness_look(&l, (struct output_time){ hour, 0 }, false).cause, LATE_UNKNOWN);
	assert_int_equal(lateness_longest(&l).cause, LATE_UNKNOWN);
	assert_int_equal(lateness_look(&l, (struct output_time){ 2 * hour, 0 }, true).cause, LATE_OUTPUT);
	assert_int_equal(lateness_longest(&l).cause, LATE_OUTPUT);
	assert_int_equal(lateness_longest(&l).ns, hour);
	lateness_look(&l, (struct output_time){ 4 * hour, 2 * hour }, true);
	assert_int_equal(lateness_longest(&l).ns, 2 * hour);
	assert_true(lateness_longest(&l).at_most);
	lateness_look(&l, (struct output_time){ 5 * hour, 2 * hour }, true);
	assert_true(lateness_longest(&l).at_most);
	lateness_close(&l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cause),
		cmocka_unit_test(test_no_delay),
		cmocka_unit_test(test_lost),
		cmocka_unit_test(test_looks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
