/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The FXT reader on bad input: every kind of damage is reported where it is and
 * no further, and nothing makes it crash, hang or lose count of the bytes.
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

#include "cuts.h"
#include "fxt_mem.h"
#include "fxt_sample.h"
#include "fxt_walk.h"

#define MAGIC		0x0016547846040010ULL
#define MUTATIONS	200000
#define ENTRIES(table)	(sizeof(table) / sizeof((table)[0]))

/* A context switch, its last word being @n. */
#define SWITCH(n)	0x1000003000500048ULL, 1, 8, n

static struct fxt_reader *open_words(struct fxt_mem_source *s, const void *words, size_t len)
{
	struct fxt_reader *r;

	*s = (struct fxt_mem_source){ .data = words, .len = len };
	assert_int_equal(fxt_reader_open(&r, fxt_mem_read, s), 0);
	return r;
}

static void expect(struct fxt_reader *r, struct fxt_record *rec, enum fxt_kind kind,
		   uint64_t offset, uint64_t len)
{
	assert_int_equal(fxt_reader_next(r, rec), 1);
	if (rec->kind == FXT_KIND_DAMAGED && kind != FXT_KIND_DAMAGED)
		print_message("%s\n", rec->damage.reason);
	assert_string_equal(fxt_kind_name(rec->kind), fxt_kind_name(kind));
	assert_int_equal(rec->offset, offset);
	assert_int_equal(rec->len, len);
}

static void expect_damage(struct fxt_reader *r, uint64_t offset, uint64_t len, const char *reason)
{
	struct fxt_record rec;

	expect(r, &rec, FXT_KIND_DAMAGED, offset, len);
	assert_string_equal(rec.damage.reason, reason);
	assert_int_equal(rec.nargs, 0);
	assert_false(rec.has_ts);
}

/* ---- every kind of damage ---------------------------------------------------- */

static const struct damage_case {
	const char *reason;
	unsigned int cnt;
	uint64_t words[6];
} cases[] = {
	{ "record of size 0", 1, { 0 } },
	{ "record of size 0", 1, { 0x1000003000500008ULL } },
	{ "record of size 0", 1, { 0x000001000000000fULL } },
	{ "record cut short by the end of the input", 3, { 0x0000000000050ff9ULL, 5, 6 } },
	{ "wrong magic number", 1, { 0x0016547847040010ULL } },
	{ "string longer than its record", 1, { 0x0640000000110010ULL } },
	{ "record shorter than its fields", 1, { 0x11 } },
	{ "initialization with 0 ticks per second", 2, { 0x21, 0 } },
	{ "string longer than its record", 2, { 0x0000006400010022ULL, 0x61 } },
	{ "record shorter than its fields", 2, { 0x0000000000010023ULL, 1 } },
	{ "record shorter than its fields", 1, { 0x0000000001000014ULL } },
	{ "record shorter than its fields", 3, { 0x0000000000000034ULL, 5, 6 } },
	{ "record shorter than its fields", 2, { 0x0000000001010024ULL, 5 } },
	{ "string longer than its record", 3, { 0x0000806401000034ULL, 5, 0x61 } },
	{ "string longer than its record", 3, { 0x8064000001000034ULL, 5, 0x61 } },
	{ "record shorter than its arguments", 4, { 0x2000000000220048ULL, 1, 8, 0x10 } },
	{ "argument of size 0", 4, { 0x2000000000210048ULL, 1, 8, 0 } },
	{ "argument longer than its record", 4, { 0x2000000000210048ULL, 1, 8, 0x50 } },
	{ "string longer than its argument", 5, { 0x2000000000210058ULL, 1, 8, 0x80640020, 0x61 } },
	{ "string longer than its argument", 5,
	  { 0x2000000000210058ULL, 1, 8, 0x0000806400000026ULL, 0x61 } },
	{ "argument shorter than its value", 5, { 0x2000000000210058ULL, 1, 8, 0x14, 0 } },
	{ "data longer than its argument", 5,
	  { 0x2000000000210058ULL, 1, 8, 0xffffffff0000002aULL, 0 } },
	{ "string longer than its record", 2, { 0x0001000080640025ULL, 1 } },
	{ "data longer than its record", 2, { 0x0001006400000025ULL, 1 } },
	{ "record shorter than its fields", 2, { 0x0000000000000026ULL, 1 } },
	{ "string longer than its record", 3, { 0x0000008064000036ULL, 1, 2 } },
	{ "record shorter than its fields", 1, { 0x0000000000000017ULL } },
	{ "string longer than its record", 2, { 0x0000008064000027ULL, 1 } },
	{ "record shorter than its arguments", 2, { 0x0000010000000027ULL, 1 } },
	{ "record shorter than its fields", 2, { 0x0000000000000028ULL, 1 } },
	{ "record shorter than its fields", 3, { 0x1000000000000038ULL, 1, 2 } },
	{ "record shorter than its fields", 2, { 0x2000000000000028ULL, 1 } },
	{ "record shorter than its fields", 1, { 0x0000000100000019ULL } },
	{ "string longer than its record", 3, { 0x0000000100640039ULL, 1, 2 } },
	{ "string longer than its record", 3, { 0x000640000010003aULL, 1, 2 } },
	{ "data longer than its record", 3, { 0x064000000010003aULL, 1, 2 } },
	{ "record shorter than its fields", 3, { 0x000000000011003aULL, 1, 2 } },
	{ "data longer than its record", 3, { 0x000000064012003aULL, 1, 2 } },
	{ "record shorter than its fields", 1, { 0x000001000000001fULL } },
	{ "record shorter than its fields", 2, { 0x000001000000002fULL, 0 } },
	{ "record shorter than its fields", 2, { 0x000000000000002fULL, 0 } },
	{ "string longer than its record", 3, { 0x000001000000003fULL, 0x8064, 0 } },
	{ "data longer than its record", 4, { 0x000001000000004fULL, 0, 1000, 0 } },
	{ "data longer than its record", 4, { 0x000001000000004fULL, 0, ~0ULL, 0 } },
	{ "size beyond the content", 4, { 0x1000003000500068ULL, 1, 8, 9 } },
	{ "unknown record, and none follows it", 1, { 0x000000000000003cULL } },
	/* A large BLOB of 2^32 - 1 words, and one whose payload is a fraction of its size. */
	{ "data longer than its record", 3, { 0x0000010fffffffffULL, 0, ~0ULL } },
	{ "data much shorter than its record", 4, { 0x0000010000ffffffULL, 0, 8, 0 } },
	{ "unknown record of an unlikely size", 2, { 0x0000001fffffffffULL, 0 } },
};

/* Each between two good records: the one before and the one after must be read. */
static void test_kinds(void **state)
{
	struct fxt_mem_source s;
	struct fxt_record rec;
	struct fxt_reader *r;
	uint64_t words[32];
	size_t i;

	(void)state;
	for (i = 0; i < ENTRIES(cases); i++) {
		const struct damage_case *c = &cases[i];
		const uint64_t before[] = { MAGIC, SWITCH(1) }, after[] = { SWITCH(2) };

		memcpy(words, before, sizeof(before));
		memcpy(words + 5, c->words, 8 * c->cnt);
		memcpy(words + 5 + c->cnt, after, sizeof(after));
		r = open_words(&s, words, 8 * (9 + c->cnt));
		print_message("case %zu: %s\n", i, c->reason);
		expect(r, &rec, FXT_KIND_MAGIC, 0, 8);
		expect(r, &rec, FXT_KIND_SWITCH, 8, 32);
		expect_damage(r, 40, 8 * c->cnt, c->reason);
		expect(r, &rec, FXT_KIND_SWITCH, 40 + 8 * c->cnt, 32);
		assert_int_equal(rec.context_switch.in, 2);
		assert_int_equal(fxt_reader_next(r, &rec), 0);
		fxt_reader_close(r);
	}
}

static void test_no_magic(void **state)
{
	static const uint64_t without[] = { SWITCH(1) }, big_endian = 0x1000044678541600ULL;
	static const char text[] = "{\"traceEvents\":[]}";
	struct fxt_mem_source s;
	struct fxt_record rec;
	struct fxt_reader *r;

	(void)state;
	r = open_words(&s, without, sizeof(without));
	expect_damage(r, 0, 0, "no magic number at the beginning");
	expect(r, &rec, FXT_KIND_SWITCH, 0, 32);
	assert_int_equal(fxt_reader_next(r, &rec), 0);
	fxt_reader_close(r);
	r = open_words(&s, NULL, 0);
	expect_damage(r, 0, 0, "no magic number at the beginning");
	assert_int_equal(fxt_reader_next(r, &rec), 0);
	fxt_reader_close(r);
	r = open_words(&s, &big_endian, 8);
	expect_damage(r, 0, 0, "no magic number: written by a big-endian machine");
	expect_damage(r, 0, 8, "record cut short by the end of the input");
	assert_int_equal(fxt_reader_next(r, &rec), 0);
	fxt_reader_close(r);
	/* Something else altogether is one piece of damage. */
	r = open_words(&s, text, sizeof(text) - 1);
	expect_damage(r, 0, 0, "no magic number at the beginning");
	expect_damage(r, 0, 18, "record cut short by the end of the input");
	assert_int_equal(fxt_reader_next(r, &rec), 0);
	fxt_reader_close(r);
}

static void test_tail(void **state)
{
	static const uint64_t words[] = { MAGIC, SWITCH(1), 0x0000000000000041ULL };
	struct fxt_mem_source s;
	struct fxt_record rec;
	struct fxt_reader *r;
	size_t extra;

	(void)state;
	for (extra = 1; extra < 8; extra++) {
		r = open_words(&s, words, 40 + extra);
		expect(r, &rec, FXT_KIND_MAGIC, 0, 8);
		expect(r, &rec, FXT_KIND_SWITCH, 8, 32);
		expect_damage(r, 40, extra, "part of a word at the end");
		assert_int_equal(fxt_reader_next(r, &rec), 0);
		fxt_reader_close(r);
	}
	r = open_words(&s, words, sizeof(words));
	expect(r, &rec, FXT_KIND_MAGIC, 0, 8);
	expect(r, &rec, FXT_KIND_SWITCH, 8, 32);
	expect_damage(r, 40, 8, "record cut short by the end of the input");
	assert_int_equal(fxt_reader_next(r, &rec), 0);
	fxt_reader_close(r);
}

static void test_unannounced_section(void **state)
{
	static const uint64_t words[] = { MAGIC, 0x0000000000720010ULL, SWITCH(1),
		0x0000000000720010ULL, SWITCH(2) };
	struct fxt_mem_source s;
	struct fxt_record rec;
	struct fxt_reader *r;

	(void)state;
	r = open_words(&s, words, sizeof(words));
	expect(r, &rec, FXT_KIND_MAGIC, 0, 8);
	expect_damage(r, 8, 8, "section of a provider that was not announced");
	expect(r, &rec, FXT_KIND_SWITCH, 16, 32);
	assert_int_equal(rec.provider_id, 7);
	/* Now it is known. */
	expect(r, &rec, FXT_KIND_PROVIDER_SECTION, 48, 8);
	expect(r, &rec, FXT_KIND_SWITCH, 56, 32);
	assert_int_equal(fxt_reader_next(r, &rec), 0);
	fxt_reader_close(r);
}

/* A megabyte of zeros and of noise in the middle of good records. */
static void test_long_damage(void **state)
{
	const uint64_t good[] = { SWITCH(7) };
	size_t gap = 1 << 17, total = 5 + gap + 4 * 1000, i;
	uint64_t *words = calloc(total, 8), seed = 1;
	struct fxt_walk walk;
	int noise;

	(void)state;
	words[0] = MAGIC;
	memcpy(words + 1, good, sizeof(good));
	for (i = 0; i < 1000; i++)
		memcpy(words + 5 + gap + 4 * i, good, sizeof(good));
	for (noise = 0; noise < 2; noise++) {
		for (i = 0; noise && i < gap; i++) {
			seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
			words[5 + i] = seed ^ seed >> 31;
		}
		walk = fxt_walk(words, 8 * total, (struct fxt_walk_options){ 0 });
		assert_null(walk.broken);
		assert_int_equal(walk.kinds[FXT_KIND_SWITCH], 1001);
		assert_int_equal(walk.damage_bytes, 8 * gap);
		assert_int_equal(walk.kinds[FXT_KIND_DAMAGED], 1);
	}
	free(words);
}

/* ---- large records --------------------------------------------------------------- */

static void test_large_cut(void **state)
{
	struct fxt_mem mem = { 0 };
	struct fxt_large_blob b = { .format = FXT_LARGE_NO_METADATA, .len = 40001 };
	char *data = calloc(1, 40001), *got = malloc(40001);
	struct fxt_walk_options how = { 0 };
	struct fxt_mem_source s;
	struct fxt_record rec;
	struct fxt_reader *r;
	struct fxt_writer *w;
	size_t cut, at;
	long n;

	(void)state;
	b.data = data;
	fxt_writer_open(&w, fxt_mem_write, &mem);
	fxt_write_magic(w);
	fxt_write_large_blob(w, &b, NULL, 0);
	assert_int_equal(fxt_writer_close(w), 0);
	for (cut = 32; cut < mem.len; cut += cut < 64 || cut > mem.len - 32 ? 1 : 511) {
		r = open_words(&s, mem.data, cut);
		s.chunk = 4099;
		expect(r, &rec, FXT_KIND_MAGIC, 0, 8);
		expect(r, &rec, FXT_KIND_LARGE_BLOB, 8, mem.len - 8);
		for (at = 0; (n = fxt_reader_payload(r, got, 3000)) > 0; at += n)
			;
		/* The last 7 bytes are padding. */
		assert_int_equal(n, cut - 32 < 40001 ? -ENODATA : 0);
		assert_int_equal(at, cut - 32 < 40001 ? cut - 32 : 40001);
		expect_damage(r, cut, 0, "large record cut short by the end of the input");
		assert_int_equal(fxt_reader_next(r, &rec), 0);
		fxt_reader_close(r);
		how.skip_payload = cut & 1;
		assert_null(fxt_walk(mem.data, cut, how).broken);
	}
	fxt_mem_free(&mem);
	free(data);
	free(got);
}

/* More metadata than most records have in all: two names and fifteen arguments of 32 KiB. */
static void test_large_head(void **state)
{
	size_t string_words = 4096, total = 2 + 2 * string_words + 3 + 15 * 4095 + 1 + 2, i, at;
	uint64_t *words = calloc(1 + total + 4, 8);
	const uint64_t good[] = { SWITCH(7) };
	struct fxt_walk_options how = { 0 };
	struct fxt_mem_source s;
	struct fxt_record rec;
	struct fxt_reader *r;

	(void)state;
	words[0] = MAGIC;
	words[1] = 0xf | total << 4;
	words[2] = 0xffff | 0xffffULL << 16 | 0xfULL << 32;
	at = 3 + 2 * string_words + 3;
	for (i = 0; i < 15; i++, at += 4095)
		words[at] = 0xfffaULL | (8ULL * 4094) << 32;
	words[at] = 16;
	memcpy(words + 1 + total, good, sizeof(good));
	r = open_words(&s, words, 8 * (1 + total + 4));
	expect(r, &rec, FXT_KIND_MAGIC, 0, 8);
	expect(r, &rec, FXT_KIND_LARGE_BLOB, 8, 8 * total);
	assert_int_equal(rec.nargs, 15);
	assert_int_equal(rec.args[14].blob.len, 8 * 4094);
	assert_int_equal(rec.large_blob.name.len, 32767);
	assert_int_equal(rec.large_blob.len, 16);
	expect(r, &rec, FXT_KIND_SWITCH, 8 + 8 * total, 32);
	assert_int_equal(fxt_reader_next(r, &rec), 0);
	fxt_reader_close(r);
	how.chunk = 999;
	assert_null(fxt_walk(words, 8 * (1 + total + 4), how).broken);
	free(words);
}

/* ---- sources that fail ------------------------------------------------------------- */

static long too_many(void *ctx, void *buf, size_t len)
{
	(void)ctx;
	(void)buf;
	return len + 1;
}

static long always_fails(void *ctx, void *buf, size_t len)
{
	(void)ctx;
	(void)buf;
	(void)len;
	return -EBADF;
}

static void test_source_errors(void **state)
{
	struct fxt_record rec;
	struct fxt_reader *r;

	(void)state;
	assert_int_equal(fxt_reader_open(&r, too_many, NULL), 0);
	assert_int_equal(fxt_reader_next(r, &rec), -EIO);
	fxt_reader_close(r);
	assert_int_equal(fxt_reader_open(&r, always_fails, NULL), 0);
	assert_int_equal(fxt_reader_next(r, &rec), -EBADF);
	assert_int_equal(fxt_reader_next(r, &rec), -EBADF);
	fxt_reader_close(r);
	fxt_reader_close(NULL);
}

/* ---- files cut and changed at random ------------------------------------------------ */

static void make_sample(struct fxt_mem *mem)
{
	struct fxt_writer *w;

	assert_int_equal(fxt_writer_open(&w, fxt_mem_write, mem), 0);
	assert_int_equal(fxt_sample_write(w, false), 0);
	assert_int_equal(fxt_writer_close(w), 0);
}

static uint64_t word_at(const struct fxt_mem *mem, size_t at)
{
	uint64_t word;

	memcpy(&word, mem->data + at, 8);
	return word;
}

static void test_cut_anywhere(void **state)
{
	struct fxt_mem mem = { 0 };
	size_t cut, whole = 0, next = 0;
	struct fxt_walk walk;
	struct cuts places;

	(void)state;
	make_sample(&mem);
	cuts_init(&places, mem.len);
	cuts_records(&places, mem.data);
	for (cut = 0; cut <= mem.len; cut = cuts_next(&places, cut + 1)) {
		/* No record of the sample needs more than 12 bits of size. */
		while (next <= cut) {
			whole = next;
			next += next < mem.len ? 8 * (word_at(&mem, next) >> 4 & 0xfff) : SIZE_MAX - next;
		}
		walk = fxt_walk(mem.data, cut, (struct fxt_walk_options){ 0 });
		assert_null(walk.broken);
		if (walk.damage_bytes != cut - whole)
			print_message("cut at %zu of %zu\n", cut, whole);
		assert_int_equal(walk.intact_bytes, whole);
		assert_int_equal(walk.damage_bytes, cut - whole);
	}
	cuts_free(&places);
	fxt_mem_free(&mem);
}

static uint64_t next_random(uint64_t *seed)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 7;
	*seed ^= *seed << 17;
	return *seed * 0x2545f4914f6cdd1dULL >> 20;
}

/* One change of a random kind at a random place; the new length. */
static size_t mutate(unsigned char *data, size_t len, uint64_t *seed)
{
	size_t at = next_random(seed) % len, word = at & ~7ULL, n = next_random(seed) % 64;
	uint64_t value = next_random(seed);

	switch (next_random(seed) % 8) {
	case 0:
		data[at] ^= 1 << value % 8;
		break;
	case 1:
		data[at] = value;
		break;
	case 2:
		memcpy(data + word, &value, len - word < 8 ? len - word : 8);
		break;
	case 3:
		memset(data + word, value & 1 ? 0xff : 0, len - word < 8 ? len - word : 8);
		break;
	case 4:		/* take words out */
		n = 8 * n < len - word ? 8 * n : len - word;
		memmove(data + word, data + word + n, len - word - n);
		return len - n ? len - n : 1;
	case 5:		/* copy a stretch over another */
		n = n < len - at ? n : len - at;
		memmove(data + at, data + value % (len - n + 1), n);
		break;
	case 6:		/* the header of something else */
		value = (value & 0xfff0) | (value >> 16 & 0xf);
		memcpy(data + word, &value, len - word < 2 ? len - word : 2);
		break;
	default:
		return at + 1;
	}
	return len;
}

static void test_mutations(void **state)
{
	uint64_t seed = 0x9e3779b97f4a7c15ULL, damaged = 0, i, j;
	struct fxt_mem mem = { 0 };
	struct fxt_walk walk;
	unsigned char *data;
	size_t len;

	(void)state;
	make_sample(&mem);
	data = malloc(mem.len);
	for (i = 0; i < cuts_tries(MUTATIONS); i++) {
		memcpy(data, mem.data, mem.len);
		len = mem.len;
		for (j = 0; j <= i % 4; j++)
			len = mutate(data, len, &seed);
		walk = fxt_walk(data, len, (struct fxt_walk_options){ .skip_payload = i & 1 });
		if (walk.broken)
			print_message("mutation %llu: %s\n", (unsigned long long)i, walk.broken);
		assert_null(walk.broken);
		damaged += walk.first_reason != NULL;
	}
	assert_true(damaged > i / 4);
	free(data);
	fxt_mem_free(&mem);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_kinds),
		cmocka_unit_test(test_no_magic),
		cmocka_unit_test(test_tail),
		cmocka_unit_test(test_unannounced_section),
		cmocka_unit_test(test_long_damage),
		cmocka_unit_test(test_large_cut),
		cmocka_unit_test(test_large_head),
		cmocka_unit_test(test_source_errors),
		cmocka_unit_test(test_cut_anywhere),
		cmocka_unit_test(test_mutations),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
