// SPDX-License-Identifier: GPL-2.0
/*
 * Reading traces: the file, whose compression is recognised by its first bytes, and its
 * decompression. Memory does not grow with the output, and all that can be decompressed
 * is returned before damage is reported.
 */
#include "input.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>
#include <zstd_errors.h>

#define BUFFER_BYTES	(256 * 1024)
#define MAGIC_BYTES	4

struct packing;

struct input {
	int fd;
	char *name;
	const struct packing *packing;	/* NULL: none, or not looked at yet */
	bool begun;
	bool ended;			/* nothing follows what is in the buffer */
	bool between;			/* a part has ended: another may begin, or the input ends */
	int err;			/* for good */
	unsigned char *buf;
	size_t pos, end;		/* of what was read and not taken yet */
	z_stream gzip;
	ZSTD_DStream *zstd;
};

/* A way to compress. A file may have several parts, one after the other. */
struct packing {
	unsigned char magic[MAGIC_BYTES];
	size_t magic_bytes;
	int (*open)(struct input *in);
	/* Takes some of the buffer, sets *@len to what came out; 1: the part ended, 0, or -errno. */
	int (*unpack)(struct input *in, unsigned char *out, size_t *len);
	void (*close)(struct input *in);
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
	int fd;

	fd = open_fd(path);
	if (fd < 0)
		return fd;
	in = calloc(1, sizeof(*in));
	if (in) {
		in->fd = fd;
		in->name = strdup(strcmp(path, "-") ? path : "stdin");
		in->buf = malloc(BUFFER_BYTES);
	}
	if (!in || !in->name || !in->buf) {
		if (!in)
			close(fd);
		input_close(in);
		return -ENOMEM;
	}
	*out = in;
	return 0;
}

/* ---- how it is packed --------------------------------------------------------- */

static int open_gzip(struct input *in)
{
	return inflateInit2(&in->gzip, 16 + MAX_WBITS) == Z_OK ? 0 : -ENOMEM;
}

static int unpack_gzip(struct input *in, unsigned char *out, size_t *len)
{
	z_stream *z = &in->gzip;
	const size_t space = *len < UINT32_MAX ? *len : UINT32_MAX;
	int ret;

	z->next_in = in->buf + in->pos;
	z->avail_in = (uInt)(in->end - in->pos);
	z->next_out = out;
	z->avail_out = (uInt)space;
	ret = inflate(z, Z_NO_FLUSH);
	in->pos = in->end - z->avail_in;
	*len = space - z->avail_out;
	switch (ret) {
	case Z_OK:
	case Z_BUF_ERROR:	/* it needs more input */
		return 0;
	case Z_STREAM_END:
		inflateReset(z);
		return 1;
	case Z_MEM_ERROR:
		return -ENOMEM;
	default:
		return -EBADMSG;
	}
}

static void close_gzip(struct input *in)
{
	inflateEnd(&in->gzip);
}

static int open_zstd(struct input *in)
{
	in->zstd = ZSTD_createDStream();
	return in->zstd ? 0 : -ENOMEM;
}

static int unpack_zstd(struct input *in, unsigned char *out, size_t *len)
{
	ZSTD_inBuffer from = { in->buf, in->end, in->pos };
	ZSTD_outBuffer to = { out, *len, 0 };
	size_t ret = ZSTD_decompressStream(in->zstd, &to, &from);

	in->pos = from.pos;
	*len = to.pos;
	if (!ZSTD_isError(ret))
		return !ret;
	switch (ZSTD_getErrorCode(ret)) {
	case ZSTD_error_memory_allocation:
		return -ENOMEM;
	case ZSTD_error_frameParameter_windowTooLarge:
		return -EFBIG;
	default:
		return -EBADMSG;
	}
}

static void close_zstd(struct input *in)
{
	ZSTD_freeDStream(in->zstd);
}

static const struct packing packings[] = {
	{ { 0x1f, 0x8b }, 2, open_gzip, unpack_gzip, close_gzip },
	{ { 0x28, 0xb5, 0x2f, 0xfd }, 4, open_zstd, unpack_zstd, close_zstd },
};

/* ---- reading ------------------------------------------------------------------ */

static long read_fd(int fd, void *buf, size_t len)
{
	ssize_t n;

	do
		n = read(fd, buf, len);
	while (n < 0 && errno == EINTR);
	return n < 0 ? -errno : n;
}

/* Reads until @cnt bytes are there or no more come. 0 or -errno. */
static int need(struct input *in, size_t cnt)
{
	long n;

	if (in->pos == in->end)
		in->pos = in->end = 0;
	if (BUFFER_BYTES - in->pos < cnt) {
		memmove(in->buf, in->buf + in->pos, in->end - in->pos);
		in->end -= in->pos;
		in->pos = 0;
	}
	while (in->end - in->pos < cnt && !in->ended) {
		n = read_fd(in->fd, in->buf + in->end, BUFFER_BYTES - in->end);
		if (n < 0)
			return (int)n;
		in->end += (size_t)n;
		in->ended = !n;
	}
	return 0;
}

static bool has_magic(const struct input *in, const struct packing *p)
{
	return in->end - in->pos >= p->magic_bytes && !memcmp(in->buf + in->pos, p->magic, p->magic_bytes);
}

static int begin(struct input *in)
{
	size_t i;
	int err = need(in, MAGIC_BYTES);

	for (i = 0; !err && i < sizeof(packings) / sizeof(*packings); i++) {
		if (!has_magic(in, &packings[i]))
			continue;
		err = packings[i].open(in);
		if (!err)
			in->packing = &packings[i];
	}
	return err;
}

/* After a part: another one, nothing, or what does not belong there. Zeros may fill a tape's block. 1: go on. */
static int next_part(struct input *in)
{
	int err;

	do {
		err = need(in, MAGIC_BYTES);
		if (err || in->pos == in->end)
			return err;
		if (has_magic(in, in->packing)) {
			in->between = false;
			return 1;
		}
	} while (!in->buf[in->pos++]);
	return -EBADMSG;
}

static long unpack(struct input *in, void *out, size_t len)
{
	size_t n;
	int ret;

	for (;;) {
		ret = in->between ? next_part(in) : need(in, 1) ?: 1;
		if (ret <= 0)
			return ret;
		n = len;
		ret = in->packing->unpack(in, out, &n);
		in->between = ret > 0;
		if (ret < 0)
			in->err = ret;
		if (n)
			return (long)n;
		if (ret < 0)
			return ret;
		if (!ret && in->ended && in->pos == in->end)
			return -ENODATA;
	}
}

static long read_plain(struct input *in, void *out, size_t len)
{
	size_t n = in->end - in->pos;

	if (!n)
		return read_fd(in->fd, out, len);
	if (n > len)
		n = len;
	memcpy(out, in->buf + in->pos, n);
	in->pos += n;
	return (long)n;
}

/* What it is packed in is looked at once. */
static void begin_once(struct input *in)
{
	if (in->begun || in->err)
		return;
	in->begun = true;
	in->err = begin(in);
}

long input_read(void *ctx, void *buf, size_t len)
{
	struct input *in = ctx;
	long n;

	begin_once(in);
	if (in->err || !len)
		return in->err;
	n = in->packing ? unpack(in, buf, len) : read_plain(in, buf, len);
	if (n < 0)
		in->err = (int)n;
	return n;
}

bool input_can_seek(struct input *in)
{
	struct stat st;

	begin_once(in);
	/* Of stdin it is not known where it began. */
	return !in->packing && !in->err && strcmp(in->name, "stdin") != 0 && !fstat(in->fd, &st) &&
	       S_ISREG(st.st_mode) && st.st_size > 0;
}

long input_read_at(const struct input *in, void *buf, size_t len, uint64_t offset)
{
	ssize_t n;

	do
		n = pread(in->fd, buf, len, (off_t)offset);
	while (n < 0 && errno == EINTR);
	return n < 0 ? -errno : n;
}

const char *input_name(const struct input *in)
{
	return in->name;
}

void input_close(struct input *in)
{
	if (!in)
		return;
	if (in->packing)
		in->packing->close(in);
	close(in->fd);
	free(in->buf);
	free(in->name);
	free(in);
}

bool input_was_readable(int err)
{
	return err == -EBADMSG || err == -ENODATA;
}

const char *input_error(int err)
{
	switch (err) {
	case -ENOTTY:
		return "is a terminal (give a file, or pipe a trace in)";
	case -EBADMSG:
		return "corrupt compressed data";
	case -ENODATA:
		return "compressed data ends early (was the copy or the recording cut off?)";
	case -EFBIG:
		return "needs more than 128 MiB to be decompressed (use zstd --long=31 -dc, and a pipe)";
	default:
		return strerror(-err);
	}
}
