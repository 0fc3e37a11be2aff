// SPDX-License-Identifier: GPL-2.0
/*
 * Times, integers and strings of JSON, against values worked out by hand.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "format/chrome/value.h"

static void times_are_exact(void **state)
{
	static const struct {
		const char *text;
		int err;
		int64_t ns;
	} rows[] = {
		{ "0", 0, 0 }, { "1", 0, 1000 }, { "829.5", 0, 829500 }, { "4619295550.000", 0, 4619295550000 },
		{ "1712345678123456.789", 0, 1712345678123456789 },
		{ "9007199254740993.125", 0, 9007199254740993125 },
		{ "0.0005", 0, 1 }, { "0.0004999", 0, 0 }, { "0.00049999999999999999999", 0, 0 },
		{ "1.0015", 0, 1002 }, { "-0.5", 0, -500 }, { "-0.0005", 0, -1 }, { "-0.0004", 0, 0 },
		{ "1e3", 0, 1000000 }, { "1E-3", 0, 1 }, { "1.5e-3", 0, 2 }, { "2.5e+2", 0, 250000 },
		{ "5e-4", 0, 1 }, { "4e-4", 0, 0 }, { "9e-99999999999999999999", 0, 0 },
		{ "0e99999999999999999999", 0, 0 }, { "0000000000000000000000001", 0, 1000 },
		{ "9223372036854775.807", 0, INT64_MAX }, { "9223372036854775.8074", 0, INT64_MAX },
		{ "-9223372036854775.807", 0, -INT64_MAX },
		{ "9223372036854775.8075", -ERANGE, 0 }, { "9223372036854775.808", -ERANGE, 0 },
		{ "9223372036854775808", -ERANGE, 0 }, { "1e17", -ERANGE, 0 }, { "1e999999999999", -ERANGE, 0 },
		{ "", -EINVAL, 0 }, { "-", -EINVAL, 0 }, { ".", -EINVAL, 0 }, { "soon", -EINVAL, 0 }, { "5x", -EINVAL, 0 },
		{ "1e", -EINVAL, 0 }, { "1e+", -EINVAL, 0 }, { "1.2.3", -EINVAL, 0 }, { "+1", -EINVAL, 0 },
		{ " 1", -EINVAL, 0 }, { "1 ", -EINVAL, 0 }, { "0x10", -EINVAL, 0 }, { "NaN", -EINVAL, 0 },
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		int64_t ns = 0;
		int err = chrome_time_ns(rows[i].text, strlen(rows[i].text), &ns);

		if (err != rows[i].err || ns != rows[i].ns)
			fail_msg("%s: %d, %lld ns", rows[i].text, err, (long long)ns);
	}
}

static void integers_are_exact(void **state)
{
	static const struct {
		const char *text;
		int err;
		int64_t value;
	} rows[] = {
		{ "12", 0, 12 }, { "-1", 0, -1 }, { "7.0", 0, 7 }, { "8e0", 0, 8 }, { "1.5e1", 0, 15 }, { "-0", 0, 0 },
		{ "140735412345678", 0, 140735412345678 },
		{ "9223372036854775807", 0, INT64_MAX }, { "-9223372036854775808", 0, INT64_MIN },
		{ "9223372036854775808", -ERANGE, 0 }, { "-9223372036854775809", -ERANGE, 0 },
		{ "18446744073709551616", -ERANGE, 0 },
		{ "1.5", -EINVAL, 0 }, { "1e-1", -EINVAL, 0 }, { "GPU 0", -EINVAL, 0 }, { "", -EINVAL, 0 },
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		int64_t value = 0;
		int err = chrome_int64(rows[i].text, strlen(rows[i].text), &value);

		if (err != rows[i].err || value != rows[i].value)
			fail_msg("%s: %d, %lld", rows[i].text, err, (long long)value);
	}
}

static void decodes(const char *text, const char *want, size_t want_len, uint64_t want_bad)
{
	char out[64];
	uint64_t bad = 0;
	size_t len = chrome_string_decode(text, strlen(text), out, sizeof(out), &bad);

	if (len != want_len || memcmp(out, want, len) || bad != want_bad)
		fail_msg("%s: %.*s, %llu bad", text, (int)len, out, (unsigned long long)bad);
}

/* Numbers in the common form have a path of their own: an exponent of 0 leads to the other. */
static void both_paths_agree(void **state)
{
	uint64_t random = 1;
	unsigned int i, digits, decimals, j;
	int64_t a = 0, b = 0;
	char text[64];

	(void)state;
	for (i = 0; i < 200000; i++) {
		random = random * 6364136223846793005ULL + 1442695040888963407ULL;
		digits = (random >> 33) % 21;
		decimals = (random >> 40) % 7;
		for (j = 0; j < digits + decimals; j++)
			text[j + (j >= digits)] = (char)('0' + (random >> (j + 3)) % 10);
		if (decimals)
			text[digits] = '.';
		j = digits + decimals + (decimals > 0);
		memcpy(text + j, "e0", 3);
		assert_int_equal(chrome_time_ns(text, j, &a), chrome_time_ns(text, j + 2, &b));
		assert_int_equal(a, b);
		assert_int_equal(chrome_int64(text, j, &a), chrome_int64(text, j + 2, &b));
		assert_int_equal(a, b);
	}
}

static void strings_are_decoded(void **state)
{
	(void)state;
	decodes("plain", "plain", 5, 0);
	decodes("", "", 0, 0);
	decodes("\\u00e4 \\u20AC \\uD83D\\uDE00", "\xc3\xa4 \xe2\x82\xac \xf0\x9f\x98\x80", 11, 0);
	decodes("\\/ \\\" \\\\ \\b\\f\\n\\r\\t", "/ \" \\ \b\f\n\r\t", 11, 0);
	decodes("\\ud800 \\udc00 \\ud800\\u0041", "\xef\xbf\xbd \xef\xbf\xbd \xef\xbf\xbd""A", 12, 0);
	decodes("a\\u0000b", "a\0b", 3, 0);
	decodes("torch\\cuda\\__init__", "torch\\cuda\\__init__", 19, 2);
	decodes("\\u12G4 \\x41", "\\u12G4 \\x41", 11, 2);
	decodes("\\u12", "\\u12", 4, 1);
	decodes("end\\", "end\\", 4, 1);
	decodes("\x01\xff\n", "\x01\xff\n", 3, 0);
}

static void long_strings_are_cut_at_a_character(void **state)
{
	char out[4];
	uint64_t bad = 0;

	(void)state;
	assert_int_equal(chrome_string_decode("abcdef", 6, out, 4, &bad), 4);
	assert_memory_equal(out, "abcd", 4);
	assert_int_equal(chrome_string_decode("abc\xc3\xa4", 5, out, 4, &bad), 3);
	assert_int_equal(chrome_string_decode("ab\xe2\x82\xac", 5, out, 4, &bad), 2);
	assert_int_equal(chrome_string_decode("abc\\u20ac", 9, out, 4, &bad), 3);
	assert_int_equal(chrome_string_decode("ab\xc3\xa4", 4, out, 4, &bad), 4);
	assert_int_equal(bad, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(times_are_exact),
		cmocka_unit_test(integers_are_exact),
		cmocka_unit_test(both_paths_agree),
		cmocka_unit_test(strings_are_decoded),
		cmocka_unit_test(long_strings_are_cut_at_a_character),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
