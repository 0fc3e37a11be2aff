// SPDX-License-Identifier: GPL-2.0
/*
 * Unit tests of the timeline, its replay and `kfxt verify`, a trace for each problem.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cmd.h"
#include "cli/exit.h"
#include "analysis/findings.h"
#include "analysis/replay.h"
#include "cli_made.h"

/* ---- timeline and replay --------------------------------------------------- */

static struct timeline *load(struct made *m)
{
	struct fxt_reader *r;
	struct fxt_record rec;
	struct timeline *tl;
	int got;

	m->at = 0;
	assert_int_equal(fxt_reader_open(&r, made_read, m), 0);
	assert_int_equal(timeline_open(&tl), 0);
	while ((got = fxt_reader_next(r, &rec)) > 0)
		assert_int_equal(timeline_add(tl, &rec, fxt_reader_ticks_per_second(r)), 0);
	assert_int_equal(got, 0);
	fxt_reader_close(r);
	timeline_sort(tl);
	return tl;
}

static void test_timeline_ns(void **state)
{
	uint64_t ns;

	(void)state;
	assert_true(timeline_ns(123, 1000000000, &ns) && ns == 123);
	assert_true(timeline_ns(12000000000000000ULL, 2400000000, &ns) && ns == 5000000000000000ULL);
	assert_true(timeline_ns(10, 3, &ns) && ns == 3333333333);
	assert_false(timeline_ns(1, 0, &ns));
	assert_false(timeline_ns(UINT64_MAX, 1, &ns));
}

static void test_timeline_facts(void **state)
{
	struct timeline *tl;
	struct made m;

	(void)state;
	made_open(&m);
	put_clean(&m);
	put_clean_ledgers(&m);
	made_close(&m);
	tl = load(&m);
	assert_int_equal(tl->switches, 5);
	assert_int_equal(tl->wakeups, 2);
	assert_int_equal(tl->marks, 4);
	assert_int_equal(num_cpus_count(&tl->cpus), 2);
	assert_int_equal(tl->threads_cnt, 4);
	assert_string_equal(timeline_process(tl, 0)->name, "kernel");
	assert_null(timeline_process(tl, 99));
	assert_true(tl->session.has_start && tl->session.has_stop);
	assert_int_equal(tl->session.stop_ns, 2000);
	assert_int_equal(tl->session.ledgers_cnt, 2);
	assert_int_equal(tl->session.names, 4);
	assert_false(timeline_is_partial(tl));
	timeline_close(tl);
	made_free(&m);
}

/* The state of thread 11 before each event, as letters. */
struct letters {
	char text[32];
	unsigned int cnt;
};

static int note_state(void *ctx, const struct replay *rp, const struct timeline_event *ev)
{
	uint32_t i = map_get(&rp->tl->thread_map, 11);
	struct letters *l = ctx;

	(void)ev;
	l->text[l->cnt++] = "?RrBD"[replay_state(rp, i)];
	return 0;
}

static void check_states(struct made *m, const char *expected)
{
	struct letters l = { .cnt = 0 };
	struct timeline *tl;

	made_close(m);
	tl = load(m);
	assert_int_equal(replay_run(tl, note_state, &l), 0);
	assert_string_equal(l.text, expected);
	timeline_close(tl);
	made_free(m);
}

static void test_replay_states(void **state)
{
	struct made m;

	(void)state;
	made_open(&m);
	put_clean(&m);
	/* start start out wake in preempted in wake(12) switch(12) stop stop */
	check_states(&m, "?RRBrRrRRR?");

	made_begin(&m);
	put_switch(&m, 100, 0, IDLE, 1, 11, NULL);
	put_switch(&m, 200, 0, 11, 5, IDLE, NULL);
	put_switch(&m, 300, 0, IDLE, 1, 12, NULL);
	check_states(&m, "?RD");
}

/* A wakeup at the time of the switch-out is after it in the file and in order. */
static void test_replay_order(void **state)
{
	struct made m;

	(void)state;
	made_begin(&m);
	put_switch(&m, 300, 1, IDLE, 1, 11, NULL);
	put_switch(&m, 100, 0, IDLE, 1, 11, NULL);
	put_switch(&m, 200, 0, 11, 3, IDLE, NULL);
	put_wakeup(&m, 200, 0, 11, 0);
	check_states(&m, "?RBr");
}

static void test_replay_gap(void **state)
{
	struct made m;

	(void)state;
	made_begin(&m);
	put_switch(&m, 100, 0, IDLE, 1, 11, NULL);
	put_switch(&m, 110, 1, IDLE, 1, 12, NULL);
	put_switch(&m, 200, 0, 11, 3, IDLE, NULL);
	put_switch(&m, 300, 1, 12, 1, IDLE, "gap");	/* 11 is blocked */
	put_switch(&m, 350, 0, IDLE, 1, 20, NULL);	/* not certain from here */
	put_switch(&m, 400, 1, IDLE, 1, 11, "gap");
	put_switch(&m, 500, 1, 11, 3, IDLE, NULL);	/* runs */
	put_switch(&m, 600, 0, 20, 3, IDLE, NULL);	/* blocked, certain again */
	check_states(&m, "?RRB??RB");
}

static void test_replay_partial(void **state)
{
	struct made m;

	(void)state;
	made_begin(&m);
	put_start(&m, 1, "0", "0-1");
	put_switch(&m, 100, 0, IDLE, 1, 11, NULL);
	put_switch(&m, 200, 0, 11, 3, IDLE, NULL);
	put_switch(&m, 300, 0, IDLE, 1, 11, NULL);
	check_states(&m, "?R?");
}

/* ---- verify ---------------------------------------------------------------- */

static void test_verify_clean(void **state)
{
	struct made m;

	(void)state;
	made_open(&m);
	put_clean(&m);
	put_clean_ledgers(&m);
	finish_found(&m, VERIFY_PROBLEM_CNT, 0);
	made_begin(&m);
	finish_found(&m, VERIFY_PROBLEM_CNT, 0);
}

static void test_verify_damage(void **state)
{
	static const uint64_t hole[2] = { 0, 0 };
	struct made m;

	(void)state;
	made_begin(&m);
	append_words(&m, hole, 2);
	put_switch(&m, 100, 0, IDLE, 1, 11, NULL);
	finish_found(&m, VERIFY_DAMAGE, 1);
}

static void test_verify_unknown_record(void **state)
{
	static const uint64_t words[2] = { FXT_HEADER(11, 2), 1 };
	struct made m;

	(void)state;
	made_begin(&m);
	append_words(&m, words, 2);
	finish_found(&m, VERIFY_UNKNOWN_RECORD, 1);
}

static void test_verify_unresolved(void **state)
{
	uint64_t words[4] = {
		FXT_HEADER(FXT_EVENT, 4) | FXT_PUT(999, FXT_F_EVENT_NAME), 100, 10, 11,
	};
	struct made m;

	(void)state;
	made_begin(&m);
	append_words(&m, words, 4);
	finish_found(&m, VERIFY_UNRESOLVED, 1);
}

static void test_verify_no_magic(void **state)
{
	struct made m;

	(void)state;
	made_open(&m);
	assert_int_equal(fxt_write_provider_info(m.w, 1, fxt_str("kfxt")), 0);
	assert_int_equal(fxt_write_initialization(m.w, 1000000000), 0);
	put_names(&m);
	finish_found(&m, VERIFY_NO_MAGIC, 1);
}

static void test_verify_no_initialization(void **state)
{
	struct made m;

	(void)state;
	made_open(&m);
	assert_int_equal(fxt_write_magic(m.w), 0);
	assert_int_equal(fxt_write_provider_info(m.w, 1, fxt_str("kfxt")), 0);
	put_names(&m);
	put_switch(&m, 100, 0, IDLE, 1, 11, NULL);
	put_switch(&m, 200, 0, 11, 1, IDLE, NULL);
	finish_found(&m, VERIFY_NO_INITIALIZATION, 1);
}

static void test_verify_bad_time(void **state)
{
	struct made m;

	(void)state;
	made_open(&m);
	assert_int_equal(fxt_write_magic(m.w), 0);
	assert_int_equal(fxt_write_initialization(m.w, 1), 0);
	put_names(&m);
	put_switch(&m, UINT64_MAX, 0, IDLE, 1, 11, NULL);
	finish_found(&m, VERIFY_BAD_TIME, 1);
}

/* A switch without the writer, which would refuse some of these. */
static void put_raw_switch(struct made *m, uint16_t cpu, unsigned int state, uint64_t in)
{
	uint64_t words[10] = {
		FXT_SCHED_HEADER(FXT_SCHED_SWITCH, 10, 2, cpu) | FXT_PUT(state, FXT_F_SCHED_STATE),
		100, 0, in,
		FXT_ARG_HEADER(FXT_ARG_INT32, 3, FXT_STR_INLINE | 15) |
			FXT_PUT(FXT_WEIGHT_IDLE, FXT_F_ARG_VALUE32), 0, 0,
		FXT_ARG_HEADER(FXT_ARG_INT32, 3, FXT_STR_INLINE | 15) |
			FXT_PUT(weight_of(in), FXT_F_ARG_VALUE32), 0, 0,
	};

	memcpy(&words[5], "outgoing_weight", 15);
	memcpy(&words[8], "incoming_weight", 15);
	append_words(m, words, 10);
}

static void test_verify_bad_state(void **state)
{
	struct made m;

	(void)state;
	made_begin(&m);
	put_raw_switch(&m, 0, 9, 11);
	finish_found(&m, VERIFY_BAD_STATE, 1);
}

static void test_verify_bad_cpu(void **state)
{
	struct made m;

	(void)state;
	made_begin(&m);
	put_raw_switch(&m, 4096, 1, 11);
	finish_found(&m, VERIFY_BAD_CPU, 1);
	made_begin(&m);
	put_raw_switch(&m, 4095, 1, 11);
	finish_found(&m, VERIFY_PROBLEM_CNT, 0);
}

static void test_verify_bad_argument(void **state)
{
	struct fxt_switch s = { .ts = 100, .state = FXT_STATE_RUNNING, .in = 11 };
	struct fxt_arg wrong = fxt_arg_i64("incoming_weight", 120);
	struct fxt_arg waker = fxt_arg_u64("waker", 12);
	struct fxt_wakeup w = { .ts = 50, .thread = 11 };
	struct made m;

	(void)state;
	made_begin(&m);
	assert_int_equal(fxt_write_wakeup(m.w, &w, &waker, 1), 0);
	assert_int_equal(fxt_write_switch(m.w, &s, &wrong, 1), 0);
	finish_found(&m, VERIFY_BAD_ARGUMENT, 4);
}

static void test_verify_idle_koid(void **state)
{
	struct fxt_switch s = { .ts = 100, .state = FXT_STATE_RUNNING, .in = 11 };
	struct fxt_arg args[2] = {
		fxt_arg_i32("outgoing_weight", 120),
		fxt_arg_i32("incoming_weight", FXT_WEIGHT_IDLE),
	};
	struct made m;

	(void)state;
	made_begin(&m);
	assert_int_equal(fxt_write_switch(m.w, &s, args, 2), 0);
	finish_found(&m, VERIFY_IDLE_KOID, 2);
}

static void test_verify_time_back(void **state)
{
	struct made m;

	(void)state;
	made_begin(&m);
	put_switch(&m, 200, 0, 11, 1, IDLE, NULL);
	put_switch(&m, 100, 0, IDLE, 1, 11, NULL);
	put_switch(&m, 100, 1, IDLE, 1, 12, NULL);
	finish_found(&m, VERIFY_TIME_BACK, 1);
}

static void test_verify_outside_session(void **state)
{
	struct made m;

	(void)state;
	made_begin(&m);
	put_start(&m, 150, "0", "0");
	put_switch(&m, 100, 0, IDLE, 1, 11, NULL);
	put_switch(&m, 200, 0, 11, 1, IDLE, NULL);
	put_switch(&m, 300, 0, IDLE, 1, IDLE, "stop");
	put_end(&m, 250);
	finish_found(&m, VERIFY_OUTSIDE_SESSION, 2);
}

static void test_verify_not_running(void **state)
{
	struct made m;

	(void)state;
	made_begin(&m);
	put_switch(&m, 100, 0, IDLE, 1, 11, NULL);
	put_switch(&m, 200, 0, 12, 1, 20, NULL);
	put_switch(&m, 300, 0, 20, 1, IDLE, NULL);
	finish_found(&m, VERIFY_NOT_RUNNING, 1);
	/* idle counts as somebody */
	made_begin(&m);
	put_switch(&m, 100, 0, 11, 1, IDLE, NULL);
	put_switch(&m, 200, 0, 12, 1, IDLE, NULL);
	finish_found(&m, VERIFY_NOT_RUNNING, 1);
}

static void test_verify_two_cpus(void **state)
{
	struct made m;

	(void)state;
	made_begin(&m);
	put_switch(&m, 100, 0, IDLE, 1, 11, NULL);
	put_switch(&m, 200, 1, IDLE, 1, 11, NULL);
	put_switch(&m, 300, 1, 11, 1, IDLE, NULL);
	finish_found(&m, VERIFY_TWO_CPUS, 1);
	made_begin(&m);
	put_switch(&m, 100, 0, IDLE, 1, 11, NULL);
	put_switch(&m, 200, 1, 11, 1, IDLE, NULL);
	finish_found(&m, VERIFY_TWO_CPUS, 1);
}

static void test_verify_woken_awake(void **state)
{
	struct made m;

	(void)state;
	made_begin(&m);
	put_switch(&m, 100, 0, IDLE, 1, 11, NULL);
	put_wakeup(&m, 150, 0, 11, 0);
	put_switch(&m, 200, 0, 11, 1, IDLE, NULL);
	put_wakeup(&m, 250, 0, 11, 0);
	put_wakeup(&m, 260, 0, 12, 0);
	put_wakeup(&m, 270, 0, 12, 0);
	finish_found(&m, VERIFY_WOKEN_AWAKE, 3);
}

static void test_verify_not_woken(void **state)
{
	struct made m;

	(void)state;
	made_begin(&m);
	put_switch(&m, 100, 0, 11, 3, 12, NULL);
	put_switch(&m, 200, 0, 12, 1, 11, NULL);
	made_close(&m);
	/* no wakeups recorded at all: nothing to miss */
	assert_found(&m, VERIFY_PROBLEM_CNT, 0);
	made_free(&m);
	made_begin(&m);
	put_wakeup(&m, 50, 0, 20, 0);
	put_switch(&m, 100, 0, 11, 3, 12, NULL);
	put_switch(&m, 200, 0, 12, 1, 11, NULL);
	finish_found(&m, VERIFY_NOT_WOKEN, 1);
}

static void test_verify_dead(void **state)
{
	struct made m;

	(void)state;
	made_begin(&m);
	put_switch(&m, 100, 0, 11, 5, 12, NULL);
	put_wakeup(&m, 150, 0, 11, 0);
	put_switch(&m, 200, 0, 12, 5, IDLE, NULL);
	put_switch(&m, 300, 0, IDLE, 1, 12, NULL);
	finish_found(&m, VERIFY_DEAD, 2);
}

static void test_verify_names(void **state)
{
	struct fxt_object o = { .id = 31, .name = fxt_str("x"), .kind = FXT_KOBJ_THREAD };
	struct made m;

	(void)state;
	made_begin(&m);
	put_switch(&m, 100, 0, IDLE, 1, 30, NULL);
	put_wakeup(&m, 110, 0, 12, 31);
	finish_found(&m, VERIFY_NO_THREAD, 2);
	made_begin(&m);
	assert_int_equal(fxt_write_kernel_object(m.w, &o, NULL, 0), 0);
	put_thread(&m, 30, 77, "stray");
	finish_found(&m, VERIFY_NO_PROCESS, 2);
}

static void test_verify_ledger(void **state)
{
	struct made m;

	(void)state;
	made_open(&m);
	put_clean(&m);
	put_ledger(&m, 2000, 0, 3, 1, 0);
	put_ledger(&m, 2000, 1, 3, 1, 0);
	put_totals(&m, 2000);
	finish_found(&m, VERIFY_LEDGER_SWITCHES, 1);
	made_open(&m);
	put_clean(&m);
	put_ledger(&m, 2000, 0, 2, 2, 0);
	put_totals(&m, 2000);
	finish_found(&m, VERIFY_LEDGER_SWITCHES, 1);
	made_open(&m);
	put_clean(&m);
	put_ledger(&m, 2000, 0, 2, 2, 0);
	put_ledger(&m, 2000, 1, 3, 1, 0);
	put_totals(&m, 2000);
	finish_found(&m, VERIFY_LEDGER_WAKEUPS, 1);
}

/* Calls, lines of the log, other events, one of each there. */
static void check_ledger_of(uint64_t calls, uint64_t logs, uint64_t events, enum verify_problem wanted, uint64_t times)
{
	const struct fxt_thread thread = { .process = 1, .thread = 11 };
	struct fxt_event event = {
		.type = FXT_INSTANT, .ts = 150, .thread = thread,
		.category = fxt_str("function"), .name = fxt_str("f"),
	};
	struct fxt_arg cpu[5] = {
		fxt_arg_u32("cpu", 0), fxt_arg_u64("switches", 2), fxt_arg_u64("wakeups", 1),
		fxt_arg_u64("calls", calls), fxt_arg_u64("events", events / 2),
	};
	struct fxt_arg totals[2] = { fxt_arg_u64("logs", logs), fxt_arg_u64("events", events - events / 2) };
	struct made m;

	made_open(&m);
	put_clean(&m);
	assert_int_equal(fxt_write_event(m.w, &event, NULL, 0), 0);
	event.category = fxt_str("irq");
	assert_int_equal(fxt_write_event(m.w, &event, NULL, 0), 0);
	assert_int_equal(fxt_write_log(m.w, 150, thread, fxt_str("line")), 0);
	put_session(&m, 2000, "ledger", cpu, 5);
	put_ledger(&m, 2000, 1, 3, 1, 0);
	put_session(&m, 2000, "ledger", totals, 2);
	finish_found(&m, wanted, times);
}

static void test_verify_ledger_events(void **state)
{
	(void)state;
	check_ledger_of(1, 1, 1, VERIFY_PROBLEM_CNT, 0);
	check_ledger_of(2, 1, 1, VERIFY_LEDGER_CALLS, 1);
	check_ledger_of(0, 1, 1, VERIFY_LEDGER_CALLS, 1);
	check_ledger_of(1, 0, 1, VERIFY_LEDGER_LOGS, 1);
	check_ledger_of(1, 2, 1, VERIFY_LEDGER_LOGS, 1);
	check_ledger_of(1, 1, 0, VERIFY_LEDGER_EVENTS, 1);
	check_ledger_of(1, 1, 2, VERIFY_LEDGER_EVENTS, 1);
}

/* Loss repaired by gaps is a note; what happened inside is not held against the file. */
static void test_verify_gap(void **state)
{
	struct made m;

	(void)state;
	made_begin(&m);
	put_switch(&m, 100, 0, IDLE, 1, 11, NULL);
	put_switch(&m, 110, 1, IDLE, 1, 12, NULL);
	put_switch(&m, 200, 0, 11, 3, IDLE, NULL);
	put_switch(&m, 300, 1, 12, 1, IDLE, "gap");
	put_switch(&m, 350, 0, IDLE, 1, 11, NULL);	/* woken by CPU 1, which is not recorded */
	put_switch(&m, 360, 0, 11, 3, IDLE, NULL);
	put_switch(&m, 400, 1, IDLE, 1, 20, "gap");
	put_switch(&m, 450, 1, 20, 3, 11, NULL);
	put_switch(&m, 460, 0, IDLE, 1, 12, NULL);
	put_wakeup(&m, 470, 0, 20, 12);
	put_ledger(&m, 500, 0, 5, 1, 0);
	put_ledger(&m, 500, 1, 2, 0, 9);
	finish_found(&m, VERIFY_PROBLEM_CNT, 0);
	/* a gap with idle on both sides */
	made_begin(&m);
	put_switch(&m, 100, 0, IDLE, 1, IDLE, "gap");
	put_switch(&m, 200, 0, IDLE, 1, IDLE, "gap");
	put_switch(&m, 300, 0, 11, 1, IDLE, NULL);
	finish_found(&m, VERIFY_NOT_RUNNING, 1);
}

static void test_verify_partial(void **state)
{
	struct made m;

	(void)state;
	made_begin(&m);
	put_start(&m, 1, "0", "0-1");
	put_switch(&m, 100, 0, IDLE, 1, 11, NULL);
	put_wakeup(&m, 150, 1, 12, 11);
	put_switch(&m, 200, 0, 11, 3, IDLE, NULL);
	put_wakeup(&m, 250, 1, 12, 0);			/* ran on CPU 1 in between */
	put_switch(&m, 300, 0, IDLE, 1, 11, NULL);
	put_switch(&m, 400, 0, 11, 1, IDLE, "stop");
	put_end(&m, 400);
	finish_found(&m, VERIFY_PROBLEM_CNT, 0);
}

static void test_verify_words(void **state)
{
	const char *path;
	struct made m;
	struct run r;

	(void)state;
	made_open(&m);
	assert_int_equal(fxt_write_magic(m.w), 0);
	put_session(&m, 100, "something", NULL, 0);
	assert_int_equal(fxt_writer_flush(m.w), 0);
	made_write(&m, "x", 1);
	made_close(&m);
	path = made_path(&m);
	r = run_command(cmd_verify, "verify", path, NULL);
	assert_int_equal(r.code, EXIT_PROBLEMS);
	assert_has(r.out, "  the first: an event of provider 0\n");
	assert_has(r.out, "  the first: 1 byte: ");
	run_free(&r);
	r = run_command(cmd_dump, "dump", path, NULL);
	assert_has(r.err, ": damaged in 1 place: 1 byte is not a record\n");
	run_free(&r);
	unlink(path);
	made_free(&m);
}

static void test_verify_command(void **state)
{
	const char *path;
	struct made m;
	struct run r;

	(void)state;
	made_open(&m);
	put_clean(&m);
	put_gap(&m, 1900, 2000, 1, 4, 0, 0);
	put_ledger(&m, 2000, 0, 2, 1, 0);
	put_ledger(&m, 2000, 1, 3, 1, 4);
	put_totals(&m, 2000);
	made_close(&m);
	path = made_path(&m);
	r = run_command(cmd_verify, "verify", path, NULL);
	assert_int_equal(r.code, EXIT_OK);
	assert_has(r.out, "duration:         0.000001000 s\n");
	assert_has(r.out, "context switches: 5\n");
	assert_has(r.out, "lost:             4 switches: rings full\n");
	assert_has(r.out, "\nclean\n");
	run_free(&r);
	unlink(path);
	((uint64_t *)m.data)[3] = 0;	/* the header of the initialization record */
	path = made_path(&m);
	r = run_command(cmd_verify, "verify", path, NULL);
	assert_int_equal(r.code, EXIT_PROBLEMS);
	assert_has(r.out, " problem");
	run_free(&r);
	r = run_command(cmd_verify, "verify", "-q", path, NULL);
	assert_int_equal(r.code, EXIT_PROBLEMS);
	assert_string_equal(r.out, "");
	assert_string_equal(r.err, "");
	run_free(&r);
	r = run_command(cmd_verify, "verify", "-q", "-j", path, NULL);
	assert_int_equal(r.code, EXIT_PROBLEMS);
	assert_string_equal(r.out, "");
	run_free(&r);
	unlink(path);
	made_free(&m);
}

static void test_not_a_trace(void **state)
{
	static const char *const texts[] = {
		"", "# tracer: nop\n", "{\"traceEvents\":[]}", "<!DOCTYPE html>\n<html>", "\177ELF",
	};
	struct made m = { 0 };
	const char *path;
	struct run r;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		m.data = (char *)texts[i];
		m.len = strlen(texts[i]);
		path = made_path(&m);
		r = run_command(cmd_verify, "verify", path, NULL);
		assert_int_equal(r.code, EXIT_FAILED);
		assert_has(r.err, ": not a Fuchsia trace");
		if (!*texts[i])
			assert_has(r.err, ": it is empty\n");
		assert_string_equal(r.out, "");
		run_free(&r);
		r = run_command(cmd_dump, "dump", path, NULL);
		assert_int_equal(r.code, EXIT_FAILED);
		run_free(&r);
		r = run_command(cmd_report, "report", path, NULL);
		assert_int_equal(r.code, EXIT_FAILED);
		run_free(&r);
		unlink(path);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_timeline_ns),
		cmocka_unit_test(test_timeline_facts),
		cmocka_unit_test(test_replay_states),
		cmocka_unit_test(test_replay_order),
		cmocka_unit_test(test_replay_gap),
		cmocka_unit_test(test_replay_partial),
		cmocka_unit_test(test_verify_clean),
		cmocka_unit_test(test_verify_damage),
		cmocka_unit_test(test_verify_unknown_record),
		cmocka_unit_test(test_verify_unresolved),
		cmocka_unit_test(test_verify_no_magic),
		cmocka_unit_test(test_verify_no_initialization),
		cmocka_unit_test(test_verify_bad_time),
		cmocka_unit_test(test_verify_bad_state),
		cmocka_unit_test(test_verify_bad_cpu),
		cmocka_unit_test(test_verify_bad_argument),
		cmocka_unit_test(test_verify_idle_koid),
		cmocka_unit_test(test_verify_time_back),
		cmocka_unit_test(test_verify_outside_session),
		cmocka_unit_test(test_verify_not_running),
		cmocka_unit_test(test_verify_two_cpus),
		cmocka_unit_test(test_verify_woken_awake),
		cmocka_unit_test(test_verify_not_woken),
		cmocka_unit_test(test_verify_dead),
		cmocka_unit_test(test_verify_names),
		cmocka_unit_test(test_verify_ledger),
		cmocka_unit_test(test_verify_ledger_events),
		cmocka_unit_test(test_verify_gap),
		cmocka_unit_test(test_verify_partial),
		cmocka_unit_test(test_verify_words),
		cmocka_unit_test(test_verify_command),
		cmocka_unit_test(test_not_a_trace),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
