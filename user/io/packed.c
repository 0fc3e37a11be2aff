// SPDX-License-Identifier: GPL-2.0
/*
 * gzip (RFC 1952) by zlib, zstd (RFC 8878) by libzstd.
 */
#include <endian.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>
#include <zstd_errors.h>

#include "base/array.h"
#include "fxt/format.h"
#include "packed.h"
#include "records.h"

#define FRAME_HEAD_BYTES	6	/* magic number, descriptor, window: no size, no checksum, no dictionary */
#define FRAME_END_BYTES		3
#define INITIALIZATION_WORDS	2
#define PIECE_BYTES		(256U << 10)	/* that are decompressed at a time: they stay in a CPU's cache */
#define KEPT_BYTES		(2U << 20)	/* of memory from one block to the next one; a long one has its own */

struct packer {
	enum compress_method method;
	z_stream gzip;
	bool has_gzip;
	ZSTD_CCtx *zstd;
	unsigned char *buf;		/* one that blocks are compressed to, and copied from */
	size_t buf_bytes;
};

struct unpacker {
	enum compress_method method;
	z_stream gzip;
	bool has_gzip;
	ZSTD_DCtx *zstd;
	unsigned char *buf;		/* of records, the last of which may not be whole */
	size_t len, cap;
};

/* Deflate, no name, no time, made on Unix. */
static const unsigned char gzip_head[] = { 0x1f, 0x8b, Z_DEFLATED, 0, 0, 0, 0, 0, 0, 3 };
/* A last block, raw, of no bytes. */
static const unsigned char frame_end[FRAME_END_BYTES] = { 1, 0, 0 };

/* ---- compressing ---------------------------------------------------------------------------- */

int packer_open(struct packer **out, const struct compress_cfg *cfg)
{
	struct packer *p;
	int err = 0;

	if (cfg->method == COMPRESS_NONE || cfg->level < 1 || cfg->level > compress_level_max(cfg->method))
		return -EINVAL;
	p = calloc(1, sizeof(*p));
	if (!p)
		return -ENOMEM;
	p->method = cfg->method;
	if (cfg->method == COMPRESS_GZIP) {
		p->has_gzip = deflateInit2(&p->gzip, cfg->level, Z_DEFLATED, -MAX_WBITS, MAX_MEM_LEVEL,
					   Z_DEFAULT_STRATEGY) == Z_OK;
		err = p->has_gzip ? 0 : -ENOMEM;
	} else {
		p->zstd = ZSTD_createCCtx();
		err = !p->zstd ? -ENOMEM :
		      ZSTD_isError(ZSTD_CCtx_setParameter(p->zstd, ZSTD_c_compressionLevel, cfg->level)) ? -EINVAL : 0;
	}
	if (err) {
		packer_close(p);
		return err;
	}
	*out = p;
	return 0;
}

static void release(struct packer *p)
{
	free(p->buf);
	p->buf = NULL;
	p->buf_bytes = 0;
}

static int reserve(struct packer *p, size_t bytes)
{
	if (bytes <= p->buf_bytes)
		return 0;
	release(p);
	p->buf = malloc(bytes);
	p->buf_bytes = p->buf ? bytes : 0;
	return p->buf ? 0 : -ENOMEM;
}

/* zlib and libzstd: more than a flush adds to what they call the bound. */
#define FLUSH_BYTES	64

static int pack_gzip(struct packer *p, const void *data, size_t len, size_t *used)
{
	int err = reserve(p, deflateBound(&p->gzip, len) + FLUSH_BYTES);

	if (err)
		return err;
	deflateReset(&p->gzip);
	p->gzip.next_in = (unsigned char *)data;
	p->gzip.avail_in = len;
	p->gzip.next_out = p->buf;
	p->gzip.avail_out = p->buf_bytes;
	if (deflate(&p->gzip, Z_SYNC_FLUSH) != Z_OK || p->gzip.avail_in || !p->gzip.avail_out)
		return -EIO;
	*used = p->buf_bytes - p->gzip.avail_out;
	return 0;
}

/* Flushed and not ended, so that the head of every frame is the same. */
static int pack_zstd(struct packer *p, const void *data, size_t len, size_t *used)
{
	int err = reserve(p, ZSTD_compressBound(len) + FLUSH_BYTES);
	ZSTD_inBuffer in = { data, len, 0 };
	ZSTD_outBuffer out = { p->buf, p->buf_bytes, 0 };
	size_t left;

	if (err)
		return err;
	ZSTD_CCtx_reset(p->zstd, ZSTD_reset_session_only);
	left = ZSTD_compressStream2(p->zstd, &out, &in, ZSTD_e_flush);
	if (ZSTD_isError(left))
		return ZSTD_getErrorCode(left) == ZSTD_error_memory_allocation ? -ENOMEM : -EIO;
	if (left || in.pos < len || out.size - out.pos < FRAME_END_BYTES || out.pos < FRAME_HEAD_BYTES || p->buf[4])
		return -EIO;
	memcpy(p->buf + out.pos, frame_end, FRAME_END_BYTES);
	*used = out.pos + FRAME_END_BYTES;
	return 0;
}

int packer_pack(struct packer *p, const void *records, size_t len, struct packed *out)
{
	const bool is_gzip = p->method == COMPRESS_GZIP;
	size_t used = 0;
	int err = is_gzip ? pack_gzip(p, records, len, &used) : pack_zstd(p, records, len, &used);

	if (err)
		return err;
	*out = (struct packed){ .data = malloc(used), .len = used, .raw_bytes = len };
	if (out->data)
		memcpy(out->data, p->buf, used);
	if (p->buf_bytes > KEPT_BYTES)
		release(p);
	if (!out->data)
		return -ENOMEM;
	if (is_gzip)
		out->crc = crc32(0, records, len);
	return 0;
}

void packer_close(struct packer *p)
{
	if (!p)
		return;
	if (p->has_gzip)
		deflateEnd(&p->gzip);
	ZSTD_freeCCtx(p->zstd);
	free(p->buf);
	free(p);
}

void packed_free(struct packed *b)
{
	free(b->data);
	*b = (struct packed){ 0 };
}

/* ---- decompressing -------------------------------------------------------------------------- */

int unpacker_open(struct unpacker **out, enum compress_method method)
{
	struct unpacker *u = calloc(1, sizeof(*u));

	if (!u)
		return -ENOMEM;
	u->method = method;
	if (method == COMPRESS_GZIP)
		u->has_gzip = inflateInit2(&u->gzip, -MAX_WBITS) == Z_OK;
	else
		u->zstd = ZSTD_createDCtx();
	if (!u->has_gzip && !u->zstd) {
		unpacker_close(u);
		return -ENOMEM;
	}
	*out = u;
	return 0;
}

static int begin_block(struct unpacker *u, const struct packed *b)
{
	u->len = 0;
	if (u->method == COMPRESS_ZSTD)
		return ZSTD_isError(ZSTD_DCtx_reset(u->zstd, ZSTD_reset_session_only)) ? -EIO : 0;
	u->gzip.next_in = b->data;
	u->gzip.avail_in = b->len;
	return inflateReset(&u->gzip) == Z_OK ? 0 : -EIO;
}

/* Adds some bytes to the buffer, and at most @room. 0, -ENOMEM or -EIO. */
static int add_gzip(struct unpacker *u, size_t room)
{
	int ret;

	u->gzip.next_out = u->buf + u->len;
	u->gzip.avail_out = room;
	ret = inflate(&u->gzip, Z_SYNC_FLUSH);
	if (ret != Z_OK && ret != Z_BUF_ERROR)
		return ret == Z_MEM_ERROR ? -ENOMEM : -EIO;
	u->len += room - u->gzip.avail_out;
	return u->gzip.avail_out == room ? -EIO : 0;
}

static int add_zstd(struct unpacker *u, ZSTD_inBuffer *in, size_t room)
{
	ZSTD_outBuffer out = { u->buf + u->len, room, 0 };
	size_t at, ret;

	do {
		at = in->pos;
		ret = ZSTD_decompressStream(u->zstd, &out, in);
		if (ZSTD_isError(ret))
			return ZSTD_getErrorCode(ret) == ZSTD_error_memory_allocation ? -ENOMEM : -EIO;
	} while (!out.pos && in->pos > at);
	u->len += out.pos;
	return out.pos ? 0 : -EIO;
}

static int hand_on(struct unpacker *u, int (*take)(void *ctx, const void *records, size_t len), void *ctx)
{
	const size_t bytes = records_whole_bytes(u->buf, u->len);
	int err;

	if (!bytes)
		return 0;	/* a record goes on, or has no end, which is found at that of the block */
	err = take(ctx, u->buf, bytes);
	memmove(u->buf, u->buf + bytes, u->len - bytes);
	u->len -= bytes;
	return err;
}

static int add(struct unpacker *u, ZSTD_inBuffer *in, size_t left, uint32_t *crc)
{
	/* More only for a record that is longer. */
	const size_t before = u->len, wanted = before < PIECE_BYTES ? PIECE_BYTES : 2 * before;
	int err;

	if (array_reserve(u->buf, before, u->cap, wanted - before))
		return -ENOMEM;
	if (u->method == COMPRESS_ZSTD)
		return add_zstd(u, in, left < u->cap - before ? left : u->cap - before);
	err = add_gzip(u, left < u->cap - before ? left : u->cap - before);
	if (!err)
		*crc = crc32(*crc, u->buf + before, u->len - before);
	return err;
}

int unpacker_each(struct unpacker *u, const struct packed *b, int (*take)(void *ctx, const void *records, size_t len),
		  void *ctx)
{
	ZSTD_inBuffer in = { b->data, b->len, 0 };
	size_t left = b->raw_bytes, before;
	uint32_t crc = 0;
	int err = begin_block(u, b);

	while (!err && left) {
		before = u->len;
		err = add(u, &in, left, &crc);
		left -= u->len - before;
		err = err ? err : hand_on(u, take, ctx);
	}
	if (!err && (u->len || crc != b->crc))
		err = -EIO;
	if (u->cap > KEPT_BYTES) {
		free(u->buf);
		u->buf = NULL;
		u->cap = 0;
	}
	return err;
}

void unpacker_close(struct unpacker *u)
{
	if (!u)
		return;
	if (u->has_gzip)
		inflateEnd(&u->gzip);
	ZSTD_freeDCtx(u->zstd);
	free(u->buf);
	free(u);
}

/* ---- the stream ----------------------------------------------------------------------------- */

/*
 * Two blocks of a frame, compressed by hand, with two initialization records in them. Their three sequences leave the
 * offsets 1, 4 and 8, as at the beginning of a frame. A match copies at least three bytes; bytes 4 to 7 of both words
 * are 0, as are 1 to 3 of the first one:
 *
 *	byte	0 to 11		literals		12 to 15	match, 8 bytes before
 *		16 to 20	literals		21 to 23	match, 4 bytes before
 *		24 to 28	literals		29 to 31	match, 1 byte before
 *
 * Codes of each kind are the same within a block (mode RLE), so all bits there are to read are those of the offsets:
 * offset + 3 less the power of two that is its code, the first one in the highest bits, below a 1.
 */
#define LITERALS(n)		((n) << 3)		/* raw */
#define ALL_RLE			0x54
#define BLOCK_HEAD(bytes)	(2 << 1 | (bytes) << 3)	/* compressed, not the last one */

static size_t put_reset(uint64_t ticks, unsigned char *out)
{
	const uint64_t words[INITIALIZATION_WORDS] = {
		htole64(FXT_PUT(FXT_INITIALIZATION, FXT_F_TYPE) | FXT_PUT(INITIALIZATION_WORDS, FXT_F_SIZE)),
		htole64(ticks),
	};
	const unsigned char first[] = { BLOCK_HEAD(19), 0, 0, LITERALS(12) };
	const unsigned char second[] = { BLOCK_HEAD(17), 0, 0, LITERALS(10) };
	const unsigned char copy_8[] = { 1, ALL_RLE, 12, 3, 1, 0x0b }, copy_4_1[] = { 2, ALL_RLE, 5, 2, 0, 0x1c };
	unsigned char raw[sizeof(words)], *at = out;

	memcpy(raw, words, sizeof(raw));
	at = mempcpy(at, first, sizeof(first));
	at = mempcpy(at, raw, 12);
	at = mempcpy(at, copy_8, sizeof(copy_8));
	at = mempcpy(at, second, sizeof(second));
	at = mempcpy(at, raw, 5);
	at = mempcpy(at, raw + 8, 5);
	at = mempcpy(at, copy_4_1, sizeof(copy_4_1));
	return at - out;
}

size_t packed_stream_add(struct packed_stream *s, const struct packed *b, unsigned char before[PACKED_BEFORE_MAX],
			 struct iovec *data)
{
	size_t cnt = 0;

	if (s->method == COMPRESS_GZIP) {
		if (!s->blocks)
			cnt = (unsigned char *)mempcpy(before, gzip_head, sizeof(gzip_head)) - before;
		s->crc = crc32_combine(s->crc, b->crc, b->raw_bytes);
		*data = (struct iovec){ b->data, b->len };
	} else if (!s->blocks) {
		*data = (struct iovec){ b->data, b->len - FRAME_END_BYTES };
	} else {
		cnt = put_reset(s->ticks, before);
		s->raw_bytes += 2 * INITIALIZATION_WORDS * sizeof(uint64_t);
		*data = (struct iovec){ b->data + FRAME_HEAD_BYTES, b->len - FRAME_HEAD_BYTES - FRAME_END_BYTES };
	}
	s->raw_bytes += b->raw_bytes;
	s->blocks++;
	return cnt;
}

size_t packed_stream_end(const struct packed_stream *s, unsigned char end[COMPRESS_END_BYTES_MAX])
{
	return compress_end(s->method, s->crc, (uint32_t)s->raw_bytes, end);
}
