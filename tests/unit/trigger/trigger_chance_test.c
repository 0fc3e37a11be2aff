// SPDX-License-Identifier: GPL-2.0
/*
 * Unit tests of triggers by waits on a machine of which all is known, and of which the recording lacks switches and wakeups: in
 * gaps, and where the kernel did not report a switch.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "trigger_made.h"

#define THREADS		5U	/* each has a CPU */
#define END_MS		20000U
#define LONG_MS		700U	/* twice the threshold, and some gaps */
#define LONG_RUNQ_MS	2000U

enum { RUNQ, BLOCKED, OFF };

struct thing {
	char state;		/* C: it runs */
	uint64_t since_ms, next_ms, switches, run_ms;
	bool hidden;		/* that it began so, or would have been woken, is not in the records */
	bool off_hidden;	/* the kernel did not report that it went off its CPU */
	bool found[3];		/* of the wait that goes on: runq, blocked, offcpu */
	uint64_t off_ms;	/* since when it does not run */
	uint64_t gap_ms;	/* its CPU's, 0: none */
	uint64_t gap_end_ms;
	uint64_t gap_out;	/* the koid that ran when that began; 0: none */
	bool unreported;	/* the last switch of its CPU was not; the next one is */
	uint64_t record_ms;	/* the CPU's last record */
	char was[END_MS];	/* the state in each millisecond */
};

struct machine {
	struct stream m;
	struct thing threads[THREADS];
	uint64_t now_ms, cut_ms, waits;
};

static const char *const kinds[] = { "runq>100ms", "blocked>100ms", "offcpu>100ms", NULL };

static int answer_machine(void *ctx, uint32_t tid, struct trigger_answer *out)
{
	const struct machine *c = ctx;
	const struct thing *t = &c->threads[tid - 1];

	*out = (struct trigger_answer){
		.before_ns = c->now_ms * STREAM_MS, .after_ns = c->now_ms * STREAM_MS, .switches = t->switches,
		.state = t->state == 'C' ? 'R' : t->state, .comm = "x",
		.run_ns = t->run_ms + (t->state == 'C' ? c->now_ms - t->since_ms : 0),
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

static void expect_found(struct machine *c, const struct thing *t, unsigned int kind, uint64_t since_ms)
{
	c->waits++;
	if (!t->found[kind])
		fail_msg("%s: thread %d, from %d to %d", kinds[kind], (int)(t - c->threads) + 1, (int)since_ms, (int)c->now_ms);
}

/*
 * A wait of a kind has ended. If it was long it was found before, unless its begin is not in the records: a thread that is asleep as far
 * as is known is not asked for.
 */
static void end_wait(struct machine *c, struct thing *t, unsigned int kind, uint64_t since_ms, uint64_t long_ms)
{
	if (c->now_ms - since_ms > long_ms && !(kind == OFF ? t->off_hidden : t->hidden)) {
		expect_found(c, t, kind, since_ms);
	}
	t->found[kind] = false;
}

/* If it runs only while that is hidden, it is still the same wait as far as is known, and was found. */
static void end_off(struct machine *c, struct thing *t)
{
	const bool found = t->found[OFF];

	if (t->since_ms == t->off_ms)
		end_wait(c, t, OFF, t->off_ms, LONG_RUNQ_MS);
	t->found[OFF] = t->gap_ms && found;
}

/* A switch of its CPU, unless the kernel does not report it: that is noticed at the next one. */
static void put_switch(struct machine *c, unsigned int i, bool in, bool hidden)
{
	struct thing *t = &c->threads[i];
	const uint64_t gap_ms = t->record_ms > c->cut_ms ? t->record_ms : c->cut_ms;

	if (hidden)
		return;
	if (t->unreported) {
		stream_mark(&c->m, (uint16_t)i, gap_ms, in ? i + 1 : 0, 0, "gap");
		stream_mark(&c->m, (uint16_t)i, c->now_ms, 0, in ? 0 : i + 1, "gap");
		t->found[OFF] = false;
	}
	t->unreported = false;
	t->record_ms = c->now_ms;
	if (in)
		stream_switch(&c->m, (uint16_t)i, c->now_ms, 0, 'R', i + 1);
	else
		stream_switch(&c->m, (uint16_t)i, c->now_ms, i + 1, t->state, 0);
}

static void change(struct machine *c, unsigned int i)
{
	struct thing *t = &c->threads[i];
	const bool skipped = !t->gap_ms && !t->unreported && rand() % 30 == 0;
	bool hidden = t->gap_ms || skipped;

	if (t->state == 'C') {
		t->state = rand() % 8 == 0 ? 'R' : rand() % 2 ? 'S' : 'D';
		t->switches++;
		t->run_ms += c->now_ms - t->since_ms;
		t->off_ms = c->now_ms;
		t->off_hidden = skipped;
		put_switch(c, i, false, hidden);
		t->unreported |= skipped;
	} else if (t->state == 'R') {
		end_wait(c, t, RUNQ, t->since_ms, LONG_RUNQ_MS);
		end_off(c, t);
		t->state = 'C';
		put_switch(c, i, true, hidden);
		t->unreported |= skipped;
	} else {
		const unsigned int waker = (unsigned int)rand() % THREADS;

		if (t->state == 'D')
			end_wait(c, t, BLOCKED, t->since_ms, LONG_MS);
		if (c->now_ms - t->off_ms > LONG_MS && !t->off_hidden)
			expect_found(c, t, OFF, t->off_ms);
		t->state = 'R';
		hidden = c->threads[waker].gap_ms;
		if (!hidden)
			stream_wakeup(&c->m, c->now_ms, i + 1, NULL);
	}
	t->hidden = hidden;
	t->since_ms = c->now_ms;
	t->next_ms = c->now_ms + (t->state == 'C' ? length(500) : length(3000));
}

/* The marks of a gap are written when it ends. */
static void change_gap(struct machine *c, unsigned int i)
{
	struct thing *t = &c->threads[i];

	if (!t->gap_ms && !t->unreported && rand() % 700 == 0) {
		t->gap_ms = c->now_ms;
		t->gap_end_ms = c->now_ms + length(60);
		t->gap_out = t->state == 'C' ? i + 1 : 0;
		t->found[OFF] &= t->state != 'C';
	} else if (t->gap_ms && t->gap_end_ms == c->now_ms) {
		stream_mark(&c->m, (uint16_t)i, t->gap_ms, t->gap_out, 0, "gap");
		stream_mark(&c->m, (uint16_t)i, c->now_ms, 0, t->state == 'C' ? i + 1 : 0, "gap");
		t->record_ms = c->now_ms;
		t->found[OFF] &= t->state != 'C';
		t->gap_ms = 0;
	}
}

static bool is_waiting(char state, char kind)
{
	return kind == 'o' ? state != 'C' : state == (kind == 'r' ? 'R' : 'D');
}

/* That is how it was, all the time. */
static void check_fired(const struct thing *t, const struct trigger_fired *f)
{
	uint64_t ms;

	for (ms = f->from_ns / STREAM_MS; ms < f->to_ns / STREAM_MS; ms++)
		if (!is_waiting(t->was[ms], f->name[0]))
			fail_msg("%s from %d to %d: at %d it is %c", f->word, (int)(f->from_ns / STREAM_MS),
				 (int)(f->to_ns / STREAM_MS), (int)ms, t->was[ms]);
}

static void round_of_machine(struct machine *c)
{
	const struct trigger_fired *f;
	uint64_t complete_ms = c->now_ms;
	unsigned int i;

	for (i = 0; i < THREADS; i++)
		if (c->threads[i].gap_ms && c->threads[i].gap_ms < complete_ms)
			complete_ms = c->threads[i].gap_ms;
	c->cut_ms = complete_ms;
	stream_round(&c->m, complete_ms);
	while ((f = triggers_next(c->m.t))) {
		struct thing *t = &c->threads[f->thread - 1];
		const unsigned int kind = f->name[0] == 'r' ? RUNQ : f->name[0] == 'b' ? BLOCKED : OFF;

		check_fired(t, f);
		if (f->from_ns >= (kind == OFF ? t->off_ms : t->since_ms) * STREAM_MS)
			t->found[kind] = true;
	}
}

static void step_machine(struct machine *c)
{
	unsigned int i;

	for (i = 0; i < THREADS; i++)
		if (c->threads[i].next_ms == c->now_ms)
			change(c, i);
	for (i = 0; i < THREADS; i++) {
		change_gap(c, i);
		c->threads[i].was[c->now_ms] = c->threads[i].state;
	}
	if (c->now_ms % 10 == 0)
		round_of_machine(c);
}

/* Nothing is found that was not so, and nothing long is missed, whatever gaps hide and the kernel does not report. */
static void test_by_chance(void **state)
{
	static struct machine c;
	uint64_t waits = 0;
	unsigned int seed, i;

	(void)state;
	for (seed = 1; seed <= 60; seed++) {
		memset(&c, 0, sizeof(c));
		srand(seed);
		stream_open(&c.m, kinds);
		triggers_ask(c.m.t, answer_machine, &c);
		for (i = 0; i < THREADS; i++) {
			c.threads[i].state = 'C';
			c.threads[i].since_ms = c.threads[i].record_ms = 1;
			c.threads[i].next_ms = 2 + i;
			stream_switch(&c.m, (uint16_t)i, 1, 0, 'R', i + 1);
		}
		for (c.now_ms = 2; c.now_ms < END_MS; c.now_ms++)
			step_machine(&c);
		waits += c.waits;
		stream_close(&c.m);
	}
	assert_true(waits > 300);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_by_chance),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
