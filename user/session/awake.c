// SPDX-License-Identifier: GPL-2.0
#include "awake.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/clock.h"

#define NS_PER_MS	1000000ULL

struct awake {
	pthread_t thread;
	uint64_t end_ns;
	atomic_bool ends;
};

static void *stay_awake(void *arg)
{
	struct awake *a = arg;

	/* Not of SCHED_IDLE: beside others that would take it seconds to end. */
	while (!atomic_load(&a->ends) && clock_ns(CLOCK_MONOTONIC) < a->end_ns)
		sched_yield();
	return NULL;
}

struct awake *awake_begin(unsigned int ms)
{
	struct awake *a = calloc(1, sizeof(*a));

	if (a)
		a->end_ns = clock_ns(CLOCK_MONOTONIC) + ms * NS_PER_MS;
	if (a && pthread_create(&a->thread, NULL, stay_awake, a)) {
		free(a);
		a = NULL;
	}
	return a;
}

void awake_end(struct awake *a)
{
	if (!a)
		return;
	atomic_store(&a->ends, true);
	pthread_join(a->thread, NULL);
	free(a);
}
