// SPDX-License-Identifier: GPL-2.0
/*
 * Unit tests of what the trace builder makes of events that are not scheduling.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "model/build_made.h"

/* ---- instants and arguments ---------------------------------------------------- */

static void check_args(const char *name, const char *args, const char *line)
{
	struct build t;
	char all[512];

	trace_begin(&t);
	feed_event(&t, 100, 0, 7, name, args);
	trace_end(&t);
	snprintf(all, sizeof(all), "instant 100 7/7 %s", line);
	trace_has(&t, all);
	assert_int_equal(t.stats.instants, 1);
	trace_done(&t);
}

static void test_typed_args(void **state)
{
	(void)state;
	check_args("foo", "a=1 b=-1 c=2147483648 d=-2147483649 e=4294967296 f=18446744073709551615",
		   "ftrace:foo a=1 b=-1 c=2147483648u d=-2147483649l e=4294967296l f=18446744073709551615ul");
	check_args("foo", "a=0x10 b=0xffffffff81000000 c=00000000897c91b4 d=1.5 e=true f=99999999999999999999",
		   "ftrace:foo a=16u b=ffffffff81000000p c=897c91b4p d=1.5d e=true f='99999999999999999999'");
	check_args("foo", "text with blanks a=x y z b=\"q=1 r\" c=",
		   "ftrace:foo text='text with blanks' a='x y z' b='q=1 r' c=''");
	check_args("softirq_raise", "vec=7 [action=SCHED]", "irq:softirq_raise vec=7 action='SCHED'");
	check_args("sched_stat_runtime", "comm=a b pid=1 runtime=2216692 [ns]",
		   "sched:sched_stat_runtime comm='a b' pid=1 runtime=2216692");
	check_args("signal_deliver", "sig=10 sa_handler=4016d5 sa_flags=14000000",
		   "signal:signal_deliver sig=10 sa_handler=4200149u sa_flags=335544320u");
	check_args("myprobe", "(do_sys_openat2+0x0/0xe0) dfd=0xffffff9c name=\"/dev/null\"",
		   "ftrace:myprobe at='(do_sys_openat2+0x0/0xe0)' dfd=4294967196u name='/dev/null'");
	check_args("foo", "", "ftrace:foo");
	check_args("sched_switch", "nonsense", "sched:sched_switch text='nonsense'");
	check_args("many", "a=1 b=2 c=3 d=4 e=5 f=6 g=7 h=8 i=9 j=10 k=11 l=12 m=13 n=14",
		   "ftrace:many a=1 b=2 c=3 d=4 e=5 f=6 g=7 h=8 i=9 j=10 k=11 l='12 m=13 n=14'");
}

static void test_kinds(void **state)
{
	struct build t;

	(void)state;
	trace_begin(&t);
	t.ev.system = trace_text("mine");
	feed_event(&t, 100, 0, 7, "foo", "a=1");
	t.ev.system = trace_text("");
	feed_kind(&t, FTRACE_FUNCTION, 110, 0, 7, "vfs_read", "ksys_read");
	feed_kind(&t, FTRACE_FUNCTION, 111, 0, 7, "vfs_read", "");
	t.ev.count = 3;
	feed_kind(&t, FTRACE_FUNCTION_REPEATS, 112, 0, 7, "vfs_read", "ksys_read");
	feed_kind(&t, FTRACE_MARKER_RAW, 120, 0, 7, "1000", "01 02 03");
	feed_kind(&t, FTRACE_TEXT, 130, 0, 7, "", "#1 inner/outer(us): 3/4");
	feed_event(&t, 140, 0, FTRACE_ID_UNKNOWN, "foo", "");
	feed_event(&t, 150, 0, 0, "foo", "");
	feed_event(&t, 160, FTRACE_ID_UNKNOWN, FTRACE_ID_UNKNOWN, "foo", "");
	feed_event(&t, 170, 0, 7, "console", "hello\nworld");
	trace_end(&t);
	trace_has(&t, "instant 100 7/7 mine:foo a=1");
	trace_has(&t, "instant 110 7/7 function:vfs_read parent='ksys_read'");
	trace_has(&t, "instant 111 7/7 function:vfs_read");
	trace_has(&t, "instant 112 7/7 function:vfs_read parent='ksys_read' repeats=3ul");
	trace_has(&t, "instant 120 7/7 ftrace:raw_data id=1000 data='01 02 03'");
	trace_has(&t, "instant 130 7/7 ftrace:text text='#1 inner/outer(us): 3/4'");
	trace_has(&t, "instant 140 0/4200020000 mine:foo");
	trace_has(&t, "instant 150 0/4200010000 mine:foo");
	trace_has(&t, "object2 4200010000 'swapper/0' process=#0");
	trace_has(&t, "object2 4200020000 'CPU 0' process=#0");
	trace_has(&t, "object2 4200024096 'unknown CPU' process=#0");
	trace_has(&t, "log 170 7 hello\nworld");
	trace_has(&t, "instant 170 7/7 log:console text='hello\nworld'");
	assert_int_equal(t.stats.logs, 1);
	assert_int_equal(t.stats.instants, 9);
	trace_done(&t);
}

/* Text that is too long for any record is whole in a BLOB. */
static void test_long_text(void **state)
{
	static char text[100000];
	struct ftrace_event ev;
	struct build t;

	(void)state;
	memset(text, 'x', sizeof(text));
	trace_begin(&t);
	ev = t.ev;
	ev.kind = FTRACE_MARKER;
	ev.name = trace_text("tracing_mark_write");
	ev.args = (struct model_text){ text, sizeof(text) };
	assert_int_equal(ftrace_import_add(t.im, &ev), 0);
	trace_end(&t);
	trace_has_no(&t, "damaged");
	assert_has(t.text, "text_bytes=100000ul");
	assert_has(t.text, "\nblob\n");
	assert_true(t.m.len > sizeof(text));
	trace_done(&t);
}

/* ---- stacks ------------------------------------------------------------------------- */

static void test_stacks(void **state)
{
	struct build t;

	(void)state;
	trace_begin(&t);
	feed_sched(&t, 100, 0, 1, "S", 2);
	feed_kind(&t, FTRACE_STACK, 101, 0, 1, "", "f\ng");
	feed_event(&t, 110, 0, 2, "foo", "a=1");
	feed_kind(&t, FTRACE_STACK, 111, 0, 2, "", "h");
	feed_kind(&t, FTRACE_USER_STACK, 111, 0, 2, "", "u");
	feed_wake(&t, 120, 0, 2, "sched_waking", 1);
	feed_event(&t, 121, 1, 9, "foo", "");
	feed_kind(&t, FTRACE_STACK, 122, 0, 2, "", "k");	/* of the waking: another CPU came between */
	feed_wake(&t, 130, 0, 2, "sched_waking", 1);
	feed_kind(&t, FTRACE_STACK, 131, 0, 2, "", "n");	/* of one that is not written */
	feed_kind(&t, FTRACE_STACK, 140, 1, 8, "", "o");	/* of none */
	trace_end(&t);
	trace_has(&t, "switch 100 cpu0 1>2 blocked" W("120", "110") " stack='f\ng'");
	trace_has(&t, "instant 110 2/2 ftrace:foo a=1 stack='h' user_stack='u'");
	trace_has(&t, "wakeup 120 cpu1 1 weight=120 waker=#2 stack='k'");
	trace_has(&t, "instant 130 2/2 ftrace:stack stack='n'");
	trace_has(&t, "instant 140 8/8 ftrace:stack stack='o'");
	assert_int_equal(t.stats.stacks, 4);
	assert_int_equal(t.stats.records, 11);
	trace_done(&t);
}

/* ---- slices ------------------------------------------------------------------------- */

static void test_interrupts(void **state)
{
	struct build t;

	(void)state;
	trace_begin(&t);
	t.ev.in_irq = true;
	feed_event(&t, 100, 1, 5, "irq_handler_entry", "irq=24 name=ata1");
	feed_event(&t, 110, 1, 5, "irq_handler_exit", "irq=24 ret=handled");
	feed_event(&t, 120, 1, 5, "softirq_entry", "vec=1 [action=TIMER]");
	feed_event(&t, 121, 1, 5, "timer_expire_entry", "timer=00000000c043922d function=f now=1");
	feed_event(&t, 122, 1, 5, "local_timer_entry", "vector=236");
	feed_event(&t, 123, 1, 5, "hrtimer_expire_entry", "hrtimer=00000000c043922d function=g now=1");
	feed_event(&t, 124, 1, 5, "hrtimer_expire_exit", "hrtimer=00000000c043922d");
	feed_event(&t, 125, 1, 5, "local_timer_exit", "vector=236");
	feed_event(&t, 126, 1, 5, "timer_expire_exit", "timer=00000000c043922d");
	feed_event(&t, 130, 1, 5, "softirq_exit", "vec=1 [action=TIMER]");
	feed_event(&t, 140, 1, 5, "ipi_entry", "(Rescheduling interrupts)");
	feed_event(&t, 141, 1, 5, "ipi_exit", "(Rescheduling interrupts)");
	feed_event(&t, 150, 1, 5, "softirq_exit", "vec=9 [action=RCU]");
	t.ev.in_irq = false;	/* as where no flags are printed */
	feed_event(&t, 160, 1, 5, "hrtimer_expire_entry", "hrtimer=00000000c043922d function=h now=1");
	feed_event(&t, 161, 1, 5, "hrtimer_expire_exit", "hrtimer=00000000c043922d");
	trace_end(&t);
	trace_has(&t, "duration_begin 100 4200000001/4200030001 irq:IRQ (ata1) irq=24 name='ata1'");
	trace_has(&t, "duration_end 110 4200000001/4200030001 irq:IRQ (ata1) irq=24 ret='handled'");
	trace_has(&t, "duration_begin 120 4200000001/4200040001 irq:TIMER vec=1 action='TIMER'");
	trace_has(&t, "duration_begin 121 4200000001/4200040001 timer:f ...");
	trace_has(&t, "duration_begin 122 4200000001/4200030001 irq_vectors:local_timer vector=236");
	trace_has(&t, "duration_begin 123 4200000001/4200030001 timer:g ...");
	trace_has(&t, "duration_end 124 4200000001/4200030001 timer:g ...");
	trace_has(&t, "duration_end 126 4200000001/4200040001 timer:f ...");
	trace_has(&t, "duration_end 130 4200000001/4200040001 irq:TIMER ...");
	trace_has(&t, "duration_begin 140 4200000001/4200030001 ipi:IPI (Rescheduling interrupts) ...");
	trace_has(&t, "object2 4200030001 'irq CPU 1' process=#4200000001");
	trace_has(&t, "object2 4200040001 'softirq CPU 1' process=#4200000001");
	trace_has(&t, "duration_begin 160 4200000001/4200030001 timer:h ...");
	trace_has(&t, "duration_end 161 4200000001/4200030001 timer:h ...");
	assert_int_equal(t.stats.slices, 14);
	assert_int_equal(t.stats.unmatched_ends, 1);
	assert_int_equal(t.stats.instants, 1);
	trace_done(&t);
}

static void test_pairs(void **state)
{
	struct build t;

	(void)state;
	trace_begin(&t);
	feed_event(&t, 100, 0, 5, "ext4_sync_file_enter", "dev 8,0 ino 12");
	feed_event(&t, 110, 0, 5, "mm_compaction_begin", "sync=1");
	feed_event(&t, 120, 0, 5, "ext4_sync_file_exit", "ret=0");	/* closes the one inside */
	feed_event(&t, 130, 0, 5, "foo_start", "");
	feed_event(&t, 140, 0, 5, "foo_done", "");
	feed_event(&t, 150, 0, 5, "hrtimer_start", "hrtimer=1");
	feed_event(&t, 160, 0, 5, "workqueue_execute_start",
	      "work struct 00000000897c91b4: function delayed_vfree_work");
	feed_event(&t, 170, 0, 5, "workqueue_execute_end", "work struct 00000000897c91b4");
	feed_event(&t, 180, 0, 5, "suspend_resume", "dpm_suspend[2] begin");
	feed_event(&t, 190, 0, 5, "suspend_resume", "dpm_suspend[2] end");
	feed_event(&t, 195, 0, 5, "irq_disable", "caller=a parent=b");
	feed_event(&t, 196, 0, 5, "irq_enable", "caller=a parent=b");
	feed_event(&t, 200, 0, 5, "bar_begin", "");
	trace_end(&t);
	trace_has(&t, "duration_begin 100 5/5 ext4:ext4_sync_file text='dev 8,0 ino 12'");
	trace_has(&t, "duration_end 120 5/5 compaction:mm_compaction");
	trace_has(&t, "duration_end 120 5/5 ext4:ext4_sync_file ret=0");
	trace_has(&t, "duration_end 140 5/5 ftrace:foo");
	trace_has(&t, "instant 150 5/5 timer:hrtimer_start hrtimer=1");
	trace_has(&t, "duration_begin 160 5/5 workqueue:delayed_vfree_work ...");
	trace_has(&t, "duration_end 170 5/5 workqueue:delayed_vfree_work ...");
	trace_has(&t, "async_end 190 4200000004/4200000004 power:dpm_suspend[2] ...");
	trace_has(&t, "duration_begin 195 4200000001/4200060000 irq:irq_disable caller='a' parent='b'");
	trace_has(&t, "duration_end 200 5/5 ftrace:bar");
	assert_int_equal(t.stats.closed_slices, 2);
	assert_int_equal(t.stats.slices, 12);
	trace_done(&t);
}

/* Where ends are not traced, beginnings are no slices. */
static void test_one_sided(void **state)
{
	struct build t;

	(void)state;
	trace_begin(&t);
	feed_event(&t, 100, 0, 5, "foo_entry", "");
	feed_event(&t, 110, 0, 5, "foo_entry", "");
	feed_event(&t, 120, 0, 5, "foo_entry", "");
	feed_event(&t, 130, 0, 5, "foo_exit", "");		/* there are ends after all */
	feed_event(&t, 140, 0, 5, "foo_entry", "");
	feed_event(&t, 150, 0, 5, "foo_exit", "");
	trace_end(&t);
	trace_has(&t, "duration_begin 100 5/5 ftrace:foo");
	trace_has(&t, "duration_end 100 5/5 ftrace:foo");
	trace_has(&t, "instant 110 5/5 ftrace:foo_entry");
	trace_has(&t, "instant 120 5/5 ftrace:foo_entry");
	trace_has(&t, "instant 130 5/5 ftrace:foo_exit");
	trace_has(&t, "duration_begin 140 5/5 ftrace:foo");
	trace_has(&t, "duration_end 150 5/5 ftrace:foo");
	assert_int_equal(t.stats.unmatched_ends, 1);
	assert_int_equal(t.stats.closed_slices, 1);
	trace_done(&t);
}

/* Clocks of CPUs differ a little; a slice never ends before it begins. */
static void test_back_in_time(void **state)
{
	struct build t;

	(void)state;
	trace_begin(&t);
	feed_event(&t, 5000000, 0, 5, "foo_entry", "");
	feed_event(&t, 4999000, 1, 5, "foo_exit", "");
	feed_event(&t, 6000000, 0, 5, "foo_entry", "");
	feed_event(&t, 1000000, 1, 5, "foo_exit", "");
	trace_end(&t);
	trace_has(&t, "duration_end 5000000 5/5 ftrace:foo");
	trace_has(&t, "instant 1000000 5/5 ftrace:foo_exit");
	trace_done(&t);
}

static void test_depth(void **state)
{
	struct build t;
	int i;

	(void)state;
	trace_begin(&t);
	for (i = 0; i < 600; i++)
		feed_marker(&t, 100 + (uint64_t)i, 0, 5, "B|5|deep");
	for (i = 0; i < 600; i++)
		feed_marker(&t, 1000 + (uint64_t)i, 0, 5, "E|5");
	trace_end(&t);
	assert_int_equal(t.stats.slices, 1000);
	assert_int_equal(t.stats.instants, 200);
	assert_int_equal(t.stats.unmatched_ends, 0);
	assert_int_equal(t.stats.closed_slices, 0);
	trace_done(&t);
}

/* ---- calls ---------------------------------------------------------------------------- */

static void test_syscalls(void **state)
{
	struct build t;

	(void)state;
	trace_begin(&t);
	feed_kind(&t, FTRACE_SYSCALL_EXIT, 90, 0, 5, "clone", "0x0");
	feed_kind(&t, FTRACE_SYSCALL_ENTER, 100, 0, 5, "openat",
	     "dfd: 0xffffff9c, filename: 0x35bb288 \"/bin/a, b: c\", flags: O_RDONLY, mode: 0666, n: 3");
	feed_kind(&t, FTRACE_SYSCALL_EXIT, 110, 0, 5, "openat", "0xfffffffffffffffe");
	feed_kind(&t, FTRACE_SYSCALL_ENTER, 120, 0, 5, "read", "fd: 3");
	feed_kind(&t, FTRACE_SYSCALL_ENTER, 130, 0, 5, "write", "fd: 3");	/* of read no end came */
	feed_kind(&t, FTRACE_SYSCALL_EXIT, 140, 0, 5, "write", "0x2");
	feed_event(&t, 150, 0, 5, "sys_enter", "NR 257 (ffffff9c, 7f00, 0, 0, 0, 0)");
	feed_event(&t, 160, 0, 5, "sys_exit", "NR 257 = 3");
	feed_event(&t, 170, 0, 5, "sys_enter_close", "fd: 0x00000003");
	feed_event(&t, 180, 0, 5, "sys_exit_close", "0x0");
	trace_end(&t);
	trace_has(&t, "instant 90 5/5 syscalls:sys_clone ret=0l");
	trace_has(&t, "duration_begin 100 5/5 syscalls:sys_openat dfd=4294967196u filename='0x35bb288 \"/bin/a, b: c\"' flags='O_RDONLY' mode='0666' n=3");
	trace_has(&t, "duration_end 110 5/5 syscalls:sys_openat ret=-2l");
	trace_has(&t, "duration_end 130 5/5 syscalls:sys_read");
	trace_has(&t, "duration_end 140 5/5 syscalls:sys_write ret=2l");
	trace_has(&t, "duration_begin 150 5/5 syscalls:syscall 257 args='ffffff9c, 7f00, 0, 0, 0, 0'");
	trace_has(&t, "duration_end 160 5/5 syscalls:syscall 257 ret=3l");
	trace_has(&t, "duration_end 180 5/5 syscalls:sys_close ret=0l");
	assert_int_equal(t.stats.unmatched_ends, 1);
	assert_int_equal(t.stats.closed_slices, 1);
	trace_done(&t);
}

static void graph(struct build *t, enum ftrace_kind k, uint64_t ts, unsigned int depth,
		  const char *name, uint64_t duration_ns)
{
	t->ev.depth = depth;
	t->ev.has_duration = duration_ns > 0;
	t->ev.duration_ns = duration_ns;
	feed_kind(t, k, ts, 0, t->ev.tid, name, "");
	t->ev.has_duration = false;
}

static void test_graph(void **state)
{
	struct build t;

	(void)state;
	trace_begin(&t);
	t.ev.tid = 5;
	graph(&t, FTRACE_GRAPH_EXIT, 90, 0, "before", 10);
	graph(&t, FTRACE_GRAPH_ENTRY, 1000, 0, "f", 0);
	graph(&t, FTRACE_GRAPH_LEAF, 1000, 1, "leaf", 1500);
	graph(&t, FTRACE_GRAPH_LEAF, 2000, 1, "next", 100);	/* printed times are rounded */
	graph(&t, FTRACE_GRAPH_ENTRY, 3000, 1, "never", 0);
	graph(&t, FTRACE_GRAPH_IRQ_ENTRY, 3100, 0, "", 0);
	graph(&t, FTRACE_GRAPH_IRQ_EXIT, 3200, 0, "", 0);
	graph(&t, FTRACE_GRAPH_EXIT, 4000, 0, "", 3000);
	trace_end(&t);
	trace_has(&t, "instant 90 5/5 function_graph:before duration_ns=10ul");
	trace_has(&t, "duration_begin 1000 5/5 function_graph:f");
	trace_has(&t, "duration_begin 1000 5/5 function_graph:leaf duration_ns=1500ul");
	trace_has(&t, "duration_end 2000 5/5 function_graph:leaf");
	trace_has(&t, "duration_end 2100 5/5 function_graph:next");
	trace_has(&t, "duration_begin 3100 5/5 function_graph:interrupt");
	trace_has(&t, "duration_end 4000 5/5 function_graph:never");
	trace_has(&t, "duration_end 4000 5/5 function_graph:f duration_ns=3000ul");
	assert_int_equal(t.stats.records, 10);
	assert_int_equal(t.stats.slices, 9);
	assert_int_equal(t.stats.unmatched_ends, 1);
	trace_done(&t);
}

/* Without times the durations are the CPU's clock; ruled blocks tell the thread. */
static void test_graph_no_time(void **state)
{
	struct build t;

	(void)state;
	trace_begin(&t);
	t.ev.clock = MODEL_CLOCK_NONE;
	t.ev.tid = FTRACE_ID_UNKNOWN;
	graph(&t, FTRACE_GRAPH_LEAF, 0, 0, "first", 100);
	t.ev.comm = trace_text("init");
	feed_kind(&t, FTRACE_TASK_SWITCH, 0, 0, 5, "", "");
	t.ev.comm = trace_text("");
	graph(&t, FTRACE_GRAPH_ENTRY, 0, 0, "f", 0);
	graph(&t, FTRACE_GRAPH_LEAF, 0, 1, "leaf", 50);
	graph(&t, FTRACE_GRAPH_EXIT, 0, 0, "", 400);
	trace_end(&t);
	trace_has(&t, "ticks 1000000000");
	trace_has(&t, "duration_begin 0 0/4200020000 function_graph:first duration_ns=100ul");
	trace_has(&t, "duration_end 100 0/4200020000 function_graph:first");
	trace_has(&t, "duration_begin 100 5/5 function_graph:f");
	trace_has(&t, "duration_end 150 5/5 function_graph:leaf");
	trace_has(&t, "duration_end 500 5/5 function_graph:f duration_ns=400ul");
	trace_has(&t, "object2 5 'init' process=#5");
	trace_done(&t);
}

/* ---- markers -------------------------------------------------------------------------- */

static void test_atrace(void **state)
{
	struct build t;

	(void)state;
	trace_begin(&t);
	feed_marker(&t, 100, 0, 5, "E|5");
	feed_marker(&t, 101, 0, 5, "B|5|a | b|c");
	feed_marker(&t, 102, 0, 5, "E");
	feed_marker(&t, 103, 0, 5, "C|77|count|-5");
	feed_marker(&t, 104, 0, 5, "C|77|count|1.5");
	feed_marker(&t, 105, 0, 5, "C|77|cat count|12|cat");
	feed_marker(&t, 106, 0, 5, "S|5|async|0x10");
	feed_marker(&t, 107, 0, 5, "S|5|async|11");
	feed_marker(&t, 108, 0, 5, "F|5|async|0x10");
	feed_marker(&t, 109, 0, 5, "F|5|other|0x10");
	feed_marker(&t, 110, 0, 5, "G|5|track|span|5");
	feed_marker(&t, 111, 0, 5, "H|5|track|5");
	feed_marker(&t, 112, 0, 5, "I|5|inst");
	feed_marker(&t, 113, 0, 5, "N|5|track|inst|2");
	feed_marker(&t, 114, 0, 5, "X|5|what");
	feed_marker(&t, 115, 0, 5, "plain text");
	feed_marker(&t, 116, 0, 5, "B|abc|bad");
	feed_marker(&t, 117, 0, 5, "trace_event_clock_sync: parent_ts=12.345678");
	feed_marker(&t, 118, 0, 5, "sched_switch: prev_comm=fake prev_pid=1");
	feed_event(&t, 119, 0, 5, "print", "B|5|open");
	trace_end(&t);
	trace_has(&t, "instant 100 5/5 ftrace:tracing_mark_write text='E|5'");
	trace_has(&t, "duration_begin 101 5/5 atrace:a | b|c");
	trace_has(&t, "duration_end 102 5/5 atrace:a | b|c");
	trace_has(&t, "counter 103 77/5 atrace:count id=0 value=-5");
	trace_has(&t, "counter 104 77/5 atrace:count id=0 value=1.5d");
	trace_has(&t, "counter 105 77/5 cat:cat count id=0 value=12");
	trace_has(&t, "object1 77 ''");
	trace_has(&t, "async_begin 106 5/5 atrace:async id=1 cookie='0x10'");
	trace_has(&t, "async_begin 107 5/5 atrace:async id=2 cookie='11'");
	trace_has(&t, "async_end 108 5/5 atrace:async id=1 cookie='0x10'");
	trace_has(&t, "instant 109 5/5 atrace:other cookie='0x10'");
	trace_has(&t, "async_begin 110 5/5 atrace:span id=3 track='track' cookie='5'");
	trace_has(&t, "async_end 111 5/5 atrace:span id=3 track='track' cookie='5'");
	trace_has(&t, "instant 112 5/5 atrace:inst");
	trace_has(&t, "instant 113 5/5 atrace:inst|2 track='track'");
	trace_has(&t, "instant 114 5/5 ftrace:tracing_mark_write text='X|5|what'");
	trace_has(&t, "instant 115 5/5 ftrace:tracing_mark_write text='plain text'");
	trace_has(&t, "instant 116 5/5 ftrace:tracing_mark_write text='B|abc|bad'");
	trace_has(&t, "instant 117 5/5 clock_sync:trace_event_clock_sync parent_ts='12.345678'");
	trace_has(&t, "instant 118 5/5 ftrace:tracing_mark_write text='sched_switch: prev_comm=fake prev_pid=1'");
	trace_has(&t, "async_end 119 5/5 atrace:async id=2");
	trace_has(&t, "duration_end 119 5/5 atrace:open");
	assert_int_equal(t.stats.counters, 3);
	assert_int_equal(t.stats.unmatched_ends, 2);
	assert_int_equal(t.stats.closed_slices, 2);
	trace_done(&t);
}

/* Markers written inside of traced calls must not end with them. */
static void test_marker_in_call(void **state)
{
	struct build t;

	(void)state;
	trace_begin(&t);
	t.ev.comm = trace_text("app");
	feed_kind(&t, FTRACE_SYSCALL_ENTER, 100, 0, 5, "write", "fd: 3");
	feed_marker(&t, 101, 0, 5, "B|5|work");
	feed_kind(&t, FTRACE_SYSCALL_EXIT, 102, 0, 5, "write", "0x8");
	feed_kind(&t, FTRACE_SYSCALL_ENTER, 200, 0, 5, "write", "fd: 3");
	feed_marker(&t, 201, 0, 5, "E|5");
	feed_kind(&t, FTRACE_SYSCALL_EXIT, 202, 0, 5, "write", "0x8");
	trace_end(&t);
	trace_has(&t, "duration_begin 101 5/4201000000 atrace:work");
	trace_has(&t, "duration_end 102 5/5 syscalls:sys_write ret=8l");
	trace_has(&t, "duration_end 201 5/4201000000 atrace:work");
	trace_has(&t, "object2 4201000000 'app markers' process=#5");
	assert_int_equal(t.stats.closed_slices, 0);
	trace_done(&t);
}

/* ---- counters --------------------------------------------------------------------------- */

static void test_counters(void **state)
{
	struct build t;

	(void)state;
	trace_begin(&t);
	t.ev.comm = trace_text("app");
	feed_event(&t, 100, 0, 5, "cpu_frequency", "state=1800000 cpu_id=3");
	feed_event(&t, 101, 0, 5, "cpu_idle", "state=4294967295 cpu_id=1");
	feed_event(&t, 102, 0, 5, "cpu_frequency_limits", "min=100 max=200 cpu_id=1");
	feed_event(&t, 103, 0, 5, "clock_set_rate", "gpu_clk state=5 cpu_id=0");
	feed_event(&t, 104, 0, 5, "thermal_temperature",
	      "thermal_zone=cpu-0 id=2 temp_prev=1 temp=-40000");
	feed_event(&t, 105, 0, 5, "rss_stat", "mm_id=1 curr=1 type=MM_ANONPAGES size=8192B");
	feed_event(&t, 105, 0, 6, "rss_stat", "mm_id=1 curr=0 type=MM_FILEPAGES size=1B");
	feed_event(&t, 106, 0, 5, "rss_stat", "mm_id=2 curr=0 member=1 size=4096");
	feed_event(&t, 107, 0, 5, "cpu_frequency", "cpu_id=3");
	feed_event(&t, 108, 0, 5, "oom_score_adj_update", "pid=77 comm=victim oom_score_adj=-900");
	feed_event(&t, 109, 0, 5, "clk_set_rate", "gpu_clk 500");
	feed_event(&t, 110, 0, 5, "clk_set_rate", "gpu_clk");
	trace_end(&t);
	trace_has(&t, "counter 100 4200000003/4200000003 power:cpu_frequency id=3 state=1800000");
	trace_has(&t, "counter 101 4200000003/4200000003 power:cpu_idle id=1 state=-1");
	trace_has(&t, "counter 102 4200000003/4200000003 power:cpu_frequency_limits id=1 min=100 max=200");
	trace_has(&t, "counter 103 4200000003/4200000003 power:clock_set_rate id=0 gpu_clk=5");
	trace_has(&t, "counter 104 4200000003/4200000003 thermal:thermal_temperature id=2 cpu-0=-40000");
	trace_has(&t, "counter 105 5/5 kmem:rss_stat id=0 MM_ANONPAGES=8192");
	trace_has(&t, "counter 105 5/5 kmem:rss_stat id=0 MM_FILEPAGES=1");
	trace_has(&t, "counter 106 4200000003/4200000003 kmem:rss_stat id=0 1=4096");
	trace_has(&t, "instant 107 5/5 power:cpu_frequency cpu_id=3");
	trace_has(&t, "counter 108 77/77 oom:oom_score_adj_update id=0 oom_score_adj=-900");
	trace_has(&t, "counter 109 4200000003/4200000003 ftrace:clk_set_rate id=0 gpu_clk=500");
	trace_has(&t, "instant 110 5/5 ftrace:clk_set_rate text='gpu_clk'");
	assert_int_equal(t.stats.counters, 10);
	trace_done(&t);
}

static void test_async_events(void **state)
{
	struct build t;

	(void)state;
	trace_begin(&t);
	feed_event(&t, 100, 0, 5, "block_rq_issue", "8,0 WS 4096 () 123456 + 8 [kworker/0:1]");
	feed_event(&t, 200, 1, 6, "block_rq_complete", "8,0 WS () 123456 + 8 [0]");
	feed_event(&t, 300, 0, 5, "binder_transaction",
	      "transaction=7 dest_node=1 dest_proc=2 dest_thread=0 reply=0 flags=0x10 code=0x3");
	feed_event(&t, 310, 1, 6, "binder_transaction_received", "transaction=7");
	feed_event(&t, 400, 0, 5, "block_io_start", "8,0 R 4096 () 200 + 8 none,0,0 [cat]");
	feed_event(&t, 410, 0, 5, "block_io_start", "8,0 R 4096 () 300 + 8 none,0,0 [cat]");
	feed_event(&t, 420, 0, 5, "block_rq_issue", "8,0 R 4096 () 200 + 8 [cat]");
	feed_event(&t, 430, 0, 0, "block_io_done", "8,0 R 0 () 200 + 0 none,0,0 [swapper/0]");
	feed_event(&t, 440, 0, 6, "block_io_done", "8,0 R 0 () 300 + 0 none,0,0 [a]");
	trace_end(&t);
	trace_has(&t, "async_begin 400 5/5 block:R id=2 ...");
	trace_has(&t, "async_end 430 0/4200010000 block:R id=2 ...");
	trace_has(&t, "async_end 440 6/6 block:R id=3 ...");
	trace_has(&t, "async_begin 100 5/5 block:WS id=1 ...");
	trace_has(&t, "async_end 200 6/6 block:WS id=1 ...");
	trace_has(&t, "instant 300 5/5 binder:binder_transaction transaction=7 ...");
	trace_has(&t, "flow_begin 300 5/5 binder:binder transaction id=7");
	trace_has(&t, "flow_end 310 6/6 binder:binder transaction id=7");
	trace_done(&t);
}

/* ---- clocks ------------------------------------------------------------------------------- */

static void test_ticks(void **state)
{
	struct build t;

	(void)state;
	trace_begin_rate(&t, 2400000000);
	t.ev.clock = MODEL_CLOCK_TICKS;
	feed_sched(&t, 12345678901234567, 0, 1, "S", 2);
	trace_end(&t);
	trace_has(&t, "ticks 2400000000");
	trace_has(&t, "switch 12345678901234567 cpu0 1>2 blocked" W("120", "110"));
	trace_done(&t);

	trace_begin(&t);
	t.ev.clock = MODEL_CLOCK_TICKS;
	feed_sched(&t, 17, 0, 1, "S", 2);
	trace_end(&t);
	trace_has(&t, "ticks 1000000000");
	trace_done(&t);
}

/* Another trace with another clock in the same input: a provider of its own. */
static void test_two_clocks(void **state)
{
	struct build t;

	(void)state;
	trace_begin_rate(&t, 1000);
	feed_kind(&t, FTRACE_TRACE, 0, FTRACE_ID_UNKNOWN, FTRACE_ID_UNKNOWN, "nop", "");
	feed_sched(&t, 1000, 0, 1, "S", 2);
	feed_marker(&t, 1100, 0, 2, "B|2|open");
	feed_kind(&t, FTRACE_TRACE, 0, FTRACE_ID_UNKNOWN, FTRACE_ID_UNKNOWN, "nop", "");
	t.ev.clock = MODEL_CLOCK_TICKS;
	feed_sched(&t, 5000, 0, 7, "S", 2);
	feed_wake(&t, 5001, 0, 2, "sched_waking", 1);
	trace_end(&t);
	trace_has(&t, "duration_end 1100 2/2 atrace:open");
	trace_has(&t, "switch 1100 cpu0 2>0 running" W("110", NONE) " mark='stop'");
	trace_has(&t, "ticks 1000000000");
	trace_has(&t, "ticks 1000");
	trace_has(&t, "switch 5000 cpu0 0>7 running" W(NONE, "120") " mark='start'");
	trace_has(&t, "switch 5001 cpu0 2>0 running" W("110", NONE) " mark='stop'");
	trace_has(&t, "wakeup 5001 cpu1 1 weight=120 waker=#2");
	trace_done(&t);
}

static void test_empty(void **state)
{
	struct build t;

	(void)state;
	trace_begin(&t);
	trace_end(&t);
	trace_has(&t, "ticks 1000000000");
	assert_int_equal(t.stats.records, 0);
	trace_done(&t);
}

/* A record that no stack can follow is written at once, and not kept until the next one. */
static void test_nothing_is_held_without_need(void **state)
{
	struct builder_stats stats;
	struct build t;

	(void)state;
	trace_begin(&t);
	feed_event(&t, 100, 0, 7, "foo", "a=1");
	builder_stats(t.b, &stats);
	assert_int_equal(stats.records, 0);
	t.ev.stack_follows = false;
	feed_event(&t, 110, 0, 7, "foo", "a=2");
	feed_event(&t, 120, 0, 7, "foo", "a=3");
	builder_stats(t.b, &stats);
	assert_int_equal(stats.records, 3);
	t.ev.stack_follows = true;
	feed_event(&t, 130, 0, 7, "foo", "a=4");
	feed_kind(&t, FTRACE_STACK, 130, 0, 7, "kernel_stack", "f\ng");
	t.ev.stack_follows = false;
	feed_event(&t, 140, 0, 7, "foo", "a=5");
	trace_end(&t);
	trace_has(&t, "instant 110 7/7 ftrace:foo a=2");
	trace_has(&t, "instant 130 7/7 ftrace:foo a=4 stack='f\ng'");
	trace_has(&t, "instant 140 7/7 ftrace:foo a=5");
	assert_int_equal(t.stats.stacks, 1);
	trace_done(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_typed_args),
		cmocka_unit_test(test_kinds),
		cmocka_unit_test(test_long_text),
		cmocka_unit_test(test_stacks),
		cmocka_unit_test(test_interrupts),
		cmocka_unit_test(test_pairs),
		cmocka_unit_test(test_one_sided),
		cmocka_unit_test(test_back_in_time),
		cmocka_unit_test(test_depth),
		cmocka_unit_test(test_syscalls),
		cmocka_unit_test(test_graph),
		cmocka_unit_test(test_graph_no_time),
		cmocka_unit_test(test_atrace),
		cmocka_unit_test(test_marker_in_call),
		cmocka_unit_test(test_counters),
		cmocka_unit_test(test_async_events),
		cmocka_unit_test(test_ticks),
		cmocka_unit_test(test_two_clocks),
		cmocka_unit_test(test_nothing_is_held_without_need),
		cmocka_unit_test(test_empty),
	};

	return cmocka_run_group_tests_name("build_events", tests, NULL, NULL);
}
