// SPDX-License-Identifier: GPL-2.0
/*
 * Files of /proc and tracefs, whose size is known only once they have been read.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "array.h"
#include "file.h"

#define READ_BYTES	(16U << 10)	/* asked for at a time, at least */

static int read_all(int fd, size_t max_bytes, char **text, size_t *len)
{
	size_t cap = 0;
	ssize_t got;
	int err;

	for (;;) {
		err = array_reserve(*text, *len, cap, READ_BYTES);
		if (err)
			return err;
		got = read(fd, *text + *len, cap - 1 - *len);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return -errno;
		if (!got)
			break;
		*len += got;
		if (*len > max_bytes)
			return -EFBIG;
	}
	(*text)[*len] = 0;
	return 0;
}

int text_file_read(const char *path, size_t max_bytes, char **text, size_t *len)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), err;
	char *all = NULL;
	size_t all_len = 0;

	if (fd < 0)
		return -errno;
	err = read_all(fd, max_bytes, &all, &all_len);
	close(fd);
	if (err) {
		free(all);
		return err;
	}
	*text = all;
	*len = all_len;
	return 0;
}

/* "some avg10=0.00 avg60=0.00 avg300=0.00 total=0", and the same of "full". */
int pressure_read(int fd, const char *share, uint64_t *total_us)
{
	char text[256];
	const ssize_t len = pread(fd, text, sizeof(text) - 1, 0);
	const char *at;

	if (len < 0)
		return -errno;
	text[len] = 0;
	at = strstr(text, share);
	at = at ? strstr(at, "total=") : NULL;
	if (!at)
		return -EIO;
	*total_us = strtoull(at + strlen("total="), NULL, 10);
	return 0;
}
