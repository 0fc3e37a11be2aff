// SPDX-License-Identifier: GPL-2.0
/*
 * Two threads on one CPU hand a token back and forth through two pipes.
 *
 *	pingpong ROUNDS CPU
 *
 * Prints what the kernel itself counted, a line of tally.h for each thread.
 */
#include <pthread.h>
#include <sched.h>

#include "tally.h"

struct player {
	pthread_t thread;
	int in, out;
	long rounds;
	int cpu;
	struct tally tally;
};

static void *play(void *arg)
{
	struct player *p = arg;
	cpu_set_t set;
	char token = 0;

	tally_begin(&p->tally);
	CPU_ZERO(&set);
	CPU_SET(p->cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		die("sched_setaffinity");
	for (long i = 0; i < p->rounds; i++)
		if (read(p->in, &token, 1) != 1 || write(p->out, &token, 1) != 1)
			die("pipe");
	tally_end(&p->tally);
	return NULL;
}

int main(int argc, char **argv)
{
	struct player players[2] = { 0 };
	int there[2], back[2];

	if (argc != 3) {
		fprintf(stderr, "usage: pingpong ROUNDS CPU\n");
		return 2;
	}
	if (pipe(there) || pipe(back))
		die("pipe");
	players[0].in = back[0];
	players[0].out = there[1];
	players[1].in = there[0];
	players[1].out = back[1];
	for (int i = 0; i < 2; i++) {
		players[i].rounds = atol(argv[1]);
		players[i].cpu = atoi(argv[2]);
		if (pthread_create(&players[i].thread, NULL, play, &players[i]))
			die("pthread_create");
	}
	if (write(back[1], "", 1) != 1)
		die("pipe");
	for (int i = 0; i < 2; i++) {
		pthread_join(players[i].thread, NULL);
		tally_print(&players[i].tally);
	}
	return 0;
}
