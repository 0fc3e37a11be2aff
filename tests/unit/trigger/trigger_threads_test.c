// SPDX-License-Identifier: GPL-2.0
/*
 * Unit tests of what triggers keep of threads.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "bpf/abi/ids.h"
#include "trigger/threads.h"
#include "trigger/waits.h"

static void end_thread(struct threads *th, uint64_t koid, uint64_t ns)
{
	struct thread *t = threads_get(th, koid);

	assert_non_null(t);
	t->state = THREAD_DEAD;
	t->last_ns = ns;
	th->complete_ns = ns;
}

/* A million threads that exit, or whose ids are recycled, take no more space than those that live. */
static void test_dropped(void **state)
{
	struct threads th = { .slots = NULL };
	uint64_t i;

	(void)state;
	threads_get(&th, 7)->process = 6;
	end_thread(&th, 6, 1);
	for (i = 0; i < 1000000; i++)
		end_thread(&th, 100 + i, 2 + i);
	for (i = 1; i < 300; i++) {
		threads_get(&th, 50 + i * ID_GENERATION_STEP)->last_ns = i;
		end_thread(&th, 2000000 + i, 2000000 + i);
	}
	assert_true(th.cap <= 4096);
	assert_non_null(threads_find(&th, 7));
	assert_non_null(threads_find(&th, 6));		/* its process */
	assert_non_null(threads_find(&th, 50 + 299 * ID_GENERATION_STEP));
	assert_null(threads_find(&th, 100));
	threads_free(&th);
}

/* A thread with a wait that is not evaluated yet is kept, and those of which records may yet come. */
static void test_kept(void **state)
{
	struct threads th = { .slots = NULL };
	uint64_t i;

	(void)state;
	end_thread(&th, 7, 10);
	threads_get(&th, 7)->gaps = 0;
	for (i = 0; i < 5000; i++)
		end_thread(&th, 100 + i, 20);
	assert_non_null(threads_find(&th, 7));
	assert_non_null(threads_find(&th, 100));
	assert_int_equal(th.cnt, 5001);
	threads_free(&th);
}

static struct thread *exiting_thread(struct threads *th, uint64_t koid, enum thread_state state, uint64_t last_ns, uint64_t now_ns)
{
	struct thread *t = threads_get(th, koid);

	assert_non_null(t);
	t->state = state;
	t->last_ns = last_ns;
	threads_exiting(t, now_ns);
	return t;
}

/* Those whose last switch is nowhere: they are kept for ten seconds, and where all records are there. */
static void test_exiting(void **state)
{
	const uint64_t second_ns = 1000000000;
	struct threads th = { .complete_ns = 100 * second_ns, .blind_ns = 50 * second_ns };
	uint64_t i;

	(void)state;
	exiting_thread(&th, 1, THREAD_UNKNOWN, 0, 89 * second_ns);
	exiting_thread(&th, 2, THREAD_UNKNOWN_YET, 0, 91 * second_ns);
	exiting_thread(&th, 3, THREAD_SLEEPS, 49 * second_ns, 89 * second_ns);
	exiting_thread(&th, 4, THREAD_SLEEPS, 51 * second_ns, 89 * second_ns);
	exiting_thread(&th, 5, THREAD_UNKNOWN, 0, 0)->is_exiting = false;
	exiting_thread(&th, 6, THREAD_UNKNOWN, 0, 0)->gaps = 0;
	for (i = 0; i < 5000; i++)
		exiting_thread(&th, 100 + i, THREAD_UNKNOWN, 0, 80 * second_ns);
	for (i = 1; i <= 6; i++)
		assert_int_equal(threads_find(&th, i) != NULL, i != 1 && i != 3);
	assert_true(th.cap <= 4096);
	threads_free(&th);
}

/* Records of one CPU that come after a later one of another: what is kept grows with time, not with their number. */
static void test_gaps(void **state)
{
	const uint64_t us = 1000, least_us = 10000, last_us = 1000000;
	struct threads th = { .slots = NULL };
	struct thread_waits w = { .threads = &th, .least_ns = least_us * us };
	struct wait_record rec = { .koid = 1, .ts_ns = last_us * us, .run_ns = UINT64_MAX, .state = THREAD_RUNS, .is_switch = true };
	uint64_t i;

	(void)state;
	assert_int_equal(thread_waits_add(&w, &rec), 0);
	for (i = 50; i < last_us / 2; i += 50) {
		rec.ts_ns = i * us;
		rec.state = rec.state == THREAD_RUNS ? THREAD_SLEEPS : THREAD_RUNS;
		assert_int_equal(thread_waits_add(&w, &rec), 0);
	}
	assert_int_equal(w.gaps_cnt, 1);	/* the other half second */
	assert_int_equal(w.gaps[0].from_ns, rec.ts_ns);
	assert_int_equal(w.gaps[0].from, rec.state);
	assert_int_equal(w.gaps[0].to_ns, last_us * us);
	for (; i < last_us; i += 2 * least_us) {
		rec.ts_ns = i * us;
		assert_int_equal(thread_waits_add(&w, &rec), 0);
	}
	assert_int_equal(w.gaps_cnt, last_us / 2 / (2 * least_us));
	thread_waits_fini(&w);
	threads_free(&th);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_dropped),
		cmocka_unit_test(test_kept),
		cmocka_unit_test(test_exiting),
		cmocka_unit_test(test_gaps),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
