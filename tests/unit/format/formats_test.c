// SPDX-License-Identifier: GPL-2.0
/*
 * The table of formats: which row is meant, and that a reader and a writer of it do what
 * format.h says of them.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "fxt/fxt.h"
#include "format/formats.h"
#include "format/stats.h"
#include "model/builder.h"
#include "read_fxt.h"

#define LINE	"  a-1 [000] 1.000000: x: y\n"

struct bytes {
	const char *data;
	size_t len;
	int err;		/* after them */
};

static long read_bytes(void *ctx, void *buf, size_t len)
{
	struct bytes *b = ctx;

	if (!b->len)
		return b->err;
	len = len < b->len ? len : b->len;
	memcpy(buf, b->data, len);
	b->data += len;
	b->len -= len;
	return (long)len;
}

static int drop_records(void *ctx, const void *data, size_t len)
{
	(void)ctx;
	(void)data;
	(void)len;
	return 0;
}

static int refuse_records(void *ctx, const void *data, size_t len)
{
	(void)ctx;
	(void)data;
	(void)len;
	return -ENOSPC;
}

static const struct reader_ops *find_reader(const char *word, const char **form, const char *data)
{
	*form = NULL;
	return strcmp(word, "auto") ? formats_reader(word, form) : formats_recognize(NULL, data, strlen(data));
}

/* Reads all of @data as @word; what read() returned last, or the builder if it is written through @write. */
static int read_as(const char *word, const char *data, int err, fxt_write_fn write, uint64_t *cnt,
		   struct reader_counts *counts)
{
	const struct builder_cfg builder_cfg = { .source = "test" };
	struct bytes b = { data, strlen(data), err };
	struct reader_cfg cfg = { .read = read_bytes, .read_ctx = &b };
	const struct reader_ops *ops = find_reader(word, &cfg.form, data);
	struct builder_stats stats;
	struct fxt_writer *w;
	void *reader = NULL;
	int more;

	assert_non_null(ops);
	assert_int_equal(fxt_writer_open(&w, write, NULL), 0);
	assert_int_equal(builder_open(&cfg.builder, w, &builder_cfg), 0);
	assert_int_equal(ops->open(&reader, &cfg), 0);
	while ((more = ops->read(reader)) > 0)
		;
	ops->counts(reader, counts);
	assert_true(counts->wrapper && strlen(counts->wrapper) < 32);
	assert_null(counts->event_stats);
	ops->close(reader);
	ops->close(NULL);
	more = more ? more : builder_end(cfg.builder);
	builder_stats(cfg.builder, &stats);
	*cnt += stats.records;
	builder_close(cfg.builder);
	fxt_writer_close(w);
	return more;
}

static void test_input_words(void **state)
{
	static const char *const words[] = { "text", "html", "json" };
	const char *form;
	unsigned int i;

	(void)state;
	for (i = 0; i < 3; i++) {
		assert_non_null(formats_reader(words[i], &form));
		assert_string_equal(form, words[i]);
	}
	assert_non_null(formats_reader("fxt", &form));
	assert_true(formats_reader("fxt", &form)->makes_records);
	assert_null(formats_reader("auto", &form));
	assert_null(formats_reader("", &form));
}

static void test_forms_are_what_is_read(void **state)
{
	static const char html[] = "<html><script class=\"trace-data\" type=\"application/text\">\n"
				   "# tracer: nop\n" LINE "</script></html>";
	struct reader_counts counts;
	uint64_t cnt = 0;

	(void)state;
	assert_int_equal(read_as("auto", "# tracer: nop\n" LINE LINE, 0, drop_records, &cnt, &counts), 0);
	assert_int_equal(cnt, 2);
	assert_int_equal(counts.records, 2);
	assert_int_equal(counts.comments, 1);
	assert_int_equal(read_as("html", html, 0, drop_records, &cnt, &counts), 0);
	assert_int_equal(cnt, 3);
	assert_int_equal(counts.texts, 1);
	/* The same page as text is lines that cannot be parsed around the one that can. */
	assert_int_equal(read_as("text", html, 0, drop_records, &cnt, &counts), 0);
	assert_int_equal(counts.records, 1);
	assert_true(counts.unparsed > 0 && counts.first_unparsed[0].line == 1 && counts.first_unparsed[0].reason);
	assert_int_equal(read_as("json", LINE, 0, drop_records, &cnt, &counts), 0);
	assert_int_equal(counts.records, 0);
	assert_non_null(counts.problem);
}

/* Text may be anything; what is counted in detail is only what was asked for. */
static void test_recognized(void **state)
{
	const struct builder_cfg builder_cfg = { .source = "test" };
	struct bytes b = { LINE, sizeof(LINE) - 1, 0 };
	struct reader_cfg cfg = { .read = read_bytes, .read_ctx = &b, .statistics = true };
	const struct reader_ops *ops = formats_recognize("trace.txt", LINE, sizeof(LINE) - 1);
	struct reader_counts counts;
	struct fxt_writer *w;
	void *reader = NULL;

	(void)state;
	assert_non_null(ops);
	assert_string_equal(ops->name, "ftrace");
	assert_ptr_equal(formats_recognize(NULL, "", 0), ops);
	assert_int_equal(fxt_writer_open(&w, drop_records, NULL), 0);
	assert_int_equal(builder_open(&cfg.builder, w, &builder_cfg), 0);
	assert_int_equal(ops->open(&reader, &cfg), 0);
	while (ops->read(reader) > 0)
		;
	ops->counts(reader, &counts);
	assert_string_equal(event_stats_event(counts.event_stats, 0)->name, "x");
	assert_int_equal(event_stats_cpu(counts.event_stats, 0)->records, 1);
	ops->close(reader);
	builder_close(cfg.builder);
	fxt_writer_close(w);
}

static void test_foreign_input_is_named(void **state)
{
	struct reader_counts counts;
	uint64_t cnt = 0;

	(void)state;
	assert_int_equal(read_as("auto", "PERFILE2 and more", 0, drop_records, &cnt, &counts), 0);
	assert_string_equal(counts.foreign, "a perf.data file");
	assert_non_null(strstr(counts.foreign_hint, "perf script"));
	assert_false(counts.foreign_is_guess);
	assert_int_equal(counts.records, 0);
}

/* So many that the writer does not hold back all of them until the end. */
#define MANY	20000

static void test_errors_of_both_ends_are_returned(void **state)
{
	char *many;
	unsigned int i;
	struct reader_counts counts;
	uint64_t cnt = 0;

	(void)state;
	assert_int_equal(read_as("text", LINE LINE, -EBADMSG, drop_records, &cnt, &counts), -EBADMSG);
	many = calloc(MANY, sizeof(LINE) - 1);
	assert_non_null(many);
	for (i = 0; i + 1 < MANY; i++)
		memcpy(many + i * (sizeof(LINE) - 1), LINE, sizeof(LINE) - 1);
	assert_int_equal(read_as("text", many, 0, refuse_records, &cnt, &counts), -ENOSPC);
	free(many);
}

static int append(void *ctx, const void *data, size_t len)
{
	char *out = ctx;

	if (strlen(out) + len > 15)
		return -ENOSPC;
	strncat(out, data, len);
	return 0;
}

static void test_fxt_is_written_as_it_is(void **state)
{
	const struct writer_ops *ops = formats_writer("a.fxt");
	void *writer = NULL;
	char out[16] = "";
	const struct writer_cfg cfg = { .write = append, .ctx = out };

	(void)state;
	assert_ptr_equal(formats_writer("-"), ops);
	assert_ptr_equal(formats_writer(".fxt"), ops);
	assert_ptr_equal(formats_writer("trace"), ops);
	assert_string_equal(ops->name, "fxt");
	assert_int_equal(ops->open(&writer, &cfg), 0);
	assert_int_equal(ops->record(writer, "12345678", 8), 0);
	assert_int_equal(ops->record(writer, "90123456", 8), -ENOSPC);
	assert_int_equal(ops->close(writer), 0);
	assert_int_equal(ops->close(NULL), 0);
	assert_string_equal(out, "12345678");
}

/* What a reader of FXT handed out. */
struct passed {
	char data[4096];
	size_t len;
	unsigned int calls;
};

static int pass(void *ctx, const void *data, size_t len)
{
	struct passed *p = ctx;

	if (p->len + len > sizeof(p->data))
		return -ENOSPC;
	memcpy(p->data + p->len, data, len);
	p->len += len;
	p->calls++;
	return 0;
}

/* Of each form of scheduling there is a writer. */
static void test_json_is_by_name(void **state)
{
	const struct writer_ops *ops = formats_writer("a.json");
	const char *const *sched;
	void *writer;

	(void)state;
	assert_string_equal(ops->name, "json");
	assert_ptr_equal(formats_writer_named("json"), ops);
	assert_null(formats_writer_named("jsonl"));
	assert_string_equal(formats_writer("a.json.fxt")->name, "fxt");
	assert_string_equal(formats_writer(".json")->name, "fxt");
	for (sched = ops->scheds; *sched; sched++) {
		struct passed out = { .len = 0 };
		const struct writer_cfg cfg = { .write = pass, .ctx = &out, .sched = *sched };

		assert_int_equal(ops->open(&writer, &cfg), 0);
		assert_int_equal(ops->record(writer, "12345678", 8), 0);
		assert_int_equal(ops->close(writer), 0);
		assert_string_equal(out.data + out.len - 3, "]}\n");
	}
	assert_int_equal(sched - ops->scheds, 3);
	assert_int_equal(ops->close(NULL), 0);
}

static int read_copied(const char *data, size_t len, struct passed *passed, struct reader_counts *counts)
{
	struct bytes b = { data, len, 0 };
	struct reader_cfg cfg = { .read = read_bytes, .read_ctx = &b, .record = pass, .record_ctx = passed };

	formats_reader("fxt", &cfg.form)->close(NULL);
	return read_fxt(&cfg, counts);
}

static size_t make_trace(struct passed *p, unsigned int events)
{
	const struct fxt_event e = { .thread = { 7, 8, false }, .category = fxt_str("c"), .name = fxt_str("n") };
	struct fxt_writer *w;

	assert_int_equal(fxt_writer_open(&w, pass, p), 0);
	assert_int_equal(fxt_write_magic(w), 0);
	while (events--)
		assert_int_equal(fxt_write_event(w, &e, NULL, 0), 0);
	assert_int_equal(fxt_writer_close(w), 0);
	return p->len;
}

/* Every byte of every record; what is damaged is counted and not passed on. */
static void test_fxt_is_read_as_it_is(void **state)
{
	struct passed trace = { .len = 0 }, passed = { .len = 0 };
	struct reader_counts counts;
	size_t len = make_trace(&trace, 20);
	const char *form;

	(void)state;
	assert_ptr_equal(formats_recognize(NULL, trace.data, len), formats_reader("fxt", &form));
	assert_ptr_equal(formats_recognize("a.fxt", trace.data, 7), formats_reader("text", &form));
	assert_int_equal(read_copied(trace.data, len, &passed, &counts), 0);
	assert_int_equal(counts.records, 20);
	assert_int_equal(counts.bytes, len);
	assert_int_equal(counts.damaged, 0);
	assert_int_equal(passed.len, len);
	assert_int_equal(passed.calls, 1);
	assert_memory_equal(passed.data, trace.data, len);
	passed.len = 0;
	memset(trace.data + len - 16 * 5, 0xff, 8);
	assert_int_equal(read_copied(trace.data, len, &passed, &counts), 0);
	assert_int_equal(counts.records, 19);
	assert_int_equal(counts.damaged, 1);
	assert_int_equal(counts.problem_offset, len - 16 * 5);
	assert_int_equal(passed.len, len - 16);
	trace.len = passed.len = sizeof(passed.data);
	assert_int_equal(read_copied(trace.data, len, &passed, &counts), -ENOSPC);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_input_words),
		cmocka_unit_test(test_forms_are_what_is_read),
		cmocka_unit_test(test_recognized),
		cmocka_unit_test(test_foreign_input_is_named),
		cmocka_unit_test(test_errors_of_both_ends_are_returned),
		cmocka_unit_test(test_fxt_is_written_as_it_is),
		cmocka_unit_test(test_fxt_is_read_as_it_is),
		cmocka_unit_test(test_json_is_by_name),
	};

	return cmocka_run_group_tests_name("formats", tests, NULL, NULL);
}
