// SPDX-License-Identifier: GPL-2.0
/*
 * gzip: RFC 1952, and RFC 1951 for its blocks. zstd: RFC 8878, "Frames" and "Blocks".
 */
#include "repair.h"

#include <endian.h>
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "compress.h"

#define GZIP_BYTES_MAX		(256 << 20)
#define CHUNK_BYTES		(64U << 10)
#define ZSTD_FRAME_MAGIC	0xfd2fb528U
#define ZSTD_SKIPPABLE		0x184d2a50U	/* and the 15 after it */

struct repair {
	int fd;
	uint64_t bytes;			/* of the file */
	bool has_no_end;		/* the last stream */
	uint64_t at;			/* where it can be ended, and by what; if it has no block that is whole, where it begins */
	unsigned char end[COMPRESS_END_BYTES_MAX];
	size_t end_bytes;
};

static bool read_at(const struct repair *r, void *data, size_t len, uint64_t at)
{
	return pread(r->fd, data, len, (off_t)at) == (ssize_t)len;
}

static void set_end(struct repair *r, enum compress_method method, uint64_t at, uint32_t crc, uint32_t raw_bytes)
{
	r->at = at;
	r->end_bytes = compress_end(method, crc, raw_bytes, r->end);
}

/* ---- zstd --------------------------------------------------------------------------------- */

/* The end of the frame at @at, or 0. Not of one that has a checksum or says how much there is in it. */
static uint64_t walk_zstd_frame(struct repair *r, uint64_t at)
{
	static const unsigned int dictionary_bytes[] = { 0, 1, 2, 4 };
	unsigned char flags = 0, bytes[4] = { 0 };
	uint32_t header;
	uint64_t next;

	r->has_no_end = !read_at(r, &flags, 1, at + 4) || !(flags & 0xe4);
	r->at = at;
	r->end_bytes = 0;
	at += 6 + dictionary_bytes[flags & 3];
	for (; r->has_no_end; at = next) {
		if (!read_at(r, bytes, 3, at))
			break;
		memcpy(&header, bytes, sizeof(header));
		header = le32toh(header);
		next = at + 3 + ((header >> 1 & 3) == 1 ? 1 : header >> 3);
		if (next > r->bytes || (header >> 1 & 3) == 3)
			break;
		if (header & 1) {
			r->has_no_end = false;
			return next;
		}
		set_end(r, COMPRESS_ZSTD, next, 0, 0);
	}
	return 0;
}

static uint64_t skip_zstd_frame(const struct repair *r, uint64_t at)
{
	uint32_t bytes;

	return read_at(r, &bytes, sizeof(bytes), at + 4) ? at + 8 + le32toh(bytes) : 0;
}

static int find_zstd(struct repair *r)
{
	uint64_t at = 0, end;
	uint32_t magic;

	while (at < r->bytes) {
		if (!read_at(r, &magic, sizeof(magic), at))
			return 0;
		magic = le32toh(magic);
		if ((magic & ~15U) == ZSTD_SKIPPABLE)
			end = skip_zstd_frame(r, at);
		else
			end = magic == ZSTD_FRAME_MAGIC ? walk_zstd_frame(r, at) : 0;
		if (!end)
			return 0;
		at = end;
	}
	return 0;
}

/* ---- gzip --------------------------------------------------------------------------------- */

/*
 * Reads one stream from @at on; its end, or 0. A block after whose end the next one begins with a byte, as all do that end a
 * piece, is where it can be ended.
 */
static uint64_t walk_gzip_stream(struct repair *r, z_stream *z, uint64_t at)
{
	static unsigned char in[CHUNK_BYTES], out[CHUNK_BYTES];
	uLong crc = crc32(0, NULL, 0);
	uint32_t raw_bytes = 0;
	int ret = Z_OK;
	ssize_t n;

	r->has_no_end = true;
	r->at = at;
	r->end_bytes = 0;
	z->avail_in = 0;
	while (ret == Z_OK || ret == Z_BUF_ERROR) {
		if (!z->avail_in) {
			n = pread(r->fd, in, sizeof(in), (off_t)at);
			if (n <= 0)
				return 0;
			z->next_in = in;
			z->avail_in = (uInt)n;
			at += (uint64_t)n;
		}
		z->next_out = out;
		z->avail_out = sizeof(out);
		ret = inflate(z, Z_BLOCK);
		crc = crc32(crc, out, (uInt)(sizeof(out) - z->avail_out));
		raw_bytes += (uint32_t)(sizeof(out) - z->avail_out);
		/* Not after the header. */
		if (ret == Z_OK && raw_bytes && (z->data_type & 128) && !(z->data_type & 7))
			set_end(r, COMPRESS_GZIP, at - z->avail_in, (uint32_t)crc, raw_bytes);
	}
	if (ret != Z_STREAM_END)
		return 0;
	r->has_no_end = false;
	return at - z->avail_in;
}

static int find_gzip(struct repair *r)
{
	z_stream z = { 0 };
	uint64_t at = 0;

	if (r->bytes > GZIP_BYTES_MAX)
		return 0;
	if (inflateInit2(&z, 16 + MAX_WBITS) != Z_OK)
		return -ENOMEM;
	do {
		at = walk_gzip_stream(r, &z, at);
	} while (at && at < r->bytes && inflateReset(&z) == Z_OK);
	inflateEnd(&z);
	return 0;
}

/* ---- both --------------------------------------------------------------------------------- */

static int write_end(const struct repair *r)
{
	const unsigned char *at = r->end, *end = r->end + r->end_bytes;
	ssize_t n;

	if (ftruncate(r->fd, (off_t)r->at) || lseek(r->fd, (off_t)r->at, SEEK_SET) < 0)
		return -errno;
	for (; at < end; at += n) {
		n = write(r->fd, at, (size_t)(end - at));
		if (n < 0)
			return -errno;
	}
	return 0;
}

int repair_compressed(int fd)
{
	struct repair r = { .fd = fd };
	unsigned char magic[4];
	struct stat st;
	int err = 0;

	if (fstat(fd, &st))
		return -errno;
	r.bytes = (uint64_t)st.st_size;
	if (!read_at(&r, magic, sizeof(magic), 0))
		return 0;
	if (!memcmp(magic, "\x28\xb5\x2f\xfd", 4))
		err = find_zstd(&r);
	else if (!memcmp(magic, "\x1f\x8b\x08", 3))
		err = find_gzip(&r);
	return err || !r.has_no_end ? err : write_end(&r);
}
