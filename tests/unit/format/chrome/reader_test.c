// SPDX-License-Identifier: GPL-2.0
/*
 * Events out of memory, out of temporary files, or some of each; played at the end or while they are
 * read: the trace is the same, byte by byte.
 */
#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "format/chrome/reader.h"
#include "model/builder.h"

#define CORPUS		"tests/corpus/json/"
#define PIECE_BYTES	10000U
#define EVENTS		12000U
#define TEXT_BYTES	(4U << 20)

struct text {
	char *data;
	size_t len, at;
};

struct output {
	char *data;
	size_t len, cap;
};

struct way {
	size_t memory;
	bool looks_ahead;
};

static const struct way ways[] = { { 0, false }, { 200000, false }, { 16U << 20, true }, { 400000, true }, { 1, true } };

static long read_at(void *ctx, void *buf, size_t len, uint64_t offset)
{
	const struct text *t = ctx;

	if (offset >= t->len)
		return 0;
	len = len < PIECE_BYTES ? len : PIECE_BYTES;
	len = len < t->len - offset ? len : t->len - offset;
	memcpy(buf, t->data + offset, len);
	return (long)len;
}

static long read_next(void *ctx, void *buf, size_t len)
{
	struct text *t = ctx;
	long got = read_at(t, buf, len, t->at);

	t->at += (size_t)got;
	return got;
}

static int write_output(void *ctx, const void *data, size_t len)
{
	struct output *o = ctx;

	if (o->len + len > o->cap) {
		o->cap = (o->len + len) * 2;
		o->data = realloc(o->data, o->cap);
		assert_non_null(o->data);
	}
	memcpy(o->data + o->len, data, len);
	o->len += len;
	return 0;
}

static struct output convert(struct text *t, const struct way *way, struct chrome_counts *counts)
{
	const struct builder_cfg cfg = { .source = "test" };
	struct output o = { 0 };
	struct chrome_reader *r;
	struct fxt_writer *w;
	struct builder *b;
	int more;

	t->at = 0;
	assert_int_equal(fxt_writer_open(&w, write_output, &o), 0);
	assert_int_equal(builder_open(&b, w, &cfg), 0);
	assert_int_equal(chrome_reader_open(&r, read_next, t, b), 0);
	if (way)
		chrome_reader_set_memory(r, way->memory);
	if (way && way->looks_ahead)
		assert_int_equal(chrome_reader_look_ahead(r, read_at, t), 0);
	while ((more = chrome_reader_read(r)) > 0)
		;
	assert_int_equal(more, 0);
	assert_int_equal(builder_end(b), 0);
	chrome_reader_counts(r, counts);
	chrome_reader_close(r);
	builder_close(b);
	assert_int_equal(fxt_writer_close(w), 0);
	return o;
}

static void check_all_ways(struct text *t, const char *what)
{
	struct chrome_counts counts, other;
	struct output o = convert(t, NULL, &counts), again;
	size_t i;

	for (i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
		again = convert(t, &ways[i], &other);
		if (again.len != o.len || memcmp(again.data, o.data, o.len) != 0)
			fail_msg("%s: not the same with %zu bytes of memory%s", what, ways[i].memory,
				 ways[i].looks_ahead ? ", looking ahead" : "");
		assert_memory_equal(counts.fates, other.fates, sizeof(counts.fates));
		assert_int_equal(counts.handed_on, other.handed_on);
		assert_int_equal(counts.unmatched_begins, other.unmatched_begins);
		assert_int_equal(counts.unmatched_ends, other.unmatched_ends);
		assert_int_equal(counts.shifted_s, other.shifted_s);
		free(again.data);
	}
	free(o.data);
}

static bool ends_in(const char *name, const char *end)
{
	return strlen(name) > strlen(end) && !strcmp(name + strlen(name) - strlen(end), end);
}

static void samples(void **state)
{
	DIR *dir = opendir(CORPUS);
	const struct dirent *entry;
	unsigned int cnt = 0;
	char path[600];

	(void)state;
	assert_non_null(dir);
	while ((entry = readdir(dir))) {
		struct text t = { .data = malloc(TEXT_BYTES) };
		FILE *file;

		snprintf(path, sizeof(path), CORPUS "%s", entry->d_name);
		file = ends_in(path, ".json") && !ends_in(path, ".facts.json") ? fopen(path, "r") : NULL;
		if (file) {
			t.len = fread(t.data, 1, TEXT_BYTES, file);
			check_all_ways(&t, entry->d_name);
			fclose(file);
			cnt++;
		}
		free(t.data);
	}
	closedir(dir);
	assert_true(cnt > 20);
}

/* ---- made ones -------------------------------------------------------------------- */

static uint64_t random_state;

static unsigned int make_random(unsigned int below)
{
	random_state = random_state * 6364136223846793005ULL + 1442695040888963407ULL;
	return (unsigned int)((random_state >> 33) % below);
}

static void put_event(struct text *t, int64_t ts)
{
	static const char *const more[] = {
		"\"ph\":\"X\",\"dur\":%u.5,\"name\":\"whole\",\"args\":{\"a\":{\"b\":[1,2.5,\"c\"]}}",
		"\"ph\":\"X\",\"dur\":%u,\"name\":\"\",\"tdur\":7", "\"ph\":\"B\",\"name\":\"begun %u\"",
		"\"ph\":\"B\",\"args\":{\"n\":%u},\"name\":\"begun\"", "\"ph\":\"E\",\"tts\":%u", "\"ph\":\"E\",\"name\":\"begun %u\"",
		"\"ph\":\"i\",\"s\":\"p\",\"n\":%u", "\"ph\":\"C\",\"name\":\"c\",\"args\":{\"v\":%u}",
		"\"ph\":\"b\",\"id\":%u,\"cat\":\"a\",\"name\":\"async\"", "\"ph\":\"e\",\"id\":%u,\"cat\":\"a\",\"name\":\"async\"",
		"\"ph\":\"s\",\"id\":%u,\"name\":\"flow\"", "\"ph\":\"f\",\"id\":%u,\"name\":\"flow\"",
		"\"ph\":\"T\",\"dur\":%u,\"name\":\"Running\",\"args\":{\"cpu\":1}", "\"ph\":\"T\",\"dur\":%u,\"name\":\"S\"",
		"\"ph\":\"M\",\"name\":\"num_cpus\",\"args\":{\"number\":%u}", "\"ph\":\"B\",\"name\":\"long text %0300u\"",
	};

	t->len += (size_t)sprintf(t->data + t->len, "%s{\"pid\":%u,\"tid\":%u,\"ts\":%lld.%03u,", t->len > 1 ? ",\n" : "",
				  1 + make_random(2), 1 + make_random(5), (long long)ts, make_random(1000));
	t->len += (size_t)sprintf(t->data + t->len, more[make_random(16)], 1 + make_random(30));
	t->data[t->len++] = '}';
}

/* Times advance by up to @step µs an event, less if below 0, and are at random within @spread. */
static void check_made(int64_t first, int step, unsigned int spread)
{
	struct text t = { .data = malloc(TEXT_BYTES) };
	char what[64];
	unsigned int i;

	random_state = spread + 7;
	t.data[t.len++] = '[';
	for (i = 0; i < EVENTS; i++) {
		first += step < 0 ? -(int64_t)make_random((unsigned int)-step) : make_random((unsigned int)step + 1);
		put_event(&t, first + make_random(spread));
	}
	t.data[t.len++] = ']';
	snprintf(what, sizeof(what), "step %d, spread %u", step, spread);
	check_all_ways(&t, what);
	free(t.data);
}

static void sorted_input(void **state)
{
	(void)state;
	check_made(1000, 20, 1);
	check_made(0, 1, 1);
}

static void nearly_sorted_input(void **state)
{
	(void)state;
	check_made(1712345678000000, 20, 300);
	check_made(1000, 3, 3000);
}

static void unsorted_input(void **state)
{
	(void)state;
	check_made(1000, 0, 1000000);
	check_made(100000000, -20, 5);
}

static void times_below_zero(void **state)
{
	(void)state;
	check_made(-50000, 20, 5);
}

/* What is before the damage is kept, and the event, too. */
static void damaged_args(void **state)
{
	static const char *const args[] = {
		"{\"a\":1,\"b\":foo,\"c\":2}", "{\"a\":1,\"b\":007}", "{\"a\":1,\"b\":[1,-]}", "{\"a\":1,\"b\"}", "{\"a\":1,b:2}",
	};
	struct chrome_counts counts;
	struct text t;
	char json[200];
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(args) / sizeof(args[0]); i++) {
		t = (struct text){ .data = json };
		t.len = (size_t)sprintf(json, "[{\"ph\":\"i\",\"ts\":1,\"name\":\"n\",\"args\":%s}]", args[i]);
		free(convert(&t, NULL, &counts).data);
		assert_int_equal(counts.args.damaged, 1);
		assert_int_equal(counts.fates[CHROME_AS_INSTANT], 1);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(samples),
		cmocka_unit_test(sorted_input),
		cmocka_unit_test(nearly_sorted_input),
		cmocka_unit_test(unsorted_input),
		cmocka_unit_test(times_below_zero),
		cmocka_unit_test(damaged_args),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
