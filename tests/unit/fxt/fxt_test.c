/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The FXT writer: the exact words of every record, derived by hand from the
 * specification and not from format.h; its tables, limits and errors. What
 * needs the reader is in fxt_reader_test.c.
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

#include "fxt_mem.h"

#define INLINE(text)	fxt_str_inline(text, sizeof(text) - 1)
#define NM		0x6d6eULL	/* the bytes of "nm" */

struct fixture {
	struct fxt_writer *w;
	struct fxt_mem mem;
};

static const unsigned char nine[] = { 1, 2, 3, 4, 5, 6, 7, 8, 9 };
#define NINE		0x0807060504030201ULL, 9
#define TS		0x1122334455667788ULL

static const struct fxt_thread second = { .process = 5, .thread = 6 };
static const struct fxt_thread inlined = { .process = 0x64, .thread = 0x65, .inlined = true };

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	*state = f;
	return fxt_writer_open(&f->w, fxt_mem_write, &f->mem);
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	fxt_writer_close(f->w);
	fxt_mem_free(&f->mem);
	free(f);
	return 0;
}

/* String 1 is "a", thread 2 is 5/6, thread 3 is 5/0. */
static int setup_tables(void **state)
{
	struct fixture *f;

	setup(state);
	f = *state;
	assert_int_equal(fxt_write_string(f->w, 1, fxt_str("a")), 0);
	assert_int_equal(fxt_write_thread(f->w, 2, second), 0);
	assert_int_equal(fxt_write_thread(f->w, 3, (struct fxt_thread){ .process = 5 }), 0);
	fxt_writer_flush(f->w);
	f->mem.len = 0;
	return 0;
}

/* What was written since the last time. */
static void check_words(struct fixture *f, const uint64_t *want, size_t cnt)
{
	uint64_t got;
	size_t i;

	assert_int_equal(fxt_writer_flush(f->w), 0);
	for (i = 0; i < cnt && i < f->mem.len / 8; i++) {
		memcpy(&got, f->mem.data + 8 * i, 8);
		if (got != want[i])
			print_message("word %zu: %016llx, not %016llx\n", i,
				      (unsigned long long)got, (unsigned long long)want[i]);
		assert_true(got == want[i]);
	}
	assert_int_equal(f->mem.len, 8 * cnt);
	f->mem.len = 0;
}

#define EXPECT(f, ...) do { \
	static const uint64_t want_words[] = { __VA_ARGS__ }; \
	check_words(f, want_words, sizeof(want_words) / 8); \
} while (0)

static void expect_nothing(struct fixture *f)
{
	check_words(f, NULL, 0);
}

/* ---- every record -------------------------------------------------------- */

static void test_metadata(void **state)
{
	struct fixture *f = *state;

	fxt_write_magic(f->w);
	EXPECT(f, 0x0016547846040010ULL);
	fxt_write_provider_info(f->w, 7, fxt_str("abc"));
	EXPECT(f, 0x0030000000710020ULL, 0x0000000000636261ULL);
	fxt_write_provider_info(f->w, 0xffffffff, fxt_str(""));
	EXPECT(f, 0x000ffffffff10010ULL);
	fxt_write_provider_section(f->w, 7);
	EXPECT(f, 0x0000000000720010ULL);
	fxt_write_provider_event(f->w, 7, FXT_PROVIDER_EVENT_BUFFER_FULL);
	EXPECT(f, 0x0000000000730010ULL);
	fxt_write_provider_event(f->w, 7, 15);
	EXPECT(f, 0x00f0000000730010ULL);
	assert_int_equal(fxt_write_provider_event(f->w, 7, 16), -EINVAL);
	fxt_write_initialization(f->w, 1000000000);
	EXPECT(f, 0x0000000000000021ULL, 1000000000);
	assert_int_equal(fxt_write_initialization(f->w, 0), -EINVAL);
	expect_nothing(f);
}

static void test_fixed(void **state)
{
	struct fixture *f = *state;

	fxt_write_string(f->w, 0x7fff, fxt_str("hello"));
	EXPECT(f, 0x000000057fff0022ULL, 0x0000006f6c6c6568ULL);
	fxt_write_thread(f->w, 0xff, second);
	EXPECT(f, 0x0000000000ff0033ULL, 5, 6);
	assert_int_equal(fxt_write_string(f->w, 0x7fff, fxt_str("again")), -EINVAL);
	assert_int_equal(fxt_write_string(f->w, 0, fxt_str("zero")), -EINVAL);
	assert_int_equal(fxt_write_string(f->w, 0x8000, fxt_str("beyond")), -EINVAL);
	assert_int_equal(fxt_write_thread(f->w, 0, second), -EINVAL);
	assert_int_equal(fxt_write_thread(f->w, 0xff, second), -EINVAL);
	expect_nothing(f);
	/* They are found like others, and a new provider gets them before all else. */
	fxt_write_log(f->w, TS, second, fxt_str(""));
	EXPECT(f, 0x000000ff00000029ULL, TS);
	fxt_write_provider_info(f->w, 1, fxt_str(""));
	EXPECT(f, 0x0000000000110010ULL, 0x000000057fff0022ULL, 0x0000006f6c6c6568ULL,
	       0x0000000000ff0033ULL, 5, 6);
	fxt_write_provider_section(f->w, 1);
	EXPECT(f, 0x0000000000120010ULL);
	/* Too late for more. */
	fxt_write_blob(f->w, FXT_BLOB_DATA, fxt_str("dynamic"), NULL, 0);
	fxt_write_log(f->w, TS, (struct fxt_thread){ .process = 1, .thread = 2 }, fxt_str(""));
	assert_int_equal(fxt_write_string(f->w, 2, fxt_str("late")), -EINVAL);
	assert_int_equal(fxt_write_thread(f->w, 2, second), -EINVAL);
}

static void test_event(void **state)
{
	struct fixture *f = *state;
	struct fxt_event e = { .ts = TS, .thread = { .process = 0x64, .thread = 0x65 },
		.category = fxt_str("cat"), .name = fxt_str("name"), .id = 0x77 };

	fxt_write_event(f->w, &e, NULL, 0);
	EXPECT(f, 0x0000000300010022ULL, 0x746163, 0x0000000400020022ULL, 0x656d616e,
	       0x0000000000010033ULL, 0x64, 0x65, 0x0002000101000024ULL, TS);
	e.type = FXT_COUNTER;
	fxt_write_event(f->w, &e, NULL, 0);
	EXPECT(f, 0x0002000101010034ULL, TS, 0x77);
	e.type = FXT_DURATION_BEGIN;
	fxt_write_event(f->w, &e, NULL, 0);
	EXPECT(f, 0x0002000101020024ULL, TS);
	e.type = FXT_DURATION_END;
	fxt_write_event(f->w, &e, NULL, 0);
	EXPECT(f, 0x0002000101030024ULL, TS);
	e.type = FXT_DURATION_COMPLETE;
	fxt_write_event(f->w, &e, NULL, 0);
	EXPECT(f, 0x0002000101040034ULL, TS, 0x77);
	e.type = FXT_ASYNC_BEGIN;
	fxt_write_event(f->w, &e, NULL, 0);
	EXPECT(f, 0x0002000101050034ULL, TS, 0x77);
	e.type = FXT_ASYNC_INSTANT;
	fxt_write_event(f->w, &e, NULL, 0);
	EXPECT(f, 0x0002000101060034ULL, TS, 0x77);
	e.type = FXT_ASYNC_END;
	fxt_write_event(f->w, &e, NULL, 0);
	EXPECT(f, 0x0002000101070034ULL, TS, 0x77);
	e.type = FXT_FLOW_BEGIN;
	fxt_write_event(f->w, &e, NULL, 0);
	EXPECT(f, 0x0002000101080034ULL, TS, 0x77);
	e.type = FXT_FLOW_STEP;
	fxt_write_event(f->w, &e, NULL, 0);
	EXPECT(f, 0x0002000101090034ULL, TS, 0x77);
	e.type = FXT_FLOW_END;
	fxt_write_event(f->w, &e, NULL, 0);
	EXPECT(f, 0x00020001010a0034ULL, TS, 0x77);
}

static void test_event_inline(void **state)
{
	struct fixture *f = *state;
	struct fxt_event e = { .type = FXT_FLOW_END, .ts = TS, .thread = inlined,
		.category = INLINE("cat"), .name = INLINE("eightcha"), .id = 0x77 };
	struct fxt_arg arg = fxt_arg_null("a");

	fxt_write_event(f->w, &e, NULL, 0);
	EXPECT(f, 0x80088003000a0074ULL, TS, 0x64, 0x65, 0x746163, 0x6168637468676965ULL, 0x77);
	/* Arguments precede the id. */
	fxt_write_event(f->w, &e, &arg, 1);
	EXPECT(f, 0x80088003001a0084ULL, TS, 0x64, 0x65, 0x746163, 0x6168637468676965ULL,
	       0x10010, 0x77);
	/* An empty string takes no words, however it is given. */
	e.type = FXT_INSTANT;
	e.category = INLINE("");
	e.name = fxt_str(NULL);
	fxt_write_event(f->w, &e, NULL, 0);
	EXPECT(f, 0x0000000000000044ULL, TS, 0x64, 0x65);
}

/* Thread 0x99 wakes on CPU 2, with that argument. */
static void write_arg(struct fixture *f, struct fxt_arg arg)
{
	struct fxt_wakeup s = { .ts = TS, .cpu = 2, .thread = 0x99 };

	assert_int_equal(fxt_write_wakeup(f->w, &s, &arg, 1), 0);
}

#define WAKEUP(size)	0x2000000000210008ULL | (size) << 4, TS, 0x99

static void test_args(void **state)
{
	struct fixture *f = *state;

	write_arg(f, fxt_arg_null("a"));
	EXPECT(f, WAKEUP(4), 0x0000000000010010ULL);
	write_arg(f, fxt_arg_i32("a", -2));
	EXPECT(f, WAKEUP(4), 0xfffffffe00010011ULL);
	write_arg(f, fxt_arg_u32("a", 0xffffffff));
	EXPECT(f, WAKEUP(4), 0xffffffff00010012ULL);
	write_arg(f, fxt_arg_i64("a", -2));
	EXPECT(f, WAKEUP(5), 0x0000000000010023ULL, 0xfffffffffffffffeULL);
	write_arg(f, fxt_arg_u64("a", ~0ULL));
	EXPECT(f, WAKEUP(5), 0x0000000000010024ULL, 0xffffffffffffffffULL);
	write_arg(f, fxt_arg_f64("a", 1.0));
	EXPECT(f, WAKEUP(5), 0x0000000000010025ULL, 0x3ff0000000000000ULL);
	write_arg(f, fxt_arg_str("a", fxt_str("a")));
	EXPECT(f, WAKEUP(4), 0x0000000100010016ULL);
	write_arg(f, fxt_arg_str("a", INLINE("xyz")));
	EXPECT(f, WAKEUP(5), 0x0000800300010026ULL, 0x7a7978);
	write_arg(f, fxt_arg_str("a", INLINE("")));
	EXPECT(f, WAKEUP(4), 0x0000000000010016ULL);
	write_arg(f, fxt_arg_ptr("a", 0xffff888000000000ULL));
	EXPECT(f, WAKEUP(5), 0x0000000000010027ULL, 0xffff888000000000ULL);
	write_arg(f, fxt_arg_koid("a", 3));
	EXPECT(f, WAKEUP(5), 0x0000000000010028ULL, 3);
	write_arg(f, fxt_arg_bool("a", true));
	EXPECT(f, WAKEUP(4), 0x0000000100010019ULL);
	write_arg(f, fxt_arg_bool("a", false));
	EXPECT(f, WAKEUP(4), 0x0000000000010019ULL);
	write_arg(f, fxt_arg_blob("a", nine, 9));
	EXPECT(f, WAKEUP(6), 0x000000090001003aULL, NINE);
	write_arg(f, fxt_arg_blob("a", NULL, 0));
	EXPECT(f, WAKEUP(4), 0x000000000001001aULL);
}

static struct fxt_arg inline_name(struct fxt_arg arg)
{
	arg.name.inlined = true;
	return arg;
}

static void test_args_inline(void **state)
{
	struct fixture *f = *state;

	write_arg(f, inline_name(fxt_arg_i32("nm", 5)));
	EXPECT(f, WAKEUP(5), 0x0000000580020021ULL, NM);
	write_arg(f, inline_name(fxt_arg_u64("nm", 5)));
	EXPECT(f, WAKEUP(6), 0x0000000080020034ULL, NM, 5);
	write_arg(f, inline_name(fxt_arg_str("nm", INLINE("xyz"))));
	EXPECT(f, WAKEUP(6), 0x0000800380020036ULL, NM, 0x7a7978);
	write_arg(f, inline_name(fxt_arg_blob("nm", nine, 9)));
	EXPECT(f, WAKEUP(7), 0x000000098002004aULL, NM, NINE);
	write_arg(f, inline_name(fxt_arg_null("")));
	EXPECT(f, WAKEUP(4), 0x0000000000000010ULL);
}

static void test_scheduling(void **state)
{
	struct fixture *f = *state;
	struct fxt_switch s = { .ts = TS, .cpu = 5, .state = FXT_STATE_BLOCKED, .out = 8, .in = 9 };
	struct fxt_wakeup wakeup = { .ts = TS, .cpu = 65535, .thread = 8 };
	struct fxt_legacy_switch legacy = { .ts = TS, .cpu = 7, .state = FXT_STATE_BLOCKED,
		.out = second, .in = inlined, .out_priority = 1, .in_priority = 254 };
	struct fxt_arg idle = fxt_arg_i32("a", FXT_WEIGHT_IDLE);

	fxt_write_switch(f->w, &s, NULL, 0);
	EXPECT(f, 0x1000003000500048ULL, TS, 8, 9);
	fxt_write_switch(f->w, &s, &idle, 1);
	EXPECT(f, 0x1000003000510058ULL, TS, 8, 9, 0x8000000000010011ULL);
	fxt_write_wakeup(f->w, &wakeup, NULL, 0);
	EXPECT(f, 0x2000000ffff00038ULL, TS, 8);
	fxt_write_legacy_switch(f->w, &legacy);
	EXPECT(f, 0x0fe0100023070048ULL, TS, 0x64, 0x65);
	legacy.in = second;
	fxt_write_legacy_switch(f->w, &legacy);
	EXPECT(f, 0x0fe0102023070028ULL, TS);
	legacy.out = inlined;
	legacy.in = inlined;
	fxt_write_legacy_switch(f->w, &legacy);
	EXPECT(f, 0x0fe0100003070068ULL, TS, 0x64, 0x65, 0x64, 0x65);
}

static void test_objects(void **state)
{
	struct fixture *f = *state;
	struct fxt_object o = { .id = 0xabc, .name = fxt_str("a"), .kind = FXT_KOBJ_THREAD,
		.process = second };
	struct fxt_arg koid = fxt_arg_koid("a", 4), null = fxt_arg_null("a");

	fxt_write_userspace_object(f->w, &o, NULL, 0);
	EXPECT(f, 0x0000000001020026ULL, 0xabc);
	fxt_write_kernel_object(f->w, &o, NULL, 0);
	EXPECT(f, 0x0000000001020027ULL, 0xabc);
	fxt_write_kernel_object(f->w, &o, &koid, 1);
	EXPECT(f, 0x0000010001020047ULL, 0xabc, 0x10028, 4);
	o.process = inlined;
	o.name = INLINE("nm");
	o.kind = FXT_KOBJ_PROCESS;
	fxt_write_userspace_object(f->w, &o, &null, 1);
	EXPECT(f, 0x0000018002000056ULL, 0xabc, 0x64, NM, 0x10010);
	fxt_write_kernel_object(f->w, &o, NULL, 0);
	EXPECT(f, 0x0000008002010037ULL, 0xabc, NM);
}

static void test_blob_and_log(void **state)
{
	struct fixture *f = *state;

	fxt_write_blob(f->w, FXT_BLOB_DATA, fxt_str("a"), nine, 9);
	EXPECT(f, 0x0001000900010035ULL, NINE);
	fxt_write_blob(f->w, FXT_BLOB_PERFETTO, INLINE("nm"), nine, 4);
	EXPECT(f, 0x0003000480020035ULL, NM, 0x04030201);
	fxt_write_blob(f->w, FXT_BLOB_LAST_BRANCH, fxt_str(""), NULL, 0);
	EXPECT(f, 0x0002000000000015ULL);
	fxt_write_log(f->w, TS, second, fxt_str("hello"));
	EXPECT(f, 0x0000000200050039ULL, TS, 0x6f6c6c6568ULL);
	fxt_write_log(f->w, TS, inlined, fxt_str("hello"));
	EXPECT(f, 0x0000000000050059ULL, TS, 0x64, 0x65, 0x6f6c6c6568ULL);
}

static void test_profiler(void **state)
{
	static const uint64_t frames[] = { 0xaaa, 0xbbb };
	struct fixture *f = *state;
	struct fxt_module module = { .ts = TS, .thread = second, .id = 3, .name = fxt_str("nm"),
		.build_id = nine, .build_id_len = 9 };
	struct fxt_mmap mmap = { .ts = TS, .thread = second, .module = 3, .flags = 5,
		.start = 0x10, .range = 0x20, .vaddr = 0x30 };
	struct fxt_backtrace backtrace = { .ts = TS, .thread = second, .frames = frames,
		.frames_cnt = 2 };

	/* The thread id of modules and mappings is 0, so they use thread 3. */
	fxt_write_module(f->w, &module);
	EXPECT(f, 0x009020003030005aULL, TS, NM, NINE);
	fxt_write_mmap(f->w, &mmap);
	EXPECT(f, 0x000050003031005aULL, TS, 0x10, 0x20, 0x30);
	fxt_write_backtrace(f->w, &backtrace);
	EXPECT(f, 0x000000002022004aULL, TS, 0xaaa, 0xbbb);
	module.thread = inlined;
	mmap.thread = inlined;
	backtrace.thread = inlined;
	fxt_write_module(f->w, &module);
	EXPECT(f, 0x009020003000007aULL, TS, 0x64, 0, NM, NINE);
	fxt_write_mmap(f->w, &mmap);
	EXPECT(f, 0x000050003001007aULL, TS, 0x64, 0, 0x10, 0x20, 0x30);
	fxt_write_backtrace(f->w, &backtrace);
	EXPECT(f, 0x000000002002006aULL, TS, 0x64, 0x65, 0xaaa, 0xbbb);
	mmap.flags = 8;
	assert_int_equal(fxt_write_mmap(f->w, &mmap), -EINVAL);
	expect_nothing(f);
}

static void test_large_blob(void **state)
{
	struct fixture *f = *state;
	struct fxt_large_blob b = { .format = FXT_LARGE_NO_METADATA, .category = fxt_str("a"),
		.name = fxt_str("a"), .ts = TS, .thread = second, .data = nine, .len = 9 };
	struct fxt_arg null = fxt_arg_null("a");
	char *data = calloc(5000, 8);
	uint64_t words[4];

	fxt_write_large_blob(f->w, &b, &null, 99);
	EXPECT(f, 0x000001000000005fULL, 0x0000000000010001ULL, 9, NINE);
	b.format = FXT_LARGE_WITH_METADATA;
	b.category = INLINE("nm");
	fxt_write_large_blob(f->w, &b, &null, 1);
	EXPECT(f, 0x000000000000008fULL, 0x0000002100018002ULL, NM, TS, 0x10010, 9, NINE);
	b.thread = inlined;
	fxt_write_large_blob(f->w, &b, NULL, 0);
	EXPECT(f, 0x000000000000009fULL, 0x0000000000018002ULL, NM, TS, 0x64, 0x65, 9, NINE);
	/* 5000 words of data, of the last of which 7 bytes count, in a 32-bit size. */
	b = (struct fxt_large_blob){ .format = FXT_LARGE_NO_METADATA, .data = data, .len = 39999 };
	memset(data, 0xff, 40000);
	fxt_write_large_blob(f->w, &b, NULL, 0);
	fxt_writer_flush(f->w);
	assert_int_equal(f->mem.len, 8 * 5003);
	memcpy(words, f->mem.data, 24);
	memcpy(&words[3], f->mem.data + 8 * 5002, 8);
	assert_true(words[0] == 0x00000100000138bfULL && !words[1] && words[2] == 39999);
	assert_true(words[3] == 0x00ffffffffffffffULL);
	free(data);
}

/* ---- strings -------------------------------------------------------------- */

/* The bytes of a log message given these. */
static void check_repair(struct fixture *f, const char *given, size_t len, const char *want)
{
	struct fxt_writer_stats before, after;
	size_t want_len = strlen(want);

	fxt_writer_stats(f->w, &before);
	assert_int_equal(fxt_write_log(f->w, 0, inlined, fxt_str_n(given, len)), 0);
	fxt_writer_flush(f->w);
	assert_int_equal((f->mem.data[2] | f->mem.data[3] << 8), want_len);
	assert_memory_equal(f->mem.data + 32, want, want_len);
	fxt_writer_stats(f->w, &after);
	assert_int_equal(after.strings_repaired - before.strings_repaired,
			 len != want_len || memcmp(given, want, len) != 0);
	f->mem.len = 0;
}

#define BAD "\xef\xbf\xbd"

static void test_utf8(void **state)
{
	static const struct { const char *given, *want; } cases[] = {
		{ "plain text", "plain text" },
		{ "\xc3\xa4 \xe2\x82\xac", "\xc3\xa4 \xe2\x82\xac" },
		{ "\xf0\x9f\x98\x80", "\xf0\x9f\x98\x80" },
		{ "\xf4\x8f\xbf\xbf", "\xf4\x8f\xbf\xbf" },	/* U+10FFFF */
		{ "\xed\x9f\xbf\xee\x80\x80", "\xed\x9f\xbf\xee\x80\x80" },
		{ "\x80", BAD },				/* follows nothing */
		{ "a\xff" "b", "a" BAD "b" },
		{ "\xc0\xaf", BAD BAD },			/* overlong */
		{ "\xe0\x80\xaf", BAD BAD BAD },
		{ "\xed\xa0\x80", BAD BAD BAD },		/* a surrogate */
		{ "\xf4\x90\x80\x80", BAD BAD BAD BAD },	/* above U+10FFFF */
		{ "\xe2\x82", BAD },				/* cut short */
		{ "\xe2\x82" "x", BAD "x" },
		{ "\xf0\x9f\x98 text that is longer", BAD " text that is longer" },
		{ "longer text, then \xf0\x9f\x98", "longer text, then " BAD },
	};
	struct fixture *f = *state;
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		check_repair(f, cases[i].given, strlen(cases[i].given), cases[i].want);
}

static void test_cut(void **state)
{
	struct fixture *f = *state;
	struct fxt_writer_stats stats;
	char *text = malloc(70000);
	size_t i;

	for (i = 0; i < 70000; i += 2)
		memcpy(text + i, "\xc3\xa4", 2);
	/* An odd limit falls inside a character. */
	fxt_write_provider_info(f->w, 0, fxt_str_n(text, 70000));
	fxt_writer_flush(f->w);
	assert_int_equal(f->mem.len, 8 + 256);
	assert_int_equal(f->mem.data[6] >> 4 | (f->mem.data[7] & 0xf) << 4, 254);
	assert_memory_equal(f->mem.data + 8, text, 254);
	assert_int_equal(f->mem.data[8 + 254] | f->mem.data[8 + 255], 0);
	f->mem.len = 0;
	/* Indexed: registered at its length, found again at its length. */
	for (i = 0; i < 2; i++)
		fxt_write_blob(f->w, FXT_BLOB_DATA, fxt_str_n(text, 70000), NULL, 0);
	fxt_writer_flush(f->w);
	assert_int_equal(f->mem.len, 8 + 32000 + 8 + 8);
	f->mem.len = 0;
	fxt_write_log(f->w, 0, inlined, fxt_str_n(text + 1, 32001));
	fxt_writer_flush(f->w);
	assert_int_equal(f->mem.len, 32 + 32000);
	assert_memory_equal(f->mem.data + 32, BAD "\xc3\xa4", 5);
	fxt_writer_stats(f->w, &stats);
	assert_int_equal(stats.strings_cut, 4);
	assert_int_equal(stats.strings_repaired, 1);
	free(text);
}

/* ---- refusals --------------------------------------------------------------- */

static void test_invalid(void **state)
{
	struct fixture *f = *state;
	struct fxt_event e = { .type = 11, .category = fxt_str("new"), .name = fxt_str("newer") };
	struct fxt_switch s = { .state = 6 };
	struct fxt_legacy_switch legacy = { .state = FXT_STATE_RUNNING };
	struct fxt_large_blob b = { .format = 2 };
	struct fxt_arg args[16];
	unsigned int i;

	for (i = 0; i < 16; i++)
		args[i] = fxt_arg_null("unseen");
	assert_int_equal(fxt_write_event(f->w, &e, NULL, 0), -EINVAL);
	e.type = FXT_INSTANT;
	assert_int_equal(fxt_write_event(f->w, &e, args, 16), -EINVAL);
	args[14].type = 11;
	assert_int_equal(fxt_write_event(f->w, &e, args, 15), -EINVAL);
	args[14] = fxt_arg_blob("unseen", NULL, 1);
	assert_int_equal(fxt_write_event(f->w, &e, args, 15), -EINVAL);
	assert_int_equal(fxt_write_switch(f->w, &s, NULL, 0), -EINVAL);
	assert_int_equal(fxt_write_legacy_switch(f->w, &legacy), -EINVAL);
	assert_int_equal(fxt_write_blob(f->w, 0, fxt_str("new"), NULL, 0), -EINVAL);
	assert_int_equal(fxt_write_blob(f->w, 4, fxt_str("new"), NULL, 0), -EINVAL);
	assert_int_equal(fxt_write_blob(f->w, 1, fxt_str("new"), NULL, 1), -EINVAL);
	assert_int_equal(fxt_write_large_blob(f->w, &b, NULL, 0), -EINVAL);
	expect_nothing(f);
	/* None of the names was registered on the way. */
	fxt_write_blob(f->w, FXT_BLOB_DATA, fxt_str("new"), NULL, 0);
	EXPECT(f, 0x0000000300010022ULL, 0x77656e, 0x0001000000010015ULL);
}

static void test_too_large(void **state)
{
	struct fixture *f = *state;
	char *text = calloc(1, 40000);
	struct fxt_wakeup s = { .ts = TS };
	struct fxt_large_blob b = { .format = FXT_LARGE_WITH_METADATA, .data = text,
		.len = 8ULL * 0xffffffff };
	struct fxt_arg args[3];

	memset(text, 't', 40000);
	args[0] = fxt_arg_null("registered by none");
	args[1] = fxt_arg_blob("", text, 8 * (4095 - 3 - 1 - 1));
	/* Exactly the largest record, and one word more. */
	args[0].name.len = 0;
	assert_int_equal(fxt_write_wakeup(f->w, &s, args, 2), 0);
	fxt_writer_flush(f->w);
	assert_int_equal(f->mem.len, 4095 * 8);
	f->mem.len = 0;
	args[1].blob.len++;
	args[0] = fxt_arg_null("registered by none");
	assert_int_equal(fxt_write_wakeup(f->w, &s, args, 2), -EMSGSIZE);
	args[1].blob.len = SIZE_MAX;
	args[2] = args[1];
	assert_int_equal(fxt_write_wakeup(f->w, &s, args, 3), -EMSGSIZE);
	/* Many inline strings, repaired ones that no longer fit among them. */
	memset(text, 0xff, 40000);
	args[0] = fxt_arg_str("", fxt_str_inline(text, 40000));
	args[1] = args[0];
	args[2] = args[0];
	assert_int_equal(fxt_write_wakeup(f->w, &s, args, 3), -EMSGSIZE);
	assert_int_equal(fxt_write_large_blob(f->w, &b, args, 3), -EMSGSIZE);
	assert_int_equal(fxt_write_large_blob(f->w, &b, NULL, 0), -EMSGSIZE);
	b.len = UINT64_MAX;
	assert_int_equal(fxt_write_large_blob(f->w, &b, NULL, 0), -EMSGSIZE);
	expect_nothing(f);
	free(text);
}

static void test_raw(void **state)
{
	static const uint64_t records[] = {
		0x0000000000720010ULL, 0x1000003000500048ULL, TS, 8, 9, 0x000001000000003fULL, 0, 0,
	};
	static const uint64_t zero;
	struct fixture *f = *state;
	struct fxt_writer_stats stats;
	uint64_t *many;
	size_t i;

	assert_int_equal(fxt_write_raw(f->w, records, sizeof(records)), 0);
	EXPECT(f, 0x0000000000720010ULL, 0x1000003000500048ULL, TS, 8, 9,
	       0x000001000000003fULL, 0, 0);
	fxt_writer_stats(f->w, &stats);
	assert_int_equal(stats.records, 3);
	assert_int_equal(fxt_write_raw(f->w, NULL, 0), 0);
	assert_int_equal(fxt_write_raw(f->w, records, sizeof(records) - 8), -EINVAL);
	assert_int_equal(fxt_write_raw(f->w, records, sizeof(records) - 4), -EINVAL);
	assert_int_equal(fxt_write_raw(f->w, &zero, 8), -EINVAL);
	expect_nothing(f);
	/* More than the buffer holds stays in order. */
	many = malloc(8 * 20000);
	for (i = 0; i < 20000; i++)
		many[i] = records[0];
	fxt_write_magic(f->w);
	assert_int_equal(fxt_write_raw(f->w, many, 8 * 20000), 0);
	fxt_write_magic(f->w);
	fxt_writer_flush(f->w);
	assert_int_equal(f->mem.len, 8 * 20002);
	assert_memory_equal(f->mem.data + 8, many, 8 * 20000);
	assert_memory_equal(f->mem.data, f->mem.data + 8 * 20001, 8);
	fxt_writer_stats(f->w, &stats);
	assert_int_equal(stats.records, 3 + 20002);
	assert_int_equal(stats.bytes, 64 + 8 * 20002);
	free(many);
}

static void test_sink_error(void **state)
{
	struct fixture *f = *state;
	struct fxt_writer *w;
	size_t i;

	fxt_write_magic(f->w);
	f->mem.fail = -ENOSPC;
	assert_int_equal(fxt_writer_flush(f->w), -ENOSPC);
	/* The first error stays, and nothing is written after it. */
	f->mem.fail = 0;
	assert_int_equal(fxt_write_magic(f->w), -ENOSPC);
	assert_int_equal(fxt_write_log(f->w, 0, inlined, fxt_str("x")), -ENOSPC);
	assert_int_equal(fxt_write_raw(f->w, "", 0), -ENOSPC);
	assert_int_equal(fxt_write_string(f->w, 1, fxt_str("x")), -ENOSPC);
	assert_int_equal(fxt_write_thread(f->w, 1, second), -ENOSPC);
	assert_int_equal(fxt_write_provider_event(f->w, 0, 99), -ENOSPC);
	assert_int_equal(fxt_writer_flush(f->w), -ENOSPC);
	assert_int_equal(f->mem.len, 0);

	/* It surfaces when the buffer is full, or in close() at the latest. */
	f->mem.fail = -EPIPE;
	assert_int_equal(fxt_writer_open(&w, fxt_mem_write, &f->mem), 0);
	for (i = 0; i < 8192; i++)
		assert_int_equal(fxt_write_magic(w), 0);
	assert_int_equal(fxt_write_magic(w), -EPIPE);
	assert_int_equal(fxt_writer_close(w), -EPIPE);
	assert_int_equal(fxt_writer_open(&w, fxt_mem_write, &f->mem), 0);
	assert_int_equal(fxt_write_magic(w), 0);
	assert_int_equal(fxt_writer_close(w), -EPIPE);
	assert_int_equal(fxt_writer_close(NULL), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_metadata, setup, teardown),
		cmocka_unit_test_setup_teardown(test_fixed, setup, teardown),
		cmocka_unit_test_setup_teardown(test_event, setup, teardown),
		cmocka_unit_test_setup_teardown(test_event_inline, setup_tables, teardown),
		cmocka_unit_test_setup_teardown(test_args, setup_tables, teardown),
		cmocka_unit_test_setup_teardown(test_args_inline, setup_tables, teardown),
		cmocka_unit_test_setup_teardown(test_scheduling, setup_tables, teardown),
		cmocka_unit_test_setup_teardown(test_objects, setup_tables, teardown),
		cmocka_unit_test_setup_teardown(test_blob_and_log, setup_tables, teardown),
		cmocka_unit_test_setup_teardown(test_profiler, setup_tables, teardown),
		cmocka_unit_test_setup_teardown(test_large_blob, setup_tables, teardown),
		cmocka_unit_test_setup_teardown(test_utf8, setup, teardown),
		cmocka_unit_test_setup_teardown(test_cut, setup, teardown),
		cmocka_unit_test_setup_teardown(test_invalid, setup, teardown),
		cmocka_unit_test_setup_teardown(test_too_large, setup, teardown),
		cmocka_unit_test_setup_teardown(test_raw, setup, teardown),
		cmocka_unit_test_setup_teardown(test_sink_error, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
