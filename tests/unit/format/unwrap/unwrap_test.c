// SPDX-License-Identifier: GPL-2.0
/*
 * Unwrapping: every wrapper, in every size of pieces, cut at every byte,
 * damaged, and within each other.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include <cmocka.h>

#include "format/unwrap/unwrap.h"
#include "unwrap_rows.h"

#define CORPUS		"tests/corpus/ftrace/"
#define SAMPLE_BYTES	(1 << 20)
#define ENTRIES(table)	(sizeof(table) / sizeof((table)[0]))
#define MARK		'\1'	/* set before each piece in what is compared */

struct bytes {
	char *data;			/* with a NUL after them */
	size_t len, cap;
};

static void add(struct bytes *b, const void *data, size_t len)
{
	if (b->len + len + 1 > b->cap) {
		b->cap = 2 * (b->len + len + 1);
		b->data = realloc(b->data, b->cap);
		assert_non_null(b->data);
	}
	if (len)
		memcpy(b->data + b->len, data, len);
	b->len += len;
	b->data[b->len] = '\0';
}

static void add_text(struct bytes *b, const char *text)
{
	add(b, text, strlen(text));
}

static struct bytes bytes_of(const char *text)
{
	struct bytes b = { 0 };

	add_text(&b, text);
	return b;
}

/* @in becomes what is around it; the old bytes are freed. */
static void wrap(struct bytes *in, const char *before, const char *after)
{
	struct bytes out = bytes_of(before);

	add(&out, in->data, in->len);
	add_text(&out, after);
	free(in->data);
	*in = out;
}

static void deflate_with(struct bytes *in, int window_bits)
{
	size_t room = in->len + 1024;
	char *out = malloc(room);
	z_stream z = { .next_in = (Bytef *)in->data, .avail_in = (uInt)in->len,
		       .next_out = (Bytef *)out, .avail_out = (uInt)room };

	assert_non_null(out);
	assert_int_equal(deflateInit2(&z, 6, Z_DEFLATED, window_bits, 8, Z_DEFAULT_STRATEGY), Z_OK);
	assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
	free(in->data);
	*in = (struct bytes){ .data = out, .len = z.total_out };
	deflateEnd(&z);
}

static void gzip(struct bytes *in)
{
	deflate_with(in, 16 + MAX_WBITS);
}

/* @line characters a line, 0 for all in one. */
static void base64(struct bytes *in, size_t line)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	struct bytes out = { 0 };
	size_t i, k, chars = 0;

	for (i = 0; i < in->len; i += 3) {
		uint32_t group = 0;

		for (k = 0; k < 3; k++)
			group = group << 8 | (i + k < in->len ? (unsigned char)in->data[i + k] : 0);
		for (k = 0; k < 4; k++) {
			add(&out, i + k <= in->len ? &digits[group >> (18 - 6 * k) & 63] : "=", 1);
			if (line && ++chars % line == 0)
				add(&out, "\n", 1);
		}
	}
	free(in->data);
	*in = out;
}

/* As a JSON string without its quotes. */
static void escape(struct bytes *in)
{
	struct bytes out = { 0 };
	char u[8];
	size_t i;

	for (i = 0; i < in->len; i++) {
		unsigned char c = (unsigned char)in->data[i];

		snprintf(u, sizeof(u), c == '\n' ? "\\n" : "\\u%04X", c);
		if (c < ' ' || strchr("\"\\<", c))
			add_text(&out, u);
		else
			add(&out, &c, 1);
	}
	free(in->data);
	*in = out;
}

static void json(struct bytes *in)
{
	escape(in);
	wrap(in, "{\"systemTraceEvents\":\"", "\"}");
}

static void viewer(struct bytes *in)
{
	base64(in, 0);
	wrap(in, "<html><script id=\"viewer-data\" type=\"application/json\">\n", "\n</script>\n");
}

static struct bytes load(const char *name)
{
	struct bytes b = { .data = calloc(1, SAMPLE_BYTES) };
	FILE *f = fopen(name, "r");

	assert_true(f && b.data);
	b.len = fread(b.data, 1, SAMPLE_BYTES - 1, f);
	fclose(f);
	return b;
}

struct source {
	const char *data;
	size_t len, at, chunk;
	int err;			/* at the end */
};

static long read_source(void *ctx, void *buf, size_t len)
{
	struct source *s = ctx;
	size_t n = s->len - s->at;

	if (!n)
		return s->err;
	n = n < len ? n : len;
	n = n < s->chunk ? n : s->chunk;
	memcpy(buf, s->data + s->at, n);
	s->at += n;
	return (long)n;
}

struct unwrapped {
	struct bytes text;		/* MARK before each piece */
	struct unwrap_info info;
	char wrapper[256];
	long end;
};

static struct unwrapped unwrap(struct source s, size_t len, enum unwrap_format format)
{
	char *buf = malloc(len);
	struct unwrapped got = { 0 };
	struct unwrap *p;
	bool begins;
	long n;

	assert_non_null(buf);
	assert_int_equal(unwrap_open(&p, format, read_source, &s), 0);
	add(&got.text, "", 0);
	while ((n = unwrap_read(p, buf, len, &begins)) > 0) {
		assert_true((size_t)n <= len);
		if (begins)
			add(&got.text, (char[]){ MARK }, 1);
		add(&got.text, buf, (size_t)n);
	}
	assert_false(begins);
	got.end = n;
	assert_int_equal(unwrap_read(p, buf, len, &begins), n);
	unwrap_info(p, &got.info);
	snprintf(got.wrapper, sizeof(got.wrapper), "%s", got.info.wrapper);
	got.info.wrapper = NULL;
	unwrap_close(p);
	free(buf);
	return got;
}

static void same(const struct unwrapped *got, const struct unwrapped *want)
{
	assert_string_equal(got->text.data, want->text.data);
	assert_string_equal(got->wrapper, want->wrapper);
	assert_int_equal(got->end, want->end);
	assert_int_equal(got->info.format, want->info.format);
	assert_int_equal(got->info.texts, want->info.texts);
	assert_int_equal(got->info.skipped_blocks, want->info.skipped_blocks);
	assert_int_equal(got->info.trace_events, want->info.trace_events);
	assert_ptr_equal(got->info.problem, want->info.problem);
}

/* The same whatever the pieces it comes in and goes out in. Free its text. */
static struct unwrapped unwrap_each_way(struct bytes in, enum unwrap_format format)
{
	static const size_t chunks[] = { 1, 7, 4096, 1 << 20 }, lens[] = { 1, 3, 1000, 1 << 18 };
	struct source s = { .data = in.data, .len = in.len, .chunk = SIZE_MAX };
	struct unwrapped want = unwrap(s, 1 << 20, format), got;
	size_t i, k;

	for (i = 0; i < ENTRIES(chunks); i++) {
		for (k = 0; k < ENTRIES(lens); k++) {
			s.chunk = chunks[i];
			got = unwrap(s, lens[k], format);
			same(&got, &want);
			free(got.text.data);
		}
	}
	return want;
}

/* What comes of the input cut at any byte is a prefix of what comes of it all. */
static void cut_everywhere(struct bytes in, const struct unwrapped *whole, enum unwrap_format format)
{
	struct source s = { .data = in.data, .chunk = SIZE_MAX };
	struct unwrapped got;

	for (; s.len < in.len; s.len++) {
		got = unwrap(s, 4096, format);
		if (got.text.len > whole->text.len ||
		    memcmp(got.text.data, whole->text.data, got.text.len))
			fail_msg("cut at %zu: \"%s\"", s.len, got.text.data);
		free(got.text.data);
	}
}

static void check(struct bytes in, struct want want)
{
	struct source failing = { .data = in.data, .len = in.len, .chunk = 50, .err = -EIO };
	struct unwrapped got = unwrap_each_way(in, want.format), failed;
	const char *piece = want.text;
	size_t texts = 0;

	while ((piece = strchr(piece, MARK)) != NULL)
		texts += strncmp(++piece, "PROCESS DUMP", 12) != 0;
	assert_string_equal(got.text.data, want.text);
	assert_string_equal(got.wrapper, want.wrapper);
	assert_int_equal(got.end, 0);
	if (want.format)
		assert_int_equal(got.info.format, want.format);
	assert_int_equal(got.info.texts, texts);
	assert_int_equal(got.info.skipped_blocks, want.skipped);
	assert_int_equal(got.info.trace_events, want.events);
	assert_string_equal(got.info.problem ? got.info.problem : "", want.problem ? want.problem : "");
	if (want.offset)
		assert_int_equal(got.info.problem_offset, want.offset);

	/* An error of the source is no damage, and need not be met after damage. */
	failed = unwrap(failing, 64, want.format);
	assert_true(failed.end == -EIO || (!failed.end && want.problem));
	assert_string_equal(failed.text.data, want.text);
	assert_true(!failed.info.problem || failed.info.problem == got.info.problem);
	free(failed.text.data);

	/* The first letter of an archive could be that of a text. */
	if (in.len < 4000 && strcmp(want.wrapper, "unknown"))
		cut_everywhere(in, &got, want.format);
	free(got.text.data);
}

/* Frees @in. */
static void check_made(struct bytes in, struct want want)
{
	check(in, want);
	free(in.data);
}

static void check_sample(const char *name, const char *text_name, struct want want)
{
	struct bytes in = load(name), text = load(text_name);
	const char *dump = strstr(in.data, "PROCESS DUMP");

	wrap(&text, "\1", dump ? "\1" : "");
	if (dump)
		add(&text, dump, (size_t)(strstr(dump, "  </script>") - dump));
	want.text = text.data;
	check_made(in, want);
	free(text.data);
}

static void test_samples(void **state)
{
	(void)state;
	check_sample(CORPUS "atrace-tgid-6.1.txt", CORPUS "atrace-tgid-6.1.txt",
		     (struct want){ .wrapper = "text" });
	check_sample(CORPUS "systrace-multi.html", CORPUS "atrace-tgid-6.1.txt",
		     (struct want){ .wrapper = "HTML with trace-data", .skipped = 1, .events = 1 });
	check_sample(CORPUS "chrome-systemTraceEvents.json", CORPUS "sched-irq-5.10.txt",
		     (struct want){ .wrapper = "JSON", .events = 3 });
}

static void test_made(void **state)
{
	const struct want *want;

	for (want = *state; want->in; want++) {
		struct bytes in = bytes_of(want->in);

		check(in, *want);
		/* What it is asked for to be, it may be compressed. */
		gzip(&in);
		free(unwrap_each_way(in, want->format).text.data);
		free(in.data);
	}
}

static void test_compressed(void **state)
{
	struct bytes in = bytes_of(TEXT), two = bytes_of(RECORD "\n"), cut;
	struct want want = { .text = "\1" TEXT, .wrapper = "gzip" };

	(void)state;
	gzip(&in);
	gzip(&two);
	check(in, want);
	add(&in, two.data, two.len);
	free(two.data);
	want.text = "\1" TEXT RECORD "\n";
	check(in, want);
	want.format = UNWRAP_TEXT;
	want.problem = "the compressed data end early";
	cut = in;
	cut.len -= 9;
	check(cut, want);
	add(&in, "\0\0\n", 3);
	want.problem = NULL;
	check(in, want);
	add(&in, "rest", 4);
	want.problem = "something follows the compressed data";
	check(in, want);
	/* The second member's checksum. */
	in.data[in.len - 4 - 3 - 8] ^= 1;
	want.problem = "the compressed data are damaged";
	check_made(in, want);

	in = bytes_of(TEXT);
	deflate_with(&in, MAX_WBITS);
	want = (struct want){ .text = "\1" TEXT, .wrapper = "zlib" };
	check(in, want);
	wrap(&in, "\r\ncapturing trace... done\r\nTRACE:\r\n", "\n");
	want.wrapper = "atrace output, zlib";
	check(in, want);
	want.format = UNWRAP_TEXT;
	check_made(in, want);
}

static void test_base64(void **state)
{
	static const size_t lines[] = { 0, 1, 3, 64, 76, 77 };
	struct bytes in;
	size_t i;

	(void)state;
	for (i = 0; i < ENTRIES(lines); i++) {
		in = bytes_of(TEXT "a");
		base64(&in, lines[i]);
		wrap(&in, PAGE VIEWER "\r\n  ", " \r\n</script>");
		check_made(in, (struct want){ .text = "\1" TEXT "a", .wrapper = IN_VIEWER });
	}
}

/* More than a window holds, of characters that may not fit into what is asked for. */
static void test_wide_characters(void **state)
{
	struct bytes in = bytes_of("{" STE "\"# tracer: nop\\n"), text = bytes_of("\1# tracer: nop\n");
	size_t i;

	(void)state;
	for (i = 0; i < 25000; i++) {
		add_text(&in, "\\u20ac");
		add_text(&text, "\xe2\x82\xac");
	}
	add_text(&in, "\"}");
	check_made(in, (struct want){ .text = text.data, .wrapper = "JSON" });
	free(text.data);
}

/* Damaged gzip in a page: what was before it, and the next block. */
static void test_gzip_damage_in_page(void **state)
{
	struct bytes in = load(CORPUS "atrace-tgid-6.1.txt");
	struct bytes text = load(CORPUS "atrace-tgid-6.1.txt");
	struct unwrapped got;
	size_t len;

	(void)state;
	gzip(&in);
	memset(in.data + in.len / 2, 0, 100);
	viewer(&in);
	wrap(&in, "", TAG RECORD "\n" END);
	got = unwrap_each_way(in, UNWRAP_AUTO);
	assert_string_equal(got.info.problem, "the compressed data are damaged");
	assert_int_equal(got.info.texts, 2);
	len = got.text.len - strlen("\1" RECORD "\n");
	assert_string_equal(got.text.data + len, "\1" RECORD "\n");
	assert_true(len > text.len / 4 && !memcmp(got.text.data + 1, text.data, text.len / 4));
	free(got.text.data);
	free(text.data);
	free(in.data);
}

static void test_nested(void **state)
{
	struct want want = { .text = "\1" TEXT, .wrapper = "gzip, HTML with viewer-data, gzip" };
	struct bytes in = bytes_of(TEXT);

	(void)state;
	gzip(&in);
	viewer(&in);
	gzip(&in);
	check(in, want);
	want.format = UNWRAP_HTML;
	check_made(in, want);

	in = bytes_of(TEXT);
	json(&in);
	json(&in);
	want = (struct want){ .text = "\1" TEXT, .wrapper = "JSON, JSON" };
	check_made(in, want);

	in = bytes_of(PAGE TAG TEXT END);
	json(&in);
	viewer(&in);
	want.wrapper = "HTML with viewer-data, JSON, HTML with trace-data";
	check_made(in, want);

	in = bytes_of(TEXT);
	viewer(&in);
	wrap(&in, "", PAGE TAG TEXT END TAG RECORD "\n" END);
	gzip(&in);
	want.text = "\1" TEXT "\1" TEXT "\1" RECORD "\n";
	want.wrapper = "gzip, HTML with viewer-data";
	check_made(in, want);

	in = bytes_of(TEXT);
	json(&in);
	wrap(&in, PAGE TAG, END TAG "{\"a\": 1}" END);
	want = (struct want){ .text = "\1" TEXT, .wrapper = IN_TRACE ", JSON", .skipped = 1 };
	check_made(in, want);
}

static void test_too_deep(void **state)
{
	struct want want = { .text = "\1" TEXT,
			     .wrapper = "gzip, gzip, gzip, gzip, gzip, gzip, gzip, gzip" };
	struct bytes in = bytes_of(TEXT);
	int i;

	(void)state;
	for (i = 0; i < 8; i++)
		gzip(&in);
	check(in, want);
	gzip(&in);
	want.text = "";
	want.problem = "wrapped more than 8 times";
	check_made(in, want);

	/* With something else to go on with. */
	in = bytes_of("{}");
	for (i = 0; i < 7; i++)
		json(&in);
	wrap(&in, PAGE TAG, END TAG TEXT END);
	want.text = "\1" TEXT;
	want.wrapper = IN_TRACE;
	want.skipped = 1;
	check_made(in, want);
}

static long read_too_much(void *ctx, void *buf, size_t len)
{
	(void)ctx;
	memset(buf, 0, len);
	return (long)len + 1;
}

/* A source that is wrong, and an end in the middle of everything. */
static void test_odds(void **state)
{
	struct bytes in = bytes_of(TEXT);
	struct source s;
	struct unwrap *p;
	char buf[10];
	bool begins;

	(void)state;
	assert_int_equal(unwrap_open(&p, UNWRAP_AUTO, read_too_much, NULL), 0);
	assert_int_equal(unwrap_read(p, buf, sizeof(buf), &begins), -EIO);
	unwrap_close(p);
	unwrap_close(NULL);

	json(&in);
	gzip(&in);
	viewer(&in);
	s = (struct source){ .data = in.data, .len = in.len, .chunk = 10 };
	assert_int_equal(unwrap_open(&p, UNWRAP_AUTO, read_source, &s), 0);
	assert_int_equal(s.at, 0);
	assert_true(unwrap_read(p, buf, sizeof(buf), &begins) > 0 && begins);
	assert_true(unwrap_read(p, buf, sizeof(buf), &begins) > 0 && !begins);
	unwrap_close(p);
	free(in.data);

	assert_string_equal(unwrap_format_name(UNWRAP_AUTO), "auto");
	assert_string_equal(unwrap_format_name(UNWRAP_HTML), "html");
	assert_string_equal(unwrap_format_name(UNWRAP_JSON), "json");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_samples),
		{ "texts", test_made, NULL, NULL, (void *)text_rows },
		{ "pages", test_made, NULL, NULL, (void *)pages },
		{ "jsons", test_made, NULL, NULL, (void *)jsons },
		cmocka_unit_test(test_compressed),
		cmocka_unit_test(test_base64),
		cmocka_unit_test(test_wide_characters),
		cmocka_unit_test(test_gzip_damage_in_page),
		cmocka_unit_test(test_nested),
		cmocka_unit_test(test_too_deep),
		cmocka_unit_test(test_odds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
