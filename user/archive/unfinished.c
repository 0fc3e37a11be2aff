// SPDX-License-Identifier: GPL-2.0
#include "unfinished.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "fxt/format.h"
#include "io/repair.h"
#include "io/records.h"

#define NAMES_MAX	100000U		/* that are tried */
#define CHUNK_BYTES	(1U << 20)
#define CHUNK_BYTES_MAX	(64U << 20)	/* longer records than this are cut off */
#define TEMP_BYTES	(sizeof(NAME_TEMP) - 1)

static void temp_name(const struct unfinished *u, char temp[NAME_MAX + 1])
{
	snprintf(temp, NAME_MAX + 1, "%.*s%s", (int)(NAME_MAX - TEMP_BYTES), u->name, NAME_TEMP);
}

static bool is_taken(int dir, const char *name)
{
	struct stat st;

	return !fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW);
}

/* Is @name still that of the open file? Others may write to the directory, too. */
static bool is_named(int dir, const char *name, int fd)
{
	struct stat named, open;

	return !fstatat(dir, name, &named, AT_SYMLINK_NOFOLLOW) && !fstat(fd, &open) &&
	       named.st_dev == open.st_dev && named.st_ino == open.st_ino;
}

/*
 * Another recorder that starts may take a file for one that is left over before it is locked, and remove it. File
 * systems without locks cannot say whose it is, and nobody removes it there.
 */
static int make(struct unfinished *u, int dir, mode_t mode)
{
	char temp[NAME_MAX + 1];
	int fd;

	temp_name(u, temp);
	if (is_taken(dir, u->name))
		return -EEXIST;
	fd = openat(dir, temp, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC | O_NOCTTY, mode);
	if (fd < 0)
		return -errno;
	if ((flock(fd, LOCK_EX | LOCK_NB) && errno == EWOULDBLOCK) || !is_named(dir, temp, fd)) {
		close(fd);
		return -EEXIST;
	}
	u->fd = fd;
	return 0;
}

int unfinished_open(struct unfinished *u, int dir, const struct name_pattern *names, const struct name_facts *facts,
		    bool keep)
{
	const mode_t mode = keep ? UNFINISHED_MODE_KEPT : UNFINISHED_MODE;
	unsigned int number;
	int err;

	*u = (struct unfinished){ .fd = -1, .locked = -1, .names = names };
	err = name_make(names, facts, u->base);
	if (err)
		return err;
	strcpy(u->name, u->base);
	err = make(u, dir, mode);
	for (number = 1; err == -EEXIST && number < NAMES_MAX; number++)
		err = name_add_number(names, u->base, number, u->name) ?: make(u, dir, mode);
	return err;
}

/* Without replacing anything. Not all file systems can do it in one step. */
static int rename_new(int dir, const char *from, const char *to)
{
	if (!renameat2(dir, from, dir, to, RENAME_NOREPLACE))
		return 0;
	if (errno != EINVAL && errno != ENOSYS)
		return -errno;
	if (is_taken(dir, to))
		return -EEXIST;
	return renameat(dir, from, dir, to) ? -errno : 0;
}

int unfinished_rename(struct unfinished *u, int dir)
{
	char temp[NAME_MAX + 1];
	unsigned int number;
	int err;

	temp_name(u, temp);
	if (!is_named(dir, temp, u->fd))
		return -ESTALE;
	err = rename_new(dir, temp, u->name);
	for (number = 1; err == -EEXIST && number < NAMES_MAX; number++)
		err = name_add_number(u->names, u->base, number, u->name) ?: rename_new(dir, temp, u->name);
	/* Other processes may have the same descriptor for long, having been forked since. */
	if (!err)
		flock(u->fd, LOCK_UN);
	return err;
}

int unfinished_discard(struct unfinished *u, int dir)
{
	char temp[NAME_MAX + 1];

	temp_name(u, temp);
	return is_named(dir, temp, u->fd) && unlinkat(dir, temp, 0) ? -errno : 0;
}

uint64_t unfinished_bytes(const struct unfinished *u)
{
	struct stat st;

	return u->fd < 0 || fstat(u->fd, &st) ? 0 : st.st_size;
}

/* By another descriptor, for reading: a file that is complete nobody has open for writing. */
int unfinished_hold(const struct unfinished *u, int dir)
{
	int fd = openat(dir, u->name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);

	if (fd >= 0 && flock(fd, LOCK_SH | LOCK_NB)) {
		close(fd);
		fd = -1;
	}
	return fd;
}

/* For writing, without which NFS has no such lock. */
bool unfinished_is_held(int dir, const char *name)
{
	const int fd = openat(dir, name, O_RDWR | O_NOFOLLOW | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	const bool is_held = fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) && errno == EWOULDBLOCK;

	if (fd >= 0)
		close(fd);
	return is_held;
}

void unfinished_close(struct unfinished *u)
{
	if (u->fd >= 0)
		close(u->fd);
	if (u->locked >= 0)
		close(u->locked);
	u->fd = u->locked = -1;
}

/* ---- what a recorder that has ended left ------------------------------------------------ */

/* How much of the file is whole records. A buffer is doubled for a record that does not fit. */
static uint64_t whole_bytes(int fd)
{
	size_t size = 0, whole;
	char *buf = NULL;
	int err = array_reserve(buf, 0, size, CHUNK_BYTES);
	uint64_t end = 0;
	ssize_t n;

	while (!err) {
		n = pread(fd, buf, size, end);
		whole = n > 0 ? records_whole_bytes(buf, n) : 0;
		end += whole;
		if (whole)
			continue;
		if (n < (ssize_t)size || size >= CHUNK_BYTES_MAX)
			break;
		err = array_reserve(buf, size, size, 1);
	}
	free(buf);
	return end;
}

/* Compressed streams are ended, packets left as they are. Space that was allocated beyond the end is given back. */
static int cut_after_records(int fd)
{
	uint64_t magic = 0;
	struct stat st;
	int err = repair_compressed(fd);

	if (err)
		return err;
	if (fstat(fd, &st))
		return -errno;
	if (pread(fd, &magic, sizeof(magic), 0) == sizeof(magic) && magic == FXT_MAGIC)
		st.st_size = whole_bytes(fd);
	return ftruncate(fd, st.st_size) ? -errno : 0;
}

int unfinished_recover(struct unfinished *u, int dir, bool *kept)
{
	struct stat st;
	const bool timed = !fstat(u->fd, &st);
	int err = cut_after_records(u->fd);

	if (timed)
		futimens(u->fd, (struct timespec[2]){ { .tv_nsec = UTIME_OMIT }, st.st_mtim });
	*kept = unfinished_bytes(u) > sizeof(uint64_t);
	return err ?: *kept ? unfinished_rename(u, dir) : unfinished_discard(u, dir);
}

/* For writing, which its mode may not allow: it is changed meanwhile. */
static int open_again(int dir, const char *temp, int locked)
{
	const int flags = O_RDWR | O_NOFOLLOW | O_CLOEXEC | O_NOCTTY | O_NONBLOCK;
	struct stat st;
	int fd, err;

	if (fstat(locked, &st))
		return -errno;
	if (!S_ISREG(st.st_mode) || st.st_uid != geteuid())
		return -ENOENT;
	if (st.st_mode & S_IWUSR) {
		fd = openat(dir, temp, flags);
		return fd < 0 ? -errno : fd;
	}
	if (fchmod(locked, UNFINISHED_MODE))
		return -errno;
	fd = openat(dir, temp, flags);
	err = fd < 0 ? -errno : 0;
	fchmod(locked, UNFINISHED_MODE_KEPT);
	return err ?: fd;
}

static int find(struct unfinished *u, int dir, const char *temp)
{
	u->locked = openat(dir, temp, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (u->locked < 0 || flock(u->locked, LOCK_EX | LOCK_NB))
		return -errno;
	u->fd = open_again(dir, temp, u->locked);
	if (u->fd < 0)
		return u->fd;
	return is_named(dir, temp, u->locked) && is_named(dir, temp, u->fd) ? 0 : -ENOENT;
}

int unfinished_find(struct unfinished *u, int dir, const struct name_pattern *names, const char *temp)
{
	const size_t len = strlen(temp);
	int err;

	*u = (struct unfinished){ .fd = -1, .locked = -1, .names = names };
	if (len <= TEMP_BYTES || strcmp(temp + len - TEMP_BYTES, NAME_TEMP) != 0)
		return -ENOENT;
	snprintf(u->name, sizeof(u->name), "%.*s", (int)(len - TEMP_BYTES), temp);
	if (!name_matches(names, u->name))
		return -ENOENT;
	name_strip_number(names, u->name, u->base);
	err = find(u, dir, temp);
	if (err)
		unfinished_close(u);
	return err;
}
