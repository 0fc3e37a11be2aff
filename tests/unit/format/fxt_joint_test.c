// SPDX-License-Identifier: GPL-2.0
/*
 * Files after one another, read as one: what is left out because another file has it, and that all else is as it was.
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

#include "format/fxt_joint.h"
#include "fxt/fxt.h"
#include "fxt/fxt_mem.h"
#include "fxt/fxt_walk.h"
#include "read_fxt.h"

static struct fxt_mem trace;		/* the files */
static struct fxt_writer *w;

/* The next test's files. */
static void forget(void)
{
	fxt_mem_free(&trace);
	memset(&trace, 0, sizeof(trace));
}

static void begin(void)
{
	assert_int_equal(fxt_writer_open(&w, fxt_mem_write, &trace), 0);
	assert_int_equal(fxt_write_magic(w), 0);
	assert_int_equal(fxt_write_provider_info(w, 1, fxt_str("kfxt")), 0);
	assert_int_equal(fxt_write_initialization(w, 1000000000), 0);
}

static void end(void)
{
	assert_int_equal(fxt_writer_close(w), 0);
}

static void mark(uint16_t cpu, uint64_t ts, const char *what)
{
	const struct fxt_switch s = { .ts = ts, .cpu = cpu, .out = 100 + cpu, .in = 100 + cpu };
	const struct fxt_arg arg = fxt_arg_str("mark", fxt_str(what));

	assert_int_equal(fxt_write_switch(w, &s, &arg, 1), 0);
}

static void event(const char *name, uint64_t thread, bool goes_on)
{
	const struct fxt_event e = {
		.type = FXT_DURATION_COMPLETE, .ts = 5, .id = 9, .thread = { 1, thread, false },
		.category = fxt_str("syscall"), .name = fxt_str(name),
	};
	const struct fxt_arg args[] = { fxt_arg_bool("unfinished", goes_on), fxt_arg_bool("continues", goes_on) };

	assert_int_equal(fxt_write_event(w, &e, args, 2), 0);
}

static void carried(uint64_t thread, bool is)
{
	const struct fxt_wakeup wakeup = { .ts = 7, .cpu = 1, .thread = thread };
	const struct fxt_arg arg = fxt_arg_bool("carried", is);

	assert_int_equal(fxt_write_wakeup(w, &wakeup, &arg, 1), 0);
}

/* A file with two CPUs, unless @ends is 0; each event has a name and a thread of its own in the tables. */
static void file(const char *name, uint64_t begins, uint64_t ends)
{
	char text[32];

	begin();
	if (begins) {
		mark(0, begins, "start");
		mark(1, begins + 1, "start");
	}
	carried(begins, true);
	snprintf(text, sizeof(text), "%s1", name);
	event(text, 1, false);
	snprintf(text, sizeof(text), "%s2", name);
	event(text, 2, true);
	snprintf(text, sizeof(text), "%s3", name);
	event(text, 3, false);
	snprintf(text, sizeof(text), "%s4", name);
	event(text, 4, true);
	event(text, 5, true);
	if (ends) {
		mark(0, ends, "stop");
		mark(1, ends + 1, "stop");
	}
	event("last", 6, false);
	end();
}

static int read_into(struct fxt_mem *out, size_t len, size_t chunk, struct reader_counts *counts)
{
	struct fxt_mem_source source = { .data = trace.data, .len = len, .chunk = chunk };
	struct reader_cfg cfg = { .read = fxt_mem_read, .read_ctx = &source, .record = fxt_mem_write, .record_ctx = out };

	return read_fxt(&cfg, counts);
}

/* The names of the events that are left, "w" for a wakeup and "|" where a file begins. */
static const char *left(const struct fxt_mem *m)
{
	static char text[1024];
	struct fxt_mem_source source = { .data = m->data, .len = m->len };
	struct fxt_reader *r;
	struct fxt_record rec;
	size_t len = 0;

	text[0] = '\0';
	assert_int_equal(fxt_reader_open(&r, fxt_mem_read, &source), 0);
	while (fxt_reader_next(r, &rec) > 0) {
		assert_int_not_equal(rec.kind, FXT_KIND_DAMAGED);
		assert_true(len < sizeof(text) - 32);
		if (rec.kind == FXT_KIND_MAGIC)
			len += (size_t)sprintf(text + len, "| ");
		if (rec.kind == FXT_KIND_WAKEUP)
			len += (size_t)sprintf(text + len, "w ");
		if (rec.kind == FXT_KIND_EVENT)
			len += (size_t)sprintf(text + len, "%.*s:%d ", (int)rec.event.name.len, rec.event.name.data,
					       (int)rec.event.thread.thread);
	}
	fxt_reader_close(r);
	return text;
}

/* Ends the trace. */
static void assert_left(const char *wanted, uint64_t in_two_files)
{
	struct fxt_mem out = { 0 };
	struct reader_counts counts;

	assert_int_equal(read_into(&out, trace.len, 0, &counts), 0);
	assert_string_equal(left(&out), wanted);
	assert_int_equal(counts.in_two_files, in_two_files);
	assert_int_equal(counts.damaged, 0);
	fxt_mem_free(&out);
	forget();
}

#define ALL(x)		"w " REST(x)
#define REST(x)		#x "1:1 " #x "2:2 " #x "3:3 " #x "4:4 " #x "4:5 last:6 "
#define LESS(x)		#x "1:1 " #x "3:3 last:6 "

static void test_one_after_the_other(void **state)
{
	(void)state;
	file("a", 10, 20);
	assert_left("| " ALL(a), 0);
	file("a", 10, 20);
	file("b", 20, 30);
	assert_left("| w " LESS(a) "| " REST(b), 4);
	file("a", 10, 20);
	file("b", 20, 30);
	file("c", 30, 40);
	file("d", 40, 50);
	assert_left("| w " LESS(a) "| " LESS(b) "| " LESS(c) "| " REST(d), 12);
}

static void test_a_gap_between(void **state)
{
	(void)state;
	file("a", 10, 20);
	file("b", 21, 30);
	assert_left("| " ALL(a) "| " ALL(b), 0);
	file("a", 10, 20);
	file("b", 19, 30);
	file("c", 30, 40);
	assert_left("| " ALL(a) "| w " LESS(b) "| " REST(c), 4);
}

/* A file without CPUs, or of others, shows nothing. */
static void test_other_cpus(void **state)
{
	(void)state;
	file("a", 10, 20);
	file("b", 0, 0);
	file("c", 20, 30);
	assert_left("| " ALL(a) "| " ALL(b) "| " ALL(c), 0);
	file("a", 10, 0);
	file("b", 20, 30);
	assert_left("| " ALL(a) "| " ALL(b), 0);
	file("a", 10, 20);
	begin();
	mark(7, 15, "start");
	mark(1, 21, "start");
	carried(3, true);
	carried(3, false);
	end();
	assert_left("| w " LESS(a) "| w ", 4);
}

/* As many as are thought of, then all stay; in order even so. */
static void test_much_between(void **state)
{
	const size_t len = 1U << 20;
	char *data = calloc(1, len), wanted[256];
	unsigned int i;

	(void)state;
	assert_non_null(data);
	for (i = 60; i <= 70; i += 10) {
		file("a", 10, 20);
		begin();
		for (unsigned int k = 0; k < i; k++)
			assert_int_equal(fxt_write_blob(w, FXT_BLOB_DATA, fxt_str("x"), data, len), 0);
		mark(0, 20, "start");
		carried(3, true);
		event("b", 2, false);
		end();
		snprintf(wanted, sizeof(wanted), "| w %s| b:2 ", i < 64 ? LESS(a) : REST(a));
		assert_left(wanted, i < 64 ? 4 : 1);
	}
	free(data);
}

/* Wherever the input ends: each record is in the output or counted, and nothing else is. */
static void test_every_cut(void **state)
{
	struct fxt_walk before, after;
	struct reader_counts counts;
	struct fxt_mem out = { 0 };
	uint64_t kinds;
	size_t cut;
	int i;

	(void)state;
	file("a", 10, 20);
	file("b", 20, 30);
	file("c", 31, 40);
	for (cut = 0; cut <= trace.len; cut++) {
		out.len = 0;
		assert_int_equal(read_into(&out, cut, 1 + cut % 100, &counts), 0);
		before = fxt_walk(trace.data, cut, (struct fxt_walk_options){ 0 });
		after = fxt_walk(out.data, out.len, (struct fxt_walk_options){ 0 });
		assert_null(after.broken);
		assert_true(!after.kinds[FXT_KIND_DAMAGED] || !out.len);
		for (i = 0, kinds = 0; i < FXT_KIND_DAMAGED; i++)
			kinds += before.kinds[i] - after.kinds[i];
		assert_int_equal(kinds, counts.in_two_files);
	}
	fxt_mem_free(&out);
	forget();
}

/* Whatever a byte is: the rest is read, and no more comes out than was in it. */
static void test_damage(void **state)
{
	struct reader_counts counts;
	struct fxt_mem out = { 0 };
	unsigned char was;
	size_t at;

	(void)state;
	file("a", 10, 20);
	file("b", 20, 30);
	for (at = 0; at < trace.len; at++) {
		was = trace.data[at];
		trace.data[at] = (unsigned char)(was + 1 + at % 255);
		out.len = 0;
		assert_int_equal(read_into(&out, trace.len, 0, &counts), 0);
		assert_true(out.len <= trace.len && counts.in_two_files <= 5);
		trace.data[at] = was;
	}
	fxt_mem_free(&out);
	forget();
}

static int take_some(void *ctx, const void *data, size_t len)
{
	unsigned int *calls = ctx;

	(void)data;
	(void)len;
	return (*calls)-- ? 0 : -ENOSPC;
}

/* Of the output, whatever is handed on then: pieces of records, or what was kept, at the end of a file or of the input. */
static void test_errors(void **state)
{
	unsigned int calls, left_calls, i;

	(void)state;
	file("a", 10, 20);
	file("b", 20, 30);
	for (calls = 0, i = 0; i == calls; calls++) {
		struct fxt_mem_source source = { .data = trace.data, .len = trace.len };
		struct reader_cfg cfg = { .read = fxt_mem_read, .read_ctx = &source, .record = take_some, .record_ctx = &left_calls };
		int err;

		left_calls = calls;
		err = read_fxt(&cfg, NULL);
		assert_true(err == -ENOSPC || !err);
		i += err == -ENOSPC;
	}
	assert_true(i >= 4);
	forget();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_one_after_the_other), cmocka_unit_test(test_a_gap_between),
		cmocka_unit_test(test_other_cpus), cmocka_unit_test(test_much_between),
		cmocka_unit_test(test_every_cut), cmocka_unit_test(test_damage),
		cmocka_unit_test(test_errors),
	};

	return cmocka_run_group_tests_name("fxt_joint", tests, NULL, NULL);
}
