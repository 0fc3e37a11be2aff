// SPDX-License-Identifier: GPL-2.0
/*
 * Reading traces. zlib passes plain bytes through and inflates gzip; its
 * errors become -errno here and words in input_error(), nowhere else.
 */
#include "input.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#define BUFFER_BYTES	(256 * 1024)

struct input {
	gzFile file;
	char *name;
};

static int check_fd(int fd)
{
	struct stat st;

	if (fstat(fd, &st))
		return -errno;
	return S_ISDIR(st.st_mode) ? -EISDIR : 0;
}

static int open_fd(const char *path)
{
	int fd, err;

	if (!strcmp(path, "-")) {
		if (isatty(STDIN_FILENO))
			return -ENOTTY;
		fd = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0);
	} else {
		fd = open(path, O_RDONLY | O_CLOEXEC);
	}
	if (fd < 0)
		return -errno;
	err = check_fd(fd);
	if (err) {
		close(fd);
		return err;
	}
	return fd;
}

int input_open(struct input **out, const char *path)
{
	struct input *in;
	int fd, err = -ENOMEM;

	fd = open_fd(path);
	if (fd < 0)
		return fd;
	in = calloc(1, sizeof(*in));
	if (!in)
		goto err_fd;
	in->name = strdup(strcmp(path, "-") ? path : "stdin");
	if (!in->name)
		goto err_input;
	in->file = gzdopen(fd, "rb");
	if (!in->file)
		goto err_name;
	gzbuffer(in->file, BUFFER_BYTES);
	*out = in;
	return 0;

err_name:
	free(in->name);
err_input:
	free(in);
err_fd:
	close(fd);
	return err;
}

/* zlib ends a stream that was cut off with 0 bytes and Z_BUF_ERROR. */
static int read_error(gzFile file, int saved_errno)
{
	int code;

	gzerror(file, &code);
	switch (code) {
	case Z_OK:
	case Z_STREAM_END:
		return 0;
	case Z_ERRNO:
		return saved_errno ? -saved_errno : -EIO;
	case Z_BUF_ERROR:
		return -ENODATA;
	case Z_MEM_ERROR:
		return -ENOMEM;
	default:
		return -EBADMSG;
	}
}

long input_read(void *ctx, void *buf, size_t len)
{
	struct input *in = ctx;
	int n;

	if (len > INT_MAX)
		len = INT_MAX;
	errno = 0;
	n = gzread(in->file, buf, (unsigned int)len);
	if (n > 0)
		return n;
	return read_error(in->file, errno);
}

const char *input_name(const struct input *in)
{
	return in->name;
}

void input_close(struct input *in)
{
	if (!in)
		return;
	gzclose_r(in->file);
	free(in->name);
	free(in);
}

const char *input_error(int err)
{
	switch (err) {
	case -ENOTTY:
		return "is a terminal (give a file, or pipe a trace in)";
	case -EBADMSG:
		return "corrupt gzip data";
	case -ENODATA:
		return "gzip data ends early (was the copy cut off?)";
	default:
		return strerror(-err);
	}
}
