// SPDX-License-Identifier: GPL-2.0
/*
 * Unit tests of sources that begin late, as they are said of a recording.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "analysis/losses.h"
#include "fxt/fxt.h"

static void add(struct losses *l, const char *source, uint64_t after_ns, const char *why)
{
	losses_add_late_source(l, fxt_str(source), after_ns, fxt_str(why));
}

/* Each word of it is the last that was said. */
static void test_last_word_counts(void **state)
{
	struct losses l = { 0 };
	char text[LOSSES_TEXT];

	(void)state;
	add(&l, "marker", 0, "CPU 1 does not run its workers");
	assert_true(losses_note_text(&l, 0, text));
	assert_string_equal(text, "marker: not recorded: CPU 1 does not run its workers");
	add(&l, "other", 0, "why");
	add(&l, "marker", 3210000000, "");
	assert_int_equal(l.late_cnt, 2);
	assert_true(losses_note_text(&l, 0, text));
	assert_string_equal(text, "marker: recorded from 3.2 s on");
	assert_true(losses_note_text(&l, 1, text));
	assert_string_equal(text, "other: not recorded: why");
	/* What is said of it is no loss of events that were seen. */
	assert_int_equal(losses_lost(&l), 0);
}

/* A trace can say anything. */
static void test_too_many_and_too_long(void **state)
{
	char text[LOSSES_TEXT], name[32], longer[5000];
	struct losses l = { 0 };
	unsigned int i;

	(void)state;
	memset(longer, 'x', sizeof(longer) - 1);
	longer[sizeof(longer) - 1] = 0;
	add(&l, longer, 0, longer);
	for (i = 1; i < LOSS_LATE_MAX + 5; i++) {
		snprintf(name, sizeof(name), "source %u", i);
		add(&l, name, i, "");
	}
	assert_int_equal(l.late_cnt, LOSS_LATE_MAX);
	assert_true(losses_note_text(&l, 0, text));
	assert_true(strlen(text) < LOSSES_TEXT);
	add(&l, "source 1", 7000000000, "");
	assert_true(losses_note_text(&l, 1, text));
	assert_string_equal(text, "source 1: recorded from 7.0 s on");
}

/* Names that came late are no lost ones, and no event is lost by that. */
static void test_names_late(void **state)
{
	struct losses l = { .names_late = 1 };
	char text[LOSSES_TEXT];

	(void)state;
	assert_false(losses_names_text(&l, text));
	assert_true(losses_note_text(&l, 0, text));
	assert_string_equal(text, "1 fork, rename, exec, exit or cgroup move not recorded: "
			    "the kernel did not run a program that was running on that CPU");
	assert_false(losses_note_text(&l, 1, text));
	l.names_late = 12;
	l.shared_koids = 1;
	assert_true(losses_note_text(&l, 0, text));
	assert_true(!strncmp(text, "12 forks, renames, ", 19));
	assert_true(losses_note_text(&l, 1, text));
	assert_int_equal(losses_lost(&l), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_last_word_counts), cmocka_unit_test(test_too_many_and_too_long),
		cmocka_unit_test(test_names_late),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
