// SPDX-License-Identifier: GPL-2.0
/*
 * Recordings that go through a window: each file made of it is a trace that verify finds no fault with, and has the
 * records from some place on up to the last one, each with its meaning.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "io/input.h"
#include "piece/piece_walk.h"
#include "window_walk.h"

#define RECORDING_MAX	(1U << 26)
#define ROUND_RECORDS	7U	/* some more, so that all threads have names */

static const char *const recordings[] = {
	"tests/corpus/fxt/recording.fxt.gz", "tests/corpus/fxt/lossy.fxt.gz", "tests/golden/states-6.1.fxt.gz",
};

static const struct compress_cfg methods[] = { { COMPRESS_NONE, 0 }, { COMPRESS_GZIP, 3 }, { COMPRESS_ZSTD, 3 } };

static void open_file(struct whole *w, const char *path)
{
	unsigned char *data = malloc(RECORDING_MAX);
	struct input *in;
	size_t len;
	long n;

	assert_non_null(data);
	assert_int_equal(input_open(&in, path), 0);
	for (len = 0; (n = input_read(in, data + len, RECORDING_MAX - len)) > 0; len += (size_t)n)
		;
	assert_int_equal(n, 0);
	input_close(in);
	whole_open(w, data, len);
}

/* A recording on its way through a window. */
struct way {
	struct whole whole;
	uint64_t *real;			/* its switches and wakeups */
	size_t real_cnt;
	struct window *window;
	size_t at;			/* the next record */
	uint64_t now_ns;
};

static void way_open(struct way *way, const char *path, const struct window_cfg *cfg)
{
	struct fxt_mem all;

	*way = (struct way){ 0 };
	open_file(&way->whole, path);
	all = (struct fxt_mem){ .data = way->whole.data, .len = way->whole.len };
	way->real = walk_real(&all, &way->real_cnt);
	assert_int_equal(window_open(&way->window, cfg), 0);
}

static void way_close(struct way *way)
{
	assert_int_equal(window_close(way->window), 0);
	whole_close(&way->whole);
	free(way->real);
}

static struct piece_cut way_cut(const struct way *way)
{
	return walk_cut(&way->whole, way->at, true);
}

/* One round of the drain; false: there are no more records. */
static bool way_round(struct way *way)
{
	const struct whole *w = &way->whole;
	size_t end = way->at + ROUND_RECORDS < w->begun ? w->begun : way->at + ROUND_RECORDS;
	struct piece_cut cut;

	if (way->at == w->records_cnt)
		return false;
	end = end < w->records_cnt ? end : w->records_cnt;
	while (!w->named[end])
		end++;
	assert_int_equal(window_add(way->window, w->data + w->at[way->at], w->at[end] - w->at[way->at]), 0);
	way->at = end;
	if (w->bounds[end] != UINT64_MAX)
		way->now_ns = w->bounds[end];
	cut = way_cut(way);
	assert_int_equal(window_round(way->window, &cut, way->now_ns), 0);
	return true;
}

/* What is in the file are the last records before this place. Returns how many there are before them. */
static size_t check_dump(struct way *way, uint64_t last_ns)
{
	const struct piece_cut cut = way_cut(way);
	struct fxt_mem until = { .data = way->whole.data, .len = way->whole.at[way->at] }, m;
	size_t until_cnt, cnt;
	uint64_t *list;

	free(walk_real(&until, &until_cnt));
	walk_dumped(way->window, last_ns, &cut, &m);
	list = walk_real(&m, &cnt);
	assert_true(cnt <= until_cnt);
	assert_memory_equal(list, way->real + until_cnt - cnt, cnt * sizeof(*list));
	free(list);
	fxt_mem_free(&m);
	return until_cnt - cnt;
}

static void check_bounds(struct way *way, const struct window_cfg *cfg)
{
	struct window_totals t;

	window_totals(way->window, &t);
	assert_true(!cfg->bytes || t.bytes <= cfg->bytes);
	assert_int_equal(t.given_up_bytes, 0);
}

/* A file every so many rounds, each of which begins before the end of the one before it: together they have all. */
static void check_recording(const char *path, const struct window_cfg *cfg, size_t rounds)
{
	size_t dumps = 0, i = 0, before, least = SIZE_MAX, most = 0;
	struct window_totals t;
	struct way way;

	way_open(&way, path, cfg);
	while (way_round(&way)) {
		check_bounds(&way, cfg);
		if (++i % rounds)
			continue;
		before = check_dump(&way, 0);
		least = before < least ? before : least;
		assert_true(before >= most);	/* nothing that was given up is there again */
		most = before;
		dumps++;
		window_totals(way.window, &t);
		assert_true(t.overwritten.switches + t.overwritten.wakeups >= before);
	}
	assert_true(dumps);
	assert_int_equal(least, 0);		/* the first one has all that there was */
	/* Later ones do not. */
	assert_true(!cfg->bytes || most || way.whole.len < 4 * cfg->bytes);
	way_close(&way);
}

static void test_recordings(void **state)
{
	struct window_cfg cfg = { 0 };
	size_t i, k;

	(void)state;
	for (i = 0; i < sizeof(recordings) / sizeof(recordings[0]); i++) {
		for (k = 0; k < sizeof(methods) / sizeof(methods[0]); k++) {
			cfg.compress = methods[k];
			cfg.bytes = 0;
			check_recording(recordings[i], &cfg, 10);
			cfg.bytes = 12000;
			check_recording(recordings[i], &cfg, 3);
		}
	}
}

/* From any block on: as if all before it had been given up. */
static void test_last(void **state)
{
	struct window_cfg cfg = { .bytes = 100000 };
	size_t i, k, before, most;
	uint64_t last_ns;
	struct way way;

	(void)state;
	for (i = 0; i < 2; i++) {
		for (k = 0; k < sizeof(methods) / sizeof(methods[0]); k++) {
			cfg.compress = methods[k];
			way_open(&way, recordings[i], &cfg);
			while (way.at < way.whole.records_cnt - 60 && way_round(&way))
				;
			most = check_dump(&way, 0);
			for (last_ns = 1ULL << 40; last_ns; last_ns /= 2) {
				before = check_dump(&way, last_ns);
				assert_true(before >= most);
				most = before;
			}
			assert_true(most > way.real_cnt / 2);
			way_close(&way);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_recordings), cmocka_unit_test(test_last),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
