// SPDX-License-Identifier: GPL-2.0
/*
 * Text that is compared without a call: of each length, with a difference in each byte.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "model/text.h"

#define LEN_MAX		40U

/* Of just that length, so that reading beyond it is found with sanitizers. */
static char *text_of(size_t len)
{
	char *text = malloc(len ? len : 1);
	size_t i;

	assert_non_null(text);
	for (i = 0; i < len; i++)
		text[i] = (char)('a' + i);
	return text;
}

static void test_each_byte_counts(void **state)
{
	size_t len, i;
	char *a, *b;

	(void)state;
	for (len = 0; len <= LEN_MAX; len++) {
		a = text_of(len);
		b = text_of(len);
		assert_true(text_same(a, b, len));
		for (i = 0; i < len; i++) {
			b[i]++;
			assert_false(text_same(a, b, len));
			b[i]--;
		}
		free(a);
		free(b);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_byte_counts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
