// SPDX-License-Identifier: GPL-2.0
/*
 * gzip (RFC 1952) by zlib, zstd (RFC 8878) by libzstd.
 *
 * Neither library lets a stream end and go on all the same. But after a flush both
 * formats are at the end of a block and of a byte, so that the few bytes of an empty
 * last block and of the trailer can be made here.
 */
#include <endian.h>
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>
#include <zstd_errors.h>

#include "compress.h"

#define FLUSH_BYTES	64	/* more than a flush adds to what the libraries call the bound */

struct compressor {
	const struct method *method;
	z_stream gzip;
	bool has_gzip;			/* and it is to be ended */
	uint32_t crc, raw_bytes;	/* of all pieces, as gzip's trailer has them */
	ZSTD_CCtx *zstd;
	unsigned char *buf;
	size_t buf_bytes, used;
};

static const struct method {
	const char *name, *suffix;
	int level_max, level_default;
	int (*open)(struct compressor *c, int level, size_t piece_max);
	int (*add)(struct compressor *c, const void *data, size_t len);
} methods[COMPRESS_METHOD_CNT];

/* ---- gzip ----------------------------------------------------------------- */

/* Deflate, no name, no time, made on Unix. */
static const unsigned char gzip_header[] = { 0x1f, 0x8b, Z_DEFLATED, 0, 0, 0, 0, 0, 0, 3 };

static int open_gzip(struct compressor *c, int level, size_t piece_max)
{
	if (deflateInit2(&c->gzip, level, Z_DEFLATED, -MAX_WBITS, MAX_MEM_LEVEL, Z_DEFAULT_STRATEGY) != Z_OK)
		return -ENOMEM;
	c->has_gzip = true;
	c->buf_bytes = sizeof(gzip_header) + deflateBound(&c->gzip, piece_max) + FLUSH_BYTES;
	return 0;
}

static int add_gzip(struct compressor *c, const void *data, size_t len)
{
	if (!c->gzip.total_in) {
		memcpy(c->buf, gzip_header, sizeof(gzip_header));
		c->used = sizeof(gzip_header);
	}
	c->gzip.next_in = (unsigned char *)data;
	c->gzip.avail_in = len;
	c->gzip.next_out = c->buf + c->used;
	c->gzip.avail_out = c->buf_bytes - c->used;
	if (deflate(&c->gzip, Z_SYNC_FLUSH) != Z_OK || c->gzip.avail_in || !c->gzip.avail_out)
		return -EIO;
	c->used = c->buf_bytes - c->gzip.avail_out;
	c->crc = crc32(c->crc, data, len);
	c->raw_bytes += len;
	return 0;
}

/* ---- zstd ----------------------------------------------------------------- */

static int open_zstd(struct compressor *c, int level, size_t piece_max)
{
	c->zstd = ZSTD_createCCtx();
	if (!c->zstd)
		return -ENOMEM;
	/* No checksum: it would have to be known without ending the frame. */
	if (ZSTD_isError(ZSTD_CCtx_setParameter(c->zstd, ZSTD_c_compressionLevel, level)))
		return -EINVAL;
	c->buf_bytes = ZSTD_compressBound(piece_max) + FLUSH_BYTES;
	return 0;
}

static int add_zstd(struct compressor *c, const void *data, size_t len)
{
	ZSTD_inBuffer in = { data, len, 0 };
	ZSTD_outBuffer out = { c->buf, c->buf_bytes, 0 };
	const size_t left = ZSTD_compressStream2(c->zstd, &out, &in, ZSTD_e_flush);

	if (ZSTD_isError(left))
		return ZSTD_getErrorCode(left) == ZSTD_error_memory_allocation ? -ENOMEM : -EIO;
	c->used = out.pos;
	return left ? -EIO : 0;
}

/* ---- both ----------------------------------------------------------------- */

static const struct method methods[COMPRESS_METHOD_CNT] = {
	[COMPRESS_GZIP] = { "gzip", ".gz", 9, 3, open_gzip, add_gzip },
	[COMPRESS_ZSTD] = { "zstd", ".zst", 19, 3, open_zstd, add_zstd },
};

/*
 * gzip: the last block, which is a bit to say so, its kind, and the code for the end of a block; then the trailer. zstd: a
 * last block, raw, of no bytes.
 */
size_t compress_end(enum compress_method method, uint32_t crc, uint32_t raw_bytes, unsigned char end[COMPRESS_END_BYTES_MAX])
{
	crc = htole32(crc);
	raw_bytes = htole32(raw_bytes);
	if (method != COMPRESS_GZIP)
		return (size_t)((unsigned char *)mempcpy(end, "\x01\x00\x00", 3) - end);
	memcpy(end, "\x03\x00", 2);
	memcpy(end + 2, &crc, sizeof(crc));
	memcpy(end + 6, &raw_bytes, sizeof(raw_bytes));
	return 10;
}

const char *compress_name(enum compress_method method)
{
	return methods[method].name;
}

const char *compress_suffix(enum compress_method method)
{
	return methods[method].suffix;
}

int compress_level_max(enum compress_method method)
{
	return methods[method].level_max;
}

int compress_level_default(enum compress_method method)
{
	return methods[method].level_default;
}

int compressor_open(struct compressor **out, const struct compress_cfg *cfg, size_t piece_max)
{
	const struct method *method = &methods[cfg->method];
	struct compressor *c;
	int err;

	if (cfg->level < 1 || cfg->level > method->level_max)
		return -EINVAL;
	c = calloc(1, sizeof(*c));
	if (!c)
		return -ENOMEM;
	c->method = method;
	err = method->open(c, cfg->level, piece_max);
	if (!err) {
		c->buf = malloc(c->buf_bytes);
		err = c->buf ? 0 : -ENOMEM;
	}
	if (err) {
		compressor_close(c);
		return err;
	}
	*out = c;
	return 0;
}

int compressor_add(struct compressor *c, const void *data, size_t len, struct iovec *out)
{
	int err;

	c->used = 0;
	err = c->method->add(c, data, len);
	*out = (struct iovec){ c->buf, c->used };
	return err;
}

size_t compressor_end(const struct compressor *c, unsigned char end[COMPRESS_END_BYTES_MAX])
{
	return compress_end((enum compress_method)(c->method - methods), c->crc, c->raw_bytes, end);
}

void compressor_close(struct compressor *c)
{
	if (!c)
		return;
	if (c->has_gzip)
		deflateEnd(&c->gzip);
	ZSTD_freeCCtx(c->zstd);
	free(c->buf);
	free(c);
}
