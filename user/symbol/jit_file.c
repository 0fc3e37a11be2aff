// SPDX-License-Identifier: GPL-2.0
/*
 * The file is in /tmp as the process sees it, under the id that the process has in its own PID namespace.
 * Anyone may make a file there: no symbolic link is followed, since one in a container would lead to our
 * own files, and the file must be the user's that the process runs as, or root's.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "jit_file.h"

#define STATUS_BYTES_MAX	(64U << 10)
#define READ_BYTES		(256U << 10)
#define MARK_BYTES		128U

struct jit_file {
	const char *root;
	uint32_t pid;
	struct jit_map *map;
	dev_t dev;
	ino_t inode;
	off_t end;			/* up to where it was read: the end of a line */
	char mark[MARK_BYTES];		/* what is before that, to know another file by */
	size_t mark_bytes;
};

struct owner {
	unsigned int uid, pid;		/* effective; in its own namespace */
};

int jit_file_open(struct jit_file **out, const char *root, uint32_t pid)
{
	struct jit_file *f = calloc(1, sizeof(*f));

	if (!f)
		return -ENOMEM;
	f->root = root;
	f->pid = pid;
	if (jit_map_open(&f->map)) {
		jit_file_close(f);
		return -ENOMEM;
	}
	*out = f;
	return 0;
}

void jit_file_close(struct jit_file *f)
{
	if (!f)
		return;
	jit_map_close(f->map);
	free(f);
}

struct jit_map *jit_file_map(struct jit_file *f)
{
	return f->map;
}

/* ---- the file ------------------------------------------------------------------- */

/* The last of the first @nth numbers in the line of /proc/PID/status after @key; false: there is none. */
static bool find_number(const char *status, const char *key, unsigned int nth, unsigned int *value)
{
	const char *line = strstr(status, key), *end, *p;
	unsigned long number;
	unsigned int i;
	char *after;

	if (!line)
		return false;
	p = line + strlen(key);
	end = strchrnul(p, '\n');
	for (i = 0; i != nth; i++, p = after) {
		number = strtoul(p, &after, 10);
		if (after == p || after > end)
			break;
		*value = (unsigned int)number;
	}
	return i > 0;
}

static bool read_owner(const struct jit_file *f, struct owner *o)
{
	char path[PATH_MAX], *status;
	size_t len;
	bool ok;

	snprintf(path, sizeof(path), "%s/proc/%u/status", f->root, f->pid);
	if (text_file_read(path, STATUS_BYTES_MAX, &status, &len))
		return false;
	ok = find_number(status, "\nUid:", 2, &o->uid) && find_number(status, "\nNSpid:", UINT_MAX, &o->pid);
	free(status);
	return ok;
}

/* Its descriptor, -1 if there is none or it is not to be trusted. */
static int open_map(const struct jit_file *f, struct stat *st)
{
	char path[PATH_MAX];
	struct owner o;
	int root, tmp, fd;

	if (!read_owner(f, &o))
		return -1;
	snprintf(path, sizeof(path), "%s/proc/%u/root", f->root, f->pid);
	root = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (root < 0)
		return -1;
	tmp = openat(root, "tmp", O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	close(root);
	if (tmp < 0)
		return -1;
	snprintf(path, sizeof(path), "perf-%u.map", o.pid);
	fd = openat(tmp, path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	close(tmp);
	if (fd >= 0 && (fstat(fd, st) || !S_ISREG(st->st_mode) || (st->st_uid != o.uid && st->st_uid))) {
		close(fd);
		fd = -1;
	}
	return fd;
}

/* ---- reading it ------------------------------------------------------------------- */

/* Whether it is the file that was read before, with what was read still there. */
static bool is_same(const struct jit_file *f, int fd, const struct stat *st)
{
	char mark[MARK_BYTES];

	return st->st_dev == f->dev && st->st_ino == f->inode && st->st_size >= f->end &&
	       pread(fd, mark, f->mark_bytes, f->end - (off_t)f->mark_bytes) == (ssize_t)f->mark_bytes &&
	       !memcmp(mark, f->mark, f->mark_bytes);
}

static void begin(struct jit_file *f, const struct stat *st, off_t from)
{
	jit_map_clear(f->map);
	f->dev = st->st_dev;
	f->inode = st->st_ino;
	f->end = from;
	f->mark_bytes = 0;
}

static void keep_mark(struct jit_file *f, const char *buf, size_t bytes)
{
	f->mark_bytes = bytes < MARK_BYTES ? bytes : MARK_BYTES;
	memcpy(f->mark, buf + bytes - f->mark_bytes, f->mark_bytes);
	f->end += (off_t)bytes;
}

/* One buffer of whole lines. 1, 0 if there are no more, or what jit_map_add() returned. */
static int read_lines(struct jit_file *f, int fd, char *buf)
{
	const ssize_t n = pread(fd, buf, READ_BYTES, f->end);
	const char *last = n > 0 ? memrchr(buf, '\n', n) : NULL;
	size_t bytes = last ? (size_t)(last + 1 - buf) : 0;
	int err;

	if (!last && n < (ssize_t)READ_BYTES)
		return 0;
	if (!last)
		bytes = READ_BYTES;	/* a line that long is no line */
	err = jit_map_add(f->map, buf, last ? bytes : 0);
	keep_mark(f, buf, bytes);
	return err ?: 1;
}

bool jit_file_read(struct jit_file *f, size_t bytes_max)
{
	struct stat st;
	int fd = open_map(f, &st), ret = 1;
	char *buf = fd >= 0 ? malloc(READ_BYTES) : NULL;

	if (!buf)
		goto close;
	/* Of a long one the newest part, which may begin inside a line. */
	if (!is_same(f, fd, &st))
		begin(f, &st, 0);
	if (st.st_size - f->end > (off_t)bytes_max)
		begin(f, &st, st.st_size - (off_t)bytes_max);
	while (ret == 1 && f->end < st.st_size)
		ret = read_lines(f, fd, buf);
	/* Of more lines than can be kept the newest, the next time. */
	if (ret == -EFBIG)
		begin(f, &st, st.st_size > (off_t)bytes_max / 2 ? st.st_size - (off_t)bytes_max / 2 : 0);
	free(buf);
close:
	if (fd >= 0)
		close(fd);
	return fd >= 0;
}
