// SPDX-License-Identifier: GPL-2.0
#include "side_process.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>

/* Ctrl-C and the end of a service reach it as well as the one that forked it, which decides. */
static void ignore_signals(void)
{
	static const int ignored[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE, SIGXFSZ, SIGUSR1, SIGUSR2 };
	sigset_t none;
	size_t i;

	for (i = 0; i < sizeof(ignored) / sizeof(*ignored); i++)
		signal(ignored[i], SIG_IGN);
	signal(SIGCHLD, SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

static int set_standard_files(bool says)
{
	const int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	if (null < 0 || dup2(null, STDIN_FILENO) < 0)
		return -errno;
	if (!says || fcntl(STDERR_FILENO, F_GETFD) < 0)
		dup2(null, STDERR_FILENO);
	dup2(STDERR_FILENO, STDOUT_FILENO);
	if (null > STDERR_FILENO)
		close(null);
	return 0;
}

static int compare_fds(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

/* Whatever else is open is to be closed when the one that forked it closes it. */
static int close_others(int *const fds[], unsigned int cnt)
{
	int kept[SIDE_PROCESS_FDS_MAX], next = STDERR_FILENO + 1;
	unsigned int i;

	for (i = 0; i < cnt; i++) {
		kept[i] = fcntl(*fds[i], F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
		if (kept[i] < 0)
			return -errno;
		*fds[i] = kept[i];
	}
	qsort(kept, cnt, sizeof(*kept), compare_fds);
	for (i = 0; i < cnt; next = kept[i++] + 1)
		if (kept[i] > next && close_range(next, kept[i] - 1, 0))
			return -errno;
	return close_range(next, ~0U, 0) ? -errno : 0;
}

int side_process_begin(const char *name, bool says, int *const fds[], unsigned int cnt)
{
	int err;

	setsid();
	prctl(PR_SET_NAME, name);
	ignore_signals();
	if (cnt > SIDE_PROCESS_FDS_MAX)
		return -EINVAL;
	/* First, or a descriptor of 0 to 2 would be lost. */
	err = close_others(fds, cnt);
	return err ?: set_standard_files(says);
}
