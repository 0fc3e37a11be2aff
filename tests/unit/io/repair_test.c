// SPDX-License-Identifier: GPL-2.0
/*
 * Compressed files that are cut anywhere: what was in their whole blocks can be read once they are repaired, by libraries
 * that know nothing of it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include "io/compress.h"
#include "io/repair.h"

#define PIECES		6U
#define PIECE_BYTES	3000U
#define RAW_BYTES	(PIECES * PIECE_BYTES)
#define FILE_BYTES	(2 * RAW_BYTES)

/* A stream and, by piece, how long it is with it. */
struct made {
	unsigned char raw[RAW_BYTES], file[FILE_BYTES];
	size_t len, after[PIECES];
};

static void make(struct made *m, enum compress_method method)
{
	const struct compress_cfg cfg = { method, compress_level_default(method) };
	uint64_t seed = 88172645463325252ULL;
	struct compressor *c;
	struct iovec piece;
	size_t i;

	for (i = 0; i < RAW_BYTES; i++) {
		seed ^= seed << 13;
		seed ^= seed >> 7;
		seed ^= seed << 17;
		m->raw[i] = (unsigned char)(i % 4 ? i : seed);
	}
	m->len = 0;
	assert_int_equal(compressor_open(&c, &cfg, PIECE_BYTES), 0);
	for (i = 0; i < PIECES; i++) {
		assert_int_equal(compressor_add(c, m->raw + i * PIECE_BYTES, PIECE_BYTES, &piece), 0);
		memcpy(m->file + m->len, piece.iov_base, piece.iov_len);
		m->len += piece.iov_len;
		m->after[i] = m->len;
	}
	m->len += compressor_end(c, m->file + m->len);
	compressor_close(c);
}

static size_t inflate_file(unsigned char *data, size_t len, unsigned char *out)
{
	z_stream z = { .next_in = data, .avail_in = (uInt)len, .next_out = out, .avail_out = RAW_BYTES };

	assert_int_equal(inflateInit2(&z, 16 + MAX_WBITS), Z_OK);
	assert_int_equal(inflate(&z, Z_FINISH), Z_STREAM_END);
	assert_int_equal(z.avail_in, 0);
	inflateEnd(&z);
	return RAW_BYTES - z.avail_out;
}

static size_t decompress_file(const unsigned char *data, size_t len, unsigned char *out)
{
	const size_t n = ZSTD_decompress(out, RAW_BYTES, data, len);

	assert_false(ZSTD_isError(n));
	return n;
}

/* What the repaired file of the first @len bytes has, of which there are @whole. */
static void check(const struct made *m, enum compress_method method, size_t len, size_t whole)
{
	static unsigned char file[FILE_BYTES], out[RAW_BYTES];
	const int fd = memfd_create("repaired", MFD_CLOEXEC);
	struct stat st;
	size_t n;

	assert_true(fd >= 0);
	assert_int_equal(write(fd, m->file, len), len);
	assert_int_equal(repair_compressed(fd), 0);
	assert_int_equal(fstat(fd, &st), 0);
	assert_int_equal(pread(fd, file, sizeof(file), 0), st.st_size);
	if (len == m->len)
		assert_true((size_t)st.st_size == len && !memcmp(file, m->file, len));
	if (whole) {
		n = method == COMPRESS_GZIP ? inflate_file(file, (size_t)st.st_size, out) :
					      decompress_file(file, (size_t)st.st_size, out);
		/* More, if what is cut off is in a block of its own. */
		assert_true(n >= whole && n <= RAW_BYTES);
		assert_memory_equal(out, m->raw, n);
	} else if (len > 4) {
		assert_int_equal(st.st_size, 0);
	}
	close(fd);
}

/* @state: the method. */
static void test_cut(void **state)
{
	const enum compress_method method = *(const enum compress_method *)*state;
	static struct made m;
	size_t len, whole = 0;

	make(&m, method);
	for (len = 0; len <= m.len; len++) {
		while (whole < PIECES && m.after[whole] <= len)
			whole++;
		check(&m, method, len, whole * PIECE_BYTES);
	}
	assert_int_equal(whole, PIECES);
}

/* Two streams, as with a trailer: the first one stays whole. */
static void test_second(void **state)
{
	const enum compress_method method = *(const enum compress_method *)*state;
	static unsigned char file[2 * FILE_BYTES], repaired[2 * FILE_BYTES];
	static struct made m;
	struct stat st;
	size_t len;
	int fd;

	make(&m, method);
	memcpy(file, m.file, m.len);
	memcpy(file + m.len, m.file, m.len);
	for (len = m.len + 4; len < 2 * m.len; len += 7) {
		fd = memfd_create("repaired", MFD_CLOEXEC);
		assert_int_equal(write(fd, file, len), len);
		assert_int_equal(repair_compressed(fd), 0);
		assert_int_equal(fstat(fd, &st), 0);
		assert_int_equal(pread(fd, repaired, sizeof(repaired), 0), st.st_size);
		assert_memory_equal(repaired, file, m.len);
		if (len < m.len + m.after[0])
			assert_true((size_t)st.st_size <= len);
		else
			assert_true(st.st_size > (off_t)(m.len + m.after[0]));
		assert_int_equal(repair_compressed(fd), 0);
		close(fd);
	}
}

/* What neither is stays as it is: also of zstd what others made, with a checksum or the size in front. */
static void test_others(void **state)
{
	static const unsigned char texts[][16] = { "", "abc", "abcdefghijklmn", { 0x1f, 0x8b, 7, 1 } };
	unsigned char packed[256], got[256];
	struct stat st;
	size_t i, len;
	int fd;

	(void)state;
	for (i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		fd = memfd_create("other", MFD_CLOEXEC);
		len = strlen((const char *)texts[i]);
		assert_int_equal(write(fd, texts[i], len), len);
		assert_int_equal(repair_compressed(fd), 0);
		assert_int_equal(fstat(fd, &st), 0);
		assert_int_equal(st.st_size, len);
		close(fd);
	}
	len = ZSTD_compress(packed, sizeof(packed), "abcabcabcabcabcabc", 18, 3) - 2;
	fd = memfd_create("other", MFD_CLOEXEC);
	assert_int_equal(write(fd, packed, len), len);
	assert_int_equal(repair_compressed(fd), 0);
	assert_int_equal(pread(fd, got, sizeof(got), 0), len);
	assert_memory_equal(got, packed, len);
	close(fd);
}

int main(void)
{
	static enum compress_method gzip = COMPRESS_GZIP, zstd = COMPRESS_ZSTD;
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_prestate(test_cut, &gzip), cmocka_unit_test_prestate(test_cut, &zstd),
		cmocka_unit_test_prestate(test_second, &gzip), cmocka_unit_test_prestate(test_second, &zstd),
		cmocka_unit_test(test_others),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
