// SPDX-License-Identifier: GPL-2.0
/*
 * What is kept of threads and processes that have exited, and for how long.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>

#include <cmocka.h>

#include <string.h>

#include "cli/cli_made.h"
#include "fxt/fxt_mem.h"
#include "piece/state.h"

#define SECOND	1000000000ULL

/* Two CPUs, on which 11 and 12 run. */
static void open_two(struct made *m)
{
	made_begin(m);
	put_start(m, 1000, "0-1", "0-1");
	put_switch(m, 1010, 0, IDLE, 1, 11, "start");
	put_switch(m, 1010, 1, IDLE, 1, 12, "start");
}

static struct piece_state *state_of(const struct made *m)
{
	struct piece_state *s;

	assert_int_equal(piece_state_open(&s), 0);
	assert_int_equal(piece_state_add(s, m->data, m->len), 0);
	return s;
}

static void assert_kept(struct piece_state *s, uint64_t threads, uint64_t processes)
{
	const struct piece_cut cut = { 0 };
	struct piece_totals totals;

	assert_int_equal(piece_state_cut(s, &cut), 0);
	assert_int_equal(piece_state_totals(s, &cut, &totals), 0);
	assert_int_equal(totals.threads, threads);
	assert_int_equal(totals.processes, processes);
}

static void add_switch(struct piece_state *s, uint64_t ts, uint64_t out, int out_state, uint64_t in)
{
	struct made m;

	made_open(&m);
	put_switch(&m, ts, 0, out, out_state, in, NULL);
	made_close(&m);
	assert_int_equal(piece_state_add(s, m.data, m.len), 0);
	made_free(&m);
}

/* A thread that has exited is kept for a minute, and its process with it. */
static void test_forgotten(void **state)
{
	struct piece_state *s;
	struct made m;

	(void)state;
	open_two(&m);
	put_process(&m, 30, "gone");
	put_thread(&m, 30, 30, "gone");
	put_thread(&m, 10000030, 10, "the next with this id");
	made_close(&m);
	s = state_of(&m);
	assert_kept(s, 6, 3);
	add_switch(s, 1 * SECOND, 11, FXT_STATE_DEAD, 12);
	assert_kept(s, 6, 3);
	add_switch(s, 62 * SECOND, 12, FXT_STATE_BLOCKED, 20);
	assert_kept(s, 4, 2);
	add_switch(s, 130 * SECOND, 20, FXT_STATE_DYING, 10);
	assert_kept(s, 4, 2);
	/* a zombie that runs once more lives */
	add_switch(s, 131 * SECOND, 10, FXT_STATE_RUNNING, 20);
	add_switch(s, 231 * SECOND, 20, FXT_STATE_RUNNING, 10);
	assert_kept(s, 4, 2);
	piece_state_close(s);
	made_free(&m);
}

static void add(struct piece_state *s, struct made *m)
{
	made_close(m);
	assert_int_equal(piece_state_add(s, m->data, m->len), 0);
	made_free(m);
}

/* What the recorder says at @ts. */
static void add_session(struct piece_state *s, uint64_t ts)
{
	struct made m;

	made_open(&m);
	put_session(&m, ts, "cost", NULL, 0);
	add(s, &m);
}

static void add_exit(struct piece_state *s, uint64_t koid, uint64_t process)
{
	struct made m;

	made_open(&m);
	put_last_thread(&m, koid, process, "exits");
	add(s, &m);
}

/* With a filter no switch says that a thread has exited, nor how late it is: its object does, and the recorder. */
static void test_hidden_exits(void **state)
{
	const unsigned int cnt = 50000, per_second = 100;
	const struct piece_cut cut = { 0 };
	struct piece_totals totals;
	struct piece_state *s;
	struct made m;
	unsigned int i;

	(void)state;
	open_two(&m);
	made_close(&m);
	s = state_of(&m);
	made_free(&m);
	for (i = 0; i < cnt; i++) {
		const uint64_t koid = 1000 + i;

		if (i % per_second == 0)
			made_open(&m);
		put_process(&m, koid, "forked");
		put_thread(&m, koid, koid, "forked");
		put_last_thread(&m, koid, koid, "forked");
		put_session(&m, (i + 1) * (SECOND / per_second), "cost", NULL, 0);
		if ((i + 1) % per_second == 0)
			add(s, &m);
	}
	assert_int_equal(piece_state_totals(s, &cut, &totals), 0);
	assert_in_range(totals.threads, 60 * per_second, 75 * per_second);
	assert_in_range(totals.processes, 60 * per_second, 75 * per_second);
	add_session(s, (cnt / per_second + 61) * SECOND);
	assert_kept(s, 4, 2);
	piece_state_close(s);
}

/* A thread that exits can take long: it is forgotten once nothing is certain of it any more. */
static void test_slow_exits(void **state)
{
	struct piece_state *s;
	struct made m;

	(void)state;
	open_two(&m);
	put_thread(&m, 13, 10, "executes");
	made_close(&m);
	s = state_of(&m);
	made_free(&m);
	add_switch(s, 1 * SECOND, 11, FXT_STATE_BLOCKED, 20);
	add_exit(s, 11, 10);
	add_exit(s, 20, 0);
	add_exit(s, 13, 10);
	made_open(&m);
	put_thread(&m, 13, 10, "executed");
	add(s, &m);
	add_session(s, 100 * SECOND);
	assert_kept(s, 5, 2);
	/* the switch-out of the one that runs, and the end of the one that sleeps, may be in the gap */
	made_open(&m);
	put_switch(&m, 101 * SECOND, 0, 20, FXT_STATE_RUNNING, IDLE, "gap");
	put_gap(&m, 101 * SECOND, 102 * SECOND, 0, 5, 0, 0);
	put_switch(&m, 102 * SECOND, 0, IDLE, FXT_STATE_RUNNING, 12, "gap");
	add(s, &m);
	assert_kept(s, 4, 2);
	add_session(s, 163 * SECOND);
	assert_kept(s, 3, 1);
	piece_state_close(s);
}

/* Of async slices that are open: who has them, 0: there is none. */
static uint64_t owner(struct piece_state *s, const char *name)
{
	const struct piece_cut cut = { 0 };
	struct fxt_mem head = { 0 };
	struct fxt_mem_source source;
	struct fxt_reader *reader;
	struct fxt_writer *w;
	struct fxt_record rec;
	uint64_t thread = 0;

	assert_int_equal(piece_state_cut(s, &cut), 0);
	assert_int_equal(fxt_writer_open(&w, fxt_mem_write, &head), 0);
	assert_int_equal(piece_state_write_head(s, w, &cut), 0);
	assert_int_equal(fxt_writer_close(w), 0);
	source = (struct fxt_mem_source){ .data = head.data, .len = head.len };
	assert_int_equal(fxt_reader_open(&reader, fxt_mem_read, &source), 0);
	while (fxt_reader_next(reader, &rec) == 1)
		if (rec.kind == FXT_KIND_EVENT && rec.event.type == FXT_ASYNC_BEGIN && rec.event.name.len == strlen(name) &&
		    !memcmp(rec.event.name.data, name, strlen(name)))
			thread = rec.event.thread.thread;
	fxt_reader_close(reader);
	fxt_mem_free(&head);
	return thread;
}

static void put_async(struct made *m, uint64_t process, uint64_t ts, uint64_t thread, const char *name, uint64_t id)
{
	const struct fxt_event e = {
		.type = FXT_ASYNC_BEGIN, .ts = ts, .thread = { .process = process, .thread = thread }, .category = fxt_str("app"),
		.name = fxt_str(name), .id = id,
	};

	assert_int_equal(fxt_write_event(m->w, &e, NULL, 0), 0);
}

/* An async slice stays open without the thread that began it, but not without the process. */
static void test_inherited(void **state)
{
	struct piece_state *s;
	struct made m;

	(void)state;
	open_two(&m);
	put_thread(&m, 10, 10, "first");
	put_process(&m, 30, "gone");
	put_thread(&m, 30, 30, "gone");
	put_async(&m, 10, 1020, 11, "stays", 1);
	put_async(&m, 30, 1030, 30, "goes", 2);
	put_switch(&m, 1040, 0, 11, FXT_STATE_RUNNING, 30, NULL);
	made_close(&m);
	s = state_of(&m);
	add_switch(s, 1 * SECOND, 30, FXT_STATE_DEAD, 11);
	add_switch(s, 2 * SECOND, 11, FXT_STATE_DEAD, 12);
	assert_int_equal(owner(s, "stays"), 11);
	assert_int_equal(owner(s, "goes"), 30);
	add_switch(s, 63 * SECOND, 12, FXT_STATE_BLOCKED, 20);
	assert_int_equal(owner(s, "stays"), 10);
	assert_int_equal(owner(s, "goes"), 0);
	add_switch(s, 200 * SECOND, 20, FXT_STATE_RUNNING, 12);
	assert_int_equal(owner(s, "stays"), 10);
	piece_state_close(s);
	made_free(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_forgotten), cmocka_unit_test(test_hidden_exits), cmocka_unit_test(test_slow_exits),
		cmocka_unit_test(test_inherited),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
