/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Blocks of FXT records, each compressed by itself, and one stream made of any of them, in any order, without
 * compressing them again.
 *
 * One stream, for the reason in compress.h. What gzip needs for it: blocks that end at a byte and refer to nothing before
 * them, and a checksum that is combined. In a frame of zstd a block also takes over the last three offsets of the one
 * before. Between two blocks there are therefore two records that set them to what they are in a new frame: the
 * initialization record that the trace has anyway, with its number of ticks.
 */
#ifndef IO_PACKED_H
#define IO_PACKED_H

#include <stddef.h>
#include <stdint.h>

#include "compress.h"

#define PACKED_BEFORE_MAX	64	/* bytes */

/* A block. All zero: none. */
struct packed {
	unsigned char *data;		/* malloc()ed; of zstd a whole frame */
	size_t len;
	size_t raw_bytes;
	uint32_t crc;			/* gzip: of the raw bytes */
};

struct packer;

/* To compress, by one thread. 0, -EINVAL if there is no such method or level, or -ENOMEM. */
int packer_open(struct packer **out, const struct compress_cfg *cfg);
/* Compresses whole records, more than none. 0 with *@out, for packed_free(); -ENOMEM or -EIO. */
int packer_pack(struct packer *p, const void *records, size_t len, struct packed *out);
/* NULL is fine. */
void packer_close(struct packer *p);
void packed_free(struct packed *b);

struct unpacker;

/* To decompress, by one thread. 0 or -ENOMEM. */
int unpacker_open(struct unpacker **out, enum compress_method method);
/*
 * Decompresses @b, made with that method, and calls @take with its records, which are whole, a part at a time: memory for
 * it does not grow with the block. 0, what @take returned if that is not 0, -ENOMEM, or -EIO: it is damaged, of which
 * @take may have got the beginning.
 */
int unpacker_each(struct unpacker *u, const struct packed *b, int (*take)(void *ctx, const void *records, size_t len),
		  void *ctx);
/* NULL is fine. */
void unpacker_close(struct unpacker *u);

/* A stream that is written: all zero but for @method and @ticks. */
struct packed_stream {
	enum compress_method method;
	uint64_t ticks;			/* per second, as in the trace; below 2^32 */
	uint32_t crc;
	uint64_t raw_bytes;		/* so far, with the records between blocks */
	size_t blocks;
};

/*
 * Puts a block at the end of the stream: what is to be written before it is put at @before, the number of these bytes
 * returned, and *@data is what is then to be written.
 */
size_t packed_stream_add(struct packed_stream *s, const struct packed *b, unsigned char before[PACKED_BEFORE_MAX],
			 struct iovec *data);
/* Puts at @end what ends the stream, once it has a block; returns how many bytes that are. */
size_t packed_stream_end(const struct packed_stream *s, unsigned char end[COMPRESS_END_BYTES_MAX]);

#endif
