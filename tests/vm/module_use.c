// SPDX-License-Identifier: GPL-2.0
#include "module_use.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static int number, failures;

/* ---- results ------------------------------------------------------------------------- */

void ok(bool good, const char *format, ...)
{
	va_list args;

	printf("%sok %d - ", good ? "" : "not ", ++number);
	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	putchar('\n');
	fflush(stdout);
	failures += !good;
}

void equals(long long got, long long wanted, const char *what)
{
	ok(got == wanted, "%s", what);
	if (got != wanted)
		printf("# %lld instead of %lld\n", got, wanted);
}

/* @ret of a call that is to fail with @error. */
void fails(long ret, int error, const char *what)
{
	const int got = ret < 0 ? errno : 0;

	ok(got == error, "%s: %s", what, strerror(error));
	if (got != error)
		printf("# %s instead\n", strerror(got));
}

double now_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

int finish(void)
{
	printf("1..%d\n", number);
	printf("module: %d passed, %d failed, 0 skipped\n", number - failures, failures);
	return failures > 0;
}

void give_up(const char *what)
{
	printf("Bail out! %s: %s\n", what, strerror(errno));
	exit(1);
}

/* ---- the module ---------------------------------------------------------------------- */

int load(const char *module_path)
{
	const int fd = open(module_path, O_RDONLY | O_CLOEXEC);
	long ret;

	if (fd < 0)
		give_up(module_path);
	ret = syscall(SYS_finit_module, fd, "", 0);
	close(fd);
	return ret;
}

int unload(void)
{
	return syscall(SYS_delete_module, "kfxt", O_NONBLOCK);
}

int open_device(void)
{
	return open(KFXT_DEVICE, O_RDWR | O_CLOEXEC);
}

int must_open(void)
{
	const int fd = open_device();

	if (fd < 0)
		give_up(KFXT_DEVICE);
	return fd;
}

int start_bytes(int fd, const void *text, uint32_t bytes)
{
	struct kfxt_filter filter = { .text = (uintptr_t)text, .bytes = bytes };

	return ioctl(fd, KFXT_IOC_FUNC_START, &filter);
}

struct kfxt_counts sum_counts(int fd)
{
	struct kfxt_counts sum = { 0 };

	for (int cpu = 0; cpu < sysconf(_SC_NPROCESSORS_CONF); cpu++) {
		struct kfxt_counts one = { .cpu = cpu };

		if (ioctl(fd, KFXT_IOC_COUNTS, &one))
			give_up("KFXT_IOC_COUNTS");
		sum.fired += one.fired;
		sum.recursion += one.recursion;
		sum.unwatched += one.unwatched;
	}
	return sum;
}

void call(int times)
{
	while (times--)
		syscall(SYS_getppid);
}
