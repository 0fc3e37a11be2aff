// SPDX-License-Identifier: GPL-2.0
/*
 * Unit tests of a budget: what is left out, by what a second cost, and when it is recorded again; the option.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "cli/exit.h"
#include "cli/opt/budget_opts.h"
#include "session/budget.h"

#define S	1000000000ULL

static const struct budget_costs nothing = { 0 };

/* All classes are part of it, at 1 % of a CPU. */
static struct budget_rule rule_of(double limit)
{
	return (struct budget_rule){ .limit = limit, .selected = { true, true, true, true } };
}

static void test_order(void **state)
{
	struct budget_costs costs = { .total = 0.05, .less = { 0.01, 0.02, 0.015, 0.001 } };
	struct budget_rule rule = rule_of(0.06);

	(void)state;
	budget_decide(&rule, &costs, S);
	assert_int_equal(rule.level, 0);
	/* As many as it takes, at once. */
	rule.limit = 0.045;
	budget_decide(&rule, &costs, S);
	assert_int_equal(rule.level, SHED_CALLS + 1);
	rule = rule_of(0.021);
	budget_decide(&rule, &costs, S);
	assert_int_equal(rule.level, SHED_SYSCALLS + 1);
	assert_false(rule.exceeded);
	rule = rule_of(0.001);
	budget_decide(&rule, &costs, S);
	assert_int_equal(rule.level, SHED_CNT);
	/* That it will cost too much all the same is a guess. */
	assert_false(rule.exceeded);
	budget_decide(&rule, &nothing, 2 * S);
	assert_false(rule.exceeded);
	budget_decide(&rule, &(struct budget_costs){ .total = 0.002 }, 3 * S);
	assert_int_equal(rule.level, SHED_CNT);
	assert_true(rule.exceeded);
}

/* The rest goes on if one is not part of the recording; it is not left out on its own. */
static void test_unselected(void **state)
{
	const struct budget_costs costs = { .total = 0.05, .less = { [SHED_TRACEPOINTS] = 0.045 } };
	struct budget_rule rule = { .limit = 0.01, .selected = { [SHED_TRACEPOINTS] = true } };
	struct budget_costs more = costs;

	(void)state;
	budget_decide(&rule, &costs, S);
	assert_int_equal(rule.level, SHED_TRACEPOINTS + 1);
	assert_false(rule.exceeded);
	more.total = 0.02;
	more.less[SHED_TRACEPOINTS] = 0;
	budget_decide(&rule, &more, 2 * S);
	assert_int_equal(rule.level, SHED_TRACEPOINTS + 1);
	assert_true(rule.exceeded);
	/* A class is recorded again, and costs more than it is thought to when it is left out. */
	rule.exceeded = false;
	rule.level = 0;
	more.less[SHED_TRACEPOINTS] = 0.005;
	budget_decide(&rule, &more, 2 * S);
	assert_int_equal(rule.level, SHED_TRACEPOINTS + 1);
	assert_false(rule.exceeded);
	/* With it the classes before it, which are none. */
	budget_decide(&rule, &nothing, 3 * S);
	budget_decide(&rule, &nothing, 6 * S);
	assert_int_equal(rule.level, 0);
	rule = (struct budget_rule){ .limit = 0.01 };
	budget_decide(&rule, &more, S);
	assert_int_equal(rule.level, 0);
	assert_true(rule.exceeded);
}

/* Where the limit is exceeded by what a class costs that is left out, it is detached, which is for good. */
static const struct budget_costs at_first = { .total = 0.05, .less = { 0.045 } };
static const struct budget_costs far = { .total = 0.02, .rest = { 0.015 } };
static const struct budget_costs little = { .total = 0.012, .rest = { 0.008 } };
static const struct budget_costs others = { .total = 0.05, .rest = { 0.02 } };
static const struct budget_costs most = { .total = 0.05, .rest = { 0.03 } };

static struct budget_rule detachable_rule(void)
{
	struct budget_rule rule = rule_of(0.01);

	rule.detachable[0] = true;
	return rule;
}

/* By far: at once, and nothing else is left out before it is known what that saves. */
static void test_detached(void **state)
{
	struct budget_rule rule = detachable_rule();
	uint64_t now;

	(void)state;
	budget_decide(&rule, &at_first, S);
	assert_int_equal(rule.level, 1);
	assert_false(rule.detached[0]);
	budget_decide(&rule, &far, 2 * S);
	assert_true(rule.detached[0]);
	assert_int_equal(rule.level, 1);
	assert_false(rule.exceeded);
	/* What still runs until they are detached does not count. */
	budget_decide(&rule, &far, 3 * S);
	assert_int_equal(rule.level, 1);
	assert_false(rule.exceeded);
	rule.detaching_ns = 0;
	for (now = 4 * S; now < 1000 * S; now += S)
		budget_decide(&rule, &nothing, now);
	assert_int_equal(rule.level, 1);
	/* The others go on as before. */
	budget_decide(&rule, &others, now);
	assert_int_equal(rule.level, SHED_CNT);
	budget_decide(&rule, &nothing, now += S);
	budget_decide(&rule, &nothing, now += BUDGET_HOLD_NS);
	assert_int_equal(rule.level, SHED_CNT - 1);
}

/* While it is detached, a second tells nothing of those that follow; but not for ever, if the kernel does not come to it. */
static void test_detaching(void **state)
{
	struct budget_rule rule = { .limit = 0.01, .selected = { true }, .detachable = { true } };
	uint64_t now;

	(void)state;
	budget_decide(&rule, &at_first, S);
	budget_decide(&rule, &far, 2 * S);
	assert_true(rule.detached[0]);
	assert_int_equal(rule.detaching_ns, 2 * S);
	for (now = 3 * S; now < 2 * S + BUDGET_DETACH_NS; now += S) {
		budget_decide(&rule, &far, now);
		budget_decide(&rule, &others, now);
	}
	assert_false(rule.exceeded);
	budget_decide(&rule, &far, now);
	assert_true(rule.exceeded);
	/* Nor where it has ended. */
	rule.exceeded = false;
	rule.detaching_ns = 0;
	budget_decide(&rule, &nothing, now += S);
	assert_false(rule.exceeded);
	budget_decide(&rule, &(struct budget_costs){ .total = 0.011 }, now += S);
	assert_true(rule.exceeded);
}

/* By little: if that is so for two seconds in a row. */
static void test_detached_later(void **state)
{
	struct budget_rule rule = detachable_rule();

	(void)state;
	budget_decide(&rule, &at_first, S);
	budget_decide(&rule, &little, 2 * S);
	assert_false(rule.detached[0]);
	assert_int_equal(rule.level, 1);
	budget_decide(&rule, &nothing, 3 * S);
	budget_decide(&rule, &little, 4 * S);
	assert_false(rule.detached[0]);
	budget_decide(&rule, &little, 5 * S);
	assert_true(rule.detached[0]);
}

/* Not if others exceed it, unless it is most of what does, or all others are left out; not if it cannot be, or is not left out. */
static void test_not_detached(void **state)
{
	struct budget_rule rule = detachable_rule();

	(void)state;
	budget_decide(&rule, &most, S);
	assert_false(rule.detached[0]);
	rule.level = 1;
	budget_decide(&rule, &others, 2 * S);
	assert_false(rule.detached[0]);
	assert_int_equal(rule.level, SHED_CNT);
	assert_false(rule.exceeded);
	rule.detachable[0] = false;
	budget_decide(&rule, &most, 3 * S);
	assert_false(rule.detached[0]);
	assert_true(rule.exceeded);
	rule.detachable[0] = true;
	budget_decide(&rule, &most, 4 * S);
	assert_true(rule.detached[0]);
	/* Whatever else there is, it is too much by itself. */
	rule.detached[0] = rule.exceeded = false;
	rule.level = SHED_CNT;
	budget_decide(&rule, &others, 5 * S);
	assert_true(rule.detached[0]);
	assert_false(rule.exceeded);
	/* Switches are: without it they are still. */
	rule.detached[0] = false;
	rule.detaching_ns = 0;
	budget_decide(&rule, &(struct budget_costs){ .total = 0.05, .rest = { 0.009 } }, 6 * S);
	assert_false(rule.detached[0]);
	assert_true(rule.exceeded);
}

/* What is still in the rings when a class begins to be left out exceeds nothing, and hides nothing that does. */
static void test_recorded_before(void **state)
{
	struct budget_costs drained = { .total = 0.05, .before = { 0.045 } };
	struct budget_rule rule = detachable_rule();

	(void)state;
	budget_decide(&rule, &at_first, S);
	budget_decide(&rule, &drained, 2 * S);
	assert_int_equal(rule.level, 1);
	drained.rest[0] = 0.015;
	drained.total += 0.015;
	budget_decide(&rule, &drained, 3 * S);
	assert_true(rule.detached[0]);
	assert_int_equal(rule.level, 1);
	/* Only what is left out. */
	rule = detachable_rule();
	budget_decide(&rule, &(struct budget_costs){ .total = 0.05, .before = { 0.045 } }, S);
	assert_int_equal(rule.level, SHED_CNT);
	budget_decide(&rule, &(struct budget_costs){ .total = 0.05, .before = { 0.01, 0.01, 0.01, 0.015 } }, 2 * S);
	assert_false(rule.exceeded);
	budget_decide(&rule, &(struct budget_costs){ .total = 0.05, .before = { 0.01, 0.01, 0.01 } }, 3 * S);
	assert_true(rule.exceeded);
}

/* One after the other, in the opposite order, each after its time. */
static void test_again(void **state)
{
	const struct budget_costs costs = { .total = 0.05, .less = { 0.02, 0.02, 0, 0 } };
	struct budget_rule rule = rule_of(0.011);

	(void)state;
	budget_decide(&rule, &costs, 10 * S);
	assert_int_equal(rule.level, 2);
	budget_decide(&rule, &nothing, 11 * S);
	budget_decide(&rule, &nothing, 13 * S);
	assert_int_equal(rule.level, 2);
	budget_decide(&rule, &nothing, 14 * S);
	assert_int_equal(rule.level, 1);
	budget_decide(&rule, &nothing, 15 * S);
	budget_decide(&rule, &nothing, 18 * S);
	assert_int_equal(rule.level, 0);
}

/* Not while it would cost too much again, and not if that was so in between. */
static void test_not_yet(void **state)
{
	const struct budget_costs costs = { .total = 0.05, .less = { 0.05 } };
	struct budget_costs busy = { .total = 0.002, .more = { 0.006 } };
	struct budget_rule rule = rule_of(0.01);
	unsigned int i;

	(void)state;
	budget_decide(&rule, &costs, S);
	for (i = 2; i < 100; i++)
		budget_decide(&rule, &busy, i * S);
	assert_int_equal(rule.level, 1);
	busy.more[0] = 0.004;
	budget_decide(&rule, &busy, 100 * S);
	budget_decide(&rule, &busy, 102 * S);
	budget_decide(&rule, &costs, 103 * S);
	budget_decide(&rule, &busy, 104 * S);
	budget_decide(&rule, &busy, 106 * S);
	assert_int_equal(rule.level, SHED_CNT);
	rule.level = 1;
	budget_decide(&rule, &busy, 107 * S);
	assert_int_equal(rule.level, 0);
}

/* Each relapse takes twice as long, up to a limit; one after a long time is none. */
static void test_relapse(void **state)
{
	const struct budget_costs costs = { .total = 0.05, .less = { 0.05 } };
	struct budget_rule rule = rule_of(0.01);
	uint64_t now = S, hold = BUDGET_HOLD_NS;
	unsigned int i;

	(void)state;
	for (i = 0; i < 12; i++) {
		budget_decide(&rule, &costs, now);
		assert_int_equal(rule.level, 1);
		budget_decide(&rule, &nothing, now += S);
		budget_decide(&rule, &nothing, now + hold - 1);
		assert_int_equal(rule.level, 1);
		budget_decide(&rule, &nothing, now += hold);
		assert_int_equal(rule.level, 0);
		hold = hold * 2 < BUDGET_HOLD_MAX_NS ? hold * 2 : BUDGET_HOLD_MAX_NS;
		now += 2 * S;
	}
	assert_int_equal(hold, BUDGET_HOLD_MAX_NS);
	now += BUDGET_RELAPSE_NS;
	budget_decide(&rule, &costs, now);
	budget_decide(&rule, &nothing, now += S);
	budget_decide(&rule, &nothing, now + BUDGET_HOLD_NS);
	assert_int_equal(rule.level, 0);
}

static void test_option(void **state)
{
	static const struct {
		const char *text;
		double limit;	/* 0: not taken */
	} cases[] = {
		{ "1%", 0.01 }, { "0.5%", 0.005 }, { ".5%", 0.005 }, { "20%", 0.2 }, { "400%", 4 }, { "100000%", 1000 },
		{ "", 0 }, { "%", 0 }, { "1", 0 }, { "1 %", 0 }, { "-1%", 0 }, { "1.%", 0 }, { "1..5%", 0 }, { "1.5.5%", 0 },
		{ "0%", 0 }, { "0.0001%", 0 }, { "100001%", 0 }, { "1%%", 0 }, { "nan%", 0 }, { "1e2%", 0 }, { ".%", 0 },
		{ "0000000000001%", 0 },
	};
	struct budget_opts opts = { 0 };
	double limit = 7;
	unsigned int i;

	(void)state;
	assert_int_equal(budget_opts_choose(&opts, "record", &limit), EXIT_OK);
	assert_true(limit == 0);
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		opts.percent = cases[i].text;
		if (budget_opts_choose(&opts, "record", &limit) != (cases[i].limit > 0 ? EXIT_OK : EXIT_USAGE))
			fail_msg("'%s'", cases[i].text);
		if (cases[i].limit > 0)
			assert_true(limit > cases[i].limit * 0.999999 && limit < cases[i].limit * 1.000001);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_order),
		cmocka_unit_test(test_unselected),
		cmocka_unit_test(test_detached),
		cmocka_unit_test(test_detaching),
		cmocka_unit_test(test_detached_later),
		cmocka_unit_test(test_not_detached),
		cmocka_unit_test(test_recorded_before),
		cmocka_unit_test(test_again),
		cmocka_unit_test(test_not_yet),
		cmocka_unit_test(test_relapse),
		cmocka_unit_test(test_option),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
