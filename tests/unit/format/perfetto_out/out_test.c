// SPDX-License-Identifier: GPL-2.0
/*
 * FXT records as packets: what waits, and what is reported when packets cannot be written.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>

#include <cmocka.h>

#include <errno.h>
#include <string.h>

#include "format/perfetto/decode.h"
#include "format/perfetto_out/writer.h"
#include "fxt/fxt.h"

#define SWITCH_WORDS	6U

static struct {
	uint8_t data[1 << 20];
	size_t len;
	int err;
} written;

static int write_packets(void *ctx, const void *data, size_t len)
{
	(void)ctx;
	if (written.err)
		return written.err;
	assert_true(len <= sizeof(written.data) - written.len);
	memcpy(written.data + written.len, data, len);
	written.len += len;
	return 0;
}

static uint64_t lost[1 << 16];
static size_t lost_words;

static void count_lost(void *ctx, const void *records, size_t len)
{
	(void)ctx;
	assert_true(lost_words + len / 8 <= sizeof(lost) / sizeof(lost[0]));
	memcpy(lost + lost_words, records, len);
	lost_words += len / 8;
}

static struct pf_out *open_out(void)
{
	const struct pf_out_cfg cfg = { .write = write_packets, .keep = true };
	static const uint64_t head[] = { FXT_MAGIC, FXT_HEADER(FXT_INITIALIZATION, 2), 1000000000 };
	struct pf_out *o;

	written.len = written.err = lost_words = 0;
	assert_int_equal(pf_out_open(&o, &cfg), 0);
	assert_int_equal(pf_out_record(o, head, sizeof(head)), 0);
	return o;
}

/* A switch with two arguments that mean nothing. */
static void add_switch(struct pf_out *o, uint64_t ts, unsigned int cpu, uint64_t out, uint64_t in)
{
	uint64_t rec[SWITCH_WORDS];

	FXT_PUT_SWITCH(rec, SWITCH_WORDS, 2, cpu, FXT_STATE_BLOCKED, ts, out, in);
	rec[4] = FXT_I32_ARG(0, 120);
	rec[5] = FXT_I32_ARG(0, 100);
	assert_int_equal(pf_out_record(o, rec, sizeof(rec)), 0);
}

static void add_instant(struct pf_out *o, uint64_t ts)
{
	const uint64_t rec[] = {
		FXT_HEADER(FXT_EVENT, 5) | FXT_PUT(FXT_STR_INLINE | 1, FXT_F_EVENT_NAME), ts, 100, 101, 'i',
	};

	assert_int_equal(pf_out_record(o, rec, sizeof(rec)), 0);
}

static void add_ledger(struct pf_out *o, uint64_t ts)
{
	const uint64_t rec[] = {
		FXT_HEADER(FXT_EVENT, 6) | FXT_PUT(FXT_STR_INLINE | 4, FXT_F_EVENT_CATEGORY) |
		FXT_PUT(FXT_STR_INLINE | 6, FXT_F_EVENT_NAME), ts, 100, 101, 0x7478666b /* kfxt */, 0x72656764656c /* ledger */,
	};

	assert_int_equal(pf_out_record(o, rec, sizeof(rec)), 0);
}

/* How many packets with the field @number there are. */
static unsigned int count(uint32_t number)
{
	struct pf_cursor c = pf_message(written.data, written.len);
	struct pf_field packet, f;
	unsigned int cnt = 0;

	while (pf_next(&c, &packet) > 0)
		cnt += pf_find(pf_inner(&packet), number, PF_BYTES, &f);
	assert_ptr_equal(c.at, c.end);
	return cnt;
}

/* How many packets there are before the last one with the field @number. */
static unsigned int last_at(uint32_t number)
{
	struct pf_cursor c = pf_message(written.data, written.len);
	unsigned int at, last = 0;
	struct pf_field packet, f;

	for (at = 0; pf_next(&c, &packet) > 0; at++)
		if (pf_find(pf_inner(&packet), number, PF_BYTES, &f))
			last = at;
	return last;
}

static void add_async(struct pf_out *o, enum fxt_event_type type, uint64_t ts, uint64_t id)
{
	const uint64_t rec[] = {
		FXT_HEADER(FXT_EVENT, 6) | FXT_PUT(type, FXT_F_EVENT_TYPE) | FXT_PUT(FXT_STR_INLINE | 1, FXT_F_EVENT_NAME),
		ts, 100, 101, 'a', id,
	};

	assert_int_equal(pf_out_record(o, rec, sizeof(rec)), 0);
}

/* The track of the event of that type and time; 0: there is none. */
static uint64_t track_of(enum pf_event_type type, uint64_t ts)
{
	struct pf_cursor c = pf_message(written.data, written.len);
	struct pf_field packet, event, f;

	while (pf_next(&c, &packet) > 0) {
		if (!pf_find(pf_inner(&packet), PF_PACKET_TRACK_EVENT, PF_BYTES, &event) ||
		    !pf_find(pf_inner(&event), PF_EVENT_TYPE, PF_VARINT, &f) || f.value != type ||
		    !pf_find(pf_inner(&packet), PF_PACKET_TIMESTAMP, PF_VARINT, &f) || f.value != ts)
			continue;
		pf_find(pf_inner(&event), PF_EVENT_TRACK_UUID, PF_VARINT, &f);
		return f.value;
	}
	return 0;
}

/* Threads of other systems have buffers of their own, so the end may be there first. */
static void test_an_async_end_before_its_begin(void **state)
{
	struct pf_out *o = open_out();

	(void)state;
	add_async(o, FXT_ASYNC_END, 1020, 1);
	add_async(o, FXT_ASYNC_BEGIN, 1010, 1);
	add_async(o, FXT_ASYNC_BEGIN, 1015, 2);
	add_async(o, FXT_ASYNC_BEGIN, 1030, 1);
	add_async(o, FXT_ASYNC_END, 1040, 1);
	add_async(o, FXT_ASYNC_END, 1050, 2);
	/* An end without a begin is not that of a later slice. */
	add_async(o, FXT_ASYNC_END, 1060, 3);
	add_async(o, FXT_ASYNC_BEGIN, 1070, 3);
	assert_int_equal(pf_out_flush(o, true), 0);
	assert_int_not_equal(track_of(PF_TYPE_BEGIN, 1010), 0);
	assert_int_equal(track_of(PF_TYPE_END, 1020), track_of(PF_TYPE_BEGIN, 1010));
	assert_int_equal(track_of(PF_TYPE_END, 1050), track_of(PF_TYPE_BEGIN, 1015));
	assert_int_not_equal(track_of(PF_TYPE_BEGIN, 1015), track_of(PF_TYPE_BEGIN, 1010));
	assert_int_equal(track_of(PF_TYPE_END, 1040), track_of(PF_TYPE_BEGIN, 1030));
	assert_int_not_equal(track_of(PF_TYPE_BEGIN, 1030), track_of(PF_TYPE_BEGIN, 1015));
	assert_int_not_equal(track_of(PF_TYPE_INSTANT, 1060), 0);
	assert_int_equal(track_of(PF_TYPE_END, 1060), 0);
	assert_int_not_equal(track_of(PF_TYPE_BEGIN, 1070), 0);
	assert_int_equal(pf_out_close(o), 0);
}

static void test_scheduling_waits_to_the_end(void **state)
{
	struct pf_out *o = open_out();

	(void)state;
	add_switch(o, 1000, 0, 0, 10);
	add_instant(o, 1500);
	assert_int_equal(pf_out_flush(o, false), 0);
	assert_int_equal(count(PF_PACKET_TRACK_EVENT), 1);
	assert_int_equal(count(PF_PACKET_FTRACE_EVENTS), 0);
	pf_out_written(o);
	assert_int_equal(pf_out_flush(o, true), 0);
	assert_int_equal(count(PF_PACKET_FTRACE_EVENTS), 1);
	assert_int_equal(pf_out_close(o), 0);
}

/* An instant does not put it; a ledger does, so that what it counts is before it. */
static void test_scheduling_waits_for_no_ledger(void **state)
{
	struct pf_out *o = open_out();

	(void)state;
	add_switch(o, 10, 0, 100, 200);
	add_instant(o, 15);
	assert_int_equal(pf_out_flush(o, false), 0);
	assert_int_equal(count(PF_PACKET_TRACK_EVENT), 1);
	assert_int_equal(count(PF_PACKET_FTRACE_EVENTS), 0);
	add_ledger(o, 20);
	assert_int_equal(pf_out_flush(o, false), 0);
	assert_int_equal(count(PF_PACKET_TRACK_EVENT), 2);
	assert_int_equal(count(PF_PACKET_FTRACE_EVENTS), 1);
	assert_true(last_at(PF_PACKET_FTRACE_EVENTS) < last_at(PF_PACKET_TRACK_EVENT));
	/* And so for one that follows. */
	add_switch(o, 30, 0, 200, 100);
	assert_int_equal(pf_out_flush(o, true), 0);
	assert_int_equal(count(PF_PACKET_FTRACE_EVENTS), 2);
	assert_int_equal(pf_out_close(o), 0);
}

/* Records that waited are reported once, those taken since then are the caller's to report. */
static void test_lost_records_that_waited(void **state)
{
	struct pf_out *o = open_out();
	unsigned int i;

	(void)state;
	for (i = 0; i < 10; i++)
		add_switch(o, 1000 + i, 0, i, i + 1);
	assert_int_equal(pf_out_flush(o, false), 0);
	pf_out_written(o);
	add_switch(o, 2000, 0, 10, 0);
	pf_out_lost(o, count_lost, NULL);
	assert_int_equal(lost_words, 10 * SWITCH_WORDS);
	for (i = 0; i < 10; i++) {
		assert_int_equal(FXT_GET(lost[i * SWITCH_WORDS], FXT_F_SIZE), SWITCH_WORDS);
		assert_int_equal(lost[i * SWITCH_WORDS + 1], 1000 + i);
	}
	assert_int_equal(pf_out_flush(o, true), 0);
	assert_int_equal(count(PF_PACKET_FTRACE_EVENTS), 0);
	pf_out_written(o);
	pf_out_lost(o, count_lost, NULL);
	assert_int_equal(lost_words, 10 * SWITCH_WORDS);
	assert_int_equal(pf_out_close(o), 0);
}

/* Packets in order wait no more, and are not reported. */
static void test_lost_without_what_was_written(void **state)
{
	struct pf_out *o = open_out();
	unsigned int i, waiting;

	(void)state;
	for (i = 0; i < 40000; i++)
		add_switch(o, 1000 + i, i % 2, i ? 20 - (i & 1) : 0, 20 - (i & 1));
	assert_int_equal(pf_out_flush(o, false), 0);
	pf_out_written(o);
	assert_true(count(PF_PACKET_FTRACE_EVENTS) > 1);
	pf_out_lost(o, count_lost, NULL);
	waiting = (unsigned int)(lost_words / SWITCH_WORDS);
	assert_true(waiting > 0 && waiting < 8300);
	/* The last ones. */
	for (i = 0; i < waiting; i++)
		assert_int_equal(lost[i * SWITCH_WORDS + 1], 1000 + 40000 - waiting + i);
	assert_int_equal(pf_out_close(o), 0);
}

/* What a packet that is lost said is said again: tracks, strings, what comes first. */
static void test_packets_after_lost_ones(void **state)
{
	struct pf_out *o = open_out();

	(void)state;
	add_instant(o, 1000);
	assert_int_equal(pf_out_flush(o, false), 0);
	written.len = 0;
	pf_out_lost(o, count_lost, NULL);
	add_instant(o, 2000);
	assert_int_equal(pf_out_flush(o, false), 0);
	assert_int_equal(count(PF_PACKET_SYSTEM_INFO), 1);
	assert_int_equal(count(PF_PACKET_CLOCK_SNAPSHOT), 1);
	assert_int_equal(count(PF_PACKET_TRACK_DESCRIPTOR), 2);
	assert_int_equal(count(PF_PACKET_INTERNED_DATA), 1);
	pf_out_written(o);
	add_instant(o, 3000);
	assert_int_equal(pf_out_flush(o, false), 0);
	assert_int_equal(count(PF_PACKET_TRACK_EVENT), 2);
	assert_int_equal(count(PF_PACKET_INTERNED_DATA), 1);
	assert_int_equal(pf_out_close(o), 0);
}

static void test_an_error_of_the_output_stays(void **state)
{
	struct pf_out *o = open_out();

	(void)state;
	add_instant(o, 1000);
	written.err = -ENOSPC;
	assert_int_equal(pf_out_flush(o, false), -ENOSPC);
	written.err = 0;
	assert_int_equal(pf_out_flush(o, false), -ENOSPC);
	assert_int_equal(pf_out_close(o), -ENOSPC);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_an_async_end_before_its_begin),
		cmocka_unit_test(test_scheduling_waits_to_the_end),
		cmocka_unit_test(test_scheduling_waits_for_no_ledger),
		cmocka_unit_test(test_lost_records_that_waited),
		cmocka_unit_test(test_lost_without_what_was_written),
		cmocka_unit_test(test_packets_after_lost_ones),
		cmocka_unit_test(test_an_error_of_the_output_stays),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
