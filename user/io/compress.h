/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Compression of a stream that may end at any time: it consists of pieces, each of which
 * can be decompressed once it is there, and the bytes that end the stream after a piece are known
 * before it is known whether another one follows.
 *
 * It is one stream from beginning to end, since the Perfetto UI takes 32 MiB of memory
 * for each stream in a file.
 */
#ifndef IO_COMPRESS_H
#define IO_COMPRESS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

enum compress_method {
	COMPRESS_NONE,
	COMPRESS_GZIP,
	COMPRESS_ZSTD,
	COMPRESS_METHOD_CNT
};

#define COMPRESS_END_BYTES_MAX	10

struct compress_cfg {
	enum compress_method method;
	int level;			/* 1 to compress_level_max() */
};

struct compressor;

/*
 * Puts at @end what ends a stream that is after a block, and at a byte, of which gzip has @crc and the length of the raw
 * bytes; returns how many bytes that are.
 */
size_t compress_end(enum compress_method method, uint32_t crc, uint32_t raw_bytes, unsigned char end[COMPRESS_END_BYTES_MAX]);

/* "gzip", "zstd" */
const char *compress_name(enum compress_method method);
/* What the names of such files end with: ".gz", ".zst". */
const char *compress_suffix(enum compress_method method);
int compress_level_max(enum compress_method method);
/* One that keeps up with a busy machine. */
int compress_level_default(enum compress_method method);

/* For pieces of up to @piece_max bytes. 0, -EINVAL if there is no such level, or -ENOMEM. */
int compressor_open(struct compressor **out, const struct compress_cfg *cfg, size_t piece_max);
/*
 * Compresses the piece of @len bytes that follows. *@out is it, until the next call.
 * 0 or -errno, after which there is no more to be done with it.
 */
int compressor_add(struct compressor *c, const void *data, size_t len, struct iovec *out);
/* Puts at @end what would end the stream here; returns how many bytes that are. */
size_t compressor_end(const struct compressor *c, unsigned char end[COMPRESS_END_BYTES_MAX]);
/* NULL is fine. */
void compressor_close(struct compressor *c);

#endif
