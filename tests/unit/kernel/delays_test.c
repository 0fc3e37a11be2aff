// SPDX-License-Identifier: GPL-2.0
/*
 * Unit tests of how long the kernel lets wait: by a directory in place of tracefs, where resizing the buffer of one CPU
 * does not end.
 */
#include <errno.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "cli/check_delays.h"
#include "kernel/delays.h"
#include "kernel/tracefs.h"

#define LONG_MS		30000
#define NS_PER_MS	1000000ULL
#define CPUS_CNT	8
#define PATH_BYTES	400

int __real_mkdir(const char *path, mode_t mode);
int __real_rmdir(const char *path);
ssize_t __real_write(int fd, const void *data, size_t len);
int __wrap_mkdir(const char *path, mode_t mode);
int __wrap_rmdir(const char *path);
ssize_t __wrap_write(int fd, const void *data, size_t len);
int __wrap_tracefs_instances(char *path, size_t size);

/* None that this process has to leave, whatever machine this is. */
static const uint32_t cpus[CPUS_CNT] = { 4001, 4002, 4003, 4004, 4005, 4006, 4007, 4008 };
static char top[64];

/* Also seen by the process that measures. */
static struct {
	atomic_uint stuck;	/* the positions, as bits, of CPUs whose buffers are not resized */
	atomic_uint made;	/* instances */
} *kernel;

/* ---- in place of the kernel ------------------------------------------------------------------- */

static char *path_in(const char *dir, unsigned int i, const char *name, char path[PATH_BYTES])
{
	snprintf(path, PATH_BYTES, "%.200s/per_cpu/cpu%u%s%s", dir, cpus[i], *name ? "/" : "", name);
	return path;
}

int __wrap_tracefs_instances(char *path, size_t size)
{
	snprintf(path, size, "%s", top);
	return top[0] ? 0 : -ENOENT;
}

int __wrap_mkdir(const char *path, mode_t mode)
{
	char part[PATH_BYTES];
	unsigned int i;
	FILE *f;

	if (__real_mkdir(path, mode))
		return -1;
	atomic_fetch_add(&kernel->made, 1);
	snprintf(part, sizeof(part), "%.200s/per_cpu", path);
	__real_mkdir(part, mode);
	for (i = 0; i < CPUS_CNT; i++) {
		__real_mkdir(path_in(path, i, "", part), mode);
		f = fopen(path_in(path, i, "buffer_size_kb", part), "w");
		if (!f)
			return -1;
		fputs("1408\n", f);
		fclose(f);
	}
	return 0;
}

int __wrap_rmdir(const char *path)
{
	char part[PATH_BYTES];
	unsigned int i;

	for (i = 0; i < CPUS_CNT; i++) {
		unlink(path_in(path, i, "buffer_size_kb", part));
		__real_rmdir(path_in(path, i, "", part));
	}
	snprintf(part, sizeof(part), "%.200s/per_cpu", path);
	__real_rmdir(part);
	return __real_rmdir(path);
}

ssize_t __wrap_write(int fd, const void *data, size_t len)
{
	char link[64], name[PATH_BYTES] = "", part[PATH_BYTES];
	unsigned int i;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	if (readlink(link, name, sizeof(name) - 1) <= 0)
		return __real_write(fd, data, len);
	for (i = 0; i < CPUS_CNT; i++)
		while ((atomic_load(&kernel->stuck) >> i & 1) && strstr(name, path_in("", i, "buffer_size_kb", part)))
			usleep(1000);
	return __real_write(fd, data, len);
}

static int begin(void **state)
{
	(void)state;
	kernel = mmap(NULL, sizeof(*kernel), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (kernel == MAP_FAILED)
		return -1;
	snprintf(top, sizeof(top), "/tmp/kfxt-delays-XXXXXX");
	return mkdtemp(top) ? 0 : -1;
}

static int end(void **state)
{
	int ms;

	(void)state;
	atomic_store(&kernel->stuck, 0);
	for (ms = 0; __real_rmdir(top) && ms < LONG_MS; ms++)
		usleep(1000);
	while (waitpid(-1, NULL, 0) > 0)
		;
	munmap(kernel, sizeof(*kernel));
	return access(top, F_OK) ? 0 : -1;
}

/* ---- tests ------------------------------------------------------------------------------------- */

static void test_all_end(void **state)
{
	struct delays d;
	unsigned int i;

	(void)state;
	assert_int_equal(delays_measure(&d, cpus, CPUS_CNT, LONG_MS), 0);
	for (i = 0; i < CPUS_CNT; i++)
		assert_true(d.work[i].known && d.work[i].ended);
	assert_false(d.behind);
	assert_int_equal(atomic_load(&kernel->made) >= 1, 1);
	delays_free(&d);
}

static void test_one_is_stuck(void **state)
{
	struct delays d;
	unsigned int i;

	(void)state;
	for (i = 0; i < CPUS_CNT; i++) {
		atomic_store(&kernel->stuck, 1U << i);
		assert_int_equal(delays_measure(&d, cpus, CPUS_CNT, 1500), 0);
		assert_true(d.work[i].known);
		assert_false(d.work[i].ended);
		assert_in_range(d.work[i].ns, 500 * NS_PER_MS, UINT64_MAX);
		assert_true(d.behind);
		/* The others are measured by another instance. */
		assert_true(d.work[(i + 1) % CPUS_CNT].ended && d.work[(i + 2) % CPUS_CNT].ended);
		delays_free(&d);
	}
}

/* Many of them: an instance each, so that what is measured is all that can be. */
static void test_many_are_stuck(void **state)
{
	struct delays d;
	unsigned int i;

	(void)state;
	atomic_store(&kernel->stuck, 0x3f);
	assert_int_equal(delays_measure(&d, cpus, CPUS_CNT, 3000), 0);
	for (i = 0; i < CPUS_CNT; i++) {
		assert_true(d.work[i].known);
		assert_int_equal(d.work[i].ended, i >= 6);
	}
	delays_free(&d);
}

static void test_no_right(void **state)
{
	struct delays d;
	char was = top[0];

	(void)state;
	top[0] = 0;
	assert_int_equal(delays_measure(&d, cpus, CPUS_CNT, LONG_MS), 0);
	top[0] = was;
	assert_false(d.work[0].known || d.work[1].known || d.work[2].known || d.behind);
	delays_free(&d);
}

static void test_remedies(void **state)
{
	static const struct {
		const char *release;
		const char *with;	/* NULL: none */
	} cases[] = {
		{ "6.18.44-fc-v669", "6.18.45" }, { "6.18.0", "6.18.45" }, { "6.18.45", NULL }, { "6.18.100-amd64", NULL },
		{ "6.13.1", "101f3498b4bd" }, { "6.12.57+deb13-amd64", "unless" }, { "6.6.100", "unless" },
		{ "6.1.0-40-amd64", NULL }, { "5.15.0-91-generic", NULL }, { "7.2.1", NULL }, { "", NULL },
	};
	const char *remedy;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		remedy = check_delays_remedy(cases[i].release);
		if (!cases[i].with)
			assert_null(remedy);
		else
			assert_non_null(strstr(remedy, cases[i].with));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_all_end, begin, end),
		cmocka_unit_test_setup_teardown(test_one_is_stuck, begin, end),
		cmocka_unit_test_setup_teardown(test_many_are_stuck, begin, end),
		cmocka_unit_test_setup_teardown(test_no_right, begin, end),
		cmocka_unit_test(test_remedies),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
