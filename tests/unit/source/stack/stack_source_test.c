// SPDX-License-Identifier: GPL-2.0
/*
 * Unit tests of stack samples: what deferred records become, and which are refused.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <errno.h>

#include "bpf/abi/stack.h"
#include "capture/source.h"
#include "fxt/format.h"
#include "fxt/fxt.h"
#include "fxt/fxt_mem.h"
#include "profile/profile.h"
#include "source/stack/frames.h"
#include "source/stack/stack_p.h"
#include "source/table.h"

#define WORDS	(STACK_WORDS + 4)

struct fixture {
	struct fxt_mem mem;
	struct source_ctx ctx;
	void *stacks;
	unsigned int samples;
	struct profile_sample last;	/* without what it points to, but for: */
	char outermost[64];
};

static void start(struct fixture *f, enum stack_user user)
{
	const struct stack_cfg cfg = { .off_cpu = true, .user = user };
	char why[256];

	stack_source_close(f->stacks);
	assert_int_equal(stack_source_open((struct stack_source **)&f->stacks, &cfg, why, sizeof(why)), 0);
	/* By attach(), after programs that are not here. */
	assert_int_equal(stack_frames_open(&((struct stack_source *)f->stacks)->frames, user), 0);
	assert_int_equal(source_stack.start(&f->stacks, &f->ctx), 0);
}

static int set_up(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	assert_non_null(f);
	assert_int_equal(fxt_writer_open(&f->ctx.w, fxt_mem_write, &f->mem), 0);
	assert_int_equal(fxt_write_magic(f->ctx.w), 0);
	start(f, STACK_NO_USER);
	*state = f;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;

	stack_source_close(f->stacks);
	fxt_writer_close(f->ctx.w);
	fxt_mem_free(&f->mem);
	free(f);
	return 0;
}

static int take_sample(void *ctx, const struct profile_sample *s)
{
	struct fixture *f = ctx;

	f->samples++;
	f->last = *s;
	f->outermost[0] = 0;
	if (s->frames_cnt) {
		assert_true(s->frames[0].name.len < sizeof(f->outermost));
		memcpy(f->outermost, s->frames[0].name.data, s->frames[0].name.len);
		f->outermost[s->frames[0].name.len] = 0;
	}
	return 0;
}

/* Samples that have been written, with the last one in f->last. */
static void read_back(struct fixture *f)
{
	struct fxt_mem_source source;
	struct profile_reader *samples;
	struct fxt_reader *r;
	struct fxt_record rec;

	assert_int_equal(source_stack.poll(f->stacks, &f->ctx, 0, true), 0);
	assert_int_equal(fxt_writer_flush(f->ctx.w), 0);
	source = (struct fxt_mem_source){ .data = f->mem.data, .len = f->mem.len };
	assert_int_equal(fxt_reader_open(&r, fxt_mem_read, &source), 0);
	assert_int_equal(profile_reader_open(&samples, take_sample, f), 0);
	while (fxt_reader_next(r, &rec) > 0)
		if (rec.kind == FXT_KIND_BLOB)
			assert_int_equal(profile_reader_blob(samples, rec.blob.data, rec.blob.len), 0);
	profile_reader_close(samples);
	fxt_reader_close(r);
}

/* Of thread 12 of process 11, 4 kernel frames. */
static void make(uint64_t rec[WORDS], enum stack_kind kind, unsigned int flags)
{
	memset(rec, 0, WORDS * 8);
	rec[RAW_HEADER] = RAW_RECORD(RAW_STACK, WORDS);
	rec[RAW_TS] = 5000;
	rec[RAW_PROCESS] = 11;
	rec[RAW_THREAD] = 12;
	rec[STACK_WHAT] = FXT_PUT(kind, STACK_F_KIND) | FXT_PUT(3, STACK_F_CPU) | FXT_PUT(flags, STACK_F_FLAGS);
	rec[STACK_WEIGHT] = 2000000;
	rec[STACK_OTHER] = 22;
	rec[STACK_OTHER_PROCESS] = 21;
	memcpy(&rec[STACK_COMM], "waker", 6);
	rec[STACK_COUNTS] = FXT_PUT(4, STACK_F_KERNEL);
	rec[STACK_WORDS] = rec[STACK_WORDS + 1] = rec[STACK_WORDS + 2] = rec[STACK_WORDS + 3] = 1;
}

static int decode(struct fixture *f, const uint64_t *rec)
{
	unsigned int written;
	int err = source_decode(&source_stack, f->stacks, &f->ctx, rec, &written);

	assert_int_equal(written, !err);
	return err;
}

static void test_kinds(void **state)
{
	struct fixture *f = *state;
	uint64_t rec[WORDS];

	make(rec, STACK_OFF_CPU, 0);
	assert_int_equal(decode(f, rec), 0);
	read_back(f);
	assert_int_equal(f->samples, 1);
	assert_int_equal(f->last.source, PROFILE_OFF_CPU);
	assert_int_equal(f->last.ts, 5000);
	assert_int_equal(f->last.weight, 2000000);
	assert_int_equal(f->last.process, 11);
	assert_int_equal(f->last.thread, 12);
	assert_int_equal(f->last.cpu, 3);
	assert_int_equal(f->last.frames_cnt, 4);
}

/* On the thread that was woken, who woke it as the outermost frame. */
static void test_wakers(void **state)
{
	struct fixture *f = *state;
	uint64_t rec[WORDS];

	make(rec, STACK_WAKER, 0);
	assert_int_equal(decode(f, rec), 0);
	read_back(f);
	assert_int_equal(f->last.source, PROFILE_WAKER);
	assert_int_equal(f->last.process, 21);
	assert_int_equal(f->last.thread, 22);
	assert_int_equal(f->last.frames_cnt, 5);
	assert_string_equal(f->outermost, "woken by waker 12");
	make(rec, STACK_WAKER, STACK_INTERRUPT);
	assert_int_equal(decode(f, rec), 0);
	read_back(f);
	assert_string_equal(f->outermost, "woken by an interrupt");
	/* A name of all bytes there are has no NUL. */
	make(rec, STACK_WAKER, 0);
	memset(&rec[STACK_COMM], 'y', 16);
	assert_int_equal(decode(f, rec), 0);
	read_back(f);
	assert_string_equal(f->outermost, "woken by yyyyyyyyyyyyyyyy 12");
}

/* Registers of user mode, but not a byte of the stack could be copied, as while a program is executed: cut, and counted. */
static void test_no_copy(void **state)
{
	struct fixture *f = *state;
	struct stack_counts counts;
	uint64_t rec[WORDS];

	start(f, STACK_BY_RULES);
	make(rec, STACK_CPU, 0);
	rec[STACK_IP] = 0x1000;
	rec[STACK_SP] = 0x7ff000;
	rec[STACK_COUNTS] = FXT_PUT(3, STACK_F_KERNEL) | FXT_PUT(1, STACK_F_FP);
	rec[STACK_WORDS + 3] = rec[STACK_IP];
	assert_int_equal(decode(f, rec), 0);
	read_back(f);
	assert_string_equal(f->outermost, "[cut]");
	stack_source_counts(f->stacks, &counts);
	assert_int_equal(counts.unreadable, 1);
	/* By frame pointers alone it is what they lead to. */
	start(f, STACK_BY_FP);
	assert_int_equal(decode(f, rec), 0);
	read_back(f);
	assert_string_equal(f->outermost, "[unknown]");
	stack_source_counts(f->stacks, &counts);
	assert_int_equal(counts.whole + counts.cut + counts.unmapped + counts.no_rule + counts.unreadable, 0);
}

/* What its counts say would be beyond its end, or there is no such kind. */
static void test_refused(void **state)
{
	const uint64_t counts[] = {
		FXT_PUT(5, STACK_F_KERNEL), FXT_PUT(4, STACK_F_KERNEL) | FXT_PUT(1, STACK_F_FP),
		FXT_PUT(4, STACK_F_KERNEL) | FXT_PUT(1, STACK_F_BYTES), FXT_PUT(0xffff, STACK_F_KERNEL),
		FXT_PUT(0xffff, STACK_F_FP), FXT_PUT(0xffffffff, STACK_F_BYTES), UINT64_MAX,
	};
	struct fixture *f = *state;
	uint64_t rec[WORDS];
	size_t i;

	for (i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
		make(rec, STACK_CPU, 0);
		rec[STACK_COUNTS] = counts[i];
		assert_int_equal(decode(f, rec), -EINVAL);
	}
	make(rec, STACK_KIND_CNT, 0);
	assert_int_equal(decode(f, rec), -EINVAL);
	make(rec, STACK_CPU, 0);
	rec[RAW_HEADER] = RAW_RECORD(RAW_STACK, STACK_WORDS - 1);
	assert_int_equal(decode(f, rec), -EINVAL);
	read_back(f);
	assert_int_equal(f->samples, 0);
}

/* User stacks were selected, and the last of the mechanisms cannot read them. */
static void test_partial(void **state)
{
	const struct fixture *f = *state;
	struct stack_source *s = f->stacks;

	assert_false(stack_source_is_partial(s));
	s->via = STACK_VIA_SWITCH;
	assert_false(stack_source_is_partial(s));
	s->cfg.user = STACK_BY_FP;
	assert_true(stack_source_is_partial(s));
	s->via = STACK_VIA_KPROBE;
	assert_false(stack_source_is_partial(s));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_kinds, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_wakers, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_no_copy, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_refused, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_partial, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
