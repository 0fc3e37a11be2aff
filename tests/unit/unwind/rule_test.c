// SPDX-License-Identifier: GPL-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "unwind/rule.h"

static void test_keys(void **state)
{
	(void)state;
	assert_int_not_equal(rule_key(0, 0), 0);
	assert_int_not_equal(rule_key(0, 1), rule_key(1, 0));
	assert_int_not_equal(rule_key(65534, (1ULL << 48) - 1), 0);
	assert_int_equal(rule_key(65535, 0), 0);
	assert_int_equal(rule_key(UINT32_MAX, 0), 0);
	assert_int_equal(rule_key(0, 1ULL << 48), 0);
	assert_int_equal(rule_key(0, UINT64_MAX), 0);
}

static void test_many(void **state)
{
	struct rule_table t = { 0 };
	struct unwind_rule rule;
	unsigned int i;

	(void)state;
	assert_false(rule_table_get(&t, rule_key(1, 1), &rule));
	for (i = 0; i < 20000; i++)
		rule_table_add(&t, rule_key(i % 7, i), &(struct unwind_rule){ .cfa = RULE_SP, .cfa_offset = (int)i });
	for (i = 0; i < 20000; i++) {
		assert_true(rule_table_get(&t, rule_key(i % 7, i), &rule));
		assert_int_equal(rule.cfa_offset, i);
		assert_false(rule_table_get(&t, rule_key(i % 7 + 1, i), &rule));
	}
	assert_false(rule_table_get(&t, 0, &rule));
	rule_table_add(&t, 0, &rule);
	assert_int_equal(t.cnt, 20000);
	rule_table_fini(&t);
	assert_false(rule_table_get(&t, rule_key(0, 0), &rule));
}

/* It does not grow without bound. */
static void test_too_many(void **state)
{
	struct rule_table t = { 0 };
	struct unwind_rule rule = { .cfa = RULE_FP };
	size_t cap;
	uint64_t i;

	(void)state;
	for (i = 0; i < RULE_TABLE_RULES_MAX; i++)
		rule_table_add(&t, rule_key(3, i * 64), &rule);
	assert_int_equal(t.cnt, RULE_TABLE_RULES_MAX);
	cap = t.cap;
	assert_in_range(cap * 20, 0, 48 << 20);
	rule_table_add(&t, rule_key(3, i * 64), &rule);
	assert_int_equal(t.cnt, 1);
	assert_int_equal(t.cap, cap);
	assert_true(rule_table_get(&t, rule_key(3, i * 64), &rule));
	assert_false(rule_table_get(&t, rule_key(3, 0), &rule));
	rule_table_fini(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_keys), cmocka_unit_test(test_many), cmocka_unit_test(test_too_many),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
