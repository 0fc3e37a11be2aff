// SPDX-License-Identifier: GPL-2.0
/*
 * Threads whose stacks are known, for stack_test.py to sample.
 *
 *	stacks sleep ROUNDS	threads that block in wait_poll(), nap() and wait_cond(), which wake_it() ends
 *	stacks spin MS		functions that take 70, 20 and 10 % of the time
 *	stacks heir MS		the same by a second thread, after the first one has ended
 *
 * Prints "WHAT TID COUNT NS" lines: how often, and for how long by the thread's own clock. Functions are kept
 * apart and without tail calls, so each is a frame.
 */
#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>

#include "tally.h"

#define FRAME	__attribute__((noinline, noclone))
#define END_OF_FRAME()	asm volatile("" ::: "memory")

static int rounds;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static int wakes_due;
static bool ended;

/* ---- sleeping --------------------------------------------------------------------------- */

static FRAME void wait_poll(void)
{
	poll(NULL, 0, 4);
	END_OF_FRAME();
}

static FRAME void nap(void)
{
	usleep(2500);
	END_OF_FRAME();
}

static FRAME void wait_cond(void)
{
	pthread_mutex_lock(&lock);
	while (!wakes_due)
		pthread_cond_wait(&cond, &lock);
	wakes_due = 0;
	pthread_mutex_unlock(&lock);
	END_OF_FRAME();
}

/* Too short to be sampled, as a rule. */
static FRAME void blink(void)
{
	usleep(50);
	END_OF_FRAME();
}

struct sleeper {
	const char *name;
	void (*sleep)(void);
	pthread_t thread;
};

static void *sleep_rounds(void *arg)
{
	const struct sleeper *s = arg;
	unsigned long long begun, sum = 0;
	int i;

	for (i = 0; i < rounds; i++) {
		begun = now_ns();
		s->sleep();
		sum += now_ns() - begun;
	}
	printf("%s %ld %d %llu\n", s->name, syscall(SYS_gettid), rounds, sum);
	if (s->sleep == wait_cond)
		__atomic_store_n(&ended, true, __ATOMIC_RELEASE);
	return NULL;
}

static FRAME void wake_it(void)
{
	pthread_mutex_lock(&lock);
	wakes_due = 1;
	pthread_cond_signal(&cond);
	pthread_mutex_unlock(&lock);
	END_OF_FRAME();
}

static void *wake_rounds(void *arg)
{
	(void)arg;
	while (!__atomic_load_n(&ended, __ATOMIC_ACQUIRE)) {
		usleep(5000);
		wake_it();
	}
	printf("wake_it %ld 0 0\n", syscall(SYS_gettid));
	return NULL;
}

static void run_sleepers(void)
{
	struct sleeper all[] = {
		{ .name = "wait_poll", .sleep = wait_poll }, { .name = "nap", .sleep = nap },
		{ .name = "wait_cond", .sleep = wait_cond }, { .name = "blink", .sleep = blink },
	};
	const size_t cnt = sizeof(all) / sizeof(all[0]);
	pthread_t waker;
	size_t i;

	for (i = 0; i < cnt; i++)
		if (pthread_create(&all[i].thread, NULL, sleep_rounds, &all[i]))
			die("pthread_create");
	if (pthread_create(&waker, NULL, wake_rounds, NULL))
		die("pthread_create");
	for (i = 0; i < cnt; i++)
		pthread_join(all[i].thread, NULL);
	pthread_join(waker, NULL);
}

/* ---- running ---------------------------------------------------------------------------- */

static unsigned int unit;

#define HOT(share) \
	static FRAME void hot_##share(void) \
	{ \
		volatile unsigned int i; \
		for (i = 0; i < share * unit; i++) \
			; \
		END_OF_FRAME(); \
	}

HOT(70)
HOT(20)
HOT(10)

static FRAME void spin(unsigned long long ms)
{
	const unsigned long long begun = now_ns(), end = begun + ms * 1000000;
	int cnt = 0;

	while (now_ns() < end) {
		unit = 1000 + random() % 2000;	/* or a round could take as long as the period of samples */
		hot_70();
		hot_20();
		hot_10();
		cnt++;
	}
	printf("spin %ld %d %llu\n", syscall(SYS_gettid), cnt, now_ns() - begun);
}

static void *spin_on(void *arg)
{
	(void)arg;
	spin(rounds);
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t heir;

	if (argc != 3)
		return 2;
	rounds = atoi(argv[2]);
	if (!strcmp(argv[1], "sleep"))
		run_sleepers();
	else if (!strcmp(argv[1], "spin"))
		spin(rounds);
	else if (strcmp(argv[1], "heir") || pthread_create(&heir, NULL, spin_on, NULL))
		return 2;
	else
		pthread_exit(NULL);
	return 0;
}
