// SPDX-License-Identifier: GPL-2.0
/*
 * Unit tests of markers of a live recording: more threads than are kept, and what is counted.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "format/ftrace/live.h"
#include "fxt/fxt_mem.h"
#include "fxt/fxt_walk.h"

#define FIRST	4190000000ULL	/* koids of the last generations fit in 32 bits, not in 31 */
#define MANY	70000U		/* more threads than are kept */

struct fixture {
	struct fxt_mem mem;
	struct fxt_writer *w;
	struct live_cfg cfg;
	struct live *b;
	uint64_t now;
};

/* Process 7 there is, its koid being another. */
static bool find_process(void *ctx, uint32_t pid, uint64_t *koid)
{
	(void)ctx;
	*koid = 10000007;
	return pid == 7;
}

static void open_live(struct fixture *f, bool own_tracks)
{
	*f = (struct fixture){ .cfg = { .find_process = find_process, .own_tracks = own_tracks }, .now = 1000 };
	assert_int_equal(fxt_writer_open(&f->w, fxt_mem_write, &f->mem), 0);
	assert_int_equal(fxt_write_magic(f->w), 0);
	assert_int_equal(live_open(&f->b, f->w, &f->cfg), 0);
}

static void add(struct fixture *f, uint64_t thread, const char *text)
{
	const struct fxt_thread at = { .process = FIRST, .thread = thread };

	assert_int_equal(live_add(f->b, f->now++, at, text, strlen(text)), 0);
}

/* Ends it: the counts, of events and of kernel objects, are those of the file. */
static struct builder_stats end(struct fixture *f, uint64_t objects)
{
	struct builder_stats stats;
	struct fxt_walk walk;

	assert_int_equal(live_end(f->b, f->now), 0);
	live_stats(f->b, &stats);
	live_close(f->b);
	assert_int_equal(fxt_writer_close(f->w), 0);
	walk = fxt_walk(f->mem.data, f->mem.len, (struct fxt_walk_options){ 0 });
	assert_null(walk.broken);
	assert_int_equal(walk.damage_bytes, 0);
	assert_int_equal(walk.kinds[FXT_KIND_EVENT], stats.events);
	assert_int_equal(walk.kinds[FXT_KIND_KERNEL_OBJECT], objects);
	fxt_mem_free(&f->mem);
	return stats;
}

static void many_threads(void **state)
{
	struct fixture f;
	unsigned int i;

	(void)state;
	open_live(&f, false);
	add(&f, FIRST, "B|1|stays open");
	for (i = 1; i <= MANY; i++) {
		add(&f, FIRST + i, "B|1|x");
		add(&f, FIRST + i, "E|1");
	}
	add(&f, FIRST, "E|1");
	assert_int_equal(end(&f, 0).events, 2 * MANY + 2);
}

/* None of them ends: those that are too many end early, and their ends are unmatched. */
static void many_open_slices(void **state)
{
	struct fixture f;
	struct builder_stats stats;
	unsigned int i;

	(void)state;
	open_live(&f, false);
	for (i = 0; i < MANY; i++)
		add(&f, FIRST + i, "B|1|x");
	add(&f, FIRST, "E|1");
	stats = end(&f, 0);
	assert_int_equal(stats.closed_slices, MANY);
	assert_int_equal(stats.events, 2 * MANY + 1);
}

static void own_tracks(void **state)
{
	struct fixture f;

	(void)state;
	open_live(&f, true);
	add(&f, 10, "B|1|x");
	add(&f, 11, "I|1|an instant needs none");
	add(&f, 10, "B|1|y");
	add(&f, 10, "E|1");
	add(&f, 10, "C|7|of another process|5");
	add(&f, 10, "S|7|left open|1");
	assert_int_equal(end(&f, 1).events, 8);
}

/* What is open ends there: two slices, one of them on a track of its own, and an asynchronous one. */
static void gap(void **state)
{
	struct builder_stats stats;
	struct fixture f;
	unsigned int i;

	(void)state;
	for (i = 0; i < 2; i++) {
		open_live(&f, i);
		add(&f, 10, "B|1|x");
		add(&f, 10, "B|1|y");
		add(&f, 11, "S|7|async|1");
		add(&f, 11, "B|1|closed");
		add(&f, 11, "E|1");
		assert_int_equal(live_gap(f.b, f.now++), 0);
		live_stats(f.b, &stats);
		assert_int_equal(stats.closed_slices, 3);
		assert_int_equal(stats.events, 8);
		/* Begun and ended after the gap; three ends that have no beginning any more are instants. */
		add(&f, 10, "B|1|z");
		add(&f, 10, "E|1");
		add(&f, 10, "E|1");
		add(&f, 10, "E|1");
		add(&f, 11, "F|7|async|1");
		assert_int_equal(live_gap(f.b, f.now++), 0);
		stats = end(&f, 2 * i);
		assert_int_equal(stats.closed_slices, 3);
		assert_int_equal(stats.events, 13);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(many_threads),
		cmocka_unit_test(many_open_slices),
		cmocka_unit_test(own_tracks),
		cmocka_unit_test(gap),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
