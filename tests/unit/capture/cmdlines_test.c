// SPDX-License-Identifier: GPL-2.0
/*
 * Command lines are those of /proc, and who asks for them never waits for long.
 */
#include <errno.h>
#include <sched.h>
#include <semaphore.h>
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

struct gate {
	sem_t may_begin;
	unsigned int keeps;		/* so many threads stay outside */
};

static int wait_to_begin(void *ctx)
{
	struct gate *gate = ctx;
	const unsigned int left = __atomic_load_n(&gate->keeps, __ATOMIC_SEQ_CST);

	if (left) {
		__atomic_fetch_sub(&gate->keeps, 1, __ATOMIC_SEQ_CST);
		sem_wait(&gate->may_begin);
	}
	return 0;
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
	cmdlines_read(c, pids + 1, 1);
	assert_int_equal(cmdlines_get(c, 0, &text), -ENOENT);
	cmdlines_read(c, pids, CMDLINES_AT_ONCE);
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
	cmdlines_read(c, &pid, 1);
	assert_int_equal(cmdlines_get(c, 0, &text), -EPERM);
	cmdlines_close(c);
}

static bool is_read(const struct cmdlines *c, size_t i)
{
	const char *text;

	return cmdlines_get(c, i, &text) != -EBUSY;
}

/* A thread that does not get on, as in a read(2) that waits, keeps nothing but its own. */
static void test_stuck(void **state)
{
	const uint32_t pids[] = { getppid(), getpid(), getpid() };
	struct gate gate = { .keeps = 1 };
	const uint64_t begin = now_ms();
	struct cmdlines *c;
	const char *text;
	uint32_t pid;
	ssize_t len;

	(void)state;
	sem_init(&gate.may_begin, 0, 0);
	c = open_with(wait_to_begin, &gate);
	cmdlines_read(c, pids, 3);
	assert_true(now_ms() - begin >= CMDLINES_WAIT_MS);
	assert_false(is_read(c, 0));
	check_own(c, 1);
	check_own(c, 2);
	assert_true(cmdlines_is_stuck(c, pids[0]));
	assert_false(cmdlines_is_stuck(c, pids[1]));
	assert_false(cmdlines_late(c, &pid, &len, &text));
	sem_post(&gate.may_begin);
	while (!cmdlines_late(c, &pid, &len, &text)) {
		assert_true(now_ms() - begin < PATIENCE_S * 1000);
		usleep(1000);
	}
	assert_int_equal(pid, pids[0]);
	assert_true(len > 0);
	assert_false(cmdlines_is_stuck(c, pids[0]));
	assert_false(cmdlines_late(c, &pid, &len, &text));
	cmdlines_close(c);
	sem_destroy(&gate.may_begin);
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

/* Once so many threads are kept nobody waits any more, also not at the end. */
static void test_all_stuck(void **state)
{
	char root[] = "/tmp/kfxt-cmdlines-XXXXXX";
	uint32_t pids[CMDLINES_STUCK_MAX + 2];
	struct cmdlines *c;
	uint64_t begin;
	size_t i;

	(void)state;
	if (geteuid())
		skip();		/* chroot(2) */
	for (i = 0; i < CMDLINES_STUCK_MAX + 2; i++)
		pids[i] = getpid() + i;
	make_proc(root, pids, CMDLINES_STUCK_MAX + 2);
	c = open_with(go_where_reads_wait, root);
	begin = now_ms();
	cmdlines_read(c, pids, CMDLINES_STUCK_MAX + 2);
	assert_true(now_ms() - begin >= CMDLINES_STUCK_MAX * CMDLINES_WAIT_MS);
	for (i = 0; i < CMDLINES_STUCK_MAX + 2; i++) {
		assert_false(is_read(c, i));
		assert_int_equal(cmdlines_is_stuck(c, pids[i]), i < CMDLINES_STUCK_MAX);
	}
	/* Would take a minute, if each waited. */
	begin = now_ms();
	for (i = 0; i < 1000; i++)
		cmdlines_read(c, pids, 2);
	assert_true(now_ms() - begin < 1000 * CMDLINES_WAIT_MS / 2);
	assert_false(is_read(c, 0));
	cmdlines_close(c);	/* hangs, if it waits */
	cmdlines_close(NULL);
	remove_proc(root, pids, CMDLINES_STUCK_MAX + 2);
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
