// SPDX-License-Identifier: GPL-2.0
/*
 * Unit tests of filters: globs against fnmatch(3), what can be asked for, and what
 * `kfxt verify` makes of a trace that has a part of the threads.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>

#include <cmocka.h>

#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bpf/abi/task_state.h"
#include "capture/thread_filter.h"
#include "cli/cli_made.h"

/* ---- globs ----------------------------------------------------------------------- */

static void check_glob(const char *pattern, const char *name)
{
	char comm[COMM_BYTES_MAX];
	struct comm_glob glob;

	/* What follows the name must not matter. */
	memset(comm, 'b', sizeof(comm));
	memcpy(comm, name, strlen(name) + 1);
	assert_int_equal(filter_compile_comm(&glob, pattern), 0);
	if (comm_glob_matches(&glob, comm) != !fnmatch(pattern, name, 0))
		fail_msg("\"%s\" and \"%s\"", pattern, name);
}

static void test_globs(void **state)
{
	static const char *const patterns[] = {
		"", "*", "?", "**", "?*", "*?", "a", "ab", "a*", "*a", "*a*", "a*b", "*ab*a*", "a?b", "[ab]", "[!a]*",
		"[^a]*", "[a-b]", "[", "[]", "[]a]", "[]-]*", "[!]]", "[a-]*", "[b-a]", "a[", "\\*", "\\a*", "\\\\", "*-*",
		"a*a*a*a*a*a*a*b", "???????????????", "???????????????*", "aaaaaaaaaaaaaab", "*aaaaaaaaaaaaaab*", "[!a-b]",
	};
	static const char letters[] = "aaab*-]\\[\xc3";
	char name[COMM_BYTES_MAX];
	unsigned int i, n, len;

	(void)state;
	srand(5);
	for (n = 0; n < 5000; n++) {
		len = rand() % COMM_BYTES_MAX;
		for (i = 0; i < len; i++)
			name[i] = letters[rand() % (n % 2 ? 4 : sizeof(letters) - 1)];
		name[len] = 0;
		for (i = 0; i < sizeof(patterns) / sizeof(patterns[0]); i++)
			check_glob(patterns[i], name);
	}
	check_glob("aaaaaaaaaaaaaab", "aaaaaaaaaaaaaab");
}

static void test_glob_too_long(void **state)
{
	struct comm_glob glob;

	(void)state;
	assert_int_equal(filter_compile_comm(&glob, "0123456789abcdef"), -EINVAL);
	assert_int_equal(filter_compile_comm(&glob, "*?123456789abcd[e]f*"), -EINVAL);
	assert_int_equal(filter_compile_comm(&glob, "*0*1*2*3*4*5*6*7*8*9*a*b*c*d*e*"), 0);
}

/* ---- what can be asked for ---------------------------------------------------------- */

static void check_choice(const struct filter_cfg *cfg, int expected, const char *text)
{
	struct filter *f;
	char why[256] = "";

	assert_int_equal(filter_open(&f, cfg, why, sizeof(why)), expected);
	assert_has(expected ? why : filter_text(f), text);
	if (!expected)
		filter_close(f);
}

static void check_pids(const char *text, int expected, const char *said)
{
	check_choice(&(struct filter_cfg){ .pids = { &text, 1 } }, expected, said);
	check_choice(&(struct filter_cfg){ .tids = { &text, 1 } }, expected, strstr(said, "4194303"));
}

static void test_choice(void **state)
{
	const char *path = "/proc", *const comms[] = { "a*", "b" };
	char text[64], said[80];
	struct filter *f;

	(void)state;
	assert_int_equal(filter_open(&f, &(struct filter_cfg){ 0 }, text, sizeof(text)), 0);
	assert_null(f);
	check_choice(&(struct filter_cfg){ .follow = true }, 0, "follow command");
	check_choice(&(struct filter_cfg){ .comms = { comms, 2 } }, 0, "comm a*, comm b");
	check_choice(&(struct filter_cfg){ .cgroups = { &path, 1 } }, -EINVAL, "--cgroup /proc: not a directory of");
	path = "";
	check_choice(&(struct filter_cfg){ .comms = { &path, 1 } }, -EINVAL, "--comm: is empty");
	path = "/no/such";
	check_choice(&(struct filter_cfg){ .cgroups = { &path, 1 } }, -EINVAL, "--cgroup /no/such: No such file");
	if (access("/proc/self/status", R_OK))
		return;
	snprintf(text, sizeof(text), "%d,4194303", getpid());
	check_pids(text, -EINVAL, "no process 4194303");
	snprintf(text, sizeof(text), "%d,%d", getpid(), getppid());
	snprintf(said, sizeof(said), "pid %s", text);
	path = text;
	check_choice(&(struct filter_cfg){ .pids = { &path, 1 }, .comms = { comms, 1 } }, 0, said);
}

static void test_numbers(void **state)
{
	static const char *const bad[] = { "", ",", "1,", "12x", "-1", "1 ", "99999999999999999999" };
	char why[256];
	struct filter *f;
	unsigned int i;

	(void)state;
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(filter_open(&f, &(struct filter_cfg){ .pids = { &bad[i], 1 } }, why, sizeof(why)), -EINVAL);
}

/* ---- verify ----------------------------------------------------------------------------- */

/* As put_switch(), and nobody asked for @out. */
static void put_filtered(struct made *m, uint64_t ts, uint16_t cpu, uint64_t out, int thread_state, uint64_t in)
{
	const struct fxt_switch s = { .ts = ts, .cpu = cpu, .state = thread_state, .out = out, .in = in };
	const struct fxt_arg args[] = {
		fxt_arg_i32("outgoing_weight", weight_of(out)), fxt_arg_i32("incoming_weight", weight_of(in)),
		fxt_arg_bool("filtered", true),
	};

	assert_int_equal(fxt_write_switch(m->w, &s, args, 3), 0);
}

/* Thread 11 is selected. 12 is not: it runs before and after 11, and elsewhere, which is not recorded. */
static void begin_filtered(struct made *m)
{
	made_begin(m);
	put_switch(m, 100, 0, IDLE, 1, IDLE, "start");
	put_switch(m, 100, 0, IDLE, 1, IDLE, "filter");
	put_switch(m, 100, 1, IDLE, 1, IDLE, "start");
	put_switch(m, 100, 1, IDLE, 1, IDLE, "filter");
	put_switch(m, 200, 0, IDLE, 1, 12, "filter");
	put_wakeup(m, 250, 0, 11, 20);
	put_filtered(m, 300, 0, 12, 3, 11);	/* 12 sleeps */
	put_switch(m, 400, 0, 11, 3, 12, NULL);	/* and runs: its wakeup was not recorded */
	put_switch(m, 500, 0, 12, 3, IDLE, "filter");
	put_switch(m, 600, 1, IDLE, 1, 12, "filter");
	put_wakeup(m, 650, 0, 11, 12);
	put_filtered(m, 700, 1, 12, 5, 11);	/* even dead: its id may be another's now */
	put_switch(m, 800, 1, 11, 3, 12, NULL);	/* 11 sleeps, and 12 runs on CPU 1 */
}

static void test_verify_filtered(void **state)
{
	struct made m;

	(void)state;
	begin_filtered(&m);
	put_switch(&m, 900, 1, 12, 1, IDLE, "filter");
	put_wakeup(&m, 950, 0, 12, 0);
	put_switch(&m, 960, 0, IDLE, 1, IDLE, "stop");
	put_switch(&m, 960, 1, IDLE, 1, IDLE, "stop");
	finish_found(&m, VERIFY_PROBLEM_CNT, 0);
}

/* What is selected is recorded completely. */
static void test_verify_wanted(void **state)
{
	struct made m;

	(void)state;
	begin_filtered(&m);
	put_switch(&m, 900, 0, IDLE, 1, 20, "filter");
	put_filtered(&m, 950, 0, 20, 3, 11);
	finish_found(&m, VERIFY_NOT_WOKEN, 1);
	begin_filtered(&m);
	put_wakeup(&m, 900, 0, 11, 0);
	put_wakeup(&m, 950, 0, 11, 0);
	finish_found(&m, VERIFY_WOKEN_AWAKE, 1);
}

/* Only the current task of a CPU is switched out, also by a mark. */
static void test_verify_tracks(void **state)
{
	struct made m;

	(void)state;
	begin_filtered(&m);
	put_wakeup(&m, 850, 0, 11, 0);
	put_filtered(&m, 900, 0, 20, 3, 11);
	finish_found(&m, VERIFY_NOT_RUNNING, 1);
	begin_filtered(&m);
	put_switch(&m, 900, 1, 20, 1, IDLE, "filter");
	finish_found(&m, VERIFY_NOT_RUNNING, 1);
	begin_filtered(&m);
	put_switch(&m, 900, 0, IDLE, 1, 12, "filter");
	finish_found(&m, VERIFY_TWO_CPUS, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_globs),
		cmocka_unit_test(test_glob_too_long),
		cmocka_unit_test(test_choice),
		cmocka_unit_test(test_numbers),
		cmocka_unit_test(test_verify_filtered),
		cmocka_unit_test(test_verify_wanted),
		cmocka_unit_test(test_verify_tracks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
