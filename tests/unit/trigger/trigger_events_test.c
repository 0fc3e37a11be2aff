// SPDX-License-Identifier: GPL-2.0
/*
 * Unit tests of triggers on events: interrupts, calls, lines of the log, markers, exits, pressure.
 */
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "trigger_made.h"

static const struct {
	const char *word, *why;
} bad_words[] = {
	{ "irq>1ms:comm=x", "irq>1ms:comm=x: this trigger is about no thread and takes no selectors" },
	{ "irq:x>1ms", "irq:x>1ms: after irq comes '>', as in irq>1ms" },
	{ "syscall>1ms", "syscall>1ms: after syscall comes ':', as in syscall:fsync>100ms" },
	{ "syscall:>1ms", "syscall:>1ms: a name is needed, then '>' and a time" },
	{ "func:x", "func:x: a name is needed, then '>' and a time" },
	{ "func:usdt:libc:setjmp>1s", "func:usdt:libc:setjmp>1s: a function of a program is PATH:NAME, and a USDT probe has no length" },
	{ "func:libc:>1s", "func:libc:>1s: a function of a program is PATH:NAME, and a USDT probe has no length" },
	{ "func:x>1", "func:x>1: a time needs a unit: ns, us, ms, s, m or h" },
	{ "log~", "log~: a regular expression is needed" },
	{ "log~[a", "log~[a: the regular expression has a [ without a ]" },
	{ "log~a(b", "log~a(b: the regular expression has a parenthesis without its other half" },
	{ "log~(.*)\\1x", "log~(.*)\\1x: the regular expression has a back-reference, for which one text could take forever" },
	{ "log~a++++++++++", "log~a++++++++++: the repetitions of the regular expression would take too much memory" },
	{ "mark=", "mark=: the text of the marker is needed, or a glob" },
	{ "event=oom", "event=oom: not a tracepoint such as oom:mark_victim or sched:sched_process_exec/pid > 1000/" },
	{ "event=oom:", "event=oom:: not a tracepoint such as oom:mark_victim or sched:sched_process_exec/pid > 1000/" },
	{ "event=a:b//", "event=a:b//: not a tracepoint such as oom:mark_victim or sched:sched_process_exec/pid > 1000/" },
	{ "event=syscalls:read", "event=syscalls:read: of a system call the tracepoints are syscalls:sys_enter_NAME and syscalls:sys_exit_NAME; the whole of it is syscall:NAME>TIME" },
	{ "event=a:b*", "event=a:b*: not a tracepoint such as oom:mark_victim or sched:sched_process_exec/pid > 1000/" },
	{ "event=a:b:c", "event=a:b:c: unknown selector (there are :comm=GLOB, cgroup=DIR, container=ID, unit=GLOB, pid=N)" },
	{ "event=a:b/c/d", "event=a:b/c/d: not a tracepoint such as oom:mark_victim or sched:sched_process_exec/pid > 1000/" },
	{ "event=a:b/c/:d=e", "event=a:b/c/:d=e: unknown selector (there are :comm=GLOB, cgroup=DIR, container=ID, unit=GLOB, pid=N)" },
	{ "event=a:b//:pid=1", "event=a:b//:pid=1: not a tracepoint such as oom:mark_victim or sched:sched_process_exec/pid > 1000/" },
	{ "exit:", "exit:: after exit: a selector is needed: comm=GLOB, cgroup=DIR, container=ID, unit=GLOB, pid=N, signal, code" },
	{ "exit:signals", "exit:signals: after exit: a selector is needed: comm=GLOB, cgroup=DIR, container=ID, unit=GLOB, pid=N, signal, code" },
	{ "exit:signal=", "exit:signal=: a selector has no value" },
	{ "exit:signal=SIGNO", "exit:signal=SIGNO: signal= takes a signal: SEGV, SIGSEGV or 11" },
	{ "exit:signal=0", "exit:signal=0: signal= takes a signal: SEGV, SIGSEGV or 11" },
	{ "exit:signal=65", "exit:signal=65: signal= takes a signal: SEGV, SIGSEGV or 11" },
	{ "exit:code=256", "exit:code=256: code= takes a number from 0 to 255" },
	{ "exit:code:signal", "exit:code:signal: an exit has one signal or one code" },
	{ "exit:comm=a:name=b", "exit:comm=a:name=b: unknown selector (there are :comm=GLOB, cgroup=DIR, container=ID, unit=GLOB, pid=N, signal and code)" },
	{ "runq>5ms:signal=9", "runq>5ms:signal=9: unknown selector (there are :comm=GLOB, cgroup=DIR, container=ID, unit=GLOB, pid=N)" },
	{ "psi:disk:some>1s/2s", "psi:disk:some>1s/2s: after psi: comes a resource: cpu, memory or io" },
	{ "psi:io:some=x", "psi:io:some=x: after psi: comes a resource: cpu, memory or io" },
	{ "psi:io>1s/2s", "psi:io>1s/2s: after psi: comes a resource: cpu, memory or io" },
	{ "psi:io:any>1s/2s",
	  "psi:io:any>1s/2s: after the resource comes :some>TIME/WINDOW or :full>TIME/WINDOW" },
	{ "psi:io:some>1s/1s",
	  "psi:io:some>1s/1s: the window must be from 500ms to 10s, and longer than the time" },
	{ "psi:io:some>1s/1m",
	  "psi:io:some>1s/1m: the window must be from 500ms to 10s, and longer than the time" },
};

static void test_words(void **state)
{
	static const char *const good[] = {
		"irq>1ms", "syscall:read>100ms", "syscall:*>1s:comm=db*", "func:vfs_*>10ms:pid=3", "func:/bin/a:b*>1ms:comm=c",
		"log~soft lockup|hung: x", "mark=a:comm=b", "event=oom:mark_victim",
		"event=sched:sched_process_exec/pid > 9/", "event=syscalls:sys_enter_read", "exit:comm=db*", "exit:pid=3:comm=x", "exit:signal", "exit:comm=a:b:signal=SIGSEGV", "exit:signal=9:pid=3", "exit:code=0",
		"exit:comm=x:code", "psi:io:full>150ms/1s", "event=oom:mark_victim:cgroup=/a/b:comm=c",
		"event=a:b/f == \"/:comm=x/\" || g ~ */c:d/e*/:pid=3:comm=d:e", "event=a:b/f ~ /bin/*/",
	};
	static const char *const sources[] = {
		"irq", "syscalls:read", "syscalls:*", "func:vfs_*", "user:/bin/a:b*", "log", "marker", "oom:mark_victim",
		"sched:sched_process_exec/pid > 9/", "syscalls:sys_enter_read",
		"oom:mark_victim", "a:b/f == \"/:comm=x/\" || g ~ */c:d/e*/", "a:b/f ~ /bin/*/",
	};
	char why[TRIGGER_WHY_BYTES];
	struct trigger_source source;
	struct triggers *t;
	size_t i, cnt = 0;

	(void)state;
	assert_int_equal(triggers_open(&t), 0);
	for (i = 0; i < sizeof(good) / sizeof(good[0]); i++)
		assert_int_equal(triggers_add(t, good[i], why, sizeof(why)), 0);
	for (i = 0; i < sizeof(bad_words) / sizeof(bad_words[0]); i++) {
		assert_int_equal(triggers_add(t, bad_words[i].word, why, sizeof(why)), -22);
		assert_string_equal(why, bad_words[i].why);
	}
	for (i = 0; triggers_source(t, (unsigned int)i, &source); i++) {
		assert_string_equal(source.word, good[i]);
		if (source.source)
			assert_string_equal(source.source, sources[cnt++]);
	}
	assert_int_equal(i, sizeof(good) / sizeof(good[0]));
	assert_int_equal(cnt, sizeof(sources) / sizeof(sources[0]));
	triggers_close(t);
}

/* Slices: thresholds are exclusive, and names are globs. */
static void test_slices(void **state)
{
	static const char *const words[] = {
		"irq>5ms", "syscall:read>5ms:comm=db*", "func:vfs_*>5ms", "syscall:*>20ms", "func:libdb:com*>2ms", NULL,
	};
	const struct trigger_fired *f;
	struct stream m;

	(void)state;
	stream_open(&m, words);
	stream_thread(&m, 71, 70, "dbx");
	stream_slice(&m, 71, "syscalls", "read", 10, 15);
	stream_slice(&m, 71, "syscalls", "read", 20, 26);
	stream_slice(&m, 72, "syscalls", "read", 20, 26);
	stream_slice(&m, 71, "syscalls", "write", 30, 50);
	stream_slice(&m, 71, "syscalls", "write", 60, 81);
	stream_slice(&m, 71, "function", "do_sys", 60, 81);
	stream_slice(&m, 71, "function", "vfs_read", 60, 65);
	stream_slice(&m, 71, "function", "commit", 62, 65);
	stream_slice(&m, 71, "function", "vfs_read", 60, 66);
	stream_slice(&m, 4200030000, "irq", "TIMER", 60, 65);
	stream_slice(&m, 4200030000, "irq", "TIMER", 70, 76);
	stream_slice(&m, 4200030000, "irq_vectors", "local_timer", 70, 77);
	stream_slice(&m, 71, "workqueue", "read", 70, 99);
	stream_round(&m, 100);
	f = stream_fired(&m, "syscall:read>5ms:comm=db*", 6);
	assert_int_equal(f->thread, 71);
	assert_int_equal(f->from_ns, 20 * STREAM_MS);
	assert_string_equal(f->text, "read");
	assert_string_equal(f->comm, "dbx");
	f = stream_fired(&m, "syscall:*>20ms", 21);
	assert_string_equal(f->text, "write");
	f = stream_fired(&m, "func:libdb:com*>2ms", 3);
	assert_string_equal(f->text, "commit");
	stream_fired(&m, "func:vfs_*>5ms", 6);
	f = stream_fired(&m, "irq>5ms", 6);
	assert_string_equal(f->text, "TIMER");
	stream_fired(&m, "irq>5ms", 7);
	stream_none(&m);
	stream_close(&m);
}

/* At the end of the recording a call may go on: that has no end; that of a thread which ends has one. */
static void test_unfinished(void **state)
{
	static const char *const words[] = { "syscall:recvmsg>5ms", "func:x>5ms", NULL };
	struct stream m;

	(void)state;
	stream_open(&m, words);
	stream_thread(&m, 71, 70, "dbx");
	stream_thread(&m, 72, 70, "dby");
	stream_unfinished(&m, 72, "syscalls", "recvmsg", 10, 50);
	stream_unfinished(&m, 72, "function", "x", 10, 40);
	stream_switch(&m, 0, 50, 72, 'Z', 71);
	stream_unfinished(&m, 71, "syscalls", "recvmsg", 10, 90);
	stream_unfinished(&m, 71, "function", "x", 10, 90);
	stream_unfinished(&m, 73, "function", "x", 10, 90);
	stream_round(&m, 100);
	assert_false(stream_fired(&m, words[0], 40)->is_ongoing);
	assert_true(stream_fired(&m, words[1], 30)->is_partial);
	stream_none(&m);
	stream_close(&m);
}

/* Lists of system calls are those of -e syscalls:LIST. */
static void test_lists(void **state)
{
	static const char *const words[] = { "syscall:read,pw*>1ms", "syscall:!futex,poll>1ms", "syscall:p*,!poll>1ms", NULL };
	struct stream m;

	(void)state;
	stream_open(&m, words);
	stream_slice(&m, 71, "syscalls", "read", 10, 12);
	stream_slice(&m, 71, "syscalls", "pwrite64", 20, 23);
	stream_slice(&m, 71, "syscalls", "futex", 30, 34);
	stream_slice(&m, 71, "syscalls", "poll", 40, 45);
	stream_round(&m, 100);
	stream_fired(&m, words[0], 2);
	stream_fired(&m, words[1], 2);
	stream_fired(&m, words[0], 3);
	stream_fired(&m, words[1], 3);
	stream_fired(&m, words[2], 3);
	stream_fired(&m, words[1], 5);
	stream_none(&m);
	stream_close(&m);
}

static void check_moment(struct stream *m, const char *word, const char *text, uint64_t ms)
{
	const struct trigger_fired *f = triggers_next(m->t);

	assert_non_null(f);
	assert_string_equal(f->word, word);
	assert_string_equal(f->text, text);
	assert_int_equal(f->from_ns, ms * STREAM_MS);
	assert_int_equal(f->to_ns, ms * STREAM_MS);
}

static void test_log(void **state)
{
	static const char *const words[] = { "log~soft lockup|^hung", NULL };
	char line[300];
	struct stream m;

	(void)state;
	memset(line, 'x', sizeof(line) - 1);
	line[sizeof(line) - 1] = 0;
	memcpy(line, "hung", 4);
	memcpy(line + 126, "\u00e9", 2);
	stream_open(&m, words);
	stream_instant(&m, "log", "printk", "a hung task", 10);
	stream_instant(&m, "other", "printk", "soft lockup", 11);
	stream_instant(&m, "log", "printk", "a soft lockup", 12);
	stream_instant(&m, "log", "printk", line, 13);
	stream_round(&m, 100);
	check_moment(&m, words[0], "a soft lockup", 12);
	line[126] = 0;		/* not in the middle of a character */
	check_moment(&m, words[0], line, 13);
	stream_none(&m);
	stream_close(&m);
}

static bool is_blind(const struct stream *m, unsigned int i)
{
	struct trigger_counts counts;

	assert_true(triggers_counts(m->t, i, &counts));
	return counts.blind;
}

/* Texts can be made for most expressions to take long; then lines are not looked at, and it says so. */
static void test_slow_log(void **state)
{
	static const char *const words[] = { "log~a+b", "mark=late*", NULL };
	char *line = calloc(1, FXT_STRING_BYTES_MAX);
	struct trigger_counts counts;
	unsigned int cnt = 0;
	struct stream m;

	(void)state;
	assert_non_null(line);
	memset(line, 'a', 16000);
	stream_open(&m, words);
	for (;;) {
		assert_true(triggers_counts(m.t, 0, &counts));
		if (counts.blind)
			break;
		assert_true(cnt++ < 1000);
		stream_instant(&m, "log", "printk", line, 10);
	}
	assert_true(cnt > 1);
	assert_string_equal(counts.blind, "lines were not looked at: its expression takes long");
	assert_true(triggers_counts(m.t, 1, &counts) && !counts.blind);
	stream_instant(&m, "log", "printk", "ab", 11);
	stream_round(&m, 100);
	stream_none(&m);
	/* For a minute, so that it is seen, also if it is found out late up to when nothing is missing. */
	stream_round(&m, 60000);
	assert_true(is_blind(&m, 0));
	stream_round(&m, 50);
	assert_true(is_blind(&m, 0));
	stream_round(&m, 60200);
	assert_false(is_blind(&m, 0));
	stream_round(&m, 50);
	assert_false(is_blind(&m, 0));
	stream_close(&m);
	free(line);
}

/* Markers may be as long as a string can be. */
static void test_long_mark(void **state)
{
	static const char *const words[] = { "mark=late*x", NULL };
	char text[FXT_STRING_BYTES_MAX + 1] = "late";
	struct stream m;

	(void)state;
	memset(text + 4, ' ', sizeof(text) - 6);
	text[sizeof(text) - 2] = 'x';
	stream_open(&m, words);
	stream_instant(&m, "atrace", text, NULL, 10);
	text[sizeof(text) - 2] = ' ';
	stream_instant(&m, "atrace", text, NULL, 11);
	stream_round(&m, 100);
	text[TRIGGER_TEXT_BYTES - 1] = 0;
	check_moment(&m, words[0], text, 10);
	stream_none(&m);
	stream_close(&m);
}

static void test_mark(void **state)
{
	static const char *const words[] = { "mark=late*", NULL };
	struct stream m;

	(void)state;
	stream_open(&m, words);
	stream_instant(&m, "ftrace", "print", "late 1", 10);	/* of no known form */
	stream_instant(&m, "ftrace", "print", "not late", 11);
	stream_instant(&m, "atrace", "late 2", NULL, 12);
	stream_instant(&m, "atrace", "late", "x", 13);
	stream_instant(&m, "log", "late", "late", 14);
	stream_round(&m, 100);
	check_moment(&m, words[0], "late 1", 10);
	check_moment(&m, words[0], "late 2", 12);
	check_moment(&m, words[0], "late", 13);
	stream_none(&m);
	stream_close(&m);
}

/* While the kernel lets the source wait it is blind, and says so. */
static void test_late(void **state)
{
	static const char *const words[] = { "mark=late*", "log~late", "runq>1s", NULL };
	struct stream m;

	(void)state;
	stream_open(&m, words);
	assert_false(is_blind(&m, 0));
	stream_late(&m, "marker", "the kernel waits");
	assert_true(is_blind(&m, 0));
	assert_false(is_blind(&m, 1) || is_blind(&m, 2));
	stream_late(&m, "log", NULL);
	assert_true(is_blind(&m, 0));
	stream_late(&m, "marker", NULL);
	assert_false(is_blind(&m, 0));
	stream_instant(&m, "atrace", "late 2", NULL, 12);
	stream_round(&m, 100);
	check_moment(&m, words[0], "late 2", 12);
	stream_none(&m);
	stream_close(&m);
}

/* By whose filter an event of a tracepoint passed, which its record does not say. */
static void test_event(void **state)
{
	static const char *const words[] = { "event=oom:mark_victim", "event=irq:softirq_raise/vec == 3/", "event=irq:softirq_raise/vec == 4/", NULL };
	struct stream m;

	(void)state;
	stream_open(&m, words);
	stream_instant(&m, "oom", "mark_victim", NULL, 9);
	triggers_found(m.t, "oom:mark_victim", 10 * STREAM_MS, 7);
	triggers_found(m.t, "oom:mark_victi", 11 * STREAM_MS, 7);
	triggers_found(m.t, "irq:softirq_raise/vec == 3/", 12 * STREAM_MS, 7);
	triggers_found(m.t, "irq:softirq_raise", 13 * STREAM_MS, 7);
	stream_round(&m, 100);
	check_moment(&m, words[0], "mark_victim", 10);
	check_moment(&m, words[1], "softirq_raise", 12);
	stream_none(&m);
	stream_close(&m);
}

/* Two of one tracepoint and its filter: each by the thread that hit it. */
static void test_event_of(void **state)
{
	static const char *const words[] = { "event=oom:mark_victim:comm=db*", "event=oom:mark_victim:pid=80", NULL };
	struct stream m;

	(void)state;
	stream_open(&m, words);
	stream_thread(&m, 71, 70, "dbx");
	stream_thread(&m, 81, 80, "other");
	triggers_found(m.t, "oom:mark_victim", 10 * STREAM_MS, 71);
	triggers_found(m.t, "oom:mark_victim", 11 * STREAM_MS, 72);
	triggers_found(m.t, "oom:mark_victim", 12 * STREAM_MS, 81);
	stream_round(&m, 100);
	check_moment(&m, words[0], "mark_victim", 10);
	check_moment(&m, words[1], "mark_victim", 12);
	stream_none(&m);
	stream_close(&m);
}

/* Of a process, once: when the last of its threads exits, whichever that is. */
static void test_exit(void **state)
{
	static const char *const words[] = { "exit:comm=db*", NULL };
	struct stream m;

	(void)state;
	stream_open(&m, words);
	stream_thread(&m, 70, 70, "dbx");
	stream_thread(&m, 71, 70, "dbx");
	stream_thread(&m, 80, 80, "other");
	stream_switch(&m, 0, 10, 71, 'Z', 80);
	stream_switch(&m, 0, 20, 80, 'Z', 70);
	stream_switch(&m, 0, 30, 70, 'Z', 72);
	stream_thread(&m, 72, 70, "worker");
	stream_round(&m, 50);
	stream_none(&m);
	stream_exit(&m, 70, "exit_code", 0);
	stream_switch(&m, 0, 60, 72, 'Z', 73);
	stream_switch(&m, 0, 61, 73, 'Z', 0);
	stream_round(&m, 100);
	check_moment(&m, words[0], "code 0", 60);
	stream_none(&m);
	stream_close(&m);
}

/* An exec by another thread ends the first one, whose id it has from then on. */
static void test_exec_by_another_thread(void **state)
{
	static const char *const words[] = { "exit:comm=db*", NULL };
	struct stream m;

	(void)state;
	stream_open(&m, words);
	stream_thread(&m, 70, 70, "dbx");
	stream_thread(&m, 71, 70, "dbx");
	stream_switch(&m, 0, 10, 70, 'Z', 71);
	stream_thread(&m, 70, 70, "dby");
	stream_switch(&m, 0, 20, 70, 'S', 0);
	stream_switch(&m, 0, 30, 0, 'R', 70);
	stream_round(&m, 50);
	stream_none(&m);
	stream_exit(&m, 70, "exit_signal", 15);
	stream_switch(&m, 0, 60, 70, 'Z', 0);
	stream_round(&m, 100);
	check_moment(&m, words[0], "signal 15 (SIGTERM)", 60);
	stream_none(&m);
	stream_close(&m);
}

/* The switch-out of its last thread was not reported: it has exited all the same, and at the end of a recording, too. */
static void test_exit_without_a_switch(void **state)
{
	static const char *const words[] = { "exit:comm=db*", NULL };
	struct stream m;

	(void)state;
	stream_open(&m, words);
	stream_thread(&m, 70, 70, "dbx");
	stream_switch(&m, 0, 40, 8, 'S', 0);
	stream_exit(&m, 70, "exit_code", 1);
	stream_exit(&m, 70, "exit_code", 1);
	stream_round(&m, 50);
	check_moment(&m, words[0], "code 1", 40);
	stream_switch(&m, 0, 51, 70, 'Z', 0);
	stream_round(&m, 100);
	stream_none(&m);
	stream_close(&m);
}

/* It is found though its first thread has long been gone, and the last one has just ended, when the table is rebuilt. */
static void test_exit_of_many(void **state)
{
	static const char *const words[] = { "exit:comm=db*", NULL };
	struct stream m;
	uint64_t i;

	(void)state;
	stream_open(&m, words);
	stream_thread(&m, 70, 70, "dbx");
	stream_thread(&m, 71, 70, "dbx");
	stream_switch(&m, 0, 10, 70, 'Z', 71);
	stream_round(&m, 50);
	stream_exit(&m, 70, "exit_code", 0);
	stream_switch(&m, 0, 60, 71, 'Z', 0);
	for (i = 0; i < 2000; i++)
		stream_thread(&m, 1000 + i, 1000 + i, "other");
	stream_round(&m, 100);
	check_moment(&m, words[0], "code 0", 60);
	stream_none(&m);
	stream_close(&m);
}

/* Each process is killed, fails or ends well; of one nothing is known. */
static void test_exit_how(void **state)
{
	static const char *const words[] = { "exit:signal", "exit:signal=SEGV", "exit:code", "exit:code=0", "exit:code=3:comm=db", NULL };
	struct stream m;
	uint64_t i;

	(void)state;
	stream_open(&m, words);
	for (i = 1; i <= 6; i++)
		stream_thread(&m, i, i, i == 5 ? "x" : "db");
	stream_exit(&m, 1, "exit_signal", 11);
	stream_exit(&m, 2, "exit_signal", 3);
	stream_exit(&m, 3, "exit_code", 0);
	stream_exit(&m, 4, "exit_code", 3);
	stream_exit(&m, 5, "exit_code", 11);
	for (i = 1; i <= 6; i++)
		stream_switch(&m, 0, 10 * i, i, 'Z', i < 6 ? i + 1 : 0);
	stream_round(&m, 100);
	check_moment(&m, words[0], "signal 11 (SIGSEGV)", 10);
	check_moment(&m, words[1], "signal 11 (SIGSEGV)", 10);
	check_moment(&m, words[0], "signal 3 (SIGQUIT)", 20);
	check_moment(&m, words[3], "code 0", 30);
	check_moment(&m, words[2], "code 3", 40);
	check_moment(&m, words[4], "code 3", 40);
	check_moment(&m, words[2], "code 11", 50);
	stream_none(&m);
	stream_close(&m);
}

/* A busy loop on one CPU, for a minute at most. */
static pid_t spin(void)
{
	cpu_set_t cpus;
	pid_t pid = fork();

	if (pid)
		return pid;
	CPU_ZERO(&cpus);
	CPU_SET(0, &cpus);
	sched_setaffinity(0, sizeof(cpus), &cpus);
	alarm(60);
	for (;;)
		;
}

/* Three that want one CPU stall; that all stall on CPUs does not happen. Windows of 2 s need no rights. */
static void test_psi(void **state)
{
	static const char *const words[] = { "psi:cpu:some>100ms/2s", "psi:cpu:full>1s/2s", NULL };
	const struct timespec step = { .tv_nsec = 50000000 };
	const struct trigger_fired *f = NULL;
	char why[TRIGGER_WHY_BYTES];
	pid_t pids[3];
	struct stream m;
	int i;

	(void)state;
	if (geteuid() || access("/proc/pressure/cpu", W_OK))
		skip();
	stream_open(&m, words);
	assert_int_equal(triggers_watch(m.t, "", why, sizeof(why)), 0);
	for (i = 0; i < 3; i++)
		pids[i] = spin();
	for (i = 0; i < 600 && !f; i++) {
		nanosleep(&step, NULL);
		triggers_lag(m.t, 100000 * STREAM_MS);
		stream_round(&m, 1000 + 50 * (uint64_t)i);
		f = triggers_next(m.t);
	}
	for (i = 0; i < 3; i++) {
		kill(pids[i], SIGKILL);
		waitpid(pids[i], NULL, 0);
	}
	assert_non_null(f);
	assert_string_equal(f->word, words[0]);
	assert_int_equal(f->value, 100 * STREAM_MS);
	assert_true(f->is_partial);
	/* It is of now, whatever is missing since when. */
	assert_true(f->to_ns > 100000 * STREAM_MS);
	assert_int_equal(f->to_ns - f->from_ns, 2000 * STREAM_MS);
	stream_close(&m);
}

/* What the kernel refuses is said. */
static void test_psi_refused(void **state)
{
	static const char *const words[] = { "psi:cpu:some>1ns/2s", NULL };
	char why[TRIGGER_WHY_BYTES] = "";
	struct stream m;

	(void)state;
	if (geteuid() || access("/proc/pressure/cpu", W_OK))
		skip();
	stream_open(&m, words);
	assert_int_equal(triggers_watch(m.t, "", why, sizeof(why)), -22);
	assert_non_null(strstr(why, "psi:cpu:some>1ns/2s: /proc/pressure/cpu: Invalid argument"));
	stream_close(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_words),
		cmocka_unit_test(test_slices),
		cmocka_unit_test(test_unfinished),
		cmocka_unit_test(test_lists),
		cmocka_unit_test(test_log),
		cmocka_unit_test(test_slow_log),
		cmocka_unit_test(test_long_mark),
		cmocka_unit_test(test_mark),
		cmocka_unit_test(test_late),
		cmocka_unit_test(test_event),
		cmocka_unit_test(test_event_of),
		cmocka_unit_test(test_exit),
		cmocka_unit_test(test_exec_by_another_thread),
		cmocka_unit_test(test_exit_without_a_switch),
		cmocka_unit_test(test_exit_of_many),
		cmocka_unit_test(test_exit_how),
		cmocka_unit_test(test_psi),
		cmocka_unit_test(test_psi_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
