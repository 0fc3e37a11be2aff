// SPDX-License-Identifier: GPL-2.0
/*
 * Unit tests of descriptors that a thread closes.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include "base/close_later.h"

static void assert_closed(int fd)
{
	int ms;

	for (ms = 0; ms < 30000 && fcntl(fd, F_GETFD) >= 0; ms++)
		usleep(1000);
	assert_int_equal(fcntl(fd, F_GETFD), -1);
}

static void test_closed(void **state)
{
	struct close_later *c = NULL;
	int ends[2], i;

	(void)state;
	assert_int_equal(close_later_open(&c, NULL), 0);
	for (i = 0; i < 100; i++) {
		assert_int_equal(pipe(ends), 0);
		close_later(c, ends[0]);
		close_later(c, ends[1]);
	}
	assert_closed(ends[1]);
	/* Those that wait at its end, too. */
	assert_int_equal(pipe(ends), 0);
	close_later(c, ends[1]);
	close_later_close(c);
	assert_closed(ends[1]);
	close_later(NULL, ends[0]);
	assert_int_equal(fcntl(ends[0], F_GETFD), -1);
	close_later_close(NULL);
}

static int refuse(void)
{
	return -EACCES;
}

static void test_refused(void **state)
{
	struct close_later *c = NULL;

	(void)state;
	assert_int_equal(close_later_open(&c, refuse), -EACCES);
	assert_null(c);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_closed), cmocka_unit_test(test_refused) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
