// SPDX-License-Identifier: GPL-2.0
/*
 * What a system call costs here and now: syscall_load CALLS prints nanoseconds of this thread's
 * CPU time per call, the least of ten runs.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define RUNS	10

static double cpu_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return ts.tv_sec * 1e9 + ts.tv_nsec;
}

int main(int argc, char **argv)
{
	long calls = argc > 1 ? atol(argv[1]) / RUNS : 0, i;
	double least = 0, begin, ns;
	int run;

	if (calls < 1)
		return 2;
	for (run = 0; run < RUNS; run++) {
		begin = cpu_ns();
		for (i = 0; i < calls; i++)
			syscall(SYS_getppid);
		ns = (cpu_ns() - begin) / calls;
		if (!run || ns < least)
			least = ns;
	}
	printf("%.2f\n", least);
	return 0;
}
