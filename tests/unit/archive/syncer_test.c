// SPDX-License-Identifier: GPL-2.0
/*
 * Unit tests of the thread that puts files on the disk.
 */
#include <errno.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

#include <cmocka.h>

#include "archive/syncer.h"

#define FD	1000	/* any */

static atomic_int hangs, begun, data_synced, all_synced;
static atomic_int sync_err;

/* In place of the C library's. */
int fdatasync(int fd)
{
	(void)fd;
	atomic_fetch_add(&begun, 1);
	while (atomic_load(&hangs))
		usleep(1000);
	atomic_fetch_add(&data_synced, 1);
	errno = atomic_load(&sync_err);
	return errno ? -1 : 0;
}

int fsync(int fd)
{
	(void)fd;
	atomic_fetch_add(&all_synced, 1);
	errno = atomic_load(&sync_err);
	return errno ? -1 : 0;
}

static void expect_next(struct syncer *s, uint32_t id, int err)
{
	struct pollfd pfd = { .fd = syncer_fd(s), .events = POLLIN };
	uint32_t got;
	int with;

	assert_int_equal(poll(&pfd, 1, 30000), 1);
	assert_true(syncer_next(s, &got, &with));
	assert_int_equal(got, id);
	assert_int_equal(with, err);
}

static void expect_none(struct syncer *s)
{
	struct pollfd pfd = { .fd = syncer_fd(s), .events = POLLIN };
	uint32_t id;
	int err;

	assert_int_equal(poll(&pfd, 1, 0), 0);
	assert_false(syncer_next(s, &id, &err));
}

static void test_errors(void **state)
{
	struct syncer *s;

	(void)state;
	assert_int_equal(syncer_open(&s), 0);
	expect_none(s);
	atomic_store(&sync_err, EIO);
	assert_int_equal(syncer_add(s, 7, FD, false), 0);
	expect_next(s, 7, -EIO);
	assert_int_equal(syncer_add(s, 8, FD, true), 0);
	expect_next(s, 8, -EIO);
	atomic_store(&sync_err, EINVAL);	/* of a file system that has no such call */
	assert_int_equal(syncer_add(s, 9, FD, false), 0);
	expect_next(s, 9, 0);
	atomic_store(&sync_err, 0);
	assert_int_equal(syncer_add(s, 9, FD, false), 0);
	expect_next(s, 9, 0);
	expect_none(s);
	assert_int_equal(atomic_load(&data_synced), 3);
	assert_int_equal(atomic_load(&all_synced), 1);
}

/* In order, and nobody who adds one waits. */
static void test_hangs(void **state)
{
	struct syncer *s;
	uint32_t i;

	(void)state;
	assert_int_equal(syncer_open(&s), 0);
	atomic_store(&begun, 0);
	atomic_store(&hangs, 1);
	for (i = 0; i < SYNCER_MAX; i++)
		assert_int_equal(syncer_add(s, i, FD, false), 0);
	assert_int_equal(syncer_add(s, i, FD, false), -EBUSY);
	while (!atomic_load(&begun))
		usleep(1000);
	expect_none(s);
	atomic_store(&hangs, 0);
	for (i = 0; i < SYNCER_MAX; i++)
		expect_next(s, i, 0);
	expect_none(s);
	assert_int_equal(syncer_add(s, i, FD, false), 0);
	expect_next(s, i, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_errors), cmocka_unit_test(test_hangs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
