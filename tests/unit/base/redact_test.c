// SPDX-License-Identifier: GPL-2.0
/*
 * Parts of texts that are replaced, and expressions that are refused.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>

#include <cmocka.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/redact.h"

#define WORDS_MAX	3

static struct redact *open_with(const char *const words[WORDS_MAX])
{
	struct redact *r = NULL;
	char why[128];
	size_t i;

	assert_int_equal(redact_open(&r), 0);
	for (i = 0; i < WORDS_MAX && words[i]; i++)
		assert_int_equal(redact_add(r, words[i], why, sizeof(why)), 0);
	return r;
}

static void test_texts(void **state)
{
	static const struct {
		const char *words[WORDS_MAX], *text, *written;
	} cases[] = {
		{ { NULL }, "as it is", "as it is" },
		{ { "secret" }, "no", "no" },
		{ { "secret" }, "", "" },
		{ { "secret" }, "secret", "[redacted]" },
		{ { "secret" }, "a secret, a secret.", "a [redacted], a [redacted]." },
		{ { "secret" }, "secretsecret", "[redacted]" },
		{ { "--password[= ][^ ]+" }, "db --password=x -v --password y z", "db [redacted] -v [redacted] z" },
		/* of one expression and of several, which do not see each other's marks */
		{ { "abc", "cde" }, "abcde abc", "[redacted] [redacted]" },
		{ { "a", "redacted" }, "bab", "b[redacted]b" },
		{ { "b+", "a+", "c" }, "aabbcd", "[redacted]d" },
		/* the beginning is that of the text, and a word's is not where the last match ended */
		{ { "^ab" }, "abab", "[redacted]ab" },
		{ { "b$" }, "ab b", "ab [redacted]" },
		{ { "\\<b" }, "b bab", "[redacted] [redacted]ab" },
		{ { "a|\\<b" }, "ab", "[redacted]b" },
		/* matches of nothing are none */
		{ { "\\<" }, "a word", "a word" },
		{ { "x*\\<" }, "a xx", "a xx" },
		/* bytes of any value, and more than a line */
		{ { "pass.*" }, "one\npass two\nthree", "one\n[redacted]" },
		{ { "t=[^ ]+" }, "a t=\xff\xc3\x28 b", "a [redacted] b" },
		{ { "\xc3\xa4" }, "\xc3\xa4\xc3\xb6", "[redacted]\xc3\xb6" },
	};
	char out[128];
	size_t i, len;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct redact *r = open_with(cases[i].words);

		len = redact_text(r, cases[i].text, strlen(cases[i].text), out, sizeof(out) - 1);
		out[len] = 0;
		assert_string_equal(out, cases[i].written);
		redact_close(r);
	}
}

/* Arguments of a command line. One that is replaced in part remains one, matches over more than one join them. */
static void test_arguments(void **state)
{
	static const char text[] = "db\0--password\0x y\0-v";
	static const char written[] = "db\0[redacted] y\0-v";
	struct redact *r = open_with((const char *[WORDS_MAX]){ "--password [^ ]+" });
	char out[64];

	(void)state;
	assert_int_equal(redact_text(r, text, sizeof(text) - 1, out, sizeof(out)), sizeof(written) - 1);
	assert_memory_equal(out, written, sizeof(written) - 1);
	redact_close(r);
}

/* On the heap, for the sanitizers. */
static void test_space(void **state)
{
	static const char whole[] = "ab [redacted] cd";
	struct redact *r = open_with((const char *[WORDS_MAX]){ "x+" });
	size_t size, len;

	(void)state;
	for (size = 1; size < sizeof(whole); size++) {
		char *out = malloc(size);

		assert_non_null(out);
		len = redact_text(r, "ab xxx cd", 9, out, size);
		assert_int_equal(len, size >= 3 && size < 13 ? 3 : size);
		assert_memory_equal(out, whole, len);
		free(out);
	}
	assert_int_equal(redact_text(r, "ab xxx cd", 9, NULL, 0), 0);
	redact_close(r);
}

static void test_long_texts(void **state)
{
	struct redact *r = open_with((const char *[WORDS_MAX]){ "secret" });
	char *text = malloc(REDACT_BYTES_MAX + 1), *out = malloc(REDACT_BYTES_MAX + 1);

	(void)state;
	assert_true(text && out);
	memset(text, 'a', REDACT_BYTES_MAX + 1);
	assert_int_equal(redact_text(r, text, REDACT_BYTES_MAX, out, REDACT_BYTES_MAX), REDACT_BYTES_MAX);
	assert_memory_equal(out, text, REDACT_BYTES_MAX);
	memcpy(text + REDACT_BYTES_MAX - 6, "secret", 6);
	assert_int_equal(redact_text(r, text, REDACT_BYTES_MAX, out, REDACT_BYTES_MAX + 1),
			 REDACT_BYTES_MAX - 6);
	assert_int_equal(redact_text(r, text, REDACT_BYTES_MAX + 1, out, REDACT_BYTES_MAX), strlen(REDACT_MARK));
	assert_memory_equal(out, REDACT_MARK, strlen(REDACT_MARK));
	free(text);
	free(out);
	redact_close(r);
}

/* Texts can be made for most expressions to take long; then they are replaced as a whole. */
static void test_time(void **state)
{
	struct redact *r = open_with((const char *[WORDS_MAX]){ "a+b" });
	char *text = malloc(REDACT_BYTES_MAX), *out = malloc(REDACT_BYTES_MAX);
	unsigned int cnt = 0;
	size_t len;

	(void)state;
	assert_true(text && out);
	memset(text, 'a', REDACT_BYTES_MAX);
	while ((len = redact_text(r, text, REDACT_BYTES_MAX, out, REDACT_BYTES_MAX)) == REDACT_BYTES_MAX)
		assert_true(++cnt < 1000);
	assert_true(cnt > 0);
	assert_int_equal(len, strlen(REDACT_MARK));
	assert_memory_equal(out, REDACT_MARK, len);
	redact_close(r);
	/* Usual ones never are. */
	r = open_with((const char *[WORDS_MAX]){ "--password[= ][^ ]+" });
	for (cnt = 0; cnt < 1000; cnt++)
		assert_int_equal(redact_text(r, "db --password=x -v", 18, out, REDACT_BYTES_MAX), 16);
	free(text);
	free(out);
	redact_close(r);
}

static void test_refused(void **state)
{
	static const struct {
		const char *word, *why;
	} cases[] = {
		{ "", "empty" }, { "a*", "empty" }, { "(secret)?", "empty" }, { "^", "empty" }, { "^.*$", "empty" },
		{ "a|", "empty" }, { "(a)\\1", "back-reference" }, { "[]\\1](a)\\1", "back-reference" },
		{ "[^]](a)\\9", "back-reference" }, { "[[:alpha:]](a)\\1", "back-reference" },
		{ "[[.].]](a)\\1", "back-reference" },
		{ "J++++++++++", "memory" }, { "(a{40}){40}", "memory" }, { "[]]{0,1001}", "memory" },
		{ "(x|a{1,900})\\({101}", "memory" }, { "(a{1,300}){2}(b{1,300}){2}", "memory" },
		{ "(", "" }, { "[a", "" }, { "[[:", "" }, { "[[.a", "" }, { "a\\", "" }, { "*a{2,1}", "" }, { "[[:none:]]", "" },
	};
	static const char *const fine[] = { "J+++++++++", "(a{20}){30}", "x[]]{0,999}", "(\\({90}|[+]{10})?[{]5000}",
					    "\\\\1", "[\\1]", "[[:digit:]\\1]x", "a\\(b", "[]\\1]", "[^]\\1]" };
	struct redact *r = open_with((const char *[WORDS_MAX]){ "x" });
	char why[128], out[16], nested[100000];
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		why[0] = 0;
		assert_int_equal(redact_add(r, cases[i].word, why, sizeof(why)), -EINVAL);
		assert_true(*why && !strchr(why, '\n') && strstr(why, cases[i].why));
	}
	memset(nested, '(', sizeof(nested));
	nested[sizeof(nested) - 1] = 0;
	assert_int_equal(redact_add(r, nested, why, sizeof(why)), -EINVAL);
	assert_non_null(strstr(why, "memory"));
	/* What was added before is still there. */
	assert_int_equal(redact_text(r, "axa", 3, out, sizeof(out)), 12);
	for (i = 0; i < sizeof(fine) / sizeof(fine[0]); i++)
		assert_int_equal(redact_add(r, fine[i], why, sizeof(why)), 0);
	redact_close(r);
	redact_close(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_texts),
		cmocka_unit_test(test_arguments),
		cmocka_unit_test(test_space),
		cmocka_unit_test(test_long_texts),
		cmocka_unit_test(test_time),
		cmocka_unit_test(test_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
