// SPDX-License-Identifier: GPL-2.0
/*
 * Threads that do not run, one in each state a program can bring about, and one that does nothing else.
 *
 *	still CPU
 *
 * Prints "STATE TID" lines, the one that runs, on CPU, as "+". Ends when its standard input does.
 * A thread of priority 5 is ready on the CPU on which one of 10 spins, so it never gets there; all
 * others get what the kernel leaves them, as a rule a twentieth.
 */
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static void wait_forever(void)
{
	for (;;)
		pause();
}

/* A child that does not outlive us; 0 in the child. */
static pid_t child(const char *state)
{
	pid_t pid = fork();

	if (pid < 0)
		die("fork");
	if (!pid)
		prctl(PR_SET_PDEATHSIG, SIGKILL);
	else if (*state)
		printf("%s %d\n", state, pid);
	return pid;
}

static void make_real_time(int cpu, int priority)
{
	const struct sched_param param = { .sched_priority = priority };
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setscheduler(0, SCHED_FIFO, &param) || sched_setaffinity(0, sizeof(set), &set))
		die("SCHED_FIFO");
}

/* Writes to @fd when nothing less urgent can run there any more. */
static void spin(int cpu, int fd)
{
	make_real_time(cpu, 10);
	if (write(fd, "", 1) != 1)
		die("pipe");
	for (;;)
		;
}

/* It comes to the CPU of one more urgent than it is, and stays in its queue: also if it should run once. */
static void starve(int cpu)
{
	make_real_time(cpu, 5);
	for (;;)
		;
}

/* Its child's end is all it waits for. */
static void wait_for_vfork(void)
{
	if (!vfork()) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		wait_forever();
	}
}

static void be_traced(void)
{
	pid_t pid;

	if (!child("")) {
		pid = child("t");
		if (!pid) {
			ptrace(PTRACE_TRACEME, 0, 0, 0);
			raise(SIGSTOP);
			_exit(0);
		}
		fflush(stdout);
		waitpid(pid, NULL, 0);
		wait_forever();
	}
}

static void be_zombie(void)
{
	if (!child("")) {
		if (!child("Z"))
			_exit(0);
		fflush(stdout);
		wait_forever();
	}
}

int main(int argc, char **argv)
{
	int cpu = argc > 1 ? atoi(argv[1]) : 0;
	int fds[2];
	char c;

	setvbuf(stdout, NULL, _IOLBF, 0);
	if (!child("S"))
		wait_forever();
	if (!child("T"))
		raise(SIGSTOP);
	if (!child("D"))
		wait_for_vfork();
	be_traced();
	be_zombie();
	if (pipe(fds))
		die("pipe");
	if (!child("+"))
		spin(cpu, fds[1]);
	if (read(fds[0], &c, 1) != 1)
		die("pipe");
	if (!child("R"))
		starve(cpu);
	while (read(0, &c, 1) > 0)
		;
	return 0;
}
