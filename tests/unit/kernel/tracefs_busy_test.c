// SPDX-License-Identifier: GPL-2.0
/*
 * Unit tests of formats of tracepoints that cannot be read, since the kernel lets whoever tries wait. Both outcomes, which are
 * found out once in a process, are those of children.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"
#include "base/file.h"
#include "kernel/tracefs.h"

#define NS_PER_MS	1000000ULL

static unsigned int delay_s;

/* In place of the kernel: formats take so long. */
int __wrap_text_file_read(const char *path, size_t max, char **text, size_t *len);
int __real_text_file_read(const char *path, size_t max, char **text, size_t *len);

int __wrap_text_file_read(const char *path, size_t max, char **text, size_t *len)
{
	if (strstr(path, "/format"))
		sleep(delay_s);
	return __real_text_file_read(path, max, text, len);
}

/* Of reading two formats: whether they could be, and that this took no longer than @ms. */
static int read_two(int wanted, unsigned int ms)
{
	const uint64_t begin = clock_ns(CLOCK_MONOTONIC);
	struct tracefs_event events[] = { { "sched", "sched_switch" }, { "sched", "sched_waking" } };
	char *text = NULL;
	size_t len, i;

	for (i = 0; i < 2; i++) {
		if (tracefs_format(&events[i], &text, &len) != wanted)
			return 1;
		if (!wanted)
			free(text);
	}
	if (tracefs_is_busy() != (wanted == -EBUSY))
		return 2;
	return clock_ns(CLOCK_MONOTONIC) - begin > ms * NS_PER_MS ? 3 : 0;
}

static int in_child(int wanted, unsigned int ms)
{
	int status;
	pid_t pid = fork();

	if (!pid)
		_exit(read_two(wanted, ms));
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return status;
}

static void test_can_be_read(void **state)
{
	unsigned int tries = 0;
	char path[256];

	(void)state;
	if (!tracefs_find(path, sizeof(path), "events/sched/sched_switch/format") || access(path, R_OK))
		skip();
	delay_s = 0;
	/* On a busy machine whoever reads may not run for as long. */
	while (in_child(0, 10000) && tries++ < 20)
		;
	assert_true(tries < 20);
}

static void test_busy(void **state)
{
	char path[256];

	(void)state;
	if (!tracefs_find(path, sizeof(path), "events/sched/sched_switch/format") || access(path, R_OK))
		skip();
	delay_s = 20;
	assert_int_equal(in_child(-EBUSY, 10000), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_can_be_read),
		cmocka_unit_test(test_busy),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
