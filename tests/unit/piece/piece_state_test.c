// SPDX-License-Identifier: GPL-2.0
/*
 * Small traces that are cut before each of their records: what must be in the pieces is worked out by hand.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>

#include <cmocka.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli_made.h"
#include "piece_walk.h"
#include "profile/profile.h"

#define SECOND	1000000000ULL

/* Two CPUs, on which 11 and 12 run. */
static void open_two(struct made *m)
{
	made_begin(m);
	put_start(m, 1000, "0-1", "0-1");
	put_switch(m, 1010, 0, IDLE, 1, 11, "start");
	put_switch(m, 1010, 1, IDLE, 1, 12, "start");
}

static void close_two(struct made *m, uint64_t runs0, uint64_t runs1)
{
	put_switch(m, 9000, 0, runs0, 1, IDLE, "stop");
	put_switch(m, 9000, 1, runs1, 1, IDLE, "stop");
	put_session(m, 9100, "stop", NULL, 0);
	made_close(m);
}

/* Both pieces of each cut are without fault, and have all. Returns how many wakeups were carried at most. */
static size_t cut_everywhere(struct made *m)
{
	size_t i, most = 0, carried;
	struct fxt_mem a, b;
	struct whole w;
	int bound;

	whole_open(&w, (unsigned char *)m->data, m->len);
	for (i = 1; i <= w.records_cnt; i++) {
		for (bound = 0; bound < 2; bound++) {
			walk_piece(&w, 0, i, bound, &a);
			walk_piece(&w, i, w.records_cnt, bound, &b);
			walk_verify(&a, "first piece", 0, i);
			walk_verify(&b, "second piece", i, w.records_cnt);
			walk_compare(&w, &a, 0, i);
			carried = walk_compare(&w, &b, i, w.records_cnt);
			most = carried > most ? carried : most;
			fxt_mem_free(&a);
			fxt_mem_free(&b);
		}
	}
	whole_close(&w);
	return most;
}

/* The ring of CPU 0 was drained first: it has two wakeups of sleeps that follow. */
static void test_carried(void **state)
{
	struct made m;

	(void)state;
	open_two(&m);
	put_switch(&m, 1100, 0, 11, 3, IDLE, NULL);
	put_wakeup(&m, 1210, 1, 12, 0);
	put_wakeup(&m, 1310, 1, 12, 0);
	put_switch(&m, 1200, 1, 12, 3, IDLE, NULL);
	put_switch(&m, 1250, 1, IDLE, 1, 12, NULL);
	put_switch(&m, 1300, 1, 12, 3, IDLE, NULL);
	put_switch(&m, 1350, 1, IDLE, 1, 12, NULL);
	close_two(&m, IDLE, 12);
	assert_int_equal(cut_everywhere(&m), 2);
}

/* A ring that is drained late: as many wakeups wait as there were, in order, and each goes with its sleep. */
static void test_many_wakeups(void **state)
{
	const struct piece_cut cut = { 0 };
	const unsigned int cnt = 100000;
	struct piece_totals totals;
	struct piece_state *s;
	struct made m;
	unsigned int i;

	(void)state;
	open_two(&m);
	for (i = 1; i <= cnt; i++)
		put_wakeup(&m, 2000 + 100 * i, 1, 12, 0);
	put_wakeup(&m, 1990, 1, 12, 0);
	for (i = 0; i < cnt / 2; i++) {
		put_switch(&m, 2000 + 100 * i - 50, 1, 12, 3, IDLE, NULL);
		put_switch(&m, 2000 + 100 * i + 10, 1, IDLE, 1, 12, NULL);
	}
	made_close(&m);
	assert_int_equal(piece_state_open(&s), 0);
	assert_int_equal(piece_state_add(s, m.data, m.len), 0);
	assert_int_equal(piece_state_totals(s, &cut, &totals), 0);
	assert_int_equal(totals.carried, cnt / 2 + 1);
	piece_state_close(s);
	made_free(&m);
}

/* 11 goes to CPU 1 and comes back; what CPU 1 has of it follows in the file and is older. */
static void test_migrated(void **state)
{
	struct made m;

	(void)state;
	open_two(&m);
	put_switch(&m, 1050, 0, 11, 1, IDLE, NULL);
	put_switch(&m, 1080, 0, IDLE, 1, 11, NULL);
	put_switch(&m, 1100, 0, 11, 3, IDLE, NULL);
	put_wakeup(&m, 1120, 1, 12, 0);
	put_switch(&m, 1060, 1, 12, 3, 11, NULL);
	put_switch(&m, 1070, 1, 11, 1, IDLE, NULL);
	put_wakeup(&m, 1125, 0, 11, 0);
	put_switch(&m, 1130, 1, IDLE, 1, 12, NULL);
	put_switch(&m, 1140, 0, IDLE, 1, 11, NULL);
	close_two(&m, 11, 12);
	cut_everywhere(&m);
}

/* Also between the marks of a gap, before and after its slice. */
static void test_gap(void **state)
{
	struct made m;

	(void)state;
	open_two(&m);
	put_switch(&m, 1100, 0, 11, 3, IDLE, NULL);
	put_switch(&m, 1200, 1, 12, 1, IDLE, "gap");
	put_gap(&m, 1200, 1300, 1, 5, 1, 0);
	put_switch(&m, 1300, 1, IDLE, 1, 20, "gap");
	put_wakeup(&m, 1350, 0, 11, 20);
	put_switch(&m, 1400, 0, IDLE, 1, 11, NULL);
	put_switch(&m, 1405, 0, 11, 3, IDLE, NULL);
	put_switch(&m, 1410, 0, IDLE, 1, IDLE, "gap");	/* idle on both sides */
	put_gap(&m, 1410, 1420, 0, 2, 0, 1);
	put_switch(&m, 1420, 0, IDLE, 1, IDLE, "gap");
	put_event_gap(&m, 1400, 1500, 0, 0, 0, 3);
	close_two(&m, IDLE, 20);
	cut_everywhere(&m);
}

/* A CPU on which nothing selected runs; the switch-in of what is switched out there is written late. */
static void test_filter(void **state)
{
	struct made m;

	(void)state;
	made_begin(&m);
	put_start(&m, 1000, "0-1", "0-1");
	put_switch(&m, 1010, 0, IDLE, 1, IDLE, "start");
	put_switch(&m, 1010, 0, IDLE, 1, IDLE, "filter");
	put_switch(&m, 1010, 1, IDLE, 1, 12, "start");
	put_switch(&m, 1100, 1, 12, 1, IDLE, "filter");
	put_switch(&m, 1050, 0, IDLE, 1, 20, "filter");
	put_switch(&m, 1200, 0, 20, 3, 11, NULL);
	put_switch(&m, 1300, 0, 11, 3, IDLE, NULL);
	put_switch(&m, 1310, 0, IDLE, 1, IDLE, "filter");
	put_wakeup(&m, 1320, 0, 11, 0);
	close_two(&m, IDLE, IDLE);
	cut_everywhere(&m);
}

static void put_event_of(struct made *m, uint64_t process, enum fxt_event_type type, uint64_t ts, uint64_t thread,
			 const char *name, uint64_t id)
{
	const struct fxt_event e = {
		.type = type, .ts = ts, .thread = { .process = process, .thread = thread }, .category = fxt_str("app"),
		.name = fxt_str(name), .id = id,
	};
	const struct fxt_arg args[] = { fxt_arg_str("what", fxt_str_inline(name, strlen(name))), fxt_arg_u64("n", id) };

	assert_int_equal(fxt_write_event(m->w, &e, args, type == FXT_DURATION_END ? 0 : 2), 0);
}

static void put_event(struct made *m, enum fxt_event_type type, uint64_t ts, uint64_t thread, const char *name,
		      uint64_t id)
{
	put_event_of(m, 10, type, ts, thread, name, id);
}

static void put_slices(struct made *m)
{
	put_event(m, FXT_DURATION_BEGIN, 1020, 11, "outer", 0);
	put_event(m, FXT_ASYNC_BEGIN, 1030, 12, "async", 7);
	put_event(m, FXT_DURATION_BEGIN, 1040, 11, "inner", 0);
	put_event(m, FXT_INSTANT, 1045, 11, "instant", 0);
	put_event(m, FXT_DURATION_BEGIN, 1050, 12, "other", 0);
	put_event(m, FXT_DURATION_END, 1060, 11, "inner", 0);
	put_event(m, FXT_DURATION_COMPLETE, 1065, 11, "whole", 1068);
	put_event(m, FXT_DURATION_END, 1090, 11, "outer", 0);
	put_event(m, FXT_ASYNC_END, 1095, 12, "async", 7);
	put_event(m, FXT_DURATION_END, 1096, 12, "other", 0);
	put_event(m, FXT_DURATION_END, 1097, 12, "none is open", 0);
}

static void test_slices(void **state)
{
	struct made m;

	(void)state;
	open_two(&m);
	put_slices(&m);
	close_two(&m, 11, 12);
	cut_everywhere(&m);
}

/* What a piece has of begins and ends of slices. */
struct slices {
	unsigned int begins, ends, continued, unfinished;
	uint64_t worker_ns, helper_ns, async_ns;	/* where those of 11, of 12 and the async one were cut */
};

static struct slices find_slices(const struct fxt_mem *piece)
{
	struct fxt_mem_source source = { .data = piece->data, .len = piece->len };
	struct slices s = { 0 };
	struct fxt_reader *reader;
	struct fxt_record rec;
	bool begin, made;

	assert_int_equal(fxt_reader_open(&reader, fxt_mem_read, &source), 0);
	while (fxt_reader_next(reader, &rec) == 1) {
		if (rec.kind != FXT_KIND_EVENT || rec.event.type < FXT_DURATION_BEGIN || rec.event.type > FXT_ASYNC_END ||
		    rec.event.type == FXT_DURATION_COMPLETE || rec.event.type == FXT_ASYNC_INSTANT)
			continue;
		begin = rec.event.type == FXT_DURATION_BEGIN || rec.event.type == FXT_ASYNC_BEGIN;
		made = fxt_record_arg(&rec, begin ? "continued" : "unfinished");
		s.begins += begin && !made;
		s.ends += !begin && !made;
		s.continued += begin && made;
		s.unfinished += !begin && made;
		if (made && begin)
			assert_non_null(fxt_record_arg(&rec, "what"));
		if (made && rec.event.type >= FXT_ASYNC_BEGIN)
			s.async_ns = rec.ts;
		else if (made)
			*(rec.event.thread.thread == 11 ? &s.worker_ns : &s.helper_ns) = rec.ts;
	}
	fxt_reader_close(reader);
	return s;
}

/* The record before which the recording is cut: the first one of that time. */
static size_t record_at(const struct whole *w, uint64_t ts)
{
	uint64_t header, at;
	size_t i;

	for (i = 0; i < w->records_cnt; i++) {
		memcpy(&header, w->data + w->at[i], 8);
		memcpy(&at, w->data + w->at[i] + 8, 8);
		if (FXT_GET(header, FXT_F_TYPE) == FXT_EVENT && at == ts)
			return i;
	}
	fail_msg("no event at %llu", (unsigned long long)ts);
	return 0;
}

static void test_slice_ends(void **state)
{
	struct fxt_mem pieces[2];
	struct slices a, b;
	struct whole w;
	struct made m;
	size_t cut;

	(void)state;
	open_two(&m);
	put_slices(&m);
	close_two(&m, 11, 12);
	whole_open(&w, (unsigned char *)m.data, m.len);
	cut = record_at(&w, 1060);
	walk_rotation(&w, &cut, 1, pieces);
	a = find_slices(&pieces[0]);
	b = find_slices(&pieces[1]);
	assert_int_equal(a.begins, 4);
	assert_int_equal(a.ends, 0);
	assert_int_equal(a.continued, 0);
	assert_int_equal(a.unfinished, 4);
	assert_int_equal(b.begins, 0);
	assert_int_equal(b.ends, 5);
	assert_int_equal(b.continued, 4);
	assert_int_equal(b.unfinished, 0);
	assert_int_equal(a.worker_ns, 1040);
	assert_int_equal(a.helper_ns, 1050);
	assert_int_equal(a.async_ns, 1030);
	assert_int_equal(b.worker_ns, a.worker_ns);
	assert_int_equal(b.helper_ns, a.helper_ns);
	assert_int_equal(b.async_ns, a.async_ns);
	fxt_mem_free(&pieces[0]);
	fxt_mem_free(&pieces[1]);
	whole_close(&w);
}

static void put_sample(struct profile_writer *p, uint64_t ts, enum profile_source source, const char *function)
{
	const struct profile_frame frames[] = {
		{ .name = fxt_str("main"), .mapping = fxt_str("/bin/app"), .kind = PROFILE_NATIVE, .rel_pc = 16 },
		{ .name = fxt_str(function), .mapping = fxt_str("/bin/app"), .kind = PROFILE_NATIVE, .rel_pc = 32 },
	};
	const struct profile_sample s = {
		.ts = ts, .process = 10, .thread = 11, .cpu = 0, .source = source, .weight = 100, .frames = frames, .frames_cnt = 2,
	};

	assert_int_equal(profile_writer_add(p, &s), 0);
	assert_int_equal(profile_writer_flush(p), 0);
}

/* Samples refer to what is in packets of an earlier file; after @max stacks these begin anew. */
static void cut_samples(uint32_t max)
{
	const struct profile_config cfg = { .period_ns = 1000, .stacks_max = max };
	struct profile_writer *p;
	struct made m;

	open_two(&m);
	assert_int_equal(profile_writer_open(&p, m.w, &cfg), 0);
	put_sample(p, 1020, PROFILE_CPU, "one");
	put_switch(&m, 1100, 0, 11, 3, IDLE, NULL);
	put_sample(p, 1030, PROFILE_CPU, "two");
	put_wakeup(&m, 1200, 0, 11, 0);
	put_switch(&m, 1300, 0, IDLE, 1, 11, NULL);
	put_sample(p, 1100, PROFILE_OFF_CPU, "one");
	put_sample(p, 1200, PROFILE_WAKER, "three");
	put_sample(p, 1400, PROFILE_CPU, "four");
	put_sample(p, 1500, PROFILE_OFF_CPU, "two");
	profile_writer_close(p);
	close_two(&m, 11, 12);
	cut_everywhere(&m);
}

static void test_samples(void **state)
{
	(void)state;
	cut_samples(0);
	cut_samples(2);
	cut_samples(1);
}

/* ---- CPUs ---------------------------------------------------------------------- */

static struct piece_state *state_of(const struct made *m)
{
	struct piece_state *s;

	assert_int_equal(piece_state_open(&s), 0);
	assert_int_equal(piece_state_add(s, m->data, m->len), 0);
	return s;
}

static void test_cpus(void **state)
{
	const uint64_t bounds[] = { 5000, 1150 };
	struct piece_cut cut = { .bound_ns = 2000 };
	struct piece_totals totals;
	struct piece_state *s;
	struct piece_cpu cpu;
	struct made m;

	(void)state;
	open_two(&m);
	put_switch(&m, 1100, 0, 11, 3, IDLE, NULL);
	put_marked_wakeup(&m, 1210, 0, 11, 0, "implied");
	put_switch(&m, 1200, 1, 12, 1, IDLE, "gap");
	made_close(&m);
	s = state_of(&m);
	assert_true(piece_state_cpu(s, &cut, 0, &cpu));
	assert_true(cpu.live);
	assert_false(cpu.in_gap);
	assert_int_equal(cpu.cut_ns, 2000);
	assert_int_equal(cpu.running, 0);
	assert_int_equal(cpu.switches, 1);
	assert_int_equal(cpu.wakeups, 1);
	assert_int_equal(cpu.unreported_wakeups, 1);
	/* where a gap began nothing can be later */
	assert_true(piece_state_cpu(s, &cut, 1, &cpu));
	assert_true(cpu.in_gap);
	assert_int_equal(cpu.cut_ns, 1200);
	assert_int_equal(cpu.switches, 0);
	assert_false(piece_state_cpu(s, &cut, 2, &cpu));
	assert_false(piece_state_cpu(s, &cut, 1U << 20, &cpu));
	cut.cpu_bound_ns = bounds;
	cut.cpus_cnt = 2;
	assert_true(piece_state_cpu(s, &cut, 0, &cpu));
	assert_int_equal(cpu.cut_ns, 5000);
	assert_int_equal(piece_state_totals(s, &cut, &totals), 0);
	assert_int_equal(totals.to_ns, 5000);
	assert_int_equal(totals.from_ns, 1200);
	assert_int_equal(totals.threads, 4);
	assert_int_equal(totals.processes, 2);
	assert_int_equal(piece_state_cut(s, &cut), 0);
	assert_true(piece_state_cpu(s, &cut, 0, &cpu));
	assert_int_equal(cpu.switches, 0);
	assert_int_equal(cpu.wakeups, 0);
	piece_state_close(s);
	made_free(&m);
}

/* ---- lost names -------------------------------------------------------------------------------- */

/* What the ledger of a piece has. */
static uint64_t lost_names(const struct fxt_mem *piece)
{
	struct fxt_mem_source source = { .data = piece->data, .len = piece->len };
	const struct fxt_arg *arg;
	struct fxt_reader *reader;
	struct fxt_record rec;
	uint64_t lost = 0;

	assert_int_equal(fxt_reader_open(&reader, fxt_mem_read, &source), 0);
	while (fxt_reader_next(reader, &rec) == 1) {
		if (rec.kind != FXT_KIND_EVENT || rec.event.name.len != 6 || memcmp(rec.event.name.data, "ledger", 6))
			continue;
		arg = fxt_record_arg(&rec, "lost_names");
		lost += arg ? arg->u64 : 0;
	}
	fxt_reader_close(reader);
	return lost;
}

static void put_lost_names(struct made *m, uint64_t ts, uint64_t lost, uint64_t unread)
{
	const struct fxt_arg args[] = { fxt_arg_u64("lost", lost), fxt_arg_u64("unread", unread) };

	put_session(m, ts, "lost_names", args, 2);
}

/* Each piece says so that may have threads without names: until what lives has been read again. */
static void test_lost_names(void **state)
{
	struct fxt_mem piece, window;
	struct made m;
	struct whole w;
	size_t i, first, unnamed, again;

	(void)state;
	open_two(&m);
	put_lost_names(&m, 1500, 2, 2);
	put_lost_names(&m, 2000, 3, 5);
	put_switch(&m, 3000, 0, 11, 1, 40, NULL);
	put_thread(&m, 40, 10, "found");
	put_lost_names(&m, 5000, 1, 1);
	put_lost_names(&m, 5500, 0, 0);
	put_switch(&m, 6000, 0, 40, 1, 11, NULL);
	put_event(&m, FXT_INSTANT, 7000, 11, "last", 0);
	close_two(&m, 11, 12);
	whole_open(&w, (unsigned char *)m.data, m.len);
	first = record_at(&w, 1500);
	unnamed = record_at(&w, 2000);
	again = record_at(&w, 5000);
	for (i = w.begun; i <= record_at(&w, 7000); i++) {
		walk_piece(&w, i, w.records_cnt, true, &piece);
		walk_window(&w, i, w.records_cnt, &window);
		walk_verify(&piece, "piece", i, w.records_cnt);
		walk_verify(&window, "window", i, w.records_cnt);
		assert_int_equal(lost_names(&piece), i <= again ? 6 : i <= record_at(&w, 5500) ? 1 : 0);
		assert_int_equal(lost_names(&window), lost_names(&piece));
		fxt_mem_free(&piece);
		fxt_mem_free(&window);
	}
	for (i = first + 1; i <= unnamed + 1; i++) {
		walk_window(&w, i, unnamed + 2, &window);
		walk_verify(&window, "window without the name", i, unnamed + 2);
		assert_int_equal(lost_names(&window), 5);
		fxt_mem_free(&window);
	}
	whole_close(&w);
}

/* ---- bad input --------------------------------------------------------------------------------- */

static void test_sizes(void **state)
{
	const uint64_t none = 0, beyond = FXT_HEADER(FXT_SCHEDULING, 6), shorts[] = {
		FXT_HEADER(FXT_SCHEDULING, 2) | FXT_PUT(FXT_SCHED_SWITCH, FXT_F_SCHED_TYPE), 0,
	}, args[] = { FXT_SWITCH_HEADER(5, 2, 0, 1), 1, 2, 3, FXT_I32_ARG(1, 1) };
	struct piece_state *s;

	(void)state;
	assert_int_equal(piece_state_open(&s), 0);
	assert_int_equal(piece_state_add(s, &none, 0), 0);
	assert_int_equal(piece_state_add(s, &none, 8), -EINVAL);
	assert_int_equal(piece_state_add(s, &beyond, 8), -EINVAL);
	assert_int_equal(piece_state_add(s, shorts, sizeof(shorts)), -EINVAL);
	assert_int_equal(piece_state_add(s, args, sizeof(args)), -EINVAL);
	piece_state_close(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_carried), cmocka_unit_test(test_many_wakeups),
		cmocka_unit_test(test_migrated), cmocka_unit_test(test_gap),
		cmocka_unit_test(test_filter), cmocka_unit_test(test_slices), cmocka_unit_test(test_slice_ends),
		cmocka_unit_test(test_samples),
		cmocka_unit_test(test_cpus), cmocka_unit_test(test_lost_names),
		cmocka_unit_test(test_sizes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
