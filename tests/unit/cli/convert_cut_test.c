// SPDX-License-Identifier: GPL-2.0
/*
 * Samples cut at every byte, or at each CUT_STEP'th: nothing crashes, no thread is invented, no count
 * exceeds that of the whole, and the trace is without contradictions.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cuts.h"
#include "format/ftrace/convert_pipe.h"

#define CORPUS	"tests/corpus/ftrace/"

static char *read_sample(const char *name, size_t *len)
{
	char path[256], *data;
	FILE *f;

	snprintf(path, sizeof(path), CORPUS "%s", name);
	f = fopen(path, "rb");
	if (!f)
		fail_msg("%s: cannot be read (tests run from the top of the tree)", path);
	data = malloc(1 << 20);
	assert_non_null(data);
	*len = fread(data, 1, 1 << 20, f);
	fclose(f);
	return data;
}

/* Is the @i'th thread of @part one that the whole text has, by tid and name? */
static void check_thread(const struct convert_pipe *part, unsigned int i, const char *text)
{
	const struct event_stats_thread *t = event_stats_thread(part->input.event_stats, i);
	char needle[48];

	snprintf(needle, sizeof(needle), "-%d ", t->tid);
	if (!strstr(text, needle)) {
		snprintf(needle, sizeof(needle), " %d ", t->tid);
		assert_non_null(strstr(text, needle));
	}
	snprintf(needle, sizeof(needle), "%.*s", (int)t->name_len, t->name);
	assert_non_null(strstr(text, needle));
}

static void check_cut(const char *text, size_t len, const struct convert_pipe *whole)
{
	struct convert_pipe part;
	unsigned int i;

	convert_pipe_run(&part, text, len, SIZE_MAX);
	assert_int_equal(part.err, 0);
	assert_true(part.input.records <= whole->input.records);
	assert_true(part.input.lines <= whole->input.lines);
	assert_true(part.built.switches <= whole->built.switches);
	assert_int_equal(part.built.records, part.input.records);
	assert_int_equal(convert_pipe_accounted(&part), part.built.records);
	if (part.problems)
		fail_msg("cut at %zu: %s", len, part.first_problem);
	for (i = 0; event_stats_thread(part.input.event_stats, i); i++)
		check_thread(&part, i, text);
	convert_pipe_free(&part);
}

static void cut_everywhere(const char *name)
{
	struct convert_pipe whole;
	struct cuts places;
	size_t len, cut;
	char *text = read_sample(name, &len);

	text[len] = 0;
	cuts_init(&places, len);
	cuts_lines(&places, text);
	convert_pipe_run(&whole, text, len, SIZE_MAX);
	for (cut = 0; cut < len; cut = cuts_next(&places, cut + 1))
		check_cut(text, cut, &whole);
	cuts_free(&places);
	convert_pipe_free(&whole);
	free(text);
}

static void test_kprobes(void **state)
{
	(void)state;
	cut_everywhere("kprobe-rawmarker-7.2.txt");
}

static void test_printk(void **state)
{
	(void)state;
	cut_everywhere("printk-6.12.txt");
}

static void test_wakeup_tracer(void **state)
{
	(void)state;
	cut_everywhere("wakeup-rt-7.2rt.txt");
}

static void test_function(void **state)
{
	(void)state;
	cut_everywhere("function-6.1.txt");
}

static void test_perf_script(void **state)
{
	(void)state;
	cut_everywhere("perf-script-6.18.txt");
}

/* Chunks of any size give the same trace. */
static void test_chunks(void **state)
{
	static const size_t chunks[] = { 1, 7, 4096 };
	struct convert_pipe whole, part;
	size_t len, i;
	char *text = read_sample("systrace-multi.html", &len);

	(void)state;
	convert_pipe_run(&whole, text, len, SIZE_MAX);
	assert_true(whole.input.records > 300);
	for (i = 0; i < sizeof(chunks) / sizeof(chunks[0]); i++) {
		convert_pipe_run(&part, text, len, chunks[i]);
		assert_int_equal(part.fxt_len, whole.fxt_len);
		assert_memory_equal(part.fxt, whole.fxt, whole.fxt_len);
		convert_pipe_free(&part);
	}
	convert_pipe_free(&whole);
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_kprobes), cmocka_unit_test(test_printk),
		cmocka_unit_test(test_wakeup_tracer), cmocka_unit_test(test_function),
		cmocka_unit_test(test_perf_script), cmocka_unit_test(test_chunks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
