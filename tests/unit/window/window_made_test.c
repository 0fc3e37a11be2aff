// SPDX-License-Identifier: GPL-2.0
/*
 * Windows of a recording that never was: bounds, counts, many threads, and the events of a long time in a short one.
 *
 *	window_made_test SECONDS EVENTS	so many seconds of so many events each, and what they took
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>

#include <cmocka.h>

#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "cli/record/record_stage.h"
#include "cli/trace.h"
#include "format/formats.h"
#include "made_up.h"
#include "piece/piece_walk.h"
#include "way.h"
#include "window_walk.h"

/* Sanitizers keep what was freed. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define MEMORY_MORE	(1LL << 40)
#else
#define MEMORY_MORE	(8LL << 20)
#endif

static const struct compress_cfg methods[] = { { COMPRESS_NONE, 0 }, { COMPRESS_GZIP, 3 }, { COMPRESS_ZSTD, 3 } };

/* The window has the last two seconds after each round, and not a block more; the dump has it all. */
static void test_age(void **state)
{
	struct window_cfg cfg = { .age_ns = 2 * S };
	struct window_totals t;
	struct way way;
	size_t i;
	int k;

	(void)state;
	for (i = 0; i < sizeof(methods) / sizeof(methods[0]); i++) {
		cfg.compress = methods[i];
		way_open(&way, &cfg, 100);
		way_rounds(&way, 30);
		for (k = 0; k < 50; k++) {
			way_rounds(&way, 1);
			window_totals(way.window, &t);
			assert_true(t.held_ns >= cfg.age_ns);
			assert_true(t.held_ns <= cfg.age_ns + 3 * ROUND_NS);	/* a block is of two */
			assert_true(t.overwritten.switches > 0);
		}
		way_check_counts(&way);
		way_close(&way);
	}
}

static void test_bytes(void **state)
{
	struct window_cfg cfg = { .compress = { COMPRESS_ZSTD, 1 } };
	struct window_totals t;
	struct way way;
	uint64_t most;
	int k;

	(void)state;
	for (cfg.bytes = 1 << 16; cfg.bytes <= 1 << 20; cfg.bytes *= 4) {
		way_open(&way, &cfg, 100);
		for (most = k = 0; k < 200; k++) {
			way_rounds(&way, 1);
			window_totals(way.window, &t);
			assert_true(t.bytes <= cfg.bytes);
			most = t.bytes > most ? t.bytes : most;
		}
		assert_true(most > cfg.bytes / 2);
		way_check_counts(&way);
		way_close(&way);
	}
}

/* Counted as held is what was added; the rest of a block's capacity takes no memory. */
static void test_held(void **state)
{
	const struct window_cfg cfg = { .age_ns = 10 * S, .compress = { COMPRESS_ZSTD, 1 } };
	struct window_totals before, t;
	struct way way;
	int k;

	(void)state;
	way_open(&way, &cfg, 100);
	window_totals(way.window, &before);
	for (k = 1; k <= 300; k++) {
		made_up_round(&way.made, way.round, way.pairs, way.step_ns);
		assert_int_equal(window_add(way.window, way.round, way.pairs * MADE_UP_BYTES), 0);
		window_totals(way.window, &t);
		assert_int_equal(t.bytes - before.bytes, k * way.pairs * MADE_UP_BYTES);
	}
	way_close(&way);
}

/* When the session of a file begins, by its event `start`. */
static uint64_t start_of(const struct fxt_mem *m)
{
	struct fxt_mem_source source = { .data = m->data, .len = m->len };
	struct fxt_reader *reader;
	struct fxt_record rec;
	uint64_t ns = 0;

	assert_int_equal(fxt_reader_open(&reader, fxt_mem_read, &source), 0);
	while (!ns && fxt_reader_next(reader, &rec) == 1)
		if (rec.kind == FXT_KIND_EVENT && rec.event.name.len == 5 && !memcmp(rec.event.name.data, "start", 5))
			ns = rec.ts;
	fxt_reader_close(reader);
	return ns;
}

/* A bound that comes later holds from the next round on. */
static void test_limit(void **state)
{
	const struct window_cfg cfg = { .age_ns = 10 * S, .compress = { COMPRESS_ZSTD, 1 } };
	struct window_totals before, t;
	struct way way;

	(void)state;
	way_open(&way, &cfg, 100);
	way_rounds(&way, 60);
	window_totals(way.window, &before);
	window_limit(way.window, before.bytes / 2);
	way_rounds(&way, 1);
	window_totals(way.window, &t);
	assert_true(t.bytes <= before.bytes / 2);
	way_rounds(&way, 60);
	window_totals(way.window, &t);
	assert_true(t.bytes <= before.bytes / 2);
	way_check_counts(&way);
	way_close(&way);
}

/* What a file will take is known before, whatever is left out and however it is compressed. */
static void test_file_bytes(void **state)
{
	struct window_cfg cfg = { .age_ns = 4 * S };
	uint64_t expected, last_ns;
	struct window_dumped done;
	struct piece_cut cut;
	struct way way;
	size_t i;
	int fd;

	(void)state;
	for (i = 0; i < sizeof(methods) / sizeof(methods[0]); i++) {
		cfg.compress = methods[i];
		way_open(&way, &cfg, 100);
		way_rounds(&way, 60);
		for (last_ns = 0; last_ns <= S; last_ns += S) {
			cut = way_cut(&way);
			fd = walk_file();
			walk_dump(way.window, fd, 0, &cut);	/* now all blocks are compressed */
			expected = window_file_bytes(way.window, last_ns);
			assert_int_equal(ftruncate(fd, 0) || lseek(fd, 0, SEEK_SET), 0);
			done = walk_dump(way.window, fd, last_ns, &cut);
			assert_in_range(done.bytes, expected, expected + expected / 8 + 65536);
			close(fd);
		}
		way_close(&way);
	}
}

/* Not more than the last second, and all of it. */
static void test_last(void **state)
{
	const struct window_cfg cfg = { .age_ns = 4 * S, .compress = { COMPRESS_ZSTD, 1 } };
	struct window_dumped done;
	struct piece_cut cut;
	struct fxt_mem m;
	struct way way;
	size_t cnt;

	(void)state;
	way_open(&way, &cfg, 100);
	way_rounds(&way, 60);
	cut = way_cut(&way);
	done = walk_dumped(way.window, S, &cut, &m);
	assert_int_equal(done.to_ns, way.made.now_ns);
	assert_int_equal(done.from_ns, start_of(&m));
	free(walk_real(&m, &cnt));
	assert_true(cnt >= 2 * S / STEP_NS && cnt <= 2 * (S + 3 * ROUND_NS) / STEP_NS);
	fxt_mem_free(&m);
	way_close(&way);
}

/* ---- what else is in a file ------------------------------------------------------------------ */

#define MORE	"more"
static unsigned int more_cnt;

static int write_more(void *ctx, struct fxt_writer *w, const struct piece_state *s)
{
	const struct piece_cut cut = { 0 };
	struct piece_totals t;

	assert_string_equal(ctx, "ctx");
	assert_int_equal(piece_state_totals(s, &cut, &t), 0);
	assert_int_equal(t.threads, 100 + 1);	/* the recorder's */
	more_cnt++;
	return fxt_write_blob(w, FXT_BLOB_DATA, fxt_str(MORE), "12345678", 8);
}

static bool is_more(const struct fxt_record *rec)
{
	return rec->kind == FXT_KIND_BLOB && rec->blob.len == 8;
}

static size_t count(const struct fxt_mem *m, bool (*is)(const struct fxt_record *rec))
{
	struct fxt_mem_source source = { .data = m->data, .len = m->len };
	struct fxt_reader *reader;
	struct fxt_record rec;
	size_t cnt = 0;

	assert_int_equal(fxt_reader_open(&reader, fxt_mem_read, &source), 0);
	while (fxt_reader_next(reader, &rec) == 1)
		cnt += is(&rec);
	fxt_reader_close(reader);
	return cnt;
}

static void test_more(void **state)
{
	const struct window_cfg cfg = {
		.age_ns = S, .compress = { COMPRESS_ZSTD, 1 }, .write_more = write_more, .ctx = (void *)"ctx",
	};
	uint64_t last_ns;
	struct piece_cut cut;
	struct fxt_mem m;
	struct way way;

	(void)state;
	way_open(&way, &cfg, 100);
	way_rounds(&way, 30);
	cut = way_cut(&way);
	for (last_ns = 0; last_ns < S; last_ns += S / 2) {
		more_cnt = 0;
		walk_dumped(way.window, last_ns, &cut, &m);
		assert_int_equal(more_cnt, last_ns ? 2 : 1);	/* the first one became a state */
		assert_int_equal(count(&m, is_more), 1);
		fxt_mem_free(&m);
	}
	way_close(&way);
}

#define OPEN_NS	12345

/* A call and two events. */
static void write_open(void *ctx, struct fxt_writer *w, struct piece_cut *cut)
{
	static const char *const categories[] = { "function", "syscalls", "block" };
	const struct fxt_arg args[] = { fxt_arg_bool("unfinished", true), fxt_arg_bool("continues", true) };
	size_t i;

	assert_string_equal(ctx, "ctx");
	for (i = 0; i < sizeof(categories) / sizeof(*categories); i++) {
		const struct fxt_event event = {
			.type = FXT_DURATION_COMPLETE, .ts = OPEN_NS, .id = OPEN_NS + S, .thread = { .process = 1, .thread = 2 },
			.category = fxt_str(categories[i]), .name = fxt_str("open"),
		};

		assert_int_equal(fxt_write_event(w, &event, args, 2), 0);
	}
	cut->more_events += 2;
}

static bool is_open(const struct fxt_record *rec)
{
	return rec->kind == FXT_KIND_EVENT && rec->event.type == FXT_DURATION_COMPLETE && rec->event.ts == OPEN_NS;
}

/* Slices that go on are in each file, of all of the window or of its end, and in its ledger. */
static void test_open(void **state)
{
	const struct window_cfg cfg = { .age_ns = S, .write_open = write_open, .ctx = (void *)"ctx" };
	struct piece_cut cut;
	struct fxt_mem m;
	struct way way;
	uint64_t last_ns;

	(void)state;
	way_open(&way, &cfg, 100);
	way_rounds(&way, 30);
	cut = way_cut(&way);
	for (last_ns = 0; last_ns < S; last_ns += S / 2) {
		walk_dumped(way.window, last_ns, &cut, &m);
		assert_int_equal(count(&m, is_open), 3);
		fxt_mem_free(&m);
	}
	assert_int_equal(cut.more_events, 0);
	way_close(&way);
}

/* Perfetto packets, as they are and compressed: what is read of them is whole, and has all switches and wakeups. */
static void test_stage(void **state)
{
	struct window_cfg cfg = { .age_ns = 2 * S };
	uint64_t before, switches, wakeups;
	struct piece_cut cut;
	struct trace *t = malloc(sizeof(*t));
	struct fxt_record rec;
	char path[64];
	struct way way;
	size_t i;
	int fd;

	(void)state;
	assert_non_null(t);
	cfg.stage = record_stage(formats_writer_named("perfetto"));
	assert_non_null(cfg.stage);
	for (i = 0; i < sizeof(methods) / sizeof(methods[0]); i++) {
		cfg.compress = methods[i];
		way_open(&way, &cfg, 100);
		way_rounds(&way, 40);
		before = way_overwritten(&way);
		cut = way_cut(&way);
		fd = walk_file();
		walk_dump(way.window, fd, 0, &cut);
		snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
		assert_int_equal(trace_open(t, "test", path), 0);
		for (switches = wakeups = 0; trace_next(t, &rec) == 1;) {
			switches += rec.kind == FXT_KIND_SWITCH && !fxt_record_arg(&rec, "mark");
			wakeups += rec.kind == FXT_KIND_WAKEUP;
		}
		assert_false(trace_is_damaged(t));
		trace_close(t);
		assert_int_equal(switches, (way.made.events - before) / 2);
		assert_int_equal(wakeups, switches);
		close(fd);
		way_close(&way);
	}
	free(t);
}

/* ---- much ----------------------------------------------------------------------------------- */

static void test_threads(void **state)
{
	const struct window_cfg cfg = { .age_ns = 2 * S, .compress = { COMPRESS_ZSTD, 1 } };
	struct piece_cut cut;
	uint64_t from, cpu_from;
	struct window_dump d;
	int fd;
	struct fxt_mem m;
	struct way way;

	(void)state;
	way_open(&way, &cfg, 100000);
	way_rounds(&way, 60);
	cut = way_cut(&way);
	fd = walk_file();
	d = (struct window_dump){ .fd = dup(fd) };
	from = clock_ns(CLOCK_MONOTONIC);
	cpu_from = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	assert_int_equal(window_dump(way.window, &d, &cut), 0);
	print_message("100000 threads: the drain took %.1f ms",
		      (double)(clock_ns(CLOCK_THREAD_CPUTIME_ID) - cpu_from) / 1e6);
	assert_int_equal(walk_wait(way.window).err, 0);
	print_message(", the file was there after %.1f ms\n", (double)(clock_ns(CLOCK_MONOTONIC) - from) / 1e6);
	walk_read(fd, &m);
	walk_verify(&m, "100000 threads", 0, m.len);
	fxt_mem_free(&m);
	close(d.fd);
	way_check_counts(&way);
	way_close(&way);
}

/* What is in use, beside the blocks that are held. */
static int64_t memory_bytes(uint64_t held)
{
	unsigned long all, resident = 0;
	FILE *f = fopen("/proc/self/statm", "re");

	assert_non_null(f);
	malloc_trim(0);
	assert_int_equal(fscanf(f, "%lu %lu", &all, &resident), 2);
	fclose(f);
	return (int64_t)resident * sysconf(_SC_PAGESIZE) - (int64_t)held;
}

/* A file without a name has its pages in memory. */
static void time_dump(struct way *way)
{
	const struct piece_cut cut = way_cut(way);
	const uint64_t from = clock_ns(CLOCK_MONOTONIC);
	struct window_dumped done;
	int fd = walk_file();

	done = walk_dump(way->window, fd, 0, &cut);
	print_message("a file of %.1f MiB, %.1f MiB of records, after %.1f ms\n", (double)done.bytes / (1 << 20),
		      (double)done.raw_bytes / (1 << 20), (double)(clock_ns(CLOCK_MONOTONIC) - from) / 1e6);
	close(fd);
}

/* What a long time came to. */
struct lapse {
	uint64_t cpu_from, thread_from;
	uint64_t least_ns, most_ns;	/* that the window had */
	int64_t first_bytes, most_bytes;	/* memory beside blocks */
};

static void print_lapse(const struct lapse *l, const struct way *way, uint64_t seconds)
{
	const double events = (double)way->made.events;

	print_message("%llu s of %.0f events: %.1f ns of CPU time each, %.1f ns of the drain and of the test; "
		      "window of %.3f to %.3f s; memory beside it %.1f MiB, at most %.1f MiB more\n", (unsigned long long)seconds,
		      events / (double)seconds, (double)(clock_ns(CLOCK_PROCESS_CPUTIME_ID) - l->cpu_from) / events,
		      (double)(clock_ns(CLOCK_THREAD_CPUTIME_ID) - l->thread_from) / events, (double)l->least_ns / 1e9,
		      (double)l->most_ns / 1e9, (double)l->first_bytes / (1 << 20),
		      (double)(l->most_bytes - l->first_bytes) / (1 << 20));
}

static void look(struct lapse *l, const struct window_totals *t, bool at_memory)
{
	int64_t bytes;

	l->least_ns = t->held_ns < l->least_ns ? t->held_ns : l->least_ns;
	l->most_ns = t->held_ns > l->most_ns ? t->held_ns : l->most_ns;
	if (!at_memory)
		return;
	bytes = memory_bytes(t->bytes);
	l->first_bytes = l->first_bytes ? l->first_bytes : bytes;
	l->most_bytes = bytes > l->most_bytes ? bytes : l->most_bytes;
}

/* @seconds of a recording with @rate events in each, by which the window has come around often. */
static void run_lapse(uint64_t seconds, uint64_t rate, const struct window_cfg *cfg)
{
	const uint64_t rounds = seconds * 5;
	struct lapse l = { .least_ns = UINT64_MAX };
	struct window_totals t;
	struct way way;
	uint64_t i;

	way_open(&way, cfg, 1000);
	way_through_rings(&way);
	way.pairs = (uint32_t)(rate / 10);
	way.step_ns = S / 5 / way.pairs;
	way.round = realloc(way.round, way.pairs * MADE_UP_BYTES);
	assert_non_null(way.round);
	l.cpu_from = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
	l.thread_from = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	for (i = 0; i < rounds; i++) {
		way_rounds(&way, 1);
		window_totals(way.window, &t);
		assert_true(!cfg->bytes || t.bytes <= cfg->bytes);
		if (i >= rounds / 4)
			look(&l, &t, i % (rounds / 64 + 1) == 0);
	}
	print_lapse(&l, &way, seconds);
	/* Some rounds may wait to be compressed, in more memory than they use. */
	assert_true(l.most_bytes - l.first_bytes < MEMORY_MORE + 8 * way.pairs * (int64_t)MADE_UP_BYTES);
	if (cfg->age_ns) {
		assert_true(l.least_ns >= cfg->age_ns);
		assert_true(l.most_ns <= cfg->age_ns + cfg->age_ns / 32 + S);
	}
	time_dump(&way);
	way_check_counts(&way);
	way_close(&way);
}

static void test_lapse(void **state)
{
	(void)state;
	run_lapse(40, 100000, &(struct window_cfg){ .age_ns = 4 * S, .compress = { COMPRESS_ZSTD, 1 } });
	run_lapse(40, 100000, &(struct window_cfg){ .bytes = 4 << 20, .compress = { COMPRESS_ZSTD, 1 } });
}

static char **words;

static void test_words(void **state)
{
	(void)state;
	run_lapse(strtoull(words[1], NULL, 10), strtoull(words[2], NULL, 10), &(struct window_cfg){
		.age_ns = 30 * S, .bytes = 256 << 20, .compress = { COMPRESS_ZSTD, 1 },
	});
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_age), cmocka_unit_test(test_bytes), cmocka_unit_test(test_held),
		cmocka_unit_test(test_limit), cmocka_unit_test(test_file_bytes), cmocka_unit_test(test_last),
		cmocka_unit_test(test_more), cmocka_unit_test(test_open), cmocka_unit_test(test_stage), cmocka_unit_test(test_threads),
		cmocka_unit_test(test_lapse),
	};
	const struct CMUnitTest longer[] = { cmocka_unit_test(test_words) };

	words = argv;
	return argc == 3 ? cmocka_run_group_tests(longer, NULL, NULL) : cmocka_run_group_tests(tests, NULL, NULL);
}
