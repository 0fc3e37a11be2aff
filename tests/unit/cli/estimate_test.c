// SPDX-License-Identifier: GPL-2.0
/*
 * Unit tests of kfxt estimate: what is wrong with its words, before anything is measured.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "cli/cmd.h"
#include "cli/exit.h"
#include "cli_made.h"

static void test_errors(void **state)
{
	static const struct {
		const char *word, *err;
	} cases[] = {
		{ "--keep=", "--keep : : empty" }, { "--keep=x", "--keep x: x: not a number" }, { "--keep=30", "--keep 30: 30: no unit (10m, 1G)" },
		{ "--keep=30s,30s", "--keep 30s,30s: 30s: a second time" }, { "--keep=64K", "--keep 64K: 64K: less than 1M" },
		{ "--trigger=runq>1s", "--trigger needs --keep (--keep 30s)" }, { "--rotate=5", "--rotate 5: 5: no unit (10m, 1G)" },
		{ "--max-files=3", "--max-files and --max-total need --rotate or --keep" },
		{ "-d50ms", "--duration: too small: '50ms'" },
		/* Those of kfxt record. */
		{ "--ring-size=1", "--ring-size: too small: '1'" },
		{ "--outputs=x", "unknown option: --outputs=x (did you mean --output?)" },
		{ "--output=", "--output: is empty" },
		{ "--propagate-exit", "--propagate-exit needs a command" },
		{ "-zlzma", "--compress: not gzip, zstd or a level: 'lzma'" },
	};
	char expected[160];
	struct run r;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		r = run_command(cmd_estimate, "estimate", cases[i].word, NULL);
		snprintf(expected, sizeof(expected), "kfxt: estimate: %s\n", cases[i].err);
		assert_string_equal(r.err, expected);
		assert_string_equal(r.out, "");
		assert_int_equal(r.code, EXIT_USAGE);
		run_free(&r);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_errors),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
