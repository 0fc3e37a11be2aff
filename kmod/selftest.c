// SPDX-License-Identifier: GPL-2.0
/*
 * Traces two functions of its own and counts, through the tracepoint as any
 * consumer would. Compiled for ftrace, unlike the rest.
 */
#include "selftest.h"

#include <linux/compiler.h>
#include <linux/cpumask.h>
#include <linux/errno.h>
#include <linux/printk.h>
#include <linux/string.h>
#include <linux/tracepoint.h>

#include "counts.h"
#include "func.h"
#include "trace.h"

#define CALLS	1000

/*
 * Calls of one() and two() that came back through the tracepoint. READ_ONCE(), for
 * to the compiler nothing that we call can have changed them.
 */
static unsigned long seen_one, seen_two;

noinline void kfxt_selftest_one(void)
{
	barrier();
}

noinline void kfxt_selftest_two(void)
{
	barrier();
}

static bool is_at(unsigned long ip, void (*func)(void))
{
	/* Where a function begins with endbr64, ftrace's address is after it. */
	return ip - (unsigned long)func <= 4;
}

/* Calls what is traced: that must be counted and not come back here. */
static void on_func_entry(void *data, unsigned long ip, unsigned long parent_ip)
{
	WRITE_ONCE(seen_one, READ_ONCE(seen_one) + is_at(ip, kfxt_selftest_one));
	WRITE_ONCE(seen_two, READ_ONCE(seen_two) + is_at(ip, kfxt_selftest_two));
	kfxt_selftest_one();
}

/* CALLS calls of each: are @one and @two of them seen? */
static bool sees(unsigned long one, unsigned long two)
{
	int i;

	WRITE_ONCE(seen_one, 0);
	WRITE_ONCE(seen_two, 0);
	for (i = 0; i < CALLS; i++) {
		kfxt_selftest_one();
		kfxt_selftest_two();
	}
	return READ_ONCE(seen_one) == one && READ_ONCE(seen_two) == two;
}

static int try_globs(const char *globs, size_t bytes, int err, unsigned long one, unsigned long two)
{
	char text[64];
	int got;

	memcpy(text, globs, bytes);
	got = kfxt_func_start(text, bytes);
	if (sees(one, two) && got == err)
		return 0;
	pr_err("self-test: %s: %d instead of %d, calls seen: %lu of %lu, %lu of %lu\n", globs, got,
	       err, READ_ONCE(seen_one), one, READ_ONCE(seen_two), two);
	return -EIO;
}

#define TRY(globs, err, one, two) try_globs(globs, sizeof(globs), err, one, two)

static int test_funcs(void)
{
	int bad = 0;

	bad |= TRY("kfxt_no_such_function", -EINVAL, 0, 0);
	bad |= TRY("kfxt_selftest_one", 0, CALLS, 0);
	bad |= TRY("!kfxt_selftest_one", -EINVAL, CALLS, 0);
	bad |= TRY("kfxt_selftest_*\0!*_one", 0, 0, CALLS);
	bad |= TRY("kfxt_no_such_function\0kfxt_self*", 0, CALLS, CALLS);
	bad |= TRY("kfxt_selftest_*\0!*", 0, 0, 0);
	kfxt_func_stop();
	return sees(0, 0) ? bad : -EIO;
}

static unsigned long sum_recursion(void)
{
	unsigned long sum = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		sum += per_cpu_ptr(&kfxt_counts, cpu)->recursion;
	return sum;
}

int kfxt_selftest(void)
{
	unsigned long recursion;
	int err;

	err = register_trace_kfxt_func_entry(on_func_entry, NULL);
	if (err)
		return err;
	err = test_funcs();
	recursion = sum_recursion();
	unregister_trace_kfxt_func_entry(on_func_entry, NULL);
	tracepoint_synchronize_unregister();
	/* Whenever one() was traced, each event called it. */
	if (recursion != 4 * CALLS) {
		pr_err("self-test: %lu nested calls instead of %d\n", recursion, 4 * CALLS);
		err = -EIO;
	}
	if (!err)
		pr_info("self-test: passed, %d of %d calls seen\n", CALLS, CALLS);
	return err;
}
