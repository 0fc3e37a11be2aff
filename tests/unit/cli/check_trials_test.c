// SPDX-License-Identifier: GPL-2.0
/*
 * Unit tests of features that are tried in a process of its own: one whose trial does not end keeps nobody.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "capture/features.h"
#include "cli/check_trials.h"

#define LONG_MS	60000

const struct feature *__wrap_feature_at(const struct source_ops *const *sources, unsigned int i);
bool __wrap_feature_have(const struct feature *f, const struct source_ops *const *sources, char *why, size_t size);

/* Those of a machine, up to one without a name. */
static const struct feature *machine;

const struct feature *__wrap_feature_at(const struct source_ops *const *sources, unsigned int i)
{
	(void)sources;
	return machine[i].name ? &machine[i] : NULL;
}

bool __wrap_feature_have(const struct feature *f, const struct source_ops *const *sources, char *why, size_t size)
{
	(void)sources;
	snprintf(why, size, "%s", f->arg ?: "");
	if (f->locked)
		sleep(1000);
	if (f->required)
		raise(SIGKILL);
	return !f->arg;
}

static bool have(struct check_trials *t, unsigned int i, unsigned int limit_ms, const char *wanted_why)
{
	char why[100];
	const bool has = check_trials_have(t, i, limit_ms, why, sizeof(why));

	if (!has)
		assert_string_equal(why, wanted_why);
	return has;
}

static void test_all(void **state)
{
	static const struct feature features[] = { { .name = "a" }, { .name = "b", .arg = "no b" }, { .name = "c" }, { 0 } };
	struct check_trials *t;

	(void)state;
	machine = features;
	assert_int_equal(check_trials_open(&t, NULL), 0);
	assert_true(have(t, 0, LONG_MS, ""));
	assert_false(have(t, 1, LONG_MS, "no b"));
	assert_true(have(t, 2, LONG_MS, ""));
	assert_int_equal(check_trials_close(t), 0);
	assert_int_equal(check_trials_close(NULL), 0);
}

/* @locked: its trial does not end. */
static void test_stuck(void **state)
{
	static const struct feature features[] = { { .name = "a" }, { .name = "b", .locked = true }, { .name = "c" }, { .name = "d" }, { 0 } };
	struct check_trials *t;
	pid_t left;

	(void)state;
	machine = features;
	assert_int_equal(check_trials_open(&t, NULL), 0);
	assert_true(have(t, 0, LONG_MS, ""));
	assert_false(have(t, 1, 50, "not known: trying it has not ended, the kernel lets it wait"));
	assert_false(have(t, 2, LONG_MS, "not tried: the one before has not ended"));
	assert_false(have(t, 3, LONG_MS, "not tried: the one before has not ended"));
	left = check_trials_close(t);
	assert_true(left > 0);
	assert_int_equal(kill(left, SIGKILL), 0);
	assert_int_equal(waitpid(left, NULL, 0), left);
}

/* @required: its trial ends the process. */
static void test_killed(void **state)
{
	static const struct feature features[] = { { .name = "a" }, { .name = "b", .required = true }, { .name = "c" }, { 0 } };
	struct check_trials *t;

	(void)state;
	machine = features;
	assert_int_equal(check_trials_open(&t, NULL), 0);
	assert_true(have(t, 0, LONG_MS, ""));
	assert_false(have(t, 1, LONG_MS, "not tried: the process that tries it was ended"));
	assert_false(have(t, 2, LONG_MS, "not tried: the process that tries it was ended"));
	assert_int_equal(check_trials_close(t), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all), cmocka_unit_test(test_stuck), cmocka_unit_test(test_killed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
