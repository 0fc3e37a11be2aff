/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The FXT reader on good input: what the writer wrote comes back, whatever the
 * pieces it arrives in; tables, providers, extensions, large payloads.
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

#include "fxt_mem.h"
#include "fxt_sample.h"
#include "fxt_walk.h"

#define ROUNDS		20000

struct fixture {
	struct fxt_writer *w;
	struct fxt_mem mem;
	struct fxt_mem_source source;
	struct fxt_reader *r;
	struct fxt_record rec;
	uint64_t seed;
};

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	*state = f;
	f->seed = 88172645463325252ULL;
	return fxt_writer_open(&f->w, fxt_mem_write, &f->mem);
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	fxt_reader_close(f->r);
	fxt_writer_close(f->w);
	fxt_mem_free(&f->mem);
	free(f);
	return 0;
}

static uint64_t next_random(struct fixture *f)
{
	f->seed ^= f->seed << 13;
	f->seed ^= f->seed >> 7;
	f->seed ^= f->seed << 17;
	return f->seed * 0x2545f4914f6cdd1dULL;
}

static unsigned int pick(struct fixture *f, unsigned int below)
{
	return (next_random(f) >> 33) % below;
}

/* Reads what was written so far. */
static void start_reading(struct fixture *f)
{
	fxt_writer_flush(f->w);
	fxt_reader_close(f->r);
	f->source = (struct fxt_mem_source){ .data = f->mem.data, .len = f->mem.len };
	assert_int_equal(fxt_reader_open(&f->r, fxt_mem_read, &f->source), 0);
}

/* The next record that is not of the tables must be of this kind. */
static struct fxt_record *expect(struct fixture *f, enum fxt_kind kind)
{
	do {
		assert_int_equal(fxt_reader_next(f->r, &f->rec), 1);
	} while ((f->rec.kind == FXT_KIND_STRING || f->rec.kind == FXT_KIND_THREAD) &&
		 f->rec.kind != kind);
	assert_string_equal(fxt_kind_name(f->rec.kind), fxt_kind_name(kind));
	assert_int_equal(f->rec.unresolved, 0);
	return &f->rec;
}

static void expect_end(struct fixture *f)
{
	assert_int_equal(fxt_reader_next(f->r, &f->rec), 0);
	assert_int_equal(fxt_reader_next(f->r, &f->rec), 0);
}

/* ---- comparing ------------------------------------------------------------- */

static void same_str(struct fxt_str got, struct fxt_str want)
{
	assert_int_equal(got.len, want.len);
	assert_memory_equal(got.data, want.data, want.len);
	assert_int_equal(got.inlined, want.inlined && want.len);
}

static void same_text(struct fxt_str got, const char *want)
{
	assert_int_equal(got.len, strlen(want));
	assert_memory_equal(got.data, want, got.len);
}

static void same_thread(struct fxt_thread got, struct fxt_thread want)
{
	assert_true(got.process == want.process && got.thread == want.thread);
	assert_int_equal(got.inlined, want.inlined);
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

static void same_args(struct fixture *f, const struct fxt_arg *want, unsigned int nargs)
{
	unsigned int i;

	assert_int_equal(f->rec.nargs, nargs);
	for (i = 0; i < nargs; i++)
		same_arg(&f->rec.args[i], &want[i]);
}

/* ---- random records there and back ------------------------------------------ */

static const char pool[] = "The quick brown fox jumps over the lazy dog, \0 and \x7f too.";

static struct fxt_str random_str(struct fixture *f)
{
	unsigned int at = pick(f, sizeof(pool) - 1);
	unsigned int len = pick(f, 4) ? pick(f, sizeof(pool) - at) : 0;

	return pick(f, 2) ? fxt_str_n(pool + at, len) : fxt_str_inline(pool + at, len);
}

static struct fxt_thread random_thread(struct fixture *f)
{
	struct fxt_thread t = { .inlined = pick(f, 2) };

	t.process = pick(f, 4) ? pick(f, 40) : next_random(f);
	t.thread = pick(f, 4) ? pick(f, 40) : next_random(f);
	return t;
}

static struct fxt_arg random_arg(struct fixture *f)
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

static unsigned int random_args(struct fixture *f, struct fxt_arg *args)
{
	unsigned int i, nargs = pick(f, FXT_ARGS_MAX + 1);

	for (i = 0; i < nargs; i++)
		args[i] = random_arg(f);
	return nargs;
}

static struct fxt_event random_event(struct fixture *f)
{
	return (struct fxt_event){ .type = pick(f, FXT_FLOW_END + 1), .ts = next_random(f),
		.thread = random_thread(f), .category = random_str(f), .name = random_str(f),
		.id = next_random(f) };
}

static void test_random_events(void **state)
{
	struct fixture *f = *state;
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
	start_reading(f);
	f->seed = seed;
	expect(f, FXT_KIND_MAGIC);
	for (i = 0; i < ROUNDS; i++) {
		const struct fxt_event *got = &expect(f, FXT_KIND_EVENT)->event;

		want = random_event(f);
		assert_true(f->rec.has_ts && f->rec.ts == want.ts && got->ts == want.ts);
		assert_int_equal(got->type, want.type);
		same_thread(got->thread, want.thread);
		same_str(got->category, want.category);
		same_str(got->name, want.name);
		if (want.type == FXT_COUNTER || want.type >= FXT_DURATION_COMPLETE)
			assert_true(got->id == want.id);
		nargs = random_args(f, args);
		same_args(f, args, nargs);
	}
	expect_end(f);
}

/* The other records that have arguments. */
static void test_random_args(void **state)
{
	struct fixture *f = *state;
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
	start_reading(f);
	f->seed = seed;
	expect(f, FXT_KIND_MAGIC);
	for (i = 0; i < ROUNDS; i++) {
		expect(f, i & 1 ? FXT_KIND_KERNEL_OBJECT : FXT_KIND_USERSPACE_OBJECT);
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
	expect_end(f);
}

/* ---- each record there and back ---------------------------------------------- */

static void test_scheduling(void **state)
{
	struct fixture *f = *state;
	struct fxt_arg weight = fxt_arg_i32("weight", FXT_WEIGHT_IDLE);
	struct fxt_switch s = { .ts = 1, .cpu = 65535, .state = 5, .out = ~0ULL, .in = 2 };
	struct fxt_wakeup wakeup = { .ts = 3, .cpu = 4095, .thread = 4 };
	struct fxt_legacy_switch l = { .ts = 5, .cpu = 255, .state = 4, .out = { 6, 7, true },
		.in = { 8, 9, false }, .out_priority = 10, .in_priority = 255 };

	fxt_write_magic(f->w);
	fxt_write_switch(f->w, &s, &weight, 1);
	fxt_write_wakeup(f->w, &wakeup, &weight, 1);
	fxt_write_legacy_switch(f->w, &l);
	start_reading(f);
	expect(f, FXT_KIND_MAGIC);
	expect(f, FXT_KIND_SWITCH);
	assert_true(f->rec.ts == 1 && f->rec.context_switch.out == ~0ULL);
	assert_true(f->rec.context_switch.in == 2 && f->rec.context_switch.cpu == 65535);
	assert_int_equal(f->rec.context_switch.state, FXT_STATE_DEAD);
	same_args(f, &weight, 1);
	assert_ptr_equal(fxt_record_arg(&f->rec, "weight"), &f->rec.args[0]);
	assert_null(fxt_record_arg(&f->rec, "weigh"));
	expect(f, FXT_KIND_WAKEUP);
	assert_true(f->rec.ts == 3 && f->rec.wakeup.thread == 4 && f->rec.wakeup.cpu == 4095);
	same_args(f, &weight, 1);
	expect(f, FXT_KIND_LEGACY_SWITCH);
	same_thread(f->rec.legacy_switch.out, l.out);
	same_thread(f->rec.legacy_switch.in, l.in);
	assert_true(f->rec.ts == 5 && f->rec.legacy_switch.cpu == 255);
	assert_int_equal(f->rec.legacy_switch.state, FXT_STATE_DYING);
	assert_int_equal(f->rec.legacy_switch.out_priority, 10);
	assert_int_equal(f->rec.legacy_switch.in_priority, 255);
	expect_end(f);
}

static void test_profiler(void **state)
{
	static const uint64_t frames[255] = { 1, 2, 3 };
	struct fixture *f = *state;
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
	start_reading(f);
	expect(f, FXT_KIND_MAGIC);
	expect(f, FXT_KIND_MODULE);
	same_thread(f->rec.module.thread, (struct fxt_thread){ .process = 5 });
	same_text(f->rec.module.name, "libc");
	assert_int_equal(f->rec.module.id, 65535);
	assert_int_equal(f->rec.module.build_id_len, 255);
	assert_memory_equal(f->rec.module.build_id, frames, 255);
	expect(f, FXT_KIND_MMAP);
	assert_true(f->rec.mmap.start == 3 && f->rec.mmap.range == 4 && f->rec.mmap.vaddr == ~0ULL);
	assert_true(f->rec.mmap.flags == 7 && f->rec.mmap.module == 65535 && f->rec.ts == 2);
	expect(f, FXT_KIND_BACKTRACE);
	same_thread(f->rec.backtrace.thread, t);
	assert_int_equal(f->rec.backtrace.frames_cnt, 255);
	assert_memory_equal(f->rec.backtrace.frames, frames, sizeof(frames));
	expect_end(f);
}

static void test_blobs(void **state)
{
	struct fixture *f = *state;
	size_t len = 100003, at = 0;
	char *data = malloc(len);
	size_t i;

	for (i = 0; i < len; i++)
		data[i] = i * 31 + i / 1000;
	fxt_write_magic(f->w);
	fxt_write_blob(f->w, FXT_BLOB_PERFETTO, fxt_str("indexed"), data, len);
	fxt_write_blob(f->w, FXT_BLOB_DATA, fxt_str_inline(data, 0), data, 1);
	fxt_write_log(f->w, 9, (struct fxt_thread){ .process = 1 }, fxt_str("a log line"));
	start_reading(f);
	expect(f, FXT_KIND_MAGIC);
	while (at < len) {
		expect(f, FXT_KIND_BLOB);
		assert_int_equal(f->rec.blob.type, FXT_BLOB_PERFETTO);
		same_text(f->rec.blob.name, "indexed");
		assert_memory_equal(f->rec.blob.data, data + at, f->rec.blob.len);
		at += f->rec.blob.len;
	}
	assert_int_equal(at, len);
	expect(f, FXT_KIND_BLOB);
	same_text(f->rec.blob.name, "");
	assert_int_equal(f->rec.blob.len, 1);
	expect(f, FXT_KIND_LOG);
	same_text(f->rec.log.text, "a log line");
	assert_true(f->rec.has_ts && f->rec.ts == 9 && f->rec.log.thread.process == 1);
	expect_end(f);
	free(data);
}

/* Payloads around the border between "whole" and "in pieces". */
static void test_large_payload(void **state)
{
	static const size_t sizes[] = { 0, 1, 8 * 4092, 8 * 4092 + 1, 300001 };
	struct fixture *f = *state;
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
	start_reading(f);
	f->source.chunk = 10007;
	expect(f, FXT_KIND_MAGIC);
	for (i = 0; i < 5; i++) {
		expect(f, FXT_KIND_LARGE_BLOB);
		assert_int_equal(f->rec.large_blob.len, sizes[i]);
		assert_int_equal(f->rec.large_blob.data != NULL, i < 3);
		for (at = 0; (n = fxt_reader_payload(f->r, got + at, 5003)) > 0; at += n)
			;
		assert_int_equal(n, 0);
		assert_int_equal(at, sizes[i]);
		assert_memory_equal(got, data, at);
		same_text(f->rec.large_blob.category, "cat");
		same_text(f->rec.large_blob.name, i ? "" : "name");
	}
	expect_end(f);
	assert_int_equal(fxt_reader_payload(f->r, got, 1), 0);
	free(data);
	free(got);
}

/* ---- the sample ---------------------------------------------------------------- */

static void test_sample(void **state)
{
	static const size_t chunks[] = { 1, 3, 8, 13, 100, 4096, 65536, 65537 };
	struct fixture *f = *state;
	struct fxt_walk whole, again;
	unsigned int i;
	int kind;

	assert_int_equal(fxt_sample_write(f->w, true), 0);
	fxt_writer_flush(f->w);
	whole = fxt_walk(f->mem.data, f->mem.len, (struct fxt_walk_options){ 0 });
	assert_null(whole.broken);
	for (kind = 0; kind < FXT_KIND_UNKNOWN; kind++)
		assert_true(whole.kinds[kind] > 0);
	assert_int_equal(whole.kinds[FXT_KIND_UNKNOWN] + whole.kinds[FXT_KIND_DAMAGED], 0);
	for (i = 0; i < sizeof(chunks) / sizeof(chunks[0]); i++) {
		again = fxt_walk(f->mem.data, f->mem.len,
				 (struct fxt_walk_options){ .chunk = chunks[i], .err = i & 1 ? -EINTR : 0 });
		assert_null(again.broken);
		assert_true(again.digest == whole.digest);
	}
}

/* ---- tables ------------------------------------------------------------------- */

static void name_of(char *name, unsigned int i)
{
	sprintf(name, "string number %u", i);
}

static void test_string_overflow(void **state)
{
	struct fixture *f = *state;
	struct fxt_event e = { .category = fxt_str("first of all") };
	struct fxt_writer_stats stats;
	struct fxt_arg args[FXT_ARGS_MAX];
	char names[31][32];
	unsigned int i, j;

	fxt_write_magic(f->w);
	for (i = 0; i < 40000; i++) {
		name_of(names[0], i);
		e.name = fxt_str(names[0]);
		assert_int_equal(fxt_write_event(f->w, &e, NULL, 0), 0);
	}
	/* "first of all" was replaced once: it is in every record but is not the youngest. */
	fxt_writer_stats(f->w, &stats);
	assert_int_equal(stats.strings_replaced, 40001 - 32767);
	/* Records that each need the most strings there can be, at every phase of the ring. */
	for (i = 0; i < 3000; i++) {
		for (j = 0; j < 31; j++)
			name_of(names[j], 100000 + 30 * i + j);
		for (j = 0; j < 15; j++)
			args[j] = fxt_arg_str(names[2 * j], fxt_str(names[2 * j + 1]));
		e.name = fxt_str(names[30]);
		assert_int_equal(fxt_write_event(f->w, &e, args, 15), 0);
	}
	start_reading(f);
	expect(f, FXT_KIND_MAGIC);
	for (i = 0; i < 40000; i++) {
		name_of(names[0], i);
		same_text(expect(f, FXT_KIND_EVENT)->event.name, names[0]);
		same_text(f->rec.event.category, "first of all");
	}
	for (i = 0; i < 3000; i++) {
		expect(f, FXT_KIND_EVENT);
		for (j = 0; j < 30; j++) {
			name_of(names[0], 100000 + 30 * i + j);
			same_text(j & 1 ? f->rec.args[j / 2].str : f->rec.args[j / 2].name, names[0]);
		}
		same_text(f->rec.event.category, "first of all");
	}
	expect_end(f);
}

/* What is in use is not replaced; what is older than the rest goes next. */
static void test_replacement_order(void **state)
{
	struct fixture *f = *state;
	struct fxt_event e = { .category = fxt_str("0"), .name = fxt_str("0") };
	char name[16];
	unsigned int i;

	fxt_write_magic(f->w);
	for (i = 0; i < 32767; i++) {
		sprintf(name, "%u", i);
		fxt_write_blob(f->w, FXT_BLOB_DATA, fxt_str(name), NULL, 0);
	}
	e.name = fxt_str("uses 0, so 1 goes");
	fxt_write_event(f->w, &e, NULL, 0);
	fxt_write_blob(f->w, FXT_BLOB_DATA, fxt_str("0 goes"), NULL, 0);
	fxt_write_blob(f->w, FXT_BLOB_DATA, fxt_str("2 goes"), NULL, 0);
	start_reading(f);
	for (i = 0; i < 1 + 2 * 32767; i++)
		assert_int_equal(fxt_reader_next(f->r, &f->rec), 1);
	expect(f, FXT_KIND_STRING);
	assert_int_equal(f->rec.string.index, 2);
	expect(f, FXT_KIND_EVENT);
	expect(f, FXT_KIND_STRING);
	assert_int_equal(f->rec.string.index, 1);
	expect(f, FXT_KIND_BLOB);
	expect(f, FXT_KIND_STRING);
	assert_int_equal(f->rec.string.index, 3);
}

static void test_thread_overflow(void **state)
{
	struct fixture *f = *state;
	struct fxt_legacy_switch s = { .state = FXT_STATE_BLOCKED };
	struct fxt_writer_stats stats;
	unsigned int i;

	fxt_write_magic(f->w);
	fxt_write_thread(f->w, 200, (struct fxt_thread){ .process = 7, .thread = 7 });
	for (i = 0; i < 1000; i++) {
		s.out = (struct fxt_thread){ .process = 1, .thread = i % 300 };
		s.in = i % 10 ? (struct fxt_thread){ .process = 1, .thread = (i + 1) % 300 } :
				(struct fxt_thread){ .process = 7, .thread = 7 };
		assert_int_equal(fxt_write_legacy_switch(f->w, &s), 0);
	}
	fxt_writer_stats(f->w, &stats);
	assert_true(stats.threads_replaced > 0);
	start_reading(f);
	expect(f, FXT_KIND_MAGIC);
	expect(f, FXT_KIND_THREAD);
	for (i = 0; i < 1000; i++) {
		expect(f, FXT_KIND_LEGACY_SWITCH);
		assert_int_equal(f->rec.legacy_switch.out.thread, i % 300);
		assert_int_equal(f->rec.legacy_switch.in.thread, i % 10 ? (i + 1) % 300 : 7);
		assert_false(f->rec.legacy_switch.in.inlined);
	}
	expect_end(f);
}

/* The table holds 16 MiB, and a caller may fix all indexes for himself. */
static void test_table_limits(void **state)
{
	struct fixture *f = *state;
	struct fxt_writer_stats stats;
	char *text = malloc(32000);
	unsigned int i;

	memset(text, 'x', 32000);
	fxt_write_magic(f->w);
	for (i = 1; i <= 255; i++)
		assert_int_equal(fxt_write_thread(f->w, i, (struct fxt_thread){ .thread = i }), 0);
	for (i = 0; i < 600; i++) {
		memcpy(text, &i, sizeof(i));
		text[1] = text[1] ? 'y' : 'z';
		text[0] = text[0] & 0x7f;
		sprintf(text + 2, "%u", i);
		assert_int_equal(fxt_write_blob(f->w, FXT_BLOB_DATA, fxt_str_n(text, 32000), NULL, 0), 0);
	}
	fxt_writer_stats(f->w, &stats);
	assert_int_equal(stats.strings_replaced, 600 - (16 << 20) / 32000);
	fxt_write_log(f->w, 0, (struct fxt_thread){ .thread = 256 }, fxt_str(""));
	fxt_write_log(f->w, 0, (struct fxt_thread){ .thread = 255 }, fxt_str(""));
	start_reading(f);
	expect(f, FXT_KIND_MAGIC);
	for (i = 0; i < 255; i++)
		expect(f, FXT_KIND_THREAD);
	for (i = 0; i < 600; i++)
		assert_int_equal(expect(f, FXT_KIND_BLOB)->blob.name.len, 32000);
	same_thread(expect(f, FXT_KIND_LOG)->log.thread, (struct fxt_thread){ 0, 256, true });
	same_thread(expect(f, FXT_KIND_LOG)->log.thread, (struct fxt_thread){ 0, 255, false });
	expect_end(f);
	free(text);
}

/* ---- providers --------------------------------------------------------------- */

static void write_named(struct fixture *f, const char *name)
{
	struct fxt_event e = { .thread = { .process = 1, .thread = 2 }, .name = fxt_str(name) };

	assert_int_equal(fxt_write_event(f->w, &e, NULL, 0), 0);
}

static void expect_named(struct fixture *f, const char *name, uint32_t provider, uint64_t ticks)
{
	same_text(expect(f, FXT_KIND_EVENT)->event.name, name);
	assert_int_equal(f->rec.event.thread.thread, 2);
	assert_int_equal(f->rec.provider_id, provider);
	assert_int_equal(fxt_reader_ticks_per_second(f->r), ticks);
}

static void test_providers(void **state)
{
	struct fixture *f = *state;

	fxt_write_magic(f->w);
	write_named(f, "before any");
	fxt_write_provider_info(f->w, 1, fxt_str("one"));
	fxt_write_initialization(f->w, 1000);
	write_named(f, "of one");
	fxt_write_provider_info(f->w, 2, fxt_str("two"));
	write_named(f, "of two");
	fxt_write_provider_event(f->w, 1, 0);
	fxt_write_provider_section(f->w, 1);
	write_named(f, "of one");
	fxt_write_provider_section(f->w, 0);
	write_named(f, "before any");
	fxt_write_provider_info(f->w, 1, fxt_str("one again"));
	write_named(f, "of one");
	start_reading(f);
	expect(f, FXT_KIND_MAGIC);
	expect_named(f, "before any", 0, 1000000000);
	same_text(expect(f, FXT_KIND_PROVIDER_INFO)->provider.name, "one");
	assert_int_equal(f->rec.provider_id, 1);
	assert_int_equal(expect(f, FXT_KIND_INITIALIZATION)->ticks_per_second, 1000);
	expect_named(f, "of one", 1, 1000);
	expect(f, FXT_KIND_PROVIDER_INFO);
	expect_named(f, "of two", 2, 1000000000);
	same_text(expect(f, FXT_KIND_PROVIDER_EVENT)->provider.name, "one");
	assert_true(f->rec.provider_id == 2 && f->rec.provider.id == 1);
	same_text(expect(f, FXT_KIND_PROVIDER_SECTION)->provider.name, "one");
	expect_named(f, "of one", 1, 1000);
	expect(f, FXT_KIND_PROVIDER_SECTION);
	expect_named(f, "before any", 0, 1000000000);
	expect(f, FXT_KIND_PROVIDER_INFO);
	expect_named(f, "of one", 1, 1000000000);
	expect_end(f);
}

/* A record of three words whose name and thread are indexes. */
static const uint64_t uses_index[] = { 0x0001000001000024ULL, 5 };

static void expect_unresolved(struct fixture *f, unsigned int unresolved)
{
	do {
		assert_int_equal(fxt_reader_next(f->r, &f->rec), 1);
	} while (f->rec.kind != FXT_KIND_EVENT);
	assert_int_equal(f->rec.unresolved, unresolved);
	if (unresolved) {
		same_text(f->rec.event.name, "");
		assert_true(!f->rec.event.thread.process && !f->rec.event.thread.thread);
	}
}

/* Each provider has its own tables, and loses them when announced anew. */
static void test_tables_apart(void **state)
{
	struct fixture *f = *state;
	struct fxt_reader_stats stats;

	fxt_write_magic(f->w);
	fxt_write_raw(f->w, uses_index, sizeof(uses_index));
	fxt_write_provider_info(f->w, 1, fxt_str(""));
	write_named(f, "string 1");
	fxt_write_raw(f->w, uses_index, sizeof(uses_index));
	fxt_write_provider_info(f->w, 2, fxt_str(""));
	fxt_write_raw(f->w, uses_index, sizeof(uses_index));
	fxt_write_provider_section(f->w, 1);
	fxt_write_raw(f->w, uses_index, sizeof(uses_index));
	fxt_write_provider_info(f->w, 1, fxt_str(""));
	fxt_write_raw(f->w, uses_index, sizeof(uses_index));
	start_reading(f);
	expect_unresolved(f, 2);
	expect_unresolved(f, 0);
	expect_unresolved(f, 0);
	expect_unresolved(f, 2);
	expect_unresolved(f, 0);
	expect_unresolved(f, 2);
	expect_end(f);
	fxt_reader_stats(f->r, &stats);
	assert_int_equal(stats.unresolved, 3);
	assert_int_equal(stats.by_kind[FXT_KIND_EVENT], 6);
	assert_int_equal(stats.bytes, f->mem.len);
}

static void test_many_providers(void **state)
{
	struct fixture *f = *state;
	unsigned int i, damaged = 0, events = 0;

	fxt_write_magic(f->w);
	for (i = 1; i <= 70; i++) {
		fxt_write_provider_info(f->w, i, fxt_str("p"));
		write_named(f, "name");
	}
	start_reading(f);
	while (fxt_reader_next(f->r, &f->rec) == 1) {
		damaged += f->rec.kind == FXT_KIND_DAMAGED;
		if (f->rec.kind == FXT_KIND_EVENT) {
			events++;
			assert_int_equal(f->rec.provider_id, events);
			same_text(f->rec.event.name, "name");
		}
	}
	assert_int_equal(damaged, 6);
	assert_int_equal(events, 70);
}

/* ---- formats to come ---------------------------------------------------------- */

static void test_unknown(void **state)
{
	static const uint64_t unknown[] = {
		0x000000000000003bULL, 1, 2,		/* type 11 */
		0x000000000000001eULL,			/* type 14 */
		0x0000000000050010ULL,			/* metadata type 5 */
		0x0000000000140010ULL,			/* trace info type 1 */
		0x00000000000f0024ULL, 1,		/* event type 15 */
		0x3000000000000028ULL, 1,		/* scheduling type 3 */
		0x000000000003002aULL, 1,		/* profiler type 3 */
		0x000000100000002fULL, 1,		/* large type 1 */
		0x000002000000003fULL, 0, 0,		/* large BLOB format 2 */
	};
	struct fixture *f = *state;
	unsigned int i;

	fxt_write_magic(f->w);
	fxt_write_raw(f->w, unknown, sizeof(unknown));
	fxt_write_magic(f->w);
	start_reading(f);
	expect(f, FXT_KIND_MAGIC);
	for (i = 0; i < 9; i++)
		expect(f, FXT_KIND_UNKNOWN);
	expect(f, FXT_KIND_MAGIC);
	expect_end(f);
}

/* Words and arguments that a later format adds. */
static void test_extended(void **state)
{
	static const uint64_t extended[] = {
		0x0000000000000041ULL, 1000, 5, 6,		/* Jane Street's initialization */
		0x1000003000500058ULL, 7, 8, 9, 0xeeee,		/* a word more after the content */
		0x2000000000210068ULL, 7, 8, 0x000000ff8002003fULL, 0x6d6e, 0xbeef,
		0x2000000000210058ULL, 7, 8, 0x000000050000002dULL & ~0xfULL, 0xbeef,
	};
	struct fixture *f = *state;
	uint64_t word;

	fxt_write_magic(f->w);
	fxt_write_raw(f->w, extended, sizeof(extended));
	fxt_write_magic(f->w);
	start_reading(f);
	expect(f, FXT_KIND_MAGIC);
	assert_int_equal(expect(f, FXT_KIND_INITIALIZATION)->ticks_per_second, 1000);
	assert_int_equal(expect(f, FXT_KIND_SWITCH)->context_switch.in, 9);
	expect(f, FXT_KIND_WAKEUP);
	assert_int_equal(f->rec.args[0].type, 15);
	same_text(f->rec.args[0].name, "nm");
	assert_int_equal(f->rec.args[0].blob.len, 8);
	memcpy(&word, f->rec.args[0].blob.data, 8);
	assert_int_equal(word, 0xbeef);
	/* An argument with a word more than its type needs. */
	assert_int_equal(expect(f, FXT_KIND_WAKEUP)->args[0].type, FXT_ARG_NULL);
	expect(f, FXT_KIND_MAGIC);
	expect_end(f);
}

/* Indexes 0 cannot be registered, indexes can be registered again. */
static void test_registration(void **state)
{
	static const uint64_t words[] = {
		0x0000000100000022ULL, 'z', 0x0000000000000033ULL, 1, 2,
		0x0000000100010022ULL, 'a', 0x0000000100010022ULL, 'b',
		0x0000000000010012ULL + 0x10, 0, 0x0000000100010022ULL, 'c',
		0x0001000000000044ULL, 5, 6, 7,
	};
	struct fixture *f = *state;

	fxt_write_magic(f->w);
	fxt_write_raw(f->w, words, sizeof(words));
	start_reading(f);
	expect(f, FXT_KIND_MAGIC);
	assert_int_equal(expect(f, FXT_KIND_STRING)->string.index, 0);
	assert_int_equal(expect(f, FXT_KIND_THREAD)->thread.index, 0);
	expect(f, FXT_KIND_EVENT);
	same_text(f->rec.event.name, "c");
	same_text(f->rec.event.category, "");
	expect_end(f);
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
		cmocka_unit_test_setup_teardown(test_random_events, setup, teardown),
		cmocka_unit_test_setup_teardown(test_random_args, setup, teardown),
		cmocka_unit_test_setup_teardown(test_scheduling, setup, teardown),
		cmocka_unit_test_setup_teardown(test_profiler, setup, teardown),
		cmocka_unit_test_setup_teardown(test_blobs, setup, teardown),
		cmocka_unit_test_setup_teardown(test_large_payload, setup, teardown),
		cmocka_unit_test_setup_teardown(test_sample, setup, teardown),
		cmocka_unit_test_setup_teardown(test_string_overflow, setup, teardown),
		cmocka_unit_test_setup_teardown(test_replacement_order, setup, teardown),
		cmocka_unit_test_setup_teardown(test_thread_overflow, setup, teardown),
		cmocka_unit_test_setup_teardown(test_table_limits, setup, teardown),
		cmocka_unit_test_setup_teardown(test_providers, setup, teardown),
		cmocka_unit_test_setup_teardown(test_tables_apart, setup, teardown),
		cmocka_unit_test_setup_teardown(test_many_providers, setup, teardown),
		cmocka_unit_test_setup_teardown(test_unknown, setup, teardown),
		cmocka_unit_test_setup_teardown(test_extended, setup, teardown),
		cmocka_unit_test_setup_teardown(test_registration, setup, teardown),
		cmocka_unit_test(test_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
