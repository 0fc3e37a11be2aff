// SPDX-License-Identifier: GPL-2.0
/*
 * Sorting with and without a temporary file: the order, items of any size, and a disk that is full.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>

#include <cmocka.h>

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "model/sort.h"

/* What an item holds: by what it was sorted, and that it is whole. */
struct content {
	struct event_sort_key key;
	uint32_t number, fill;
};

static uint64_t seed, ts_step = 1, rank_step = 1;

static uint32_t random_below(uint32_t limit)
{
	seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
	return (uint32_t)(seed >> 33) % limit;
}

static size_t put_random(struct event_sort *s, uint32_t number, uint32_t fill_max)
{
	struct content *c;
	size_t size;

	c = calloc(1, sizeof(*c) + fill_max + 1);
	assert_non_null(c);
	c->key = (struct event_sort_key){
		.group = random_below(2), .ts = random_below(50) * ts_step, .rank = random_below(3) * rank_step,
	};
	c->number = number;
	c->fill = random_below(fill_max + 1);
	size = sizeof(*c) + c->fill;
	memset(c + 1, (int)(number & 0xff), c->fill);
	assert_int_equal(event_sort_add(s, c->key, c, size), 0);
	free(c);
	return size;
}

static int order_of(const struct content *a, const struct content *b)
{
	if (a->key.group != b->key.group)
		return a->key.group < b->key.group;
	if (a->key.ts != b->key.ts)
		return a->key.ts < b->key.ts;
	if (a->key.rank != b->key.rank)
		return a->key.rank < b->key.rank;
	return a->number < b->number;
}

static void assert_whole(const struct event_sort_item *item, const struct content *c)
{
	const unsigned char *fill = (const unsigned char *)item->data + sizeof(*c);
	uint32_t i;

	assert_int_equal(item->len, sizeof(*c) + c->fill);
	assert_int_equal(item->key.ts, c->key.ts);
	assert_int_equal(item->key.rank, c->key.rank);
	assert_int_equal(item->key.group, c->key.group);
	for (i = 0; i < c->fill; i++)
		assert_int_equal(fill[i], c->number & 0xff);
}

static void check(size_t run_bytes, uint32_t cnt, uint32_t fill_max, unsigned int runs_min)
{
	struct content now, last = { 0 };
	struct event_sort_item item;
	struct event_sort *s;
	uint32_t i;

	assert_int_equal(event_sort_open(&s, run_bytes), 0);
	for (i = 0; i < cnt; i++)
		put_random(s, i, fill_max);
	for (i = 0; event_sort_next(s, &item) == 1; i++) {
		memcpy(&now, item.data, sizeof(now));
		assert_whole(&item, &now);
		if (i)
			assert_true(order_of(&last, &now));
		last = now;
	}
	assert_int_equal(i, cnt);
	assert_int_equal(event_sort_next(s, &item), 0);
	assert_true(event_sort_runs(s) >= runs_min);
	event_sort_close(s);
}

static void test_in_memory(void **state)
{
	(void)state;
	check(EVENT_SORT_BYTES, 1000, 100, 0);
}

static void test_with_a_file(void **state)
{
	(void)state;
	check(4096, 5000, 100, 100);
}

/* In the file times are differences, and what is small takes less: keys on both sides of that. */
static void test_far_keys(void **state)
{
	(void)state;
	ts_step = 1U << 31;
	rank_step = 200;
	check(4096, 2000, 100, 10);
	check(4096, 2000, 70000, 10);
	ts_step = rank_step = UINT64_MAX / 50;
	check(4096, 2000, 100, 10);
	ts_step = rank_step = 1;
}

/* Items larger than a run, and than the buffer that writes them. */
static void test_large_items(void **state)
{
	(void)state;
	check(8192, 60, 200000, 50);
}

static void test_nothing(void **state)
{
	(void)state;
	check(4096, 0, 0, 0);
	check(4096, 1, 0, 0);
}

static void test_nothing_is_added_later(void **state)
{
	struct event_sort_item item;
	struct event_sort *s;

	(void)state;
	assert_int_equal(event_sort_open(&s, 4096), 0);
	assert_int_equal(event_sort_next(s, &item), 0);
	assert_int_equal(event_sort_add(s, (struct event_sort_key){ 0 }, "", 0), -EINVAL);
	event_sort_close(s);
}

/* In memory and in the file: an item takes more than half of a run. */
static void test_filled_in_later(void **state)
{
	struct event_sort_item item;
	struct event_sort *s;
	void *data;
	int i;

	(void)state;
	assert_int_equal(event_sort_open(&s, 4096), 0);
	assert_int_equal(event_sort_add_empty(s, (struct event_sort_key){ 0 }, (1ULL << 31) + 1, &data), -EMSGSIZE);
	for (i = 0; i < 9; i++) {
		assert_int_equal(event_sort_add_empty(s, (struct event_sort_key){ .ts = (uint64_t)(9 - i) }, 3000, &data), 0);
		memset(data, 'a' + i, 3000);
	}
	for (i = 9; i-- > 0;) {
		assert_int_equal(event_sort_next(s, &item), 1);
		assert_int_equal(item.key.ts, 9 - i);
		assert_int_equal(item.len, 3000);
		assert_int_equal(((const char *)item.data)[0], 'a' + i);
		assert_int_equal(((const char *)item.data)[2999], 'a' + i);
	}
	assert_int_equal(event_sort_runs(s), 9);
	event_sort_close(s);
}

static void test_no_folder_for_the_file(void **state)
{
	struct event_sort *s;
	int err = 0, i;

	(void)state;
	setenv("TMPDIR", "/proc/self/no/such/folder", 1);
	assert_int_equal(event_sort_open(&s, 4096), 0);
	for (i = 0; i < 1000 && !err; i++)
		err = event_sort_add(s, (struct event_sort_key){ .ts = (uint64_t)i }, "0123456789", 10);
	unsetenv("TMPDIR");
	assert_int_equal(err, -ENOENT);
	event_sort_close(s);
}

/* A file that may not grow fails as a full disk does. */
static void test_full_disk(void **state)
{
	struct rlimit before, small;
	struct event_sort *s;
	int err = 0, i;

	(void)state;
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
	small = (struct rlimit){ .rlim_cur = 10000, .rlim_max = before.rlim_max };
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
	assert_int_equal(event_sort_open(&s, 4096), 0);
	for (i = 0; i < 1000 && !err; i++)
		err = event_sort_add(s, (struct event_sort_key){ .ts = (uint64_t)i }, "0123456789", 10);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
	assert_int_equal(err, -EFBIG);
	event_sort_close(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_in_memory),
		cmocka_unit_test(test_with_a_file),
		cmocka_unit_test(test_far_keys),
		cmocka_unit_test(test_large_items),
		cmocka_unit_test(test_nothing),
		cmocka_unit_test(test_nothing_is_added_later),
		cmocka_unit_test(test_filled_in_later),
		cmocka_unit_test(test_no_folder_for_the_file),
		cmocka_unit_test(test_full_disk),
	};

	signal(SIGXFSZ, SIG_IGN);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
