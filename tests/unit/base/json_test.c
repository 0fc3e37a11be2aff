// SPDX-License-Identifier: GPL-2.0
/*
 * What the JSON writer makes of values, and where it puts commas, spaces and lines.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>

#include <cmocka.h>

#include <math.h>
#include <stdlib.h>

#include "base/json.h"

static char *text;
static size_t text_len;

static struct json begin(bool spaced)
{
	struct json j;

	json_init(&j, open_memstream(&text, &text_len), spaced);
	assert_non_null(j.out);
	return j;
}

static void assert_written(struct json *j, const char *expected)
{
	fclose(j->out);
	assert_string_equal(text, expected);
	free(text);
}

static void test_text(void **state)
{
	struct json j = begin(false);

	(void)state;
	json_array(&j);
	json_string(&j, "a\"\\\n\x7f\xff\xc3\xa4\xc2\x9b\xe2\x80\xae\xf0\x9f\x90\xa7", 17);
	json_text(&j, "");
	json_text(&j, NULL);
	json_hex(&j, "\x01\xfe", 2);
	json_end(&j);
	assert_written(&j, "[\"a\\\"\\\\\\u000a\\u007f\\ufffd\xc3\xa4\\u009b\\u202e\xf0\x9f\x90\xa7\","
			   "\"\",null,\"01fe\"]\n");
}

static void test_numbers(void **state)
{
	struct json j = begin(false);

	(void)state;
	json_array(&j);
	json_u64(&j, 1ULL << 53);
	json_u64(&j, (1ULL << 53) + 1);
	json_u64(&j, UINT64_MAX);
	json_i64(&j, -(1LL << 53));
	json_i64(&j, -(1LL << 53) - 1);
	json_i64(&j, INT64_MIN);
	json_i64(&j, INT64_MAX);
	json_pointer(&j, 0);
	json_pointer(&j, UINT64_MAX);
	json_end(&j);
	assert_written(&j, "[9007199254740992,\"9007199254740993\",\"18446744073709551615\","
			   "-9007199254740992,\"-9007199254740993\",\"-9223372036854775808\","
			   "\"9223372036854775807\",\"0x0\",\"0xffffffffffffffff\"]\n");
}

static void test_doubles(void **state)
{
	struct json j = begin(false);

	(void)state;
	json_array(&j);
	json_double(&j, 0.1);
	json_double(&j, NAN);
	json_double(&j, -INFINITY);
	json_fixed(&j, 2.0 / 3, 3);
	json_fixed(&j, INFINITY, 3);
	json_end(&j);
	assert_written(&j, "[0.10000000000000001,\"nan\",\"-inf\",0.667,\"inf\"]\n");
}

static void write_levels(struct json *j)
{
	json_object(j);
	json_key(j, "a");
	json_array(j);
	json_end(j);
	json_key(j, "b\n");
	json_array(j);
	json_object(j);
	json_end(j);
	json_array(j);
	json_null(j);
	json_bool(j, true);
	json_end(j);
	json_object(j);
	json_key_bool(j, "c", false);
	json_key_fixed(j, "d", 1, 1);
	json_end(j);
	json_end(j);
	json_key_text(j, "e", "f");
	json_key_u64(j, "g", 0);
	json_end(j);
}

static void test_levels(void **state)
{
	struct json j = begin(false), spaced;

	(void)state;
	write_levels(&j);
	write_levels(&j);
	assert_written(&j, "{\"a\":[],\"b\\u000a\":[{},[null,true],{\"c\":false,\"d\":1.0}],\"e\":\"f\",\"g\":0}\n"
			   "{\"a\":[],\"b\\u000a\":[{},[null,true],{\"c\":false,\"d\":1.0}],\"e\":\"f\",\"g\":0}\n");
	spaced = begin(true);
	write_levels(&spaced);
	assert_written(&spaced, "{\"a\": [], \"b\\u000a\": [{}, [null, true], {\"c\": false, \"d\": 1.0}], "
				"\"e\": \"f\", \"g\": 0}\n");
}

static void test_lines(void **state)
{
	struct json j = begin(true);

	(void)state;
	json_object(&j);
	json_line(&j, "  ");
	json_key(&j, "a");
	json_array(&j);
	json_line(&j, "    ");
	json_u64(&j, 1);
	json_line(&j, "    ");
	json_u64(&j, 2);
	json_u64(&j, 3);
	json_line(&j, "  ");
	json_end(&j);
	json_line(&j, "");
	json_end(&j);
	assert_written(&j, "{\n  \"a\": [\n    1,\n    2, 3\n  ]\n}\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_text),
		cmocka_unit_test(test_numbers),
		cmocka_unit_test(test_doubles),
		cmocka_unit_test(test_levels),
		cmocka_unit_test(test_lines),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
