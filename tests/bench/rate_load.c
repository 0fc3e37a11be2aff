// SPDX-License-Identifier: GPL-2.0
/*
 * Context switches at a given rate on every CPU: rate_load SECONDS RATE
 *
 * On each CPU two threads hand a token to each other; after each millisecond's share one of them
 * spins until the next begins. RATE is switches a second on each CPU, 0: as many as there can be.
 * Prints how many switches a second there were, on all CPUs together.
 */
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>

#include "../live/programs/tally.h"

#define SLOT_NS	1000000ULL

struct pair {
	pthread_t threads[2];
	int there[2], back[2], cpu;
	struct tally tally[2];
};

static unsigned long long until_ns;
static unsigned long rate;

static void pin(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		die("sched_setaffinity");
}

static void *answer(void *arg)
{
	struct pair *p = arg;
	char token;

	tally_begin(&p->tally[1]);
	pin(p->cpu);
	while (read(p->there[0], &token, 1) == 1)
		if (write(p->back[1], &token, 1) != 1)
			die("write");
	tally_end(&p->tally[1]);
	return NULL;
}

static void *ask(void *arg)
{
	struct pair *p = arg;
	unsigned long long slot, done = 0;
	char token = 0;

	tally_begin(&p->tally[0]);
	pin(p->cpu);
	for (slot = now_ns(); slot < until_ns; done++) {
		if (write(p->there[1], &token, 1) != 1 || read(p->back[0], &token, 1) != 1)
			die("pipe");
		if (rate && done * 2 >= rate / 1000) {
			while (now_ns() < slot + SLOT_NS)
				;
			done = 0;
		}
		if (!rate || !done)
			slot = now_ns();
	}
	tally_end(&p->tally[0]);
	close(p->there[1]);
	return NULL;
}

int main(int argc, char **argv)
{
	static struct pair pairs[CPU_SETSIZE];
	unsigned long long switches = 0;
	double seconds;
	cpu_set_t set;
	int cnt = 0, i, k;

	if (argc != 3) {
		fprintf(stderr, "usage: rate_load SECONDS RATE\n");
		return 2;
	}
	seconds = atof(argv[1]);
	rate = atol(argv[2]);
	until_ns = now_ns() + (unsigned long long)(seconds * 1e9);
	sched_getaffinity(0, sizeof(set), &set);
	for (i = 0; i < CPU_SETSIZE; i++) {
		struct pair *p = &pairs[cnt];

		if (!CPU_ISSET(i, &set))
			continue;
		p->cpu = i;
		if (pipe(p->there) || pipe(p->back) || pthread_create(&p->threads[0], NULL, ask, p) ||
		    pthread_create(&p->threads[1], NULL, answer, p))
			die("pair");
		cnt++;
	}
	for (i = 0; i < cnt; i++)
		for (k = 0; k < 2; k++) {
			pthread_join(pairs[i].threads[k], NULL);
			switches += pairs[i].tally[k].voluntary + pairs[i].tally[k].involuntary;
		}
	printf("%.0f\n", switches / seconds);
	return 0;
}
