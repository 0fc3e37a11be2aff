// SPDX-License-Identifier: GPL-2.0
/*
 * Unit tests of what is reported about recordings that were cut short or lost something.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>

#include <cmocka.h>

#include <stdlib.h>
#include <unistd.h>

#include "cli/cmd.h"
#include "cli/exit.h"
#include "cli_made.h"

/* What must be said of the first @len bytes: nothing before the recording begins. */
static void assert_cut(const struct made *m, size_t len)
{
	struct verify *v = malloc(sizeof(*v));
	struct made copy = *m;
	unsigned int i;

	assert_non_null(v);
	copy.len = len;
	verify_made(v, &copy);
	for (i = 0; i < VERIFY_PROBLEM_CNT; i++)
		if (v->findings[i].count > (i == VERIFY_DAMAGE || i == VERIFY_NO_END))
			fail_msg("cut at %zu: %s: %s", len,
				 verify_problem_name((enum verify_problem)i), v->findings[i].first);
	assert_int_equal(v->findings[VERIFY_NO_END].count,
			 v->tl->session.has_start && !v->tl->session.has_totals);
	if (v->findings[VERIFY_NO_END].count)
		assert_int_equal(v->findings[VERIFY_NO_END].offsets[0], len);
	verify_fini(v);
	free(v);
}

/* Wherever a recording ends early, nothing but that is held against it. */
static void test_verify_no_end(void **state)
{
	struct made m;
	size_t len;

	(void)state;
	made_open(&m);
	put_clean(&m);
	put_clean_ledgers(&m);
	made_close(&m);
	for (len = 16; len < m.len; len++)
		assert_cut(&m, len);
	assert_found(&m, VERIFY_PROBLEM_CNT, 0);
	made_free(&m);
}

/* A ring is written in pieces: here the rest of that of CPU 1 is missing. */
static void test_verify_cut_cpu(void **state)
{
	struct made m;

	(void)state;
	made_begin(&m);
	put_start(&m, 1, "0-2", "0-2");
	put_switch(&m, 10, 0, IDLE, 1, 11, "start");
	put_switch(&m, 10, 1, IDLE, 1, 12, "start");	/* of CPU 2 there is nothing */
	put_switch(&m, 100, 0, 11, 3, IDLE, NULL);
	put_switch(&m, 200, 1, 12, 1, 20, NULL);	/* the last of CPU 1 */
	put_switch(&m, 300, 0, IDLE, 1, 11, NULL);	/* woken by CPU 1, which is not recorded */
	put_switch(&m, 400, 0, 11, 3, 20, NULL);	/* left CPU 1, not recorded */
	put_switch(&m, 500, 0, 20, 3, 12, NULL);
	put_wakeup(&m, 550, 0, 20, 12);
	put_wakeup(&m, 560, 0, 20, 12);			/* ran on CPU 1 in between */
	put_switch(&m, 600, 0, 12, 3, IDLE, NULL);
	made_close(&m);
	assert_found(&m, VERIFY_NO_END, 1);
	made_free(&m);
	/* CPU 1 is of the session and its `start` mark was cut off as well */
	made_begin(&m);
	put_start(&m, 1, "0-1", "0-1");
	put_switch(&m, 10, 0, IDLE, 1, 11, "start");
	put_wakeup(&m, 20, 0, 20, 11);
	put_switch(&m, 100, 0, 11, 3, IDLE, NULL);
	put_switch(&m, 200, 0, IDLE, 1, 11, NULL);	/* woken by CPU 1, which is not recorded */
	put_switch(&m, 300, 0, 11, 1, IDLE, NULL);
	finish_found(&m, VERIFY_NO_END, 1);
	/* the records of one CPU must still be consistent */
	made_begin(&m);
	put_start(&m, 1, "0", "0");
	put_switch(&m, 10, 0, IDLE, 1, 11, "start");
	put_switch(&m, 100, 0, 12, 1, IDLE, "stop");
	put_end(&m, 100);
	finish_found(&m, VERIFY_NOT_RUNNING, 1);
	/* one CPU without an end is a cut as well */
	made_begin(&m);
	put_start(&m, 1, "0-1", "0-1");
	put_switch(&m, 10, 0, IDLE, 1, 11, "start");
	put_switch(&m, 10, 1, IDLE, 1, 12, "start");
	put_switch(&m, 90, 1, 12, 1, 20, NULL);
	put_switch(&m, 100, 0, 11, 1, IDLE, "stop");
	put_end(&m, 100);
	finish_found(&m, VERIFY_NO_END, 1);
}

/* Programs saw @seen switches on CPU 0, of which 1 was taken, 3 were filtered and 2 lost. */
static void find_balance(uint64_t seen, bool balanced)
{
	const struct fxt_arg args[] = {
		fxt_arg_u32("cpu", 0), fxt_arg_u64("seen_switches", seen), fxt_arg_u64("drained_switches", 1),
		fxt_arg_u64("filtered_switches", 3), fxt_arg_u64("lost_switches", 2),
	};
	struct made m;

	made_begin(&m);
	put_clean(&m);
	put_gap(&m, 1900, 2000, 0, 2, 0, 0);
	put_clean_ledgers(&m);
	put_session(&m, 2000, "ledger", args, 5);
	finish_found(&m, balanced ? VERIFY_PROBLEM_CNT : VERIFY_LEDGER_SUM, balanced ? 0 : 1);
}

static void test_balance(void **state)
{
	(void)state;
	find_balance(6, true);
	find_balance(5, false);
	find_balance(7, false);
	find_balance(UINT64_MAX, false);
}

/* What put_lost() says. Those recorded: two switches and three of CPU 1, two wakeups, 20 of 21 events, three samples. */
static const char lost_text[] =
	"seen:             at least 127 events: 30 recorded, 4 filtered, 5 rate-limited, at least 88 lost\n"
	"lost:             1 switch, 2 wakeups, 1 call, 9 log lines, 4 events, 14 stack samples: rings full\n"
	"                  1 event: interrupted too often while reserving ring space\n"
	"                  2 events: beginning or end not seen, or too many at once\n"
	"                  3 events: overwritten in the kernel's ring before they were read\n"
	"                  1 call: too many calls at once to wait for their returns\n"
	"                  2 calls: return not reported by the kernel\n"
	"                  2 wakeups, 1 event: output could not be written\n"
	"                  3 switches: not reported by the kernel, drawn as gaps\n"
	"                  at least 10 switches: not reported by the kernel, only counted in /proc/stat\n"
	"                  8 calls, 7 events: the kernel did not run a program that was running on that CPU\n"
	"                  15 stack samples: due, but the kernel ran no program to take them\n"
	"                  2 wakeups: unaccounted for\n"
	"                  1 name: their ring was full or held up\n"
	"note:             6 wakeups recorded where the thread ran, the kernel did not report them "
	"(mark implied or gap)\n"
	"note:             4 forks, renames, execs, exits or cgroup moves not recorded: "
	"the kernel did not run a program that was running on that CPU\n"
	"note:             1 thread shares a koid with an earlier one, the id was reused too often\n";
static const char lost_json[] = "\"lost\":{\"switches\":1,\"wakeups\":2,\"names\":1,"
	"\"unreported_switches\":3,\"prog_skipped_names\":4,\"prog_skipped\":7,\"shared_koids\":1,"
	"\"unreported_wakeups\":6,\"calls\":4,\"missed_calls\":8,\"ratelimited_calls\":5,\"logs\":9,"
	"\"events\":10,\"samples\":14,\"write_failed\":3,\"procstat_excess_switches\":13}";

/* Every reason there is, by the names of today or by those @before schema 2. */
static void put_lost(struct made *m, bool before)
{
	/* A CPU has one for each kind. */
	struct fxt_arg switches[7] = {
		fxt_arg_u32("cpu", 0), fxt_arg_u64("seen_switches", 7), fxt_arg_u64(before ? "taken_switches" : "drained_switches", 2),
		fxt_arg_u64("switches", 2), fxt_arg_u64("lost_switches", 1),
		fxt_arg_u64("filtered_switches", 4),
		fxt_arg_u64(before ? "unseen_switches" : "unreported_switches", 3),
	};
	struct fxt_arg others[14] = {
		fxt_arg_u32("cpu", 0), fxt_arg_u64("wakeups", 3), fxt_arg_u64("lost_wakeups", 2),
		fxt_arg_u64("unaccounted_wakeups", 2),
		fxt_arg_u64(before ? "taken_events" : "drained_events", 21),
		fxt_arg_u64("calls", 0), fxt_arg_u64("lost_calls", 1),
		fxt_arg_u64(before ? "deep_calls" : "depth_exceeded_calls", 1),
		fxt_arg_u64("unreturned_calls", 1), fxt_arg_u64(before ? "shed_calls" : "ratelimited_calls", 5),
		fxt_arg_u64(before ? "unseen_wakeups" : "unreported_wakeups", 6), fxt_arg_u64("lost_logs", 9),
		fxt_arg_u64("lost_events", 10),
		fxt_arg_u64(before ? "unwritten_events" : "write_failed_events", 1),
	};
	struct fxt_arg samples[6] = {
		fxt_arg_u32("cpu", 0), fxt_arg_u64("seen_samples", 67), fxt_arg_u64("drained_samples", 3),
		fxt_arg_u64("idle_samples", 50), fxt_arg_u64("lost_samples", 14), fxt_arg_u64("unsampled_samples", 15),
	};
	struct fxt_arg not_full[4] = {
		fxt_arg_u32("cpu", 0), fxt_arg_u64("contended_events", 1), fxt_arg_u64("unpaired_events", 2),
		fxt_arg_u64("overwritten_events", 3),
	};
	struct fxt_arg totals[9] = {
		fxt_arg_u64("cut_wakeups", 2),
		fxt_arg_u64("names", 9), fxt_arg_u64("lost_names", 1), fxt_arg_u64("prog_skipped_names", 4),
		fxt_arg_u64(before ? "skipped" : "prog_skipped", 7), fxt_arg_u64("shared_koids", 1),
		fxt_arg_u64("missed_calls", 8), fxt_arg_u64("unreturned_calls", 1),
		fxt_arg_u64(before ? "untold_switches" : "procstat_excess_switches", 13),
	};

	put_session(m, 2000, "ledger", switches, 7);
	put_session(m, 2000, "ledger", others, 14);
	put_session(m, 2000, "ledger", samples, 6);
	put_session(m, 2000, "ledger", not_full, 4);
	put_ledger(m, 2000, 1, 3, 1, 0);
	put_session(m, 2000, "ledger", totals, 9);
}

/* Each part of the ledger as both commands print it. */
static void check_lost(bool before)
{
	int (*const commands[])(int, char **) = { cmd_verify, cmd_report };
	const char *path;
	struct made m;
	struct run r;
	size_t i;

	made_open(&m);
	put_clean(&m);
	put_gap(&m, 1900, 2000, 0, 1, 2, 3);
	put_event_gap(&m, 1500, 1600, 0, 3, 9, 10);
	put_lost(&m, before);
	made_close(&m);
	path = made_path(&m);
	for (i = 0; i < 2; i++) {
		r = run_command(commands[i], "command", path, NULL);
		assert_int_equal(r.code, EXIT_OK);
		assert_has(r.out, lost_text);
		run_free(&r);
		r = run_command(commands[i], "command", "-j", path, NULL);
		assert_has(r.out, lost_json);
		run_free(&r);
	}
	unlink(path);
	made_free(&m);
}

static void test_lost(void **state)
{
	(void)state;
	check_lost(false);
	check_lost(true);
}

/* Without a ledger it is unknown what was lost. */
static void test_lost_unknown(void **state)
{
	const char *path;
	struct made m;
	struct run r;

	(void)state;
	made_open(&m);
	put_clean(&m);
	made_close(&m);
	path = made_path(&m);
	r = run_command(cmd_verify, "verify", path, NULL);
	assert_int_equal(r.code, EXIT_PROBLEMS);
	assert_has(r.out, "lost:             unknown: the ledger is missing\n");
	assert_has(r.out, "problem: no_end: 1\n  a recording cut short: ");
	assert_has(r.out, "\n  the first: there is no ledger of the whole\n1 problem\n");
	run_free(&r);
	r = run_command(cmd_verify, "verify", "-j", path, NULL);
	assert_has(r.out, "\"lost\":null,");
	run_free(&r);
	unlink(path);
	made_free(&m);
	/* not one of ours: it never had one */
	made_begin(&m);
	made_close(&m);
	path = made_path(&m);
	r = run_command(cmd_verify, "verify", path, NULL);
	assert_int_equal(r.code, EXIT_OK);
	assert_has(r.out, "lost:             unknown: not recorded by kfxt\n");
	run_free(&r);
	unlink(path);
	made_free(&m);
}

/* What runs where a CPU's records are cut off runs on, to the end or to where it is seen again. */
static void test_report_cut(void **state)
{
	const char *path;
	struct made m;
	struct run r;

	(void)state;
	made_begin(&m);
	put_start(&m, 1000, "0-2", "0-2");
	put_switch(&m, 1000, 0, IDLE, 1, 11, "start");
	put_switch(&m, 1000, 1, IDLE, 1, 12, "start");
	put_switch(&m, 1000, 2, IDLE, 1, 20, "start");
	put_switch(&m, 1100, 2, 20, 1, IDLE, NULL);
	put_switch(&m, 1200, 1, 12, 1, 20, NULL);	/* the last of CPU 1 */
	put_switch(&m, 1300, 2, IDLE, 1, 20, NULL);	/* 20 came here, not recorded; the last */
	put_wakeup(&m, 1500, 0, 10, 11);		/* the last time seen */
	made_close(&m);
	path = made_path(&m);
	r = run_command(cmd_report, "report", "--json", path, NULL);
	assert_int_equal(r.code, EXIT_OK);
	assert_has(r.err, ": cut short, its end is missing (see kfxt verify)\n");
	assert_has(r.out, "\"lost\":null");
	assert_has(r.out, "\"busiest\":[{\"run_ns\":500,\"share_percent\":33.3333,\"slices\":1,\"switches_per_s\":2000000.000,"
		   "\"wakeups_per_s\":0.000,\"max_wait_ns\":null,\"max_wait_complete\":false,\"tid\":11,");
	assert_has(r.out, "{\"run_ns\":400,\"share_percent\":26.6667,\"slices\":3,\"switches_per_s\":6000000.000,"
		   "\"wakeups_per_s\":0.000,\"max_wait_ns\":null,\"max_wait_complete\":false,\"tid\":20,");
	assert_has(r.out, "{\"run_ns\":200,\"share_percent\":13.3333,\"slices\":1,\"switches_per_s\":2000000.000,"
		   "\"wakeups_per_s\":0.000,\"max_wait_ns\":null,\"max_wait_complete\":false,\"tid\":12,");
	run_free(&r);
	r = run_command(cmd_report, "report", path, NULL);
	assert_has(r.out, "lost:             unknown: the ledger is missing\n");
	run_free(&r);
	unlink(path);
	made_free(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_verify_no_end),
		cmocka_unit_test(test_verify_cut_cpu),
		cmocka_unit_test(test_report_cut),
		cmocka_unit_test(test_balance),
		cmocka_unit_test(test_lost),
		cmocka_unit_test(test_lost_unknown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
