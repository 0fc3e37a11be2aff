// SPDX-License-Identifier: GPL-2.0
/*
 * The time of the output, apart from that in which the process is stopped.
 *
 * A SIGCONT that continues nobody is counted as well. If it comes while a call waits for its output,
 * it interrupts the wait, and the call waits once more: two sleeps, of which one cannot be a stop.
 */
#include "output_time.h"

#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <sys/resource.h>

#include "base/clock.h"

static unsigned int continued_cnt;	/* of the process: written by its handler only */

static void on_continued(int number)
{
	(void)number;
	__atomic_fetch_add(&continued_cnt, 1, __ATOMIC_RELAXED);
}

int output_time_init(void)
{
	struct sigaction act = { .sa_handler = on_continued, .sa_flags = SA_RESTART };

	sigemptyset(&act.sa_mask);
	return sigaction(SIGCONT, &act, NULL) ? -errno : 0;
}

/* How often this thread gave up its CPU by itself. */
static uint64_t sleeps_so_far(void)
{
	struct rusage usage;

	return getrusage(RUSAGE_THREAD, &usage) ? 0 : usage.ru_nvcsw;
}

void output_call_begin(struct output_call *call)
{
	*call = (struct output_call){
		.began_ns = clock_ns(CLOCK_MONOTONIC), .sleeps = sleeps_so_far(),
		.continued = __atomic_load_n(&continued_cnt, __ATOMIC_RELAXED),
	};
}

void output_call_end(const struct output_call *call, struct output_time *t)
{
	const unsigned int continued = __atomic_load_n(&continued_cnt, __ATOMIC_RELAXED) - call->continued;

	output_time_add(t, clock_ns(CLOCK_MONOTONIC) - call->began_ns, continued ? sleeps_so_far() - call->sleeps : 0,
			continued);
}

void output_time_add(struct output_time *t, uint64_t ns, uint64_t sleeps, unsigned int continued)
{
	if (sleeps && sleeps <= continued)
		return;
	t->ns += ns;
	if (sleeps && continued)
		t->unsure_ns += ns;
}
