// SPDX-License-Identifier: GPL-2.0
/*
 * Protobuf messages in memory: their bytes, as the wire format has them.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>

#include <cmocka.h>

#include <string.h>

#include "format/perfetto/encode.h"

static void assert_is(struct pb_buf *b, const void *expected, size_t len)
{
	assert_false(b->failed);
	assert_int_equal(b->len, len);
	assert_memory_equal(b->data, expected, len);
	pb_buf_fini(b);
}

#define ASSERT_IS(b, literal)	assert_is(b, literal, sizeof(literal) - 1)

static void test_numbers(void **state)
{
	struct pb_buf b = { 0 };

	(void)state;
	pb_put_u64(&b, 1, 0);
	pb_put_u64(&b, 2, 127);
	pb_put_u64(&b, 15, 128);
	pb_put_u64(&b, 16, 300);
	ASSERT_IS(&b, "\x08\x00" "\x10\x7f" "\x78\x80\x01" "\x80\x01\xac\x02");
	pb_put_i64(&b, 1, -1);
	pb_put_u64(&b, 1, UINT64_MAX);
	ASSERT_IS(&b, "\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01" "\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01");
	pb_put_fixed64(&b, 47, 0x0102030405060708);
	pb_put_double(&b, 5, 1.0);
	ASSERT_IS(&b, "\xf9\x02\x08\x07\x06\x05\x04\x03\x02\x01" "\x29\0\0\0\0\0\0\xf0\x3f");
}

static void test_bytes(void **state)
{
	struct pb_buf b = { 0 };

	(void)state;
	pb_put_text(&b, 2, "ab");
	pb_put_bytes(&b, 2, "", 0);
	pb_put_bytes(&b, 3, "\0\xff", 2);
	pb_put_raw(&b, "xy", 2);
	ASSERT_IS(&b, "\x12\x02" "ab" "\x12\x00" "\x1a\x02\x00\xff" "xy");
}

/* A length takes more bytes from 128 on, also of the messages around it. */
static void test_nested(void **state)
{
	static const size_t sizes[] = { 0, 1, 122, 123, 124, 125, 126, 127, 128, 129, 16378, 16384, 3000000 };
	struct pb_buf b = { 0 };
	size_t i, outer, inner, at, len, shift;

	(void)state;
	for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		static char data[3000000];

		memset(data, 'x', sizes[i]);
		outer = pb_begin(&b, 1);
		inner = pb_begin(&b, 2);
		pb_put_raw(&b, data, sizes[i]);
		pb_end(&b, inner);
		pb_put_u64(&b, 3, 7);
		pb_end(&b, outer);
		assert_false(b.failed);
		assert_int_equal(b.data[0], 0x0a);
		for (at = 1, len = shift = 0; b.data[at] & 128; shift += 7)
			len |= (size_t)(b.data[at++] & 127) << shift;
		len |= (size_t)b.data[at++] << shift;
		assert_int_equal(len, b.len - at);
		assert_int_equal(b.data[at++], 0x12);
		for (len = shift = 0; b.data[at] & 128; shift += 7)
			len |= (size_t)(b.data[at++] & 127) << shift;
		len |= (size_t)b.data[at++] << shift;
		assert_int_equal(len, sizes[i]);
		assert_int_equal(b.len, at + len + 2);
		assert_true(!len || (b.data[at] == 'x' && !memcmp(b.data + at, data, len)));
		assert_memory_equal(b.data + at + len, "\x18\x07", 2);
		pb_buf_fini(&b);
	}
}

static void test_no_memory(void **state)
{
	struct pb_buf b = { .failed = true };
	size_t begun = pb_begin(&b, 1);

	(void)state;
	pb_put_u64(&b, 1, 1);
	pb_put_text(&b, 2, "x");
	pb_end(&b, begun);
	assert_true(b.failed);
	assert_int_equal(b.len, 0);
	pb_buf_fini(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_numbers),
		cmocka_unit_test(test_bytes),
		cmocka_unit_test(test_nested),
		cmocka_unit_test(test_no_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
