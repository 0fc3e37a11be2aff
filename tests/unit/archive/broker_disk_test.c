// SPDX-License-Identifier: GPL-2.0
/*
 * Unit tests of the process that opens files for a recorder: a disk that is slow or takes nothing.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "archive_made.h"
#include "base/clock.h"
#include "broker_made.h"

/* What the disk does; the broker has this as it is when it is made. */
static struct {
	uint64_t ns;
	int err;
} disk;

/* In place of the C library's. The broker may not sleep. */
int fdatasync(int fd)
{
	const uint64_t end_ns = clock_ns(CLOCK_MONOTONIC) + disk.ns;

	(void)fd;
	while (clock_ns(CLOCK_MONOTONIC) < end_ns)
		;
	errno = disk.err;
	return disk.err ? -1 : 0;
}

static int remove_dir(void **state)
{
	disk.ns = disk.err = 0;
	return archive_remove_dir(state);
}

static void test_slow(void **state)
{
	const uint64_t begin_ns = clock_ns(CLOCK_MONOTONIC);
	struct broker_file file;
	struct broker *b;
	pid_t broker;

	(void)state;
	disk.ns = 3000 * NS_PER_MS;
	b = broker_make((struct broker_cfg){ .patience_ns = 1000 * NS_PER_MS });
	broker = broker_find(getpid());
	broker_make_file(b, &file);
	close(file.fd);
	assert_int_equal(broker_file_publish(b, &file, BROKER_SYNC_LATER), 0);
	assert_int_equal(broker_size_of(BROKER_NAME ".fxt"), 0);	/* -1: it has not its name */
	assert_true(clock_ns(CLOCK_MONOTONIC) - begin_ns < 2900 * NS_PER_MS);
	/* It is not waited for much longer, and does what it is to do. */
	assert_int_equal(broker_end(b), -ETIMEDOUT);
	assert_int_equal(broker_end(b), -ETIMEDOUT);
	assert_int_equal(broker_close(b), -ETIMEDOUT);
	waitpid(broker, NULL, 0);
	assert_true(clock_ns(CLOCK_MONOTONIC) - begin_ns >= 3000 * NS_PER_MS);
	assert_int_equal(archive_count(), 1);
}

/* What the disk does not take is reported. It has its name all the same, so that it is among those that limits are about. */
static void test_error(void **state)
{
	struct broker_file files[2];
	struct broker_notice notice;
	struct broker *b;

	(void)state;
	disk.err = EIO;
	b = broker_make((struct broker_cfg){ 0 });
	broker_make_file(b, &files[0]);
	broker_make_file(b, &files[1]);
	assert_int_equal(broker_file_publish(b, &files[0], 0), -EIO);
	assert_string_equal(broker_why(b), "it has its name, but not all of it may be on the disk: Input/output error");
	assert_int_equal(access(files[0].path, F_OK), 0);
	assert_int_equal(broker_file_publish(b, &files[1], BROKER_SYNC_LATER), 0);
	assert_int_equal(broker_end(b), 0);
	assert_true(broker_next_notice(b, &notice));
	assert_int_equal(notice.event, BROKER_NOT_ON_DISK);
	assert_string_equal(notice.path, files[1].path);
	assert_string_equal(notice.why, "Input/output error");
	assert_false(broker_next_notice(b, &notice));
	assert_int_equal(broker_close(b), 0);
	close(files[0].fd);
	close(files[1].fd);
}

/* So it is the newest of these, after a clock that was set back, too. */
static void test_error_set_back(void **state)
{
	struct broker_file file;
	struct broker *b;

	(void)state;
	disk.err = EIO;
	archive_put("p-20261122T140507Z-a.fxt", 1000, time(NULL) + 3600, 0600);
	b = broker_make((struct broker_cfg){ .limits = { .files = 1 } });
	broker_make_file(b, &file);
	close(file.fd);
	assert_int_equal(broker_file_publish(b, &file, 0), -EIO);
	broker_settle(b);
	assert_true(archive_has(BROKER_NAME ".fxt"));
	assert_int_equal(archive_count(), 1);
	assert_int_equal(broker_close(b), 0);
}

/* While the disk takes its time for one that has its name the limits count it once, and leave it, however old it looks. */
static void test_named_so_far(void **state)
{
	struct broker_file file, gone;
	struct broker *b;

	(void)state;
	archive_put("p-20271122T140507Z-a.fxt", 1000, time(NULL) + 3600, 0600);
	disk.ns = 4000 * NS_PER_MS;
	b = broker_make((struct broker_cfg){ .limits = { .bytes = 3500 }, .patience_ns = 10000 * NS_PER_MS });
	broker_make_file(b, &file);
	assert_int_equal(ftruncate(file.fd, 2000), 0);
	assert_int_equal(broker_file_publish(b, &file, BROKER_SYNC_LATER), 0);
	close(file.fd);
	/* When a file gets no name the limits are applied as well. */
	broker_make_file(b, &gone);
	assert_int_equal(unlink(BROKER_NAME "-1.fxt.tmp"), 0);
	assert_int_equal(broker_file_publish(b, &gone, BROKER_SYNC_LATER), -ESTALE);
	close(gone.fd);
	broker_settle(b);
	assert_true(archive_has("p-20271122T140507Z-a.fxt"));
	assert_true(archive_has(BROKER_NAME ".fxt"));
	/* Now one is too much, and it is not the one that is not on the disk. */
	broker_make_file(b, &file);
	assert_int_equal(ftruncate(file.fd, 1000), 0);
	while (archive_has("p-20271122T140507Z-a.fxt") && archive_has(BROKER_NAME ".fxt"))
		usleep(1000);
	assert_true(archive_has(BROKER_NAME ".fxt"));
	close(file.fd);
	assert_int_equal(broker_file_discard(b, &file), 0);
	assert_true(broker_close(b) <= 0);
}

int main(void)
{
#define TEST(name)	cmocka_unit_test_setup_teardown(name, archive_make_dir, remove_dir)
	const struct CMUnitTest tests[] = { TEST(test_slow), TEST(test_error), TEST(test_error_set_back), TEST(test_named_so_far) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
