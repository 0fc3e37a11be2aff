// SPDX-License-Identifier: GPL-2.0
/*
 * Looking ahead: the least time after each place, whatever the pieces are that the input comes in.
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

#include "format/chrome/ahead.h"

#define NONE	(INT64_MAX - 1)

struct text {
	const char *data;
	size_t len, piece;
};

static long read_at(void *ctx, void *buf, size_t len, uint64_t offset)
{
	const struct text *t = ctx;

	if (offset >= t->len)
		return 0;
	len = len < t->piece ? len : t->piece;
	len = len < t->len - offset ? len : t->len - offset;
	memcpy(buf, t->data + offset, len);
	return (long)len;
}

static int open_text(struct ahead **a, const char *data, size_t len, size_t piece)
{
	return ahead_open(a, read_at, &(struct text){ data, len, piece });
}

/* The least time of the whole, or an error of the opening. */
static int64_t least_of(const char *json)
{
	static const size_t pieces[] = { 1, 7, 1U << 20 };
	int64_t least = 0, other;
	struct ahead *a;
	unsigned int i;

	for (i = 0; i < 3; i++) {
		other = open_text(&a, json, strlen(json), pieces[i]);
		if (!other) {
			other = ahead_least(a, 0);
			assert_int_equal(ahead_least(a, 1U << 30), NONE);
			ahead_close(a);
		}
		if (i)
			assert_int_equal(other, least);
		least = other;
	}
	return least;
}

static void finds_times(void **state)
{
	(void)state;
	assert_int_equal(least_of("[{\"ph\":\"X\",\"ts\":12},{\"ts\" : \"7.0015\" ,\"ph\":\"i\"}]"), 7002);
	assert_int_equal(least_of("[{\"tts\":1,\"ts\":1.5e3}"), 1500000);
	assert_int_equal(least_of("[{\"args\":{\"ts\":3},\"ts\":4}]"), 3000);
	assert_int_equal(least_of("[{\"ts\":0,\"ph\":\"X\"},{\"ts\":5}]"), 0);
	assert_int_equal(least_of("[{\"ts\":null},{\"ts\":\"soon\"},{\"ts\"}]"), NONE);
	assert_int_equal(least_of("[{\"sys\":1,\"\\u0075\":2,\"ts\":99}]"), 99000);
}

static void metadata_does_not_count(void **state)
{
	(void)state;
	assert_int_equal(least_of("[{\"ts\":9},{\"ph\":\"M\",\"ts\":0,\"args\":{\"name\":\"n\"}}]"), 9000);
	assert_int_equal(least_of("[{\"ts\":9},{\"args\":{\"name\":\"n\"},\"ts\":0.000,\"name\":\"\",\"ph\": \"M\"}]"), 9000);
	assert_int_equal(least_of("[{\"ts\":9},{\"ph\":\"M\",\"ts\":3.5}]"), 9000);
	assert_int_equal(least_of("[{\"ph\":\"M\",\"ts\":-1,\"args\":{}},{\"ts\":9}]"), 9000);
	assert_int_equal(least_of("[{\"ph\":\"M\"},{\"ts\":0},{\"ph\":\"M\"},{\"ts\":9}]"), 0);
}

static void is_not_relied_on(void **state)
{
	static const char number[] = "[{\"ts\":0.00000000000000000000000000000000000000000000000000000000000000000001e80}]";

	(void)state;
	assert_int_equal(least_of("[{\"ts\":-1}]"), -EDOM);
	assert_int_equal(least_of("[{\"\\u0074s\":1}]"), -EDOM);
	assert_int_equal(least_of("[{\"t\\u0073\":1}]"), -EDOM);
	assert_int_equal(least_of("{\"traceEvents\":[],\"systemTraceEvents\":\"\"}"), -EDOM);
	assert_int_equal(least_of(number), -EDOM);
}

static void finds_frames(void **state)
{
	static const char once[] = "{\"traceEvents\":[{\"ts\":1}],\"stackFrames\":{}}";
	static const char twice[] = "{\"stackFrames\":{},\"traceEvents\":[{\"ts\":1}],\"stackFrames\":{}}";
	struct ahead *a;
	uint64_t at;

	(void)state;
	assert_int_equal(open_text(&a, once, strlen(once), SIZE_MAX), 0);
	assert_int_equal(ahead_frames(a, &at), 1);
	assert_int_equal(at, strstr(once, "\"stack") - once);
	ahead_close(a);
	assert_int_equal(open_text(&a, twice, strlen(twice), SIZE_MAX), 0);
	assert_int_equal(ahead_frames(a, &at), -EDOM);
	ahead_close(a);
}

/* An event every 100 bytes: of one that is 70,000 bytes later it need not know yet. */
static void knows_what_follows(void **state)
{
	const size_t events = 5000;
	char *json = malloc(events * 100 + 1);
	struct ahead *a;
	size_t i;

	(void)state;
	for (i = 0; i < events; i++)
		sprintf(json + i * 100, "{\"ts\":%-93zu}", i);
	assert_int_equal(open_text(&a, json, events * 100, 10000), 0);
	for (i = 0; i < events; i++) {
		assert_true(ahead_least(a, i * 100) <= (int64_t)i * 1000);
		assert_true(i < 700 || ahead_least(a, i * 100) >= (int64_t)(i - 700) * 1000);
	}
	ahead_close(a);
	free(json);
}

/* The first five are sought, the others only begin like them. */
static const char *const pieces[] = {
	"\"ts\"", "\"stackFrames\"", "\"systemTraceEvents\"", "\\u0073", "\\u0074",
	"\"t", "s\"", "\\u007", "3", "\"", "s", "a", "{\"tts\":1", ",", "\"stackFrame", "\"system", "\\u0075",
};
#define SOUGHT	5U

/* Byte by byte. */
static const char *find_slowly(const char *p, const char *end)
{
	unsigned int i;

	for (; p < end; p++)
		for (i = 0; i < SOUGHT; i++)
			if (!memcmp(p, pieces[i], strlen(pieces[i])))
				return p;
	return end;
}

static uint64_t next_random(uint64_t random)
{
	return random * 6364136223846793005ULL + 1442695040888963407ULL;
}

static void every_way_finds_the_same(void **state)
{
	char text[256 + AHEAD_PAD_BYTES];
	const char *from, *end, *piece, *p;
	unsigned int i, found = 0;
	uint64_t random = 1;
	size_t len;

	(void)state;
	for (i = 0; i < 50000; i++) {
		for (len = 0; len < 160; len += strlen(piece)) {
			random = next_random(random);
			piece = random >> 60 ? "." : pieces[(random >> 33) % (sizeof(pieces) / sizeof(pieces[0]))];
			memcpy(text + len, piece, strlen(piece));
		}
		memset(text + len, '"', AHEAD_PAD_BYTES);
		from = text + (random >> 20) % 32;
		end = text + len - (random >> 30) % 64;
		p = find_slowly(from, end);
		found += p < end;
		assert_ptr_equal(ahead_find(from, end), p);
		assert_ptr_equal(ahead_find_plain(from, end), p);
	}
	assert_in_range(found, 5000, 49000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(finds_times),
		cmocka_unit_test(metadata_does_not_count),
		cmocka_unit_test(is_not_relied_on),
		cmocka_unit_test(finds_frames),
		cmocka_unit_test(knows_what_follows),
		cmocka_unit_test(every_way_finds_the_same),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
