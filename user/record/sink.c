// SPDX-License-Identifier: GPL-2.0
/*
 * The trace's file or pipe. Owns the only write(2) of a recording.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../fxt/format.h"
#include "sink.h"

struct sink {
	int fd;
	bool is_file;
	int err;
	uint64_t bytes;
};

/* Moves an existing regular file out of the way. */
static int keep_old(const char *path, const char **hint)
{
	struct stat st;
	char *old;
	int err = 0;

	if (lstat(path, &st))
		return 0;	/* open(2) will tell if it matters */
	if (S_ISLNK(st.st_mode)) {
		*hint = "symbolic links are not followed; for stdout use -o -";
		return -ELOOP;
	}
	if (!S_ISREG(st.st_mode))
		return S_ISDIR(st.st_mode) ? -EISDIR : 0;
	if (asprintf(&old, "%s.old", path) < 0)
		return -ENOMEM;
	if (rename(path, old)) {
		err = -errno;
		*hint = "the trace that is there cannot be renamed to end with .old";
	}
	free(old);
	return err;
}

static int open_file(const char *path, const char **hint)
{
	int err = keep_old(path, hint), fd;

	if (err)
		return err;
	fd = open(path, O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC | O_NOCTTY, 0600);
	return fd < 0 ? -errno : fd;
}

static int open_stdout(const char **hint)
{
	int fd;

	if (isatty(STDOUT_FILENO)) {
		*hint = "pipe it into something, or name a file with -o";
		return -ENOTTY;
	}
	fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
	return fd < 0 ? -errno : fd;
}

int sink_open(struct sink **out, const char *path, const char **hint)
{
	struct sink *s;
	struct stat st;
	int fd;

	*hint = NULL;
	fd = strcmp(path, "-") ? open_file(path, hint) : open_stdout(hint);
	if (fd < 0)
		return fd;
	s = calloc(1, sizeof(*s));
	if (!s) {
		close(fd);
		return -ENOMEM;
	}
	s->fd = fd;
	s->is_file = !fstat(fd, &st) && S_ISREG(st.st_mode);
	*out = s;
	return 0;
}

/* How many of @len bytes of @data, which starts with a record, are whole records. */
static size_t whole_records(const void *data, size_t len)
{
	const char *p = data;
	size_t off = 0, size;
	uint64_t header;

	while (off + sizeof(header) <= len) {
		memcpy(&header, p + off, sizeof(header));
		size = FXT_GET(header, FXT_F_TYPE) == FXT_LARGE ? FXT_GET(header, FXT_F_LARGE_SIZE)
								: FXT_GET(header, FXT_F_SIZE);
		if (!size || off + size * 8 > len)
			break;
		off += size * 8;
	}
	return off;
}

/* After a failed write that took @done bytes of @iov: cut the file behind its last whole record. */
static void cut_back(struct sink *s, const struct iovec *iov, int cnt, size_t done)
{
	int i;

	for (i = 0; i < cnt && done >= iov[i].iov_len; i++) {
		s->bytes += iov[i].iov_len;
		done -= iov[i].iov_len;
	}
	if (i < cnt)
		s->bytes += whole_records(iov[i].iov_base, done);
	if (s->is_file && !ftruncate(s->fd, s->bytes))
		lseek(s->fd, s->bytes, SEEK_SET);
}

static int wait_writable(int fd)
{
	struct pollfd pfd = { .fd = fd, .events = POLLOUT };

	return poll(&pfd, 1, -1) < 0 && errno != EINTR ? -errno : 0;
}

/* Skips @n bytes of what is left. */
static void advance(struct iovec **iov, int *cnt, size_t n)
{
	while (*cnt && n >= (*iov)->iov_len) {
		n -= (*iov)->iov_len;
		(*iov)++;
		(*cnt)--;
	}
	if (*cnt) {
		(*iov)->iov_base = (char *)(*iov)->iov_base + n;
		(*iov)->iov_len -= n;
	}
}

static int write_all(struct sink *s, struct iovec *iov, int cnt, size_t *done)
{
	ssize_t n;
	int err;

	while (cnt) {
		n = writev(s->fd, iov, cnt < IOV_MAX ? cnt : IOV_MAX);
		if (n < 0 && errno == EAGAIN) {
			err = wait_writable(s->fd);
			if (err)
				return err;
		} else if (n < 0 && errno != EINTR) {
			return -errno;
		} else if (n > 0) {
			*done += n;
			advance(&iov, &cnt, n);
		}
	}
	return 0;
}

int sink_writev(struct sink *s, struct iovec *iov, int cnt)
{
	struct iovec left[cnt];
	size_t done = 0;

	if (s->err)
		return s->err;
	memcpy(left, iov, sizeof(left));
	s->err = write_all(s, left, cnt, &done);
	if (s->err)
		cut_back(s, iov, cnt, done);
	else
		s->bytes += done;
	return s->err;
}

int sink_write(void *ctx, const void *data, size_t len)
{
	struct iovec iov = { .iov_base = (void *)data, .iov_len = len };

	return sink_writev(ctx, &iov, 1);
}

uint64_t sink_bytes(const struct sink *s)
{
	return s->bytes;
}

int sink_close(struct sink *s)
{
	int err;

	if (!s)
		return 0;
	err = s->err;
	if (close(s->fd) && !err)
		err = -errno;
	free(s);
	return err;
}
