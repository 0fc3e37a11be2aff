/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What FXT records register for others: full tables on the writer's side,
 * providers and their tables on the reader's; and formats to come.
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

#include "fxt_pair.h"
#include "fxt_sample.h"

/* ---- tables ------------------------------------------------------------------- */

static void name_of(char *name, unsigned int i)
{
	sprintf(name, "string number %u", i);
}

static void test_string_overflow(void **state)
{
	struct fxt_pair *f = *state;
	struct fxt_event e = { .category = fxt_str("first of all") };
	struct fxt_writer_stats stats;
	struct fxt_arg args[FXT_ARGS_MAX];
	char names[31][32];
	unsigned int i, j;

	fxt_write_magic(f->w);
	for (i = 0; i < 40000; i++) {
		name_of(names[0], i);
		e.name = fxt_str(names[0]);
		assert_int_equal(fxt_write_event(f->w, &e, NULL, 0), 0);
	}
	/* "first of all" was replaced once: it is in every record but is not the youngest. */
	fxt_writer_stats(f->w, &stats);
	assert_int_equal(stats.strings_replaced, 40001 - 32767);
	/* Records that each need the most strings there can be, at every phase of the ring. */
	for (i = 0; i < 3000; i++) {
		for (j = 0; j < 31; j++)
			name_of(names[j], 100000 + 30 * i + j);
		for (j = 0; j < 15; j++)
			args[j] = fxt_arg_str(names[2 * j], fxt_str(names[2 * j + 1]));
		e.name = fxt_str(names[30]);
		assert_int_equal(fxt_write_event(f->w, &e, args, 15), 0);
	}
	fxt_pair_read(f);
	fxt_pair_expect(f, FXT_KIND_MAGIC);
	for (i = 0; i < 40000; i++) {
		name_of(names[0], i);
		fxt_same_text(fxt_pair_expect(f, FXT_KIND_EVENT)->event.name, names[0]);
		fxt_same_text(f->rec.event.category, "first of all");
	}
	for (i = 0; i < 3000; i++) {
		fxt_pair_expect(f, FXT_KIND_EVENT);
		for (j = 0; j < 30; j++) {
			name_of(names[0], 100000 + 30 * i + j);
			fxt_same_text(j & 1 ? f->rec.args[j / 2].str : f->rec.args[j / 2].name,
				      names[0]);
		}
		fxt_same_text(f->rec.event.category, "first of all");
	}
	fxt_pair_end(f);
}

/* What is in use is not replaced; what is older than the rest goes next. */
static void test_replacement_order(void **state)
{
	struct fxt_pair *f = *state;
	struct fxt_event e = { .category = fxt_str("0"), .name = fxt_str("0") };
	char name[16];
	unsigned int i;

	fxt_write_magic(f->w);
	for (i = 0; i < 32767; i++) {
		sprintf(name, "%u", i);
		fxt_write_blob(f->w, FXT_BLOB_DATA, fxt_str(name), NULL, 0);
	}
	e.name = fxt_str("uses 0, so 1 goes");
	fxt_write_event(f->w, &e, NULL, 0);
	fxt_write_blob(f->w, FXT_BLOB_DATA, fxt_str("0 goes"), NULL, 0);
	fxt_write_blob(f->w, FXT_BLOB_DATA, fxt_str("2 goes"), NULL, 0);
	fxt_pair_read(f);
	for (i = 0; i < 1 + 2 * 32767; i++)
		assert_int_equal(fxt_reader_next(f->r, &f->rec), 1);
	fxt_pair_expect(f, FXT_KIND_STRING);
	assert_int_equal(f->rec.string.index, 2);
	fxt_pair_expect(f, FXT_KIND_EVENT);
	fxt_pair_expect(f, FXT_KIND_STRING);
	assert_int_equal(f->rec.string.index, 1);
	fxt_pair_expect(f, FXT_KIND_BLOB);
	fxt_pair_expect(f, FXT_KIND_STRING);
	assert_int_equal(f->rec.string.index, 3);
}

static void test_thread_overflow(void **state)
{
	struct fxt_pair *f = *state;
	struct fxt_legacy_switch s = { .state = FXT_STATE_BLOCKED };
	struct fxt_writer_stats stats;
	unsigned int i;

	fxt_write_magic(f->w);
	fxt_write_thread(f->w, 200, (struct fxt_thread){ .process = 7, .thread = 7 });
	for (i = 0; i < 1000; i++) {
		s.out = (struct fxt_thread){ .process = 1, .thread = i % 300 };
		s.in = i % 10 ? (struct fxt_thread){ .process = 1, .thread = (i + 1) % 300 } :
				(struct fxt_thread){ .process = 7, .thread = 7 };
		assert_int_equal(fxt_write_legacy_switch(f->w, &s), 0);
	}
	fxt_writer_stats(f->w, &stats);
	assert_true(stats.threads_replaced > 0);
	fxt_pair_read(f);
	fxt_pair_expect(f, FXT_KIND_MAGIC);
	fxt_pair_expect(f, FXT_KIND_THREAD);
	for (i = 0; i < 1000; i++) {
		fxt_pair_expect(f, FXT_KIND_LEGACY_SWITCH);
		assert_int_equal(f->rec.legacy_switch.out.thread, i % 300);
		assert_int_equal(f->rec.legacy_switch.in.thread, i % 10 ? (i + 1) % 300 : 7);
		assert_false(f->rec.legacy_switch.in.inlined);
	}
	fxt_pair_end(f);
}

/* The table holds 16 MiB, and a caller may fix all indexes for himself. */
static void test_table_limits(void **state)
{
	struct fxt_pair *f = *state;
	struct fxt_writer_stats stats;
	char *text = malloc(32000);
	unsigned int i;

	memset(text, 'x', 32000);
	fxt_write_magic(f->w);
	for (i = 1; i <= 255; i++)
		assert_int_equal(fxt_write_thread(f->w, i, (struct fxt_thread){ .thread = i }), 0);
	for (i = 0; i < 600; i++) {
		memcpy(text, &i, sizeof(i));
		text[1] = text[1] ? 'y' : 'z';
		text[0] = text[0] & 0x7f;
		sprintf(text + 2, "%u", i);
		assert_int_equal(fxt_write_blob(f->w, FXT_BLOB_DATA, fxt_str_n(text, 32000),
						NULL, 0), 0);
	}
	fxt_writer_stats(f->w, &stats);
	assert_int_equal(stats.strings_replaced, 600 - (16 << 20) / 32000);
	fxt_write_log(f->w, 0, (struct fxt_thread){ .thread = 256 }, fxt_str(""));
	fxt_write_log(f->w, 0, (struct fxt_thread){ .thread = 255 }, fxt_str(""));
	fxt_pair_read(f);
	fxt_pair_expect(f, FXT_KIND_MAGIC);
	for (i = 0; i < 255; i++)
		fxt_pair_expect(f, FXT_KIND_THREAD);
	for (i = 0; i < 600; i++)
		assert_int_equal(fxt_pair_expect(f, FXT_KIND_BLOB)->blob.name.len, 32000);
	fxt_pair_expect(f, FXT_KIND_LOG);
	fxt_same_thread(f->rec.log.thread, (struct fxt_thread){ 0, 256, true });
	fxt_pair_expect(f, FXT_KIND_LOG);
	fxt_same_thread(f->rec.log.thread, (struct fxt_thread){ 0, 255, false });
	fxt_pair_end(f);
	free(text);
}

/* ---- the sink ------------------------------------------------------------------ */

/* Fails unless it gets whole records. */
static int whole_records(void *ctx, const void *data, size_t len)
{
	const unsigned char *at = data;
	unsigned int *calls = ctx;
	uint64_t word;

	for (*calls += 1; len >= 8; at += 8 * word, len -= 8 * word) {
		memcpy(&word, at, 8);
		word = (word & 15) == 15 ? word >> 4 & 0xffffffff : word >> 4 & 0xfff;
		if (!word || word > len / 8)
			return -EINVAL;
	}
	return len ? -EINVAL : 0;
}

static void test_sink(void **state)
{
	struct fxt_writer *w;
	unsigned int calls = 0, i;

	(void)state;
	assert_int_equal(fxt_writer_open(&w, whole_records, &calls), 0);
	assert_int_equal(fxt_sample_write(w, false), 0);
	assert_int_equal(calls, 0);
	for (i = 0; i < 100000; i++)
		assert_int_equal(fxt_write_log(w, i, (struct fxt_thread){ .thread = i % 300 },
					       fxt_str_n("0123456789abcdefghijklmnopqrst", i % 30)), 0);
	assert_int_equal(fxt_writer_close(w), 0);
	assert_true(calls > 50);
}

/* ---- providers --------------------------------------------------------------- */

static void write_named(struct fxt_pair *f, const char *name)
{
	struct fxt_event e = { .thread = { .process = 1, .thread = 2 }, .name = fxt_str(name) };

	assert_int_equal(fxt_write_event(f->w, &e, NULL, 0), 0);
}

static void expect_named(struct fxt_pair *f, const char *name, uint32_t provider, uint64_t ticks)
{
	fxt_same_text(fxt_pair_expect(f, FXT_KIND_EVENT)->event.name, name);
	assert_int_equal(f->rec.event.thread.thread, 2);
	assert_int_equal(f->rec.provider_id, provider);
	assert_int_equal(fxt_reader_ticks_per_second(f->r), ticks);
}

static void test_providers(void **state)
{
	struct fxt_pair *f = *state;

	fxt_write_magic(f->w);
	write_named(f, "before any");
	fxt_write_provider_info(f->w, 1, fxt_str("one"));
	fxt_write_initialization(f->w, 1000);
	write_named(f, "of one");
	fxt_write_provider_info(f->w, 2, fxt_str("two"));
	write_named(f, "of two");
	fxt_write_provider_event(f->w, 1, 0);
	fxt_write_provider_section(f->w, 1);
	write_named(f, "of one");
	fxt_write_provider_section(f->w, 0);
	write_named(f, "before any");
	fxt_write_provider_info(f->w, 1, fxt_str("one again"));
	write_named(f, "of one");
	fxt_pair_read(f);
	fxt_pair_expect(f, FXT_KIND_MAGIC);
	expect_named(f, "before any", 0, 1000000000);
	fxt_same_text(fxt_pair_expect(f, FXT_KIND_PROVIDER_INFO)->provider.name, "one");
	assert_int_equal(f->rec.provider_id, 1);
	assert_int_equal(fxt_pair_expect(f, FXT_KIND_INITIALIZATION)->ticks_per_second, 1000);
	expect_named(f, "of one", 1, 1000);
	fxt_pair_expect(f, FXT_KIND_PROVIDER_INFO);
	expect_named(f, "of two", 2, 1000000000);
	fxt_same_text(fxt_pair_expect(f, FXT_KIND_PROVIDER_EVENT)->provider.name, "one");
	assert_true(f->rec.provider_id == 2 && f->rec.provider.id == 1);
	fxt_same_text(fxt_pair_expect(f, FXT_KIND_PROVIDER_SECTION)->provider.name, "one");
	expect_named(f, "of one", 1, 1000);
	fxt_pair_expect(f, FXT_KIND_PROVIDER_SECTION);
	expect_named(f, "before any", 0, 1000000000);
	fxt_pair_expect(f, FXT_KIND_PROVIDER_INFO);
	expect_named(f, "of one", 1, 1000000000);
	fxt_pair_end(f);
}

/* A record of three words whose name and thread are indexes. */
static const uint64_t uses_index[] = { 0x0001000001000024ULL, 5 };

static void expect_unresolved(struct fxt_pair *f, unsigned int unresolved)
{
	do {
		assert_int_equal(fxt_reader_next(f->r, &f->rec), 1);
	} while (f->rec.kind != FXT_KIND_EVENT);
	assert_int_equal(f->rec.unresolved, unresolved);
	if (unresolved) {
		fxt_same_text(f->rec.event.name, "");
		assert_true(!f->rec.event.thread.process && !f->rec.event.thread.thread);
	}
}

/* Each provider has its own tables, and loses them when announced anew. */
static void test_tables_apart(void **state)
{
	struct fxt_pair *f = *state;
	struct fxt_reader_stats stats;

	fxt_write_magic(f->w);
	fxt_write_raw(f->w, uses_index, sizeof(uses_index));
	fxt_write_provider_info(f->w, 1, fxt_str(""));
	write_named(f, "string 1");
	fxt_write_raw(f->w, uses_index, sizeof(uses_index));
	fxt_write_provider_info(f->w, 2, fxt_str(""));
	fxt_write_raw(f->w, uses_index, sizeof(uses_index));
	fxt_write_provider_section(f->w, 1);
	fxt_write_raw(f->w, uses_index, sizeof(uses_index));
	fxt_write_provider_info(f->w, 1, fxt_str(""));
	fxt_write_raw(f->w, uses_index, sizeof(uses_index));
	fxt_pair_read(f);
	expect_unresolved(f, 2);
	expect_unresolved(f, 0);
	expect_unresolved(f, 0);
	expect_unresolved(f, 2);
	expect_unresolved(f, 0);
	expect_unresolved(f, 2);
	fxt_pair_end(f);
	fxt_reader_stats(f->r, &stats);
	assert_int_equal(stats.unresolved, 3);
	assert_int_equal(stats.by_kind[FXT_KIND_EVENT], 6);
	assert_int_equal(stats.bytes, f->mem.len);
}

static void test_many_providers(void **state)
{
	struct fxt_pair *f = *state;
	unsigned int i, damaged = 0, events = 0;

	fxt_write_magic(f->w);
	for (i = 1; i <= 70; i++) {
		fxt_write_provider_info(f->w, i, fxt_str("p"));
		write_named(f, "name");
	}
	fxt_pair_read(f);
	while (fxt_reader_next(f->r, &f->rec) == 1) {
		damaged += f->rec.kind == FXT_KIND_DAMAGED;
		if (f->rec.kind == FXT_KIND_EVENT) {
			events++;
			assert_int_equal(f->rec.provider_id, events);
			fxt_same_text(f->rec.event.name, "name");
		}
	}
	assert_int_equal(damaged, 6);
	assert_int_equal(events, 70);
}

/* ---- formats to come ---------------------------------------------------------- */

static void test_unknown(void **state)
{
	static const uint64_t unknown[] = {
		0x000000000000003bULL, 1, 2,		/* type 11 */
		0x000000000000001eULL,			/* type 14 */
		0x0000000000050010ULL,			/* metadata type 5 */
		0x0000000000140010ULL,			/* trace info type 1 */
		0x00000000000f0024ULL, 1,		/* event type 15 */
		0x3000000000000028ULL, 1,		/* scheduling type 3 */
		0x000000000003002aULL, 1,		/* profiler type 3 */
		0x000000100000002fULL, 1,		/* large type 1 */
		0x000002000000003fULL, 0, 0,		/* large BLOB format 2 */
	};
	struct fxt_pair *f = *state;
	unsigned int i;

	fxt_write_magic(f->w);
	fxt_write_raw(f->w, unknown, sizeof(unknown));
	fxt_write_magic(f->w);
	fxt_pair_read(f);
	fxt_pair_expect(f, FXT_KIND_MAGIC);
	for (i = 0; i < 9; i++)
		fxt_pair_expect(f, FXT_KIND_UNKNOWN);
	fxt_pair_expect(f, FXT_KIND_MAGIC);
	fxt_pair_end(f);
}

/* Words and arguments that a later format adds. */
static void test_extended(void **state)
{
	static const uint64_t extended[] = {
		0x0000000000000041ULL, 1000, 5, 6,		/* Jane Street's initialization */
		0x1000003000500058ULL, 7, 8, 9, 0xeeee,		/* a word more after the content */
		0x2000000000210068ULL, 7, 8, 0x000000ff8002003fULL, 0x6d6e, 0xbeef,
		0x2000000000210058ULL, 7, 8, 0x000000050000002dULL & ~0xfULL, 0xbeef,
	};
	struct fxt_pair *f = *state;
	uint64_t word;

	fxt_write_magic(f->w);
	fxt_write_raw(f->w, extended, sizeof(extended));
	fxt_write_magic(f->w);
	fxt_pair_read(f);
	fxt_pair_expect(f, FXT_KIND_MAGIC);
	assert_int_equal(fxt_pair_expect(f, FXT_KIND_INITIALIZATION)->ticks_per_second, 1000);
	assert_int_equal(fxt_pair_expect(f, FXT_KIND_SWITCH)->context_switch.in, 9);
	fxt_pair_expect(f, FXT_KIND_WAKEUP);
	assert_int_equal(f->rec.args[0].type, 15);
	fxt_same_text(f->rec.args[0].name, "nm");
	assert_int_equal(f->rec.args[0].blob.len, 8);
	memcpy(&word, f->rec.args[0].blob.data, 8);
	assert_int_equal(word, 0xbeef);
	/* An argument with a word more than its type needs. */
	assert_int_equal(fxt_pair_expect(f, FXT_KIND_WAKEUP)->args[0].type, FXT_ARG_NULL);
	fxt_pair_expect(f, FXT_KIND_MAGIC);
	fxt_pair_end(f);
}

/* Indexes 0 cannot be registered, indexes can be registered again. */
static void test_registration(void **state)
{
	static const uint64_t words[] = {
		0x0000000100000022ULL, 'z', 0x0000000000000033ULL, 1, 2,
		0x0000000100010022ULL, 'a', 0x0000000100010022ULL, 'b',
		0x0000000000010012ULL + 0x10, 0, 0x0000000100010022ULL, 'c',
		0x0001000000000044ULL, 5, 6, 7,
	};
	struct fxt_pair *f = *state;

	fxt_write_magic(f->w);
	fxt_write_raw(f->w, words, sizeof(words));
	fxt_pair_read(f);
	fxt_pair_expect(f, FXT_KIND_MAGIC);
	assert_int_equal(fxt_pair_expect(f, FXT_KIND_STRING)->string.index, 0);
	assert_int_equal(fxt_pair_expect(f, FXT_KIND_THREAD)->thread.index, 0);
	fxt_pair_expect(f, FXT_KIND_EVENT);
	fxt_same_text(f->rec.event.name, "c");
	fxt_same_text(f->rec.event.category, "");
	fxt_pair_end(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		PAIR_TEST(test_string_overflow),
		PAIR_TEST(test_replacement_order),
		PAIR_TEST(test_thread_overflow),
		PAIR_TEST(test_table_limits),
		cmocka_unit_test(test_sink),
		PAIR_TEST(test_providers),
		PAIR_TEST(test_tables_apart),
		PAIR_TEST(test_many_providers),
		PAIR_TEST(test_unknown),
		PAIR_TEST(test_extended),
		PAIR_TEST(test_registration),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
