// SPDX-License-Identifier: GPL-2.0
/*
 * Unit tests of calls that have not returned: what becomes of them where a file ends and the recording goes on, and at its
 * end.
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

#include "bpf/abi/func.h"
#include "fxt/fxt_mem.h"
#include "source/func/func_p.h"

#define CUT_NS	1000U
#define KERNEL	2U	/* functions of the kernel, the first ones */
#define SLOT	17U

static const char *const names[] = { "in_kernel", "too", "of_program" };
#define CNT	(sizeof(names) / sizeof(*names))

struct fixture {
	struct funcs f;
	struct func funcs[CNT];
	struct open_calls *slots;
	struct fxt_mem mem;
	struct fxt_writer *w;
	char text[2048];
};

static int set_up(void **state)
{
	struct fixture *x = calloc(1, sizeof(*x));
	unsigned int i;

	if (!x)
		return -1;
	x->slots = calloc(OPEN_SLOTS, sizeof(*x->slots));
	if (!x->slots)
		return -1;
	for (i = 0; i < CNT; i++)
		x->funcs[i] = (struct func){ .kind = i < KERNEL ? FUNC_KERNEL : FUNC_USER, .name = names[i] };
	x->f = (struct funcs){ .funcs = x->funcs, .cnt = CNT, .counts.kernel = KERNEL, .open = x->slots, .inside_fd = -1 };
	*state = x;
	if (fxt_writer_open(&x->w, fxt_mem_write, &x->mem))
		return -1;
	return fxt_write_magic(x->w) || fxt_write_provider_info(x->w, 1, fxt_str("test"));
}

static int tear_down(void **state)
{
	struct fixture *x = *state;

	fxt_writer_close(x->w);
	fxt_mem_free(&x->mem);
	free(x->slots);
	free(x);
	return 0;
}

static void put(struct fixture *x, unsigned int slot, const struct open_call *calls, unsigned int cnt)
{
	x->slots[slot].process = 1;
	x->slots[slot].thread = 100 + slot;
	memcpy(x->slots[slot].calls, calls, cnt * sizeof(*calls));
	x->slots[slot].owner = OPEN_OWNER(200 + slot, cnt);
}

/* What was written, a line each: "THREAD NAME START-END ARGUMENTS". */
static const char *written(struct fixture *x)
{
	struct fxt_mem_source source;
	struct fxt_reader *r;
	struct fxt_record rec;
	size_t len = 0;
	unsigned int i;

	assert_int_equal(fxt_writer_flush(x->w), 0);
	source = (struct fxt_mem_source){ .data = x->mem.data, .len = x->mem.len };
	assert_int_equal(fxt_reader_open(&r, fxt_mem_read, &source), 0);
	x->text[0] = '\0';
	while (fxt_reader_next(r, &rec) > 0) {
		if (rec.kind != FXT_KIND_EVENT)
			continue;
		assert_int_equal(rec.event.type, FXT_DURATION_COMPLETE);
		len += snprintf(x->text + len, sizeof(x->text) - len, "%llu %.*s %llu-%llu", (unsigned long long)rec.event.thread.thread,
				(int)rec.event.name.len, rec.event.name.data, (unsigned long long)rec.event.ts,
				(unsigned long long)rec.event.id);
		for (i = 0; i < rec.nargs; i++)
			len += snprintf(x->text + len, sizeof(x->text) - len, " %.*s", (int)rec.args[i].name.len, rec.args[i].name.data);
		len += snprintf(x->text + len, sizeof(x->text) - len, "\n");
	}
	fxt_reader_close(r);
	return x->text;
}

static const struct open_call some[] = {
	{ .start_ns = 10, .addr = 0 },
	{ .start_ns = OPEN_SHED, .addr = 1 },
	{ .start_ns = 20, .addr = 2 },
	{ .start_ns = 30, .addr = OPEN_ENDED },
	{ .start_ns = CUT_NS - 1, .addr = 0xffffffff81000000 },
	{ .start_ns = CUT_NS, .addr = 1 },
	{ .start_ns = CUT_NS + 1, .addr = 2 },
};
#define SOME	(sizeof(some) / sizeof(*some))

static void test_goes_on(void **state)
{
	struct fixture *x = *state;
	uint64_t cnt = 5;

	put(x, SLOT, some, SOME);
	put(x, OPEN_SLOTS - 1, some, 1);
	x->slots[SLOT + 1] = x->slots[SLOT];
	x->slots[SLOT + 1].owner = OPEN_OWNER(7, 0);	/* it has returned from all of them */
	assert_int_equal(funcs_write_open(&x->f, x->w, CUT_NS, &cnt), 0);
	assert_string_equal(written(x), "117 in_kernel 10-1000 unfinished continues\n"
				       "117 of_program 20-1000 unfinished continues\n"
				       "117 0xffffffff81000000 999-1000 unfinished continues\n"
				       "4195 in_kernel 10-1000 unfinished continues\n");
	assert_int_equal(cnt, 5 + 4);
	assert_int_equal(x->f.counts.unfinished + x->f.counts.unreturned, 0);
}

/* Where it is not known whether they have returned, nothing is said of those of the kernel. */
static void test_misses(void **state)
{
	struct fixture *x = *state;
	uint64_t cnt = 0;

	x->f.misses = true;
	put(x, SLOT, some, SOME);
	assert_int_equal(funcs_write_open(&x->f, x->w, CUT_NS, &cnt), 0);
	assert_string_equal(written(x), "117 of_program 20-1000 unfinished continues\n");
	assert_int_equal(cnt, 1);
}

static void test_end(void **state)
{
	struct fixture *x = *state;

	put(x, SLOT, some, SOME);
	assert_int_equal(funcs_write_unfinished(&x->f, x->w, CUT_NS), 0);
	assert_string_equal(written(x), "117 in_kernel 10-1000 unfinished\n"
				       "117 of_program 20-1000 unfinished\n"
				       "117 0xffffffff81000000 999-1000 unfinished\n"
				       "117 too 1000-1000 unfinished\n"
				       "117 of_program 1001-1001 unfinished\n");
	assert_int_equal(x->f.counts.unfinished, 5);
}

/* Without a stack none of the kernel's is known to be under way, and that is counted. */
static void test_end_misses(void **state)
{
	struct fixture *x = *state;

	x->f.misses = true;
	put(x, SLOT, some, SOME);
	assert_int_equal(funcs_write_unfinished(&x->f, x->w, CUT_NS), 0);
	assert_string_equal(written(x), "117 of_program 20-1000 unfinished\n"
				       "117 0xffffffff81000000 999-1000 unfinished\n"
				       "117 of_program 1001-1001 unfinished\n");
	assert_int_equal(x->f.counts.unfinished, 3);
	assert_int_equal(x->f.counts.unreturned, 2);
}

/* Deeper than there are places for, or without returns at all. */
static void test_limits(void **state)
{
	struct fixture *x = *state;
	uint64_t cnt = 0;
	unsigned int i;

	for (i = 0; i < OPEN_CALLS; i++)
		x->slots[0].calls[i] = (struct open_call){ .start_ns = 1 + i, .addr = i % CNT };
	x->slots[0].owner = OPEN_OWNER(1, UINT32_MAX);
	assert_int_equal(funcs_write_open(&x->f, x->w, CUT_NS, &cnt), 0);
	assert_int_equal(cnt, OPEN_CALLS);
	x->f.open = NULL;
	assert_int_equal(funcs_write_open(&x->f, x->w, CUT_NS, &cnt), 0);
	assert_int_equal(cnt, OPEN_CALLS);
}

static void test_no_space(void **state)
{
	struct fixture *x = *state;
	uint64_t cnt = 0;
	unsigned int slot;

	for (slot = 0; slot < OPEN_SLOTS; slot++)
		put(x, slot, some, 1);
	x->mem.fail = -ENOSPC;
	assert_int_equal(funcs_write_open(&x->f, x->w, CUT_NS, &cnt), -ENOSPC);
	assert_true(cnt < OPEN_SLOTS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_goes_on, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_misses, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_end, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_end_misses, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_limits, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_no_space, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
