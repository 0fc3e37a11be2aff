// SPDX-License-Identifier: GPL-2.0
/*
 * Threads that leave the CPU in every state a program can bring about.
 *
 *	states
 *
 * Prints "STATE TID WAKER" lines: each TID left in STATE at least once, and was
 * then woken by WAKER (0: by an interrupt, -: never or not said).
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static void sleep_ms(long ms)
{
	const struct timespec ts = { ms / 1000, ms % 1000 * 1000000 };

	nanosleep(&ts, NULL);
}

/* Until @pid has left its CPU in @state, as far as can be seen: it has slept. */
static void wait_for_state(pid_t pid, char state)
{
	char path[64], text[4096];
	const char *is, *slept;
	FILE *f;
	int i;

	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	for (i = 0; i < 30000; i++) {
		f = fopen(path, "r");
		text[f ? fread(text, 1, sizeof(text) - 1, f) : 0] = 0;
		if (f)
			fclose(f);
		is = strstr(text, "\nState:\t");
		slept = strstr(text, "\nvoluntary_ctxt_switches:\t");
		if (is && is[8] == state && slept && slept[26] != '0')
			break;
		sleep_ms(1);
	}
	sleep_ms(10);
}

/* T: stopped by a signal, continued by us. */
static void stopped(void)
{
	pid_t pid = fork();

	if (!pid) {
		raise(SIGSTOP);
		_exit(0);
	}
	waitpid(pid, NULL, WUNTRACED);
	wait_for_state(pid, 'T');
	kill(pid, SIGCONT);
	waitpid(pid, NULL, 0);
	printf("T %d %d\n", pid, getpid());
}

/* t: stopped for its tracer. */
static void traced(void)
{
	pid_t pid = fork();

	if (!pid) {
		ptrace(PTRACE_TRACEME, 0, 0, 0);
		raise(SIGSTOP);
		_exit(0);
	}
	waitpid(pid, NULL, 0);
	wait_for_state(pid, 't');
	ptrace(PTRACE_CONT, pid, 0, 0);
	waitpid(pid, NULL, 0);
	printf("t %d %d\n", pid, getpid());
}

/* D: a parent waits for its vfork child; Z: that child's end. */
static void vforked(void)
{
	pid_t pid = vfork();

	if (!pid) {
		sleep_ms(10);
		_exit(0);
	}
	if (pid < 0)
		die("vfork");
	wait_for_state(pid, 'Z');
	waitpid(pid, NULL, 0);
	printf("D %d %d\nZ %d -\n", getpid(), pid, pid);
}

/* X: nobody waits for it. */
static void unmourned(void)
{
	pid_t pid;

	signal(SIGCHLD, SIG_IGN);
	pid = fork();
	if (!pid)
		_exit(0);
	while (!kill(pid, 0))
		sleep_ms(1);
	sleep_ms(20);
	signal(SIGCHLD, SIG_DFL);
	printf("X %d -\n", pid);
}

/* S, ended by the clock's interrupt and by another process. */
static void sleeping(void)
{
	const pid_t me = getpid();
	int fds[2];
	char c;
	pid_t pid;

	sleep_ms(10);
	printf("S %d 0\n", getpid());
	if (pipe(fds))
		die("pipe");
	pid = fork();
	if (!pid) {
		wait_for_state(me, 'S');
		_exit(write(fds[1], "", 1) != 1);
	}
	if (read(fds[0], &c, 1) != 1)
		die("pipe");
	printf("S %d %d\n", getpid(), pid);
	waitpid(pid, NULL, 0);
}

int main(void)
{
	setvbuf(stdout, NULL, _IOFBF, 1 << 16);
	stopped();
	traced();
	vforked();
	unmourned();
	sleeping();
	return 0;
}
