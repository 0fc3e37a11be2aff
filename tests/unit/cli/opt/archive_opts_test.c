// SPDX-License-Identifier: GPL-2.0
/*
 * Unit tests of the options of a recording that makes several files.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <unistd.h>

#include "cli/exit.h"
#include "cli/opt/archive_opts.h"
#include "session/session.h"

#define MS	1000000ULL

static void expect_after(const char *keep, const char *after, enum exit_code code, uint64_t ms)
{
	const struct archive_opts opts = { .keep = keep, .after = after, .triggers = { { "runq>1s" }, 1 } };
	struct recorder_cfg cfg = { 0 };

	assert_int_equal(archive_opts_open(&opts, "record", "f-%Y%m%dT%H%M%SZ-%t.fxt", false, &cfg), code);
	if (!code)
		assert_int_equal(cfg.keep.after_ns, ms * MS);
	archive_close(&cfg);
}

/* What follows a trigger, as asked for or by default: the window holds the trigger for so long. */
static void test_after(void **state)
{
	char dir[] = "/tmp/kfxt-archive-opts.XXXXXX";

	(void)state;
	assert_non_null(mkdtemp(dir));
	assert_int_equal(chdir(dir), 0);
	expect_after("30s", NULL, EXIT_OK, 2000);
	expect_after("256M", NULL, EXIT_OK, 2000);
	expect_after("2500ms", NULL, EXIT_OK, 1500);
	expect_after("1s", NULL, EXIT_OK, 500);
	expect_after("30s,256M", "29s", EXIT_OK, 29000);
	expect_after("1s", "500ms", EXIT_OK, 500);
	expect_after("256M", "1h", EXIT_OK, 3600000);
	expect_after("30s", "29001ms", EXIT_USAGE, 0);
	expect_after("5s", "5s", EXIT_USAGE, 0);
	expect_after("1s", "501ms", EXIT_USAGE, 0);
	assert_int_equal(chdir("/"), 0);
	assert_int_equal(rmdir(dir), 0);
}

static void test_check_trigger(void **state)
{
	(void)state;
	assert_null(archive_opts_check_trigger("runq>5ms:comm=x"));
	assert_string_equal(archive_opts_check_trigger("runq>5"), "runq>5: a time needs a unit: ns, us, ms, s, m or h");
	assert_null(archive_opts_check_trigger("log~a b"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_after), cmocka_unit_test(test_check_trigger),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
