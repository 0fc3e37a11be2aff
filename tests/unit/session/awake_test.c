// SPDX-License-Identifier: GPL-2.0
/*
 * Unit tests of a CPU that is never idle.
 */
#include <dirent.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "session/awake.h"
#include "session/idle_cpu.h"

#define PATIENCE_MS	30000

/* Sanitizers' among them. */
static unsigned int count_threads(void)
{
	DIR *dir = opendir("/proc/self/task");
	const struct dirent *entry;
	unsigned int cnt = 0;

	assert_non_null(dir);
	while ((entry = readdir(dir)))
		cnt += entry->d_name[0] != '.';
	closedir(dir);
	return cnt;
}

/* Fewer than those; one that was joined may be about to go. */
static void wait_for_fewer(unsigned int threads)
{
	unsigned int ms;

	for (ms = 0; ms < PATIENCE_MS && count_threads() >= threads; ms++)
		usleep(1000);
	assert_true(count_threads() < threads);
}

static void test_is_never_idle(void **state)
{
	const int cpu = sched_getcpu();
	struct idle_times *from, *to;
	struct affinity before;
	struct awake *a;

	(void)state;
	assert_int_equal(affinity_get(&before), 0);
	assert_int_equal(affinity_pin(cpu), 0);
	a = awake_begin(PATIENCE_MS);
	assert_non_null(a);
	from = idle_times_read();
	usleep(100000);
	to = idle_times_read();
	assert_non_null(from);
	assert_non_null(to);
	assert_int_equal(from->ticks[cpu], to->ticks[cpu]);
	awake_end(a);
	assert_int_equal(affinity_set(&before), 0);
	affinity_free(&before);
	free(from);
	free(to);
}

static void test_ends_by_itself(void **state)
{
	struct awake *a = awake_begin(PATIENCE_MS);
	unsigned int threads;

	(void)state;
	assert_non_null(a);
	threads = count_threads();
	awake_end(a);
	a = awake_begin(1);
	assert_non_null(a);
	wait_for_fewer(threads);
	awake_end(a);
	awake_end(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_is_never_idle), cmocka_unit_test(test_ends_by_itself),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
