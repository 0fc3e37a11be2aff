// SPDX-License-Identifier: GPL-2.0
/*
 * Calls functions and says how often.
 *
 *	calls WHAT=TIMES...
 *
 *	getppid=N	the system call
 *	read=N		read() of a byte of /dev/zero
 *	malloc=N	malloc() and free()
 *	chain=N		outer(), which calls middle(), which calls inner()
 *	recurse=NxD	descend(), D deep
 *	threads=T	each of which does all of this (1, which is then the only thread)
 *
 * In this order for each thread, whatever theirs in the command. Prints
 * "TID FUNCTION COUNT" lines and, if there was malloc=, "all malloc COUNT" and
 * "all free COUNT": those of this file in all threads. The C library makes its own.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#define THREADS_MAX	64

/* A call that is made as it is written: not inlined, cloned, merged or left out. */
#ifdef __clang__
#define CALLED __attribute__((noinline, optnone, used))
#else
#define CALLED __attribute__((noipa, used))
#endif
/* The value is used and may be any: nothing before or behind can be worked out. */
#define OPAQUE(x) __asm__ __volatile__("" : "+r"(x) : : "memory")

struct thread {
	pthread_t thread;
	int tid;
};

static struct {
	long getppid, read, malloc, chain, recurse, depth, threads;
} plan = { .threads = 1 };

static int zero_fd;

long inner(long x);
long middle(long x);
long outer(long x);
long descend(long depth);

/* What follows a call keeps it from becoming a jump. */
CALLED long inner(long x)
{
	OPAQUE(x);
	return x + 1;
}

CALLED long middle(long x)
{
	x = inner(x);
	OPAQUE(x);
	return x + 1;
}

CALLED long outer(long x)
{
	x = middle(x);
	OPAQUE(x);
	return x + 1;
}

CALLED long descend(long depth)
{
	long x = depth > 1 ? descend(depth - 1) : 0;

	OPAQUE(x);
	return x + 1;
}

static void *play(void *arg)
{
	struct thread *t = arg;
	char byte;
	void *p;
	long i;

	t->tid = gettid();
	for (i = 0; i < plan.getppid; i++)
		syscall(SYS_getppid);
	for (i = 0; i < plan.read; i++)
		if (read(zero_fd, &byte, 1) != 1)
			exit(1);
	for (i = 0; i < plan.malloc; i++) {
		p = malloc(16 + i % 100);
		OPAQUE(p);
		free(p);
	}
	for (i = 0; i < plan.chain; i++)
		outer(i);
	for (i = 0; i < plan.recurse; i++)
		descend(plan.depth);
	return NULL;
}

static void tell(const struct thread *t)
{
	if (plan.getppid)
		printf("%d getppid %ld\n", t->tid, plan.getppid);
	if (plan.read)
		printf("%d read %ld\n", t->tid, plan.read);
	if (plan.malloc)
		printf("%d malloc %ld\n%d free %ld\n", t->tid, plan.malloc, t->tid, plan.malloc);
	if (plan.chain)
		printf("%d outer %ld\n%d middle %ld\n%d inner %ld\n", t->tid, plan.chain, t->tid,
		       plan.chain, t->tid, plan.chain);
	if (plan.recurse)
		printf("%d descend %ld\n", t->tid, plan.recurse * plan.depth);
}

static int parse(const char *arg)
{
	return sscanf(arg, "getppid=%ld", &plan.getppid) == 1 ||
	       sscanf(arg, "read=%ld", &plan.read) == 1 ||
	       sscanf(arg, "malloc=%ld", &plan.malloc) == 1 ||
	       sscanf(arg, "chain=%ld", &plan.chain) == 1 ||
	       sscanf(arg, "recurse=%ldx%ld", &plan.recurse, &plan.depth) == 2 ||
	       (sscanf(arg, "threads=%ld", &plan.threads) == 1 && plan.threads > 0 &&
		plan.threads <= THREADS_MAX);
}

int main(int argc, char **argv)
{
	static struct thread threads[THREADS_MAX];
	static char out[1 << 16];	/* or stdio would call malloc() */
	long i;

	setvbuf(stdout, out, _IOFBF, sizeof(out));
	for (i = 1; i < argc; i++)
		if (!parse(argv[i]))
			break;
	if (argc < 2 || i < argc) {
		fprintf(stderr, "usage: calls getppid=N read=N malloc=N chain=N recurse=NxD threads=T\n");
		return 2;
	}
	zero_fd = open("/dev/zero", O_RDONLY);
	if (plan.threads == 1)
		play(&threads[0]);
	for (i = 0; plan.threads > 1 && i < plan.threads; i++)
		if (pthread_create(&threads[i].thread, NULL, play, &threads[i]))
			return 1;
	for (i = 0; plan.threads > 1 && i < plan.threads; i++)
		pthread_join(threads[i].thread, NULL);
	for (i = 0; i < plan.threads; i++)
		tell(&threads[i]);
	if (plan.malloc)
		printf("all malloc %ld\nall free %ld\n", plan.threads * plan.malloc,
		       plan.threads * plan.malloc);
	return 0;
}
