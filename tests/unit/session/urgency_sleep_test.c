// SPDX-License-Identifier: GPL-2.0
/*
 * On a kernel with PREEMPT_RT a recorder that is late is woken from any sleep.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <sys/wait.h>

#include "kernel/preempt_rt.h"
#include "session/urgency.h"

#define PATIENCE_S	60

bool __wrap_kernel_is_preempt_rt(void);
bool __wrap_kernel_is_preempt_rt(void)
{
	return true;
}

static int be_late(void)
{
	struct timespec patience = { .tv_sec = PATIENCE_S };
	struct urgency *u = urgency_open(NULL);
	struct pollfd none = { .fd = -1 };
	char byte;
	int fds[2];

	urgency_settle(u, false);
	urgency_beat(u, 1);
	if (nanosleep(&patience, &patience) != -1 || errno != EINTR)
		return 1;
	if (poll(&none, 1, PATIENCE_S * 1000) != -1 || errno != EINTR)
		return 2;
	/* A call that is no sleep goes on. */
	if (pipe(fds))
		return 3;
	if (!fork()) {
		usleep(1200000);
		_exit(write(fds[1], "x", 1) != 1);
	}
	if (read(fds[0], &byte, 1) != 1)
		return 4;
	urgency_beat(u, UINT64_MAX);
	usleep(600000);
	patience = (struct timespec){ .tv_nsec = 600000000 };
	if (nanosleep(&patience, NULL))
		return 5;
	urgency_close(u);
	return 0;
}

/* Only then is it watched. */
static bool may_be_realtime(void)
{
	const pid_t pid = fork();
	int status;

	if (!pid)
		_exit(sched_setscheduler(0, SCHED_FIFO, &(struct sched_param){ .sched_priority = 1 }) != 0);
	return waitpid(pid, &status, 0) == pid && !status;
}

static void test_woken(void **state)
{
	pid_t pid;
	int status;

	(void)state;
	if (!may_be_realtime())
		skip();
	pid = fork();
	if (!pid)
		_exit(be_late());
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_woken),
	};

	/* Whoever has chosen a policy is not watched. */
	if (sched_getscheduler(0) != SCHED_OTHER && sched_setscheduler(0, SCHED_OTHER, &(struct sched_param){ 0 }))
		return 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
