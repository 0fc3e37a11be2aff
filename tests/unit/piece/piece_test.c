// SPDX-License-Identifier: GPL-2.0
/*
 * Recordings cut anywhere: each piece is a trace that verify finds no fault with, and together they have each record
 * once, with its meaning.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>

#include <cmocka.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cuts.h"
#include "io/input.h"
#include "piece_walk.h"

#define RECORDING_MAX	(1U << 26)
#define CUTS		600	/* most tries */

static const char *const recordings[] = {
	"tests/corpus/fxt/recording.fxt.gz", "tests/corpus/fxt/lossy.fxt.gz", "tests/golden/states-6.1.fxt.gz",
};

static void open_file(struct whole *w, const char *path)
{
	unsigned char *data = malloc(RECORDING_MAX);
	struct input *in;
	size_t len;
	long n;

	assert_non_null(data);
	if (input_open(&in, path))
		fail_msg("%s: cannot be read (tests run from the top of the tree)", path);
	for (len = 0; (n = input_read(in, data + len, RECORDING_MAX - len)) > 0; len += (size_t)n)
		;
	assert_int_equal(n, 0);
	input_close(in);
	whole_open(w, data, len);
}

/* The digests of @part are the next ones of @whole. */
static void take_part(const uint64_t *whole, size_t cnt, size_t *at, const struct fxt_mem *part)
{
	size_t part_cnt;
	uint64_t *list = walk_real(part, &part_cnt);

	assert_true(*at + part_cnt <= cnt);
	assert_memory_equal(whole + *at, list, part_cnt * sizeof(*list));
	*at += part_cnt;
	free(list);
}

static size_t check_cut(const struct whole *w, const uint64_t *real, size_t real_cnt, size_t cut, bool bound)
{
	struct fxt_mem a, b;
	size_t at = 0, carried;

	walk_piece(w, 0, cut, bound, &a);
	walk_piece(w, cut, w->records_cnt, bound, &b);
	walk_verify(&a, bound ? "first piece, bound" : "first piece", 0, cut);
	walk_verify(&b, bound ? "second piece, bound" : "second piece", cut, w->records_cnt);
	walk_compare(w, &a, 0, cut);
	carried = walk_compare(w, &b, cut, w->records_cnt);
	take_part(real, real_cnt, &at, &a);
	take_part(real, real_cnt, &at, &b);
	assert_int_equal(at, real_cnt);
	fxt_mem_free(&a);
	fxt_mem_free(&b);
	return carried;
}

static void check_recording(const char *path, size_t cuts)
{
	size_t real_cnt, carried = 0, i, step, done = 0;
	struct fxt_mem all;
	struct whole w;
	uint64_t *real;

	open_file(&w, path);
	all = (struct fxt_mem){ .data = w.data, .len = w.len };
	real = walk_real(&all, &real_cnt);
	step = w.records_cnt / cuts + 1;
	for (i = w.begun; i <= w.records_cnt; i += step) {
		while (i < w.records_cnt && !w.named[i])
			i++;
		carried += check_cut(&w, real, real_cnt, i, false);
		carried += check_cut(&w, real, real_cnt, i, true);
		done++;
	}
	print_message("%s: %zu records, cut at %zu of them, %zu wakeups carried\n", path, w.records_cnt, done, carried);
	assert_true(done);
	free(real);
	whole_close(&w);
}

static void test_recordings(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(recordings) / sizeof(recordings[0]); i++)
		check_recording(recordings[i], cuts_tries(CUTS));
}

/* One state for many pieces. */
static void test_rotation(void **state)
{
	struct fxt_mem pieces[8], all;
	size_t cuts[7], real_cnt, at, i, k;
	struct whole w;
	uint64_t *real;

	(void)state;
	for (k = 0; k < sizeof(recordings) / sizeof(recordings[0]); k++) {
		open_file(&w, recordings[k]);
		all = (struct fxt_mem){ .data = w.data, .len = w.len };
		real = walk_real(&all, &real_cnt);
		for (i = 0; i < 7; i++)
			for (cuts[i] = w.begun + (w.records_cnt - w.begun) * i / 6; !w.named[cuts[i]];)
				cuts[i]++;
		walk_rotation(&w, cuts, 7, pieces);
		for (at = i = 0; i < 8; i++) {
			walk_verify(&pieces[i], recordings[k], i ? cuts[i - 1] : 0, i < 7 ? cuts[i] : w.records_cnt);
			take_part(real, real_cnt, &at, &pieces[i]);
			fxt_mem_free(&pieces[i]);
		}
		assert_int_equal(at, real_cnt);
		free(real);
		whole_close(&w);
	}
}

static size_t named_at(const struct whole *w, size_t record)
{
	while (!w->named[record])
		record++;
	return record;
}

static void check_window(const struct whole *w, const char *path, size_t first, size_t end)
{
	struct fxt_mem all = { .data = w->data, .len = w->len }, before = { .data = w->data, .len = w->at[first] }, window;
	size_t real_cnt, at;
	uint64_t *real = walk_real(&all, &real_cnt);

	free(walk_real(&before, &at));
	walk_window(w, first, end, &window);
	walk_verify(&window, path, first, end);
	walk_compare(w, &window, first, end);
	take_part(real, real_cnt, &at, &window);
	fxt_mem_free(&window);
	free(real);
}

/* Every half, every tenth: its ledger is that of what is in it. */
static void test_windows(void **state)
{
	size_t parts, i, k, first, end;
	struct whole w;

	(void)state;
	for (k = 0; k < sizeof(recordings) / sizeof(recordings[0]); k++) {
		open_file(&w, recordings[k]);
		for (parts = 2; parts <= 10; parts += 8) {
			for (i = 0; i < parts; i++) {
				first = named_at(&w, w.begun + (w.records_cnt - w.begun) * i / parts);
				end = named_at(&w, w.begun + (w.records_cnt - w.begun) * (i + 1) / parts);
				check_window(&w, recordings[k], first, end);
			}
		}
		whole_close(&w);
	}
}

static int ignore(void *ctx, const void *data, size_t len)
{
	(void)ctx;
	(void)data;
	(void)len;
	return 0;
}

/* Records that were damaged: whatever the state is then, it is written without a crash. */
static void test_damage(void **state)
{
	const struct piece_cut cut = { 0 };
	struct fxt_writer *writer;
	struct piece_state *s;
	struct whole w;
	size_t at;
	int i, k, err;

	(void)state;
	srand(1);
	open_file(&w, recordings[1]);
	for (i = 0; i < 100; i++) {
		for (k = 0; k < 20; k++) {
			at = (size_t)rand() % w.records_cnt;
			at = w.at[at] + (size_t)rand() % (w.at[at + 1] - w.at[at]);
			w.data[at] ^= (unsigned char)(1 + rand() % 255);
		}
		assert_int_equal(piece_state_open(&s), 0);
		for (at = 0; at < w.records_cnt; at++) {
			err = piece_state_add(s, w.data + w.at[at], w.at[at + 1] - w.at[at]);
			assert_true(!err || err == -EINVAL);
		}
		assert_int_equal(fxt_writer_open(&writer, ignore, NULL), 0);
		piece_state_write_head(s, writer, &cut);
		piece_state_write_tail(s, writer, &cut);
		piece_state_write_ledger(s, writer, &cut);
		piece_state_cut(s, &cut);
		fxt_writer_close(writer);
		piece_state_close(s);
	}
	whole_close(&w);
}

static double thread_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static void time_head(const char *path, const struct piece_state *s)
{
	const struct piece_cut cut = { 0 };
	struct fxt_writer_stats stats;
	struct fxt_writer *writer;
	double from = thread_ns();

	assert_int_equal(fxt_writer_open(&writer, ignore, NULL), 0);
	assert_int_equal(piece_state_write_head(s, writer, &cut), 0);
	assert_int_equal(fxt_writer_flush(writer), 0);
	fxt_writer_stats(writer, &stats);
	print_message("%s: a head of %llu bytes in %.2f ms\n", path, (unsigned long long)stats.bytes,
		      (thread_ns() - from) / 1e6);
	fxt_writer_close(writer);
}

/* How long the state takes for a record, and for a head at the end. */
static void time_recording(const char *path)
{
	struct piece_state *s;
	struct whole w;
	double from;
	int i;

	open_file(&w, path);
	for (i = 0; i < 10; i++) {
		assert_int_equal(piece_state_open(&s), 0);
		from = thread_ns();
		assert_int_equal(piece_state_add(s, w.data, w.len), 0);
		print_message("%s: %.1f ns a record\n", path, (thread_ns() - from) / (double)w.records_cnt);
		time_head(path, s);
		piece_state_close(s);
	}
	whole_close(&w);
}

/*
 * piece_test CUTS FILE...: recordings of this machine, of less than 64 MiB, and how often to cut each;
 * 0: only what a record costs.
 */
static char **words;
static int words_cnt;

static void test_files(void **state)
{
	const size_t cuts = strtoul(words[1], NULL, 10);
	int i;

	(void)state;
	for (i = 2; i < words_cnt; i++) {
		time_recording(words[i]);
		if (cuts)
			check_recording(words[i], cuts);
	}
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_recordings), cmocka_unit_test(test_rotation), cmocka_unit_test(test_windows),
		cmocka_unit_test(test_damage),
	};
	const struct CMUnitTest files[] = { cmocka_unit_test(test_files) };

	words = argv;
	words_cnt = argc;
	return argc > 2 ? cmocka_run_group_tests(files, NULL, NULL) : cmocka_run_group_tests(tests, NULL, NULL);
}
