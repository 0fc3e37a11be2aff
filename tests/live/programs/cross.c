// SPDX-License-Identifier: GPL-2.0
/*
 * Two threads on two CPUs hand a token back and forth through a futex. Who is woken looks for
 * the token before it sleeps, so that wakers find it asleep, awake and on the way from one to the other.
 *
 *	cross ROUNDS CPU CPU
 *
 * Prints what the kernel itself counted, a line of tally.h for each thread.
 */
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <sys/syscall.h>

#include "tally.h"

#define MOST_NS 20000000000ULL	/* where others take both CPUs each round takes long */

static atomic_int token, over;

struct player {
	pthread_t thread;
	int me, cpu;
	long rounds;
	struct tally tally;
};

static void *play(void *arg)
{
	struct player *p = arg;
	cpu_set_t set;

	tally_begin(&p->tally);
	CPU_ZERO(&set);
	CPU_SET(p->cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		die("sched_setaffinity");
	for (long i = 0; i < p->rounds && !atomic_load(&over); i++) {
		while (atomic_load(&token) != p->me && !atomic_load(&over))
			syscall(SYS_futex, &token, FUTEX_WAIT_PRIVATE, !p->me, NULL);
		if (i % 256 == 0 && now_ns() - p->tally.start_ns > MOST_NS)
			atomic_store(&over, 1);
		atomic_store(&token, !p->me);
		syscall(SYS_futex, &token, FUTEX_WAKE_PRIVATE, 1);
	}
	tally_end(&p->tally);
	return NULL;
}

int main(int argc, char **argv)
{
	struct player players[2] = { 0 };

	if (argc != 4) {
		fprintf(stderr, "usage: cross ROUNDS CPU CPU\n");
		return 2;
	}
	for (int i = 0; i < 2; i++) {
		players[i].me = i;
		players[i].rounds = atol(argv[1]);
		players[i].cpu = atoi(argv[2 + i]);
		if (pthread_create(&players[i].thread, NULL, play, &players[i]))
			die("pthread_create");
	}
	for (int i = 0; i < 2; i++)
		pthread_join(players[i].thread, NULL);
	for (int i = 0; i < 2; i++)
		tally_print(&players[i].tally);
	return 0;
}
