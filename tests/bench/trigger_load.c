// SPDX-License-Identifier: GPL-2.0
/*
 * Triggers on waits of many threads: trigger_load THREADS ROUNDS
 *
 * THREADS sleep in state S, but for a few that are woken, run and sleep again in each round, as in a quiet
 * service. tests/bench/cost_test.py counts instructions.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "fxt/format.h"
#include "trigger/trigger.h"

#define AWAKE		10U		/* in each round */
#define ROUND_NS	100000000ULL
#define SWITCH_WORDS	6
#define WAKEUP_WORDS	6

static const char *const words[] = { "runq>5ms", "blocked>2s", "offcpu>10m" };

static void put_switch(struct triggers *t, uint64_t ts, uint64_t out, uint64_t state, uint64_t in)
{
	const uint64_t rec[SWITCH_WORDS] = {
		FXT_SCHED_HEADER(FXT_SCHED_SWITCH, SWITCH_WORDS, 2, 0) | FXT_PUT(state, FXT_F_SCHED_STATE), ts, out, in,
		FXT_ARG_HEADER(FXT_ARG_INT32, 1, 1), FXT_ARG_HEADER(FXT_ARG_INT32, 1, 1),
	};

	if (triggers_take(t, rec, sizeof(rec)))
		exit(1);
}

static void put_wakeup(struct triggers *t, uint64_t ts, uint64_t thread)
{
	const uint64_t rec[WAKEUP_WORDS] = {
		FXT_SCHED_HEADER(FXT_SCHED_WAKEUP, WAKEUP_WORDS, 2, 0), ts, thread,
		FXT_ARG_HEADER(FXT_ARG_INT32, 1, 1), FXT_ARG_HEADER(FXT_ARG_KOID, 2, 1), 0,
	};

	if (triggers_take(t, rec, sizeof(rec)))
		exit(1);
}

static void run_thread(struct triggers *t, uint64_t ts, uint64_t thread)
{
	put_wakeup(t, ts, thread);
	put_switch(t, ts + 1000, 0, FXT_STATE_RUNNING, thread);
	put_switch(t, ts + 2000, thread, FXT_STATE_BLOCKED, 0);
}

/* Not inlined: the guard counts its instructions. */
__attribute__((noinline)) static void round_of_triggers(struct triggers *t, uint64_t now_ns)
{
	if (triggers_round(t, now_ns))
		exit(1);
	while (triggers_next(t))
		;
}

int main(int argc, char **argv)
{
	const unsigned long threads = argc > 2 ? strtoul(argv[1], NULL, 10) : 0, rounds = argc > 2 ? strtoul(argv[2], NULL, 10) : 0;
	char why[TRIGGER_WHY_BYTES];
	struct triggers *t;
	unsigned long i, round;

	if (!threads || triggers_open(&t))
		return 2;
	for (i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (triggers_add(t, words[i], why, sizeof(why)))
			return 2;
	for (i = 1; i <= threads; i++)
		run_thread(t, ROUND_NS + i * 10000, i);
	for (round = 0; round < rounds; round++) {
		for (i = 1; i <= AWAKE; i++)
			run_thread(t, (round + 20) * ROUND_NS + i * 10000, i);
		round_of_triggers(t, (round + 21) * ROUND_NS);
	}
	triggers_close(t);
	return 0;
}
