// SPDX-License-Identifier: GPL-2.0
/*
 * A sink with a stage: what is made of each block of records is written, or the records are reported.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>

#include <cmocka.h>

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "fxt/format.h"
#include "io/input.h"
#include "io/sink.h"

#define PATH		"stage-test.out"
#define RECORDS		300000U		/* of two words: some blocks */
#define NUMBERS_MAX	(2 * RECORDS)

/* Makes a word of each record, its number; the last one of each call waits for the next call. */
struct numbers {
	int (*put)(void *ctx, const void *data, size_t len);
	void *ctx;
	uint64_t waiting[2], waited[2];
	bool has_waiting, has_waited;
};

static int open_numbers(void **s, int (*put)(void *ctx, const void *data, size_t len), void *ctx)
{
	struct numbers *n = calloc(1, sizeof(*n));

	assert_non_null(n);
	n->put = put;
	n->ctx = ctx;
	*s = n;
	return 0;
}

static int put_waiting(void *s)
{
	struct numbers *n = s;

	if (!n->has_waiting)
		return 0;
	n->has_waiting = false;
	return n->put(n->ctx, &n->waiting[1], sizeof(n->waiting[1]));
}

static int take_numbers(void *s, const void *records, size_t len)
{
	struct numbers *n = s;
	const uint64_t *rec = records;
	int err = 0;

	for (; len && !err; rec += 2, len -= 16) {
		err = put_waiting(s);
		memcpy(n->waiting, rec, sizeof(n->waiting));
		n->has_waiting = true;
	}
	return err;
}

static void written(void *s)
{
	struct numbers *n = s;

	memcpy(n->waited, n->waiting, sizeof(n->waited));
	n->has_waited = n->has_waiting;
}

static void lose(void *s, records_lost_fn lost, void *ctx)
{
	struct numbers *n = s;

	if (lost && n->has_waited)
		lost(ctx, n->waited, sizeof(n->waited));
	n->has_waiting = n->has_waited = false;
}

static const struct stage_ops numbers = {
	.open = open_numbers, .record = take_numbers, .end = put_waiting, .written = written, .lost = lose, .close = free,
};

static uint64_t found[NUMBERS_MAX];
static size_t found_cnt;

static void count_lost(void *ctx, const void *records, size_t len)
{
	const uint64_t *rec = records;

	(void)ctx;
	for (; len; rec += 2, len -= 16)
		found[found_cnt++] = rec[1];
}

static void read_file(void)
{
	size_t len = found_cnt * 8;
	char *to = (char *)found;
	struct input *in;
	long n;

	assert_int_equal(input_open(&in, PATH), 0);
	while ((n = input_read(in, to + len, sizeof(found) - len)) > 0)
		len += (size_t)n;
	found_cnt = len / 8;
	assert_int_equal(n, 0);
	input_close(in);
}

/* All records through it; the first error. What is found is in the file, then in what was reported. */
static int write_all(const struct sink_cfg *cfg, size_t file_max)
{
	struct rlimit before, limit;
	const char *hint;
	struct sink *s;
	uint64_t i;
	int err = 0;

	unlink(PATH);
	found_cnt = 0;
	assert_int_equal(sink_open(&s, cfg, &hint), 0);
	assert_int_equal(sink_publish(s, &hint), 0);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
	limit = (struct rlimit){ file_max, before.rlim_max };
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
	for (i = 0; i < RECORDS; i++) {
		const uint64_t rec[] = { FXT_HEADER(FXT_EVENT, 2), i };

		err = sink_write(s, rec, sizeof(rec));
	}
	err = err ? err : sink_finish(s);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
	sink_close(s);
	read_file();
	return err;
}

static int compare(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static void assert_each_once(void)
{
	size_t i;

	assert_int_equal(found_cnt, RECORDS);
	qsort(found, found_cnt, sizeof(found[0]), compare);
	for (i = 0; i < RECORDS; i++)
		assert_int_equal(found[i], i);
}

static void test_all_is_written(void **state)
{
	struct sink_cfg cfg = { .path = PATH, .stage = &numbers, .lost = count_lost };

	(void)state;
	assert_int_equal(write_all(&cfg, RLIM_INFINITY), 0);
	assert_each_once();
	cfg.compress = (struct compress_cfg){ .method = COMPRESS_GZIP, .level = 1 };
	assert_int_equal(write_all(&cfg, RLIM_INFINITY), 0);
	assert_each_once();
}

/* Each record is in the file or reported, also the one that waited. */
static void test_what_does_not_fit_is_reported(void **state)
{
	static const size_t sizes[] = { 0, 1000, 600000, 1100000, 8 * RECORDS - 1 };
	struct sink_cfg cfg = { .path = PATH, .stage = &numbers, .lost = count_lost };
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		cfg.compress = (struct compress_cfg){ .method = COMPRESS_NONE };
		assert_int_equal(write_all(&cfg, sizes[i]), -EFBIG);
		assert_each_once();
		cfg.compress = (struct compress_cfg){ .method = COMPRESS_GZIP, .level = 1 };
		assert_int_equal(write_all(&cfg, sizes[i] / 8), -EFBIG);
		assert_each_once();
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all_is_written),
		cmocka_unit_test(test_what_does_not_fit_is_reported),
	};
	char dir[] = "/tmp/kfxt-test-XXXXXX";
	int failed;

	if (!mkdtemp(dir) || chdir(dir))
		return 1;
	signal(SIGXFSZ, SIG_IGN);
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	unlink(PATH);
	rmdir(dir);
	return failed;
}
