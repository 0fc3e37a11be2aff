// SPDX-License-Identifier: GPL-2.0
/*
 * Samples cut after each of their bytes: no error, nothing that the whole does not have, and a trace
 * without contradictions; so with each byte changed.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "cuts.h"
#include "format/ftrace/convert_pipe.h"

#define CORPUS	"tests/corpus/pftrace/"

static char *read_sample(const char *name, size_t *len)
{
	char path[128], *data;
	FILE *in;

	snprintf(path, sizeof(path), CORPUS "%s.pftrace", name);
	in = fopen(path, "rb");
	assert_non_null(in);
	data = malloc(1 << 16);
	assert_non_null(data);
	*len = fread(data, 1, 1 << 16, in);
	assert_true(*len && feof(in));
	fclose(in);
	return data;
}

static void convert(struct convert_pipe *p, const char *data, size_t len)
{
	const char *form;

	convert_pipe_run_as(p, formats_reader("perfetto", &form), data, len, SIZE_MAX);
	if (p->err || p->problems || p->built.records != p->input.records)
		print_error("%zu bytes: error %d, %llu handed on, %llu built, %s\n", len, p->err,
			    (unsigned long long)p->input.records, (unsigned long long)p->built.records, p->first_problem);
	assert_int_equal(p->err, 0);
	assert_int_equal(p->problems, 0);
	assert_int_equal(p->built.records, p->input.records);
	assert_int_equal(convert_pipe_accounted(p), p->built.records);
}

/* Each packet is field 1: a tag, its length as a varint, its bytes. */
static void places_of(struct cuts *c, const char *data, size_t len)
{
	size_t at = 0, bytes, shift;

	cuts_init(c, len);
	while (at < len) {
		cuts_border(c, at);
		assert_int_equal(data[at++], 0x0a);
		for (bytes = shift = 0; at < len; shift += 7) {
			bytes |= (size_t)(data[at] & 0x7f) << shift;
			if (!(data[at++] & 0x80))
				break;
		}
		at += bytes;
	}
	assert_int_equal(at, len);
}

static void cut_everywhere(const char *name)
{
	struct convert_pipe whole, p;
	struct cuts places;
	size_t len, i;
	char *data = read_sample(name, &len);

	convert(&whole, data, len);
	assert_true(whole.built.records > 0);
	places_of(&places, data, len);
	for (i = 0; i < len; i = cuts_next(&places, i + 1)) {
		convert(&p, data, i);
		assert_true(p.built.records <= whole.built.records);
		assert_true(p.built.threads <= whole.built.threads);
		assert_true(p.input.damaged <= whole.input.damaged + 1);
		convert_pipe_free(&p);
	}
	cuts_free(&places);
	convert_pipe_free(&whole);
	free(data);
}

/* Of every third byte; which bit depends on its place. */
static void change_everywhere(const char *name)
{
	struct convert_pipe p;
	struct cuts places;
	size_t len, i;
	char *data = read_sample(name, &len), was;

	places_of(&places, data, len);
	for (i = 0; i < len; i = cuts_next(&places, i + 3)) {
		was = data[i];
		data[i] = (char)(was ^ (1 << i % 8));
		convert(&p, data, len);
		convert_pipe_free(&p);
		data[i] = was;
	}
	cuts_free(&places);
	free(data);
}

static void test_cut(void **state)
{
	static const char *const names[] = { "te-basic", "te-counters", "te-legacy", "process-names", "samples-and-logs",
					     "ftrace-lost" };
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		cut_everywhere(names[i]);
}

static void test_changed(void **state)
{
	static const char *const names[] = {
		"te-clocks", "te-flows", "te-tracks", "te-interned", "process-names", "ftrace-lost",
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		change_everywhere(names[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cut),
		cmocka_unit_test(test_changed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
