// SPDX-License-Identifier: GPL-2.0
/*
 * Loads of several shapes.
 *
 *	load timers THREADS ROUNDS	each sleeps for 20 us at a time
 *	load messages PAIRS ROUNDS	each sends short messages to another one, in bursts
 *	load brief THREADS		one after the other, of which none does anything
 *	load crowd THREADS		all at once, until stdin ends
 *	load births THREADS		one after the other, each of which sleeps for 50 ms, 5000 a second
 *
 * Prints: for timers and messages a line of tally.h for each thread; for the others the
 * threads' ids, for crowd with their names and as soon as all of them sleep. births prints nothing.
 */
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <sys/prctl.h>
#include <sys/socket.h>

#include "tally.h"

#define BURST	100		/* messages of 100 bytes */

struct worker {
	pthread_t thread;
	struct tally tally;
	long rounds;
	int socket, number;
};

static pthread_barrier_t all_there;

static void *sleep_often(void *arg)
{
	const struct timespec nap = { .tv_nsec = 20000 };
	struct worker *w = arg;

	tally_begin(&w->tally);
	for (long i = 0; i < w->rounds; i++)
		clock_nanosleep(CLOCK_MONOTONIC, 0, &nap, NULL);
	tally_end(&w->tally);
	return NULL;
}

static void *send_all(void *arg)
{
	const char message[100] = "";
	struct worker *w = arg;
	char answer;

	tally_begin(&w->tally);
	for (long i = 0; i < w->rounds; i++) {
		if (write(w->socket, message, sizeof(message)) != sizeof(message))
			die("write");
		if (i % BURST == BURST - 1 && read(w->socket, &answer, 1) != 1)
			die("read");
	}
	tally_end(&w->tally);
	return NULL;
}

static void *receive_all(void *arg)
{
	struct worker *w = arg;
	char message[100];

	tally_begin(&w->tally);
	for (long i = 0; i < w->rounds; i++) {
		if (recv(w->socket, message, sizeof(message), MSG_WAITALL) != sizeof(message))
			die("recv");
		if (i % BURST == BURST - 1 && write(w->socket, "", 1) != 1)
			die("write");
	}
	tally_end(&w->tally);
	return NULL;
}

static void *leave(void *arg)
{
	struct worker *w = arg;

	w->tally.tid = gettid();
	return NULL;
}

static void *stay(void *arg)
{
	struct worker *w = arg;
	char name[16];

	w->tally.tid = gettid();
	snprintf(name, sizeof(name), "crowd %d", w->number);
	prctl(PR_SET_NAME, name);
	pthread_barrier_wait(&all_there);
	pause();
	return NULL;
}

static void create(struct worker *w, void *(*work)(void *))
{
	pthread_attr_t attr;
	int err;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, PTHREAD_STACK_MIN + 65536);
	err = pthread_create(&w->thread, &attr, work, w);
	if (err) {
		errno = err;
		die("pthread_create");
	}
	pthread_attr_destroy(&attr);
}

static void run_counted(struct worker *workers, int cnt, void *(*even)(void *), void *(*odd)(void *))
{
	int sockets[2];

	for (int i = 0; i < cnt; i++) {
		if (even != odd && i % 2 == 0 && socketpair(AF_UNIX, SOCK_STREAM, 0, sockets))
			die("socketpair");
		workers[i].socket = sockets[i % 2];
		create(&workers[i], i % 2 ? odd : even);
	}
	for (int i = 0; i < cnt; i++) {
		pthread_join(workers[i].thread, NULL);
		tally_print(&workers[i].tally);
	}
}

static void run_brief(struct worker *workers, int cnt)
{
	for (int i = 0; i < cnt; i++) {
		create(&workers[i], leave);
		pthread_join(workers[i].thread, NULL);
	}
	for (int i = 0; i < cnt; i++)
		printf("%d\n", workers[i].tally.tid);
}

static void run_crowd(struct worker *workers, int cnt)
{
	char c;

	pthread_barrier_init(&all_there, NULL, cnt + 1);
	for (int i = 0; i < cnt; i++) {
		workers[i].number = i;
		create(&workers[i], stay);
	}
	pthread_barrier_wait(&all_there);
	for (int i = 0; i < cnt; i++)
		printf("%d crowd %d\n", workers[i].tally.tid, i);
	printf("\n");
	fflush(stdout);
	while (read(0, &c, 1) > 0)
		;
}

static void *nap(void *arg)
{
	(void)arg;
	usleep(50000);
	return NULL;
}

static void run_births(struct worker *workers, int cnt)
{
	for (int i = 0; i < cnt; i++) {
		create(&workers[i], nap);
		pthread_detach(workers[i].thread);
		usleep(150);
	}
}

int main(int argc, char **argv)
{
	const char *shape = argc > 2 ? argv[1] : "";
	const long cnt = argc > 2 ? atol(argv[2]) * (strcmp(shape, "messages") ? 1 : 2) : 0;
	struct worker *workers = calloc(cnt + 1, sizeof(*workers));

	if (!workers)
		die("calloc");
	for (long i = 0; i < cnt; i++)
		workers[i].rounds = argc > 3 ? atol(argv[3]) : 0;
	if (!strcmp(shape, "timers"))
		run_counted(workers, cnt, sleep_often, sleep_often);
	else if (!strcmp(shape, "messages"))
		run_counted(workers, cnt, send_all, receive_all);
	else if (!strcmp(shape, "brief"))
		run_brief(workers, cnt);
	else if (!strcmp(shape, "crowd"))
		run_crowd(workers, cnt);
	else if (!strcmp(shape, "births"))
		run_births(workers, cnt);
	else
		fprintf(stderr, "usage: load timers|messages|brief|crowd|births NUMBER [ROUNDS]\n");
	free(workers);
	return cnt ? 0 : 2;
}
