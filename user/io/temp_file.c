// SPDX-License-Identifier: GPL-2.0
#include "temp_file.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

static const int end_signals[] = { SIGINT, SIGTERM, SIGHUP };
#define END_SIGNALS	(sizeof(end_signals) / sizeof(end_signals[0]))

static const char *volatile unfinished;		/* NULL: there is none */

/* The signal has its default action again, which follows when this returns. */
static void remove_unfinished(int number)
{
	if (unfinished)
		unlink(unfinished);
	raise(number);
}

/* A signal that is ignored, as under nohup(1), stays so. */
static void handle_signals(void)
{
	const struct sigaction act = { .sa_handler = remove_unfinished, .sa_flags = SA_RESETHAND | SA_RESTART };
	struct sigaction was;
	size_t i;

	for (i = 0; i < END_SIGNALS; i++)
		if (!sigaction(end_signals[i], NULL, &was) && was.sa_handler == SIG_DFL)
			sigaction(end_signals[i], &act, NULL);
}

/* Signals are blocked meanwhile, so that one finds either no file yet or its name. */
int temp_file_make(char *path)
{
	sigset_t ends, before;
	size_t i;
	int fd;

	sigemptyset(&ends);
	for (i = 0; i < END_SIGNALS; i++)
		sigaddset(&ends, end_signals[i]);
	sigprocmask(SIG_BLOCK, &ends, &before);
	fd = mkostemp(path, O_CLOEXEC);
	if (fd < 0)
		fd = -errno;
	else
		unfinished = path;
	handle_signals();
	sigprocmask(SIG_SETMASK, &before, NULL);
	return fd;
}

void temp_file_end(void)
{
	unfinished = NULL;
}
