// SPDX-License-Identifier: GPL-2.0
/*
 * Trace Event JSON made of FXT records, line by line.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>

#include <cmocka.h>

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/chrome_out/writer.h"
#include "fxt/fxt.h"
#include "fxt/fxt_sample.h"

#define HEAD	"{\"displayTimeUnit\":\"ns\",\"metadata\":{\"clock-domain\":\"LINUX_CLOCK_MONOTONIC\"," \
		"\"highres-ticks\":true},\"traceEvents\":[\n"
#define CATEGORY(name)	"\"cat\":\"c\",\"name\":\"" name "\""
#define ON(phase, ts)	"{\"ph\":\"" phase "\",\"pid\":7,\"tid\":8,\"ts\":" ts ","

struct made {
	char *text;
	size_t len, cap;
	uint64_t left_out[CHROME_LEFT_CNT];
	int fail_at;		/* the call of write that fails, from 1; 0: none */
	int err;
};

static int take_text(void *ctx, const void *data, size_t len)
{
	struct made *m = ctx;

	if (m->fail_at && !--m->fail_at)
		return -ENOSPC;
	if (m->len + len + 1 > m->cap) {
		m->cap = 2 * (m->len + len + 1);
		m->text = realloc(m->text, m->cap);
		assert_non_null(m->text);
	}
	memcpy(m->text + m->len, data, len);
	m->len += len;
	m->text[m->len] = 0;
	return 0;
}

static int take_records(void *ctx, const void *data, size_t len)
{
	FILE *f = ctx;

	return fwrite(data, 1, len, f) == len ? 0 : -EIO;
}

/* A trace that is being made, and what became of it. */
static char *trace;
static size_t trace_len;
static FILE *trace_file;

static struct fxt_writer *begin_bare(void)
{
	struct fxt_writer *w;

	trace_file = open_memstream(&trace, &trace_len);
	assert_non_null(trace_file);
	assert_int_equal(fxt_writer_open(&w, take_records, trace_file), 0);
	return w;
}

static struct fxt_writer *begin(void)
{
	struct fxt_writer *w = begin_bare();

	assert_int_equal(fxt_write_magic(w), 0);
	return w;
}

static void end(struct fxt_writer *w)
{
	assert_int_equal(fxt_writer_close(w), 0);
	fclose(trace_file);
}

/* Hands over @len bytes in pieces. */
static void make(struct made *m, const char *data, size_t len, size_t piece, enum chrome_sched sched)
{
	const struct chrome_writer_cfg cfg = { .write = take_text, .ctx = m, .sched = sched };
	struct chrome_writer *w;
	size_t at, n;
	int i;

	assert_int_equal(chrome_writer_open(&w, &cfg), 0);
	for (at = 0; at < len && !m->err; at += n) {
		n = len - at < piece ? len - at : piece;
		m->err = chrome_writer_record(w, data + at, n);
	}
	for (i = 0; i < CHROME_LEFT_CNT; i++)
		m->left_out[i] = chrome_writer_left_out(w, (enum chrome_left_out)i);
	m->err = chrome_writer_close(w);
}

static void assert_made(enum chrome_sched sched, const char *expected)
{
	struct made m = { 0 };

	make(&m, trace, trace_len, trace_len, sched);
	assert_int_equal(m.err, 0);
	assert_string_equal(m.text, expected);
	free(m.text);
}

/* Ends the trace, of which @lines are to be the events. */
static void assert_lines(struct fxt_writer *w, const char *lines)
{
	char *expected;

	end(w);
	assert_true(asprintf(&expected, "%s%s\n]}\n", HEAD, lines) > 0);
	assert_made(CHROME_SCHED_FTRACE, expected);
	free(expected);
	free(trace);
}

static void put(struct fxt_writer *w, enum fxt_event_type type, uint64_t ts, const char *name, uint64_t id,
		const struct fxt_arg *args, unsigned int nargs)
{
	const struct fxt_event e = {
		.type = type, .ts = ts, .thread = { 7, 8, false }, .category = fxt_str("c"), .name = fxt_str(name),
		.id = id,
	};

	assert_int_equal(fxt_write_event(w, &e, args, nargs), 0);
}

static void put_object(struct fxt_writer *w, uint8_t kind, uint64_t koid, const char *name, uint64_t process)
{
	const struct fxt_object o = { .id = koid, .name = fxt_str(name), .kind = kind };
	const struct fxt_arg arg = fxt_arg_koid("process", process);

	assert_int_equal(fxt_write_kernel_object(w, &o, &arg, kind == FXT_KOBJ_THREAD), 0);
}

static void test_nothing(void **state)
{
	struct fxt_writer *w = begin();

	(void)state;
	end(w);
	assert_made(CHROME_SCHED_FTRACE, "{\"displayTimeUnit\":\"ns\",\"metadata\":{\"clock-domain\":"
		    "\"LINUX_CLOCK_MONOTONIC\",\"highres-ticks\":true},\"traceEvents\":[\n]}\n");
	free(trace);
}

/* The last name counts, and all of them are before the events. */
static void test_names_come_first(void **state)
{
	struct fxt_writer *w = begin();

	(void)state;
	put(w, FXT_INSTANT, 1, "i", 0, NULL, 0);
	put_object(w, FXT_KOBJ_THREAD, 8, "early", 7);
	put_object(w, FXT_KOBJ_PROCESS, 7, "a \"process\"", 0);
	put_object(w, FXT_KOBJ_THREAD, 8, "late\xff", 7);
	put_object(w, FXT_KOBJ_PROCESS, 4200000001, "interrupts", 0);
	assert_lines(w,
		"{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":7,\"tid\":7,\"args\":{\"name\":\"a \\\"process\\\"\"}},\n"
		"{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":4200000001,\"tid\":4200000001,\"args\":{\"name\":\"interrupts\"}},\n"
		"{\"ph\":\"M\",\"name\":\"process_sort_index\",\"pid\":4200000001,\"tid\":4200000001,\"args\":{\"sort_index\":1000000}},\n"
		"{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":7,\"tid\":8,\"args\":{\"name\":\"late\xef\xbf\xbd\"}},\n"
		ON("i", "0.001") CATEGORY("i") ",\"s\":\"t\"}");
}

/* What importers add to each trace, or keep in arguments, is not shown unless it means something. */
static void test_names_that_are_none(void **state)
{
	const struct fxt_object named = { .kind = FXT_KOBJ_THREAD, .id = 8, .name = fxt_str("t") };
	const struct fxt_object nameless = { .kind = FXT_KOBJ_PROCESS, .id = 7 };
	const struct fxt_arg args[] = { fxt_arg_koid("process", 7), fxt_arg_i64("sort_index", -5) };
	struct fxt_writer *w = begin();

	(void)state;
	put_object(w, FXT_KOBJ_PROCESS, 0, "kernel", 0);
	put_object(w, FXT_KOBJ_THREAD, 0, "swapper", 0);
	assert_int_equal(fxt_write_kernel_object(w, &nameless, args + 1, 1), 0);
	assert_int_equal(fxt_write_kernel_object(w, &named, args, 2), 0);
	put(w, FXT_INSTANT, 1, "i", 0, NULL, 0);
	assert_lines(w,
		"{\"ph\":\"M\",\"name\":\"process_sort_index\",\"pid\":7,\"tid\":7,\"args\":{\"sort_index\":-5}},\n"
		"{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":7,\"tid\":8,\"args\":{\"name\":\"t\"}},\n"
		"{\"ph\":\"M\",\"name\":\"thread_sort_index\",\"pid\":7,\"tid\":8,\"args\":{\"sort_index\":-5}},\n"
		ON("i", "0.001") CATEGORY("i") ",\"s\":\"t\"}");
	w = begin();
	put_object(w, FXT_KOBJ_PROCESS, 0, "kernel", 0);
	put_object(w, FXT_KOBJ_THREAD, 0, "swapper", 0);
	put_object(w, FXT_KOBJ_THREAD, 2, "kthreadd", 0);
	assert_lines(w,
		"{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":0,\"tid\":0,\"args\":{\"name\":\"kernel\"}},\n"
		"{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":0,\"tid\":2,\"args\":{\"name\":\"kthreadd\"}}");
}

/* Whatever the order in the trace: by time, the longer first, and before what is in them. */
static void test_slices_are_in_order(void **state)
{
	const struct fxt_arg one = fxt_arg_i32("one", 1), two = fxt_arg_bool("two", true);
	struct fxt_writer *w = begin();

	(void)state;
	put(w, FXT_INSTANT, 1000, "inside", 0, NULL, 0);
	put(w, FXT_DURATION_COMPLETE, 1000, "inner", 1500, NULL, 0);
	put(w, FXT_DURATION_END, 3000, "", 0, &two, 1);
	put(w, FXT_DURATION_COMPLETE, 1000, "outer", 2000, NULL, 0);
	put(w, FXT_DURATION_BEGIN, 1000, "outermost", 0, &one, 1);
	assert_lines(w,
		ON("X", "1.000") CATEGORY("outermost") ",\"dur\":2.000,\"args\":{\"one\":1,\"two\":true}},\n"
		ON("X", "1.000") CATEGORY("outer") ",\"dur\":1.000},\n"
		ON("X", "1.000") CATEGORY("inner") ",\"dur\":0.500},\n"
		ON("i", "1.000") CATEGORY("inside") ",\"s\":\"t\"}");
}

static void test_ends_without_begins_and_begins_without_ends(void **state)
{
	struct fxt_writer *w = begin();

	(void)state;
	put(w, FXT_DURATION_END, 1, "no begin", 0, NULL, 0);
	put(w, FXT_DURATION_BEGIN, 2, "outer", 0, NULL, 0);
	put(w, FXT_DURATION_BEGIN, 2, "inner", 0, NULL, 0);
	put(w, FXT_DURATION_COMPLETE, 2, "X", 9, NULL, 0);
	put(w, FXT_DURATION_COMPLETE, 20, "ends before it begins", 10, NULL, 0);
	assert_lines(w,
		ON("i", "0.001") CATEGORY("no begin") ",\"s\":\"t\"},\n"
		ON("B", "0.002") CATEGORY("outer") "},\n"
		ON("B", "0.002") CATEGORY("inner") "},\n"
		ON("X", "0.002") CATEGORY("X") ",\"dur\":0.007},\n"
		ON("X", "0.020") CATEGORY("ends before it begins") ",\"dur\":0.000}");
}

/* Deeper than what is paired: the ends that belong to them are passed on as they are. */
static void test_deep_slices(void **state)
{
	struct fxt_writer *w = begin();
	struct made m = { 0 };
	unsigned int i, lines[128] = { 0 };
	const char *at;

	(void)state;
	for (i = 0; i < 600; i++)
		put(w, FXT_DURATION_BEGIN, 1 + i, "deep", 0, NULL, 0);
	for (i = 0; i < 601; i++)
		put(w, FXT_DURATION_END, 1000 + i, "deep", 0, NULL, 0);
	end(w);
	make(&m, trace, trace_len, trace_len, CHROME_SCHED_FTRACE);
	for (at = m.text; (at = strstr(at, "{\"ph\":\"")); at++)
		lines[(unsigned char)at[7] & 127]++;
	assert_int_equal(lines['X'], 512);
	assert_int_equal(lines['B'], 88);
	assert_int_equal(lines['E'], 88);
	assert_int_equal(lines['i'], 1);
	free(m.text);
	free(trace);
}

static void test_other_events(void **state)
{
	const struct fxt_arg values[] = {
		fxt_arg_u64("big", (1ULL << 53) + 1), fxt_arg_str("text", fxt_str("no number")), fxt_arg_f64("f", 0.5),
	};
	const struct fxt_arg text = fxt_arg_str("text", fxt_str("no number"));
	struct fxt_writer *w = begin();

	(void)state;
	put(w, FXT_COUNTER, 1, "C", 0, values, 3);
	put(w, FXT_COUNTER, 2, "C", 255, values + 2, 1);
	put(w, FXT_COUNTER, 3, "no number", 0, &text, 1);
	put(w, FXT_ASYNC_BEGIN, 4, "a", 31, NULL, 0);
	put(w, FXT_ASYNC_INSTANT, 4, "a", 31, &text, 1);
	put(w, FXT_ASYNC_END, 4, "a", 31, NULL, 0);
	put(w, FXT_FLOW_BEGIN, 5, "f", UINT64_MAX, NULL, 0);
	put(w, FXT_FLOW_STEP, 6, "f", UINT64_MAX, NULL, 0);
	put(w, FXT_FLOW_END, 7, "f", UINT64_MAX, NULL, 0);
	put(w, FXT_DURATION_COMPLETE, 7, "of the flow", 7, NULL, 0);
	assert_lines(w,
		ON("C", "0.001") CATEGORY("C") ",\"args\":{\"big\":9007199254740993,\"f\":0.5}},\n"
		ON("C", "0.002") CATEGORY("C") ",\"id\":\"0xff\",\"args\":{\"f\":0.5}},\n"
		ON("b", "0.004") CATEGORY("a") ",\"id\":\"0x1f\"},\n"
		ON("n", "0.004") CATEGORY("a") ",\"id\":\"0x1f\",\"args\":{\"text\":\"no number\"}},\n"
		ON("e", "0.004") CATEGORY("a") ",\"id\":\"0x1f\"},\n"
		ON("s", "0.005") CATEGORY("f") ",\"bp\":\"e\",\"id\":\"0xffffffffffffffff\"},\n"
		ON("t", "0.006") CATEGORY("f") ",\"bp\":\"e\",\"id\":\"0xffffffffffffffff\"},\n"
		ON("X", "0.007") CATEGORY("of the flow") ",\"dur\":0.000},\n"
		ON("f", "0.007") CATEGORY("f") ",\"bp\":\"e\",\"id\":\"0xffffffffffffffff\"}");
}

/* Viewers know the events of a flow by id, category and name: all have those of the first in time. */
static void test_flows_have_one_name(void **state)
{
	const struct fxt_arg arg = fxt_arg_i32("a", 1);
	struct fxt_writer *w = begin();

	(void)state;
	put(w, FXT_FLOW_END, 4, "end", 5, NULL, 0);
	put(w, FXT_FLOW_STEP, 3, "step", 5, &arg, 1);
	put(w, FXT_FLOW_BEGIN, 2, "first", 5, NULL, 0);
	put(w, FXT_FLOW_BEGIN, 3, "other", 6, NULL, 0);
	put(w, FXT_FLOW_BEGIN, 5, "id again", 5, NULL, 0);
	put(w, FXT_FLOW_STEP, 6, "step", 5, NULL, 0);
	put(w, FXT_FLOW_BEGIN, 7, "begun again", 5, NULL, 0);
	put(w, FXT_FLOW_STEP, 8, "step", 5, NULL, 0);
	assert_lines(w,
		ON("s", "0.002") CATEGORY("first") ",\"bp\":\"e\",\"id\":\"0x5\"},\n"
		ON("t", "0.003") CATEGORY("first") ",\"bp\":\"e\",\"id\":\"0x5\",\"args\":{\"a\":1}},\n"
		ON("s", "0.003") CATEGORY("other") ",\"bp\":\"e\",\"id\":\"0x6\"},\n"
		ON("f", "0.004") CATEGORY("first") ",\"bp\":\"e\",\"id\":\"0x5\"},\n"
		ON("s", "0.005") CATEGORY("id again") ",\"bp\":\"e\",\"id\":\"0x5\"},\n"
		ON("t", "0.006") CATEGORY("id again") ",\"bp\":\"e\",\"id\":\"0x5\"},\n"
		ON("s", "0.007") CATEGORY("begun again") ",\"bp\":\"e\",\"id\":\"0x5\"},\n"
		ON("t", "0.008") CATEGORY("begun again") ",\"bp\":\"e\",\"id\":\"0x5\"}");
}

/* The instant that shows a log record says more: one event of the two. */
static void test_logs(void **state)
{
	const struct fxt_thread at = { 7, 8, false };
	const struct fxt_str text = fxt_str("0123456789012345678901234567890123456789"
					    "012345678901234567890123456789012345678\xe2\x82\xac end");
	const struct fxt_arg args[] = { fxt_arg_str("text", fxt_str("hello")), fxt_arg_str("level", fxt_str("err")) };
	const struct fxt_event shown = {
		.type = FXT_INSTANT, .ts = 2, .thread = at, .category = fxt_str("log"), .name = fxt_str("printk"),
	};
	struct fxt_writer *w = begin();

	(void)state;
	assert_int_equal(fxt_write_log(w, 1, at, text), 0);
	assert_int_equal(fxt_write_log(w, 2, at, fxt_str("hello")), 0);
	assert_int_equal(fxt_write_event(w, &shown, args, 2), 0);
	assert_int_equal(fxt_write_log(w, 3, at, fxt_str("")), 0);
	put(w, FXT_INSTANT, 3, "another", 0, NULL, 0);
	assert_lines(w,
		ON("i", "0.001") "\"cat\":\"log\",\"name\":\"0123456789012345678901234567890123456789"
		"012345678901234567890123456789012345678\",\"s\":\"t\",\"args\":{\"message\":\""
		"0123456789012345678901234567890123456789012345678901234567890123456789012345678\xe2\x82\xac end\"}},\n"
		ON("i", "0.002") "\"cat\":\"log\",\"name\":\"hello\",\"s\":\"t\",\"args\":{\"text\":\"hello\",\"level\":\"err\"}},\n"
		ON("i", "0.003") "\"cat\":\"log\",\"name\":\"\",\"s\":\"t\",\"args\":{\"message\":\"\"}},\n"
		ON("i", "0.003") CATEGORY("another") ",\"s\":\"t\"}");
}

/* Ticks are made nanoseconds exactly; a time that has none is left out. */
static void test_ticks(void **state)
{
	struct fxt_writer *w = begin();
	struct made m = { 0 };

	(void)state;
	assert_int_equal(fxt_write_initialization(w, 3000000), 0);
	put(w, FXT_DURATION_COMPLETE, 1000000000000000001, "x", 1000000000000000003, NULL, 0);
	put(w, FXT_INSTANT, UINT64_MAX, "too late", 0, NULL, 0);
	end(w);
	make(&m, trace, trace_len, trace_len, CHROME_SCHED_FTRACE);
	assert_int_equal(m.err, 0);
	assert_int_equal(m.left_out[CHROME_LEFT_TIME], 2);
	free(m.text);
	free(trace);
	w = begin();
	assert_int_equal(fxt_write_initialization(w, 3000000), 0);
	put(w, FXT_DURATION_COMPLETE, 10, "x", 12, NULL, 0);
	assert_lines(w, ON("X", "3.333") CATEGORY("x") ",\"dur\":0.667}");
}

/* ---- scheduling ------------------------------------------------------------------- */

static void put_switch(struct fxt_writer *w, uint64_t ts, uint64_t out, uint64_t in, enum fxt_thread_state state,
		       const char *linux_state, const char *mark)
{
	const struct fxt_switch s = { .ts = ts, .cpu = 2, .state = state, .out = out, .in = in };
	struct fxt_arg args[] = {
		fxt_arg_i32("outgoing_weight", out ? 120 : FXT_WEIGHT_IDLE),
		fxt_arg_i32("incoming_weight", in ? 98 : FXT_WEIGHT_IDLE),
		fxt_arg_str(linux_state ? "linux_state" : "mark", fxt_str(linux_state ? linux_state : mark)),
	};

	assert_int_equal(fxt_write_switch(w, &s, args, linux_state || mark ? 3 : 2), 0);
}

static void put_wakeup(struct fxt_writer *w, uint64_t ts, uint64_t thread, uint64_t waker, const char *mark)
{
	const struct fxt_wakeup s = { .ts = ts, .cpu = 3, .thread = thread };
	const struct fxt_arg args[] = {
		fxt_arg_i32("weight", 98), fxt_arg_koid("waker", waker), fxt_arg_str("mark", fxt_str(mark)),
	};

	assert_int_equal(fxt_write_wakeup(w, &s, args, mark ? 3 : 2), 0);
}

static void make_scheduling(void)
{
	const struct fxt_arg lost = fxt_arg_u64("lost", 5);
	const struct fxt_event loss = {
		.type = FXT_DURATION_COMPLETE, .ts = 5000, .thread = { 4200000002, 4200070002, false },
		.category = fxt_str("lost"), .name = fxt_str("lost 5 events"), .id = 6000,
	};
	struct fxt_writer *w = begin();

	put_object(w, FXT_KOBJ_THREAD, 8, "a ==> b\n", 7);
	put_object(w, FXT_KOBJ_THREAD, 9, "kworker/u8:1-events_unbound", 0);
	put_switch(w, 900, 9, 0, FXT_STATE_BLOCKED, NULL, "state");
	put_switch(w, 1000, 0, 8, FXT_STATE_RUNNING, NULL, "start");
	put_wakeup(w, 2000, 9, 8, NULL);
	put_switch(w, 3000, 8, 9, FXT_STATE_BLOCKED, "D", NULL);
	put_wakeup(w, 4000, 8, 0, NULL);
	put_wakeup(w, 4500, 8, 0, "implied");
	put_switch(w, 5000, 9, 0, FXT_STATE_RUNNING, NULL, "gap");
	assert_int_equal(fxt_write_event(w, &loss, &lost, 1), 0);
	put_switch(w, 6000, 0, 8, FXT_STATE_RUNNING, NULL, "gap");
	put_switch(w, 7000, 8, 0, FXT_STATE_RUNNING, NULL, "stop");
	end(w);
}

#define NAMES \
	"{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":7,\"tid\":8,\"args\":{\"name\":\"a ==> b\\n\"}},\n" \
	"{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":0,\"tid\":9,\"args\":{\"name\":\"kworker/u8:1-events_unbound\"}},\n"
#define LOSS	"{\"ph\":\"X\",\"pid\":4200000002,\"tid\":4200070002,\"ts\":5.000,\"cat\":\"lost\",\"name\":\"lost 5 events\"," \
		"\"dur\":1.000,\"args\":{\"lost\":5}}"

static void test_sched_as_text(void **state)
{
	(void)state;
	make_scheduling();
	assert_made(CHROME_SCHED_FTRACE, HEAD NAMES LOSS "\n],\"systemTraceEvents\":\"# tracer: nop\\n#\\n"
		"           <...>-0       (-------) [000] d...     0.000000900: tracing_mark_write: trace_event_clock_sync: parent_ts=0.000000900\\n"
		"          <idle>-0       (-------) [002] d...     0.000001000: sched_switch: prev_comm=swapper/2 prev_pid=0 prev_prio=120 prev_state=R ==> next_comm=a ==> b? next_pid=8 next_prio=98\\n"
		"        a ==> b?-8       (      7) [002] d...     0.000002000: sched_waking: comm=kworker/u8:1-events_unbound pid=9 prio=98 target_cpu=003\\n"
		"        a ==> b?-8       (      7) [002] d...     0.000003000: sched_switch: prev_comm=a ==> b? prev_pid=8 prev_prio=120 prev_state=D ==> next_comm=kworker/u8:1-events_unbound next_pid=9 next_prio=98\\n"
		"          <idle>-0       (-------) [003] d.h.     0.000004000: sched_waking: comm=a ==> b? pid=8 prio=98 target_cpu=003\\n"
		"kworker/u8:1-events_unbound-9       (-------) [002] d...     0.000005000: sched_switch: prev_comm=kworker/u8:1-events_unbound prev_pid=9 prev_prio=120 prev_state=R ==> next_comm=swapper/2 next_pid=0 next_prio=120\\n"
		"CPU:2 [LOST 5 EVENTS]\\n"
		"          <idle>-0       (-------) [002] d...     0.000006000: sched_switch: prev_comm=swapper/2 prev_pid=0 prev_prio=120 prev_state=R ==> next_comm=a ==> b? next_pid=8 next_prio=98\\n"
		"        a ==> b?-8       (      7) [002] d...     0.000007000: sched_switch: prev_comm=a ==> b? prev_pid=8 prev_prio=120 prev_state=R ==> next_comm=swapper/2 next_pid=0 next_prio=120\\n"
		"\"}\n");
	free(trace);
}

#define ON_CPU(ts, name, dur, args) \
	"{\"ph\":\"X\",\"pid\":4200000005,\"tid\":2,\"ts\":" ts ",\"cat\":\"sched\",\"name\":\"" name "\",\"dur\":" dur \
	",\"args\":{" args "}}"

static void test_sched_as_slices(void **state)
{
	(void)state;
	make_scheduling();
	assert_made(CHROME_SCHED_SLICES, HEAD NAMES
		"{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":4200000005,\"tid\":0,\"args\":{\"name\":\"CPUs\"}},\n"
		"{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":4200000005,\"tid\":2,\"args\":{\"name\":\"CPU 2\"}},\n"
		ON_CPU("1.000", "a ==> b\\n", "2.000", "\"tid\":8,\"pid\":7,\"prio\":98,\"state\":\"D\"") ",\n"
		ON_CPU("3.000", "kworker/u8:1-events_unbound", "2.000", "\"tid\":9,\"pid\":0,\"prio\":98") ",\n"
		LOSS ",\n"
		ON_CPU("6.000", "a ==> b\\n", "1.000", "\"tid\":8,\"pid\":7,\"prio\":98")
		"\n]}\n");
	free(trace);
}

#define STATE_OF(pid, tid, ts, name, dur, args) \
	"{\"ph\":\"T\",\"pid\":" pid ",\"tid\":" tid ",\"ts\":" ts ",\"cat\":\"thread_state\",\"name\":\"" name \
	"\",\"dur\":" dur args "}"
#define CPU_2	",\"args\":{\"cpu\":2}"

static void test_sched_as_states(void **state)
{
	(void)state;
	make_scheduling();
	assert_made(CHROME_SCHED_STATES, HEAD NAMES
		STATE_OF("0", "9", "0.900", "S", "1.100", "") ",\n"
		STATE_OF("7", "8", "1.000", "Running", "2.000", CPU_2) ",\n"
		STATE_OF("0", "9", "2.000", "R", "1.000", "") ",\n"
		STATE_OF("7", "8", "3.000", "D", "1.000", "") ",\n"
		STATE_OF("0", "9", "3.000", "Running", "2.000", CPU_2) ",\n"
		STATE_OF("7", "8", "4.000", "R", "2.000", "") ",\n"
		LOSS ",\n"
		STATE_OF("7", "8", "6.000", "Running", "1.000", CPU_2)
		"\n]}\n");
	free(trace);
}

/* ---- any input -------------------------------------------------------------------- */

static void make_sample(void)
{
	struct fxt_writer *w = begin_bare();

	assert_int_equal(fxt_sample_write(w, false), 0);
	end(w);
}

/* It does not matter where the pieces end. */
static void test_pieces(void **state)
{
	static const size_t pieces[] = { 1, 7, 8, 1000 };
	struct made whole = { 0 }, m;
	size_t i;

	(void)state;
	make_sample();
	make(&whole, trace, trace_len, trace_len, CHROME_SCHED_FTRACE);
	for (i = 0; i < sizeof(pieces) / sizeof(pieces[0]); i++) {
		m = (struct made){ 0 };
		make(&m, trace, trace_len, pieces[i], CHROME_SCHED_FTRACE);
		assert_int_equal(m.err, 0);
		assert_memory_equal(m.left_out, whole.left_out, sizeof(m.left_out));
		assert_string_equal(m.text, whole.text);
		free(m.text);
	}
	free(whole.text);
	free(trace);
}

/* What has no place in the format is counted by kind. */
static void test_left_out(void **state)
{
	const struct fxt_arg values[] = {
		fxt_arg_f64("is", 1.5), fxt_arg_f64("is none", (double)NAN), fxt_arg_str("text", fxt_str("x")),
	};
	struct fxt_writer *w = begin();
	struct made m = { 0 };

	(void)state;
	assert_int_equal(fxt_write_blob(w, FXT_BLOB_PERFETTO, fxt_str("packet"), "abc", 3), 0);
	assert_int_equal(fxt_write_blob(w, FXT_BLOB_DATA, fxt_str("text"), "abc", 3), 0);
	assert_int_equal(fxt_write_blob(w, FXT_BLOB_DATA, fxt_str("text"), "abc", 3), 0);
	put(w, FXT_COUNTER, 1, "of one number", 0, values, 3);
	put(w, FXT_COUNTER, 2, "of none", 0, values + 1, 2);
	put(w, FXT_COUNTER, 3, "empty", 0, NULL, 0);
	end(w);
	make(&m, trace, trace_len, trace_len, CHROME_SCHED_FTRACE);
	assert_int_equal(m.err, 0);
	assert_int_equal(m.left_out[CHROME_LEFT_PERFETTO], 1);
	assert_int_equal(m.left_out[CHROME_LEFT_BLOB], 2);
	assert_int_equal(m.left_out[CHROME_LEFT_COUNTER], 2 + 2 + 1);
	assert_non_null(strstr(m.text, "\"name\":\"of one number\",\"args\":{\"is\":1.5}}"));
	assert_null(strstr(m.text, "none"));
	assert_null(strstr(m.text, "empty"));
	free(m.text);
	free(trace);
}

/* Damage is left out and never ends the writing. */
static void test_damage(void **state)
{
	struct made m;
	size_t at;

	(void)state;
	make_sample();
	for (at = 0; at < trace_len; at += 1 + at / 100) {
		m = (struct made){ 0 };
		trace[at] ^= (char)0xa5;
		make(&m, trace, trace_len, trace_len, (enum chrome_sched)(at % CHROME_SCHED_CNT));
		trace[at] ^= (char)0xa5;
		assert_int_equal(m.err, 0);
		assert_true(m.len > 10);
		assert_string_equal(m.text + m.len - 2, "}\n");
		free(m.text);
	}
	free(trace);
}

static void test_errors_of_the_output(void **state)
{
	struct made m;
	int i;

	(void)state;
	make_sample();
	for (i = 1; i < 4; i++) {
		m = (struct made){ .fail_at = i };
		make(&m, trace, trace_len, trace_len, CHROME_SCHED_FTRACE);
		assert_int_equal(m.err, m.fail_at ? 0 : -ENOSPC);
		free(m.text);
	}
	free(trace);
	assert_int_equal(chrome_writer_close(NULL), 0);
}

/* More than fits in memory, in an order that is none. */
static void test_many(void **state)
{
	const unsigned int cnt = 200000;
	struct fxt_writer *w = begin();
	unsigned int i, found = 0;
	struct made m = { 0 };
	static const char start[] = "{\"ph\":\"i\",\"pid\":7,\"tid\":8,\"ts\":";
	double last = -1, ts;
	char *at;

	(void)state;
	for (i = 0; i < cnt; i++)
		put(w, FXT_INSTANT, 1000 * (uint64_t)(i * 7919 % cnt), "an event with a name of some length", 0, NULL, 0);
	end(w);
	make(&m, trace, trace_len, 100000, CHROME_SCHED_FTRACE);
	assert_int_equal(m.err, 0);
	/* Line by line: functions that look for the end of all of it are slow with sanitizers. */
	for (at = m.text; at; at = memchr(at, '\n', m.len - (size_t)(at - m.text))) {
		at += *at == '\n';
		if (strncmp(at, start, sizeof(start) - 1) != 0)
			continue;
		ts = strtod(at + sizeof(start) - 1, NULL);
		assert_true(ts > last);
		last = ts;
		found++;
	}
	assert_int_equal(found, cnt);
	free(m.text);
	free(trace);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nothing),
		cmocka_unit_test(test_names_come_first),
		cmocka_unit_test(test_names_that_are_none),
		cmocka_unit_test(test_slices_are_in_order),
		cmocka_unit_test(test_ends_without_begins_and_begins_without_ends),
		cmocka_unit_test(test_deep_slices),
		cmocka_unit_test(test_other_events),
		cmocka_unit_test(test_flows_have_one_name),
		cmocka_unit_test(test_logs),
		cmocka_unit_test(test_ticks),
		cmocka_unit_test(test_sched_as_text),
		cmocka_unit_test(test_sched_as_slices),
		cmocka_unit_test(test_sched_as_states),
		cmocka_unit_test(test_pieces),
		cmocka_unit_test(test_left_out),
		cmocka_unit_test(test_damage),
		cmocka_unit_test(test_errors_of_the_output),
		cmocka_unit_test(test_many),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
