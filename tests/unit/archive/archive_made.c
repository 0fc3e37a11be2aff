// SPDX-License-Identifier: GPL-2.0
#include "archive_made.h"

#include <dirent.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#define WAIT_MS	30000

int archive_make_dir(void **state)
{
	char dir[] = "/tmp/kfxt-archive.XXXXXX";

	*state = mkdtemp(dir) ? strdup(dir) : NULL;
	return *state && !chdir(*state) ? 0 : -1;
}

static int remove_all(void)
{
	DIR *dir = opendir(".");
	const struct dirent *entry;
	int err = dir ? 0 : -1;

	while (dir && (entry = readdir(dir)))
		if (strcmp(entry->d_name, ".") && strcmp(entry->d_name, ".."))
			err |= unlink(entry->d_name) && rmdir(entry->d_name);
	if (dir)
		closedir(dir);
	return err;
}

int archive_remove_dir(void **state)
{
	if (chdir(*state) || remove_all() || chdir("/") || rmdir(*state))
		return -1;
	free(*state);
	return 0;
}

void archive_put(const char *name, size_t bytes, long time, mode_t mode)
{
	const struct timespec times[2] = { { time, 0 }, { time, 0 } };
	int fd = open(name, O_WRONLY | O_CREAT | O_EXCL, 0600);

	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, bytes), 0);
	assert_int_equal(futimens(fd, times), 0);
	assert_int_equal(fchmod(fd, mode), 0);
	close(fd);
}

bool archive_has(const char *name)
{
	struct stat st;

	return !lstat(name, &st);
}

unsigned int archive_count(void)
{
	DIR *dir = opendir(".");
	unsigned int n = 0;

	assert_non_null(dir);
	while (readdir(dir))
		n++;
	closedir(dir);
	return n - 2;
}

void archive_wait_for(const char *name)
{
	int ms;

	for (ms = 0; ms < WAIT_MS && !archive_has(name); ms++)
		usleep(1000);
	assert_true(archive_has(name));
}
