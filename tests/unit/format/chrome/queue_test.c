// SPDX-License-Identifier: GPL-2.0
/*
 * The queue of items: whatever is added between the takings, all come out in order of time and rank,
 * and as they were added where these are equal.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "format/chrome/item.h"
#include "format/chrome/queue.h"

#define ITEMS	20000U

static uint64_t random_state = 1;

static uint64_t make_random(void)
{
	random_state = random_state * 6364136223846793005ULL + 1442695040888963407ULL;
	return random_state >> 33;
}

/* Its number is where its duration would be. */
static struct kept_item *make(struct item_store *s, int64_t ts, unsigned int nr)
{
	struct kept_item *item = item_new(s, NULL);

	assert_non_null(item);
	item->ts_ns = ts;
	item->rank = make_random() % 3;
	item->duration_ns = nr;
	return item;
}

static bool is_in_order(const struct kept_item *a, const struct kept_item *b)
{
	if (a->ts_ns != b->ts_ns)
		return a->ts_ns < b->ts_ns;
	return a->rank != b->rank ? a->rank < b->rank : a->duration_ns < b->duration_ns;
}

/* Takes all before @limit: how many. */
static unsigned int take(struct queue *q, struct item_store *s, int64_t limit, struct kept_item *last)
{
	struct kept_item *item;
	unsigned int cnt = 0;

	assert_int_equal(queue_settle(q), 0);
	for (; (item = queue_take(q, limit)); cnt++) {
		assert_true(item->ts_ns < limit || limit == QUEUE_ALL);
		assert_true(is_in_order(last, item));
		memcpy(last, item, offsetof(struct kept_item, event));	/* it has fewer fields than its type */
		item_free(s, item);
	}
	return cnt;
}

/* Times advance by up to @step an item, and are at random within @spread. */
static void check(uint64_t step, uint64_t spread, unsigned int batch)
{
	struct kept_item last = { .ts_ns = INT64_MIN };
	struct item_store s = { 0 };
	struct queue q = { 0 };
	unsigned int i, taken = 0;
	int64_t ts = -1000;

	for (i = 0; i < ITEMS; i++) {
		ts += step ? (int64_t)(make_random() % step) : 0;
		assert_int_equal(queue_add(&q, make(&s, ts + (int64_t)(make_random() % spread), i)), 0);
		if (i % batch == batch - 1)
			taken += take(&q, &s, ts, &last);
	}
	if (step > 1)
		assert_true(taken > 0);
	taken += take(&q, &s, QUEUE_ALL, &last);
	assert_int_equal(taken, ITEMS);
	assert_true(s.bytes <= 64U << 10);
	queue_fini(&q);
	item_store_fini(&s);
}

static void sorted_input(void **state)
{
	(void)state;
	check(10, 1, 1);
	check(10, 1, 300);
}

static void nearly_sorted_input(void **state)
{
	(void)state;
	check(10, 5, 7);
	check(10, 500, 100);
	check(2, 5000, 1000);
}

static void unsorted_input(void **state)
{
	(void)state;
	check(0, 1U << 30, 1000);
	check(0, 3, 1000);
	check(1, 1U << 20, ITEMS + 1);
}

/* The last time there is has no limit after it. */
static void the_last_time(void **state)
{
	struct item_store s = { 0 };
	struct queue q = { 0 };
	struct kept_item *item = make(&s, INT64_MAX, 0);

	(void)state;
	assert_int_equal(queue_add(&q, item), 0);
	assert_int_equal(queue_settle(&q), 0);
	assert_null(queue_take(&q, INT64_MAX - 1));
	assert_ptr_equal(queue_take(&q, QUEUE_ALL), item);
	assert_null(queue_take(&q, QUEUE_ALL));
	item_free(&s, item);
	queue_fini(&q);
	item_store_fini(&s);
}

/* The event of an item is a copy, with quotes after its text. */
static void keeps_the_event(void **state)
{
	static const char json[] = "{\"ph\":\"X\",\"more\":{\"a\":1}}\"\"\"\"\"\"\"\"\"\"\"\"\"\"\"\"\"\"\"\"\"\"\"\"\"\"\"\"\"\"\"\"";
	struct item_store s = { 0 };
	struct kept_item *item;
	struct chrome_event e;
	const char *reason;
	size_t bad_at;

	(void)state;
	assert_int_equal(chrome_event_parse(&e, json, strlen(json) - 32, &bad_at, &reason), CHROME_WHOLE);
	item = item_new(&s, &e);
	assert_non_null(item);
	memset(&e, 0, sizeof(e));
	assert_int_equal(item->event.fields_cnt, 2);
	assert_memory_equal(item->event.text, json, strlen(json));
	assert_int_equal(chrome_field(&item->event, CHROME_PH)->type, CHROME_STRING);
	assert_int_equal(item->event.fields[1].type, CHROME_OBJECT);
	item_free(&s, item);
	item_store_fini(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sorted_input),
		cmocka_unit_test(nearly_sorted_input),
		cmocka_unit_test(unsorted_input),
		cmocka_unit_test(the_last_time),
		cmocka_unit_test(keeps_the_event),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
