/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What programs that keep a machine busy have in common: a thread's own count of its
 * context switches, as the kernel keeps it.
 */
#ifndef LIVE_TALLY_H
#define LIVE_TALLY_H

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* The counters as /proc had them at END_NS (CLOCK_BOOTTIME), at which moment no switch was under way. */
struct tally {
	int tid, fd;
	unsigned long voluntary, involuntary;
	unsigned long long start_ns, end_ns;
};

static inline void die(const char *what)
{
	perror(what);
	exit(1);
}

static inline unsigned long long now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_BOOTTIME, &ts);
	return ts.tv_sec * 1000000000ULL + ts.tv_nsec;
}

static inline unsigned long read_counter(const char *text, const char *name)
{
	const char *line = strstr(text, name);

	if (!line)
		die(name);
	return strtoul(line + strlen(name), NULL, 10);
}

static inline void read_counters(int fd, unsigned long *voluntary, unsigned long *involuntary)
{
	char text[8192];
	ssize_t len = pread(fd, text, sizeof(text) - 1, 0);

	if (len <= 0)
		die("/proc/thread-self/status");
	text[len] = 0;
	*voluntary = read_counter(text, "\nvoluntary_ctxt_switches:");
	*involuntary = read_counter(text, "\nnonvoluntary_ctxt_switches:");
}

/* Both are called by the thread itself. */
static inline void tally_begin(struct tally *t)
{
	t->fd = open("/proc/thread-self/status", O_RDONLY);
	t->start_ns = now_ns();
	t->tid = gettid();
}

static inline void tally_end(struct tally *t)
{
	unsigned long voluntary, involuntary;

	do {
		read_counters(t->fd, &t->voluntary, &t->involuntary);
		t->end_ns = now_ns();
		read_counters(t->fd, &voluntary, &involuntary);
	} while (voluntary != t->voluntary || involuntary != t->involuntary);
	close(t->fd);
}

/* TID VOLUNTARY INVOLUNTARY START_NS END_NS */
static inline void tally_print(const struct tally *t)
{
	printf("%d %lu %lu %llu %llu\n", t->tid, t->voluntary, t->involuntary, t->start_ns, t->end_ns);
}

#endif
