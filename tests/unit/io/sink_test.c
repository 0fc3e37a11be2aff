// SPDX-License-Identifier: GPL-2.0
/*
 * Unit tests of the sink: whatever happens, each record is in the trace or reported as lost.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "io/input.h"
#include "fxt/format.h"
#include "io/compress.h"
#include "io/sink.h"

#define PIECE_BYTES_MAX	32768

/* Instead of libc's: two of three calls are interrupted by a signal. */
int fallocate(int fd, int mode, off_t start, off_t len)
{
	static int calls;

	if (++calls % 3) {
		errno = EINTR;
		return -1;
	}
	return (int)syscall(SYS_fallocate, fd, mode, start, len);
}

/* Records of all sizes, half of them random. */
static uint64_t *make_records(size_t bytes)
{
	uint64_t *words = malloc(bytes), left = bytes / 8;
	size_t at = 0, i, size;

	assert_non_null(words);
	for (; left; left -= size, at += size) {
		size = 1 + (size_t)rand() % (rand() % 16 ? 8 : 4095);
		if (size > left)
			size = left;
		words[at] = FXT_HEADER(FXT_EVENT, size);
		for (i = 1; i < size; i++)
			words[at + i] = i & 1 ? at : (uint64_t)rand() << 32 ^ (uint64_t)rand();
	}
	return words;
}

struct bytes {
	char *data;
	size_t len, space;
};

static void put(void *ctx, const void *data, size_t len)
{
	struct bytes *b = ctx;

	assert_int_equal(records_whole_bytes(data, len), len);
	assert_true(b->len + len <= b->space);
	memcpy(b->data + b->len, data, len);
	b->len += len;
}

/* Decompresses what is at @path after what @b has; returns how that ends. */
static long unpack(const char *path, struct bytes *b)
{
	struct input *in;
	long n;

	assert_int_equal(input_open(&in, path), 0);
	while ((n = input_read(in, b->data + b->len, b->space - b->len)) > 0)
		b->len += n;
	input_close(in);
	return n;
}

static const char *dir(void)
{
	static char name[] = "/tmp/kfxt-test-XXXXXX";
	static bool made;

	if (!made)
		assert_non_null(mkdtemp(name));
	made = true;
	return name;
}

static const char *path_of(const char *name)
{
	static char path[64];

	snprintf(path, sizeof(path), "%s/%s", dir(), name);
	return path;
}

/* Hands over all records, in pieces of any number of them. The first error. */
static int feed(struct sink *s, const uint64_t *words, size_t bytes)
{
	const char *data = (const char *)words;
	struct iovec iov[3];
	size_t n;
	int i, err = 0, failed;

	while (bytes) {
		for (i = 0; i < 3; i++) {
			n = (size_t)rand() % (rand() % 8 ? 100000 : 3000000);
			n = records_whole_bytes(data, n < bytes ? n : bytes);
			iov[i] = (struct iovec){ (char *)data, n };
			data += n;
			bytes -= n;
		}
		failed = sink_writev(s, iov, 3);
		assert_true(!err || failed == err);
		err = failed;
		failed = sink_flush(s);
		assert_true(!err || failed == err);
		err = failed;
	}
	return err;
}

static void limit_files(rlim_t bytes)
{
	struct rlimit limit;

	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
	limit.rlim_cur = bytes;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

static const struct compress_cfg ways[] = {
	{ COMPRESS_NONE, 0 }, { COMPRESS_GZIP, 1 }, { COMPRESS_GZIP, 3 }, { COMPRESS_ZSTD, 1 }, { COMPRESS_ZSTD, 3 },
};

#define WAYS	(sizeof(ways) / sizeof(*ways))

/* Writes with a disk that takes @space bytes: the file is whole, and with what was lost it is all. */
static size_t write_limited(const struct compress_cfg *way, const uint64_t *words, size_t bytes, rlim_t space)
{
	struct bytes got = { malloc(bytes + 1), 0, bytes + 1 }, lost = { malloc(bytes), 0, bytes };
	const struct sink_cfg cfg = {
		.path = path_of("limited"), .compress = *way, .lost = put, .lost_ctx = &lost,
	};
	const char *hint;
	struct stat st;
	struct sink *s;
	int err;

	assert_true(got.data && lost.data);
	unlink(cfg.path);
	assert_int_equal(sink_open(&s, &cfg, &hint), 0);
	assert_int_equal(sink_publish(s, &hint), 0);
	limit_files(space);
	err = feed(s, words, bytes);
	err = sink_finish(s) ?: err;
	limit_files(RLIM_INFINITY);
	assert_int_equal(err, lost.len ? -EFBIG : 0);
	assert_int_equal(stat(cfg.path, &st), 0);
	assert_int_equal(sink_bytes(s), st.st_size);
	assert_true((rlim_t)st.st_size <= space);
	assert_int_equal(unpack(cfg.path, &got), 0);
	assert_int_equal(sink_raw_bytes(s), got.len);
	assert_int_equal(records_whole_bytes(got.data, got.len), got.len);
	assert_int_equal(got.len + lost.len, bytes);
	assert_memory_equal(got.data, words, got.len);
	assert_memory_equal(lost.data, (const char *)words + got.len, lost.len);
	assert_int_equal(sink_close(s), err);
	free(got.data);
	free(lost.data);
	return st.st_size;
}

static void test_full_disk(void **state)
{
	const size_t bytes = 2500000;
	uint64_t *words = make_records(bytes);
	size_t i, all, space;
	int k;

	(void)state;
	for (i = 0; i < WAYS; i++) {
		all = write_limited(&ways[i], words, bytes, RLIM_INFINITY);
		assert_int_equal(write_limited(&ways[i], words, bytes, all), all);
		for (k = 1; k <= 13; k++) {
			write_limited(&ways[i], words, bytes, all - k);
			write_limited(&ways[i], words, bytes, k - 1);
		}
		for (k = 0; k < 8; k++) {
			space = (size_t)rand() % all;
			write_limited(&ways[i], words, bytes, space);
		}
	}
	free(words);
}

/* Text of a length that no block has, in one piece: all that there is space for is in the file. */
static size_t write_text(const struct compress_cfg *way, char *text, size_t bytes, rlim_t space)
{
	struct bytes got = { malloc(bytes + 1), 0, bytes + 1 };
	const struct sink_cfg cfg = { .path = path_of("text"), .compress = *way, .any_bytes = true };
	const char *hint;
	struct stat st;
	struct sink *s;
	int err;

	assert_non_null(got.data);
	unlink(cfg.path);
	assert_int_equal(sink_open(&s, &cfg, &hint), 0);
	assert_int_equal(sink_publish(s, &hint), 0);
	limit_files(space);
	err = sink_write(s, text, bytes);
	err = sink_finish(s) ?: err;
	limit_files(RLIM_INFINITY);
	assert_int_equal(sink_close(s), err);
	assert_int_equal(stat(cfg.path, &st), 0);
	assert_int_equal(unpack(cfg.path, &got), 0);
	assert_int_equal(err, got.len < bytes ? -EFBIG : 0);
	assert_memory_equal(got.data, text, got.len);
	free(got.data);
	return way->method == COMPRESS_NONE ? got.len : (size_t)st.st_size;
}

static void test_any_bytes(void **state)
{
	const size_t bytes = 2500001;
	char *text = malloc(bytes);
	size_t i, all;

	(void)state;
	assert_non_null(text);
	for (i = 0; i < bytes; i++)
		text[i] = (char)('a' + rand() % 26);
	for (i = 0; i < WAYS; i++) {
		all = write_text(&ways[i], text, bytes, RLIM_INFINITY);
		assert_true(write_text(&ways[i], text, bytes, all - 1) < all);
	}
	assert_int_equal(write_text(&ways[0], text, bytes, 1234567), 1234567);
	free(text);
}

#define LAST_BYTES	30000

/* The same, with space reserved for @last. */
static void speak_last(const struct compress_cfg *way, const uint64_t *words, size_t bytes, const uint64_t *last,
		       rlim_t space)
{
	struct bytes got = { malloc(bytes + 1), 0, bytes + 1 }, lost = { malloc(bytes), 0, bytes };
	const struct sink_cfg cfg = {
		.path = path_of("last"), .compress = *way, .reserve = 65536, .lost = put, .lost_ctx = &lost,
	};
	const char *hint;
	struct sink *s;
	struct stat st;
	int err;

	assert_true(got.data && lost.data);
	unlink(cfg.path);
	limit_files(space);
	assert_int_equal(sink_open(&s, &cfg, &hint), 0);
	assert_int_equal(sink_publish(s, &hint), 0);
	err = feed(s, words, bytes);
	err = sink_finish(s) ?: err;
	assert_int_equal(err, -EFBIG);
	assert_int_equal(sink_trailer(s), 0);
	assert_int_equal(sink_write(s, last, LAST_BYTES), 0);
	assert_int_equal(sink_close(s), 0);
	limit_files(RLIM_INFINITY);
	assert_int_equal(stat(cfg.path, &st), 0);
	assert_true((rlim_t)st.st_size <= space);
	assert_true(st.st_blocks * 512 < st.st_size + 8192);
	assert_int_equal(unpack(cfg.path, &got), 0);
	got.len -= LAST_BYTES;
	assert_memory_equal(got.data + got.len, last, LAST_BYTES);
	assert_int_equal(got.len + lost.len, bytes);
	assert_memory_equal(got.data, words, got.len);
	assert_memory_equal(lost.data, (const char *)words + got.len, lost.len);
	free(got.data);
	free(lost.data);
}

static void test_trailer(void **state)
{
	const size_t bytes = 6000000;
	uint64_t *words = make_records(bytes), *last = make_records(LAST_BYTES);
	size_t i;
	int k;

	(void)state;
	for (i = 0; i < WAYS; i++)
		for (k = 0; k < 8; k++)
			speak_last(&ways[i], words, bytes, last, 65536 + (size_t)rand() % 2000000);
	free(last);
	free(words);
}

/* After each piece, and with what would end it there, it can be unpacked up to there. */
static void check_pieces(const struct compress_cfg *way, size_t piece, int cnt)
{
	const size_t bytes = piece * cnt;
	uint64_t *words = make_records(bytes);
	struct bytes got = { malloc(bytes + 1), 0, bytes + 1 };
	unsigned char end[COMPRESS_END_BYTES_MAX];
	const char *path = path_of("pieces");
	struct compressor *c;
	struct iovec out;
	off_t size = 0;
	int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600), i;
	size_t n;

	assert_true(fd >= 0 && got.data);
	assert_int_equal(compressor_open(&c, way, piece), 0);
	for (i = 0; i < cnt; i++) {
		assert_int_equal(compressor_add(c, (char *)words + i * piece, piece, &out), 0);
		assert_int_equal(pwrite(fd, out.iov_base, out.iov_len, size), out.iov_len);
		size += out.iov_len;
		got.len = 0;
		assert_int_equal(ftruncate(fd, size), 0);
		assert_int_equal(unpack(path, &got), -ENODATA);
		assert_int_equal(got.len, (i + 1) * piece);
		n = compressor_end(c, end);
		assert_int_equal(pwrite(fd, end, n, size), n);
		got.len = 0;
		assert_int_equal(unpack(path, &got), 0);
		assert_int_equal(got.len, (i + 1) * piece);
		assert_memory_equal(got.data, words, got.len);
	}
	compressor_close(c);
	close(fd);
	free(got.data);
	free(words);
}

static void test_levels(void **state)
{
	enum compress_method m;
	struct compressor *c;
	int level;

	(void)state;
	for (m = COMPRESS_GZIP; m < COMPRESS_METHOD_CNT; m++) {
		for (level = 1; level <= compress_level_max(m); level++)
			check_pieces(&(struct compress_cfg){ m, level }, 40000, 4);
		assert_in_range(compress_level_default(m), 1, compress_level_max(m));
		assert_int_equal(compressor_open(&c, &(struct compress_cfg){ m, 0 }, 8), -EINVAL);
		assert_int_equal(compressor_open(&c, &(struct compress_cfg){ m, level }, 8), -EINVAL);
		check_pieces(&(struct compress_cfg){ m, 1 }, 1 << 20, 3);
		check_pieces(&(struct compress_cfg){ m, 1 }, 8, 50);
	}
}

/* Reads a pipe, slowly at first. */
static void *read_slowly(void *arg)
{
	const int *fds = arg;
	char buf[65536];
	ssize_t n;

	usleep(200000);
	while ((n = read(fds[0], buf, sizeof(buf))) > 0)
		assert_int_equal(write(fds[1], buf, n), n);
	return NULL;
}

/* More than can wait, through a pipe that is stuck for a while. */
static void test_slow_pipe(void **state)
{
	const size_t bytes = 72 << 20;
	uint64_t *words = make_records(bytes);
	struct bytes got = { malloc(bytes + 1), 0, bytes + 1 };
	const int out = dup(STDOUT_FILENO);
	const char *hint;
	int pipe_fds[2], fds[2];
	pthread_t reader;
	struct sink *s;
	size_t i;

	(void)state;
	for (i = 0; i < WAYS; i++) {
		const struct sink_cfg cfg = { .path = "-", .compress = ways[i] };

		fflush(stdout);
		assert_int_equal(pipe2(pipe_fds, O_CLOEXEC), 0);
		fds[0] = pipe_fds[0];
		fds[1] = open(path_of("piped"), O_WRONLY | O_CREAT | O_TRUNC, 0600);
		dup2(pipe_fds[1], STDOUT_FILENO);
		close(pipe_fds[1]);
		assert_int_equal(sink_open(&s, &cfg, &hint), 0);
		dup2(out, STDOUT_FILENO);
		assert_int_equal(pthread_create(&reader, NULL, read_slowly, fds), 0);
		assert_int_equal(feed(s, words, bytes), 0);
		assert_int_equal(sink_close(s), 0);
		pthread_join(reader, NULL);
		got.len = 0;
		assert_int_equal(unpack(path_of("piped"), &got), 0);
		assert_int_equal(got.len, bytes);
		assert_memory_equal(got.data, words, bytes);
		close(fds[0]);
		close(fds[1]);
	}
	close(out);
	free(got.data);
	free(words);
}

/* From byte 3 of the file on, through stdin. */
static void unpack_rest(int fd, struct bytes *got)
{
	const int in = dup(STDIN_FILENO);

	dup2(fd, STDIN_FILENO);
	assert_int_equal(lseek(fd, 3, SEEK_SET), 3);
	assert_int_equal(unpack("-", got), 0);
	dup2(in, STDIN_FILENO);
	close(in);
}

/* stdout may be a file that has something in it, or to which all is appended. */
static void check_redirected(const struct compress_cfg *way, int flags, const uint64_t *words, size_t bytes)
{
	struct bytes got = { malloc(bytes + PIECE_BYTES_MAX), 0, bytes + PIECE_BYTES_MAX };
	const struct sink_cfg cfg = { .path = "-", .compress = *way };
	const char *path = path_of("redirected"), *hint;
	const int out = dup(STDOUT_FILENO);
	int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | flags, 0600);
	struct sink *s;
	char buf[3];

	fflush(stdout);
	assert_int_equal(write(fd, "old", 3), 3);
	dup2(fd, STDOUT_FILENO);
	assert_int_equal(sink_open(&s, &cfg, &hint), 0);
	dup2(out, STDOUT_FILENO);
	assert_int_equal(feed(s, words, bytes), 0);
	assert_int_equal(sink_write(s, words, 8 * FXT_GET(*words, FXT_F_SIZE)), 0);
	assert_int_equal(sink_close(s), 0);
	assert_int_equal(pread(fd, buf, 3, 0), 3);
	assert_memory_equal(buf, "old", 3);
	close(out);
	unpack_rest(fd, &got);
	close(fd);
	assert_int_equal(got.len, bytes + 8 * FXT_GET(*words, FXT_F_SIZE));
	assert_memory_equal(got.data, words, bytes);
	free(got.data);
}

static void test_redirected(void **state)
{
	const size_t bytes = 2500000;
	uint64_t *words = make_records(bytes);
	size_t i;

	(void)state;
	for (i = 0; i < WAYS; i++) {
		check_redirected(&ways[i], 0, words, bytes);
		check_redirected(&ways[i], O_APPEND, words, bytes);
	}
	free(words);
}

static int remove_files(void **state)
{
	static const char *const names[] = { "limited", "text", "last", "pieces", "piped", "redirected" };
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(names) / sizeof(*names); i++)
		unlink(path_of(names[i]));
	return rmdir(dir());
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_full_disk),
		cmocka_unit_test(test_any_bytes),
		cmocka_unit_test(test_trailer),
		cmocka_unit_test(test_levels),
		cmocka_unit_test(test_slow_pipe),
		cmocka_unit_test(test_redirected),
	};

	return cmocka_run_group_tests(tests, NULL, remove_files);
}
