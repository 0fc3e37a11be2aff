// SPDX-License-Identifier: GPL-2.0
/*
 * Unit tests of what a recording costs: from counts to shares of a CPU.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "capture/source.h"
#include "session/cost.h"
#include "source/table.h"
#include "cli/cli_made.h"

#define S	1000000000ULL
#define FUNC	(COST_SOURCES + RAW_FUNC)

static void near(double got, double expected)
{
	if (fabs(got - expected) > 1e-9 * fabs(expected) + 1e-15)
		fail_msg("%.12g is not %.12g", got, expected);
}

/* 1000 runs of 50 ns, of which an empty one has 20, and 10 to call each. */
static void test_rates(void **state)
{
	struct cost_counts from = { .now_ns = 5 * S }, to = { .now_ns = 7 * S };
	struct cost_rates rates;

	(void)state;
	from.seen[COST_SWITCHES] = 7;
	from.runs[COST_SWITCHES] = (struct cost_runs){ 11, 13, 17 };
	to.seen[COST_SWITCHES] = 7 + 500;
	to.runs[COST_SWITCHES] = (struct cost_runs){ 11 + 1000, 13 + 50000, 17 + 10000 };
	cost_rates_typical(&rates, source_table);
	cost_rates_measure(&rates, &from, &to, 20);
	near(rates.event_ns[COST_SWITCHES], (50000 - 1000 * 20 + 10000) / 500.0);
	near(rates.share[COST_SWITCHES], 0);
}

/* Clocks are not exact: what an empty run takes on the average may be more than a short run took. */
static void test_rates_are_not_negative(void **state)
{
	const struct cost_counts from = { .now_ns = 0 };
	struct cost_counts to = { .now_ns = S };
	struct cost_rates rates;

	(void)state;
	to.seen[COST_WAKEUPS] = 100;
	to.runs[COST_WAKEUPS] = (struct cost_runs){ 100, 1500, 900 };
	cost_rates_typical(&rates, source_table);
	cost_rates_measure(&rates, &from, &to, 20);
	near(rates.event_ns[COST_WAKEUPS], 9);
}

/* Programs that run for what becomes no event, or for few: their share of the time is kept, and the typical event. */
static void test_few_events(void **state)
{
	const unsigned int item = COST_SOURCES + RAW_SYSCALL;
	const struct cost_counts from = { .now_ns = S };
	struct cost_counts to = { .now_ns = 2 * S }, later;
	struct cost_rates rates, typical;
	struct cost_shares shares;

	(void)state;
	cost_rates_typical(&typical, source_table);
	rates = typical;
	to.seen[item] = COST_EVENTS_MIN - 1;
	to.runs[item] = (struct cost_runs){ 100000, 100000 * 60, 0 };
	cost_rates_measure(&rates, &from, &to, 20);
	near(rates.share[item], 100000 * 40 / 1e9);
	near(rates.event_ns[item], typical.event_ns[item]);
	cost_shares_between(&shares, &from, &to, &rates);
	near(shares.item[item], 100000 * 40 / 1e9);
	/* Then there are many. */
	later = to;
	later.now_ns += S;
	later.seen[item] += 1000000;
	cost_shares_between(&shares, &to, &later, &rates);
	near(shares.item[item], 1e6 * typical.event_ns[item] / 1e9);
}

/* Functions by fentry: one program of several is counted. Of others a program may run less often than it counts. */
static void test_missing_runs(void **state)
{
	const struct cost_counts from = { .now_ns = 0 };
	struct cost_counts to = { .now_ns = S };
	struct cost_rates rates;

	(void)state;
	to.seen[FUNC] = 4000;
	to.runs[FUNC] = (struct cost_runs){ 1000, 1000 * 70, 1000 * 10 };
	to.seen[COST_SWITCHES] = 4000;
	to.runs[COST_SWITCHES] = to.runs[FUNC];
	cost_rates_typical(&rates, source_table);
	cost_rates_measure(&rates, &from, &to, 20);
	near(rates.event_ns[FUNC], 60);
	near(rates.event_ns[COST_SWITCHES], 15);
}

static const struct source_ops plain = { .name = "plain" };
static const struct source_ops slow = { .name = "slow", .typical_ns = 7, .loads_copies = true };

/* Each source says what its own are, whatever its kind. */
static void test_of_source(void **state)
{
	const struct cost_counts from = { .now_ns = 0 };
	struct cost_counts to = { .now_ns = S };
	const struct source_ops *table[RAW_KIND_CNT];
	struct cost_rates rates;
	unsigned int i, k;

	(void)state;
	for (i = COST_SOURCES; i < COST_CNT; i++) {
		to.seen[i] = 4000;
		to.runs[i] = (struct cost_runs){ 1000, 1000 * 70, 1000 * 10 };
	}
	for (k = 0; k < RAW_KIND_CNT; k++) {
		for (i = 0; i < RAW_KIND_CNT; i++)
			table[i] = i == k ? &slow : &plain;
		cost_rates_typical(&rates, table);
		for (i = 0; i < RAW_KIND_CNT; i++)
			near(rates.event_ns[COST_SOURCES + i], i == k ? 7 : 100);
		cost_rates_measure(&rates, &from, &to, 20);
		for (i = 0; i < RAW_KIND_CNT; i++)
			near(rates.event_ns[COST_SOURCES + i], i == k ? 60 : 15);
	}
}

/* What is the engine's own, and what the sources there are say. */
static void test_typical(void **state)
{
	static const struct {
		unsigned int item;
		double ns;
	} expected[] = {
		{ COST_SWITCHES, 33 }, { COST_WAKEUPS, 35 }, { COST_NAMES, 500 }, { COST_POLLED, 0 }, { FUNC, 100 },
		{ COST_SOURCES + RAW_TRACEPOINT, 55 }, { COST_SOURCES + RAW_SYSCALL, 92 }, { COST_SOURCES + RAW_STACK, 3000 },
		{ COST_SOURCES + RAW_IRQ, 100 },
	};
	struct cost_rates rates;
	unsigned int i;

	(void)state;
	cost_rates_typical(&rates, source_table);
	for (i = 0; i < sizeof(expected) / sizeof(expected[0]); i++)
		near(rates.event_ns[expected[i].item], expected[i].ns);
}

static void test_shares(void **state)
{
	struct cost_counts from = { .now_ns = 3 * S, .drain_ns = 100, .output_ns = 200, .bytes = 300, .raw_bytes = 400 };
	struct cost_counts to = from;
	struct cost_rates rates = { 0 };
	struct cost_shares shares;
	char text[COST_TEXT];

	(void)state;
	rates.event_ns[COST_SWITCHES] = 40;
	rates.event_ns[FUNC] = 100;
	from.seen[FUNC] = from.recorded[FUNC] = 9;
	to.now_ns += 2 * S;
	to.seen[COST_SWITCHES] = 100000;
	to.recorded[COST_SWITCHES] = 60000;
	to.seen[FUNC] = to.recorded[FUNC] = 9 + 10000;
	to.drain_ns += 2000000;
	to.output_ns += 4000000;
	to.bytes += 1000;
	to.raw_bytes += 8000;
	cost_shares_between(&shares, &from, &to, &rates);
	assert_int_equal(shares.ns, 2 * S);
	near(shares.seen_per_s[COST_SWITCHES], 50000);
	near(shares.recorded_per_s[COST_SWITCHES], 30000);
	near(shares.recorded_per_s[FUNC], 5000);
	near(shares.item[COST_SWITCHES], 0.002);
	near(shares.item[FUNC], 0.0005);
	near(shares.kernel, 0.0025);
	near(shares.drain, 0.001);
	near(shares.output, 0.002);
	near(shares.bytes_per_s, 500);
	near(shares.raw_bytes_per_s, 4000);
	/* What is left out has a cost, too. */
	rates.shed_ns[SHED_SYSCALLS] = 50;
	to.shed[SHED_SYSCALLS] = 200000;
	cost_shares_between(&shares, &from, &to, &rates);
	near(shares.shed_per_s[SHED_SYSCALLS], 100000);
	near(shares.shed[SHED_SYSCALLS], 0.005);
	near(shares.kernel, 0.0075);
	to.shed[SHED_SYSCALLS] = 0;
	/* Clocks that fell back. */
	to.output_ns = from.output_ns - 1;
	to.drain_ns = from.drain_ns - 1;
	cost_shares_between(&shares, &from, &to, &rates);
	near(shares.output, 0);
	near(shares.drain, 0);
	shares.drain = 0.001;
	shares.output = 0.002;
	assert_string_equal(cost_text(&shares, text), "cost 0.55 % of one CPU (kernel 0.25, recorder 0.30)");
}

static void test_no_time(void **state)
{
	const struct cost_counts at = { .now_ns = 3 * S };
	struct cost_shares shares;
	struct cost_rates rates;

	(void)state;
	cost_rates_typical(&rates, source_table);
	cost_rates_measure(&rates, &at, &at, 20);
	cost_shares_between(&shares, &at, &at, &rates);
	assert_int_equal(shares.ns, 0);
	near(shares.kernel, 0);
	near(shares.seen_per_s[COST_SWITCHES], 0);
}

/* The counter and the event in a trace: percent of a CPU. */
static void test_written(void **state)
{
	const struct cost_shares shares = { .kernel = 0.0018, .drain = 0.0002, .output = 0.0001 };
	const struct fxt_thread at = { .process = 7, .thread = 8 };
	struct fxt_record rec;
	struct fxt_reader *r;
	unsigned int seen = 0;
	struct made m;

	(void)state;
	made_begin(&m);
	assert_int_equal(cost_write_counter(&shares, 1000, at, m.w), 0);
	assert_int_equal(cost_write_event(&shares, 2000, m.w), 0);
	made_close(&m);
	assert_int_equal(fxt_reader_open(&r, made_read, &m), 0);
	while (fxt_reader_next(r, &rec) > 0) {
		if (rec.kind != FXT_KIND_EVENT)
			continue;
		assert_int_equal(rec.event.type, seen ? FXT_INSTANT : FXT_COUNTER);
		assert_int_equal(rec.event.ts, seen ? 2000 : 1000);
		if (!seen)
			assert_int_equal(rec.event.thread.thread, 8);
		assert_memory_equal(rec.event.name.data, seen ? "cost" : "kfxt cost", rec.event.name.len);
		assert_int_equal(rec.nargs, 2);
		near(fxt_record_arg(&rec, "kernel")->f64, 0.18);
		near(fxt_record_arg(&rec, "recorder")->f64, 0.03);
		seen++;
	}
	assert_int_equal(seen, 2);
	fxt_reader_close(r);
	made_free(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rates),
		cmocka_unit_test(test_rates_are_not_negative),
		cmocka_unit_test(test_few_events),
		cmocka_unit_test(test_missing_runs),
		cmocka_unit_test(test_of_source),
		cmocka_unit_test(test_typical),
		cmocka_unit_test(test_shares),
		cmocka_unit_test(test_no_time),
		cmocka_unit_test(test_written),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
