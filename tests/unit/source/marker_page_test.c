// SPDX-License-Identifier: GPL-2.0
/*
 * Unit tests of the pages that markers are read from: what a kernel writes, and what none
 * should.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "marker_formats.h"
#include "source/marker_page.h"

#define PAGE_BYTES	4096
#define HEAD_BYTES	16
#define TS		1000000ULL

struct page {
	unsigned char *bytes;	/* exactly as many as there are, for the sanitizers */
	size_t used;
};

static const struct marker_format format = {
	.page_bytes = PAGE_BYTES, .data_at = HEAD_BYTES, .id = 5, .tid_at = 4, .text_at = 16,
};

static int open_page(void **state)
{
	struct page *p = calloc(1, sizeof(*p));
	const uint64_t ts = TS;

	p->bytes = calloc(1, PAGE_BYTES);
	memcpy(p->bytes, &ts, sizeof(ts));
	p->used = HEAD_BYTES;
	*state = p;
	return 0;
}

static int close_page(void **state)
{
	struct page *p = *state;

	free(p->bytes);
	free(p);
	return 0;
}

static void put(struct page *p, const void *data, size_t len)
{
	assert_true(p->used + len <= PAGE_BYTES);
	memcpy(p->bytes + p->used, data, len);
	p->used += len;
}

static void put_word(struct page *p, uint32_t word)
{
	put(p, &word, sizeof(word));
}

static void put_head(struct page *p, unsigned int type, uint32_t delta)
{
	put_word(p, type | delta << 5);
}

/* An event of @id, its text in @bytes with zeroes after it; as a long one where it must be. */
static void put_event(struct page *p, uint16_t id, uint32_t tid, const char *text, size_t bytes, bool is_long)
{
	const size_t words = (16 + bytes + 3) / 4;
	char data[PAGE_BYTES] = { 0 };

	memcpy(data, &id, sizeof(id));
	memcpy(data + 4, &tid, sizeof(tid));
	memcpy(data + 16, text, strlen(text));
	put_head(p, is_long ? 0 : (unsigned int)words, 10);
	if (is_long)
		put_word(p, (uint32_t)words * 4 + 4);
	put(p, data, words * 4);
}

static struct marker_page begin(struct page *p, uint64_t commit)
{
	struct marker_page page;

	memcpy(p->bytes + 8, &commit, sizeof(commit));
	marker_page_open(&page, &format, p->bytes, PAGE_BYTES);
	return page;
}

static void expect_marker(struct marker_page *page, uint64_t ts, uint32_t tid, const char *text)
{
	struct page_marker m;

	assert_true(marker_page_next(page, &m));
	assert_int_equal(m.ts, ts);
	assert_int_equal(m.tid, tid);
	assert_int_equal(m.len, strlen(text));
	assert_memory_equal(m.text, text, m.len);
}

static void expect_end(struct marker_page *page)
{
	struct page_marker m;

	assert_false(marker_page_next(page, &m));
	assert_false(marker_page_next(page, &m));
}

static void formats(void **state)
{
	struct marker_format f;

	(void)state;
	memset(&f, 0, sizeof(f));	/* what is between the fields is compared too */
	assert_true(marker_format_parse(&f, header_page, print));
	assert_memory_equal(&f, &format, sizeof(f));
	assert_false(marker_format_parse(&f, "", print));
	assert_false(marker_format_parse(&f, header_page, ""));
	assert_false(marker_format_parse(&f, header_page, strstr(print, "format:")));
	/* A 32-bit kernel's. */
	assert_false(marker_format_parse(&f, "\tfield: local_t commit;\toffset:8;\tsize:4;\tsigned:1;\n"
					 "\tfield: char data;\toffset:12;\tsize:4084;\tsigned:1;\n", print));
}

static void what_kernels_write(void **state)
{
	struct page *p = *state;
	struct marker_page page;
	char *text = calloc(1, 901);

	memset(text, 'x', 900);
	put_event(p, 5, 77, "B|77|short\n", 12, false);
	put_event(p, 9, 77, "of another kind", 16, false);
	put_head(p, 30, 3);			/* the time goes on by more than 27 bits hold */
	put_word(p, 2);
	put_event(p, 5, 78, text, 902, true);
	put_head(p, 29, 1);			/* a discarded one */
	put_word(p, 8);
	put_word(p, 0);
	put_head(p, 31, 5);			/* an absolute time */
	put_word(p, 1);
	put_event(p, 5, 79, "", 2, false);
	put_head(p, 29, 0);			/* the rest of the page */
	page = begin(p, 1U << 31 | (p->used - HEAD_BYTES));	/* with the flag of missed events */
	assert_true(page.missed);
	expect_marker(&page, TS + 10, 77, "B|77|short\n");
	expect_marker(&page, TS + 20 + (2ULL << 27) + 3 + 10, 78, text);
	expect_marker(&page, (1ULL << 27) + 5 + 10, 79, "");
	expect_end(&page);
	free(text);
}

static void lengths_that_lie(void **state)
{
	static const uint32_t lengths[] = { 0, 1, 3, 5000, 0x7fffffff, 0xfffffffc, 0xffffffff };
	struct page *p = *state;
	struct marker_page page;
	size_t i, good;

	put_event(p, 5, 77, "good", 8, false);
	good = p->used;
	for (i = 0; i < sizeof(lengths) / sizeof(*lengths); i++) {
		p->used = good;
		put_head(p, i % 2 ? 29 : 0, 1);
		put_word(p, lengths[i]);
		page = begin(p, PAGE_BYTES - HEAD_BYTES);
		expect_marker(&page, TS + 10, 77, "good");
		expect_end(&page);
	}
	/* More than there is, less than a head, and an event that is cut. */
	p->used = good;
	memset(p->bytes + good, 0, PAGE_BYTES - good);
	page = begin(p, 0xfffff);
	assert_false(page.missed);
	expect_marker(&page, TS + 10, 77, "good");
	expect_end(&page);
	page = begin(p, good - HEAD_BYTES - 1);
	expect_end(&page);
	page = begin(p, 0);
	expect_end(&page);
	marker_page_open(&page, &format, p->bytes, HEAD_BYTES - 1);
	expect_end(&page);
}

static void text_without_an_end(void **state)
{
	struct page *p = *state;
	struct marker_page page;

	put_event(p, 5, 77, "abcd", 4, false);
	put_event(p, 5, 0, "of nobody", 12, false);
	put_event(p, 5, 0x80000000, "of no thread", 16, false);
	put_head(p, 2, 1);			/* no space for a text */
	put_word(p, 5);
	put_word(p, 77);
	page = begin(p, p->used - HEAD_BYTES);
	expect_marker(&page, TS + 10, 77, "abcd");
	expect_end(&page);
}

/* Whatever is in it: no byte outside is read (sanitizers), and it comes to an end. */
static void noise(void **state)
{
	struct page *p = *state;
	struct marker_page page;
	struct page_marker m;
	unsigned int seed = 1, round, cnt, i;

	for (round = 0; round < 20000; round++) {
		for (i = 0; i < PAGE_BYTES; i++) {
			seed = seed * 1103515245 + 12345;
			/* Many zeroes, so that lengths are small now and then. */
			p->bytes[i] = (seed >> 16) % 3 ? (unsigned char)(seed >> 24) & (round % 2 ? 0xff : 0x07) : 0;
		}
		marker_page_open(&page, &format, p->bytes, PAGE_BYTES);
		for (cnt = 0; marker_page_next(&page, &m); cnt++)
			assert_true(m.text > (char *)p->bytes && m.text + m.len <= (char *)p->bytes + PAGE_BYTES);
		assert_true(cnt <= PAGE_BYTES / 8);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(formats),
		cmocka_unit_test_setup_teardown(what_kernels_write, open_page, close_page),
		cmocka_unit_test_setup_teardown(lengths_that_lie, open_page, close_page),
		cmocka_unit_test_setup_teardown(text_without_an_end, open_page, close_page),
		cmocka_unit_test_setup_teardown(noise, open_page, close_page),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
