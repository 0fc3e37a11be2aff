// SPDX-License-Identifier: GPL-2.0
/*
 * Unit tests of builder_add(): tracks, slices, async slices and flows, and what they are in FXT.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>

#include <cmocka.h>

#include <errno.h>

#include "add_made.h"

/* ---- tracks -------------------------------------------------------------------- */

static void test_ids(void **state)
{
	struct build t;
	uint32_t nr;

	(void)state;
	trace_begin(&t);
	nr = find_thread(&t, 10, 11);
	assert_int_equal(find_thread(&t, 10, 11), nr);
	assert_int_not_equal(find_thread(&t, 10, 10), nr);
	add_kind(&t, MODEL_INSTANT, nr, 1, "same");
	add_kind(&t, MODEL_INSTANT, find_thread(&t, 20, 11), 2, "other process");
	add_kind(&t, MODEL_INSTANT, find_thread(&t, 10, 140735412345678), 3, "large");
	add_kind(&t, MODEL_INSTANT, find_thread(&t, -1, 5), 4, "negative");
	add_kind(&t, MODEL_INSTANT, find_thread(&t, 0, 0), 5, "zero");
	add_kind(&t, MODEL_INSTANT, find_track(&t, MODEL_TRACK_THREAD, id_word("GPU 0"), id_word("stream")), 6, "words");
	add_kind(&t, MODEL_NAME, find_thread(&t, 10, 140735412345678), 0, "main");
	add_kind(&t, MODEL_NAME, find_track(&t, MODEL_TRACK_PROCESS, id_word("GPU 0"), id_number(0)), 0, "device");
	add_kind(&t, MODEL_NAME, find_track(&t, MODEL_TRACK_PROCESS, id_number(10), id_number(0)), 0, "app");
	trace_end(&t);
	trace_has(&t, "instant 1 10/11 cat:same");
	trace_has(&t, "instant 2 20/4250000000 cat:other process");
	trace_has(&t, "instant 3 10/4250000001 cat:large");
	trace_has(&t, "instant 4 4250000002/5 cat:negative");
	trace_has(&t, "instant 5 4250000003/4250000004 cat:zero");
	trace_has(&t, "instant 6 4250000005/4250000006 cat:words");
	trace_has(&t, "object2 11 '' process=#10");
	trace_has(&t, "object2 4250000000 'tid 11' process=#20");
	trace_has(&t, "object2 4250000001 'main [tid 140735412345678]' process=#10");
	trace_has(&t, "object2 4250000004 'tid 0' process=#4250000003");
	trace_has(&t, "object2 4250000006 'stream' process=#4250000005");
	trace_has(&t, "object1 10 'app'");
	trace_has(&t, "object1 4250000002 'pid -1'");
	trace_has(&t, "object1 4250000005 'device [pid GPU 0]'");
	assert_int_equal(t.stats.names, 3);
	assert_int_equal(t.stats.instants, 6);
	assert_int_equal(t.stats.records, 9);
	trace_done(&t);
}

/* A number is a thread's or a process's: not a process's and a thread's of another one. */
static void test_process_of_taken_id(void **state)
{
	struct build t;

	(void)state;
	trace_begin(&t);
	add_kind(&t, MODEL_INSTANT, find_thread(&t, 10, 20), 1, "a");
	add_kind(&t, MODEL_INSTANT, find_thread(&t, 20, 20), 2, "b");
	trace_end(&t);
	trace_has(&t, "instant 1 10/20 cat:a");
	trace_has(&t, "instant 2 4250000000/4250000001 cat:b");
	trace_done(&t);
}

static void test_other_tracks(void **state)
{
	const struct model_track cpu = { .kind = MODEL_TRACK_CPU, .cpu = 3 };
	const struct model_track alone = { .kind = MODEL_TRACK_NAMED, .no_process = true, .thread = { .number = 7 } };
	struct build t;
	uint32_t nr;

	(void)state;
	trace_begin(&t);
	add_kind(&t, MODEL_INSTANT, find_track(&t, MODEL_TRACK_PROCESS, id_number(10), id_number(0)), 1, "of process");
	add_kind(&t, MODEL_INSTANT, find_track(&t, MODEL_TRACK_GLOBAL, id_number(1), id_number(1)), 2, "of all");
	nr = find_track(&t, MODEL_TRACK_NAMED, id_number(10), id_number(5));
	add_kind(&t, MODEL_NAME, nr, 0, "Frames");
	add_event(&t, (struct model_event){ .kind = MODEL_ORDER, .track = nr, .order = -5 }, "");
	add_event(&t, (struct model_event){ .kind = MODEL_ORDER, .order = 7,
				      .track = find_track(&t, MODEL_TRACK_PROCESS, id_number(10), id_number(0)) }, "");
	add_slice(&t, nr, 3, 4, "frame");
	assert_int_equal(builder_track(t.b, &cpu, &nr), 0);
	add_kind(&t, MODEL_INSTANT, nr, 5, "of cpu");
	assert_int_equal(builder_track(t.b, &alone, &nr), 0);
	add_kind(&t, MODEL_INSTANT, nr, 6, "alone");
	trace_end(&t);
	trace_has(&t, "instant 1 10/4250000000 cat:of process");
	trace_has(&t, "object2 4250000000 'process' process=#10 sort_index=7l");
	trace_has(&t, "instant 2 4200000004/4200000004 cat:of all");
	trace_has(&t, "object1 4200000004 'global'");
	trace_has(&t, "object2 4200000004 'global' process=#4200000004");
	trace_has(&t, "duration_complete 3 10/4250000001 cat:frame id=4");
	trace_has(&t, "object2 4250000001 'Frames' process=#10 sort_index=-5l");
	trace_has(&t, "object1 10 '' sort_index=7l");
	trace_has(&t, "instant 5 0/4200020003 cat:of cpu");
	trace_has(&t, "object2 4200020003 'CPU 3' process=#0");
	trace_has(&t, "instant 6 4200000004/4250000002 cat:alone");
	trace_has(&t, "object2 4250000002 'track 7' process=#4200000004");
	trace_done(&t);
}

static void test_refused(void **state)
{
	const struct model_track far = { .kind = MODEL_TRACK_CPU, .cpu = 4096 }, odd = { .kind = (enum model_track_kind)6 };
	struct model_event ev = { .kind = MODEL_INSTANT };
	struct build t;
	uint32_t nr;

	(void)state;
	trace_begin(&t);
	assert_int_equal(builder_track(t.b, &far, &nr), -EINVAL);
	assert_int_equal(builder_track(t.b, &odd, &nr), -EINVAL);
	assert_int_equal(builder_add(t.b, &ev), -EINVAL);
	ev.track = find_thread(&t, 1, 1);
	ev.kind = MODEL_KIND_CNT;
	assert_int_equal(builder_add(t.b, &ev), -EINVAL);
	ev.track += 100;
	assert_int_equal(builder_add(t.b, &ev), -EINVAL);
	ev.track = find_track(&t, MODEL_TRACK_IDLE, id_number(0), id_number(0));
	ev.kind = MODEL_INSTANT;
	assert_int_equal(builder_add(t.b, &ev), -EINVAL);
	ev = (struct model_event){ .kind = MODEL_SWITCH, .track = find_thread(&t, 1, 1), .sched = { .cpu = 4096, .other = 1 } };
	assert_int_equal(builder_add(t.b, &ev), -EINVAL);
	ev = (struct model_event){ .kind = MODEL_SWITCH, .track = find_thread(&t, 1, 1) };
	assert_int_equal(builder_add(t.b, &ev), -EINVAL);
	trace_end(&t);
	assert_int_equal(t.stats.records, 0);
	trace_done(&t);
}

/* ---- slices -------------------------------------------------------------------- */

static void test_slices(void **state)
{
	struct build t;
	uint32_t nr;

	(void)state;
	trace_begin(&t);
	nr = find_thread(&t, 10, 10);
	add_slice(&t, nr, 100, 200, "outer");
	add_slice(&t, nr, 100, 150, "inner");
	add_slice(&t, nr, 150, 200, "next");
	add_slice(&t, nr, 190, 210, "overlaps");
	add_slice(&t, nr, 200, 205, "after");
	add_slice(&t, nr, 195, 240, "late");
	add_slice(&t, nr, 300, 300, "empty");
	trace_end(&t);
	trace_has(&t, "duration_complete 100 10/10 cat:outer id=200");
	trace_has(&t, "duration_complete 100 10/10 cat:inner id=150");
	trace_has(&t, "duration_complete 150 10/10 cat:next id=200");
	trace_has(&t, "duration_complete 190 10/4250000000 cat:overlaps id=210");
	trace_has(&t, "duration_complete 200 10/10 cat:after id=205");
	trace_has(&t, "duration_complete 195 10/4250000001 cat:late id=240");
	trace_has(&t, "duration_complete 300 10/10 cat:empty id=300");
	trace_has(&t, "object2 4250000000 'tid 10 (2)' process=#10");
	trace_has(&t, "object2 4250000001 'tid 10 (3)' process=#10");
	assert_int_equal(t.stats.slices, 7);
	assert_int_equal(t.stats.overlapping, 2);
	assert_int_equal(t.stats.closed_slices, 0);
	trace_done(&t);
}

static void test_begin_end(void **state)
{
	struct build t;
	uint32_t nr;

	(void)state;
	trace_begin(&t);
	nr = find_thread(&t, 10, 10);
	add_kind(&t, MODEL_SLICE_END, nr, 50, "nothing");
	add_kind(&t, MODEL_SLICE_BEGIN, nr, 100, "a");
	add_kind(&t, MODEL_SLICE_BEGIN, nr, 110, "b");
	add_kind(&t, MODEL_SLICE_END, nr, 120, "");
	add_kind(&t, MODEL_SLICE_BEGIN, nr, 130, "c");
	add_kind(&t, MODEL_SLICE_END, nr, 140, "a");
	add_kind(&t, MODEL_SLICE_BEGIN, nr, 145, "");
	add_kind(&t, MODEL_SLICE_END, nr, 147, "of any name");
	add_kind(&t, MODEL_SLICE_BEGIN, nr, 150, "open");
	trace_end(&t);
	trace_has(&t, "instant 50 10/10 cat:nothing");
	trace_has(&t, "duration_begin 110 10/10 cat:b");
	trace_has(&t, "duration_end 120 10/10 cat:b");
	trace_has(&t, "duration_end 140 10/10 cat:c");
	trace_has(&t, "duration_end 140 10/10 cat:a");
	trace_has(&t, "duration_end 147 10/10 cat:");
	trace_has_no(&t, "duration_end 150");
	assert_int_equal(t.stats.unmatched_ends, 1);
	assert_int_equal(t.stats.closed_slices, 1);
	assert_int_equal(t.stats.unfinished, 1);
	trace_done(&t);
}

/* The category of a begin is the caller's only while it is added. */
static void test_category_of_the_end(void **state)
{
	char category[] = "first";
	struct build t;
	uint32_t nr;

	(void)state;
	trace_begin(&t);
	nr = find_thread(&t, 10, 10);
	add_event(&t, (struct model_event){ .kind = MODEL_SLICE_BEGIN, .track = nr, .ts_ns = 100,
		  .category = fxt_str_n(category, 5) }, "ended");
	add_event(&t, (struct model_event){ .kind = MODEL_SLICE_BEGIN, .track = nr, .ts_ns = 110,
		  .category = fxt_str_n(category, 5) }, "open");
	memcpy(category, "other", 5);
	add_event(&t, (struct model_event){ .kind = MODEL_SLICE_END, .track = nr, .ts_ns = 120,
		  .category = fxt_str_n(category, 5) }, "ended");
	add_event(&t, (struct model_event){ .kind = MODEL_SLICE_BEGIN, .track = nr, .ts_ns = 130,
		  .category = fxt_str_n(category, 5) }, "late");
	memcpy(category, "third", 5);
	trace_end(&t);
	trace_has(&t, "duration_end 120 10/10 first:open");
	trace_has(&t, "duration_end 120 10/10 first:ended");
	trace_done(&t);
}

/* Slices whose end is known among those whose end is not: they nest both ways. */
static void test_mixed(void **state)
{
	struct build t;
	uint32_t nr;

	(void)state;
	trace_begin(&t);
	nr = find_thread(&t, 10, 10);
	add_slice(&t, nr, 100, 200, "known");
	add_kind(&t, MODEL_SLICE_BEGIN, nr, 150, "never ends");
	add_slice(&t, nr, 160, 170, "inside");
	add_slice(&t, nr, 250, 260, "after");
	add_kind(&t, MODEL_SLICE_BEGIN, nr, 300, "around");
	add_slice(&t, nr, 310, 350, "longer");
	add_kind(&t, MODEL_SLICE_END, nr, 330, "around");
	add_kind(&t, MODEL_SLICE_BEGIN, nr, 400, "last");
	add_slice(&t, nr, 410, 450, "in last");
	trace_end(&t);
	trace_has(&t, "duration_end 200 10/10 cat:never ends");
	trace_has(&t, "duration_complete 160 10/10 cat:inside id=170");
	trace_has(&t, "duration_complete 310 10/10 cat:longer id=350");
	trace_has(&t, "duration_end 350 10/10 cat:around");
	trace_has_no(&t, "duration_end 450");
	assert_int_equal(t.stats.closed_slices, 1);
	assert_int_equal(t.stats.unfinished, 1);
	assert_int_equal(t.stats.overlapping, 0);
	trace_done(&t);
}

/* More lanes than there may be: what is beyond is an instant. What is too deep for one is on the next. */
static void test_many(void **state)
{
	struct build t;
	uint32_t nr;
	unsigned int i;

	(void)state;
	trace_begin(&t);
	nr = find_thread(&t, 10, 10);
	for (i = 0; i < 1030; i++)
		add_slice(&t, nr, 100 + i, 2000 + i, "x");
	add_slice(&t, nr, 2500, 3025, "x");
	add_slice(&t, nr, 2501, 2600, "in the first lane");
	nr = find_thread(&t, 11, 11);
	for (i = 0; i < 600; i++)
		add_slice(&t, nr, 4000, 9000, "y");
	add_slice(&t, nr, 9000, 9100, "shallow");
	trace_end(&t);
	trace_has(&t, "duration_complete 9000 11/11 cat:shallow id=9100");
	trace_has(&t, "duration_complete 2500 10/10 cat:x id=3025");
	trace_has(&t, "duration_complete 2501 10/10 cat:in the first lane id=2600");
	assert_int_equal(t.stats.slices, 1024 + 2 + 600 + 1);
	assert_int_equal(t.stats.instants, 6);
	assert_int_equal(t.stats.crowded, 6);
	assert_int_equal(t.stats.overlapping, 1023 + 100);
	assert_int_equal(t.stats.deep, 100);
	trace_done(&t);
}

/* One without an end is not inside of one that ends; what comes later is inside of it. */
static void test_open(void **state)
{
	struct build t;
	uint32_t nr;

	(void)state;
	trace_begin(&t);
	nr = find_thread(&t, 10, 10);
	add_slice(&t, nr, 100, 200, "ends");
	add_kind(&t, MODEL_SLICE_OPEN, nr, 150, "open");
	add_slice(&t, nr, 160, 250, "inside");
	add_slice(&t, nr, 300, 310, "after");
	add_kind(&t, MODEL_SLICE_OPEN, nr, 320, "alone");
	add_slice(&t, nr, 330, 340, "in alone");
	trace_end(&t);
	trace_has(&t, "duration_begin 150 10/4250000000 cat:open");
	trace_has(&t, "duration_complete 160 10/4250000000 cat:inside id=250");
	trace_has(&t, "duration_complete 300 10/10 cat:after id=310");
	trace_has(&t, "duration_begin 320 10/10 cat:alone");
	trace_has(&t, "duration_complete 330 10/10 cat:in alone id=340");
	trace_has_no(&t, "duration_end");
	assert_int_equal(t.stats.unfinished, 2);
	assert_int_equal(t.stats.closed_slices, 0);
	assert_int_equal(t.stats.overlapping, 2);
	trace_done(&t);
}

/* Deeper than viewers draw, they are on a further track, and so are their ends. */
static void test_deep_begins(void **state)
{
	struct build t;
	uint32_t nr;
	unsigned int i;

	(void)state;
	trace_begin(&t);
	nr = find_thread(&t, 10, 10);
	for (i = 0; i < 600; i++)
		add_kind(&t, MODEL_SLICE_BEGIN, nr, 100 + i, i % 2 ? "odd" : "even");
	add_kind(&t, MODEL_SLICE_END, nr, 800, "");
	add_kind(&t, MODEL_SLICE_END, nr, 801, "even");
	for (i = 0; i < 598; i++)
		add_kind(&t, MODEL_SLICE_END, nr, 900 + i, "");
	add_kind(&t, MODEL_SLICE_END, nr, 2000, "");
	nr = find_thread(&t, 11, 11);
	for (i = 0; i < 600; i++)
		add_kind(&t, MODEL_SLICE_OPEN, nr, 3000, "open");
	trace_end(&t);
	trace_has(&t, "duration_end 800 10/4250000000 cat:odd");
	trace_has(&t, "duration_end 801 10/4250000000 cat:even");
	trace_has(&t, "duration_end 997 10/4250000000 cat:even");
	trace_has(&t, "duration_end 998 10/10 cat:odd");
	trace_has(&t, "duration_begin 3000 11/4250000001 cat:open");
	assert_int_equal(t.stats.slices, 600 + 600 + 600);
	assert_int_equal(t.stats.instants, 1);
	assert_int_equal(t.stats.unmatched_ends, 1);
	assert_int_equal(t.stats.deep, 100 + 100);
	assert_int_equal(t.stats.unfinished, 600);
	assert_int_equal(t.stats.crowded, 0);
	trace_done(&t);
}

static void test_times(void **state)
{
	struct build t;
	uint32_t nr;

	(void)state;
	trace_begin(&t);
	nr = find_thread(&t, 10, 10);
	add_slice(&t, nr, INT64_MAX - 10ULL, UINT64_MAX, "to the end");
	add_kind(&t, MODEL_INSTANT, nr, UINT64_MAX, "beyond");
	trace_end(&t);
	trace_has(&t, "duration_complete 9223372036854775797 10/10 cat:to the end id=9223372036854775807");
	trace_has(&t, "instant 9223372036854775807 10/10 cat:beyond");
	trace_done(&t);
}

/* ---- async slices and flows ------------------------------------------------------ */

static void test_async(void **state)
{
	struct build t;
	uint32_t nr;

	(void)state;
	trace_begin(&t);
	nr = find_thread(&t, 10, 10);
	add_id(&t, MODEL_ASYNC_BEGIN, nr, 100, 7, "a");
	add_id(&t, MODEL_ASYNC_BEGIN, nr, 110, 7, "b");
	add_id(&t, MODEL_ASYNC_BEGIN, nr, 120, 6, "a");
	add_id(&t, MODEL_ASYNC_INSTANT, nr, 125, 7, "tick");
	add_id(&t, MODEL_ASYNC_END, nr, 130, 7, "a");
	add_id(&t, MODEL_ASYNC_END, nr, 140, 7, "");
	add_id(&t, MODEL_ASYNC_END, nr, 150, 7, "a");
	add_id(&t, MODEL_ASYNC_INSTANT, nr, 160, 7, "alone");
	trace_end(&t);
	trace_has(&t, "async_begin 100 10/10 cat:a id=1");
	trace_has(&t, "async_begin 110 10/10 cat:b id=2");
	trace_has(&t, "async_begin 120 10/10 cat:a id=3");
	trace_has(&t, "async_instant 125 10/10 cat:tick id=2");
	trace_has(&t, "async_end 130 10/10 cat:a id=1");
	trace_has(&t, "async_end 140 10/10 cat:b id=2");
	trace_has(&t, "instant 150 10/10 cat:a");
	trace_has(&t, "instant 160 10/10 cat:alone");
	trace_has(&t, "async_end 160 10/10 cat:a id=3");
	assert_int_equal(t.stats.slices, 5);
	assert_int_equal(t.stats.unmatched_ends, 1);
	assert_int_equal(t.stats.closed_slices, 1);
	trace_done(&t);
}

static void add_async(struct build *t, uint32_t track, uint64_t from, uint64_t to, uint64_t id, const char *name)
{
	add_event(t, (struct model_event){ .kind = MODEL_ASYNC, .track = track, .ts_ns = from, .duration_ns = to - from,
				     .id = id }, name);
}

/* Those that nest share an id; what overlaps, or comes after all is over, has another. */
static void test_async_nested(void **state)
{
	struct build t;
	uint32_t nr;

	(void)state;
	trace_begin(&t);
	nr = find_thread(&t, 10, 10);
	add_async(&t, nr, 100, 200, 7, "outer");
	add_async(&t, nr, 110, 150, 7, "inner");
	add_async(&t, nr, 140, 160, 7, "overlaps");
	add_async(&t, nr, 150, 200, 7, "second");
	add_async(&t, nr, 150, 200, 8, "other");
	add_async(&t, nr, 200, 210, 7, "again");
	trace_end(&t);
	trace_has(&t, "async_begin 100 10/10 cat:outer id=1");
	trace_has(&t, "async_end 200 10/10 cat:outer id=1");
	trace_has(&t, "async_begin 110 10/10 cat:inner id=1");
	trace_has(&t, "async_end 150 10/10 cat:inner id=1");
	trace_has(&t, "async_begin 140 10/10 cat:overlaps id=2");
	trace_has(&t, "async_begin 150 10/10 cat:second id=1");
	trace_has(&t, "async_begin 150 10/10 cat:other id=3");
	trace_has(&t, "async_begin 200 10/10 cat:again id=4");
	assert_int_equal(t.stats.slices, 6);
	trace_done(&t);
}

/* Of a track that needs several threads: on that of the slice which is open, not of the one that began last. */
static void test_flows_of_lanes(void **state)
{
	struct build t;
	uint32_t nr;

	(void)state;
	trace_begin(&t);
	nr = find_thread(&t, 10, 10);
	add_slice(&t, nr, 100, 200, "first");
	add_slice(&t, nr, 150, 250, "overlaps");
	add_slice(&t, nr, 160, 170, "in first");
	add_id(&t, MODEL_FLOW_BEGIN, nr, 165, 1, "in both");
	add_id(&t, MODEL_FLOW_BEGIN, nr, 180, 2, "after the last");
	add_id(&t, MODEL_FLOW_BEGIN, nr, 220, 3, "after the first");
	add_id(&t, MODEL_FLOW_BEGIN, nr, 300, 4, "after all");
	trace_end(&t);
	trace_has(&t, "flow_begin 165 10/10 cat:in both id=1");
	trace_has(&t, "flow_begin 180 10/4250000000 cat:after the last id=2");
	trace_has(&t, "flow_begin 220 10/4250000000 cat:after the first id=3");
	trace_has(&t, "flow_begin 300 10/10 cat:after all id=4");
	trace_done(&t);
}

static void test_too_many_flows(void **state)
{
	const uint64_t max = 1U << 20;
	struct build t;
	uint32_t nr;
	uint64_t i;

	(void)state;
	trace_begin(&t);
	nr = find_thread(&t, 10, 10);
	for (i = 0; i < max + 3; i++)
		add_id(&t, MODEL_FLOW_BEGIN, nr, 1, 1 + i, "f");
	add_id(&t, MODEL_FLOW_END, nr, 2, 1 + max, "f");
	add_id(&t, MODEL_FLOW_END, nr, 2, max, "f");
	add_id(&t, MODEL_FLOW_BEGIN, nr, 2, 1 + max, "f");
	trace_end(&t);
	assert_int_equal(t.stats.flows, max + 6);
	assert_int_equal(t.stats.crowded_flows, 3);
	assert_int_equal(t.stats.unmatched_flows, 1);
	trace_done(&t);
}

/* Each is an arrow from where the flow began; of one that began by what came before only the first. */
static void test_flow_ends_again(void **state)
{
	struct build t;
	uint32_t a, b;

	(void)state;
	trace_begin(&t);
	a = find_thread(&t, 10, 10);
	b = find_thread(&t, 10, 11);
	add_slice(&t, a, 100, 200, "from");
	add_id(&t, MODEL_FLOW_BEGIN, a, 100, 5, "f");
	add_id(&t, MODEL_FLOW, a, 100, 6, "g");
	add_id(&t, MODEL_FLOW_END, b, 120, 5, "f");
	add_id(&t, MODEL_FLOW_END, b, 130, 5, "f");
	add_id(&t, MODEL_FLOW_STEP, b, 140, 5, "f");
	add_id(&t, MODEL_FLOW_END, b, 150, 5, "f");
	add_id(&t, MODEL_FLOW_END, b, 160, 6, "g");
	add_id(&t, MODEL_FLOW_END, b, 170, 6, "g");
	trace_end(&t);
	trace_has(&t, "flow_end 120 10/11 cat:f id=1");
	trace_has(&t, "flow_begin 100 10/10 cat:f id=3");
	trace_has(&t, "flow_end 130 10/11 cat:f id=3");
	trace_has(&t, "flow_begin 100 10/10 cat:f id=4");
	trace_has(&t, "flow_step 140 10/11 cat:f id=4");
	trace_has(&t, "flow_end 150 10/11 cat:f id=4");
	assert_int_equal(t.stats.flows, 8);
	assert_int_equal(t.stats.unmatched_flows, 1);
	trace_done(&t);
}

static void test_flows(void **state)
{
	struct build t;
	uint32_t a, b;

	(void)state;
	trace_begin(&t);
	a = find_thread(&t, 10, 10);
	b = find_thread(&t, 10, 11);
	add_id(&t, MODEL_FLOW_STEP, a, 90, 5, "too early");
	add_slice(&t, a, 100, 200, "from");
	add_id(&t, MODEL_FLOW_BEGIN, a, 100, 5, "f");
	add_slice(&t, b, 120, 140, "via");
	add_id(&t, MODEL_FLOW_STEP, b, 120, 5, "f");
	add_slice(&t, a, 150, 250, "to");
	add_id(&t, MODEL_FLOW_END, a, 150, 5, "f");
	add_id(&t, MODEL_FLOW_END, a, 150, 5, "f");
	add_id(&t, MODEL_FLOW, a, 151, 9, "g");
	add_id(&t, MODEL_FLOW, b, 152, 9, "g");
	trace_end(&t);
	trace_has(&t, "flow_begin 100 10/10 cat:f id=1");
	trace_has(&t, "flow_step 120 10/11 cat:f id=1");
	trace_has(&t, "flow_end 150 10/4250000000 cat:f id=1");
	trace_has(&t, "flow_begin 100 10/10 cat:f id=2");
	trace_has(&t, "flow_begin 151 10/4250000000 cat:g id=3");
	trace_has(&t, "flow_step 152 10/11 cat:g id=3");
	assert_int_equal(t.stats.flows, 7);
	assert_int_equal(t.stats.unmatched_flows, 1);
	trace_done(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ids),
		cmocka_unit_test(test_process_of_taken_id),
		cmocka_unit_test(test_other_tracks),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_slices),
		cmocka_unit_test(test_begin_end),
		cmocka_unit_test(test_category_of_the_end),
		cmocka_unit_test(test_mixed),
		cmocka_unit_test(test_many),
		cmocka_unit_test(test_open),
		cmocka_unit_test(test_deep_begins),
		cmocka_unit_test(test_times),
		cmocka_unit_test(test_async),
		cmocka_unit_test(test_async_nested),
		cmocka_unit_test(test_flows_of_lanes),
		cmocka_unit_test(test_too_many_flows),
		cmocka_unit_test(test_flows),
		cmocka_unit_test(test_flow_ends_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
