// SPDX-License-Identifier: GPL-2.0
/*
 * Unit tests of the trace builder's scheduling and names.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "model/build_made.h"

/* ---- context switches --------------------------------------------------------------- */

static void test_switches(void **state)
{
	struct build t;

	(void)state;
	trace_begin(&t);
	feed_event(&t, 90, 0, 1, "foo", "");
	feed_sched(&t, 100, 0, 1, "S", 2);
	feed_sched(&t, 200, 0, 2, "R", 0);
	feed_event(&t, 300, 0, 0, "foo", "");
	trace_end(&t);
	trace_has(&t, "switch 90 cpu0 0>1 running" W(NONE, "120") " mark='start'");
	trace_has(&t, "switch 100 cpu0 1>2 blocked" W("120", "110"));
	trace_has(&t, "switch 200 cpu0 2>0 running" W("120", NONE));
	trace_has(&t, "switch 300 cpu0 0>0 running" W(NONE, NONE) " mark='stop'");
	assert_int_equal(t.stats.switches, 2);
	assert_int_equal(t.stats.gaps, 0);
	trace_has(&t, "object2 1 't1' process=#1");
	trace_has(&t, "object1 1 't1'");
	trace_has(&t, "object1 0 'kernel'");
	trace_has(&t, "object2 0 'swapper' process=#0");
	trace_done(&t);
}

/* What the letters of prev_state become. */
static void test_states(void **state)
{
	static const struct {
		const char *letters, *fxt;
	} rows[] = {
		{ "R", "running" }, { "R+", "running" }, { "S", "blocked" }, { "D", "blocked" },
		{ "I", "blocked" }, { "P", "blocked" }, { "D|K", "blocked" }, { "D|N", "blocked" },
		{ "W", "blocked" }, { "T", "suspended" }, { "t", "suspended" }, { "Z", "dying" },
		{ "X", "dead" }, { "x", "dead" }, { "S|Z", "dying" }, { "S+", "running" },
	};
	struct build t;
	char line[256];
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		trace_begin(&t);
		feed_sched(&t, 100, 0, 1, rows[i].letters, 2);
		trace_end(&t);
		snprintf(line, sizeof(line), "switch 100 cpu0 1>2 %s" W("120", "110") "%s%s%s",
			 rows[i].fxt, strlen(rows[i].letters) == 1 &&
			 strchr("RS", *rows[i].letters) ? "" : " linux_state='",
			 strlen(rows[i].letters) == 1 && strchr("RS", *rows[i].letters) ? "" :
			 rows[i].letters,
			 strlen(rows[i].letters) == 1 && strchr("RS", *rows[i].letters) ? "" : "'");
		trace_has(&t, line);
		trace_done(&t);
	}
}

static void check_form(enum ftrace_dialect dialect, const char *name, const char *args,
		       const char *line)
{
	struct build t;

	trace_begin(&t);
	t.ev.dialect = dialect;
	feed_event(&t, 100, 0, 7, name, args);
	trace_end(&t);
	trace_has(&t, line);
	assert_int_equal(t.stats.switches + t.stats.wakeups, 1);
	trace_done(&t);
}

/* Names that hold parts of the form, in all three dialects. */
static void test_forms(void **state)
{
	(void)state;
	check_form(FTRACE_KERNEL, "sched_switch",
		   "prev_comm=x prev_pid=1 prev_pid=7 prev_prio=-1 prev_state=S ==> next_comm= ==> next_comm next_pid=8 next_prio=99",
		   "switch 100 cpu0 7>8 blocked" W("-1", "99"));
	check_form(FTRACE_TRACE_CMD, "sched_switch", "a ==> b:3:7 [120] W ==> kworker/0:2:51 [98]",
		   "switch 100 cpu0 7>51 blocked" W("120", "98") " linux_state='I'");
	check_form(FTRACE_TRACE_CMD, "sched_switch",
		   "a ==> b:3:7 [120] W ==> kworker/0:2:51 [98] Latency: 1373.439 usecs",
		   "switch 100 cpu0 7>51 blocked" W("120", "98") " linux_state='I'");
	check_form(FTRACE_FIELDS, "sched_switch",
		   "prev_comm=x prev_pid=0x7 (7) prev_prio=0x78 (120) prev_state=0x2 (2) next_comm=a b next_pid=0x8 (8) next_prio=0x78 (120)",
		   "switch 100 cpu0 7>8 blocked" W("120", "120") " linux_state='D'");
	check_form(FTRACE_FIELDS, "sched_switch",
		   "prev_comm=x prev_pid=7 prev_prio=120 prev_state=0x100 next_comm=y next_pid=8 next_prio=120",
		   "switch 100 cpu0 7>8 running" W("120", "120") " linux_state='R+'");
	check_form(FTRACE_KERNEL, "sched_waking", "comm=a pid=2 prio=1 pid=9 prio=98 success=1 target_cpu=003",
		   "wakeup 100 cpu3 9 weight=98 waker=#7");
	check_form(FTRACE_TRACE_CMD, "sched_wakeup", "rcu:x:15 [-1] success=1 CPU:002",
		   "wakeup 100 cpu2 15 weight=-1 waker=#7");
	check_form(FTRACE_FIELDS, "sched_wakeup", "comm=a b pid=0x9 (9) prio=0x78 (120) target_cpu=0x1 (1)",
		   "wakeup 100 cpu1 9 weight=120 waker=#7");
}

/* Not the current task is switched out, but another one: what was between is unknown. */
static void test_gap(void **state)
{
	struct build t;

	(void)state;
	trace_begin(&t);
	feed_sched(&t, 100, 0, 1, "S", 2);
	feed_event(&t, 150, 0, 2, "foo", "");
	feed_event(&t, 170, 0, 3, "foo", "");
	feed_sched(&t, 200, 0, 3, "S", 4);
	trace_end(&t);
	trace_has(&t, "switch 150 cpu0 2>0 running" W("110", NONE) " mark='gap'");
	trace_has(&t, "switch 170 cpu0 0>3 running" W(NONE, "120") " mark='gap'");
	trace_has(&t, "switch 200 cpu0 3>4 blocked" W("120", "110"));
	assert_int_equal(t.stats.gaps, 1);
	assert_int_equal(t.stats.switches, 2);
	trace_done(&t);
}

static void test_lost(void **state)
{
	struct build t;

	(void)state;
	trace_begin(&t);
	feed_sched(&t, 100, 0, 1, "S", 2);
	feed_wake(&t, 110, 1, 9, "sched_waking", 1);
	t.ev.count = 209;
	feed_kind(&t, FTRACE_LOST, 0, 0, FTRACE_ID_UNKNOWN, "", "");
	t.ev.count = 0;
	feed_event(&t, 150, 0, 5, "foo", "");
	/* It may have run and slept meanwhile, so this one counts. */
	feed_wake(&t, 160, 1, 9, "sched_waking", 1);
	feed_sched(&t, 200, 0, 5, "S", 1);
	trace_end(&t);
	trace_has(&t, "switch 100 cpu0 2>0 running" W("110", NONE) " mark='gap'");
	trace_has(&t, "switch 150 cpu0 0>5 running" W(NONE, "120") " mark='gap'");
	trace_has(&t, "duration_complete 100 4200000002/4200070000 lost:lost 209 events id=150 lost=209ul");
	trace_has(&t, "object2 4200070000 'lost CPU 0' process=#4200000002");
	trace_has(&t, "wakeup 160 cpu1 1 weight=120 waker=#9");
	assert_int_equal(t.stats.gaps, 1);
	assert_int_equal(t.stats.wakeups, 2);
	assert_int_equal(t.stats.records, 5);
	trace_done(&t);
}

/* No line of that CPU follows: until when is not known, but the trace ends. */
static void test_lost_at_the_end(void **state)
{
	struct build t;

	(void)state;
	trace_begin(&t);
	feed_sched(&t, 100, 0, 1, "S", 2);
	t.ev.count = 7;
	feed_kind(&t, FTRACE_LOST, 0, 0, FTRACE_ID_UNKNOWN, "", "");
	t.ev.count = 0;
	feed_wake(&t, 160, 1, 9, "sched_waking", 1);
	trace_end(&t);
	trace_has(&t, "duration_complete 100 4200000002/4200070000 lost:lost 7 events id=160 lost=7ul");
	trace_done(&t);
}

/* A thread is on one CPU at a time; the other CPU's records must be incomplete. */
static void test_two_cpus(void **state)
{
	struct build t;

	(void)state;
	trace_begin(&t);
	feed_sched(&t, 100, 0, 1, "S", 2);
	feed_sched(&t, 200, 1, 3, "R", 2);
	feed_sched(&t, 300, 0, 4, "S", 5);
	trace_end(&t);
	trace_has(&t, "switch 100 cpu0 2>0 running" W("110", NONE) " mark='gap'");
	trace_has(&t, "switch 300 cpu0 0>4 running" W(NONE, "120") " mark='gap'");
	assert_int_equal(t.stats.switches, 3);
	trace_done(&t);
}

/* Too late to be put in order: an instant. */
static void test_late(void **state)
{
	struct build t;

	(void)state;
	trace_begin(&t);
	feed_sched(&t, 200, 0, 1, "S", 2);
	feed_sched(&t, 100, 0, 2, "S", 1);
	feed_wake(&t, 150, 1, 9, "sched_waking", 1);
	trace_end(&t);
	trace_has(&t, "instant 100 2/2 sched:sched_switch prev_comm='t2' prev_pid=2 prev_prio=120 ...");
	trace_has(&t, "instant 150 9/9 sched:sched_waking comm='t1' pid=1 prio=120 target_cpu=1");
	assert_int_equal(t.stats.out_of_order, 2);
	assert_int_equal(t.stats.instants, 2);
	trace_done(&t);
}

/* Of a CPU that never switches, the lines show which task ran. */
static void test_lines(void **state)
{
	struct build t;

	(void)state;
	trace_begin(&t);
	feed_sched(&t, 100, 0, 1, "S", 2);
	feed_event(&t, 110, 1, 7, "foo", "");
	feed_event(&t, 190, 1, 7, "foo", "");
	trace_end(&t);
	trace_has(&t, "switch 110 cpu1 0>7 running" W(NONE, "120") " mark='start'");
	trace_has(&t, "switch 190 cpu1 7>0 running" W("120", NONE) " mark='stop'");
	trace_done(&t);

	trace_begin(&t);
	feed_event(&t, 110, 1, 7, "foo", "");
	feed_event(&t, 190, 1, 7, "foo", "");
	trace_end(&t);
	trace_has_no(&t, "switch ");
	trace_done(&t);
}

/* ---- wakeups ------------------------------------------------------------------------- */

static void test_wakeups(void **state)
{
	struct build t;

	(void)state;
	trace_begin(&t);
	feed_sched(&t, 100, 0, 1, "S", 2);
	feed_wake(&t, 110, 0, 2, "sched_waking", 1);
	feed_wake(&t, 111, 0, 2, "sched_wakeup", 1);		/* the same */
	feed_wake(&t, 112, 0, 2, "sched_waking", 1);		/* awake */
	feed_wake(&t, 113, 0, 2, "sched_wakeup", 2);		/* runs */
	t.ev.in_irq = true;
	feed_wake(&t, 120, 0, 2, "sched_wakeup", 3);		/* by an interrupt */
	t.ev.in_irq = false;
	feed_event(&t, 122, 0, 2, "sched_wakeup", "comm=x pid=6 prio=120 success=0 target_cpu=000");
	feed_wake(&t, 125, 0, 2, "sched_wakeup_new", 4);
	feed_sched(&t, 130, 0, 2, "S", 1);
	trace_end(&t);
	trace_has(&t, "wakeup 110 cpu1 1 weight=120 waker=#2");
	trace_has(&t, "wakeup 120 cpu1 3 weight=120 waker=#0");
	trace_has(&t, "wakeup 125 cpu1 4 weight=120 waker=#2");
	assert_int_equal(t.stats.wakeups, 3);
	assert_int_equal(t.stats.duplicate_wakes, 1);
	assert_int_equal(t.stats.no_op_wakes, 3);
	trace_done(&t);
}

/* Nothing is known of it but that it prints lines on a CPU: it runs. */
static void test_wake_of_line(void **state)
{
	struct build t;

	(void)state;
	trace_begin(&t);
	feed_event(&t, 100, 1, 5, "foo", "");
	feed_wake(&t, 110, 0, 2, "sched_waking", 5);
	feed_sched(&t, 120, 1, 5, "S", 0);
	trace_end(&t);
	assert_int_equal(t.stats.no_op_wakes, 1);
	assert_int_equal(t.stats.wakeups, 0);
	trace_done(&t);
}

/* The waking is before the switch-out whose sleep it ends: it belongs after it. */
static void test_wake_race(void **state)
{
	struct build t;

	(void)state;
	trace_begin(&t);
	feed_wake(&t, 50, 1, 9, "sched_waking", 8);
	feed_sched(&t, 100, 0, 1, "S", 2);
	feed_wake(&t, 190, 1, 9, "sched_waking", 2);
	feed_sched(&t, 200, 0, 2, "S", 1);
	feed_sched(&t, 300, 0, 1, "S", 2);
	trace_end(&t);
	trace_has(&t, "wakeup 200 cpu1 2 weight=120 waker=#9");
	trace_has(&t, "wakeup 200 cpu0 1 weight=120 waker=#0 mark='implied'");
	assert_int_equal(t.stats.implied_wakes, 1);
	assert_int_equal(t.stats.wakeups, 2);
	assert_int_equal(t.stats.no_op_wakes, 0);
	trace_done(&t);

	/* Its own sched_wakeup tells when it was over. */
	trace_begin(&t);
	feed_wake(&t, 50, 1, 9, "sched_waking", 8);
	feed_sched(&t, 100, 0, 1, "S", 2);
	feed_wake(&t, 190, 1, 9, "sched_waking", 2);
	feed_sched(&t, 200, 0, 2, "S", 0);
	feed_wake(&t, 210, 1, 6, "sched_wakeup", 2);
	trace_end(&t);
	trace_has(&t, "wakeup 210 cpu1 2 weight=120 waker=#9");
	trace_done(&t);
}

/* Sleepers that ran again before the first wakeup of all; without any there is none to miss. */
static void test_wake_implied(void **state)
{
	struct build t;

	(void)state;
	trace_begin(&t);
	feed_sched(&t, 100, 0, 1, "S", 2);
	feed_sched(&t, 200, 0, 2, "S", 1);
	trace_end(&t);
	trace_has_no(&t, "wakeup ");
	trace_done(&t);

	trace_begin(&t);
	feed_sched(&t, 100, 0, 1, "S", 2);
	feed_sched(&t, 200, 0, 2, "S", 1);
	feed_wake(&t, 300, 0, 1, "sched_waking", 2);
	trace_end(&t);
	trace_has(&t, "wakeup 199 cpu0 1 weight=120 waker=#0 mark='implied'");
	assert_int_equal(t.stats.implied_wakes, 1);
	trace_done(&t);
}

/* ---- names --------------------------------------------------------------------------- */

static void test_names(void **state)
{
	struct build t;

	(void)state;
	trace_begin(&t);
	t.ev.comm = trace_text("main one");
	t.ev.tgid = 70;
	feed_event(&t, 100, 0, 70, "foo", "");
	t.ev.comm = trace_text("");
	t.ev.tgid = FTRACE_ID_UNKNOWN;
	feed_event(&t, 110, 0, 70, "task_newtask", "pid=71 comm=a b=c clone_flags=3d0f00 oom_score_adj=0");
	feed_event(&t, 120, 0, 70, "task_newtask", "pid=80 comm=child clone_flags=1200000 oom_score_adj=0");
	feed_event(&t, 130, 0, 70, "sched_process_fork", "comm=x pid=70 child_comm=child child_pid=80");
	feed_event(&t, 140, 0, 71, "task_rename", "pid=71 oldcomm=a b=c newcomm=new name oom_score_adj=0");
	feed_event(&t, 150, 0, 80, "sched_process_exec", "filename=/bin/a b pid=80 old_pid=80");
	feed_event(&t, 160, 0, 2, "task_newtask", "pid=90 comm=kthreadd clone_flags=800700 oom_score_adj=0");
	feed_event(&t, 170, 0, 91, "foo", "");
	t.ev.comm = trace_text("kworker/0:1");
	feed_event(&t, 180, 0, 92, "foo", "");
	t.ev.kind = FTRACE_PROCESS;
	t.ev.comm = trace_text("com.example.app");
	t.ev.tgid = 91;
	feed_event(&t, 0, FTRACE_ID_UNKNOWN, 91, "", "");
	trace_end(&t);
	trace_has(&t, "object2 70 'main one' process=#70");
	trace_has(&t, "object1 70 'main one'");
	trace_has(&t, "object2 71 'new name' process=#70");
	trace_has(&t, "object2 80 'a b' process=#80");
	trace_has(&t, "object1 80 'a b' parent=#70");
	trace_has(&t, "object2 90 'kthreadd' process=#0");
	trace_has(&t, "object2 92 'kworker/0:1' process=#0");
	trace_has(&t, "object1 91 'com.example.app'");
	trace_has(&t, "instant 120 70/70 task:task_newtask pid=80 comm='child' clone_flags=18874368u oom_score_adj=0");
	assert_int_equal(t.stats.names, 6);
	assert_int_equal(t.stats.threads, 7);
	trace_done(&t);
}

/* A program that calls itself like a kernel thread is found out by what it does. */
static void test_false_kernel(void **state)
{
	struct build t;

	(void)state;
	trace_begin(&t);
	t.ev.comm = trace_text("kworker/0:1");
	feed_kind(&t, FTRACE_SYSCALL_ENTER, 100, 0, 5, "read", "fd: 3");
	trace_end(&t);
	trace_has(&t, "object2 5 'kworker/0:1' process=#5");
	trace_done(&t);
}

static void test_recycled(void **state)
{
	struct build t;

	(void)state;
	trace_begin(&t);
	feed_sched(&t, 100, 0, 0, "R", 5);
	feed_event(&t, 110, 0, 5, "sched_process_exit", "comm=t5 pid=5 prio=120 group_dead=true");
	feed_sched(&t, 120, 0, 5, "X", 1);
	feed_event(&t, 130, 0, 1, "task_newtask", "pid=5 comm=again clone_flags=0 oom_score_adj=0");
	feed_event(&t, 131, 0, 1, "sched_process_fork", "comm=t1 pid=1 child_comm=again child_pid=5");
	feed_wake(&t, 132, 0, 1, "sched_wakeup_new", 5);
	feed_sched(&t, 140, 0, 1, "S", 5);
	trace_end(&t);
	trace_has(&t, "object2 5 't5' process=#5");
	trace_has(&t, "object2 10000005 't5' process=#10000005");
	trace_has(&t, "object1 10000005 't5' parent=#1");
	trace_has(&t, "wakeup 132 cpu1 10000005 weight=120 waker=#1");
	trace_has(&t, "switch 140 cpu0 1>10000005 blocked" W("120", "110"));
	trace_done(&t);
}

/* A birth says that the thread before has gone, unless the clock of a CPU is only a little slow. */
static void test_recycled_unseen(void **state)
{
	struct build t;

	(void)state;
	trace_begin(&t);
	feed_sched(&t, 100, 0, 0, "R", 5);
	feed_sched(&t, 200, 0, 5, "S", 1);
	feed_event(&t, 2000000, 0, 1, "task_newtask", "pid=5 comm=again clone_flags=0 oom_score_adj=0");
	feed_event(&t, 2000001, 0, 1, "sched_process_fork", "comm=t1 pid=1 child_comm=again child_pid=5");
	feed_wake(&t, 2000002, 0, 1, "sched_wakeup_new", 5);
	feed_sched(&t, 2000010, 0, 1, "S", 5);
	feed_sched(&t, 3000000, 1, 0, "R", 6);
	feed_event(&t, 3000500, 0, 5, "task_newtask", "pid=6 comm=late clone_flags=0 oom_score_adj=0");
	trace_end(&t);
	trace_has(&t, "object2 5 't5' process=#5");
	trace_has(&t, "switch 2000010 cpu0 1>10000005 blocked" W("120", "110"));
	trace_has(&t, "object1 10000005 't5' parent=#1");
	trace_has(&t, "object1 6 'late' parent=#10000005");
	assert_int_equal(t.stats.threads, 4);
	trace_done(&t);
}

/* Numbers no Linux has: kept apart, and out of what readers cannot take. */
static void test_extremes(void **state)
{
	struct build t;

	(void)state;
	trace_begin(&t);
	feed_event(&t, 100, 4095, 5, "foo", "");
	feed_event(&t, UINT64_MAX, 4095, 5, "foo", "");
	feed_event(&t, 110, 4096, 10000005, "foo", "");
	feed_event(&t, 120, 0, INT32_MAX, "sched_switch",
	      "prev_comm= prev_pid=2147483647 prev_prio=-2147483647 prev_state=? ==> next_comm= next_pid=2147483648 next_prio=1");
	feed_event(&t, 130, 0, INT32_MAX, "sched_switch",
	      "prev_comm= prev_pid=2147483647 prev_prio=2147483647 prev_state=? ==> next_comm= next_pid=1 next_prio=1");
	trace_end(&t);
	trace_has(&t, "instant 100 5/5 ftrace:foo");
	trace_has(&t, "instant 110 4304967301/4304967301 ftrace:foo");
	trace_has(&t, "switch 130 cpu0 6442450943>1 blocked" W("2147483647", "1") " linux_state='?'");
	assert_int_equal(t.stats.switches, 1);
	assert_int_equal(t.stats.instants, 4);
	trace_done(&t);
}

/* A line that was cut makes no thread, unless it cannot have lost a digit. */
static void test_incomplete(void **state)
{
	struct build t;

	(void)state;
	trace_begin(&t);
	feed_sched(&t, 100, 0, 1, "S", 2);
	t.ev.complete = false;
	feed_event(&t, 200, 0, 2, "sched_switch",
	      "prev_comm=t2 prev_pid=2 prev_prio=120 prev_state=S ==> next_comm=t3 next_pid=3 next_prio=12");
	feed_event(&t, 210, 0, 2, "sched_switch",
	      "prev_comm=t2 prev_pid=2 prev_prio=120 prev_state=S ==> next_comm=t4 next_pid=4");
	feed_event(&t, 220, 0, 2, "sched_process_exit", "comm=t5 pid=5");
	feed_event(&t, 230, 0, 2, "foo", "a=12");
	feed_marker(&t, 240, 0, 2, "C|2|count|1");
	feed_event(&t, 250, 0, 2, "sched_switch",
	      "prev_comm=t2 prev_pid=2 prev_prio=120 prev_state=S ==> next_comm=t6 next_pid=6 next_prio=120");
	trace_end(&t);
	assert_int_equal(t.stats.incomplete, 4);
	assert_int_equal(t.stats.switches, 2);
	trace_has(&t, "instant 230 2/2 ftrace:foo text='a=12'");
	trace_has_no(&t, "object2 3 ");
	trace_has_no(&t, "object2 4 ");
	trace_has_no(&t, "object2 5 ");
	trace_done(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_switches),
		cmocka_unit_test(test_states),
		cmocka_unit_test(test_forms),
		cmocka_unit_test(test_gap),
		cmocka_unit_test(test_lost),
		cmocka_unit_test(test_lost_at_the_end),
		cmocka_unit_test(test_two_cpus),
		cmocka_unit_test(test_late),
		cmocka_unit_test(test_lines),
		cmocka_unit_test(test_wakeups),
		cmocka_unit_test(test_wake_of_line),
		cmocka_unit_test(test_wake_race),
		cmocka_unit_test(test_wake_implied),
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_false_kernel),
		cmocka_unit_test(test_recycled),
		cmocka_unit_test(test_recycled_unseen),
		cmocka_unit_test(test_extremes),
		cmocka_unit_test(test_incomplete),
	};

	return cmocka_run_group_tests_name("build", tests, NULL, NULL);
}
