// SPDX-License-Identifier: GPL-2.0
#include "side_process.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>

/* What has the flag hands no policy on, so it is no choice of who started the caller. */
bool side_process_hurry(pid_t pid)
{
	const struct sched_param param = { .sched_priority = SIDE_PROCESS_PRIORITY };
	const int own = sched_getscheduler(0);

	return (own == SCHED_OTHER || (own & SCHED_RESET_ON_FORK)) && !sched_setscheduler(pid, SCHED_FIFO | SCHED_RESET_ON_FORK, &param);
}

void side_process_settled(void)
{
	struct sched_param param;

	if (sched_getscheduler(0) == (SCHED_FIFO | SCHED_RESET_ON_FORK) && !sched_getparam(0, &param) && param.sched_priority == SIDE_PROCESS_PRIORITY) {
		param.sched_priority = 0;
		sched_setscheduler(0, SCHED_OTHER, &param);
	}
}

/* It goes on once the other end is closed: by then it is in a hurry, or is not to be. */
pid_t side_process_fork(void)
{
	int ends[2], err;
	pid_t pid;
	char c;

	if (pipe2(ends, O_CLOEXEC))
		return -1;
	pid = fork();
	err = errno;
	if (pid > 0)
		side_process_hurry(pid);
	close(ends[1]);
	while (!pid && read(ends[0], &c, 1) < 0 && errno == EINTR)
		;
	close(ends[0]);
	errno = err;
	return pid;
}

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
	err = close_others(fds, cnt) ?: set_standard_files(says);
	side_process_settled();
	return err;
}
