// SPDX-License-Identifier: GPL-2.0
/*
 * Unit tests of waiting until a time.
 */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"
#include "base/poll_until.h"

#define NS_PER_MS	1000000ULL

static volatile sig_atomic_t signals;

static void count_signal(int number)
{
	(void)number;
	signals = signals + 1;
}

static void test_ready(void **state)
{
	struct pollfd fds[] = { { .fd = eventfd(0, 0), .events = POLLIN }, { .fd = eventfd(1, 0), .events = POLLIN }, { .fd = -1 } };

	(void)state;
	/* What is ready is found whatever the time is. */
	assert_int_equal(poll_until(fds, 3, 0), 1);
	assert_int_equal(fds[0].revents, 0);
	assert_int_equal(fds[1].revents, POLLIN);
	assert_int_equal(poll_until(fds, 3, UINT64_MAX), 1);
	/* Longer than poll(2) can wait at once. */
	assert_int_equal(poll_until(fds, 3, UINT64_MAX - 1), 1);
	assert_int_equal(poll_until(fds, 1, 0), 0);
	close(fds[0].fd);
	close(fds[1].fd);
}

/* Not before that time, though signals come all the while. */
static void test_signals(void **state)
{
	const struct itimerval often = { { 0, 5000 }, { 0, 5000 } }, never = { 0 };
	const uint64_t end_ns = clock_ns(CLOCK_MONOTONIC) + 50 * NS_PER_MS;
	struct pollfd fd = { .fd = eventfd(0, 0), .events = POLLIN };

	(void)state;
	signals = 0;
	assert_int_equal(sigaction(SIGALRM, &(struct sigaction){ .sa_handler = count_signal }, NULL), 0);
	assert_int_equal(setitimer(ITIMER_REAL, &often, NULL), 0);
	assert_int_equal(poll_until(&fd, 1, end_ns), 0);
	assert_int_equal(setitimer(ITIMER_REAL, &never, NULL), 0);
	assert_true(clock_ns(CLOCK_MONOTONIC) >= end_ns);
	assert_true(signals > 0);
	close(fd.fd);
}

static void test_error(void **state)
{
	struct pollfd fds[] = { { .fd = 0 }, { .fd = 1 } };
	struct rlimit before, one;

	(void)state;
	/* More descriptors than there can be. */
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	one = before;
	one.rlim_cur = 1;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &one), 0);
	assert_int_equal(poll_until(fds, 2, 0), -EINVAL);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ready), cmocka_unit_test(test_signals), cmocka_unit_test(test_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
