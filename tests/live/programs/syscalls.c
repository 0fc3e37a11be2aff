// SPDX-License-Identifier: GPL-2.0
/*
 * Makes system calls of all kinds.
 *
 *	syscalls kinds		calls that fail, are interrupted, restarted, that make threads and
 *				processes, and last exec() by another thread than the first
 *	syscalls texts		chdir() to a long path, one that is not UTF-8, one that is nowhere;
 *				a symbolic link, which fails
 *	syscalls compat		getpid() by the way in of 32-bit programs; exit status 4: there is none
 *	syscalls block		says "ready", reads, says "done"
 *	syscalls end		nothing
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define SOON_US	50000

static char *self;

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static void *count(void *unused)
{
	for (int i = 0; i < 5; i++)
		syscall(SYS_getppid);
	return unused;
}

/* Until @pid blocks in a call; one that strace keeps on its way there is stopped, not asleep. */
static void until_asleep(pid_t pid)
{
	char path[64], text[512], *state = NULL;
	ssize_t got;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	for (;;) {
		fd = open(path, O_RDONLY);
		got = read(fd, text, sizeof(text) - 1);
		text[got > 0 ? got : 0] = 0;
		close(fd);
		state = strrchr(text, ')');
		if (state && state[1] == ' ' && state[2] == 'S')
			return;
		usleep(1000);
	}
}

static void *end_by_exec(void *unused)
{
	until_asleep(getpid());		/* the first thread waits for us */
	execl(self, self, "end", NULL);
	die("execl");
	return unused;
}

static void on_signal(int signal)
{
	(void)signal;
}

/* A child that signals us while we are in the call that follows, and then writes to @fd. */
static pid_t signal_soon(int fd)
{
	pid_t parent = getpid(), child = fork();

	if (!child) {
		until_asleep(parent);
		kill(parent, SIGUSR1);
		usleep(SOON_US);
		_exit(write(fd, "x", 1) != 1);
	}
	return child;
}

static void interrupted(int flags)
{
	struct sigaction action = { .sa_handler = on_signal, .sa_flags = flags };
	struct timespec rest = { 60, 0 };
	int fds[2];
	char byte;

	sigaction(SIGUSR1, &action, NULL);
	if (pipe(fds) || signal_soon(fds[1]) < 0)
		die("pipe, fork");
	if (read(fds[0], &byte, 1) < 0 && errno != EINTR)
		die("read");
	wait(NULL);
	if (signal_soon(fds[1]) < 0)
		die("fork");
	nanosleep(&rest, &rest);
	wait(NULL);
	close(fds[0]);
	close(fds[1]);
}

static void kinds(void)
{
	pthread_t thread;
	pid_t child;

	syscall(SYS_openat, AT_FDCWD, "/nowhere/at/all", O_RDONLY);
	syscall(SYS_close, -1);
	syscall(SYS_getppid);
	interrupted(0);
	interrupted(SA_RESTART);
	child = fork();
	if (!child)
		_exit(count(NULL) != NULL);
	waitpid(child, NULL, 0);
	child = vfork();
	if (!child) {
		execl("/nowhere/program", "program", NULL);
		execl(self, self, "end", NULL);
		_exit(1);
	}
	waitpid(child, NULL, 0);
	child = fork();
	if (!child)
		for (;;)
			pause();
	until_asleep(child);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	if (pthread_create(&thread, NULL, count, NULL) || pthread_join(thread, NULL))
		die("pthread_create");
	if (pthread_create(&thread, NULL, end_by_exec, NULL))
		die("pthread_create");
	pthread_join(thread, NULL);
}

static void texts(void)
{
	char path[300];

	memset(path, 'x', sizeof(path) - 1);
	path[sizeof(path) - 1] = 0;
	syscall(SYS_chdir, path);
	path[256] = 0;
	syscall(SYS_chdir, path);
	syscall(SYS_chdir, "/nowhere/\xff\xc3\xa4\n\\x41");
	syscall(SYS_chdir, "");
	syscall(SYS_chdir, NULL);
	syscall(SYS_symlinkat, "old", -1, "new");
	syscall(SYS_mmap, NULL, 0, 0, 0, -1, 0);
}

static int compat(void)
{
#ifdef __x86_64__
	long pid = 20;	/* __NR_getpid of i386 */

	__asm__ __volatile__("int $0x80" : "+a"(pid) : : "memory", "r8", "r9", "r10", "r11");
	return pid == getpid() ? 0 : 4;
#else
	return 4;
#endif
}

static void block(void)
{
	char byte;

	if (write(1, "ready\n", 6) != 6 || read(0, &byte, 1) < 0 || write(1, "done\n", 5) != 5)
		exit(1);
}

int main(int argc, char **argv)
{
	const char *what = argc == 2 ? argv[1] : "";

	self = argv[0];
	if (!strcmp(what, "kinds"))
		kinds();
	else if (!strcmp(what, "texts"))
		texts();
	else if (!strcmp(what, "compat"))
		return compat();
	else if (!strcmp(what, "block"))
		block();
	else if (strcmp(what, "end"))
		return 2;
	return 0;
}
