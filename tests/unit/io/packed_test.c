// SPDX-License-Identifier: GPL-2.0
/*
 * Blocks that were compressed one by one and joined to one stream: any reader gets their bytes, and between those of
 * zstd two records that change nothing.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>

#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>

#include "fxt/format.h"
#include "io/packed.h"

#define BLOCKS		40U
#define BLOCK_MAX	(1U << 18)
#define LONG_BYTES	(12U * BLOCK_MAX)
#define TICKS		1000000000ULL

static const struct compress_cfg cfgs[] = {
	{ COMPRESS_GZIP, 1 }, { COMPRESS_GZIP, 3 }, { COMPRESS_GZIP, 9 },
	{ COMPRESS_ZSTD, 1 }, { COMPRESS_ZSTD, 3 }, { COMPRESS_ZSTD, 5 }, { COMPRESS_ZSTD, 12 }, { COMPRESS_ZSTD, 19 },
};

struct bytes {
	unsigned char *data;
	size_t len;
};

static uint64_t seed;

static uint64_t next_random(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed;
}

/* What is much like records, what repeats at 1, 4 and 8 bytes from its beginning on, or neither. */
static size_t fill(unsigned char *to, unsigned int kind)
{
	const size_t len = 8 + next_random() % (BLOCK_MAX / 8 - 1) * 8;
	size_t i;

	for (i = 0; i < len; i++) {
		if (kind % 4 == 0)
			to[i] = (unsigned char)(i % 32 < 24 ? i % 32 : next_random());
		else if (kind % 4 == 1)
			to[i] = i < 9 + kind / 4 % 8 || next_random() % 100 == 0 ? (unsigned char)next_random() :
									       to[i - (kind % 8 ? 4 : 8)];
		else
			to[i] = kind % 4 == 2 ? (unsigned char)next_random() : (unsigned char)(next_random() % 300 ? 0 : 1);
	}
	return kind == 5 ? 8 : len;
}

static void add(struct bytes *b, const void *data, size_t len)
{
	memcpy(b->data + b->len, data, len);
	b->len += len;
}

static struct bytes make(size_t cap)
{
	struct bytes b = { .data = malloc(cap) };

	assert_non_null(b.data);
	return b;
}

/* The records that are put between two blocks. */
static void add_between(struct bytes *b)
{
	const uint64_t words[] = { 0x21, TICKS, 0x21, TICKS };

	add(b, words, sizeof(words));
}

static void join(struct packed_stream *s, const struct packed *block, struct bytes *to)
{
	unsigned char before[PACKED_BEFORE_MAX];
	struct iovec data;

	add(to, before, packed_stream_add(s, block, before, &data));
	add(to, data.iov_base, data.iov_len);
}

static void inflate_all(const struct bytes *file, struct bytes *out)
{
	z_stream z = { .next_in = file->data, .avail_in = file->len, .next_out = out->data, .avail_out = out->len };

	assert_int_equal(inflateInit2(&z, 16 + MAX_WBITS), Z_OK);
	assert_int_equal(inflate(&z, Z_FINISH), Z_STREAM_END);	/* checksum and length are right */
	assert_int_equal(z.avail_in, 0);
	assert_int_equal(z.avail_out, 0);
	inflateEnd(&z);
}

static void decompress_all(const struct bytes *file, struct bytes *out)
{
	ZSTD_DCtx *d = ZSTD_createDCtx();
	ZSTD_inBuffer in = { file->data, file->len, 0 };
	ZSTD_outBuffer to = { out->data, out->len, 0 };
	size_t left = 1;

	assert_non_null(d);
	while (left && (in.pos < in.size || to.pos < to.size)) {
		left = ZSTD_decompressStream(d, &to, &in);
		assert_false(ZSTD_isError(left));
	}
	assert_int_equal(left, 0);		/* one frame, and its end */
	assert_int_equal(in.pos, in.size);
	assert_int_equal(to.pos, to.size);
	ZSTD_freeDCtx(d);
	assert_true(ZSTD_findFrameCompressedSize(file->data, file->len) == file->len);
}

static void check_stream(const struct compress_cfg *cfg, const struct bytes *file, const struct bytes *expected)
{
	struct bytes out = make(expected->len + 1);

	out.len = expected->len;
	if (cfg->method == COMPRESS_GZIP)
		inflate_all(file, &out);
	else
		decompress_all(file, &out);
	assert_memory_equal(out.data, expected->data, expected->len);
	free(out.data);
}

/* Blocks in the order in which they were made, and in any other. */
static void check_method(const struct compress_cfg *cfg)
{
	struct bytes raw[BLOCKS], file = make(BLOCKS * 2 * BLOCK_MAX), expected = make(BLOCKS * 2 * BLOCK_MAX);
	struct packed_stream s = { .method = cfg->method, .ticks = TICKS };
	unsigned char end[COMPRESS_END_BYTES_MAX];
	struct packed packed[BLOCKS];
	struct packer *p;
	unsigned int i, at;

	assert_int_equal(packer_open(&p, cfg), 0);
	for (i = 0; i < BLOCKS; i++) {
		raw[i] = make(BLOCK_MAX);
		raw[i].len = fill(raw[i].data, i);
		assert_int_equal(packer_pack(p, raw[i].data, raw[i].len, &packed[i]), 0);
	}
	for (i = 0; i < BLOCKS; i++) {
		at = i < BLOCKS / 2 ? i : (unsigned int)(next_random() % BLOCKS);
		if (i && cfg->method == COMPRESS_ZSTD)
			add_between(&expected);
		add(&expected, raw[at].data, raw[at].len);
		join(&s, &packed[at], &file);
	}
	add(&file, end, packed_stream_end(&s, end));
	assert_int_equal(s.raw_bytes, expected.len);
	check_stream(cfg, &file, &expected);
	for (i = 0; i < BLOCKS; i++) {
		free(raw[i].data);
		packed_free(&packed[i]);
	}
	free(file.data);
	free(expected.data);
	packer_close(p);
}

static void test_joined(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cfgs) / sizeof(cfgs[0]); i++) {
		seed = 88172645463325252ULL + i;
		check_method(&cfgs[i]);
	}
}

/* Heads of records, each of at most @max words. */
static void shape(struct bytes *raw, uint64_t max)
{
	uint64_t head, left, words;
	size_t at;

	for (at = 0; at < raw->len; at += words * 8) {
		left = (raw->len - at) / 8;
		words = 1 + next_random() % (left < max ? left : max);
		head = words < 4096 ? FXT_PUT(FXT_EVENT, FXT_F_TYPE) | FXT_PUT(words, FXT_F_SIZE) :
		       FXT_PUT(FXT_LARGE, FXT_F_TYPE) | FXT_PUT(words, FXT_F_LARGE_SIZE);
		memcpy(raw->data + at, &head, sizeof(head));
	}
}

struct parts {
	struct bytes all;
	unsigned int cnt, refuse_at;
	size_t longest;
};

/* They are of whole records. */
static int take_part(void *ctx, const void *records, size_t len)
{
	const uint64_t *at = records, *end = at + len / 8;
	struct parts *p = ctx;

	assert_int_equal(len % 8, 0);
	while (at < end)
		at += FXT_RECORD_WORDS(*at);
	assert_ptr_equal(at, end);
	if (++p->cnt == p->refuse_at)
		return -ENOSPC;
	add(&p->all, records, len);
	p->longest = len > p->longest ? len : p->longest;
	return 0;
}

static struct parts unpack(struct unpacker *u, const struct packed *b, struct bytes out, unsigned int refuse_at,
			   int expected)
{
	struct parts p = { .all = { .data = out.data }, .refuse_at = refuse_at };

	assert_int_equal(unpacker_each(u, b, take_part, &p), expected);
	return p;
}

static void check_unpacker(struct packer *p, struct unpacker *u, struct bytes raw, struct bytes out)
{
	struct parts parts;
	struct packed b;

	assert_int_equal(packer_pack(p, raw.data, raw.len, &b), 0);
	assert_int_equal(b.raw_bytes, raw.len);
	parts = unpack(u, &b, out, 0, 0);
	assert_int_equal(parts.all.len, raw.len);
	assert_memory_equal(out.data, raw.data, raw.len);
	if (parts.cnt > 1)
		assert_int_equal(unpack(u, &b, out, 2, -ENOSPC).cnt, 2);
	b.len = b.len > 16 ? b.len / 2 : 1;	/* the last bytes of a short one may be those of the flush alone */
	parts = unpack(u, &b, out, 0, -EIO);
	assert_true(parts.all.len < raw.len);
	assert_memory_equal(out.data, raw.data, parts.all.len);
	packed_free(&b);
}

static void test_unpacked(void **state)
{
	struct bytes raw = make(LONG_BYTES), out = make(LONG_BYTES);
	struct unpacker *u;
	struct packer *p;
	unsigned int i, k;

	(void)state;
	for (i = 0; i < sizeof(cfgs) / sizeof(cfgs[0]); i++) {
		seed = 1 + i;
		assert_int_equal(packer_open(&p, &cfgs[i]), 0);
		assert_int_equal(unpacker_open(&u, cfgs[i].method), 0);
		for (k = 0; k < 8; k++) {
			raw.len = fill(raw.data, k);
			while (k == 7 && cfgs[i].level <= 5 && raw.len + BLOCK_MAX <= LONG_BYTES)
				raw.len += fill(raw.data + raw.len, 0);
			shape(&raw, k == 7 ? LONG_BYTES / 8 : k % 2 ? 4095 : 8);
			check_unpacker(p, u, raw, out);
		}
		unpacker_close(u);
		packer_close(p);
	}
	free(raw.data);
	free(out.data);
}

/* Records do not end where the block does, or one has no length. */
static void test_damaged(void **state)
{
	struct bytes raw = make(BLOCK_MAX), out = make(BLOCK_MAX);
	struct unpacker *u;
	struct packer *p;
	struct packed b;
	unsigned int i;

	(void)state;
	for (i = 0; i < 2 * sizeof(cfgs) / sizeof(cfgs[0]); i++) {
		seed = 1 + i;
		assert_int_equal(packer_open(&p, &cfgs[i / 2]), 0);
		assert_int_equal(unpacker_open(&u, cfgs[i / 2].method), 0);
		raw.len = fill(raw.data, 0) / 2 / 8 * 8 + 8;
		shape(&raw, 64);
		if (i % 2)
			memset(raw.data + raw.len, 0, 8);
		else
			memcpy(raw.data + raw.len, &(uint64_t){ FXT_PUT(FXT_EVENT, FXT_F_TYPE) | FXT_PUT(2, FXT_F_SIZE) }, 8);
		assert_int_equal(packer_pack(p, raw.data, raw.len + 8, &b), 0);
		unpack(u, &b, out, 0, -EIO);
		packed_free(&b);
		unpacker_close(u);
		packer_close(p);
	}
	free(raw.data);
	free(out.data);
}

static void test_refused(void **state)
{
	struct packer *p;

	(void)state;
	assert_int_equal(packer_open(&p, &(struct compress_cfg){ COMPRESS_NONE, 1 }), -EINVAL);
	assert_int_equal(packer_open(&p, &(struct compress_cfg){ COMPRESS_GZIP, 10 }), -EINVAL);
	assert_int_equal(packer_open(&p, &(struct compress_cfg){ COMPRESS_ZSTD, 0 }), -EINVAL);
	packer_close(NULL);
	unpacker_close(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_joined), cmocka_unit_test(test_unpacked), cmocka_unit_test(test_damaged),
		cmocka_unit_test(test_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
