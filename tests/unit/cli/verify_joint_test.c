// SPDX-License-Identifier: GPL-2.0
/*
 * Unit tests of `kfxt verify` with several files: that nothing of a recording is missing between them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cmd.h"
#include "cli/exit.h"
#include "cli_made.h"

/* Of CPU 0 from and to a time, with the thread that runs there first and last; and CPU 1, on which thread 12 always does. */
struct part {
	uint64_t from, to, first, last;
	bool one_cpu;
};

static char *make_file(const struct part *p)
{
	const bool switches = p->first != p->last;
	struct made m;
	char *path;

	made_open(&m);
	put_head(&m);
	put_start(&m, p->from, p->one_cpu ? "0" : "0-1", "0-1");
	put_switch(&m, p->from, 0, IDLE, 1, p->first, "start");
	if (!p->one_cpu)
		put_switch(&m, p->from, 1, IDLE, 1, 12, "start");
	if (switches)
		put_switch(&m, p->from + 500, 0, p->first, 1, p->last, NULL);
	put_switch(&m, p->to, 0, p->last, 1, IDLE, "stop");
	if (!p->one_cpu)
		put_switch(&m, p->to, 1, 12, 1, IDLE, "stop");
	put_session(&m, p->to, "stop", NULL, 0);
	put_names(&m);
	put_ledger(&m, p->to, 0, switches, 0, 0);
	if (!p->one_cpu)
		put_ledger(&m, p->to, 1, 0, 0, 0);
	put_totals(&m, p->to);
	made_close(&m);
	path = strdup(made_path(&m));
	assert_non_null(path);
	made_free(&m);
	return path;
}

/* @text: what is found in them; NULL: nothing. */
static void check(const struct part *parts, const char *text)
{
	char *a = make_file(&parts[0]), *b = make_file(&parts[1]);
	struct run r = run_command(cmd_verify, "verify", a, b, NULL);

	if (!text && r.code)
		fail_msg("%s", r.out);
	assert_int_equal(r.code, text ? EXIT_PROBLEMS : EXIT_OK);
	if (text)
		assert_has(r.out, text);
	run_free(&r);
	unlink(a);
	unlink(b);
	free(a);
	free(b);
}

static void test_joint(void **state)
{
	static const struct part parts[] = { { 1000, 2000, 11, 20, false }, { 2000, 3000, 20, 20, false } };

	(void)state;
	check(parts, NULL);
}

static void test_missing(void **state)
{
	static const struct part parts[] = { { 1000, 2000, 11, 20, false }, { 2001, 3000, 20, 20, false } };

	(void)state;
	check(parts, "CPU 0: from 2000 to 2001 ns is in no file");
}

static void test_twice(void **state)
{
	static const struct part parts[] = { { 1000, 2000, 11, 20, false }, { 1999, 3000, 20, 20, false } };

	(void)state;
	check(parts, "CPU 0: from 1999 to 2000 ns is in two files");
}

/* In the wrong order all of the first one seems to come twice. */
static void test_order(void **state)
{
	static const struct part parts[] = { { 2000, 3000, 20, 20, false }, { 1000, 2000, 11, 20, false } };

	(void)state;
	check(parts, "CPU 0: from 1000 to 3000 ns is in two files");
}

static void test_thread(void **state)
{
	static const struct part parts[] = { { 1000, 2000, 11, 20, false }, { 2000, 3000, 11, 11, false } };

	(void)state;
	check(parts, "CPU 0: thread 11 runs, in the file before 20");
}

static void test_cpus(void **state)
{
	static const struct part parts[] = { { 1000, 2000, 11, 20, false }, { 2000, 3000, 20, 20, true }, { 3000, 4000, 20, 11, false } };

	(void)state;
	check(parts, "CPU 1 is only in the one before this file");
	check(parts + 1, "CPU 1 is only in this file");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_joint), cmocka_unit_test(test_missing), cmocka_unit_test(test_twice), cmocka_unit_test(test_order),
		cmocka_unit_test(test_thread), cmocka_unit_test(test_cpus),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
