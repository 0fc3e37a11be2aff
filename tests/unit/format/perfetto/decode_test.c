// SPDX-License-Identifier: GPL-2.0
/*
 * Numbers and fields of any length, each at the end of its memory and cut after each byte, against a decoder that
 * takes a byte at a time.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "format/perfetto/decode.h"

/* In @bytes bytes at least, with zeros that say nothing. */
static size_t put_varint(uint8_t *to, uint64_t value, size_t bytes)
{
	size_t len = 0;

	for (; value > 0x7f || len + 1 < bytes; value >>= 7)
		to[len++] = (uint8_t)(value | 0x80);
	to[len++] = (uint8_t)value;
	return len;
}

/* So that whatever reads beyond its end is found: the last bytes of an allocation. */
static uint8_t *copy_of(const uint8_t *data, size_t len)
{
	uint8_t *copy = malloc(len ? len : 1);

	assert_non_null(copy);
	memcpy(copy, data, len);
	return copy;
}

static void read_varint(const uint8_t *data, size_t len, size_t after, uint64_t value)
{
	uint8_t *copy = copy_of(data, len);
	struct pf_cursor c = pf_message(copy, len);
	uint64_t got = ~value;

	assert_true(pf_varint(&c, &got));
	assert_int_equal(got, value);
	assert_int_equal(c.end - c.at, after);
	free(copy);
}

static void cut_varint(const uint8_t *data, size_t len)
{
	uint8_t *copy;
	struct pf_cursor c;
	uint64_t got;
	size_t i;

	for (i = 0; i < len; i++) {
		copy = copy_of(data, i);
		c = pf_message(copy, i);
		assert_false(pf_varint(&c, &got));
		free(copy);
	}
}

/* Of each length that the value can have, with 0 to 8 bytes after it. */
static void check_varint(uint64_t value)
{
	uint8_t data[32];
	size_t bytes, len, after;

	for (bytes = 1; bytes <= 10; bytes++) {
		len = put_varint(data, value, bytes);
		cut_varint(data, len);
		for (after = 0; after <= 8; after++) {
			memset(data + len, after & 1 ? 0xff : 0x55, after);
			read_varint(data, len + after, after, value);
		}
	}
}

static void test_varints(void **state)
{
	unsigned int bit;
	uint64_t mixed = 0x9e3779b97f4a7c15ULL;

	(void)state;
	check_varint(0);
	check_varint(UINT64_MAX);
	for (bit = 0; bit < 64; bit++) {
		check_varint(1ULL << bit);
		check_varint((1ULL << bit) - 1);
		check_varint(mixed >> bit);
		check_varint(mixed << bit);
	}
}

/* Eleven bytes are damage; bits above 64 of ten are dropped. */
static void test_long_varints(void **state)
{
	uint8_t data[16];
	struct pf_cursor c = pf_message(data, 11);
	uint64_t got;

	(void)state;
	memset(data, 0xff, sizeof(data));
	data[10] = 1;
	assert_false(pf_varint(&c, &got));
	data[9] = 0x7f;
	c = pf_message(data, 10);
	assert_true(pf_varint(&c, &got));
	assert_int_equal(got, UINT64_MAX);
}

/* A field of @len bytes from @data on, and nothing after it. */
static void read_field(const uint8_t *data, size_t len, uint32_t number, enum pf_wire wire, uint64_t value, size_t bytes)
{
	uint8_t *copy = copy_of(data, len);
	struct pf_cursor c = pf_message(copy, len);
	struct pf_field f = { .number = 1, .value = 2, .data = data, .len = 3 };
	size_t i;

	assert_int_equal(pf_next(&c, &f), 1);
	assert_true(pf_is(&f, number, wire));
	assert_int_equal(f.len, bytes);
	assert_true(wire == PF_BYTES ? f.data == copy + len - bytes : !f.data);
	if (wire != PF_BYTES)
		assert_int_equal(f.value, value);
	assert_int_equal(pf_next(&c, &f), 0);
	free(copy);
	for (i = 1; i < len; i++) {
		copy = copy_of(data, i);
		c = pf_message(copy, i);
		assert_int_equal(pf_next(&c, &f), -EBADMSG);
		free(copy);
	}
}

static void check_fields(uint32_t number)
{
	static const size_t lengths[] = { 0, 1, 126, 127, 128, 300, 16384 };
	static uint8_t data[16384 + 32];
	size_t tag, len, i;

	for (i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		tag = put_varint(data, (uint64_t)number << 3 | PF_BYTES, 1);
		len = tag + put_varint(data + tag, lengths[i], 1);
		memset(data + len, 7, lengths[i]);
		read_field(data, len + lengths[i], number, PF_BYTES, 0, lengths[i]);
		tag = put_varint(data, (uint64_t)number << 3 | PF_VARINT, 1);
		len = tag + put_varint(data + tag, lengths[i], 1);
		read_field(data, len, number, PF_VARINT, lengths[i], 0);
	}
	tag = put_varint(data, (uint64_t)number << 3 | PF_FIXED64, 1);
	memset(data + tag, 1, 8);
	read_field(data, tag + 8, number, PF_FIXED64, 0x0101010101010101ULL, 0);
	tag = put_varint(data, (uint64_t)number << 3 | PF_FIXED32, 1);
	read_field(data, tag + 4, number, PF_FIXED32, 0x01010101, 0);
}

static void test_fields(void **state)
{
	(void)state;
	check_fields(1);
	check_fields(15);
	check_fields(16);
	check_fields(70000);
	check_fields(0x1fffffff);
}

/* Number 0, a number that is too large, groups and wire types that do not exist. */
static void test_no_fields(void **state)
{
	static const uint8_t none[][6] = {
		{ 0x00, 1 }, { 0x02, 0 }, { 0x0b }, { 0x0c }, { 0x0e }, { 0x0f }, { 0x80, 0x00, 1 }, { 0xfb, 0x01 },
		{ 0x80, 0x80, 0x80, 0x80, 0x10, 1 },
	};
	struct pf_cursor c;
	struct pf_field f;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(none) / sizeof(none[0]); i++) {
		c = pf_message(none[i], sizeof(none[i]));
		assert_int_equal(pf_next(&c, &f), -EBADMSG);
	}
}

/* What is not there has no value, whatever comes last. */
static void test_find(void **state)
{
	static const uint8_t data[] = { 1 << 3, 5, 2 << 3 | 2, 1, 'x', 1 << 3, 6, 3 << 3, 7 };
	const struct pf_cursor c = pf_message(data, sizeof(data));
	struct pf_field f;

	(void)state;
	assert_true(pf_find(c, 1, PF_VARINT, &f));
	assert_int_equal(f.value, 5);
	assert_true(pf_find(c, 2, PF_BYTES, &f));
	assert_int_equal(f.len, 1);
	assert_false(pf_find(c, 2, PF_VARINT, &f));
	assert_int_equal(f.number, 0);
	assert_int_equal(f.value, 0);
	assert_false(pf_find(pf_message(data, 0), 1, PF_VARINT, &f));
	assert_int_equal(f.len, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_varints),
		cmocka_unit_test(test_long_varints),
		cmocka_unit_test(test_fields),
		cmocka_unit_test(test_no_fields),
		cmocka_unit_test(test_find),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
