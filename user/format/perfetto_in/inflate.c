// SPDX-License-Identifier: GPL-2.0
/*
 * Packets in a packet, as a stream: zlib (RFC 1950) or zstd (RFC 8878).
 */
#include <errno.h>
#include <stdlib.h>
#include <zlib.h>
#include <zstd.h>

#include "input.h"

struct pf_inflate {
	bool is_zstd, ended;
	size_t bytes;
	z_stream zlib;
	ZSTD_DStream *zstd;
	ZSTD_inBuffer in;
};

int pf_inflate_open(struct pf_inflate **out, uint32_t number, struct pf_cursor data)
{
	struct pf_inflate *z = calloc(1, sizeof(*z));
	size_t len = (size_t)(data.end - data.at);
	bool is_open;

	if (!z)
		return -ENOMEM;
	z->is_zstd = number == PF_PACKET_COMPRESSED_ZSTD;
	z->in = (ZSTD_inBuffer){ data.at, len, 0 };
	z->zlib.next_in = (unsigned char *)data.at;
	z->zlib.avail_in = (unsigned int)len;
	if (z->is_zstd)
		z->zstd = ZSTD_createDStream();
	is_open = z->is_zstd ? z->zstd != NULL : inflateInit(&z->zlib) == Z_OK;
	if (!is_open) {
		free(z);
		return -ENOMEM;
	}
	*out = z;
	return 0;
}

static long read_zlib(struct pf_inflate *z, void *buf, size_t len)
{
	int ret;

	z->zlib.next_out = buf;
	z->zlib.avail_out = (unsigned int)len;
	ret = inflate(&z->zlib, Z_NO_FLUSH);
	z->ended = ret == Z_STREAM_END;
	if (ret == Z_MEM_ERROR)
		return -ENOMEM;
	len -= z->zlib.avail_out;
	/* What came out before the damage counts. */
	return len || z->ended ? (long)len : -EBADMSG;
}

static long read_zstd(struct pf_inflate *z, void *buf, size_t len)
{
	ZSTD_outBuffer out = { buf, len, 0 };
	size_t ret = 1;

	while (!out.pos && ret && !ZSTD_isError(ret) && z->in.pos <= z->in.size) {
		size_t before = z->in.pos;

		ret = ZSTD_decompressStream(z->zstd, &out, &z->in);
		if (!out.pos && z->in.pos == before)
			break;
	}
	z->ended = !ret && z->in.pos == z->in.size;
	return out.pos || z->ended ? (long)out.pos : -EBADMSG;
}

long pf_inflate_read(void *ctx, void *buf, size_t len)
{
	struct pf_inflate *z = ctx;
	long got;

	if (z->ended)
		return 0;
	if (z->bytes > PF_INFLATED_BYTES_MAX)
		return -EFBIG;
	got = z->is_zstd ? read_zstd(z, buf, len) : read_zlib(z, buf, len);
	z->bytes += got > 0 ? (size_t)got : 0;
	return got;
}

void pf_inflate_close(struct pf_inflate *z)
{
	if (!z)
		return;
	if (z->is_zstd)
		ZSTD_freeDStream(z->zstd);
	else
		inflateEnd(&z->zlib);
	free(z);
}
