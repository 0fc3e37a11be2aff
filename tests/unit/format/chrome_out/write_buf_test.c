// SPDX-License-Identifier: GPL-2.0
/*
 * JSON text in memory: strings of any bytes, numbers that no reader rounds.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>

#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "format/chrome_out/buf.h"

static void assert_is(struct write_buf *b, const char *expected)
{
	write_buf_char(b, 0);
	assert_false(b->failed);
	assert_string_equal(b->data, expected);
	write_buf_fini(b);
}

static void assert_string_is(const char *data, size_t len, const char *expected)
{
	struct write_buf b = { 0 };

	write_buf_string(&b, data, len);
	assert_is(&b, expected);
}

#define ASSERT_STRING(literal, expected)	assert_string_is(literal, sizeof(literal) - 1, expected)

static void test_strings(void **state)
{
	(void)state;
	ASSERT_STRING("", "\"\"");
	ASSERT_STRING("a\"b\\c", "\"a\\\"b\\\\c\"");
	ASSERT_STRING("\n\t\r\0\x1f\x7f", "\"\\n\\t\\u000d\\u0000\\u001f\x7f\"");
	ASSERT_STRING("\xc3\xa4 \xe2\x82\xac \xf0\x9f\x90\xa7", "\"\xc3\xa4 \xe2\x82\xac \xf0\x9f\x90\xa7\"");
}

/* As the Unicode standard recommends: one U+FFFD for each maximal part of a character. */
static void test_bytes_that_are_no_characters(void **state)
{
	(void)state;
	ASSERT_STRING("a\xff" "b", "\"a\xef\xbf\xbd" "b\"");
	ASSERT_STRING("\x80\xbf", "\"\xef\xbf\xbd\xef\xbf\xbd\"");
	ASSERT_STRING("\xe2\x82", "\"\xef\xbf\xbd\"");
	ASSERT_STRING("\xe2\x82z", "\"\xef\xbf\xbdz\"");
	ASSERT_STRING("\xf0\x9f\x90\"", "\"\xef\xbf\xbd\\\"\"");
	ASSERT_STRING("\xc0\xaf", "\"\xef\xbf\xbd\xef\xbf\xbd\"");
	ASSERT_STRING("\xed\xa0\x80", "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\"");
	ASSERT_STRING("\xf4\x90\x80\x80", "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\"");
	ASSERT_STRING("\xe0\x9f\xbf", "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\"");
}

static void test_integers(void **state)
{
	struct write_buf b = { 0 };

	(void)state;
	write_buf_u64(&b, 0);
	write_buf_char(&b, ' ');
	write_buf_u64(&b, 1ULL << 53);
	write_buf_char(&b, ' ');
	write_buf_u64(&b, (1ULL << 53) + 1);
	write_buf_char(&b, ' ');
	write_buf_i64(&b, -1);
	write_buf_char(&b, ' ');
	write_buf_i64(&b, INT64_MIN);
	write_buf_char(&b, ' ');
	write_buf_hex(&b, UINT64_MAX);
	assert_is(&b, "0 9007199254740992 \"9007199254740993\" -1 \"-9223372036854775808\" \"0xffffffffffffffff\"");
}

static void test_times(void **state)
{
	struct write_buf b = { 0 };

	(void)state;
	write_buf_us(&b, 0);
	write_buf_char(&b, ' ');
	write_buf_us(&b, 1007);
	write_buf_char(&b, ' ');
	write_buf_us(&b, UINT64_MAX);
	assert_is(&b, "0.000 1.007 18446744073709551.615");
}

static void test_doubles(void **state)
{
	static const double values[] = { 0.1, 1.0, -2.5e300, 1.0 / 3, 5e-324, NAN, INFINITY, -INFINITY };
	struct write_buf b = { 0 };
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
		write_buf_double(&b, values[i]);
		write_buf_char(&b, ' ');
	}
	assert_is(&b, "0.1 1.0 -2.5e+300 0.33333333333333331 4.94065645841247e-324 \"nan\" \"inf\" \"-inf\" ");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_strings),
		cmocka_unit_test(test_bytes_that_are_no_characters),
		cmocka_unit_test(test_integers),
		cmocka_unit_test(test_times),
		cmocka_unit_test(test_doubles),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
