// SPDX-License-Identifier: GPL-2.0
/*
 * Unit tests of triggers by waits that go on.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "trigger_made.h"

#define END		100000ULL	/* ms: after everything */

/* Who never runs is found while it waits, once; its value is what it has waited by then. */
static void test_ongoing(void **state)
{
	static const char *const words[] = { "runq>50ms", "blocked>50ms", "offcpu>60ms", "slice>100ms", NULL };
	const struct trigger_fired *f;
	struct stream m;

	(void)state;
	stream_open(&m, words);
	stream_switch(&m, 0, 10, 0, 'R', 7);
	stream_switch(&m, 0, 20, 7, 'D', 8);
	stream_round(&m, 70);
	stream_none(&m);
	stream_round(&m, 71);
	f = stream_fired(&m, "blocked>50ms", 51);
	assert_true(f->is_ongoing);
	assert_false(f->is_partial);
	stream_none(&m);
	stream_wakeup(&m, 80, 7, NULL);
	stream_round(&m, 90);
	stream_fired(&m, "offcpu>60ms", 70);
	stream_none(&m);
	stream_round(&m, 140);
	stream_fired(&m, "slice>100ms", 120);
	stream_fired(&m, "runq>50ms", 60);
	stream_none(&m);
	stream_switch(&m, 0, 200, 8, 'Z', 7);
	stream_round(&m, END);
	f = stream_fired(&m, "slice>100ms", END - 200);
	assert_int_equal(f->thread, 7);
	stream_none(&m);
	stream_close(&m);
}

/* Each threshold is noticed while a wait goes on, whatever others wait for, and whoever has ended meanwhile. */
static void test_ongoing_thresholds(void **state)
{
	static const char *const words[] = { "runq>5ms:comm=a", "runq>500ms", "offcpu>200ms:comm=a", NULL };
	struct stream m;
	uint64_t i;

	(void)state;
	stream_open(&m, words);
	stream_thread(&m, 7, 7, "a");
	stream_switch(&m, 0, 10, 7, 'R', 8);
	for (i = 0; i < 3000; i++)
		stream_switch(&m, 1, 11, 1000 + i, i % 3 ? 'Z' : 'S', 1001 + i);
	stream_round(&m, 15);
	stream_none(&m);
	stream_round(&m, 16);
	stream_fired(&m, "runq>5ms:comm=a", 6);
	stream_none(&m);
	for (i = 0; i < 3000; i++)
		stream_switch(&m, 1, 20, 5000 + i, 'Z', 5001 + i);
	stream_round(&m, 210);
	stream_none(&m);
	stream_round(&m, 211);
	stream_fired(&m, "offcpu>200ms:comm=a", 201);
	stream_none(&m);
	stream_round(&m, 510);
	stream_none(&m);
	stream_round(&m, 511);
	stream_fired(&m, "runq>500ms", 501);
	stream_none(&m);
	stream_close(&m);
}

/*
 * Waits that follow each other: what one has fired is forgotten with its end, while the thread is still
 * among those that have, and each fires the higher threshold again only when it is that long itself.
 */
static void test_ongoing_again(void **state)
{
	static const char *const words[] = { "runq>5ms", "runq>50ms", "offcpu>10ms", "offcpu>100ms", NULL };
	struct stream m;
	uint64_t at;

	(void)state;
	stream_open(&m, words);
	for (at = 1000; at < 2000; at += 300) {
		stream_switch(&m, 0, at, 7, 'R', at);
		stream_round(&m, at + 5);
		stream_none(&m);
		stream_round(&m, at + 6);
		stream_fired(&m, "runq>5ms", 6);
		stream_round(&m, at + 20);
		stream_fired(&m, "offcpu>10ms", 20);
		stream_none(&m);
		stream_switch(&m, 0, at + 30, at, 'Z', 7);	/* before the higher thresholds */
		stream_switch(&m, 0, at + 40, 7, 'R', at + 1);
		stream_round(&m, at + 56);
		stream_fired(&m, "runq>5ms", 16);
		stream_fired(&m, "offcpu>10ms", 16);
		stream_none(&m);				/* 56 ms after the first began, and it has ended */
		stream_round(&m, at + 90);
		stream_none(&m);
		stream_round(&m, at + 91);
		stream_fired(&m, "runq>50ms", 51);
		stream_none(&m);
		stream_round(&m, at + 140);
		stream_none(&m);
		stream_round(&m, at + 141);
		stream_fired(&m, "offcpu>100ms", 101);
		stream_round(&m, at + 250);
		stream_none(&m);
		stream_switch(&m, 0, at + 260, at + 1, 'Z', 7);
	}
	stream_round(&m, END);
	stream_none(&m);
	stream_close(&m);
}

/* Waits that go on, and that a gap divides: they are not looked at until they end, and the next ones are. */
static void test_gap_while_waiting(void **state)
{
	static const char *const words[] = { "runq>50ms", "offcpu>50ms", NULL };
	const struct trigger_fired *f;
	struct stream m;
	uint64_t at;

	(void)state;
	stream_open(&m, words);
	for (at = 1000; at < 3000; at += 1000) {
		stream_switch(&m, 0, at, 7, 'R', at);
		stream_mark(&m, 1, at + 20, 0, 0, "gap");
		stream_mark(&m, 1, at + 21, 0, 0, "gap");
		stream_round(&m, at + 60);
		stream_none(&m);
		stream_round(&m, at + 100);
		stream_none(&m);
		stream_switch(&m, 0, at + 120, at, 'Z', 7);	/* it waited from the gap on, too */
		stream_round(&m, at + 121);
		f = stream_fired(&m, "offcpu>50ms", 99);
		assert_true(f->is_partial && !f->is_ongoing);
		f = stream_fired(&m, "runq>50ms", 99);
		assert_true(f->is_partial && !f->is_ongoing);
		stream_none(&m);
		stream_switch(&m, 0, at + 200, 7, 'R', at);
		stream_round(&m, at + 250);
		stream_none(&m);
		stream_round(&m, at + 251);
		f = stream_fired(&m, "runq>50ms", 51);
		assert_true(!f->is_partial && f->is_ongoing);
		stream_fired(&m, "offcpu>50ms", 51);
		stream_none(&m);
		stream_switch(&m, 0, at + 300, at, 'Z', 7);
		stream_round(&m, at + 400);
		stream_none(&m);
	}
	stream_close(&m);
}

static void expect_counts(struct stream *m, uint64_t fired, uint64_t suppressed)
{
	struct trigger_counts counts;

	assert_true(triggers_counts(m->t, 0, &counts));
	assert_int_equal(counts.fired, fired);
	assert_int_equal(counts.suppressed, suppressed);
}

/* What begins in a cooldown and goes on after it fires then; what goes on as the trigger fires is in its file. */
static void test_longer_than_a_cooldown(void **state)
{
	static const char *const words[] = { "blocked>50ms", NULL };
	struct stream m;

	(void)state;
	stream_open(&m, words);
	triggers_set_cooldown(m.t, 1000 * STREAM_MS);
	stream_switch(&m, 0, 10, 0, 'R', 7);
	stream_switch(&m, 0, 20, 7, 'D', 8);
	stream_switch(&m, 0, 25, 8, 'D', 9);
	stream_round(&m, 100);
	stream_fired(&m, words[0], 80);
	expect_counts(&m, 1, 1);
	stream_switch(&m, 0, 150, 9, 'D', 10);
	stream_switch(&m, 0, 160, 10, 'D', 11);
	stream_switch(&m, 0, 170, 11, 'D', 0);
	stream_round(&m, 300);
	stream_wakeup(&m, 1050, 11, NULL);	/* it ends before the cooldown does */
	stream_round(&m, 1100);
	stream_none(&m);
	expect_counts(&m, 1, 2);
	stream_round(&m, 1101);
	assert_int_equal(stream_fired(&m, words[0], 951)->thread, 9);
	expect_counts(&m, 2, 3);		/* with 10 */
	stream_wakeup(&m, 2000, 8, NULL);
	stream_wakeup(&m, 2000, 9, NULL);
	stream_wakeup(&m, 2000, 10, NULL);
	stream_round(&m, END);
	stream_none(&m);			/* nor 7, which goes on */
	expect_counts(&m, 2, 3);
	stream_close(&m);
}

/* The next that has fired, of a CPU at a time. */
static void fired_on(struct stream *m, const char *word, int cpu, uint64_t ms)
{
	const struct trigger_fired *f = triggers_next(m->t);

	assert_non_null(f);
	assert_string_equal(f->word, word);
	assert_int_equal(f->cpu, cpu);
	assert_int_equal(f->to_ns, ms * STREAM_MS);
}

/* The same of CPUs. */
static void test_busy_longer_than_a_cooldown(void **state)
{
	static const char *const words[] = { "busy>50%/100ms", "slice>500ms", NULL };
	struct stream m;
	uint16_t cpu;

	(void)state;
	stream_open(&m, words);
	triggers_set_cooldown(m.t, 1000 * STREAM_MS);
	for (cpu = 0; cpu < 3; cpu++)
		stream_switch(&m, cpu, 100, 0, 'R', 0);
	stream_switch(&m, 0, 200, 0, 'R', 7);
	stream_round(&m, 400);
	fired_on(&m, words[0], 0, 260);
	stream_switch(&m, 1, 500, 0, 'R', 8);
	stream_switch(&m, 2, 500, 0, 'R', 9);
	stream_switch(&m, 2, 700, 9, 'S', 0);	/* both end before the cooldown does */
	stream_round(&m, 800);
	fired_on(&m, words[1], 0, 800);
	stream_round(&m, 1250);
	stream_none(&m);
	expect_counts(&m, 1, 1);
	stream_round(&m, 1350);
	fired_on(&m, words[0], 1, 1260);
	stream_round(&m, 1900);
	fired_on(&m, words[1], 1, 1900);
	stream_round(&m, END);
	stream_none(&m);
	expect_counts(&m, 2, 1);
	stream_close(&m);
}

static bool lags(const char *why)
{
	return why && strstr(why, "lost events");
}

/* Nothing that a record may yet change is evaluated while a CPU is in a gap. */
static void test_lag(void **state)
{
	static const char *const words[] = { "runq>50ms", "busy>90%/1s", "log~late", "mark=late", "psi:cpu:some>500ms/2s", NULL };
	static const unsigned int waiting = 2;	/* the first two */
	static const uint64_t lag_ns[] = { TRIGGER_LAG_NS, TRIGGER_LAG_NS + 1, 0 };
	struct trigger_counts counts;
	struct stream m;
	unsigned int i, k;

	(void)state;
	stream_open(&m, words);
	for (i = 0; i < sizeof(lag_ns) / sizeof(lag_ns[0]); i++) {
		triggers_lag(m.t, lag_ns[i]);
		for (k = 0; triggers_counts(m.t, k, &counts); k++)
			assert_int_equal(lags(counts.blind), lag_ns[i] > TRIGGER_LAG_NS && k < waiting);
		assert_int_equal(k, 5);
	}
	/* A line that comes meanwhile fires. */
	triggers_lag(m.t, 100000 * STREAM_MS);
	stream_instant(&m, "log", "printk", "too late", 100500);
	stream_round(&m, 500);
	assert_string_equal(triggers_next(m.t)->text, "too late");
	stream_none(&m);
	stream_close(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ongoing),
		cmocka_unit_test(test_ongoing_thresholds),
		cmocka_unit_test(test_ongoing_again),
		cmocka_unit_test(test_gap_while_waiting),
		cmocka_unit_test(test_longer_than_a_cooldown),
		cmocka_unit_test(test_busy_longer_than_a_cooldown),
		cmocka_unit_test(test_lag),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
