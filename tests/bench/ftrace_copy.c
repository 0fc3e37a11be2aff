// SPDX-License-Identifier: GPL-2.0
/*
 * Copies a CPU's ring buffer of the kernel's tracer to a file, page by page, as trace-cmd does:
 * ftrace_copy TRACE_PIPE_RAW FILE, until SIGINT.
 */
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

static volatile sig_atomic_t ending;

static void end(int number)
{
	(void)number;
	ending = 1;
}

int main(int argc, char **argv)
{
	const struct sigaction action = { .sa_handler = end };
	int from = argc == 3 ? open(argv[1], O_RDONLY) : -1, to = argc == 3 ? open(argv[2], O_WRONLY | O_CREAT, 0600) : -1;
	int pipes[2];
	char page[4096];
	ssize_t n;

	if (from < 0 || to < 0 || pipe(pipes)) {
		perror("ftrace_copy");
		return 1;
	}
	sigaction(SIGINT, &action, NULL);
	while (!ending) {
		/* Not for ever: the signal may come just before. */
		poll(&(struct pollfd){ .fd = from, .events = POLLIN }, 1, 100);
		n = splice(from, NULL, pipes[1], NULL, 65536, SPLICE_F_MOVE | SPLICE_F_NONBLOCK);
		while (n > 0)
			n -= splice(pipes[0], NULL, to, NULL, n, SPLICE_F_MOVE);
	}
	/* What is in pages that are not full. */
	fcntl(from, F_SETFL, O_NONBLOCK);
	while ((n = read(from, page, sizeof(page))) > 0)
		if (write(to, page, n) != n)
			return 1;
	return 0;
}
