// SPDX-License-Identifier: GPL-2.0
/*
 * Command lines are those of /proc, and who asks for them never waits for long.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/file.h"
#include "capture/cmdlines.h"

#define NOBODY	0x7fffffffU	/* above the highest id */
#define PATIENCE_S	60

static int fail_to_begin(void *ctx)
{
	(void)ctx;
	return -EPERM;
}

static uint64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000ULL + t.tv_nsec / 1000000;
}

static struct cmdlines *open_with(int (*begin)(void *ctx), void *ctx)
{
	const struct thread_hooks hooks = { .begin = begin, .ctx = ctx };
	struct cmdlines *c;

	assert_int_equal(cmdlines_open(&c, &hooks), 0);
	return c;
}

static bool is_read(const struct cmdlines *c, size_t i)
{
	const char *text;

	return cmdlines_get(c, i, &text) != -EBUSY;
}

/* Until all are: on a busy machine a thread may not get a CPU in time. */
static void read_all(struct cmdlines *c, const uint32_t *pids, size_t cnt)
{
	const uint64_t begin = now_ms();
	const char *text;
	uint32_t pid;
	ssize_t len;
	size_t i;

	do {
		assert_true(now_ms() - begin < PATIENCE_S * 1000);
		while (cmdlines_late(c, &pid, &len, &text))
			;
		cmdlines_read(c, pids, cnt);
		for (i = 0; i < cnt && is_read(c, i); i++)
			;
	} while (i < cnt);
}

/* That of this process at the @i'th place. */
static void check_own(const struct cmdlines *c, size_t i)
{
	const char *got;
	char *wanted;
	size_t len;

	assert_int_equal(text_file_read("/proc/self/cmdline", CMDLINE_BYTES_MAX, &wanted, &len), 0);
	assert_int_equal(cmdlines_get(c, i, &got), len);
	assert_memory_equal(got, wanted, len + 1);
	free(wanted);
}

static void test_read(void **state)
{
	struct cmdlines *c = open_with(NULL, NULL);
	uint32_t pids[CMDLINES_AT_ONCE];
	const char *text;
	size_t i;

	(void)state;
	for (i = 0; i < CMDLINES_AT_ONCE; i++)
		pids[i] = i % 2 ? NOBODY : (uint32_t)getpid();
	/* Twice: what was read before is gone then. */
	read_all(c, pids + 1, 1);
	assert_int_equal(cmdlines_get(c, 0, &text), -ENOENT);
	read_all(c, pids, CMDLINES_AT_ONCE);
	for (i = 0; i < CMDLINES_AT_ONCE; i += 2) {
		check_own(c, i);
		assert_int_equal(cmdlines_get(c, i + 1, &text), -ENOENT);
	}
	cmdlines_read(c, pids, 0);
	cmdlines_close(c);
}

static void test_hooks_fail(void **state)
{
	struct cmdlines *c = open_with(fail_to_begin, NULL);
	const uint32_t pid = getpid();
	const char *text;

	(void)state;
	read_all(c, &pid, 1);
	assert_int_equal(cmdlines_get(c, 0, &text), -EPERM);
	cmdlines_close(c);
}

/* Into a directory where nothing can be read. */
static int go_where_reads_wait(void *ctx)
{
	return unshare(CLONE_FS) || chroot(ctx) ? -errno : 0;
}

/* Where @cnt command lines are pipes that nobody writes to. */
static void make_proc(char *root, const uint32_t *pids, size_t cnt)
{
	char path[96];
	size_t i;

	assert_non_null(mkdtemp(root));
	snprintf(path, sizeof(path), "%s/proc", root);
	assert_int_equal(mkdir(path, 0700), 0);
	for (i = 0; i < cnt; i++) {
		snprintf(path, sizeof(path), "%s/proc/%u", root, pids[i]);
		assert_int_equal(mkdir(path, 0700), 0);
		snprintf(path, sizeof(path), "%s/proc/%u/cmdline", root, pids[i]);
		assert_int_equal(mkfifo(path, 0600), 0);
	}
}

static void remove_proc(const char *root, const uint32_t *pids, size_t cnt)
{
	char path[96];
	size_t i;

	for (i = 0; i < cnt; i++) {
		snprintf(path, sizeof(path), "%s/proc/%u/cmdline", root, pids[i]);
		assert_int_equal(unlink(path), 0);
		snprintf(path, sizeof(path), "%s/proc/%u", root, pids[i]);
		assert_int_equal(rmdir(path), 0);
	}
	snprintf(path, sizeof(path), "%s/proc", root);
	assert_int_equal(rmdir(path), 0);
	assert_int_equal(rmdir(root), 0);
}

/* That one can be read. */
static void let_read(const char *root, uint32_t pid, const char *text, size_t len)
{
	char path[96];
	int fd;

	snprintf(path, sizeof(path), "%s/proc/%u/cmdline", root, pid);
	assert_int_equal(unlink(path), 0);
	fd = open(path, O_WRONLY | O_CREAT, 0600);
	assert_int_equal(write(fd, text, len), len);
	close(fd);
}

/* Whoever waits for it to be written gets this. */
static void answer(const char *root, uint32_t pid, const char *text, size_t len)
{
	char path[96];
	int fd;

	snprintf(path, sizeof(path), "%s/proc/%u/cmdline", root, pid);
	fd = open(path, O_WRONLY);
	assert_int_equal(write(fd, text, len), len);
	close(fd);
}

/* A thread that does not get on keeps nothing but its own. */
static void test_stuck(void **state)
{
	char root[] = "/tmp/kfxt-cmdlines-XXXXXX";
	static const uint32_t pids[] = { 10, 11, 12 };
	uint64_t begin;
	struct cmdlines *c;
	const char *text;
	uint32_t pid;
	ssize_t len;

	(void)state;
	if (geteuid())
		skip();		/* chroot(2) */
	make_proc(root, pids, 3);
	let_read(root, 11, "a\0b", 4);
	let_read(root, 12, "c", 2);
	c = open_with(go_where_reads_wait, root);
	begin = now_ms();
	cmdlines_read(c, pids, 3);
	assert_true(now_ms() - begin >= CMDLINES_WAIT_MS);
	assert_false(is_read(c, 0));
	read_all(c, pids + 1, 2);
	assert_int_equal(cmdlines_get(c, 0, &text), 4);
	assert_memory_equal(text, "a\0b", 5);
	assert_int_equal(cmdlines_get(c, 1, &text), 2);
	assert_string_equal(text, "c");
	assert_true(cmdlines_is_stuck(c, 10));
	assert_false(cmdlines_is_stuck(c, 11));
	assert_false(cmdlines_late(c, &pid, &len, &text));
	answer(root, 10, "late", 5);
	while (!cmdlines_late(c, &pid, &len, &text)) {
		assert_true(now_ms() - begin < PATIENCE_S * 1000);
		usleep(1000);
	}
	assert_int_equal(pid, 10);
	assert_int_equal(len, 5);
	assert_string_equal(text, "late");
	assert_false(cmdlines_is_stuck(c, 10));
	assert_false(cmdlines_late(c, &pid, &len, &text));
	cmdlines_close(c);
	remove_proc(root, pids, 3);
}

/* Once so many threads are kept nobody waits any more, also not at the end. */
static void test_all_stuck(void **state)
{
	char root[] = "/tmp/kfxt-cmdlines-XXXXXX";
	uint32_t pids[CMDLINES_THREADS + 2];
	struct cmdlines *c;
	uint64_t begin;
	size_t i;

	(void)state;
	if (geteuid())
		skip();		/* chroot(2) */
	for (i = 0; i < CMDLINES_THREADS + 2; i++)
		pids[i] = getpid() + i;
	make_proc(root, pids, CMDLINES_THREADS + 2);
	c = open_with(go_where_reads_wait, root);
	begin = now_ms();
	cmdlines_read(c, pids, CMDLINES_THREADS + 2);
	assert_true(now_ms() - begin >= CMDLINES_THREADS * CMDLINES_WAIT_MS);
	for (i = 0; i < CMDLINES_THREADS + 2; i++) {
		assert_false(is_read(c, i));
		assert_int_equal(cmdlines_is_stuck(c, pids[i]), i < CMDLINES_THREADS);
	}
	/* Would take a minute, if each waited. */
	begin = now_ms();
	for (i = 0; i < 1000; i++)
		cmdlines_read(c, pids, 2);
	assert_true(now_ms() - begin < 1000 * CMDLINES_WAIT_MS / 2);
	assert_false(is_read(c, 0));
	cmdlines_close(c);	/* hangs, if it waits */
	cmdlines_close(NULL);
	remove_proc(root, pids, CMDLINES_THREADS + 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_read),
		cmocka_unit_test(test_hooks_fail),
		cmocka_unit_test(test_stuck),
		cmocka_unit_test(test_all_stuck),
	};

	alarm(4 * PATIENCE_S);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
