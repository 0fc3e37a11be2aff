// SPDX-License-Identifier: GPL-2.0
/*
 * Two threads on one CPU hand a token back and forth through two pipes.
 *
 *	pingpong ROUNDS CPU
 *
 * Prints what the kernel itself counted, one line per thread:
 *	TID VOLUNTARY INVOLUNTARY START_NS END_NS
 * the counters as /proc had them at END_NS (CLOCK_BOOTTIME), at which moment no
 * switch was under way.
 */
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

struct player {
	pthread_t thread;
	int in, out;
	long rounds;
	int cpu;
	int tid;
	unsigned long voluntary, involuntary;
	unsigned long long start_ns, end_ns;
};

static unsigned long long now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_BOOTTIME, &ts);
	return ts.tv_sec * 1000000000ULL + ts.tv_nsec;
}

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static unsigned long read_counter(const char *text, const char *name)
{
	const char *line = strstr(text, name);

	if (!line)
		die(name);
	return strtoul(line + strlen(name), NULL, 10);
}

static void read_counters(int fd, unsigned long *voluntary, unsigned long *involuntary)
{
	char text[8192];
	ssize_t len = pread(fd, text, sizeof(text) - 1, 0);

	if (len <= 0)
		die("/proc/thread-self/status");
	text[len] = 0;
	*voluntary = read_counter(text, "\nvoluntary_ctxt_switches:");
	*involuntary = read_counter(text, "\nnonvoluntary_ctxt_switches:");
}

static void *play(void *arg)
{
	struct player *p = arg;
	unsigned long voluntary, involuntary;
	cpu_set_t set;
	char token = 0;
	int fd = open("/proc/thread-self/status", O_RDONLY);

	p->start_ns = now_ns();
	p->tid = gettid();
	CPU_ZERO(&set);
	CPU_SET(p->cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		die("sched_setaffinity");
	for (long i = 0; i < p->rounds; i++)
		if (read(p->in, &token, 1) != 1 || write(p->out, &token, 1) != 1)
			die("pipe");
	do {
		read_counters(fd, &p->voluntary, &p->involuntary);
		p->end_ns = now_ns();
		read_counters(fd, &voluntary, &involuntary);
	} while (voluntary != p->voluntary || involuntary != p->involuntary);
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
		printf("%d %lu %lu %llu %llu\n", players[i].tid, players[i].voluntary,
		       players[i].involuntary, players[i].start_ns, players[i].end_ns);
	}
	return 0;
}
