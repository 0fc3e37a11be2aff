// SPDX-License-Identifier: GPL-2.0
/*
 * Unit tests of the table of sources: what each says of itself, that others rely on.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "bpf/abi/shed.h"
#include "capture/source.h"
#include "source/table.h"

static const char *name_of(const struct source_ops *s)
{
	return s->many ?: s->name;
}

/* Each has a name for kfxt estimate, and no two have the same. */
static void test_names(void **state)
{
	unsigned int i, k;

	(void)state;
	for (i = 0; i < RAW_KIND_CNT; i++) {
		assert_non_null(name_of(source_table[i]));
		for (k = 0; k < i; k++)
			assert_string_not_equal(name_of(source_table[k]), name_of(source_table[i]));
	}
	assert_string_equal(name_of(&source_func), "functions");
	assert_string_equal(name_of(&source_tracepoint), "tracepoints");
	assert_string_equal(name_of(&source_stack), "samples");
	assert_string_equal(name_of(&source_syscall), "syscalls");
}

/* What is left out under a budget, of which source. */
static void test_shed(void **state)
{
	static const struct source_ops never = { .shed_class = SHED_PRESETS };
	static const struct {
		const struct source_ops *source;
		enum shed_class class;
	} expected[] = {
		{ &source_func, SHED_CALLS }, { &source_syscall, SHED_SYSCALLS }, { &source_tracepoint, SHED_TRACEPOINTS },
		{ &source_irq, SHED_PRESETS }, { &source_workqueue, SHED_PRESETS }, { &source_power, SHED_PRESETS },
		{ &source_block, SHED_PRESETS }, { &source_log, SHED_CNT }, { &source_marker, SHED_CNT },
		{ &source_psi, SHED_CNT }, { &source_stack, SHED_CNT }, { &source_signal, SHED_CNT },
		{ &source_migrate, SHED_CNT }, { &never, SHED_CNT },
	};
	unsigned int i;

	(void)state;
	for (i = 0; i < sizeof(expected) / sizeof(expected[0]); i++)
		assert_int_equal(source_shed_class(expected[i].source), expected[i].class);
}

/* The ledger counts what is left out in the class that goes with it. */
static void test_shed_is_counted(void **state)
{
	enum shed_class class;
	unsigned int i;

	(void)state;
	for (i = 0; i < RAW_KIND_CNT; i++) {
		class = source_shed_class(source_table[i]);
		if (class != SHED_CNT)
			assert_int_equal(source_table[i]->class, class == SHED_CALLS ? LEDGER_CALLS : LEDGER_EVENTS);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_shed),
		cmocka_unit_test(test_shed_is_counted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
