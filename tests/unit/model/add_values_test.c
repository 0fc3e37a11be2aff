// SPDX-License-Identifier: GPL-2.0
/*
 * Unit tests of builder_add(): counters, log lines, scheduling and arguments, and what they are
 * in FXT.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>

#include <cmocka.h>

#include <errno.h>
#include <math.h>
#include <string.h>

#include "add_made.h"
#include "model/arg_list.h"

/* ---- counters, log lines -------------------------------------------------------- */

static void test_counters(void **state)
{
	const struct model_track cpu = { .kind = MODEL_TRACK_CPU, .cpu = 3 };
	struct fxt_arg args[20];
	struct model_event ev = { .kind = MODEL_COUNTER, .ts_ns = 100, .args = args, .args_cnt = 2 };
	struct build t;
	unsigned int i;

	(void)state;
	trace_begin(&t);
	args[0] = fxt_arg_i64("used", -5);
	args[1] = fxt_arg_f64("free", 1.5);
	args[2] = fxt_arg_str("text", fxt_str("no number"));
	ev.track = find_thread(&t, 10, 11);
	add_event(&t, ev, "memory");
	ev.track = find_track(&t, MODEL_TRACK_GLOBAL, id_number(0), id_number(0));
	ev.id = 4;
	ev.args_cnt = 3;
	add_event(&t, ev, "all");
	ev.id = 0;
	assert_int_equal(builder_track(t.b, &cpu, &ev.track), 0);
	add_event(&t, ev, "frequency");
	ev.args = &args[2];
	ev.args_cnt = 1;
	add_event(&t, ev, "none");
	for (i = 0; i < 20; i++)
		args[i] = fxt_arg_u64("v", i);
	ev.track = find_track(&t, MODEL_TRACK_PROCESS, id_number(10), id_number(0));
	ev.args = args;
	ev.args_cnt = 20;
	add_event(&t, ev, "many");
	trace_end(&t);
	trace_has(&t, "counter 100 10/11 cat:memory id=0 used=-5l free=1.5d");
	trace_has(&t, "counter 100 4200000003/4200000003 cat:all id=4 used=-5l free=1.5d");
	trace_has(&t, "counter 100 4200000003/4200000003 cat:frequency id=3 used=-5l free=1.5d");
	trace_has(&t, "instant 100 0/4200020003 cat:none text='no number'");
	trace_has(&t, "counter 100 10/4250000000 cat:many id=0 v=0ul v=1ul v=2ul...");
	trace_has(&t, "counter 100 10/4250000000 cat:many id=0 v=15ul v=16ul v=17ul v=18ul v=19ul");
	assert_int_equal(t.stats.counters, 4);
	assert_int_equal(t.stats.instants, 1);
	assert_int_equal(t.stats.args_dropped, 2);
	trace_done(&t);
}

static void test_log(void **state)
{
	struct fxt_arg args[14];
	struct build t;
	unsigned int i;

	(void)state;
	for (i = 0; i < 14; i++)
		args[i] = fxt_arg_i32("n", (int32_t)i);
	trace_begin(&t);
	add_event(&t, (struct model_event){ .kind = MODEL_LOG, .track = find_thread(&t, 10, 11), .ts_ns = 100,
				      .category = fxt_str("log"), .text = fxt_str("hello") }, "");
	add_event(&t, (struct model_event){ .kind = MODEL_LOG, .track = find_thread(&t, 10, 11), .ts_ns = 200,
					    .text = fxt_str("more"), .args = args, .args_cnt = 14 }, "syslog");
	add_event(&t, (struct model_event){ .kind = MODEL_LOG_LINE, .track = find_thread(&t, 10, 11), .ts_ns = 300,
					    .text = fxt_str("alone") }, "");
	trace_end(&t);
	trace_has(&t, "log 100 11 hello");
	trace_has(&t, "instant 100 10/11 log:log text='hello'");
	trace_has(&t, "instant 200 10/11 cat:syslog text='more' n=0 n=1 n=2 n=3 n=4 n=5 n=6 n=7 n=8 n=9 n=10 n=11");
	trace_has(&t, "log 300 11 alone");
	trace_has_no(&t, "instant 300");
	assert_int_equal(t.stats.logs, 3);
	assert_int_equal(t.stats.args_dropped, 2);
	trace_done(&t);
}

/* ---- scheduling ------------------------------------------------------------------ */

static void add_switch(struct build *t, uint64_t ts, uint16_t cpu, uint32_t out, enum model_state state, uint32_t in)
{
	add_event(t, (struct model_event){ .kind = MODEL_SWITCH, .track = in, .ts_ns = ts,
				     .sched = { .cpu = cpu, .other = out, .state = state, .priority = 110,
						.other_priority = 120 } }, "");
}

static void add_wakeup(struct build *t, uint64_t ts, uint32_t woken, uint32_t waker)
{
	add_event(t, (struct model_event){ .kind = MODEL_WAKEUP, .track = woken, .ts_ns = ts,
				     .sched = { .cpu = 1, .other = waker, .priority = 110 } }, "");
}

static void test_scheduling(void **state)
{
	struct build t;
	uint32_t idle, a, b;

	(void)state;
	trace_begin(&t);
	idle = find_track(&t, MODEL_TRACK_IDLE, id_number(0), id_number(0));
	a = find_thread(&t, 10, 10);
	b = find_thread(&t, 20, 20);
	add_switch(&t, 100, 0, idle, MODEL_RUNNING, a);
	add_switch(&t, 200, 0, a, MODEL_BLOCKED, b);
	add_wakeup(&t, 250, a, b);
	add_wakeup(&t, 260, a, b);
	add_switch(&t, 300, 1, idle, MODEL_RUNNABLE, a);
	add_switch(&t, 250, 1, a, MODEL_RUNNABLE, b);
	add_kind(&t, MODEL_INSTANT, a, 350, "at work");
	trace_end(&t);
	trace_has(&t, "switch 100 cpu0 0>0 running" W(NONE, NONE) " mark='start'");
	trace_has(&t, "switch 100 cpu0 0>10 running" W(NONE, "110"));
	trace_has(&t, "switch 200 cpu0 10>20 blocked" W("120", "110") " linux_state='D'");
	trace_has(&t, "wakeup 250 cpu1 10 weight=110 waker=#20");
	trace_has(&t, "switch 300 cpu1 0>10 running" W(NONE, "110"));
	trace_has(&t, "instant 250 20/20 cat:sched_switch");
	trace_has(&t, "switch 350 cpu1 10>0 running" W("110", NONE) " mark='stop'");
	assert_int_equal(t.stats.switches, 3);
	assert_int_equal(t.stats.wakeups, 1);
	assert_int_equal(t.stats.no_op_wakes, 1);
	assert_int_equal(t.stats.out_of_order, 1);
	trace_done(&t);
}

/* A waker that does nothing else is named all the same. */
static void test_waker(void **state)
{
	struct build t;

	(void)state;
	trace_begin(&t);
	add_wakeup(&t, 100, find_thread(&t, 10, 10), find_thread(&t, 20, 21));
	trace_end(&t);
	trace_has(&t, "wakeup 100 cpu1 10 weight=110 waker=#21");
	trace_has(&t, "object2 21 '' process=#20");
	trace_done(&t);
}

static void add_state(struct build *t, uint64_t ts, uint32_t track, enum model_state state, uint16_t cpu)
{
	add_event(t, (struct model_event){ .kind = MODEL_STATE, .track = track, .ts_ns = ts,
				     .sched = { .cpu = cpu, .state = state, .priority = 120 } }, "");
}

static void test_states(void **state)
{
	struct build t;
	uint32_t a, b;

	(void)state;
	trace_begin(&t);
	a = find_thread(&t, 10, 10);
	b = find_thread(&t, 20, 20);
	add_state(&t, 50, b, MODEL_SLEEPING, 0);
	add_state(&t, 100, a, MODEL_RUNNING, 0);
	add_state(&t, 150, b, MODEL_RUNNABLE, 0);
	add_state(&t, 200, a, MODEL_SLEEPING, 0);
	add_state(&t, 200, b, MODEL_RUNNING, 0);
	add_state(&t, 300, b, MODEL_RUNNABLE, 0);
	add_state(&t, 310, a, MODEL_RUNNABLE, 0);
	add_state(&t, 320, a, MODEL_RUNNING, 1);
	add_state(&t, 330, a, MODEL_RUNNING, 1);
	add_state(&t, 400, a, MODEL_DEAD, 1);
	add_state(&t, 500, a, MODEL_RUNNING, 1);
	trace_end(&t);
	trace_has(&t, "switch 100 cpu0 0>10 running" W(NONE, "120"));
	trace_has(&t, "wakeup 150 cpu0 20 weight=120 waker=#0");
	trace_has(&t, "switch 200 cpu0 10>0 blocked" W("120", NONE));
	trace_has(&t, "switch 200 cpu0 0>20 running" W(NONE, "120"));
	trace_has(&t, "switch 300 cpu0 20>0 running" W("120", NONE));
	trace_has(&t, "wakeup 310 cpu0 10 weight=120 waker=#0");
	trace_has(&t, "switch 320 cpu1 0>10 running" W(NONE, "120"));
	trace_has(&t, "switch 400 cpu1 10>0 dead" W("120", NONE));
	trace_has(&t, "switch 500 cpu1 0>4250000000 running" W(NONE, "120"));
	trace_has(&t, "object2 4250000000 '' process=#10");
	assert_int_equal(t.stats.states, 2);
	assert_int_equal(t.stats.wakeups, 2);
	assert_int_equal(t.stats.switches, 7);
	trace_done(&t);
}

/* ---- arguments ------------------------------------------------------------------- */

static void test_args(void **state)
{
	struct fxt_arg args[] = {
		fxt_arg_i32("i", -1), fxt_arg_u32("u", 1), fxt_arg_i64("l", INT64_MIN), fxt_arg_u64("ul", UINT64_MAX),
		fxt_arg_f64("d", 0.5), fxt_arg_str("s", fxt_str("text")), fxt_arg_ptr("p", 0xffff000000000000),
		fxt_arg_koid("k", 77), fxt_arg_bool("b", true),
	};
	struct build t;

	(void)state;
	trace_begin(&t);
	add_event(&t, (struct model_event){ .kind = MODEL_INSTANT, .track = find_thread(&t, 1, 1), .ts_ns = 5, .args = args,
				      .args_cnt = sizeof(args) / sizeof(*args) }, "x");
	trace_end(&t);
	trace_has(&t, "instant 5 1/1 cat:x i=-1 u=1u l=-9223372036854775808l ul=18446744073709551615ul d=0.5d s='text'"
		      " p=ffff000000000000p k=#77 b=true");
	trace_done(&t);
}

/* {"a":1,"o":{"x":true,"l":[1,{"deep":null}]},"":"empty","z":"last"} */
static struct arg_list *nested(void)
{
	struct arg_list *l;

	assert_int_equal(arg_list_open(&l), 0);
	arg_list_member(l, "a", 1);
	arg_list_put(l, fxt_arg_i64("", 1));
	arg_list_leave(l);
	arg_list_member(l, "o", 1);
	arg_list_member(l, "x", 1);
	arg_list_put(l, fxt_arg_bool("", true));
	arg_list_leave(l);
	arg_list_member(l, "l", 1);
	arg_list_element(l, 0);
	arg_list_put(l, fxt_arg_i64("", 1));
	arg_list_leave(l);
	arg_list_element(l, 1);
	arg_list_member(l, "deep", 4);
	arg_list_put(l, fxt_arg_i64("", 2));
	arg_list_leave(l);
	arg_list_leave(l);
	arg_list_leave(l);
	arg_list_leave(l);
	arg_list_member(l, "", 0);
	arg_list_put(l, fxt_arg_str("", fxt_str("empty")));
	arg_list_leave(l);
	arg_list_member(l, "z", 1);
	arg_list_put(l, fxt_arg_str("", fxt_str("last")));
	arg_list_leave(l);
	return l;
}

static void test_nested_args(void **state)
{
	struct arg_list *l = nested();
	struct model_event ev = { .kind = MODEL_INSTANT, .ts_ns = 5 };
	struct build t;

	(void)state;
	trace_begin(&t);
	ev.track = find_thread(&t, 1, 1);
	ev.args = arg_list_get(l, &ev.args_cnt);
	add_event(&t, ev, "x");
	trace_end(&t);
	trace_has(&t, "instant 5 1/1 cat:x a=1l ='empty' z='last' o.x=true o.l[0]=1l o.l[1].deep=2l");
	arg_list_clear(l);
	assert_null(arg_list_get(l, &ev.args_cnt));
	assert_int_equal(arg_list_dropped(l), 0);
	arg_list_close(l);
	arg_list_close(NULL);
	trace_done(&t);
}

/* Whatever the calls, and however deep: what is too long is left out, and what follows is right. */
static void test_arg_list_bounds(void **state)
{
	static const char key[300];
	struct arg_list *l;
	const struct fxt_arg *args;
	unsigned int i, cnt;

	(void)state;
	assert_int_equal(arg_list_open(&l), 0);
	arg_list_leave(l);
	for (i = 0; i < 5000; i++)
		arg_list_element(l, i);
	arg_list_put(l, fxt_arg_i64("", 1));
	for (i = 0; i < 5000; i++)
		arg_list_leave(l);
	arg_list_member(l, key, sizeof(key));
	arg_list_member(l, key, sizeof(key));
	arg_list_put(l, fxt_arg_i64("", 2));
	arg_list_leave(l);
	arg_list_leave(l);
	arg_list_member(l, "a", 1);
	for (i = 0; i < ARG_LIST_MAX + 3; i++)
		arg_list_put(l, fxt_arg_i64("", i));
	args = arg_list_get(l, &cnt);
	assert_int_equal(cnt, ARG_LIST_MAX);
	assert_int_equal(args[ARG_LIST_MAX - 1].i64, ARG_LIST_MAX - 1);
	assert_int_equal(args[0].name.len, 1);
	assert_int_equal(arg_list_dropped(l), 5);
	arg_list_close(l);
}

/* Beyond what a record holds: the first 14, and one string. */
static void test_many_args(void **state)
{
	struct fxt_arg args[24];
	struct model_event ev = { .kind = MODEL_INSTANT, .ts_ns = 5, .args = args, .args_cnt = 24 };
	struct build t;
	unsigned int i;

	(void)state;
	for (i = 0; i < 14; i++)
		args[i] = fxt_arg_i32("n", (int32_t)i);
	args[14] = fxt_arg_str("a\"b", fxt_str("x\\\n\"y"));
	args[15] = fxt_arg_i32("i", -1);
	args[16] = fxt_arg_u32("u", 1);
	args[17] = fxt_arg_i64("l", INT64_MIN);
	args[18] = fxt_arg_u64("ul", UINT64_MAX);
	args[19] = fxt_arg_f64("d", 0.5);
	args[20] = fxt_arg_f64("inf", INFINITY);
	args[21] = fxt_arg_ptr("p", 0xff);
	args[22] = fxt_arg_bool("b", false);
	args[23] = fxt_arg_null("z");
	trace_begin(&t);
	ev.track = find_thread(&t, 1, 1);
	add_event(&t, ev, "x");
	trace_end(&t);
	trace_has(&t, "instant 5 1/1 cat:x n=0 n=1 n=2 n=3 n=4 n=5 n=6 n=7 n=8 n=9 n=10 n=11 n=12 n=13 "
		      "more='{\"a\\\"b\":\"x\\\\\\u000a\\\"y\",\"i\":-1,\"u\":1,\"l\":-9223372036854775808,"
		      "\"ul\":18446744073709551615,\"d\":0.5,\"inf\":\"inf\",\"p\":\"0xff\",\"b\":false,\"z\":null}'");
	assert_int_equal(t.stats.args_dropped, 0);
	trace_done(&t);
}

/* Strings that would fill records: cut, between characters, but the event has all its arguments. */
static void test_long_args(void **state)
{
	static char text[60000];
	struct fxt_arg args[20];
	struct model_event ev = { .kind = MODEL_INSTANT, .ts_ns = 5, .args = args, .args_cnt = 15 };
	struct build t;
	unsigned int i;

	(void)state;
	for (i = 0; i < sizeof(text); i += 2)
		memcpy(text + i, "\xc3\xa4", 2);
	for (i = 0; i < 20; i++)
		args[i] = fxt_arg_str("s", fxt_str_inline(text, sizeof(text)));
	trace_begin(&t);
	ev.track = find_thread(&t, 1, 1);
	add_event(&t, ev, "fifteen");
	ev.args_cnt = 20;
	add_event(&t, ev, "twenty");
	trace_end(&t);
	trace_has(&t, "instant 5 1/1 cat:fifteen s='\xc3\xa4...");
	trace_has(&t, "instant 5 1/1 cat:twenty s='\xc3\xa4...");
	trace_has(&t, "instant 5 1/1 cat:fifteen s=...");
	trace_has_no(&t, "\xef\xbf\xbd");
	assert_non_null(strstr(t.text, "more='{}'"));
	assert_int_equal(t.stats.args_dropped, 6);
	trace_done(&t);
}

/* ---- stacks -------------------------------------------------------------------- */

static void add_sample(struct build *t, uint64_t ts, uint32_t track, enum profile_source source, const char *source_name)
{
	static const struct profile_frame frames[] = {
		{ .name = { .data = "main", .len = 4 } }, { .name = { .data = "read", .len = 4 }, .kind = PROFILE_KERNEL },
	};

	add_event(t, (struct model_event){ .kind = MODEL_STACK, .track = track, .ts_ns = ts, .stack = {
		.source = source, .source_name = fxt_str(source_name), .cpu = 3, .weight = 1000000, .frames = frames,
		.frames_cnt = 2,
	} }, "");
}

static void test_samples(void **state)
{
	struct build t;
	uint32_t process;

	(void)state;
	trace_begin(&t);
	process = find_track(&t, MODEL_TRACK_PROCESS, id_number(10), id_number(0));
	add_sample(&t, 7, find_thread(&t, 10, 11), PROFILE_CPU, "");
	add_sample(&t, 5, find_thread(&t, 10, 11), PROFILE_OTHER, "v8");
	add_sample(&t, 9, find_thread(&t, -1, 5), PROFILE_OFF_CPU, "");
	add_sample(&t, 8, process, PROFILE_CPU, "");
	assert_int_equal(builder_add(t.b, &(struct model_event){ .kind = MODEL_STACK, .track = process,
								 .stack.source = PROFILE_SOURCE_CNT }), -EINVAL);
	trace_end(&t);
	trace_has(&t, "sample 7 cpu 10/11 cpu3 1000000 main;read");
	trace_has(&t, "sample 5 v8 10/11 cpu3 1000000 main;read");
	trace_has(&t, "sample 9 off-cpu 4250000000/5 cpu3 1000000 main;read");
	trace_has(&t, "object2 11 '' process=#10");
	assert_int_equal(t.stats.samples, 4);
	trace_done(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_counters),
		cmocka_unit_test(test_log),
		cmocka_unit_test(test_scheduling),
		cmocka_unit_test(test_waker),
		cmocka_unit_test(test_states), cmocka_unit_test(test_samples),
		cmocka_unit_test(test_args),
		cmocka_unit_test(test_nested_args),
		cmocka_unit_test(test_arg_list_bounds),
		cmocka_unit_test(test_many_args),
		cmocka_unit_test(test_long_args),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
