// SPDX-License-Identifier: GPL-2.0
/*
 * Slices of gaps and of threads that did not run, as verify and report take them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "cli/cmd.h"
#include "cli/exit.h"
#include "cli_made.h"

/* CPU 0 alone: worker runs, a gap from 1200 to 1300, kworker runs to the end. */
static void begin_with_gap(struct made *m)
{
	made_open(m);
	put_head(m);
	put_names(m);
	put_start(m, 1000, "0", "0");
	put_switch(m, 1010, 0, IDLE, 1, 11, "start");
	put_switch(m, 1200, 0, 11, 1, IDLE, "gap");
	put_switch(m, 1300, 0, IDLE, 1, 20, "gap");
	put_switch(m, 1900, 0, 20, 1, IDLE, "stop");
	put_session(m, 2000, "stop", NULL, 0);
}

static void end_with_gap(struct made *m, uint64_t lost_switches, enum verify_problem problem, unsigned int count)
{
	put_ledger(m, 2000, 0, 0, 0, lost_switches);
	put_totals(m, 2000);
	finish_found(m, problem, count);
}

/* A wakeup marked `gap`: that its thread ran and slept before was not reported. */
static void test_marked_wakeup(void **state)
{
	const char *marks[] = { NULL, "implied", "gap" };
	const unsigned int problems[] = { 2, 2, 0 };
	struct made m;
	size_t i;

	(void)state;
	for (i = 0; i < 3; i++) {
		made_begin(&m);
		put_wakeup(&m, 100, 0, 12, 0);
		put_marked_wakeup(&m, 200, 0, 12, 0, marks[i]);		/* runnable */
		put_switch(&m, 300, 0, IDLE, 1, 12, NULL);
		put_marked_wakeup(&m, 400, 0, 12, 0, marks[i]);		/* running; so it is not any more */
		put_switch(&m, 500, 0, marks[i] && *marks[i] == 'g' ? 11 : 12, 1, 20, NULL);
		put_switch(&m, 600, 1, IDLE, 1, 12, NULL);
		finish_found(&m, problems[i] ? VERIFY_WOKEN_AWAKE : VERIFY_PROBLEM_CNT, problems[i]);
	}
}

static void test_gap_slice(void **state)
{
	struct made m;

	(void)state;
	begin_with_gap(&m);
	put_gap(&m, 1200, 1300, 0, 7, 0, 0);
	end_with_gap(&m, 7, VERIFY_PROBLEM_CNT, 0);
	/* another number than the ledger's */
	begin_with_gap(&m);
	put_gap(&m, 1200, 1300, 0, 6, 0, 0);
	end_with_gap(&m, 7, VERIFY_GAP, 1);
	begin_with_gap(&m);
	put_gap(&m, 1200, 1300, 0, 7, 1, 2);
	end_with_gap(&m, 7, VERIFY_GAP, 2);
	/* no slice; and one at another time, or on another CPU */
	begin_with_gap(&m);
	end_with_gap(&m, 0, VERIFY_GAP, 1);
	begin_with_gap(&m);
	put_gap(&m, 1200, 1299, 0, 7, 0, 0);
	end_with_gap(&m, 7, VERIFY_GAP, 2);
	begin_with_gap(&m);
	put_gap(&m, 1200, 1300, 1, 0, 0, 0);
	end_with_gap(&m, 0, VERIFY_GAP, 2);
	/* one too many */
	begin_with_gap(&m);
	put_gap(&m, 1200, 1300, 0, 7, 0, 0);
	put_gap(&m, 1200, 1300, 0, 0, 0, 0);
	end_with_gap(&m, 7, VERIFY_GAP, 1);
}

/* A CPU that went away in a gap: its slice goes on to the end. */
static void test_open_gap(void **state)
{
	struct made m;

	(void)state;
	begin_with_gap(&m);
	put_gap(&m, 1200, 1300, 0, 7, 0, 0);
	put_gap(&m, 1900, 2000, 0, 3, 0, 0);
	end_with_gap(&m, 10, VERIFY_PROBLEM_CNT, 0);
	begin_with_gap(&m);
	put_gap(&m, 1200, 1300, 0, 7, 0, 0);
	put_gap(&m, 1800, 2000, 0, 3, 0, 0);
	end_with_gap(&m, 10, VERIFY_GAP, 1);
}

/* What event rings lost is no gap of the scheduling. */
static void test_event_gap(void **state)
{
	struct fxt_arg args[4] = {
		fxt_arg_u32("cpu", 0), fxt_arg_u64("lost_calls", 1), fxt_arg_u64("lost_logs", 2),
		fxt_arg_u64("lost_events", 3),
	};
	struct made m;
	uint64_t logs;

	(void)state;
	for (logs = 0; logs < 3; logs++) {
		begin_with_gap(&m);
		put_gap(&m, 1200, 1300, 0, 0, 0, 0);
		put_event_gap(&m, 1250, 1400, 0, 1, logs, 3);
		put_session(&m, 2000, "ledger", args, 4);
		put_totals(&m, 2000);
		finish_found(&m, logs == 2 ? VERIFY_PROBLEM_CNT : VERIFY_GAP, logs != 2);
	}
}

/* Two CPUs, each of which ends a blind period: the state of a sleeper holds after both. */
static void begin_with_state(struct made *m, int state)
{
	made_open(m);
	put_head(m);
	put_names(m);
	put_start(m, 1000, "0-1", "0-1");
	put_switch(m, 1009, 0, 12, state, IDLE, "state");
	put_switch(m, 1010, 0, IDLE, 1, 11, "start");
	put_switch(m, 1020, 1, IDLE, 1, IDLE, "start");
	put_wakeup(m, 1050, 0, 20, 11);
}

static void end_with_state(struct made *m, enum verify_problem problem, unsigned int count)
{
	put_switch(m, 1900, 0, 11, 1, IDLE, "stop");
	put_session(m, 2000, "stop", NULL, 0);
	put_totals(m, 2000);
	finish_found(m, problem, count);
}

static void test_state_at_start(void **state)
{
	struct made m;

	(void)state;
	/* asleep: it must be woken before it runs */
	begin_with_state(&m, 3);
	put_switch(&m, 1100, 1, IDLE, 1, 12, NULL);
	put_switch(&m, 1900, 1, 12, 1, IDLE, "stop");
	end_with_state(&m, VERIFY_NOT_WOKEN, 1);
	begin_with_state(&m, 3);
	put_wakeup(&m, 1090, 0, 12, 11);
	put_switch(&m, 1100, 1, IDLE, 1, 12, NULL);
	put_switch(&m, 1900, 1, 12, 1, IDLE, "stop");
	end_with_state(&m, VERIFY_PROBLEM_CNT, 0);
	/* ready: no wakeup */
	begin_with_state(&m, 1);
	put_wakeup(&m, 1090, 0, 12, 11);
	put_switch(&m, 1100, 1, IDLE, 1, 12, NULL);
	put_switch(&m, 1900, 1, 12, 1, IDLE, "stop");
	end_with_state(&m, VERIFY_WOKEN_AWAKE, 1);
	begin_with_state(&m, 1);
	put_switch(&m, 1100, 1, IDLE, 1, 12, NULL);
	put_switch(&m, 1900, 1, 12, 1, IDLE, "stop");
	end_with_state(&m, VERIFY_PROBLEM_CNT, 0);
}

/* "did not run" is no less strict. */
static void test_still(void **state)
{
	struct made m;

	(void)state;
	begin_with_state(&m, 3);
	put_still(&m, 1009, 2000, 12, "S");
	put_wakeup(&m, 1090, 0, 12, 11);
	put_switch(&m, 1900, 1, IDLE, 1, IDLE, "stop");
	end_with_state(&m, VERIFY_PROBLEM_CNT, 0);
	begin_with_state(&m, 3);
	put_still(&m, 1009, 2000, 12, "S");
	put_wakeup(&m, 1090, 0, 12, 11);
	put_switch(&m, 1100, 1, IDLE, 1, 12, NULL);
	put_switch(&m, 1900, 1, 12, 1, IDLE, "stop");
	end_with_state(&m, VERIFY_RAN, 1);
}

/* Threads that were runnable and did not run are printed by name; for a sleeper that was woken it counts from then on. */
static void test_report_still(void **state)
{
	const char *path;
	struct made m;
	struct run r;

	(void)state;
	made_open(&m);
	put_clean(&m);
	put_thread(&m, 31, 10, "starving");
	put_thread(&m, 32, 10, "woken");
	put_thread(&m, 33, 10, "asleep");
	put_still(&m, 1009, 2000, 31, "R");
	put_still(&m, 1009, 2000, 32, "D");
	put_still(&m, 1009, 2000, 33, "S");
	put_wakeup(&m, 1600, 0, 32, 12);
	put_totals(&m, 2000);
	made_close(&m);
	path = made_path(&m);
	r = run_command(cmd_report, "report", path, NULL);
	assert_int_equal(r.code, EXIT_OK);
	assert_has(r.out, "\nthreads that never ran: 1 runnable, 1 in uninterruptible sleep, 1 sleeping\n"
		   "starved:          0.000001 s, tid 31, starving\nstarved:          0.000000 s, tid 32, woken\n\n");
	run_free(&r);
	r = run_command(cmd_report, "report", "-j", path, NULL);
	assert_has(r.out, "\"did_not_run\":[{\"tid\":31,\"thread\":\"starving\",\"state\":\"R\",\"starved_ns\":991},"
		   "{\"tid\":32,\"thread\":\"woken\",\"state\":\"D\",\"starved_ns\":400},"
		   "{\"tid\":33,\"thread\":\"asleep\",\"state\":\"S\",\"starved_ns\":0}]}\n");
	run_free(&r);
	unlink(path);
	made_free(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_gap_slice),
		cmocka_unit_test(test_marked_wakeup),
		cmocka_unit_test(test_open_gap),
		cmocka_unit_test(test_event_gap),
		cmocka_unit_test(test_state_at_start),
		cmocka_unit_test(test_still),
		cmocka_unit_test(test_report_still),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
