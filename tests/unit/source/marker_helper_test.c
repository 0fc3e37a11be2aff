// SPDX-License-Identifier: GPL-2.0
/*
 * Unit tests of the process that makes a tracefs instance: of a directory whose files let it wait, or
 * are missing.
 */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"
#include "marker_formats.h"
#include "source/marker_helper.h"

#define PATH_BYTES	200
#define LONG_MS		30000
#define OPTION		"options/copy_trace_marker"
#define CLOCK		"trace_clock"
#define BUFFER		"per_cpu/cpu0/buffer_size_kb"
#define PIPE		"per_cpu/cpu0/trace_pipe_raw"
#define STATS		"per_cpu/cpu0/stats"
#define HEADER		"events/header_page"
#define PRINT		"events/ftrace/print/format"

int __real_mkdir(const char *path, mode_t mode);
int __real_rmdir(const char *path);
int __wrap_mkdir(const char *path, mode_t mode);
int __wrap_rmdir(const char *path);

static char top[PATH_BYTES / 2], dir[PATH_BYTES];
static const char *fifo, *missing;	/* one of its files */
static int mkdir_errno;
static pid_t *helper;		/* shared with it */
static const uint32_t cpus[] = { 0 };

/* ---- in place of tracefs -------------------------------------------------------------------- */

static const char *const names[] = { CLOCK, OPTION, BUFFER, PIPE, STATS };

static char *path_of(const char *instance, const char *name, char path[2 * PATH_BYTES])
{
	snprintf(path, 2 * PATH_BYTES, "%s/%s", instance, name);
	return path;
}

static void make_file(const char *instance, const char *name)
{
	char path[2 * PATH_BYTES];
	FILE *f;

	path_of(instance, name, path);
	if (fifo && !strcmp(name, fifo)) {
		mkfifo(path, 0600);
	} else if (!missing || strcmp(name, missing) != 0) {
		f = fopen(path, "w");
		if (f) {
			fputs(!strcmp(name, BUFFER) ? "14\n" : !strcmp(name, STATS) ? "overrun: 0\n" : "", f);
			fclose(f);
		}
	}
}

int __wrap_mkdir(const char *path, mode_t mode)
{
	char part[2 * PATH_BYTES];
	size_t i;

	if (mkdir_errno) {
		errno = mkdir_errno;
		return -1;
	}
	if (__real_mkdir(path, mode))
		return -1;
	*helper = getpid();
	__real_mkdir(path_of(path, "options", part), mode);
	__real_mkdir(path_of(path, "per_cpu", part), mode);
	__real_mkdir(path_of(path, "per_cpu/cpu0", part), mode);
	for (i = 0; i < sizeof(names) / sizeof(*names); i++)
		make_file(path, names[i]);
	return 0;
}

int __wrap_rmdir(const char *path)
{
	char part[2 * PATH_BYTES];
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(*names); i++)
		unlink(path_of(path, names[i], part));
	__real_rmdir(path_of(path, "options", part));
	__real_rmdir(path_of(path, "per_cpu/cpu0", part));
	__real_rmdir(path_of(path, "per_cpu", part));
	return __real_rmdir(path);
}

static int put_text(const char *name, const char *text)
{
	char path[2 * PATH_BYTES];
	FILE *f = fopen(path_of(top, name, path), "w");

	return f ? fputs(text, f) < 0 || fclose(f) : -1;
}

static int make_top(void **state)
{
	char path[2 * PATH_BYTES];

	(void)state;
	snprintf(top, sizeof(top), "/tmp/kfxt-helper-XXXXXX");
	if (!mkdtemp(top) || __real_mkdir(path_of(top, "events", path), 0700) ||
	    __real_mkdir(path_of(top, "events/ftrace", path), 0700) || __real_mkdir(path_of(top, "events/ftrace/print", path), 0700) ||
	    put_text(HEADER, header_page) || put_text(PRINT, print))
		return -1;
	snprintf(dir, sizeof(dir), "%s/kfxt-%d", top, getpid());
	helper = mmap(NULL, sizeof(*helper), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (helper == MAP_FAILED)
		return -1;
	fifo = missing = NULL;
	mkdir_errno = 0;
	return 0;
}

static int remove_top(void **state)
{
	char path[2 * PATH_BYTES];

	(void)state;
	munmap(helper, sizeof(*helper));
	unlink(path_of(top, HEADER, path));
	unlink(path_of(top, PRINT, path));
	return __real_rmdir(path_of(top, "events/ftrace/print", path)) || __real_rmdir(path_of(top, "events/ftrace", path)) ||
	       __real_rmdir(path_of(top, "events", path)) || __real_rmdir(top);
}

/* ---- what is seen of it ---------------------------------------------------------------------- */

static bool exists(const char *path)
{
	return !access(path, F_OK);
}

static void wait_until_gone(void)
{
	int ms;

	for (ms = 0; exists(dir) && ms < LONG_MS; ms++)
		usleep(1000);
	assert_false(exists(dir));
}

static void assert_text(const char *name, const char *wanted)
{
	char path[2 * PATH_BYTES], text[32] = "";
	FILE *f = fopen(path_of(dir, name, path), "r");

	assert_non_null(f);
	assert_true(fread(text, 1, sizeof(text) - 1, f) > 0);
	fclose(f);
	assert_string_equal(text, wanted);
}

/* Lets the process go on that waits for a reader of the FIFO. */
static void let_go(void)
{
	char path[2 * PATH_BYTES], text[8] = "";
	int fd = open(path_of(dir, fifo, path), O_RDONLY);

	assert_true(fd >= 0);
	assert_true(read(fd, text, sizeof(text) - 1) > 0);
	close(fd);
}

static struct marker_helper *begin(void)
{
	struct marker_helper *h;

	assert_int_equal(marker_helper_open(&h, top, dir, OPTION), 0);
	assert_int_equal(marker_helper_begin(h, cpus, 1, 64 << 10), 0);
	return h;
}

static void assert_why(const struct marker_helper *h, const char *wanted)
{
	char why[SOURCE_WHY_BYTES];

	assert_string_equal(marker_helper_why(h, why), wanted);
}

/* ---- tests ------------------------------------------------------------------------------------- */

static void test_copies(void **state)
{
	const uint64_t before = clock_ns(CLOCK_BOOTTIME);
	struct marker_helper *h = begin();
	char text[32];

	(void)state;
	assert_int_equal(marker_helper_look(h, LONG_MS), HELPER_READY);
	assert_in_range(marker_helper_since(h), before, clock_ns(CLOCK_BOOTTIME));
	assert_int_equal(marker_helper_format(h)->page_bytes, 4096);
	assert_true(fcntl(marker_helper_files(h, 0).pipe, F_GETFL) & O_NONBLOCK);
	assert_int_equal(pread(marker_helper_files(h, 0).stats, text, sizeof(text), 0), strlen("overrun: 0\n"));
	assert_text(CLOCK, "boot");
	assert_text(BUFFER, "64\n");
	assert_text(OPTION, "1");
	assert_true(marker_helper_end(h, LONG_MS));
	assert_text(OPTION, "0");
	assert_true(marker_helper_close(h, LONG_MS));
	assert_false(exists(dir));
}

static void test_kernel_lets_wait(void **state)
{
	static const struct {
		const char *file, *why;
	} cases[] = {
		{ CLOCK, "the kernel waits for an RCU grace period" },
		{ OPTION, "another tracer keeps tracefs busy" },
	};
	struct marker_helper *h;
	uint64_t before;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		fifo = cases[i].file;
		h = begin();
		assert_int_equal(marker_helper_look(h, 300), HELPER_WORKS);
		assert_why(h, cases[i].why);
		assert_int_equal(marker_helper_since(h), 0);
		assert_false(marker_helper_end(h, 0));
		before = clock_ns(CLOCK_BOOTTIME);
		let_go();
		assert_int_equal(marker_helper_look(h, LONG_MS), HELPER_READY);
		assert_in_range(marker_helper_since(h), before, clock_ns(CLOCK_BOOTTIME));
		assert_true(marker_helper_close(h, LONG_MS));
		assert_false(exists(dir));
	}
}

static void test_stays_behind(void **state)
{
	struct marker_helper *h;

	(void)state;
	fifo = CLOCK;
	h = begin();
	assert_int_equal(marker_helper_look(h, 300), HELPER_WORKS);
	assert_false(marker_helper_close(h, 20));
	assert_true(exists(dir));
	let_go();
	wait_until_gone();
	assert_true(waitpid(-1, NULL, 0) > 0);
}

static void test_failures(void **state)
{
	struct marker_helper *h;

	(void)state;
	mkdir_errno = ENOMEM;
	assert_int_equal(marker_helper_open(&h, top, dir, OPTION), 0);
	assert_int_equal(marker_helper_look(h, LONG_MS), HELPER_FAILED);
	assert_why(h, "a tracefs instance cannot be made: Cannot allocate memory");
	assert_true(marker_helper_close(h, LONG_MS));
	mkdir_errno = 0;
	missing = OPTION;
	h = begin();
	assert_int_equal(marker_helper_look(h, LONG_MS), HELPER_FAILED);
	assert_why(h, "copies cannot be turned on: No such file or directory");
	assert_true(marker_helper_close(h, LONG_MS));
	missing = BUFFER;
	h = begin();
	assert_int_equal(marker_helper_look(h, LONG_MS), HELPER_FAILED);
	assert_why(h, "CPU 0: its buffer cannot be resized: No such file or directory");
	assert_true(marker_helper_close(h, LONG_MS));
	missing = STATS;
	h = begin();
	assert_int_equal(marker_helper_look(h, LONG_MS), HELPER_FAILED);
	assert_why(h, "its buffers cannot be opened: No such file or directory");
	assert_int_equal(marker_helper_files(h, 0).pipe, -1);
	assert_true(marker_helper_close(h, LONG_MS));
	assert_int_equal(put_text(PRINT, "of no known form\n"), 0);
	h = begin();
	assert_int_equal(marker_helper_look(h, LONG_MS), HELPER_FAILED);
	assert_why(h, "the form of its records cannot be read: Operation not supported");
	assert_true(marker_helper_close(h, LONG_MS));
	assert_false(exists(dir));
}

/* Where no more may be open, it says that and not that the other process has ended. */
static void test_too_many_are_open(void **state)
{
	struct marker_helper *h = begin();
	struct rlimit before, none;
	int lowest = open("/dev/null", O_RDONLY | O_CLOEXEC);

	(void)state;
	close(lowest);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	none = (struct rlimit){ lowest, before.rlim_max };
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
	assert_int_equal(marker_helper_look(h, LONG_MS), HELPER_FAILED);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
	assert_why(h, "its buffers cannot be opened: Too many open files");
	assert_int_equal(marker_helper_files(h, 0).pipe, -1);
	assert_true(marker_helper_close(h, LONG_MS));
}

static void test_helper_is_killed(void **state)
{
	struct marker_helper *h;

	(void)state;
	fifo = CLOCK;
	h = begin();
	assert_int_equal(marker_helper_look(h, 300), HELPER_WORKS);
	assert_int_equal(kill(*helper, SIGKILL), 0);
	assert_int_equal(marker_helper_look(h, LONG_MS), HELPER_FAILED);
	assert_why(h, "the process that makes its tracefs instance was ended");
	assert_true(marker_helper_close(h, LONG_MS));
	assert_int_equal(rmdir(dir), 0);
}

static void test_recorder_is_killed(void **state)
{
	struct marker_helper *h;
	const pid_t pid = fork();
	int status;

	(void)state;
	if (!pid) {
		h = begin();
		_exit(marker_helper_look(h, LONG_MS) != HELPER_READY);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	wait_until_gone();
}

static void test_stale_instances(void **state)
{
	char stale[2 * PATH_BYTES], alive[2 * PATH_BYTES], other[2 * PATH_BYTES];
	struct marker_helper *h;
	const pid_t pid = fork();

	(void)state;
	if (!pid)
		_exit(0);
	waitpid(pid, NULL, 0);
	snprintf(stale, sizeof(stale), "%s/kfxt-%d", top, pid);
	snprintf(alive, sizeof(alive), "%s/kfxt-%d", top, getppid());
	snprintf(other, sizeof(other), "%s/kfxt-%dx", top, pid);
	assert_int_equal(mkdir(stale, 0700) || mkdir(alive, 0700) || mkdir(other, 0700), 0);
	h = begin();
	assert_int_equal(marker_helper_look(h, LONG_MS), HELPER_READY);
	assert_true(marker_helper_close(h, LONG_MS));
	assert_false(exists(stale));
	assert_true(exists(alive) && exists(other));
	assert_int_equal(rmdir(alive) || rmdir(other), 0);
}

/* Whoever reads what the recorder writes sees its end, whatever the helper does. */
static void test_nothing_stays_open(void **state)
{
	struct marker_helper *h;
	char byte;
	int ends[2];

	(void)state;
	fifo = CLOCK;
	assert_int_equal(pipe(ends), 0);
	h = begin();
	assert_int_equal(marker_helper_look(h, 300), HELPER_WORKS);
	close(ends[1]);
	assert_int_equal(read(ends[0], &byte, 1), 0);
	close(ends[0]);
	let_go();
	assert_true(marker_helper_close(h, LONG_MS));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_copies, make_top, remove_top),
		cmocka_unit_test_setup_teardown(test_kernel_lets_wait, make_top, remove_top),
		cmocka_unit_test_setup_teardown(test_stays_behind, make_top, remove_top),
		cmocka_unit_test_setup_teardown(test_failures, make_top, remove_top),
		cmocka_unit_test_setup_teardown(test_too_many_are_open, make_top, remove_top),
		cmocka_unit_test_setup_teardown(test_helper_is_killed, make_top, remove_top),
		cmocka_unit_test_setup_teardown(test_recorder_is_killed, make_top, remove_top),
		cmocka_unit_test_setup_teardown(test_stale_instances, make_top, remove_top),
		cmocka_unit_test_setup_teardown(test_nothing_stays_open, make_top, remove_top),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
