// SPDX-License-Identifier: GPL-2.0
/*
 * Records in order of time, out of memory and out of a file of many runs, against a sort that
 * keeps everything.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "format/chrome/order.h"

#define RECORDS	5000U

struct made {
	int64_t ts;
	uint64_t rank;
	unsigned int nr;
};

static uint64_t random_state;

static uint64_t make_random(void)
{
	random_state = random_state * 6364136223846793005ULL + 1442695040888963407ULL;
	return random_state >> 33;
}

static int compare(const void *x, const void *y)
{
	const struct made *a = x, *b = y;

	if (a->ts != b->ts)
		return a->ts < b->ts ? -1 : 1;
	if (a->rank != b->rank)
		return a->rank < b->rank ? -1 : 1;
	return a->nr < b->nr ? -1 : 1;
}

/* The text of a record has its number, and is of any length. */
static size_t make_text(char *text, unsigned int nr)
{
	size_t len = (size_t)sprintf(text, "%u ", nr), more = nr % 97 ? nr % 50 : 3000;

	memset(text + len, 'x', more);
	return len + more;
}

static void check_order(size_t bytes, int64_t times, int64_t drift, unsigned int runs_min)
{
	struct made *made = calloc(RECORDS, sizeof(*made));
	struct chrome_order *o;
	struct chrome_record r;
	char text[4096];
	unsigned int i;

	assert_non_null(made);
	assert_int_equal(chrome_order_open(&o, bytes), 0);
	for (i = 0; i < RECORDS; i++) {
		made[i] = (struct made){ (int64_t)(make_random() % times) - times / 2 + i * drift, make_random() % 3, i };
		r = (struct chrome_record){
			.ts_ns = made[i].ts, .rank = made[i].rank, .track = i, .kind = i % 7, .text = text,
			.len = (uint32_t)make_text(text, i),
		};
		assert_int_equal(chrome_order_add(o, &r), 0);
	}
	qsort(made, RECORDS, sizeof(*made), compare);
	for (i = 0; i < RECORDS; i++) {
		size_t len = make_text(text, made[i].nr);

		assert_int_equal(chrome_order_next(o, &r), 1);
		assert_int_equal(r.ts_ns, made[i].ts);
		assert_int_equal(r.rank, made[i].rank);
		assert_int_equal(r.track, made[i].nr);
		assert_int_equal(r.kind, made[i].nr % 7);
		assert_int_equal(r.len, len);
		assert_memory_equal(r.text, text, len);
		assert_int_equal(r.text[len], '"');
	}
	assert_int_equal(chrome_order_next(o, &r), 0);
	assert_int_equal(chrome_order_next(o, &r), 0);
	assert_true(chrome_order_runs(o) >= runs_min && (runs_min || !chrome_order_runs(o)));
	chrome_order_close(o);
	free(made);
}

static void in_memory(void **state)
{
	(void)state;
	check_order(4 << 20, 1000000, 0, 0);
	check_order(4 << 20, 5, 0, 0);
	check_order(4 << 20, 1, 10, 0);
	check_order(4 << 20, 1000, 10, 0);
}

static void in_runs(void **state)
{
	(void)state;
	check_order(64 << 10, 1000000, 0, 5);
	check_order(64 << 10, 5, 0, 5);
	check_order(64 << 10, 1, -10, 5);
	/* Most records are larger than the memory at first. */
	check_order(64, 1000, 1, 50);
}

static void nothing_at_all(void **state)
{
	struct chrome_order *o;
	struct chrome_record r;

	(void)state;
	assert_int_equal(chrome_order_open(&o, 4096), 0);
	assert_int_equal(chrome_order_next(o, &r), 0);
	chrome_order_close(o);
	chrome_order_close(NULL);
}

static void no_place_for_the_file(void **state)
{
	const char *dir = getenv("TMPDIR");
	char *old = dir ? strdup(dir) : NULL;
	const struct chrome_record record = { .ts_ns = 5, .len = 3, .text = "abc" };
	struct chrome_order *o;

	(void)state;
	setenv("TMPDIR", "/nonexistent", 1);
	assert_int_equal(chrome_order_open(&o, 64), 0);
	assert_int_equal(chrome_order_add(o, &record), 0);
	assert_int_equal(chrome_order_add(o, &record), -ENOENT);
	chrome_order_close(o);
	if (old)
		setenv("TMPDIR", old, 1);
	else
		unsetenv("TMPDIR");
	free(old);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(in_memory),
		cmocka_unit_test(in_runs),
		cmocka_unit_test(nothing_at_all),
		cmocka_unit_test(no_place_for_the_file),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
