/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The FXT reader on good input: what the writer wrote comes back, whatever the
 * pieces it arrives in.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "fxt_pair.h"
#include "fxt_sample.h"
#include "fxt_walk.h"

#define ROUNDS		20000

static uint64_t next_random(struct fxt_pair *f)
{
	f->seed ^= f->seed << 13;
	f->seed ^= f->seed >> 7;
	f->seed ^= f->seed << 17;
	return f->seed * 0x2545f4914f6cdd1dULL;
}

static unsigned int pick(struct fxt_pair *f, unsigned int below)
{
	return (next_random(f) >> 33) % below;
}

/* ---- comparing ------------------------------------------------------------- */

static void same_str(struct fxt_str got, struct fxt_str want)
{
	assert_int_equal(got.len, want.len);
	assert_memory_equal(got.data, want.data, want.len);
	assert_int_equal(got.inlined, want.inlined && want.len);
}

static void same_arg(const struct fxt_arg *got, const struct fxt_arg *want)
{
	assert_int_equal(got->type, want->type);
	same_str(got->name, want->name);
	switch (want->type) {
	case FXT_ARG_NULL:
		break;
	case FXT_ARG_INT32:
	case FXT_ARG_UINT32:
		assert_true(got->u32 == want->u32);
		break;
	case FXT_ARG_STRING:
		same_str(got->str, want->str);
		break;
	case FXT_ARG_BOOL:
		assert_int_equal(got->b, want->b);
		break;
	case FXT_ARG_BLOB:
		assert_int_equal(got->blob.len, want->blob.len);
		assert_memory_equal(got->blob.data, want->blob.data, want->blob.len);
		break;
	default:
		assert_true(got->u64 == want->u64);
	}
}

static void same_args(struct fxt_pair *f, const struct fxt_arg *want, unsigned int nargs)
{
	unsigned int i;

	assert_int_equal(f->rec.nargs, nargs);
	for (i = 0; i < nargs; i++)
		same_arg(&f->rec.args[i], &want[i]);
}

/* ---- random records there and back ------------------------------------------ */

static const char pool[] = "The quick brown fox jumps over the lazy dog, \0 and \x7f too.";

static struct fxt_str random_str(struct fxt_pair *f)
{
	unsigned int at = pick(f, sizeof(pool) - 1);
	unsigned int len = pick(f, 4) ? pick(f, sizeof(pool) - at) : 0;

	return pick(f, 2) ? fxt_str_n(pool + at, len) : fxt_str_inline(pool + at, len);
}

static struct fxt_thread random_thread(struct fxt_pair *f)
{
	struct fxt_thread t = { .inlined = pick(f, 2) };

	t.process = pick(f, 4) ? pick(f, 40) : next_random(f);
	t.thread = pick(f, 4) ? pick(f, 40) : next_random(f);
	return t;
}

static struct fxt_arg random_arg(struct fxt_pair *f)
{
	struct fxt_arg arg;

	memset(&arg, 0, sizeof(arg));
	arg.type = pick(f, FXT_ARG_BLOB + 1);
	arg.name = random_str(f);
	arg.u64 = next_random(f);
	if (arg.type == FXT_ARG_STRING)
		arg.str = random_str(f);
	if (arg.type == FXT_ARG_BLOB) {
		arg.blob.data = pool;
		arg.blob.len = pick(f, sizeof(pool));
	}
	if (arg.type == FXT_ARG_BOOL)
		arg.b = pick(f, 2);
	return arg;
}

static unsigned int random_args(struct fxt_pair *f, struct fxt_arg *args)
{
	unsigned int i, nargs = pick(f, FXT_ARGS_MAX + 1);

	for (i = 0; i < nargs; i++)
		args[i] = random_arg(f);
	return nargs;
}

static struct fxt_event random_event(struct fxt_pair *f)
{
	return (struct fxt_event){ .type = pick(f, FXT_FLOW_END + 1), .ts = next_random(f),
		.thread = random_thread(f), .category = random_str(f), .name = random_str(f),
		.id = next_random(f) };
}

static void test_random_events(void **state)
{
	struct fxt_pair *f = *state;
	struct fxt_arg args[FXT_ARGS_MAX];
	uint64_t seed = f->seed;
	unsigned int i, nargs;
	struct fxt_event want;

	fxt_write_magic(f->w);
	for (i = 0; i < ROUNDS; i++) {
		want = random_event(f);
		nargs = random_args(f, args);
		assert_int_equal(fxt_write_event(f->w, &want, args, nargs), 0);
	}
	fxt_pair_read(f);
	f->seed = seed;
	fxt_pair_expect(f, FXT_KIND_MAGIC);
	for (i = 0; i < ROUNDS; i++) {
		const struct fxt_event *got = &fxt_pair_expect(f, FXT_KIND_EVENT)->event;

		want = random_event(f);
		assert_true(f->rec.has_ts && f->rec.ts == want.ts && got->ts == want.ts);
		assert_int_equal(got->type, want.type);
		fxt_same_thread(got->thread, want.thread);
		same_str(got->category, want.category);
		same_str(got->name, want.name);
		if (want.type == FXT_COUNTER || want.type >= FXT_DURATION_COMPLETE)
			assert_true(got->id == want.id);
		nargs = random_args(f, args);
		same_args(f, args, nargs);
	}
	fxt_pair_end(f);
}

/* The other records that have arguments. */
static void test_random_args(void **state)
{
	struct fxt_pair *f = *state;
	struct fxt_arg args[FXT_ARGS_MAX];
	uint64_t seed = f->seed;
	struct fxt_object o;
	unsigned int i, nargs;

	fxt_write_magic(f->w);
	for (i = 0; i < ROUNDS; i++) {
		nargs = random_args(f, args);
		o = (struct fxt_object){ .id = next_random(f), .name = random_str(f), .kind = i,
			.process = random_thread(f) };
		assert_int_equal(i & 1 ? fxt_write_kernel_object(f->w, &o, args, nargs) :
					 fxt_write_userspace_object(f->w, &o, args, nargs), 0);
	}
	fxt_pair_read(f);
	f->seed = seed;
	fxt_pair_expect(f, FXT_KIND_MAGIC);
	for (i = 0; i < ROUNDS; i++) {
		fxt_pair_expect(f, i & 1 ? FXT_KIND_KERNEL_OBJECT : FXT_KIND_USERSPACE_OBJECT);
		nargs = random_args(f, args);
		same_args(f, args, nargs);
		assert_true(f->rec.object.id == next_random(f) && !f->rec.has_ts);
		same_str(f->rec.object.name, random_str(f));
		o.process = random_thread(f);
		if (i & 1)
			assert_int_equal(f->rec.object.kind, i & 0xff);
		else
			assert_true(f->rec.object.process.process == o.process.process);
	}
	fxt_pair_end(f);
}

/* ---- each record there and back ---------------------------------------------- */

static void test_scheduling(void **state)
{
	struct fxt_pair *f = *state;
	struct fxt_arg weight = fxt_arg_i32("weight", FXT_WEIGHT_IDLE);
	struct fxt_switch s = { .ts = 1, .cpu = 65535, .state = 5, .out = ~0ULL, .in = 2 };
	struct fxt_wakeup wakeup = { .ts = 3, .cpu = 4095, .thread = 4 };
	struct fxt_legacy_switch l = { .ts = 5, .cpu = 255, .state = 4, .out = { 6, 7, true },
		.in = { 8, 9, false }, .out_priority = 10, .in_priority = 255 };

	fxt_write_magic(f->w);
	fxt_write_switch(f->w, &s, &weight, 1);
	fxt_write_wakeup(f->w, &wakeup, &weight, 1);
	fxt_write_legacy_switch(f->w, &l);
	fxt_pair_read(f);
	fxt_pair_expect(f, FXT_KIND_MAGIC);
	fxt_pair_expect(f, FXT_KIND_SWITCH);
	assert_true(f->rec.ts == 1 && f->rec.context_switch.out == ~0ULL);
	assert_true(f->rec.context_switch.in == 2 && f->rec.context_switch.cpu == 65535);
	assert_int_equal(f->rec.context_switch.state, FXT_STATE_DEAD);
	same_args(f, &weight, 1);
	assert_ptr_equal(fxt_record_arg(&f->rec, "weight"), &f->rec.args[0]);
	assert_null(fxt_record_arg(&f->rec, "weigh"));
	fxt_pair_expect(f, FXT_KIND_WAKEUP);
	assert_true(f->rec.ts == 3 && f->rec.wakeup.thread == 4 && f->rec.wakeup.cpu == 4095);
	same_args(f, &weight, 1);
	fxt_pair_expect(f, FXT_KIND_LEGACY_SWITCH);
	fxt_same_thread(f->rec.legacy_switch.out, l.out);
	fxt_same_thread(f->rec.legacy_switch.in, l.in);
	assert_true(f->rec.ts == 5 && f->rec.legacy_switch.cpu == 255);
	assert_int_equal(f->rec.legacy_switch.state, FXT_STATE_DYING);
	assert_int_equal(f->rec.legacy_switch.out_priority, 10);
	assert_int_equal(f->rec.legacy_switch.in_priority, 255);
	fxt_pair_end(f);
}

static void test_profiler(void **state)
{
	static const uint64_t frames[255] = { 1, 2, 3 };
	struct fxt_pair *f = *state;
	struct fxt_thread t = { .process = 5, .thread = 6 };
	struct fxt_module module = { .ts = 1, .thread = t, .id = 65535, .name = fxt_str("libc"),
		.build_id = frames, .build_id_len = 255 };
	struct fxt_mmap m = { .ts = 2, .thread = t, .module = 65535, .flags = 7, .start = 3,
		.range = 4, .vaddr = ~0ULL };
	struct fxt_backtrace b = { .ts = 3, .thread = t, .frames = frames, .frames_cnt = 255 };

	fxt_write_magic(f->w);
	fxt_write_module(f->w, &module);
	fxt_write_mmap(f->w, &m);
	fxt_write_backtrace(f->w, &b);
	fxt_pair_read(f);
	fxt_pair_expect(f, FXT_KIND_MAGIC);
	fxt_pair_expect(f, FXT_KIND_MODULE);
	fxt_same_thread(f->rec.module.thread, (struct fxt_thread){ .process = 5 });
	fxt_same_text(f->rec.module.name, "libc");
	assert_int_equal(f->rec.module.id, 65535);
	assert_int_equal(f->rec.module.build_id_len, 255);
	assert_memory_equal(f->rec.module.build_id, frames, 255);
	fxt_pair_expect(f, FXT_KIND_MMAP);
	assert_true(f->rec.mmap.start == 3 && f->rec.mmap.range == 4 && f->rec.mmap.vaddr == ~0ULL);
	assert_true(f->rec.mmap.flags == 7 && f->rec.mmap.module == 65535 && f->rec.ts == 2);
	fxt_pair_expect(f, FXT_KIND_BACKTRACE);
	fxt_same_thread(f->rec.backtrace.thread, t);
	assert_int_equal(f->rec.backtrace.frames_cnt, 255);
	assert_memory_equal(f->rec.backtrace.frames, frames, sizeof(frames));
	fxt_pair_end(f);
}

static void test_blobs(void **state)
{
	struct fxt_pair *f = *state;
	size_t len = 100003, at = 0;
	char *data = malloc(len);
	size_t i;

	for (i = 0; i < len; i++)
		data[i] = i * 31 + i / 1000;
	fxt_write_magic(f->w);
	fxt_write_blob(f->w, FXT_BLOB_PERFETTO, fxt_str("indexed"), data, len);
	fxt_write_blob(f->w, FXT_BLOB_DATA, fxt_str_inline(data, 0), data, 1);
	fxt_write_log(f->w, 9, (struct fxt_thread){ .process = 1 }, fxt_str("a log line"));
	fxt_pair_read(f);
	fxt_pair_expect(f, FXT_KIND_MAGIC);
	while (at < len) {
		fxt_pair_expect(f, FXT_KIND_BLOB);
		assert_int_equal(f->rec.blob.type, FXT_BLOB_PERFETTO);
		fxt_same_text(f->rec.blob.name, "indexed");
		assert_memory_equal(f->rec.blob.data, data + at, f->rec.blob.len);
		at += f->rec.blob.len;
	}
	assert_int_equal(at, len);
	fxt_pair_expect(f, FXT_KIND_BLOB);
	fxt_same_text(f->rec.blob.name, "");
	assert_int_equal(f->rec.blob.len, 1);
	fxt_pair_expect(f, FXT_KIND_LOG);
	fxt_same_text(f->rec.log.text, "a log line");
	assert_true(f->rec.has_ts && f->rec.ts == 9 && f->rec.log.thread.process == 1);
	fxt_pair_end(f);
	free(data);
}

/* Payloads around the border between "whole" and "in pieces". */
static void test_large_payload(void **state)
{
	static const size_t sizes[] = { 0, 1, 8 * 4092, 8 * 4092 + 1, 300001 };
	struct fxt_pair *f = *state;
	char *data = malloc(300001), *got = malloc(300001);
	struct fxt_large_blob b = { .format = FXT_LARGE_NO_METADATA, .category = fxt_str("cat"),
		.name = fxt_str_inline("name", 4), .data = data };
	size_t i, at;
	long n;

	memset(data, 'p', 300001);
	data[300000] = 'q';
	fxt_write_magic(f->w);
	for (i = 0; i < 5; i++) {
		b.len = sizes[i];
		b.name.len = i ? 0 : 4;
		assert_int_equal(fxt_write_large_blob(f->w, &b, NULL, 0), 0);
	}
	fxt_pair_read(f);
	f->source.chunk = 10007;
	fxt_pair_expect(f, FXT_KIND_MAGIC);
	for (i = 0; i < 5; i++) {
		fxt_pair_expect(f, FXT_KIND_LARGE_BLOB);
		assert_int_equal(f->rec.large_blob.len, sizes[i]);
		assert_int_equal(f->rec.large_blob.data != NULL, i < 3);
		for (at = 0; (n = fxt_reader_payload(f->r, got + at, 5003)) > 0; at += n)
			;
		assert_int_equal(n, 0);
		assert_int_equal(at, sizes[i]);
		assert_memory_equal(got, data, at);
		fxt_same_text(f->rec.large_blob.category, "cat");
		fxt_same_text(f->rec.large_blob.name, i ? "" : "name");
	}
	fxt_pair_end(f);
	assert_int_equal(fxt_reader_payload(f->r, got, 1), 0);
	free(data);
	free(got);
}

/* ---- the sample ---------------------------------------------------------------- */

static void test_sample(void **state)
{
	static const size_t chunks[] = { 1, 3, 8, 13, 100, 4096, 65536, 65537 };
	struct fxt_pair *f = *state;
	struct fxt_walk_options how = { 0 };
	struct fxt_walk whole, again;
	unsigned int i;
	int kind;

	assert_int_equal(fxt_sample_write(f->w, true), 0);
	fxt_writer_flush(f->w);
	whole = fxt_walk(f->mem.data, f->mem.len, how);
	assert_null(whole.broken);
	for (kind = 0; kind < FXT_KIND_UNKNOWN; kind++)
		assert_true(whole.kinds[kind] > 0);
	assert_int_equal(whole.kinds[FXT_KIND_UNKNOWN] + whole.kinds[FXT_KIND_DAMAGED], 0);
	for (i = 0; i < sizeof(chunks) / sizeof(chunks[0]); i++) {
		how = (struct fxt_walk_options){ .chunk = chunks[i], .err = i & 1 ? -EINTR : 0 };
		again = fxt_walk(f->mem.data, f->mem.len, how);
		assert_null(again.broken);
		assert_true(again.digest == whole.digest);
	}
}

static void test_names(void **state)
{
	(void)state;
	assert_string_equal(fxt_kind_name(FXT_KIND_SWITCH), "context_switch");
	assert_string_equal(fxt_kind_name(FXT_KIND_CNT), "unknown");
	assert_string_equal(fxt_event_type_name(FXT_DURATION_BEGIN), "duration_begin");
	assert_string_equal(fxt_event_type_name(11), "unknown");
	assert_string_equal(fxt_thread_state_name(FXT_STATE_BLOCKED), "blocked");
	assert_string_equal(fxt_thread_state_name(15), "unknown");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		PAIR_TEST(test_random_events),
		PAIR_TEST(test_random_args),
		PAIR_TEST(test_scheduling),
		PAIR_TEST(test_profiler),
		PAIR_TEST(test_blobs),
		PAIR_TEST(test_large_payload),
		PAIR_TEST(test_sample),
		cmocka_unit_test(test_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
