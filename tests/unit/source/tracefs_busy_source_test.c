// SPDX-License-Identifier: GPL-2.0
/*
 * Unit tests of what is chosen while tracefs cannot be read: the recording does without, and says so.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "capture/sources.h"
#include "kernel/tracefs.h"
#include "source/table.h"

int __wrap_tracefs_format(const struct tracefs_event *event, char **text, size_t *len);
bool __wrap_tracefs_is_busy(void);

int __wrap_tracefs_format(const struct tracefs_event *event, char **text, size_t *len)
{
	(void)event;
	(void)text;
	(void)len;
	return -EBUSY;
}

bool __wrap_tracefs_is_busy(void)
{
	return true;
}

static bool is_there(void)
{
	char path[256];

	return tracefs_find(path, sizeof(path), "events/raw_syscalls/sys_enter/id") && !access(path, R_OK);
}

static void expect_late(const char *word, const char *name, const char *why)
{
	const char *const words[] = { "!log", "!marker", word };
	struct source_late late;
	struct sources *s;
	unsigned int kind = 0;
	char text[512];

	assert_int_equal(sources_open(&s, source_table), 0);
	assert_int_equal(sources_choose(s, words, 3, text, sizeof(text)), 0);
	assert_true(sources_late(s, &kind, &late));
	assert_string_equal(late.name, name);
	assert_string_equal(late.why, why);
	assert_int_equal(late.since_ns, 0);
	assert_false(sources_late(s, &kind, &late));
	sources_close(s);
}

static void test_late(void **state)
{
	(void)state;
	if (!is_there())
		skip();
	expect_late("sched:sched_switch", "tracepoints", "another tracer keeps tracefs busy");
	expect_late("sched:sched_s*", "tracepoints", "another tracer keeps tracefs busy");
	expect_late("signal", "tracepoints", "another tracer keeps tracefs busy");
	expect_late("syscalls", "syscalls", "names of arguments, since another tracer keeps tracefs busy");
}

/* Without it a trigger can never fire. */
static void test_needed(void **state)
{
	struct sources *s;
	char why[512];

	(void)state;
	if (!is_there())
		skip();
	assert_int_equal(sources_open(&s, source_table), 0);
	assert_int_equal(sources_need(s, "sched:sched_switch", why, sizeof(why)), -ENOTSUP);
	assert_string_equal(why, "sched:sched_switch: another tracer keeps tracefs busy");
	sources_close(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_late),
		cmocka_unit_test(test_needed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
