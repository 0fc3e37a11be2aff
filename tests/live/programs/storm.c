// SPDX-License-Identifier: GPL-2.0
/*
 * A storm of short-lived processes, one after the other, that fork, rename
 * themselves, make a thread, or execute another program.
 *
 *	storm PROCESSES DIR	DIR: where links that give programs their names go
 *	storm recycle		until an id comes again
 *	storm quick PROCESSES	each of which makes one that nobody waits for, and ends at once
 *	storm crowds		processes of four threads, whichever ends first, until it is killed
 *
 * Prints every thread there was, with the last name it had:
 *	TID PROCESS NAME
 * and for recycle the pid twice, with the names of both its owners; for quick just the ids.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static void *name_thread(void *arg)
{
	const int *number = arg;
	char name[32];

	snprintf(name, sizeof(name), "thr %d", *number);
	prctl(PR_SET_NAME, name);
	printf("%d %d %s\n", gettid(), getpid(), name);
	fflush(stdout);
	return NULL;
}

/* What child @i does; it prints its own line, or the program it becomes does. */
static void live(int i, const char *dir)
{
	char name[32], path[4096], self[4096];
	pthread_t thread;
	ssize_t len;

	switch (i % 4) {
	case 0:
		printf("%d %d storm\n", getpid(), getpid());
		break;
	case 1:
		snprintf(name, sizeof(name), "ren\xc3\xa9-%d", i);
		prctl(PR_SET_NAME, name);
		printf("%d %d %s\n", getpid(), getpid(), name);
		break;
	case 2:
		printf("%d %d storm\n", getpid(), getpid());
		fflush(stdout);
		if (pthread_create(&thread, NULL, name_thread, &i))
			die("pthread_create");
		pthread_join(thread, NULL);
		break;
	case 3:
		snprintf(path, sizeof(path), "%s/prog-%d", dir, i);
		len = readlink("/proc/self/exe", self, sizeof(self) - 1);
		if (len < 0)
			die("/proc/self/exe");
		self[len] = 0;
		if (symlink(self, path))
			die(path);
		execl(path, path, "become", NULL);
		die("exec");
	}
	fflush(stdout);
	_exit(0);
}

static int become(const char *path)
{
	const char *name = strrchr(path, '/');

	printf("%d %d %s\n", getpid(), getpid(), name ? name + 1 : path);
	unlink(path);
	return 0;
}

static pid_t spawn_named(const char *name)
{
	pid_t pid = fork();

	if (!pid) {
		prctl(PR_SET_NAME, name);
		_exit(0);
	}
	waitpid(pid, NULL, 0);
	return pid;
}

/* Asks for @pid as the next one; where that cannot be, goes around all ids. */
static int recycle(void)
{
	pid_t first = spawn_named("first owner"), pid;
	char text[16];
	int fd = open("/proc/sys/kernel/ns_last_pid", O_WRONLY);
	long tries = 0;

	do {
		snprintf(text, sizeof(text), "%d", first - 1);
		if (fd >= 0 && pwrite(fd, text, strlen(text), 0) < 0) {
			close(fd);
			fd = -1;
		}
		pid = spawn_named("second owner");
	} while (pid != first && tries++ < 5000000);
	printf("%d %d first owner\n%d %d second owner\n", first, first, pid, pid);
	return pid == first ? 0 : 1;
}

static int quick(int cnt)
{
	volatile pid_t *pids = mmap(NULL, 2 * cnt * sizeof(*pids), PROT_READ | PROT_WRITE,
				    MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (pids == MAP_FAILED)
		die("mmap");
	for (int i = 0; i < cnt; i++) {
		if (!fork()) {
			pids[2 * i] = getpid();
			if (!fork())
				pids[2 * i + 1] = getpid();
			_exit(0);
		}
		if (i % 8 == 7)
			while (wait(NULL) > 0)
				;
	}
	while (wait(NULL) > 0)
		;
	for (int i = 0; i < 2 * cnt; i++)
		while (!pids[i])
			usleep(1000);
	for (int i = 0; i < 2 * cnt; i++)
		printf("%d\n", pids[i]);
	return 0;
}

static void *rest(void *arg)
{
	usleep(rand() % 300);
	return arg;
}

static void be_crowd(void)
{
	pthread_t thread;

	srand(getpid());
	for (int i = 0; i < 3; i++)
		pthread_create(&thread, NULL, rest, NULL);
	if (rand() % 2)
		usleep(rand() % 500);
	/* Before its threads do. By pthread_exit() it would need libgcc_s, which not every machine has. */
	if (rand() % 2)
		syscall(SYS_exit, 0);
	_exit(0);
}

static void make_crowds(void)
{
	pid_t pid;

	for (;;) {
		pid = fork();
		if (!pid)
			be_crowd();
		usleep(200);
		while (waitpid(-1, NULL, WNOHANG) > 0)
			;
	}
}

int main(int argc, char **argv)
{
	if (argc == 2 && !strcmp(argv[1], "crowds"))
		make_crowds();
	if (argc == 3 && !strcmp(argv[1], "quick"))
		return quick(atoi(argv[2]));
	if (argc == 2 && !strcmp(argv[1], "become"))
		return become(argv[0]);
	if (argc == 2 && !strcmp(argv[1], "recycle"))
		return recycle();
	if (argc != 3) {
		fprintf(stderr, "usage: storm PROCESSES DIR | storm recycle | storm quick PROCESSES | storm crowds\n");
		return 2;
	}
	printf("%d %d storm\n", getpid(), getpid());
	fflush(stdout);
	for (int i = 0; i < atoi(argv[1]); i++) {
		pid_t pid = fork();

		if (pid < 0)
			die("fork");
		if (!pid)
			live(i, argv[2]);
		/* Some overlap, some do not. */
		if (i % 8 == 7)
			while (wait(NULL) > 0)
				;
	}
	while (wait(NULL) > 0)
		;
	return 0;
}
