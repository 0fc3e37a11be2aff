// SPDX-License-Identifier: GPL-2.0
/*
 * Passing over nested values: the end is where reading byte by byte finds it, with vectors of any size.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "format/chrome/bytes.h"

#define LEN_MAX	200

/* After the bracket that closes the first one, NULL: there is none. */
static const char *end_of(const char *p, const char *end)
{
	bool in_string = false;
	unsigned int depth = 0;

	for (; p < end; p++) {
		if (*p == '"')
			in_string = !in_string;
		else if (in_string)
			p += *p == '\\';
		else if (*p == '\\')
			return NULL;	/* no JSON: any answer will do */
		else if (*p == '{' || *p == '[')
			depth++;
		else if ((*p == '}' || *p == ']') && !--depth)
			return p + 1;
	}
	return NULL;
}

static char next_byte(uint64_t *random, bool in_string)
{
	static const char structure[] = "{}[]]}\"\"", strings[] = "\"\\{}[]\\\"";

	*random = *random * 6364136223846793005ULL + 1442695040888963407ULL;
	if (*random >> 61)
		return 'a';
	return in_string ? strings[(*random >> 33) % 8] : structure[(*random >> 33) % 8];
}

static void the_end_is_found(void **state)
{
	char text[LEN_MAX + CHROME_PAD_BYTES];
	unsigned int i, found = 0;
	uint64_t random = 1;

	(void)state;
	for (i = 0; i < 200000; i++) {
		size_t len = 2 + (random >> 40) % (LEN_MAX - 2), j;
		bool in_string = false;
		const char *end;

		text[0] = random & 1 << 20 ? '{' : '[';
		for (j = 1; j < len; j++) {
			text[j] = next_byte(&random, in_string);
			if (text[j] == '\\' && j + 1 < len)
				text[++j] = next_byte(&random, true);
			else if (text[j] == '"')
				in_string = !in_string;
		}
		memset(text + len, '"', CHROME_PAD_BYTES);
		end = end_of(text, text + len);
		found += end != NULL;
		assert_ptr_equal(chrome_nested_end(text, text + len), end);
		assert_ptr_equal(chrome_nested_end_plain(text, text + len), end);
	}
	assert_in_range(found, 20000, 199999);
	assert_null(chrome_nested_end(text, text));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_end_is_found),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
