// SPDX-License-Identifier: GPL-2.0
/*
 * Unit tests of which CPU has had nothing to do.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "session/idle_cpu.h"

#define CPUS	4

/* Idle times of so many CPUs, -1: it is not online. */
static struct idle_times *times(const int ticks[CPUS])
{
	struct idle_times *t = idle_times_parse("");
	int cpu;

	assert_non_null(t);
	for (cpu = 0; cpu < CPUS; cpu++)
		t->ticks[cpu] = t->all[cpu] = (uint64_t)(ticks[cpu] + 1);
	return t;
}

static int chosen(const int begin[CPUS], const int from[CPUS], const int to[CPUS], const char *cpus)
{
	struct idle_times *b = begin ? times(begin) : NULL, *f = times(from), *t = times(to);
	struct affinity allowed;
	int cpu;

	assert_int_equal(affinity_get(&allowed), 0);
	CPU_ZERO_S(allowed.bytes, allowed.set);
	for (; *cpus; cpus++)
		CPU_SET_S(*cpus - '0', allowed.bytes, allowed.set);
	cpu = idle_cpu(b, f, t, &allowed);
	affinity_free(&allowed);
	free(b);
	free(f);
	free(t);
	return cpu;
}

static void test_parse(void **state)
{
	struct idle_times *t = idle_times_parse("cpu  10 20 30 400 50 0 0 0 0 0\n"
						"cpu0 1 2 3 40 5 0 0 0 0 0\n"
						"cpu3 1 2 3 0 0 0 0 0 0 0\n"
						"cpu99999 1 2 3 40 5 0 0 0 0 0\n"
						"cpu1 1 2\n"
						"intr 12345\n"
						"cpu2 1 2 3 40 5\n");

	(void)state;
	assert_non_null(t);
	assert_int_equal(t->ticks[0], 46);
	assert_int_equal(t->ticks[1], 0);
	assert_int_equal(t->ticks[2], 0);
	assert_int_equal(t->ticks[3], 1);
	assert_int_equal(t->all[0], 1 + 2 + 3 + 40 + 5 + 1);
	assert_int_equal(t->all[3], 1 + 2 + 3 + 1);
	free(t);
	/* Interrupts and what the hypervisor took; not guests, who are users. */
	t = idle_times_parse("cpu0 1 2 3 40 5 6 7 8 1 2\n");
	assert_int_equal(t->all[0], 1 + 2 + 3 + 40 + 5 + 6 + 7 + 8 + 1);
	free(t);
}

static void test_read(void **state)
{
	struct idle_times *t = idle_times_read();
	unsigned int cpu, online = 0;

	(void)state;
	assert_non_null(t);
	for (cpu = 0; cpu < NUM_CPUS_MAX; cpu++)
		online += !!t->ticks[cpu];
	free(t);
	assert_int_equal(online, sysconf(_SC_NPROCESSORS_ONLN));
}

static void test_lately(void **state)
{
	(void)state;
	assert_int_equal(chosen((int[]){ 0, 0, 0, 0 }, (int[]){ 10, 900, 20, 30 }, (int[]){ 11, 900, 22, 31 }, "0123"), 2);
	/* That one is not ours. */
	assert_int_equal(chosen((int[]){ 0, 0, 0, 0 }, (int[]){ 10, 900, 20, 30 }, (int[]){ 11, 900, 22, 31 }, "013"), 3);
	assert_int_equal(chosen(NULL, (int[]){ 10, 900, 20, 30 }, (int[]){ 11, 900, 22, 31 }, "01"), 0);
}

/* Grace periods of less than a tick. */
static void test_since_the_begin(void **state)
{
	(void)state;
	assert_int_equal(chosen((int[]){ 5, 5, 5, 5 }, (int[]){ 10, 900, 20, 30 }, (int[]){ 10, 900, 20, 30 }, "0123"), 1);
	assert_int_equal(chosen(NULL, (int[]){ 10, 900, 20, 30 }, (int[]){ 10, 900, 20, 30 }, "0123"), -1);
	assert_int_equal(chosen((int[]){ 7, 7, 7, 7 }, (int[]){ 7, 7, 7, 7 }, (int[]){ 7, 7, 7, 7 }, "0123"), -1);
}

/* What is not known is not taken for idle: a CPU that came or went, time that was counted back. */
static void test_not_known(void **state)
{
	(void)state;
	assert_int_equal(chosen((int[]){ 5, 5, -1, 5 }, (int[]){ 5, 5, -1, 9 }, (int[]){ 5, 6, 900, 5 }, "0123"), 1);
	assert_int_equal(chosen((int[]){ 5, 5, 5, 9 }, (int[]){ 5, 5, 5, 9 }, (int[]){ -1, -1, -1, 5 }, "0123"), -1);
}

/* A real-time thread has to leave 5 of 100 ticks to others, which have nothing to do; the other CPU has this process. */
static void test_throttled(void **state)
{
	struct idle_times *from = idle_times_parse("cpu0 100 0 0 900 0 0 0 0\ncpu1 100 0 0 900 0 0 0 0\n");
	struct idle_times *to = idle_times_parse("cpu0 200 0 0 900 0 0 0 0\ncpu1 195 0 0 905 0 0 0 0\n");
	struct idle_times *some = idle_times_parse("cpu0 200 0 0 900 0 0 0 0\ncpu1 185 0 0 915 0 0 0 0\n");
	struct affinity allowed;

	(void)state;
	assert_int_equal(affinity_get(&allowed), 0);
	CPU_ZERO_S(allowed.bytes, allowed.set);
	CPU_SET_S(0, allowed.bytes, allowed.set);
	CPU_SET_S(1, allowed.bytes, allowed.set);
	assert_int_equal(idle_cpu(NULL, from, to, &allowed), -1);
	assert_int_equal(idle_cpu(from, to, to, &allowed), -1);
	assert_int_equal(idle_cpu(NULL, from, some, &allowed), 1);
	assert_int_equal(idle_cpu(from, some, some, &allowed), 1);
	affinity_free(&allowed);
	free(from);
	free(to);
	free(some);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_parse), cmocka_unit_test(test_read), cmocka_unit_test(test_lately),
		cmocka_unit_test(test_since_the_begin), cmocka_unit_test(test_not_known), cmocka_unit_test(test_throttled),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
