// SPDX-License-Identifier: GPL-2.0
/*
 * A window for which there is no memory at times: every single allocation fails once, in the thread that calls it or in
 * its own threads. What could not be done is reported, and the next file is whole.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>

#include <cmocka.h>

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "made_up.h"
#include "piece/piece_walk.h"
#include "window_walk.h"

#define PAIRS	300U
#define STEP_NS	300000U
#define ROUNDS	30U

static __thread bool is_caller;
static bool fail_caller;		/* or the other threads */
static int fail_at;			/* the so manyth allocation, once; 0: none */

/* Whether this allocation fails. */
static bool fails(void)
{
	int left = __atomic_load_n(&fail_at, __ATOMIC_RELAXED);

	if (!left || fail_caller != is_caller)
		return false;
	return __atomic_fetch_sub(&fail_at, 1, __ATOMIC_RELAXED) == 1;
}

void *__wrap_malloc(size_t len);
void *__wrap_calloc(size_t cnt, size_t len);
void *__wrap_realloc(void *p, size_t len);
void *__real_malloc(size_t len);
void *__real_calloc(size_t cnt, size_t len);
void *__real_realloc(void *p, size_t len);

void *__wrap_malloc(size_t len)
{
	return fails() ? NULL : __real_malloc(len);
}

void *__wrap_calloc(size_t cnt, size_t len)
{
	return fails() ? NULL : __real_calloc(cnt, len);
}

void *__wrap_realloc(void *p, size_t len)
{
	return fails() ? NULL : __real_realloc(p, len);
}

struct way {
	struct made_up made;
	struct window *window;
};

static uint64_t words[PAIRS * MADE_UP_BYTES / 8];

static struct piece_cut way_cut(const struct way *way)
{
	return (struct piece_cut){ .bound_ns = way->made.now_ns, .number = 2, .online = "0-3" };
}

/* A round; the first error. */
static int way_round(struct way *way)
{
	struct piece_cut cut;
	int err;

	made_up_round(&way->made, words, PAIRS, STEP_NS);
	err = window_add(way->window, words, sizeof(words));
	cut = way_cut(way);
	return err ? err : window_round(way->window, &cut, way->made.now_ns);
}

static void way_open(struct way *way, enum compress_method method)
{
	const struct window_cfg cfg = {
		.age_ns = 500000000, .compress = { method, method != COMPRESS_NONE },
	};
	struct fxt_mem begin;
	unsigned int i;

	assert_int_equal(window_open(&way->window, &cfg), 0);
	made_up_open(&way->made, 200, &begin);
	assert_int_equal(window_add(way->window, begin.data, begin.len), 0);
	fxt_mem_free(&begin);
	for (i = 0; i < ROUNDS; i++)
		assert_int_equal(way_round(way), 0);
}

/* What was given up and what is in a file is all that there was. */
static void check_counts(struct way *way)
{
	const struct piece_cut cut = way_cut(way);
	struct window_totals t;
	struct fxt_mem m;
	size_t cnt;

	walk_dumped(way->window, 0, &cut, &m);
	free(walk_real(&m, &cnt));
	window_totals(way->window, &t);
	assert_int_equal(cnt + t.overwritten.switches + t.overwritten.wakeups, way->made.events);
	fxt_mem_free(&m);
}

/* Whether all allocations were made before the one that was to fail. */
static bool is_over(void)
{
	return __atomic_exchange_n(&fail_at, 0, __ATOMIC_RELAXED) > 0;
}

static void begin_failing(bool caller, int at)
{
	fail_caller = caller;
	__atomic_store_n(&fail_at, at, __ATOMIC_RELAXED);
}

/* Every allocation of a dump in turn. Returns how many there are. */
static int fail_dump(struct way *way, bool caller, uint64_t last_ns)
{
	struct window_dump d = { .last_ns = last_ns };
	struct piece_cut cut;
	bool over = false;
	int at, err;

	for (at = 1; !over; at++) {
		assert_int_equal(way_round(way), 0);
		cut = way_cut(way);
		d.fd = walk_file();
		begin_failing(caller, at);
		err = window_dump(way->window, &d, &cut);
		if (err)
			close(d.fd);
		else
			err = walk_wait(way->window).err;
		over = is_over();
		assert_true(err == -ENOMEM || (!err && (over || !caller)));
		assert_true(!over || !err);
		check_counts(way);
	}
	return at - 2;
}

static const enum compress_method methods[] = { COMPRESS_NONE, COMPRESS_GZIP, COMPRESS_ZSTD };

static void test_dump(void **state)
{
	struct way way;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(methods) / sizeof(methods[0]); i++) {
		way_open(&way, methods[i]);
		assert_true(fail_dump(&way, true, 0) > 5);
		assert_true(fail_dump(&way, false, 0) > 1);
		assert_true(fail_dump(&way, false, 100000000) > 5);
		assert_int_equal(window_close(way.window), 0);
		made_up_close(&way.made);
	}
}

/* A round that failed is made up for by the next one, unless a state has part of its records: then all fails. */
static void test_round(void **state)
{
	bool over = false;
	struct way way;
	int at, err, again;

	(void)state;
	for (at = 1; !over; at++) {
		way_open(&way, COMPRESS_ZSTD);
		begin_failing(true, at);
		err = way_round(&way);
		over = is_over();
		assert_int_equal(err, over ? 0 : -ENOMEM);
		again = way_round(&way);
		assert_true(!again || again == -ENOMEM);
		if (!again)
			check_counts(&way);
		window_close(way.window);
		made_up_close(&way.made);
	}
	assert_true(at > 2);
}

/* Blocks that could not be compressed are in the file all the same. */
static void test_pack(void **state)
{
	struct way way;
	int at;

	(void)state;
	for (at = 1; at < 20; at++) {
		way_open(&way, COMPRESS_GZIP);
		begin_failing(false, at);
		while (__atomic_load_n(&fail_at, __ATOMIC_RELAXED))
			assert_int_equal(way_round(&way), 0);
		check_counts(&way);
		assert_int_equal(window_close(way.window), 0);
		made_up_close(&way.made);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_dump), cmocka_unit_test(test_round), cmocka_unit_test(test_pack),
	};

	is_caller = true;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
