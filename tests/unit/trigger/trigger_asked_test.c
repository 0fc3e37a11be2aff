// SPDX-License-Identifier: GPL-2.0
/*
 * Unit tests of triggers by waits that go on and that a gap divides: the kernel is asked.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "trigger_made.h"

/* A kernel of which every thread does the same. */
struct kernel {
	uint64_t now_ms;
	uint64_t switches, run_ns;
	char state;
	const char *comm;
	int err;
	unsigned int asked;
	uint32_t tid;		/* the last one that was asked for */
};

static int answer(void *ctx, uint32_t tid, struct trigger_answer *out)
{
	struct kernel *k = ctx;

	k->asked++;
	k->tid = tid;
	*out = (struct trigger_answer){
		.before_ns = k->now_ms * STREAM_MS, .after_ns = k->now_ms * STREAM_MS, .switches = k->switches, .state = k->state,
		.run_ns = k->run_ns,
	};
	snprintf(out->comm, sizeof(out->comm), "%s", k->comm);
	return k->err;
}

static void open_asking(struct stream *m, struct kernel *k, const char *const *words)
{
	*k = (struct kernel){ .switches = 5, .state = 'S', .comm = "a" };
	stream_open(m, words);
	triggers_ask(m->t, answer, k);
}

/* All records up to @ms are there, and it is 2 ms later. */
static void round_at(struct stream *m, struct kernel *k, uint64_t ms)
{
	k->now_ms = ms + 2;
	stream_round(m, ms);
}

static void rounds(struct stream *m, struct kernel *k, uint64_t from_ms, uint64_t to_ms)
{
	for (; from_ms <= to_ms; from_ms += 5)
		round_at(m, k, from_ms);
}

static void gap(struct stream *m, uint64_t from_ms, uint64_t to_ms)
{
	stream_mark(m, 1, from_ms, 0, 0, "gap");
	stream_mark(m, 1, to_ms, 0, 0, "gap");
}

/* Thread 7 sleeps in @state from 20 on, and there is a gap from 30 to 31. */
static void sleep_in(struct stream *m, char state)
{
	stream_switch(m, 0, 10, 0, 'R', 7);
	stream_switch(m, 0, 20, 7, state, 0);
	gap(m, 30, 31);
}

static void test_off(void **state)
{
	static const char *const words[] = { "offcpu>50ms", "offcpu>300ms", NULL };
	const struct trigger_fired *f;
	struct stream m;
	struct kernel k;

	(void)state;
	open_asking(&m, &k, words);
	sleep_in(&m, 'S');
	round_at(&m, &k, 70);
	assert_int_equal(k.asked, 0);	/* nobody is, before it is that long */
	round_at(&m, &k, 71);
	assert_int_equal(k.asked, 1);
	assert_int_equal(k.tid, 7);
	gap(&m, 75, 76);		/* none between two answers matters */
	round_at(&m, &k, 123);
	assert_int_equal(k.asked, 1);
	round_at(&m, &k, 124);
	assert_int_equal(k.asked, 2);
	round_at(&m, &k, 126);
	stream_none(&m);
	round_at(&m, &k, 127);
	f = stream_fired(&m, words[0], 126 - 73);
	assert_int_equal(f->from_ns, 73 * STREAM_MS);
	assert_int_equal(f->to_ns, 126 * STREAM_MS);
	assert_int_equal(f->thread, 7);
	assert_int_equal(f->cpu, -1);
	assert_true(f->is_ongoing && f->is_partial);
	stream_none(&m);
	gap(&m, 130, 131);
	round_at(&m, &k, 373);
	assert_int_equal(k.asked, 2);
	round_at(&m, &k, 374);
	round_at(&m, &k, 377);
	stream_fired(&m, words[1], 376 - 73);
	rounds(&m, &k, 380, 2000);
	stream_none(&m);
	assert_int_equal(k.asked, 3);	/* it has fired all there is */
	stream_close(&m);
}

/* It ran in a gap, and sleeps again. */
static void test_ran(void **state)
{
	static const char *const words[] = { "offcpu>50ms", NULL };
	const struct trigger_fired *f;
	struct stream m;
	struct kernel k;

	(void)state;
	open_asking(&m, &k, words);
	sleep_in(&m, 'S');
	rounds(&m, &k, 71, 76);
	gap(&m, 77, 79);
	k.switches++;
	rounds(&m, &k, 82, 182);
	stream_none(&m);
	rounds(&m, &k, 187, 187);
	f = stream_fired(&m, words[0], 184 - 129);	/* it is as at that answer */
	assert_int_equal(f->from_ns, 129 * STREAM_MS);
	stream_none(&m);
	stream_close(&m);
}

/* Of a wait that nothing divides one answer is enough, if that is not that it is runnable: it may run. */
static void test_whole(void **state)
{
	static const char *const words[] = { "runq>50ms", "blocked>50ms", NULL };
	static const struct {
		char before, after;
		bool divided;		/* after the first answer */
		const char *word;
		uint64_t from, to;
	} cases[] = {
		{ 'D', 'D', false, "blocked>50ms", 20, 73 }, { 'D', 'D', true, "blocked>50ms", 20, 73 },
		{ 'R', 'R', false, "runq>50ms", 20, 1178 }, { 'R', 'R', true, "runq>50ms", 73, 1178 },
		{ 'D', 'R', false, "runq>50ms", 73, 1178 },	/* it met its waker on its way there */
		{ 'R', 'D', false, NULL, 0, 0 }, { 'D', 'S', false, NULL, 0, 0 }, { 'R', 'S', false, NULL, 0, 0 },
	};
	const struct trigger_fired *f;
	struct stream m;
	struct kernel k;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		open_asking(&m, &k, words);
		stream_switch(&m, 0, 10, 0, 'R', 7);
		stream_switch(&m, 0, 20, 7, cases[i].before, 0);
		k.state = cases[i].after;
		rounds(&m, &k, 61, 76);
		if (cases[i].divided)
			gap(&m, 80, 81);
		rounds(&m, &k, 81, 1200);
		if (cases[i].word) {
			f = stream_fired(&m, cases[i].word, cases[i].to - cases[i].from);
			assert_int_equal(f->from_ns, cases[i].from * STREAM_MS);
			assert_true(f->is_ongoing && f->is_partial == (cases[i].from != 20));
		}
		stream_none(&m);
		stream_close(&m);
	}
}

/* A switch that the kernel did not report: it seems to be runnable, and runs. */
static void test_runs(void **state)
{
	static const char *const words[] = { "runq>50ms", "offcpu>50ms", "slice>50ms", NULL };
	struct stream m;
	struct kernel k;
	uint64_t ms;

	(void)state;
	open_asking(&m, &k, words);
	stream_switch(&m, 1, 9, 0, 'R', 0);
	stream_switch(&m, 0, 10, 0, 'R', 7);
	stream_switch(&m, 0, 20, 7, 'S', 0);
	stream_wakeup(&m, 25, 7, NULL);
	k.state = 'R';
	for (ms = 61; ms < 4000; ms += 10) {
		k.run_ns += 10;
		round_at(&m, &k, ms);
	}
	stream_none(&m);
	/* It is noticed when it is switched out; a file may have been cut before. */
	stream_mark(&m, 0, 3900, 0, 0, "gap");
	stream_mark(&m, 0, 4000, 0, 7, "gap");
	stream_switch(&m, 0, 4000, 7, 'S', 0);
	round_at(&m, &k, 4040);
	stream_none(&m);
	stream_close(&m);
}

/* The other way round: it seems to run, and sleeps or runs elsewhere. */
static void test_does_not_run(void **state)
{
	static const char *const words[] = { "runq>50ms", "offcpu>50ms", "slice>50ms", NULL };
	struct stream m;
	struct kernel k;
	bool elsewhere;

	(void)state;
	for (elsewhere = false;; elsewhere = true) {
		open_asking(&m, &k, words);
		stream_switch(&m, 1, 9, 0, 'R', 0);
		stream_switch(&m, 0, 10, 0, 'R', 7);
		if (elsewhere)
			stream_switch(&m, 1, 30, 0, 'R', 7);
		k.state = elsewhere ? 'R' : 'S';
		rounds(&m, &k, 21, 76);
		stream_none(&m);
		stream_mark(&m, 0, 77, 7, 0, "gap");
		stream_mark(&m, 0, 90, 0, 0, "gap");
		stream_switch(&m, 0, 90, 0, 'R', 0);
		round_at(&m, &k, 85);
		if (elsewhere)
			assert_int_equal(stream_fired(&m, "slice>50ms", 85 - 30)->cpu, 1);
		k.run_ns = 5;
		rounds(&m, &k, 90, 110);
		stream_none(&m);
		stream_close(&m);
		if (elsewhere)
			break;
	}
}

/* It is asked for later where too many files are open, say. */
static void test_no_answer(void **state)
{
	static const char *const words[] = { "blocked>50ms", NULL };
	struct stream m;
	struct kernel k;

	(void)state;
	open_asking(&m, &k, words);
	stream_switch(&m, 0, 10, 0, 'R', 7);
	stream_switch(&m, 0, 20, 7, 'D', 0);
	k.state = 'D';
	k.err = -24;
	rounds(&m, &k, 71, 996);
	assert_int_equal(k.asked, 1);
	k.err = 0;
	rounds(&m, &k, 1001, 1081);
	stream_fired(&m, words[0], 1078 - 20);
	stream_none(&m);
	stream_close(&m);
}

/* What it waits for is what the kernel says, since a gap may hide that it was woken, or that it blocked. */
static void test_states(void **state)
{
	static const char *const words[] = { "runq>50ms", "blocked>50ms", NULL };
	static const struct {
		char before, after;
		const char *word;
		uint64_t ms;
	} cases[] = {
		{ 'D', 'D', "blocked>50ms", 128 - 73 }, { 'R', 'D', NULL, 0 }, { 'D', 'S', NULL, 0 },
		{ 'D', 'R', "runq>50ms", 1178 - 73 }, { 'R', 'R', "runq>50ms", 1178 - 73 },
	};
	struct stream m;
	struct kernel k;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		open_asking(&m, &k, words);
		sleep_in(&m, cases[i].before);
		k.state = cases[i].after;
		rounds(&m, &k, 71, 1300);
		if (cases[i].word)
			stream_fired(&m, cases[i].word, cases[i].ms);
		stream_none(&m);
		stream_close(&m);
	}
}

/* Who was running when a gap began, and has not been seen since. */
static void test_unsure(void **state)
{
	static const char *const words[] = { "blocked>50ms", "offcpu>60ms", NULL };
	struct stream m;
	struct kernel k;

	(void)state;
	open_asking(&m, &k, words);
	stream_switch(&m, 0, 10, 0, 'R', 7);
	stream_mark(&m, 0, 20, 7, 0, "gap");
	stream_mark(&m, 0, 25, 0, 8, "gap");
	k.state = 'D';
	rounds(&m, &k, 26, 66);
	assert_int_equal(k.asked, 0);
	rounds(&m, &k, 71, 151);
	stream_fired(&m, words[0], 128 - 73);
	stream_fired(&m, words[1], 148 - 83);
	stream_none(&m);
	stream_close(&m);
}

/* Whoever is recorded anew is in another wait, and who has ended in none. */
static void test_ends(void **state)
{
	static const char *const words[] = { "offcpu>50ms", NULL };
	static const char *const how[] = { "wakes", "dead", "zombie", "gone", "other" };
	struct stream m;
	struct kernel k;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(how) / sizeof(how[0]); i++) {
		open_asking(&m, &k, words);
		stream_thread(&m, 7, 7, "a");
		sleep_in(&m, 'S');
		rounds(&m, &k, 71, 76);
		if (!strcmp(how[i], "wakes")) {
			stream_switch(&m, 0, 77, 0, 'R', 7);
			stream_switch(&m, 0, 78, 7, 'S', 0);
		}
		k.state = !strcmp(how[i], "dead") ? 'X' : !strcmp(how[i], "zombie") ? 'Z' : 'S';
		k.err = strcmp(how[i], "gone") ? 0 : -2;
		k.comm = strcmp(how[i], "other") ? "a" : "b";
		rounds(&m, &k, 81, 126);
		stream_none(&m);
		assert_int_equal(k.asked, i ? 2 : 1);
		stream_close(&m);
	}
}

/* The second thread of an id; a name of the kernel's that is longer than what is recorded. */
static void test_ids(void **state)
{
	static const char *const words[] = { "offcpu>50ms:comm=kworker/*", NULL };
	struct stream m;
	struct kernel k;

	(void)state;
	open_asking(&m, &k, words);
	stream_thread(&m, 10000007, 0, "kworker/0:1");
	stream_switch(&m, 0, 10, 0, 'R', 10000007);
	stream_switch(&m, 0, 20, 10000007, 'S', 8);
	stream_switch(&m, 0, 21, 8, 'S', 0);
	gap(&m, 30, 31);
	k.comm = "kworker/0:1-even";
	rounds(&m, &k, 71, 76);
	stream_thread(&m, 10000007, 0, "kworker/0:1+nfsi");	/* its name at another time */
	rounds(&m, &k, 81, 131);
	assert_int_equal(k.tid, 7);
	assert_int_equal(k.asked, 2);	/* the other one is not selected */
	assert_int_equal(stream_fired(&m, words[0], 128 - 73)->thread, 10000007);
	stream_none(&m);
	stream_close(&m);
}

/* What other threads did is not recorded: that has no part in it. */
static void test_filtered(void **state)
{
	static const char *const words[] = { "offcpu>50ms", NULL };
	struct stream m;
	struct kernel k;
	bool runnable;

	(void)state;
	for (runnable = false;; runnable = true) {
		open_asking(&m, &k, words);
		stream_start(&m, "0-1", "0-1", "pid");
		stream_mark(&m, 0, 1, 0, 0, "start");
		stream_mark(&m, 1, 1, 0, 0, "start");
		sleep_in(&m, 'S');
		k.state = runnable ? 'R' : 'S';
		rounds(&m, &k, 71, 1300);
		stream_fired(&m, words[0], runnable ? 1178 - 73 : 128 - 73);
		stream_none(&m);
		stream_close(&m);
		if (runnable)
			break;
	}
}

/* A suspend is no wait. */
static void test_suspended(void **state)
{
	static const char *const words[] = { "offcpu>50ms", NULL };
	struct stream m;
	struct kernel k;

	(void)state;
	open_asking(&m, &k, words);
	sleep_in(&m, 'S');
	rounds(&m, &k, 71, 76);
	triggers_suspended(m.t, 79 * STREAM_MS, 9000 * STREAM_MS);
	rounds(&m, &k, 9001, 9061);
	stream_none(&m);
	rounds(&m, &k, 9066, 9066);
	stream_fired(&m, words[0], 9063 - 9008);
	stream_none(&m);
	stream_close(&m);
}

/* What goes on after a cooldown fires then. */
static void test_cooldown(void **state)
{
	static const char *const words[] = { "offcpu>50ms", NULL };
	struct stream m;
	struct kernel k;

	(void)state;
	open_asking(&m, &k, words);
	triggers_set_cooldown(m.t, 1000 * STREAM_MS);
	stream_switch(&m, 2, 5, 0, 'R', 8);
	stream_switch(&m, 2, 6, 8, 'S', 0);
	round_at(&m, &k, 60);
	stream_fired(&m, words[0], 54);
	sleep_in(&m, 'S');
	rounds(&m, &k, 71, 1056);
	stream_none(&m);
	assert_true(k.asked <= 1);
	rounds(&m, &k, 1061, 1140);
	assert_int_equal(triggers_next(m.t)->thread, 7);
	stream_none(&m);
	stream_close(&m);
}

/* A hundred a second, whoever else waits. */
static void test_many(void **state)
{
	static const char *const words[] = { "offcpu>50ms", "offcpu>100s", NULL };
	struct stream m;
	struct kernel k;
	uint64_t ms, i, fired = 0;

	(void)state;
	open_asking(&m, &k, words);
	for (i = 0; i < 1000; i++)
		stream_switch(&m, 0, 10, 1000 + i, 'S', 1001 + i);
	stream_switch(&m, 0, 11, 2000, 'Z', 0);
	gap(&m, 30, 31);
	for (ms = 40; ms < 60000; ms += 20) {
		round_at(&m, &k, ms);
		assert_true(k.asked <= 50 + ms / 10);
		while (triggers_next(m.t))
			fired++;
	}
	assert_int_equal(fired, 1000);
	assert_true(k.asked >= 2000 && k.asked <= 2100);
	stream_close(&m);
}

/* ---- /proc --------------------------------------------------------------------------------- */

static void put_status(const char *root, const char *text)
{
	char path[256];
	FILE *f;

	snprintf(path, sizeof(path), "%s/proc", root);
	mkdir(path, 0700);
	snprintf(path, sizeof(path), "%s/proc/7", root);
	mkdir(path, 0700);
	snprintf(path, sizeof(path), "%s/proc/7/status", root);
	f = fopen(path, "w");
	assert_non_null(f);
	fputs(text, f);
	assert_int_equal(fclose(f), 0);
}

static void remove_status(const char *root)
{
	static const char *const paths[] = { "/proc/7/status", "/proc/7", "/proc", "" };
	char path[256];
	size_t i;

	for (i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
		snprintf(path, sizeof(path), "%s%s", root, paths[i]);
		assert_int_equal(remove(path), 0);
	}
}

static void test_proc(void **state)
{
	char root[] = "/tmp/trigger-asked-XXXXXX", groups[10000] = "";
	struct trigger_answer a;
	size_t i;

	(void)state;
	assert_non_null(mkdtemp(root));
	put_status(root, "Name:\ta\\\\n\\n b\nUmask:\t0022\nState:\tD (disk sleep)\n"
			 "voluntary_ctxt_switches:\t40\nnonvoluntary_ctxt_switches:\t2\n");
	assert_int_equal(triggers_ask_proc(root, 7, &a), 0);
	assert_string_equal(a.comm, "a\\n\n b");
	assert_int_equal(a.state, 'D');
	assert_int_equal(a.switches, 42);
	assert_true(a.before_ns && a.before_ns <= a.after_ns);
	assert_int_equal(triggers_ask_proc(root, 8, &a), -2);
	put_status(root, "Name:\tkworker/u8:1-events_unbound\nState:\tI (idle)\n"
			 "voluntary_ctxt_switches:\t1\nnonvoluntary_ctxt_switches:\t0\n");
	assert_int_equal(triggers_ask_proc(root, 7, &a), 0);
	assert_string_equal(a.comm, "kworker/u8:1-eve");
	put_status(root, "Name:\ta\nState:\tS\nvoluntary_ctxt_switches:\t1\nnonvoluntary_ctxt_switches:\t12");
	assert_int_equal(triggers_ask_proc(root, 7, &a), -5);
	put_status(root, "");
	assert_int_equal(triggers_ask_proc(root, 7, &a), -5);
	for (i = 0; i < 900; i++)
		strcat(groups, "4294967294 ");
	put_status(root, groups);
	assert_int_equal(triggers_ask_proc(root, 7, &a), -5);
	remove_status(root);
	/* This one runs. */
	assert_int_equal(triggers_ask_proc("", (uint32_t)getpid(), &a), 0);
	assert_int_equal(a.state, 'R');
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_off),
		cmocka_unit_test(test_ran),
		cmocka_unit_test(test_whole),
		cmocka_unit_test(test_runs),
		cmocka_unit_test(test_does_not_run),
		cmocka_unit_test(test_no_answer),
		cmocka_unit_test(test_states),
		cmocka_unit_test(test_unsure),
		cmocka_unit_test(test_ends),
		cmocka_unit_test(test_ids),
		cmocka_unit_test(test_filtered),
		cmocka_unit_test(test_suspended),
		cmocka_unit_test(test_cooldown),
		cmocka_unit_test(test_many),
		cmocka_unit_test(test_proc),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
