// SPDX-License-Identifier: GPL-2.0
/*
 * Unit tests of processes that work beside a command, and of the CPUs that a thread may run on.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/affinity.h"
#include "base/side_process.h"

/* What of the child is not as it has to be. */
enum wrong { NOTHING, NOT_BEGUN, NAME, SESSION, KEPT, OTHERS, STANDARD };

static enum wrong check_side_process(int kept, int other)
{
	int fds[2] = { kept, kept }, i;
	char name[16] = "";

	if (side_process_begin("kfxt-test", false, (int *const[]){ &fds[0], &fds[1] }, 2))
		return NOT_BEGUN;
	prctl(PR_GET_NAME, name);
	if (strcmp(name, "kfxt-test") != 0)
		return NAME;
	if (getsid(0) != getpid())
		return SESSION;
	if (write(fds[0], "a", 1) != 1 || write(fds[1], "b", 1) != 1)
		return KEPT;
	for (i = 3; i <= other; i++)
		if (i != fds[0] && i != fds[1] && fcntl(i, F_GETFD) >= 0)
			return OTHERS;
	for (i = 0; i < 3; i++)
		if (read(i, name, 1) != 0)	/* of /dev/null */
			return STANDARD;
	raise(SIGTERM);
	raise(SIGINT);
	return NOTHING;
}

/* Also where what it keeps is one of 0 to 2, as of a recorder that was begun without them. */
static void test_side_process(void **state)
{
	int standard, ends[2], status, other;
	char text[2];
	pid_t pid;

	(void)state;
	for (standard = 0; standard < 2; standard++) {
		assert_int_equal(pipe(ends), 0);
		pid = fork();
		if (!pid) {
			other = fcntl(ends[0], F_DUPFD, 200);
			if (standard)
				dup2(ends[1], STDOUT_FILENO);
			_exit(check_side_process(standard ? STDOUT_FILENO : ends[1], other));
		}
		assert_int_equal(waitpid(pid, &status, 0), pid);
		assert_int_equal(status, 0);
		assert_int_equal(read(ends[0], text, 2), 2);
		assert_memory_equal(text, "ab", 2);
		close(ends[0]);
		close(ends[1]);
	}
}

/*
 * Which policy a side process has before it has settled: SCHED_FIFO where that is permitted. Negative: it does not settle, or
 * keeps that policy. Of a process that got @policy first, or has its own if that is negative.
 */
static int policy_of_side_process(int policy)
{
	const struct sched_param param = { .sched_priority = policy == SCHED_FIFO };
	const int after = policy >= 0 ? policy : sched_getscheduler(0);
	int status, before;
	pid_t pid;

	if (policy >= 0 && sched_setscheduler(0, policy, &param))
		return -1;
	pid = side_process_fork();
	if (!pid) {
		before = sched_getscheduler(0) & ~SCHED_RESET_ON_FORK;
		if (side_process_begin("kfxt-test", false, NULL, 0))
			_exit(100);
		/* What somebody has chosen stays. */
		_exit(sched_getscheduler(0) == after ? before : 101);
	}
	return pid > 0 && waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) < 100 ? WEXITSTATUS(status) : -1;
}

/* Another process, which may have another policy. */
static int apart(int policy)
{
	int status = -1;
	pid_t pid = fork();

	if (!pid)
		_exit(policy_of_side_process(policy) & 0xff);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static void test_hurry(void **state)
{
	const int own = sched_getscheduler(0);
	struct sched_param param;

	(void)state;
	assert_int_equal(sched_getparam(0, &param), 0);
	/* The tests themselves may run as others need the CPUs less. */
	if (own == SCHED_IDLE)
		assert_int_equal(apart(-1), SCHED_IDLE);
	if (sched_setscheduler(0, SCHED_FIFO | SCHED_RESET_ON_FORK, &(struct sched_param){ .sched_priority = 1 })) {
		assert_int_equal(apart(-1), own);
		return;
	}
	assert_int_equal(apart(-1), SCHED_FIFO);
	assert_int_equal(apart(SCHED_OTHER), SCHED_FIFO);
	assert_int_equal(apart(SCHED_BATCH), SCHED_BATCH);
	assert_int_equal(apart(SCHED_IDLE), SCHED_IDLE);
	assert_int_equal(apart(SCHED_FIFO), SCHED_FIFO);
	assert_int_equal(sched_setscheduler(0, own, &param), 0);
}

static void test_affinity(void **state)
{
	struct affinity before, now;
	int cpu;

	(void)state;
	assert_int_equal(affinity_get(&before), 0);
	cpu = sched_getcpu();
	assert_int_equal(affinity_pin(cpu), 0);
	assert_int_equal(affinity_get(&now), 0);
	assert_int_equal(CPU_COUNT_S(now.bytes, now.set), 1);
	assert_true(CPU_ISSET_S(cpu, now.bytes, now.set));
	assert_int_equal(affinity_avoid(&now, cpu), -EINVAL);
	affinity_free(&now);
	if (CPU_COUNT_S(before.bytes, before.set) > 1) {
		assert_int_equal(affinity_avoid(&before, cpu), 0);
		assert_int_equal(affinity_get(&now), 0);
		assert_false(CPU_ISSET_S(cpu, now.bytes, now.set));
		affinity_free(&now);
	}
	assert_int_equal(affinity_set(&before), 0);
	assert_int_equal(affinity_get(&now), 0);
	assert_true(CPU_EQUAL_S(before.bytes, before.set, now.set));
	affinity_free(&now);
	affinity_free(&before);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_side_process),
		cmocka_unit_test(test_hurry),
		cmocka_unit_test(test_affinity),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
