// SPDX-License-Identifier: GPL-2.0
/*
 * The longest waits that kfxt report prints: exact, a lower bound or unknown.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>

#include <cmocka.h>

#include "cli_made.h"

#include <stdio.h>
#include <unistd.h>

#include "cli/cmd.h"
#include "cli/exit.h"

#define RUNS	1	/* states of who is switched out */
#define SLEEPS	3
#define US	1000ULL

/* Both CPUs are recorded from 1000 us on: 12 runs on CPU 1, nobody on CPU 0. */
static void begin(struct made *m, const char *cpus)
{
	made_open(m);
	put_head(m);
	put_start(m, 999 * US, cpus, "0-1");
	put_switch(m, 1000 * US, 0, IDLE, RUNS, IDLE, "start");
	if (cpus[1])
		put_switch(m, 1000 * US, 1, IDLE, RUNS, 12, "start");
}

/* 20 takes the CPU of 12 at 2000 us, which waits from then on. */
static void preempt(struct made *m)
{
	put_switch(m, 2000 * US, 1, 12, RUNS, 20, NULL);
}

static void resume(struct made *m, uint64_t us)
{
	put_switch(m, us * US, 1, 20, SLEEPS, 12, NULL);
}

/* Records of CPU 0 are missing. */
static void gap(struct made *m, uint64_t from_us, uint64_t to_us, uint64_t wakeups)
{
	put_switch(m, from_us * US, 0, IDLE, RUNS, IDLE, "gap");
	put_switch(m, to_us * US, 0, IDLE, RUNS, IDLE, "gap");
	put_gap(m, from_us * US, to_us * US, 0, 1, wakeups, 0);
}

/* Ends at 9000 us; what report then says of @tid must contain @json, and the row in text @text. */
static void end_reports(struct made *m, uint64_t on_1, uint64_t tid, const char *json, const char *text)
{
	char want[160];
	const char *path;
	struct run r;

	put_switch(m, 9000 * US, 0, IDLE, RUNS, IDLE, "stop");
	put_switch(m, 9000 * US, 1, on_1, RUNS, IDLE, "stop");
	put_session(m, 9001 * US, "stop", NULL, 0);
	put_names(m);
	put_totals(m, 9001 * US);
	made_close(m);
	path = made_path(m);
	r = run_command(cmd_report, "report", "-j", path, NULL);
	assert_int_equal(r.code, EXIT_OK);
	snprintf(want, sizeof(want), "\"max_wait_ns\":%s,\"tid\":%llu,", json, (unsigned long long)tid);
	assert_has(r.out, want);
	run_free(&r);
	r = run_command(cmd_report, "report", path, NULL);
	snprintf(want, sizeof(want), " %12s %8llu  ", text, (unsigned long long)tid);
	assert_has(r.out, want);
	run_free(&r);
	unlink(path);
	made_free(m);
}

static void test_exact(void **state)
{
	struct made m;

	(void)state;
	begin(&m, "0-1");
	preempt(&m);
	resume(&m, 2500);
	end_reports(&m, 12, 12, "500000,\"max_wait_complete\":true", "0.000500");
}

/* It has not waited, which is known. */
static void test_none(void **state)
{
	struct made m;

	(void)state;
	begin(&m, "0-1");
	end_reports(&m, 12, 12, "0,\"max_wait_complete\":true", "0.000000");
}

/* A thread that may have run on a CPU that is not recorded may not have waited at all. */
static void test_other_cpus(void **state)
{
	struct made m;

	(void)state;
	made_open(&m);
	put_head(&m);
	put_start(&m, 999 * US, "1", "0-1");
	put_switch(&m, 1000 * US, 1, IDLE, RUNS, 12, "start");
	preempt(&m);
	resume(&m, 2500);
	put_switch(&m, 9000 * US, 1, 12, RUNS, IDLE, "stop");
	end_reports(&m, IDLE, 12, "null,\"max_wait_complete\":false", "-");
}

/* In the gap it may have run, so that time is not counted; the rest is, as no wakeup is missing. */
static void test_gap(void **state)
{
	struct made m;

	(void)state;
	begin(&m, "0-1");
	preempt(&m);
	gap(&m, 3000, 3200, 0);
	resume(&m, 4000);
	end_reports(&m, 12, 12, "1800000,\"max_wait_complete\":false", ">= 0.001800");
}

/* It may have slept in the first gap until it was woken in the second one. */
static void test_gap_with_wakeups(void **state)
{
	struct made m;

	(void)state;
	begin(&m, "0-1");
	preempt(&m);
	gap(&m, 2300, 2400, 1);
	gap(&m, 3000, 3200, 1);
	resume(&m, 3900);
	end_reports(&m, 12, 12, "700000,\"max_wait_complete\":false", ">= 0.000700");
}

/* A gap in which it may have waited for less than it did anyway changes nothing. */
static void test_short_gap(void **state)
{
	struct made m;

	(void)state;
	begin(&m, "0-1");
	preempt(&m);
	resume(&m, 4000);
	put_switch(&m, 5000 * US, 1, 12, SLEEPS, IDLE, NULL);
	gap(&m, 6000, 6500, 5);
	put_wakeup(&m, 7000 * US, 1, 12, 0);
	put_switch(&m, 7100 * US, 1, IDLE, RUNS, 12, NULL);
	end_reports(&m, 12, 12, "2000000,\"max_wait_complete\":true", "0.002000");
}

static void test_open_end(void **state)
{
	struct made m;

	(void)state;
	begin(&m, "0-1");
	preempt(&m);
	end_reports(&m, 20, 12, "7000000,\"max_wait_complete\":false", ">= 0.007000");
}

/* Its first record is that it is switched in: it waited since the recording began, or longer. */
static void test_open_start(void **state)
{
	struct made m;

	(void)state;
	begin(&m, "0-1");
	put_switch(&m, 1300 * US, 0, IDLE, RUNS, 11, NULL);
	put_switch(&m, 1400 * US, 0, 11, SLEEPS, IDLE, NULL);
	end_reports(&m, 12, 11, "300000,\"max_wait_complete\":false", ">= 0.000300");
}

static void test_first_wakeup(void **state)
{
	struct made m;

	(void)state;
	begin(&m, "0-1");
	put_wakeup(&m, 1250 * US, 0, 11, 12);
	put_switch(&m, 1300 * US, 0, IDLE, RUNS, 11, NULL);
	put_switch(&m, 1400 * US, 0, 11, SLEEPS, IDLE, NULL);
	end_reports(&m, 12, 11, "50000,\"max_wait_complete\":true", "0.000050");
}

/* When it was woken is not known, only that it was. */
static void test_implied_wakeup(void **state)
{
	struct made m;

	(void)state;
	begin(&m, "0-1");
	put_switch(&m, 2000 * US, 1, 12, SLEEPS, IDLE, NULL);
	put_marked_wakeup(&m, 4000 * US, 1, 12, 0, "implied");
	put_switch(&m, 4000 * US, 1, IDLE, RUNS, 12, NULL);
	end_reports(&m, 12, 12, "null,\"max_wait_complete\":false", "-");
}

/* What becomes of a thread that was not selected is not in the trace. */
static void test_not_selected(void **state)
{
	const struct fxt_arg args[] = {
		fxt_arg_str("cpus", fxt_str("0-1")), fxt_arg_str("online", fxt_str("0-1")),
		fxt_arg_str("filter", fxt_str("pid 20")),
	};
	const struct fxt_arg out[] = {
		fxt_arg_i32("outgoing_weight", 120), fxt_arg_i32("incoming_weight", 120), fxt_arg_bool("filtered", true),
	};
	const struct fxt_switch leaves = { .ts = 2000 * US, .cpu = 1, .out = 12, .state = RUNS, .in = 20 };
	struct made m;

	(void)state;
	made_open(&m);
	put_head(&m);
	put_session(&m, 999 * US, "start", args, 3);
	put_switch(&m, 1000 * US, 0, IDLE, RUNS, IDLE, "start");
	put_switch(&m, 1000 * US, 1, IDLE, RUNS, 20, "start");
	put_switch(&m, 1500 * US, 1, 20, RUNS, 12, NULL);
	assert_int_equal(fxt_write_switch(m.w, &leaves, out, 3), 0);
	put_switch(&m, 3000 * US, 1, 20, SLEEPS, 12, NULL);
	end_reports(&m, 12, 20, "500000,\"max_wait_complete\":true", "0.000500");
}

/* A trace of another tool, without marks: all CPUs are there from its first record on. */
static void test_without_marks(void **state)
{
	const char *path;
	struct made m;
	struct run r;

	(void)state;
	made_begin(&m);
	put_switch(&m, 1000 * US, 0, 20, SLEEPS, IDLE, NULL);
	put_switch(&m, 1300 * US, 0, IDLE, RUNS, 12, NULL);
	put_switch(&m, 1400 * US, 0, 12, RUNS, 20, NULL);
	put_switch(&m, 1450 * US, 0, 20, SLEEPS, 12, NULL);
	put_switch(&m, 1500 * US, 0, 12, SLEEPS, IDLE, NULL);
	made_close(&m);
	path = made_path(&m);
	r = run_command(cmd_report, "report", path, NULL);
	assert_has(r.out, "          -  >= 0.000300       12  helper ");
	run_free(&r);
	unlink(path);
	made_free(&m);
}

/* Where records are damaged any may be missing. */
static void test_damaged(void **state)
{
	const uint64_t damage[] = { 0x8 };	/* a record of no words */
	struct made m;

	(void)state;
	begin(&m, "0-1");
	preempt(&m);
	resume(&m, 2500);
	assert_int_equal(fxt_writer_flush(m.w), 0);
	append_words(&m, damage, 1);
	end_reports(&m, 12, 12, "null,\"max_wait_complete\":false", "-");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_exact),
		cmocka_unit_test(test_none),
		cmocka_unit_test(test_other_cpus),
		cmocka_unit_test(test_gap),
		cmocka_unit_test(test_gap_with_wakeups),
		cmocka_unit_test(test_short_gap),
		cmocka_unit_test(test_open_end),
		cmocka_unit_test(test_open_start),
		cmocka_unit_test(test_first_wakeup),
		cmocka_unit_test(test_implied_wakeup),
		cmocka_unit_test(test_not_selected),
		cmocka_unit_test(test_without_marks),
		cmocka_unit_test(test_damaged),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
