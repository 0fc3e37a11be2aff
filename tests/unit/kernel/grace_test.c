// SPDX-License-Identifier: GPL-2.0
/*
 * Unit tests of waiting for a grace period: that one has ended by then, RCU does not tell; but in which calls the kernel waits for one.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"
#include "kernel/grace.h"

static void test_wait(void **state)
{
	const int err = grace_wait();

	(void)state;
	if (sysconf(_SC_NPROCESSORS_ONLN) == 1)
		assert_int_equal(err, -EOPNOTSUPP);
	else
		assert_int_equal(err, 0);
}

/* Once for each kind, in a process and in what it forks; then it is not said that it has waited. */
static void test_registering(void **state)
{
	uint64_t begin_ns, waited_ns = 0, not_ns;
	unsigned int cnt = 0;
	int status;
	pid_t pid;

	(void)state;
	if (sysconf(_SC_NPROCESSORS_ONLN) == 1)
		skip();
	begin_ns = clock_ns(CLOCK_MONOTONIC);
	assert_int_equal(grace_wait_registering(), 0);
	waited_ns = clock_ns(CLOCK_MONOTONIC) - begin_ns;
	pid = fork();
	if (!pid) {
		while (!grace_wait_registering() && cnt < 9)
			cnt++;
		_exit(cnt);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	/* Two of four may be missing. */
	assert_in_range(WEXITSTATUS(status), 1, 3);
	for (cnt = 0; !grace_wait_registering(); cnt++)
		;
	assert_int_equal(cnt, WEXITSTATUS(status));
	begin_ns = clock_ns(CLOCK_MONOTONIC);
	assert_int_equal(grace_wait_registering(), -EOPNOTSUPP);
	not_ns = clock_ns(CLOCK_MONOTONIC) - begin_ns;
	print_message("waited %llu ns, and %llu where there was nothing to wait for\n", (unsigned long long)waited_ns,
		      (unsigned long long)not_ns);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_wait),
		cmocka_unit_test(test_registering),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
