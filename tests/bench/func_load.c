// SPDX-License-Identifier: GPL-2.0
/*
 * What one read() of a byte costs here and now: func_load ROUNDS CALLS prints, for each
 * round, nanoseconds of this thread's CPU time per call. What others take of the CPU
 * meanwhile, a recorder that drains for one, does not count.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static double cpu_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return ts.tv_sec * 1e9 + ts.tv_nsec;
}

int main(int argc, char **argv)
{
	long rounds = argc > 2 ? atol(argv[1]) : 0, calls = argc > 2 ? atol(argv[2]) : 0, i;
	int fd = open("/dev/zero", O_RDONLY);
	double begin;
	char byte;

	if (fd < 0 || rounds < 1 || calls < 1)
		return 2;
	while (rounds--) {
		begin = cpu_ns();
		for (i = 0; i < calls; i++)
			if (read(fd, &byte, 1) != 1)
				return 1;
		printf("%.1f\n", (cpu_ns() - begin) / calls);
	}
	return 0;
}
