// SPDX-License-Identifier: GPL-2.0
/*
 * Unit tests of triggers: of each kind one that fires and one that comes close, and what must not fire.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <mntent.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "trigger_made.h"

#define END		100000ULL	/* ms: after everything */

static void test_words(void **state)
{
	static const char *const good[] = {
		"runq>5ms", "offcpu>1s", "blocked>2s", "slice>50ms", "slice>.5us", "busy>95%/10s",
		"busy>99.9999%/100ms", "idle>99%/10s", "runq>5ms:comm=db*", "runq>1ns:cgroup=/a/b/:pid=12:comm=kworker/0:1",
		"runq>5ms:unit=db*.service:container=0123456789ab",
		"runq>5ms:comm=*systemd-journal*", "runq>5ms:comm=[[:alpha:]][abc][abc]*[abcdefghijklm]", "runq>5ms:comm=abcdefg\\*\\*[hij",
	};
	static const struct {
		const char *word, *why;
	} bad[] = {
		{ "", ": unknown trigger (there are runq, offcpu, blocked, slice, busy, idle, irq, syscall, func, log, mark, event, exit, psi)" },
		{ "runqueue>5ms", "runqueue>5ms: unknown trigger (there are runq, offcpu, blocked, slice, busy, idle, irq, syscall, func, log, mark, event, exit, psi)" },
		{ "runq", "runq: after runq comes '>', as in runq>5ms" },
		{ "runq=5ms", "runq=5ms: after runq comes '>', as in runq>5ms" },
		{ "runq>", "runq>: a number is missing" },
		{ "runq>5", "runq>5: a time needs a unit: ns, us, ms, s, m or h" },
		{ "runq>0ms", "runq>0ms: a time above 0 is needed" },
		{ "runq>-1ms", "runq>-1ms: negative numbers are not allowed" },
		{ "runq>5ms:", "runq>5ms:: after a colon comes a selector: comm=GLOB, cgroup=DIR, container=ID, unit=GLOB, pid=N" },
		{ "runq>5ms:tid=3", "runq>5ms:tid=3: unknown selector (there are :comm=GLOB, cgroup=DIR, container=ID, unit=GLOB, pid=N)" },
		{ "runq>5ms:comm=", "runq>5ms:comm=: a selector has no value" },
		{ "runq>5ms:comm=a:comm=b", "runq>5ms:comm=a:comm=b: a selector is given twice" },
		{ "runq>5ms:comm=systemd-journald",
		  "runq>5ms:comm=systemd-journald: comm= matches nothing, thread names have at most 15 characters" },
		{ "runq>5ms:comm=*6789012345[a]6789?", "runq>5ms:comm=*6789012345[a]6789?: comm= matches nothing, thread names have at most 15 characters" },
		{ "runq>5ms:pid=0", "runq>5ms:pid=0: pid= takes the id of a process" },
		{ "runq>5ms:pid=x", "runq>5ms:pid=x: pid= takes the id of a process" },
		{ "runq>5ms:cgroup=a",
		  "runq>5ms:cgroup=a: cgroup= takes a path that begins with /, as in /proc/PID/cgroup" },
		{ "runq>5ms:cgroup=/sys/kernel/a",
		  "runq>5ms:cgroup=/sys/kernel/a: cgroup= takes a path of the cgroup v2 hierarchy, which is not mounted there" },
		{ "runq>5ms:container=0123456789a", "runq>5ms:container=0123456789a: container= takes an id, or its first 12 digits or more" },
		{ "runq>5ms:container=0123456789ag", "runq>5ms:container=0123456789ag: container= takes an id, or its first 12 digits or more" },
		{ "busy>95", "busy>95: not a share such as 95%/10s" },
		{ "busy>95%", "busy>95%: not a share such as 95%/10s" },
		{ "busy>100%/10s", "busy>100%/10s: the share must be above 0% and below 100%, "
				   "with 4 digits after the point at most" },
		{ "busy>5%/10s:pid=1", "busy>5%/10s:pid=1: this trigger is about no thread and takes no selectors" },
		{ "busy>5%/10ms", "busy>5%/10ms: the window must be from 100ms to 1h, in steps of 10ns" },
	};
	char why[TRIGGER_WHY_BYTES];
	struct triggers *t;
	size_t i;

	(void)state;
	assert_int_equal(triggers_open(&t), 0);
	for (i = 0; i < sizeof(good) / sizeof(good[0]); i++)
		assert_int_equal(triggers_add(t, good[i], why, sizeof(why)), 0);
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_int_equal(triggers_add(t, bad[i].word, why, sizeof(why)), -22);
		assert_string_equal(why, bad[i].why);
	}
	for (; i < TRIGGERS_MAX + sizeof(bad) / sizeof(bad[0]) - sizeof(good) / sizeof(good[0]); i++)
		assert_int_equal(triggers_add(t, "runq>1s", why, sizeof(why)), 0);
	assert_int_equal(triggers_add(t, "runq>1s", why, sizeof(why)), -22);
	assert_string_equal(why, "runq>1s: there are 32 triggers, no more can be added");
	triggers_close(t);
}

/* A wait from the wakeup on, and one from the preemption on; thresholds are exclusive. */
static void test_runq(void **state)
{
	static const char *const words[] = { "runq>5ms", "runq>7ms", NULL };
	const struct trigger_fired *f;
	struct stream m;

	(void)state;
	stream_open(&m, words);
	stream_switch(&m, 0, 10, 0, 'R', 7);
	stream_switch(&m, 0, 20, 7, 'S', 0);
	stream_wakeup(&m, 100, 7, NULL);
	stream_switch(&m, 0, 107, 0, 'R', 7);	/* 7 ms */
	stream_switch(&m, 0, 110, 7, 'R', 8);
	stream_switch(&m, 0, 115, 8, 'S', 7);	/* 5 ms */
	stream_switch(&m, 0, 120, 7, 'R', 8);
	stream_switch(&m, 0, 128, 8, 'S', 7);	/* 8 ms */
	stream_round(&m, 90);
	stream_none(&m);
	stream_round(&m, END);
	f = stream_fired(&m, "runq>5ms", 7);
	assert_string_equal(f->name, "runq");
	assert_int_equal(f->threshold, 5 * STREAM_MS);
	assert_int_equal(f->thread, 7);
	assert_int_equal(f->from_ns, 100 * STREAM_MS);
	assert_int_equal(f->to_ns, 107 * STREAM_MS);
	assert_false(f->is_ongoing || f->is_partial);
	stream_fired(&m, "runq>5ms", 8);
	stream_fired(&m, "runq>7ms", 8);
	stream_none(&m);
	stream_close(&m);
}

/* The same records in the order in which the rings of three CPUs are drained. */
static void test_out_of_order(void **state)
{
	static const char *const words[] = { "runq>5ms", "offcpu>50ms", NULL };
	struct stream m;

	(void)state;
	stream_open(&m, words);
	stream_switch(&m, 0, 10, 0, 'R', 7);
	stream_switch(&m, 0, 20, 7, 'S', 0);
	stream_switch(&m, 0, 300, 0, 'R', 7);	/* not a sleep of 280 ms: it ran on CPU 1 meanwhile */
	stream_round(&m, 15);
	stream_none(&m);
	stream_switch(&m, 1, 31, 0, 'R', 7);	/* before its wakeup */
	stream_switch(&m, 1, 290, 7, 'S', 0);
	stream_wakeup(&m, 25, 7, NULL);		/* 6 ms */
	stream_wakeup(&m, 296, 7, NULL);		/* 4 ms */
	stream_round(&m, END);
	stream_fired(&m, "runq>5ms", 6);
	stream_none(&m);
	stream_close(&m);
}

static void test_blocked(void **state)
{
	static const char *const words[] = { "blocked>5ms", NULL };
	struct stream m;

	(void)state;
	stream_open(&m, words);
	stream_switch(&m, 0, 10, 7, 'D', 0);
	stream_wakeup(&m, 15, 7, NULL);		/* 5 ms */
	stream_switch(&m, 0, 30, 0, 'R', 7);
	stream_switch(&m, 0, 40, 7, 'S', 0);	/* not in D */
	stream_wakeup(&m, 60, 7, NULL);
	stream_switch(&m, 0, 61, 0, 'R', 7);
	stream_switch(&m, 0, 62, 7, 'D', 0);
	stream_wakeup(&m, 80, 7, "implied");	/* it was woken at some time before */
	stream_switch(&m, 0, 80, 0, 'R', 7);
	stream_switch(&m, 0, 90, 7, 'D', 0);
	stream_wakeup(&m, 96, 7, NULL);		/* 6 ms */
	stream_switch(&m, 0, 97, 0, 'R', 7);
	stream_round(&m, END);
	stream_fired(&m, "blocked>5ms", 6);
	stream_none(&m);
	stream_close(&m);
}

/* What is missing in a gap of any CPU may be that it ran; what is certain counts all the same. */
static void test_gaps(void **state)
{
	static const char *const words[] = { "runq>5ms", "offcpu>5ms", NULL };
	const struct trigger_fired *f;
	struct stream m;

	(void)state;
	stream_open(&m, words);
	stream_switch(&m, 0, 10, 7, 'R', 8);
	stream_mark(&m, 1, 12, 0, 0, "gap");
	stream_mark(&m, 1, 19, 0, 0, "gap");
	stream_switch(&m, 0, 20, 8, 'Z', 7);	/* 10 ms, of which 2 and 1 are certain */
	stream_round(&m, 30);
	stream_none(&m);
	stream_switch(&m, 0, 40, 7, 'R', 9);
	stream_switch(&m, 1, 48, 0, 'R', 0);	/* up to its last record nothing is missing */
	stream_mark(&m, 1, 48, 0, 0, "gap");
	stream_mark(&m, 1, 49, 0, 0, "gap");
	stream_switch(&m, 0, 50, 9, 'Z', 7);
	stream_round(&m, END);
	f = stream_fired(&m, "offcpu>5ms", 8);
	assert_true(f->is_partial);
	f = stream_fired(&m, "runq>5ms", 8);
	assert_true(f->is_partial);
	assert_false(f->is_ongoing);
	assert_int_equal(f->to_ns, 48 * STREAM_MS);
	stream_none(&m);
	stream_close(&m);
}

/* It was woken in the gap: from the gap's end on it certainly waits, and no wait for a CPU before. */
static void test_wakeup_lost(void **state)
{
	static const char *const words[] = { "runq>5ms", NULL };
	struct stream m;

	(void)state;
	stream_open(&m, words);
	stream_switch(&m, 0, 10, 7, 'S', 8);
	stream_mark(&m, 1, 40, 0, 0, "gap");
	stream_mark(&m, 1, 42, 0, 0, "gap");
	stream_switch(&m, 0, 49, 8, 'S', 7);
	stream_round(&m, END);
	assert_true(stream_fired(&m, "runq>5ms", 7)->is_partial);
	stream_none(&m);
	stream_close(&m);
}

/* Before all CPUs have started nothing is certain, but of those who have not run. */
static void test_start(void **state)
{
	static const char *const words[] = { "runq>5ms", "blocked>5ms", NULL };
	struct stream m;

	(void)state;
	stream_open(&m, words);
	stream_start(&m, "0-1", "0-1", NULL);
	stream_state(&m, 0, 9, 5, 'D');
	stream_state(&m, 0, 9, 6, 'R');
	stream_mark(&m, 0, 10, 0, 8, "start");
	stream_switch(&m, 0, 11, 8, 'R', 7);
	stream_round(&m, 12);
	stream_none(&m);
	stream_mark(&m, 1, 20, 0, 9, "start");
	stream_switch(&m, 0, 24, 7, 'S', 8);	/* it may have run on CPU 1 before 20 */
	stream_wakeup(&m, 25, 5, NULL);
	stream_switch(&m, 0, 26, 8, 'S', 6);
	stream_switch(&m, 0, 27, 6, 'S', 5);
	stream_round(&m, END);
	assert_true(stream_fired(&m, "blocked>5ms", 16)->is_partial);
	assert_true(stream_fired(&m, "runq>5ms", 17)->is_partial);
	stream_none(&m);
	stream_close(&m);
}

/* On CPUs that are not recorded any thread may run. */
static void test_blank(void **state)
{
	static const char *const words[] = { "runq>5ms", "slice>5ms", NULL };
	struct trigger_counts counts;
	struct stream m;

	(void)state;
	stream_open(&m, words);
	stream_start(&m, "0", "0-1", NULL);
	stream_mark(&m, 0, 1, 0, 8, "start");
	stream_wakeup(&m, 10, 7, NULL);
	stream_switch(&m, 0, 20, 8, 'S', 7);
	stream_round(&m, 20);
	assert_true(stream_fired(&m, "slice>5ms", 19)->is_partial);
	stream_none(&m);
	assert_true(triggers_counts(m.t, 0, &counts));
	assert_non_null(counts.blind);
	assert_true(triggers_counts(m.t, 1, &counts));
	assert_null(counts.blind);
	assert_false(triggers_counts(m.t, 2, &counts));
	stream_close(&m);
}

/* A thread that was not selected has switches that are not in the trace. */
static void test_filter(void **state)
{
	static const char *const words[] = { "offcpu>5ms", "runq>5ms", NULL };
	struct stream m;

	(void)state;
	stream_open(&m, words);
	stream_start(&m, "0", "0", "comm x");
	stream_mark(&m, 0, 1, 0, 8, "start");
	stream_mark(&m, 0, 10, 8, 0, "filter");	/* 8 was deselected */
	stream_mark(&m, 0, 30, 0, 8, "filter");
	stream_switch(&m, 0, 31, 8, 'R', 7);
	stream_switch(&m, 0, 38, 7, 'Z', 8);	/* selected by now: 7 ms */
	stream_round(&m, END);
	stream_fired(&m, "offcpu>5ms", 7);
	stream_fired(&m, "runq>5ms", 7);
	stream_none(&m);
	stream_close(&m);
}

/* Runs without a break; across a gap it is not known that it did. */
static void test_slice(void **state)
{
	static const char *const words[] = { "slice>5ms", NULL };
	const struct trigger_fired *f;
	struct stream m;

	(void)state;
	stream_open(&m, words);
	stream_switch(&m, 3, 10, 0, 'R', 7);
	stream_switch(&m, 3, 15, 7, 'S', 8);	/* 5 ms */
	stream_switch(&m, 3, 21, 8, 'S', 7);	/* 6 ms */
	stream_mark(&m, 3, 25, 7, 0, "gap");	/* 4 ms and 3 ms, or 10 */
	stream_mark(&m, 3, 28, 0, 7, "gap");
	stream_switch(&m, 3, 31, 7, 'S', 0);
	stream_switch(&m, 3, 90, 0, 'R', 9);	/* idle is none */
	stream_round(&m, 95);
	f = stream_fired(&m, "slice>5ms", 6);
	assert_int_equal(f->cpu, 3);
	assert_int_equal(f->thread, 8);
	stream_none(&m);
	stream_close(&m);
}

/* Windows of 100 ms that move by 10 ms; fires again only after one that was not above. */
static void test_busy(void **state)
{
	static const char *const words[] = { "busy>50%/100ms", NULL };
	const struct trigger_fired *f;
	struct stream m;

	(void)state;
	stream_open(&m, words);
	stream_switch(&m, 2, 1000, 7, 'S', 0);
	stream_switch(&m, 2, 1200, 0, 'R', 7);
	stream_switch(&m, 2, 1250, 7, 'S', 0);	/* 50 % */
	stream_switch(&m, 2, 1400, 0, 'R', 7);
	stream_round(&m, 1459);
	stream_none(&m);
	stream_round(&m, 1460);
	f = triggers_next(m.t);
	assert_non_null(f);
	assert_int_equal(f->value, 600000);
	assert_int_equal(f->threshold, 500000);
	assert_int_equal(f->from_ns, 1360 * STREAM_MS);
	assert_int_equal(f->cpu, 2);
	assert_false(f->is_partial);
	stream_round(&m, 90000);
	stream_none(&m);
	stream_switch(&m, 2, 90001, 7, 'S', 0);
	stream_switch(&m, 2, 1000000, 0, 'R', 7);
	stream_round(&m, 1000100);
	assert_int_equal(triggers_next(m.t)->value, 600000);
	stream_none(&m);
	stream_close(&m);
}

/* What is not recorded is not idle, nor what threads that are not recorded may use. */
static void test_idle(void **state)
{
	static const char *const words[] = { "idle>50%/100ms", NULL };
	const struct trigger_fired *f;
	struct trigger_counts counts;
	struct stream m;

	(void)state;
	stream_open(&m, words);
	stream_mark(&m, 2, 1000, 0, 7, "start");
	stream_switch(&m, 2, 1200, 7, 'S', 0);
	stream_switch(&m, 2, 1250, 0, 'R', 7);	/* 50 % */
	stream_mark(&m, 2, 1300, 7, 0, "gap");
	stream_mark(&m, 2, 1400, 0, 7, "gap");
	stream_switch(&m, 2, 1500, 7, 'S', 0);
	stream_round(&m, 1559);
	stream_none(&m);
	stream_round(&m, 1560);
	f = triggers_next(m.t);
	assert_non_null(f);
	assert_int_equal(f->value, 600000);
	assert_int_equal(f->from_ns, 1460 * STREAM_MS);
	assert_int_equal(f->cpu, 2);
	assert_false(f->is_partial);
	stream_round(&m, 90000);
	stream_none(&m);
	stream_close(&m);

	stream_open(&m, words);
	stream_start(&m, "0", "0", "comm db*");
	stream_mark(&m, 0, 1000, 0, 0, "start");
	stream_round(&m, 90000);
	stream_none(&m);
	assert_true(triggers_counts(m.t, 0, &counts));
	assert_non_null(counts.blind);
	stream_close(&m);
}

static void wait_for_runq(struct stream *m, uint64_t thread, uint64_t from, uint64_t ms)
{
	stream_wakeup(m, from, thread, NULL);
	stream_switch(m, 0, from + ms, 0, 'R', thread);
	stream_switch(m, 0, from + ms + 1, thread, 'S', 0);
}

static void test_selectors(void **state)
{
	static const char *const words[] = {
		"runq>1ms:comm=db*", "runq>2ms:pid=70", "runq>3ms:cgroup=/a", "runq>4ms:cgroup=/a/b:comm=w?", NULL,
	};
	const struct trigger_fired *f;
	struct stream m;

	(void)state;
	stream_open(&m, words);
	stream_process(&m, 70, "/a/b");
	stream_process(&m, 80, "/ab");
	stream_thread(&m, 71, 70, "dbx");
	stream_thread(&m, 72, 70, "w1");
	stream_thread(&m, 81, 80, "w1");
	stream_thread(&m, 10000071, 10000070, "x");	/* a later thread of that id, of a later process of 70 */
	wait_for_runq(&m, 71, 10, 9);
	wait_for_runq(&m, 72, 30, 9);
	wait_for_runq(&m, 81, 50, 9);
	wait_for_runq(&m, 10000071, 70, 9);
	stream_round(&m, END);
	f = stream_fired(&m, "runq>1ms:comm=db*", 9);
	assert_string_equal(f->comm, "dbx");
	assert_int_equal(f->process, 70);
	stream_fired(&m, "runq>2ms:pid=70", 9);
	stream_fired(&m, "runq>3ms:cgroup=/a", 9);
	stream_fired(&m, "runq>2ms:pid=70", 9);
	stream_fired(&m, "runq>3ms:cgroup=/a", 9);
	f = stream_fired(&m, "runq>4ms:cgroup=/a/b:comm=w?", 9);
	assert_int_equal(f->thread, 72);
	stream_none(&m);
	stream_close(&m);
}

#define CONTAINER	"0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

/* What the path of a cgroup says of containers and units. */
/* The process of an instant is that of all else of its thread: 0 of the kernel's, and its own if that is not known. */
static void test_process(void **state)
{
	static const char *const words[] = { "runq>1ms", NULL };
	struct stream m;

	(void)state;
	stream_open(&m, words);
	stream_thread(&m, 71, 70, "dbx");
	stream_thread(&m, 2, 0, "kworker/0:1");
	wait_for_runq(&m, 71, 10, 9);
	wait_for_runq(&m, 2, 30, 9);
	wait_for_runq(&m, 3, 50, 9);
	stream_round(&m, END);
	assert_int_equal(stream_fired(&m, words[0], 9)->process, 70);
	assert_int_equal(stream_fired(&m, words[0], 9)->process, 0);
	assert_int_equal(stream_fired(&m, words[0], 9)->process, 3);
	stream_close(&m);
}

/* An exec by another thread: its process goes on with the id of the first thread, which is dead, and with its names. */
static void test_lives_on(void **state)
{
	static const char *const words[] = { "slice>5ms:comm=app*", NULL };
	struct stream m;
	uint64_t i;

	(void)state;
	stream_open(&m, words);
	stream_thread(&m, 70, 70, "launcher");
	stream_thread(&m, 70, 70, "app");	/* names are drained first */
	stream_switch(&m, 0, 10, 70, 'Z', 71);
	stream_switch(&m, 0, 20, 70, 'S', 0);	/* 71 became 70, and its id is another one's in time */
	stream_switch(&m, 0, 30, 0, 'R', 70);
	stream_switch(&m, 0, 31, 70, 'S', 0);
	stream_round(&m, 50);
	for (i = 1000; i < 3000; i++)
		stream_thread(&m, i, i, "short");
	stream_switch(&m, 0, 60, 0, 'R', 70);
	stream_switch(&m, 0, 70, 70, 'S', 0);
	stream_round(&m, END);
	stream_fired(&m, words[0], 10);
	stream_none(&m);
	stream_close(&m);
}

static void test_containers(void **state)
{
	static const char *const words[] = { "runq>1ms:container=0123456789ab", "runq>2ms:unit=db*", "runq>3ms:unit=db.service:cgroup=/x", NULL };
	struct stream m;

	(void)state;
	stream_open(&m, words);
	stream_process(&m, 70, "/system.slice/docker-" CONTAINER ".scope/init");
	stream_process(&m, 80, "/system.slice/db.service/worker");
	stream_process(&m, 90, "/docker/f" CONTAINER);		/* of 65 digits the last 64 */
	stream_process(&m, 100, "/");
	stream_thread(&m, 71, 70, "a");
	stream_thread(&m, 81, 80, "a");
	stream_thread(&m, 91, 90, "a");
	stream_thread(&m, 101, 100, "a");
	wait_for_runq(&m, 71, 10, 9);
	wait_for_runq(&m, 81, 30, 9);
	wait_for_runq(&m, 91, 50, 9);
	wait_for_runq(&m, 101, 70, 9);
	stream_round(&m, END);
	assert_int_equal(stream_fired(&m, words[0], 9)->thread, 71);
	assert_int_equal(stream_fired(&m, words[1], 9)->thread, 81);
	stream_none(&m);
	stream_close(&m);
}

/* A cgroup by its directory. */
static void test_cgroup_directory(void **state)
{
	FILE *mounts = setmntent("/proc/mounts", "re");
	const char *words[] = { NULL, NULL };
	const struct mntent *mount;
	struct stream m;
	char word[300];

	(void)state;
	assert_non_null(mounts);
	while ((mount = getmntent(mounts)) && strcmp(mount->mnt_type, "cgroup2") != 0)
		;
	if (mount)
		snprintf(word, sizeof(word), "runq>1ms:cgroup=%.200s/a/", mount->mnt_dir);
	endmntent(mounts);
	if (!mount)
		skip();
	words[0] = word;
	stream_open(&m, words);
	stream_process(&m, 70, "/a/b");
	stream_thread(&m, 71, 70, "dbx");
	wait_for_runq(&m, 71, 10, 9);
	stream_round(&m, END);
	stream_fired(&m, word, 9);
	stream_none(&m);
	stream_close(&m);
}

static void test_cooldown(void **state)
{
	static const char *const words[] = { "runq>5ms", "runq>6ms", NULL };
	struct trigger_counts counts;
	struct stream m;

	(void)state;
	stream_open(&m, words);
	triggers_set_cooldown(m.t, 100 * STREAM_MS);
	wait_for_runq(&m, 7, 10, 6);	/* to 16 */
	wait_for_runq(&m, 7, 100, 9);	/* to 109: suppressed of the first one */
	wait_for_runq(&m, 7, 110, 6);	/* to 116: over again */
	stream_round(&m, END);
	stream_fired(&m, "runq>5ms", 6);
	stream_fired(&m, "runq>6ms", 9);
	stream_fired(&m, "runq>5ms", 6);
	stream_none(&m);
	assert_true(triggers_counts(m.t, 0, &counts));
	assert_int_equal(counts.fired, 2);
	assert_int_equal(counts.suppressed, 1);
	stream_close(&m);
}

/* A koid is one thread: the next one of that id has not been waiting since the last one's end. */
static void test_recycled(void **state)
{
	static const char *const words[] = { "offcpu>5ms", "runq>5ms", NULL };
	struct stream m;

	(void)state;
	stream_open(&m, words);
	stream_switch(&m, 0, 10, 7, 'Z', 0);
	stream_wakeup(&m, 48, 10000007, NULL);
	stream_switch(&m, 0, 50, 0, 'R', 10000007);
	stream_round(&m, END);
	stream_none(&m);
	stream_close(&m);
}

static void test_damage(void **state)
{
	static const char *const words[] = { "runq>5ms", NULL };
	const uint64_t empty = 0, beyond = FXT_HEADER(FXT_SCHEDULING, 3);
	struct stream m;

	(void)state;
	stream_open(&m, words);
	assert_int_equal(triggers_take(m.t, &empty, 8), -22);
	assert_int_equal(triggers_take(m.t, &beyond, 8), -22);
	stream_close(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_words),
		cmocka_unit_test(test_runq),
		cmocka_unit_test(test_out_of_order),
		cmocka_unit_test(test_blocked),
		cmocka_unit_test(test_gaps),
		cmocka_unit_test(test_wakeup_lost),
		cmocka_unit_test(test_start),
		cmocka_unit_test(test_blank),
		cmocka_unit_test(test_filter),
		cmocka_unit_test(test_slice),
		cmocka_unit_test(test_busy),
		cmocka_unit_test(test_idle),
		cmocka_unit_test(test_selectors),
		cmocka_unit_test(test_process),
		cmocka_unit_test(test_lives_on),
		cmocka_unit_test(test_containers),
		cmocka_unit_test(test_cgroup_directory),
		cmocka_unit_test(test_cooldown),
		cmocka_unit_test(test_recycled),
		cmocka_unit_test(test_damage),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
