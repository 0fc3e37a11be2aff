// SPDX-License-Identifier: GPL-2.0
/*
 * The watching thread is real-time from the beginning on, and looks twenty times a second whether the other one runs:
 * for how long it has waited the kernel only says once it runs again.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "urgency.h"

#define LOOK_NS		50000000ULL
#define STACK_BYTES	(64U << 10)

/* One below those of the kernel: stop machine, watchdogs, threaded interrupts are at 99, at 50. */
#define PRIORITY	98

struct urgency {
	pthread_t thread;
	bool has_thread;
	pid_t tid;		/* of the thread that is watched */
	int stat, schedstat;	/* its files in /proc */
	int nice, policy;	/* what it had */
	struct sched_param param;
	atomic_bool end, raised;
};

static int raise_thread(pid_t tid)
{
	const struct sched_param param = { .sched_priority = PRIORITY };

	return sched_setscheduler(tid, SCHED_FIFO | SCHED_RESET_ON_FORK, &param) ? -errno : 0;
}

/* A file of the thread that is watched, from its begin; "" if it cannot be read. */
static void read_file(int fd, char *text, size_t size)
{
	const ssize_t len = pread(fd, text, size - 1, 0);

	text[len > 0 ? len : 0] = 0;
}

/* "time on CPUs, time runnable without one, slices", in ns. */
static uint64_t ran_ns(const struct urgency *u)
{
	char text[96];

	read_file(u->schedstat, text, sizeof(text));
	return strtoull(text, NULL, 10);
}

/* "TID (NAME) STATE ..." */
static bool is_runnable(const struct urgency *u)
{
	char text[128];
	const char *end;

	read_file(u->stat, text, sizeof(text));
	end = strrchr(text, ')');
	return end && end[1] == ' ' && end[2] == 'R';
}

/* It could run from one look to the next, and hardly did. */
static void *watch(void *ctx)
{
	const struct timespec time = { .tv_nsec = LOOK_NS };
	struct urgency *u = ctx;
	uint64_t before_ns = clock_ns(CLOCK_MONOTONIC), ran = ran_ns(u), now_ns, now_ran;
	bool was = false, is;

	while (!atomic_load(&u->end)) {
		nanosleep(&time, NULL);
		now_ns = clock_ns(CLOCK_MONOTONIC);
		now_ran = ran_ns(u);
		is = is_runnable(u);
		if (was && is && now_ran - ran < (now_ns - before_ns) / 10 && !raise_thread(u->tid)) {
			atomic_store(&u->raised, true);
			break;
		}
		before_ns = now_ns;
		ran = now_ran;
		was = is;
	}
	return NULL;
}

static bool begin_watching(struct urgency *u)
{
	const struct sched_param param = { .sched_priority = PRIORITY };
	pthread_attr_t attr;
	int err;

	if (u->stat < 0 || u->schedstat < 0)
		return false;
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, STACK_BYTES);
	pthread_attr_setinheritsched(&attr, PTHREAD_EXPLICIT_SCHED);
	pthread_attr_setschedpolicy(&attr, SCHED_FIFO);
	pthread_attr_setschedparam(&attr, &param);
	err = pthread_create(&u->thread, &attr, watch, u);
	pthread_attr_destroy(&attr);
	return !err;
}

struct urgency *urgency_open(int nice)
{
	struct urgency *u = malloc(sizeof(*u));

	if (!u)
		return NULL;
	*u = (struct urgency){
		.tid = gettid(), .nice = getpriority(PRIO_PROCESS, 0), .policy = sched_getscheduler(0),
		.stat = open("/proc/thread-self/stat", O_RDONLY | O_CLOEXEC),
		.schedstat = open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC),
	};
	sched_getparam(0, &u->param);
	if (nice < u->nice)
		setpriority(PRIO_PROCESS, 0, nice);
	u->has_thread = nice < 0 && !u->param.sched_priority && begin_watching(u);
	return u;
}

bool urgency_close(struct urgency *u)
{
	bool raised;

	if (!u)
		return false;
	atomic_store(&u->end, true);
	if (u->has_thread)
		pthread_join(u->thread, NULL);
	raised = atomic_load(&u->raised);
	if (raised)
		sched_setscheduler(0, u->policy, &u->param);
	setpriority(PRIO_PROCESS, 0, u->nice);
	if (u->stat >= 0)
		close(u->stat);
	if (u->schedstat >= 0)
		close(u->schedstat);
	free(u);
	return raised;
}
