// SPDX-License-Identifier: GPL-2.0
/*
 * A child that waits on a pipe, then becomes the command. A second pipe, closed
 * by a successful exec, brings back the reason of a failed one.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/pidfd.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/huge_pages.h"
#include "base/poll_until.h"
#include "workload.h"

#define PATIENCE_NS	3000000000ULL	/* after SIGTERM, until the user is warned */

struct workload {
	pid_t pid;		/* 0: reaped */
	pid_t target;		/* for kill(2): its process group, negative, or the process alone */
	int pidfd;
	int go, failed;		/* our ends of the two pipes */
	bool started;
	int sent;		/* the last signal we sent; 0: none */
	int status;
};

static void close_pipe(const int fds[2])
{
	close(fds[0]);
	close(fds[1]);
}

/*
 * In the foreground of a terminal the command must stay in our process group, or reading from
 * the terminal would stop it and Ctrl-C and Ctrl-Z would not reach it.
 */
static bool in_foreground(void)
{
	int fd = open("/dev/tty", O_RDONLY | O_NOCTTY | O_CLOEXEC);
	bool is = fd >= 0 && tcgetpgrp(fd) == getpgrp();

	if (fd >= 0)
		close(fd);
	return is;
}

/* The child: never returns. */
static void run_program(int go, int failed, int nice, char **argv)
{
	sigset_t none;
	char c;
	int err;

	huge_pages_restore();
	/* Of a real-time thread it would inherit 0. */
	setpriority(PRIO_PROCESS, 0, nice);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	signal(SIGPIPE, SIG_DFL);
	signal(SIGXFSZ, SIG_DFL);
	if (read(go, &c, 1) != 1)
		_exit(127);	/* the recording never began */
	execvp(argv[0], argv);
	err = errno;
	if (write(failed, &err, sizeof(err)) != sizeof(err))
		_exit(126);
	_exit(err == ENOENT ? 127 : 126);
}

int workload_open(struct workload **out, char **argv, bool stdout_taken, const struct rlimit *files)
{
	struct workload *w = calloc(1, sizeof(*w));
	const int nice = getpriority(PRIO_PROCESS, 0);
	int go[2], failed[2], err;

	if (!w)
		return -ENOMEM;
	/* Its exit status is asked for. */
	signal(SIGCHLD, SIG_DFL);
	if (pipe2(go, O_CLOEXEC)) {
		err = -errno;
		goto err_free;
	}
	if (pipe2(failed, O_CLOEXEC)) {
		err = -errno;
		goto err_go;
	}
	w->pid = fork();
	if (w->pid < 0) {
		err = -errno;
		goto err_failed;
	}
	if (!w->pid) {
		close(go[1]);
		if (stdout_taken)
			dup2(STDERR_FILENO, STDOUT_FILENO);
		setrlimit(RLIMIT_NOFILE, files);
		run_program(go[0], failed[1], nice, argv);
	}
	close(go[0]);
	close(failed[1]);
	/* By us, not the child: it is done when the first signal is sent. */
	w->target = !in_foreground() && !setpgid(w->pid, w->pid) ? -w->pid : w->pid;
	w->go = go[1];
	w->failed = failed[0];
	w->pidfd = pidfd_open(w->pid, 0);
	if (w->pidfd < 0) {
		err = -errno;
		workload_close(w);
		return err;
	}
	*out = w;
	return 0;
err_failed:
	close_pipe(failed);
err_go:
	close_pipe(go);
err_free:
	free(w);
	return err;
}

int workload_start(struct workload *w)
{
	int err;

	if (write(w->go, "", 1) != 1)
		return -ESRCH;
	/* End of file: exec closed the other end. */
	w->started = read(w->failed, &err, sizeof(err)) != sizeof(err);
	return w->started ? 0 : -err;
}

bool workload_started(const struct workload *w)
{
	return w->started;
}

pid_t workload_pid(const struct workload *w)
{
	return w->pid;
}

int workload_fd(const struct workload *w)
{
	return w->pidfd;
}

/* A process that was stopped handles it once it continues. */
static void send(struct workload *w, int number)
{
	w->sent = number;
	kill(w->target, number);
	kill(w->target, SIGCONT);
}

/* Whether it ended by @end_ns of CLOCK_MONOTONIC (UINT64_MAX: no limit) and before @hurry_fd was readable. */
static bool wait_for_end(const struct workload *w, uint64_t end_ns, int hurry_fd, bool *hurry)
{
	struct pollfd fds[] = {
		{ .fd = w->pidfd, .events = POLLIN }, { .fd = hurry_fd, .events = POLLIN },
	};

	poll_until(fds, 2, end_ns);
	*hurry = fds[1].revents;
	return fds[0].revents;
}

int workload_finish(struct workload *w, int hurry_fd, void (*slow)(void *ctx), void *ctx)
{
	bool hurry;

	if (w->pid <= 0)
		return w->status;
	if (!wait_for_end(w, 0, -1, &hurry)) {
		send(w, SIGTERM);
		if (!wait_for_end(w, clock_ns(CLOCK_MONOTONIC) + PATIENCE_NS, hurry_fd, &hurry) && !hurry) {
			if (slow)
				slow(ctx);
			wait_for_end(w, UINT64_MAX, hurry_fd, &hurry);
		}
		if (!wait_for_end(w, 0, -1, &hurry))
			send(w, SIGKILL);
	}
	while (waitpid(w->pid, &w->status, 0) < 0 && errno == EINTR)
		;
	w->pid = 0;
	return w->status;
}

int workload_sent(const struct workload *w)
{
	return w->sent;
}

void workload_close(struct workload *w)
{
	if (!w)
		return;
	close(w->go);
	workload_finish(w, -1, NULL, NULL);
	close(w->failed);
	if (w->pidfd >= 0)
		close(w->pidfd);
	free(w);
}
