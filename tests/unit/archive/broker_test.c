// SPDX-License-Identifier: GPL-2.0
/*
 * Unit tests of the process that opens files for a recorder: a real one each, on a real file system.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "archive_made.h"
#include "base/clock.h"
#include "broker_made.h"

/* ---- files ----------------------------------------------------------------------------- */

static void test_file(void **state)
{
	struct broker *b = broker_make((struct broker_cfg){ 0 });
	struct broker_counts counts;
	struct broker_file file;
	struct broker_notice notice;
	char expected[PATH_MAX];

	assert_string_equal(broker_dir(b), *state);
	broker_make_file(b, &file);
	snprintf(expected, sizeof(expected), "%s/%s.fxt", (char *)*state, BROKER_NAME);
	assert_string_equal(file.path, expected);
	assert_true(archive_has(BROKER_NAME ".fxt.tmp"));
	assert_int_equal(archive_count(), 1);
	assert_true(fcntl(file.fd, F_GETFD) & FD_CLOEXEC);
	assert_int_equal(write(file.fd, broker_trace, sizeof(broker_trace)), sizeof(broker_trace));
	close(file.fd);
	assert_int_equal(broker_file_publish(b, &file, true), 0);	/* there is no hook to run */
	assert_string_equal(file.path, expected);
	assert_int_equal(broker_size_of(BROKER_NAME ".fxt"), sizeof(broker_trace));
	/* Twice is once too often. */
	assert_int_equal(broker_file_publish(b, &file, false), -EBADF);
	broker_make_file(b, &file);
	assert_true(archive_has(BROKER_NAME "-1.fxt.tmp"));
	close(file.fd);
	assert_int_equal(broker_file_discard(b, &file), 0);
	assert_int_equal(broker_file_discard(b, &file), -EBADF);
	assert_int_equal(archive_count(), 1);
	broker_get_counts(b, &counts);
	assert_int_equal(counts.hooks.run + counts.deleted + counts.recovered + counts.notices_lost, 0);
	assert_false(broker_next_notice(b, &notice));
	assert_int_equal(broker_close(b), 0);
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
	assert_int_equal(errno, ECHILD);
}

static void test_many_open(void **state)
{
	struct broker *b = broker_make((struct broker_cfg){ 0 });
	struct broker_file files[BROKER_FILES_MAX], more;
	unsigned int i, round;

	(void)state;
	for (round = 0; round < 3; round++) {
		for (i = 0; i < BROKER_FILES_MAX; i++)
			broker_make_file(b, &files[i]);
		assert_int_equal(broker_file_open(b, &broker_request, &more), -EMFILE);
		assert_string_equal(broker_why(b), "as many as there may be are open: Too many open files");
		for (i = 0; i < BROKER_FILES_MAX; i++) {
			close(files[i].fd);
			if (i % 2)
				assert_int_equal(broker_file_publish(b, &files[i], false), 0);
			else
				assert_int_equal(broker_file_discard(b, &files[i]), 0);
		}
	}
	assert_int_equal(archive_count(), 3 * BROKER_FILES_MAX / 2);
	assert_int_equal(broker_close(b), 0);
}

static void test_removed(void **state)
{
	struct broker *b = broker_make((struct broker_cfg){ 0 });
	struct broker_file file;

	broker_make_file(b, &file);
	close(file.fd);
	assert_int_equal(unlink(BROKER_NAME ".fxt.tmp"), 0);
	assert_int_equal(broker_file_publish(b, &file, false), -ESTALE);
	assert_string_equal(broker_why(b), "it was removed or replaced by another program");
	/* The whole directory, too. */
	assert_int_equal(rmdir(*state), 0);
	assert_int_equal(broker_file_open(b, &broker_request, &file), -ENOENT);
	assert_int_equal(mkdir(*state, 0700), 0);
	broker_put(b, &broker_request, 5, false, NULL);
	assert_int_equal(chdir(*state), 0);
	assert_int_equal(broker_size_of(BROKER_NAME ".fxt"), 5);
	assert_int_equal(broker_close(b), 0);
}

static void test_refused(void **state)
{
	static const struct { const char *pattern; uint64_t files; int err; const char *why; } cases[] = {
		{ "a-%t.fxt", 5, -EINVAL,
		  "the oldest files are deleted only if their names have the date (%Y%m%dT%H%M%SZ)" },
		{ "a-%q.fxt", 0, -EINVAL, "%q: not known in the name of a file (%Y %m %d %H %M %S %t %h %%)" },
		{ "none/a.fxt", 0, -ENOENT, "directory none: No such file or directory" },
		{ "file/a.fxt", 0, -ENOTDIR, "directory file: Not a directory" },
	};
	char why[BROKER_WHY_BYTES];
	struct broker *b = NULL;
	size_t i;

	(void)state;
	archive_put("file", 0, 1, 0600);
	for (i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const struct broker_cfg cfg = { .pattern = cases[i].pattern, .limits.files = cases[i].files };

		assert_int_equal(broker_open(&b, &cfg, why, sizeof(why)), cases[i].err);
		assert_string_equal(why, cases[i].why);
		assert_null(b);
	}
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
}

/* ---- limits ------------------------------------------------------------------------------- */

static void test_limits(void **state)
{
	struct broker *b = broker_make((struct broker_cfg){ .limits = { .files = 3 } });
	struct broker_request req = { .purpose = "asked", .when = BROKER_WHEN, .keep = true };
	struct broker_counts counts;
	struct broker_notice notice;
	char kept[PATH_MAX], paths[5][PATH_MAX];
	int i;

	(void)state;
	broker_put(b, &req, 100, false, kept);
	for (i = 0, req.keep = false; i < 5; i++) {
		req.when++;
		broker_put(b, &req, 100, false, paths[i]);
		broker_settle(b);
	}
	assert_int_equal(archive_count(), 4);
	assert_true(archive_has(kept));
	for (i = 0; i < 5; i++)
		assert_int_equal(archive_has(paths[i]), i >= 2);
	broker_get_counts(b, &counts);
	assert_int_equal(counts.deleted, 2);
	assert_int_equal(counts.deleted_bytes, 200);
	assert_int_equal(counts.kept.files, 3);
	assert_int_equal(counts.kept.bytes, 300);
	for (i = 0; i < 2; i++) {
		broker_wait_for(b, BROKER_DELETED, &notice);
		assert_int_equal(notice.files, 1);
		assert_int_equal(notice.bytes, 100);
		assert_string_equal(notice.path, paths[i]);
	}
	assert_false(broker_next_notice(b, &notice));
	assert_int_equal(broker_close(b), 0);
	/* Files of before count. */
	b = broker_make((struct broker_cfg){ .limits = { .bytes = 100 } });
	broker_get_counts(b, &counts);
	assert_int_equal(counts.deleted, 2);
	assert_int_equal(archive_count(), 2);
	assert_true(archive_has(kept));
	assert_true(archive_has(paths[4]));
	assert_int_equal(broker_close(b), 0);
}

/* A file of an hour to come does not outlive what is made now. */
static void test_clock_set_back(void **state)
{
	struct broker *b = broker_make((struct broker_cfg){ .limits = { .files = 1 } });
	char path[PATH_MAX];

	(void)state;
	archive_put("p-20261122T140507Z-a.fxt", 1000, time(NULL) + 3600, 0600);
	broker_put(b, &broker_request, 1000, false, path);
	broker_settle(b);
	assert_true(archive_has(path));
	assert_int_equal(archive_count(), 1);
	assert_int_equal(broker_close(b), 0);
}

/* A file that is being written counts as it grows. */
static void test_growth(void **state)
{
	struct broker *b = broker_make((struct broker_cfg){ .limits = { .bytes = 3000 } });
	struct broker_notice notice;
	struct broker_file file;

	(void)state;
	archive_put("p-20261122T140507Z-a.fxt", 1000, BROKER_WHEN - 86400, 0600);
	broker_put(b, &broker_request, 1000, false, NULL);
	broker_make_file(b, &file);
	assert_int_equal(ftruncate(file.fd, 1001), 0);
	broker_wait_for(b, BROKER_DELETED, &notice);
	assert_string_equal(strrchr(notice.path, '/'), "/p-20261122T140507Z-a.fxt");
	assert_true(archive_has(BROKER_NAME ".fxt"));
	assert_int_equal(ftruncate(file.fd, 2001), 0);
	broker_wait_for(b, BROKER_DELETED, &notice);
	assert_false(archive_has(BROKER_NAME ".fxt"));
	assert_int_equal(ftruncate(file.fd, 5000), 0);
	usleep(1500000);
	close(file.fd);
	assert_int_equal(broker_file_publish(b, &file, false), 0);
	broker_settle(b);
	assert_int_equal(archive_count(), 1);
	assert_int_equal(broker_close(b), 0);
}

static bool put_map(const char *name, const char *format, ...)
{
	char path[64];
	va_list args;
	FILE *f;
	bool ok;

	snprintf(path, sizeof(path), "/proc/self/%s", name);
	f = fopen(path, "w");
	va_start(args, format);
	ok = f && vfprintf(f, format, args) > 0;
	va_end(args);
	return f && !fclose(f) && ok;
}

/* Whether a file system of @options is mounted here; only this process and its children see it. */
static bool mount_small(const char *options)
{
	const uid_t uid = geteuid();
	const gid_t gid = getegid();

	if (uid) {
		if (unshare(CLONE_NEWUSER | CLONE_NEWNS) || !put_map("setgroups", "deny") ||
		    !put_map("uid_map", "0 %u 1", uid) || !put_map("gid_map", "0 %u 1", gid))
			return false;
	} else if (unshare(CLONE_NEWNS) || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL)) {
		return false;
	}
	return !mkdir("small", 0700) && !mount("small", "small", "tmpfs", 0, options);
}

/* In a child, for there is no way back from the namespace. Returns its exit status, 99: not possible here. */
static int run_small(const char *options, void (*test)(void))
{
	int status;
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (!pid) {
		if (!mount_small(options))
			_exit(99);
		test();
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static void fill_disk(void)
{
	const struct broker_cfg cfg = { .pattern = "small/p-%Y%m%d-%t.fxt" };
	struct broker_request needy = { .purpose = "a", .when = BROKER_WHEN, .needs_bytes = 300 << 10 };
	struct broker_file file, second;
	struct broker_call call;
	char why[BROKER_WHY_BYTES], block[4096] = "";
	struct broker *b;
	ssize_t n;

	CHECK(!broker_open(&b, &cfg, why, sizeof(why)));
	CHECK(!broker_file_open(b, &needy, &file));
	while ((n = write(file.fd, block, sizeof(block))) > 0)
		;
	CHECK(n < 0 && errno == ENOSPC);
	/* What fits gets its name; the next file is refused, until there is space. */
	CHECK(!ftruncate(file.fd, 300 << 10));
	CHECK(!close(file.fd));
	CHECK(!broker_file_publish(b, &file, false));
	CHECK(broker_file_open(b, &needy, &second) == -ENOSPC);
	CHECK(strstr(broker_why(b), " KiB are free, 300 KiB are needed"));
	CHECK(!broker_begin_space(b, 300 << 10, &call) && broker_call_wait(b, &call, NULL) == -ENOSPC);
	CHECK(!broker_begin_space(b, 1, &call) && broker_call_wait(b, &call, NULL) == 0);
	needy.needs_bytes = 0;
	CHECK(!broker_file_open(b, &needy, &second));	/* a file as such takes nothing here */
	CHECK(!broker_file_discard(b, &second));
	CHECK(!close(second.fd));
	CHECK(!unlink("small/p-20261123-a.fxt"));
	needy.needs_bytes = 300 << 10;
	CHECK(!broker_file_open(b, &needy, &second));
	CHECK(!broker_file_discard(b, &second));
	CHECK(broker_close(b) == 0);
}

static void fill_inodes(void)
{
	const struct broker_cfg cfg = { .pattern = "small/p-%Y%m%d-%t.fxt" };
	struct broker_file files[4];
	char why[BROKER_WHY_BYTES];
	struct broker *b;
	int i, err = 0;

	CHECK(!broker_open(&b, &cfg, why, sizeof(why)));
	for (i = 0; i < 4 && !err; i++)
		err = broker_file_open(b, &broker_request, &files[i]);
	CHECK(err == -ENOSPC && i > 1);
	CHECK(!strcmp(broker_why(b), "no file can be made: No space left on device"));
	CHECK(!close(files[0].fd));
	CHECK(!broker_file_discard(b, &files[0]));
	CHECK(!broker_file_open(b, &broker_request, &files[0]));
	CHECK(broker_close(b) == 0);
}

static void test_full(void **state)
{
	int code = run_small("size=512k", fill_disk);

	(void)state;
	assert_int_equal(rmdir("small"), 0);
	if (code == 99)
		skip();		/* no namespaces here */
	assert_int_equal(code, 0);
	assert_int_equal(run_small("nr_inodes=4", fill_inodes), 0);
}

/* ---- slow file systems ---------------------------------------------------------------------- */

static void test_late(void **state)
{
	struct broker *b = broker_make((struct broker_cfg){ .patience_ns = 2000 * NS_PER_MS });
	struct broker_file file, late;
	struct broker_notice notice;
	pid_t broker = broker_find(getpid());
	uint64_t begin_ns, end_ns;
	int errs[2];

	(void)state;
	broker_make_file(b, &file);
	kill(broker, SIGSTOP);
	begin_ns = clock_ns(CLOCK_MONOTONIC);
	errs[0] = broker_file_open(b, &broker_request, &late);
	errs[1] = broker_file_publish(b, &file, false);
	end_ns = clock_ns(CLOCK_MONOTONIC);
	kill(broker, SIGCONT);		/* before anything fails */
	assert_int_equal(errs[0], -ETIMEDOUT);
	assert_int_equal(errs[1], -ETIMEDOUT);
	assert_string_equal(broker_why(b), "it took too long (does the file system hang?)");
	/* The second is waited for a tenth as long. */
	assert_true(end_ns - begin_ns >= 2200 * NS_PER_MS && end_ns - begin_ns < 4000 * NS_PER_MS);
	broker_wait_for(b, BROKER_LATE, &notice);
	assert_string_equal(notice.path, file.path);
	close(file.fd);
	/* The file that nobody got is removed. */
	broker_settle(b);
	broker_settle(b);
	assert_int_equal(archive_count(), 1);
	assert_int_equal(broker_close(b), 0);
}

/* Nobody waits for a call that is only begun, and its result is there whenever it is asked for. */
static void test_begun(void **state)
{
	struct broker *b = broker_make((struct broker_cfg){ 0 });
	struct broker_call opens[BROKER_CALLS_MAX], call, none = { 0 };
	struct broker_file files[BROKER_CALLS_MAX], more;
	pid_t broker = broker_find(getpid());
	uint64_t begin_ns, end_ns;
	unsigned int i;
	int errs[BROKER_CALLS_MAX + 1], early;

	(void)state;
	kill(broker, SIGSTOP);
	begin_ns = clock_ns(CLOCK_MONOTONIC);
	for (i = 0; i < BROKER_CALLS_MAX; i++)
		errs[i] = broker_begin_open(b, &broker_request, &opens[i]);
	errs[i] = broker_begin_open(b, &broker_request, &call);
	early = broker_call_result(b, &opens[0], &files[0]);
	end_ns = clock_ns(CLOCK_MONOTONIC);
	kill(broker, SIGCONT);
	for (i = 0; i < BROKER_CALLS_MAX; i++)
		assert_int_equal(errs[i], 0);
	assert_int_equal(errs[i], -EBUSY);
	assert_int_equal(early, -EAGAIN);
	assert_true(end_ns - begin_ns < 1000 * NS_PER_MS);
	for (i = BROKER_CALLS_MAX; i--;) {
		assert_int_equal(broker_call_wait(b, &opens[i], &files[i]), 0);
		assert_int_equal(broker_call_result(b, &opens[i], &files[i]), -EBADF);
		close(files[i].fd);
	}
	assert_int_equal(broker_call_result(b, &none, &more), -EBADF);
	assert_int_equal(broker_begin_publish(b, &files[1], false, &call), 0);
	broker_drop(b, &files[0]);
	assert_int_equal(broker_file_discard(b, &files[2]), 0);
	assert_int_equal(broker_call_wait(b, &call, &files[1]), 0);
	assert_true(archive_has(files[1].path));
	assert_int_equal(archive_count(), BROKER_CALLS_MAX - 2);
	/* One that was made and not taken does not stay. */
	assert_int_equal(broker_begin_open(b, &broker_request, &call), 0);
	broker_settle(b);
	assert_int_equal(broker_close(b), 0);
	assert_int_equal(archive_count(), 1);
}

/* It has ended when it takes too long, and so has its file. */
static void test_begun_late(void **state)
{
	struct broker *b = broker_make((struct broker_cfg){ .patience_ns = 20 * NS_PER_MS });
	struct broker_call open, publish;
	struct broker_file file, late;
	struct broker_notice notice;
	pid_t broker = broker_find(getpid());
	int errs[3];

	(void)state;
	while (broker_file_open(b, &broker_request, &file))
		;
	kill(broker, SIGSTOP);
	errs[0] = broker_begin_open(b, &broker_request, &open) ?: broker_begin_publish(b, &file, false, &publish);
	while (!errs[0] && (errs[1] = broker_call_result(b, &publish, &file)) == -EAGAIN)
		usleep(1000);
	errs[2] = errs[0] ?: broker_call_result(b, &open, &late);
	kill(broker, SIGCONT);
	assert_int_equal(errs[0], 0);
	assert_int_equal(errs[1], -ETIMEDOUT);
	assert_int_equal(errs[2], -ETIMEDOUT);
	broker_wait_for(b, BROKER_LATE, &notice);
	assert_string_equal(notice.path, file.path);
	close(file.fd);
	assert_true(broker_close(b) <= 0);
	waitpid(broker, NULL, 0);
	assert_int_equal(archive_count(), 1);
}

/* Nobody takes the notices: they are counted, and nothing stops. */
static void test_notices_lost(void **state)
{
	struct broker *b = broker_make((struct broker_cfg){ .limits = { .files = 1 } });
	struct broker_counts counts;
	struct broker_notice notice;
	unsigned int i, taken = 0;

	(void)state;
	for (i = 0; i < 100; i++)
		broker_put(b, &broker_request, 1, false, NULL);
	broker_settle(b);
	while (broker_next_notice(b, &notice))
		taken += notice.files;
	broker_get_counts(b, &counts);
	assert_int_equal(counts.deleted, 99);
	assert_int_equal(taken + counts.notices_lost, 99);
	assert_int_equal(taken, 16);
	assert_int_equal(broker_close(b), 0);
}

int main(void)
{
#define TEST(name)	cmocka_unit_test_setup_teardown(name, archive_make_dir, archive_remove_dir)
	const struct CMUnitTest tests[] = {
		TEST(test_file), TEST(test_many_open), TEST(test_removed), TEST(test_refused), TEST(test_limits),
		TEST(test_clock_set_back), TEST(test_growth), TEST(test_full), TEST(test_late), TEST(test_begun),
		TEST(test_begun_late), TEST(test_notices_lost),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
