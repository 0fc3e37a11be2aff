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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_dropped),
		cmocka_unit_test(test_kept),
		cmocka_unit_test(test_exiting),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
