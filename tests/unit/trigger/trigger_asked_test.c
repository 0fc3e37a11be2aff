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
	uint64_t switches;
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
	round_at(&m, &k, 81);
	assert_int_equal(k.asked, 1);
	round_at(&m, &k, 82);
	assert_int_equal(k.asked, 2);
	stream_none(&m);
	round_at(&m, &k, 84);
	stream_none(&m);
	round_at(&m, &k, 85);
	f = stream_fired(&m, words[0], 84 - 31);
	assert_int_equal(f->from_ns, 31 * STREAM_MS);
	assert_int_equal(f->to_ns, 84 * STREAM_MS);
	assert_int_equal(f->thread, 7);
	assert_int_equal(f->cpu, -1);
	assert_true(f->is_ongoing && f->is_partial);
	stream_none(&m);
	gap(&m, 90, 91);
	round_at(&m, &k, 331);
	assert_int_equal(k.asked, 2);
	round_at(&m, &k, 332);
	round_at(&m, &k, 335);
	stream_fired(&m, words[1], 334 - 31);
	rounds(&m, &k, 340, 2000);
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
	rounds(&m, &k, 82, 130);
	stream_none(&m);
	rounds(&m, &k, 135, 140);
	f = stream_fired(&m, words[0], 137 - 79);	/* it is as at the first answer since that gap */
	assert_int_equal(f->from_ns, 79 * STREAM_MS);
	stream_none(&m);
	stream_close(&m);
}

/* An answer from inside of a gap proves nothing: there it may run. */
static void test_answer_in_gap(void **state)
{
	static const char *const words[] = { "offcpu>50ms", NULL };
	struct stream m;
	struct kernel k;

	(void)state;
	open_asking(&m, &k, words);
	sleep_in(&m, 'S');
	round_at(&m, &k, 71);
	gap(&m, 72, 80);
	round_at(&m, &k, 85);
	assert_int_equal(k.asked, 2);	/* again, and not later */
	round_at(&m, &k, 131);
	assert_int_equal(k.asked, 3);
	gap(&m, 132, 134);
	round_at(&m, &k, 140);
	stream_none(&m);
	assert_int_equal(k.asked, 4);
	round_at(&m, &k, 145);
	stream_fired(&m, words[0], 142 - 80);
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
		{ 'D', 'D', "blocked>50ms", 84 - 31 }, { 'R', 'D', "blocked>50ms", 84 - 31 }, { 'D', 'S', NULL, 0 },
		{ 'D', 'R', "runq>50ms", 126 - 73 }, { 'R', 'R', "runq>50ms", 126 - 73 },	/* a wakeup may be reported late */
	};
	struct stream m;
	struct kernel k;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		open_asking(&m, &k, words);
		sleep_in(&m, cases[i].before);
		k.state = cases[i].after;
		rounds(&m, &k, 71, 150);
		if (cases[i].word)
			stream_fired(&m, cases[i].word, cases[i].word[0] == 'r' ? 128 - 73 : 88 - 31);
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
	rounds(&m, &k, 71, 100);
	stream_fired(&m, words[0], 78 - 25);
	stream_fired(&m, words[1], 88 - 25);
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
		rounds(&m, &k, 81, 125);
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
	rounds(&m, &k, 71, 100);
	assert_int_equal(k.tid, 7);
	assert_int_equal(k.asked, 2);	/* the other one is not selected */
	assert_int_equal(stream_fired(&m, words[0], 88 - 31)->thread, 10000007);
	stream_none(&m);
	stream_close(&m);
}

/* Of threads that are not recorded a gap does not say that they run. */
static void test_filtered(void **state)
{
	static const char *const words[] = { "offcpu>50ms", NULL };
	struct stream m;
	struct kernel k;

	(void)state;
	open_asking(&m, &k, words);
	stream_start(&m, "0-1", "0-1", "pid");
	stream_mark(&m, 0, 1, 0, 0, "start");
	stream_mark(&m, 1, 1, 0, 0, "start");
	sleep_in(&m, 'S');
	rounds(&m, &k, 71, 150);
	stream_fired(&m, words[0], 128 - 73);
	stream_none(&m);
	stream_close(&m);

	open_asking(&m, &k, words);
	stream_start(&m, "0-1", "0-1", "pid");
	stream_mark(&m, 0, 1, 0, 0, "start");
	stream_mark(&m, 1, 1, 0, 0, "start");
	sleep_in(&m, 'S');
	k.state = 'R';
	rounds(&m, &k, 71, 150);
	stream_none(&m);
	stream_close(&m);
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
	rounds(&m, &k, 9001, 9046);
	stream_none(&m);
	rounds(&m, &k, 9051, 9071);
	stream_fired(&m, words[0], 9053 - 9000);
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

/* ---- the same by chance ------------------------------------------------------------------- */

#define THREADS		5U	/* each has a CPU */
#define LONG_MS		600U	/* twice the threshold, and some gaps */

enum { RUNQ, BLOCKED, OFF };

struct thing {
	char state;		/* C: it runs */
	uint64_t since_ms, next_ms, switches;
	bool hidden;		/* that it began so, or would have been woken, is not in the records */
	bool found[3];		/* of the wait that goes on: runq, blocked, offcpu */
	uint64_t off_ms;	/* since when it does not run */
	uint64_t gap_ms;	/* its CPU's, 0: none */
	uint64_t gap_end_ms;
	uint64_t gap_out;	/* the koid that ran when that began; 0: none */
};

struct machine {
	struct stream m;
	struct thing threads[THREADS];
	uint64_t now_ms, waits;
};

static const char *const kinds[] = { "runq>100ms", "blocked>100ms", "offcpu>100ms", NULL };

static int answer_machine(void *ctx, uint32_t tid, struct trigger_answer *out)
{
	const struct machine *c = ctx;
	const struct thing *t = &c->threads[tid - 1];

	*out = (struct trigger_answer){
		.before_ns = c->now_ms * STREAM_MS, .after_ns = c->now_ms * STREAM_MS, .switches = t->switches,
		.state = t->state == 'C' ? 'R' : t->state, .comm = "x",
	};
	return 0;
}

static uint64_t up_to(unsigned int n)
{
	return 1 + (uint64_t)rand() % n;
}

/* Most are short. */
static uint64_t length(unsigned int n)
{
	return up_to(rand() % 4 ? 20 : n);
}

/*
 * A wait of a kind has ended. If it was long it was found before, unless its begin is not in the records: a thread that is asleep as far
 * as is known is not asked for.
 */
static void end_wait(struct machine *c, struct thing *t, unsigned int kind, uint64_t since_ms)
{
	if (c->now_ms - since_ms > LONG_MS && (kind == OFF || !t->hidden)) {
		c->waits++;
		assert_true(t->found[kind]);
	}
	t->found[kind] = false;
}

/* If it runs only while that is hidden, it is still the same wait as far as is known, and was found. */
static void end_off(struct machine *c, struct thing *t)
{
	const bool found = t->found[OFF];

	end_wait(c, t, OFF, t->off_ms);
	t->found[OFF] = t->gap_ms && found;
}

static void change(struct machine *c, unsigned int i)
{
	struct thing *t = &c->threads[i];
	bool hidden = t->gap_ms;

	if (t->state == 'C') {
		t->state = rand() % 8 == 0 ? 'R' : rand() % 2 ? 'S' : 'D';
		t->switches++;
		t->off_ms = c->now_ms;
		if (!hidden)
			stream_switch(&c->m, (uint16_t)i, c->now_ms, i + 1, t->state, 0);
	} else if (t->state == 'R') {
		end_wait(c, t, RUNQ, t->since_ms);
		end_off(c, t);
		t->state = 'C';
		if (!hidden)
			stream_switch(&c->m, (uint16_t)i, c->now_ms, 0, 'R', i + 1);
	} else {
		const unsigned int waker = (unsigned int)rand() % THREADS;

		if (t->state == 'D')
			end_wait(c, t, BLOCKED, t->since_ms);
		t->state = 'R';
		hidden = c->threads[waker].gap_ms;
		if (!hidden)
			stream_wakeup(&c->m, c->now_ms, i + 1, NULL);
	}
	t->hidden = hidden;
	t->since_ms = c->now_ms;
	t->next_ms = c->now_ms + (t->state == 'C' ? length(50) : length(900));
}

/* The marks of a gap are written when it ends. */
static void change_gap(struct machine *c, unsigned int i)
{
	struct thing *t = &c->threads[i];

	if (!t->gap_ms && rand() % 700 == 0) {
		t->gap_ms = c->now_ms;
		t->gap_end_ms = c->now_ms + length(60);
		t->gap_out = t->state == 'C' ? i + 1 : 0;
		t->found[OFF] &= t->state != 'C';
	} else if (t->gap_ms && t->gap_end_ms == c->now_ms) {
		stream_mark(&c->m, (uint16_t)i, t->gap_ms, t->gap_out, 0, "gap");
		stream_mark(&c->m, (uint16_t)i, c->now_ms, 0, t->state == 'C' ? i + 1 : 0, "gap");
		t->found[OFF] &= t->state != 'C';
		t->gap_ms = 0;
	}
}

static void round_of_machine(struct machine *c)
{
	const struct trigger_fired *f;
	uint64_t complete_ms = c->now_ms;
	unsigned int i;

	for (i = 0; i < THREADS; i++)
		if (c->threads[i].gap_ms && c->threads[i].gap_ms < complete_ms)
			complete_ms = c->threads[i].gap_ms;
	stream_round(&c->m, complete_ms);
	while ((f = triggers_next(c->m.t))) {
		struct thing *t = &c->threads[f->thread - 1];
		const uint64_t since_ms = f->name[0] == 'o' ? t->off_ms : t->since_ms;

		/* What has ended by now, or had in the records, is told apart in other tests. */
		if (f->to_ns < since_ms * STREAM_MS || (!f->is_ongoing && f->from_ns < since_ms * STREAM_MS))
			continue;
		assert_true(f->from_ns >= since_ms * STREAM_MS);
		if (f->name[0] != 'o')
			assert_int_equal(t->state, f->name[0] == 'r' ? 'R' : 'D');
		else if (t->state == 'C')
			assert_true(f->to_ns <= t->since_ms * STREAM_MS);
		t->found[f->name[0] == 'r' ? RUNQ : f->name[0] == 'b' ? BLOCKED : OFF] = true;
	}
}

/* Nothing is found that was not so, and nothing long is missed, whatever gaps hide. */
static void test_by_chance(void **state)
{
	uint64_t waits = 0;
	unsigned int seed, i;

	(void)state;
	for (seed = 1; seed <= 40; seed++) {
		struct machine c = { .now_ms = 0 };

		srand(seed);
		stream_open(&c.m, kinds);
		triggers_ask(c.m.t, answer_machine, &c);
		for (i = 0; i < THREADS; i++) {
			c.threads[i].state = 'C';
			c.threads[i].next_ms = 2 + i;
			stream_switch(&c.m, (uint16_t)i, 1, 0, 'R', i + 1);
		}
		for (c.now_ms = 2; c.now_ms < 20000; c.now_ms++) {
			for (i = 0; i < THREADS; i++)
				if (c.threads[i].next_ms == c.now_ms)
					change(&c, i);
			for (i = 0; i < THREADS; i++)
				change_gap(&c, i);
			if (c.now_ms % 10 == 0)
				round_of_machine(&c);
		}
		waits += c.waits;
		stream_close(&c.m);
	}
	assert_true(waits > 1000);
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
		cmocka_unit_test(test_answer_in_gap),
		cmocka_unit_test(test_states),
		cmocka_unit_test(test_unsure),
		cmocka_unit_test(test_ends),
		cmocka_unit_test(test_ids),
		cmocka_unit_test(test_filtered),
		cmocka_unit_test(test_suspended),
		cmocka_unit_test(test_cooldown),
		cmocka_unit_test(test_many),
		cmocka_unit_test(test_by_chance),
		cmocka_unit_test(test_proc),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
