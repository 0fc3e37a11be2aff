// SPDX-License-Identifier: GPL-2.0
/*
 * Unit tests of main(), ours and that of the library's example, and of what stdin
 * and stdout may be: programs as a user calls them, but for the process around them.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>

#include <cmocka.h>

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/exit.h"
#include "cli_made.h"

int kfxt_main(int argc, char **argv);
#define main kfxt_main
#include "cli/main.c"
#undef main

int example_main(void);
#define main example_main
#include "fxt/example.c"
#undef main

static void test_main_usage(void **state)
{
	static const struct {
		const char *args[3], *message;
	} cases[] = {
		{ { NULL }, "kfxt: no command given (see kfxt --help)\n" },
		{ { "dmup" }, "kfxt: unknown command: dmup (did you mean dump?)\n" },
		{ { "foo" }, "kfxt: unknown command: foo (see kfxt --help)\n" },
		{ { "help", "foo" }, "kfxt: unknown command: foo (see kfxt --help)\n" },
		{ { "help", "record", "extra" },
		  "kfxt: help: too many operands: extra (see kfxt --help)\n" },
		{ { "--help", "extra" },
		  "kfxt: --help: too many operands: extra (see kfxt --help)\n" },
		{ { "--version", "extra" },
		  "kfxt: --version: too many operands: extra (see kfxt --help)\n" },
		{ { "record", "--dur", "3" },
		  "kfxt: record: unknown option: --dur (did you mean --duration?)\n" },
		{ { "record", "--propagate-exit", "-d.1" }, "kfxt: record: --propagate-exit needs a command\n" },
	};
	struct run r;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		r = run_command(kfxt_main, "kfxt", cases[i].args[0], cases[i].args[1],
				cases[i].args[2], NULL);
		assert_int_equal(r.code, EXIT_USAGE);
		assert_string_equal(r.out, "");
		assert_string_equal(r.err, cases[i].message);
		run_free(&r);
	}
}

static void test_main_help(void **state)
{
	struct run r, same;

	(void)state;
	r = run_command(kfxt_main, "kfxt", "--help", NULL);
	assert_int_equal(r.code, EXIT_OK);
	assert_has(r.out, "Usage: kfxt COMMAND ");
	same = run_command(kfxt_main, "kfxt", "help", NULL);
	assert_string_equal(r.out, same.out);
	run_free(&same);
	run_free(&r);
	r = run_command(kfxt_main, "kfxt", "help", "record", NULL);
	same = run_command(kfxt_main, "kfxt", "record", "--help", NULL);
	assert_int_equal(r.code, EXIT_OK);
	assert_string_equal(r.out, same.out);
	run_free(&same);
	run_free(&r);
	r = run_command(kfxt_main, "kfxt", "--version", NULL);
	assert_int_equal(r.code, EXIT_OK);
	assert_has(r.out, "kfxt ");
	run_free(&r);
}

/* Reported once, by exit status and message, whatever was to be printed. */
static void assert_full(const char *arg, const char *arg2, const char *message)
{
	struct run r = run_command_full(kfxt_main, "kfxt", arg, arg2, NULL);

	assert_int_equal(r.code, EXIT_FAILED);
	assert_string_equal(r.err, message);
	run_free(&r);
}

static void test_main_full(void **state)
{
	const char *path;
	struct made m;

	(void)state;
	made_open(&m);
	put_clean(&m);
	put_clean_ledgers(&m);
	made_close(&m);
	path = made_path(&m);
	assert_full("--help", NULL, "kfxt: --help: stdout: cannot write: No space left on device\n");
	assert_full("--version", NULL,
		    "kfxt: --version: stdout: cannot write: No space left on device\n");
	assert_full("help", NULL, "kfxt: help: stdout: cannot write: No space left on device\n");
	assert_full("help", "check", "kfxt: help: stdout: cannot write: No space left on device\n");
	assert_full("record", "--help",
		    "kfxt: record: stdout: cannot write: No space left on device\n");
	assert_full("dump", path, "kfxt: dump: stdout: cannot write: No space left on device\n");
	assert_full("verify", path, "kfxt: verify: stdout: cannot write: No space left on device\n");
	assert_full("report", path, "kfxt: report: stdout: cannot write: No space left on device\n");
	assert_full("check", NULL, "kfxt: check: stdout: cannot write: No space left on device\n");
	unlink(path);
	made_free(&m);
}

static void test_main_terminal(void **state)
{
	static const char *const readers[] = { "dump", "verify", "report" };
	int saved = dup(0), main_fd = posix_openpt(O_RDWR | O_NOCTTY), fd;
	struct run r;
	size_t i;

	(void)state;
	if (main_fd < 0 || grantpt(main_fd) || unlockpt(main_fd))
		skip();
	fd = open(ptsname(main_fd), O_RDWR | O_NOCTTY);
	if (fd < 0)
		skip();
	dup2(fd, 0);
	for (i = 0; i < 3; i++) {
		r = run_command(kfxt_main, "kfxt", readers[i], "-", NULL);
		assert_int_equal(r.code, EXIT_USAGE);
		assert_has(r.err, ": -: is a terminal (give a file, or pipe a trace in)\n");
		run_free(&r);
	}
	dup2(saved, 0);
	close(saved);
	close(fd);
	close(main_fd);
}

/* Who begins with it should not begin with warnings. */
static void test_example(void **state)
{
	char dir[] = "/tmp/kfxt-test-XXXXXX", *old = getcwd(NULL, 0);
	struct run r;

	(void)state;
	assert_non_null(old);
	assert_non_null(mkdtemp(dir));
	assert_int_equal(chdir(dir), 0);
	assert_int_equal(example_main(), 0);
	r = run_command(kfxt_main, "kfxt", "verify", "example.fxt", NULL);
	assert_int_equal(r.code, EXIT_OK);
	assert_has(r.out, "\nclean\n");
	run_free(&r);
	unlink("example.fxt");
	assert_int_equal(chdir(old), 0);
	rmdir(dir);
	free(old);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_main_usage),
		cmocka_unit_test(test_main_help),
		cmocka_unit_test(test_main_full),
		cmocka_unit_test(test_main_terminal),
		cmocka_unit_test(test_example),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
