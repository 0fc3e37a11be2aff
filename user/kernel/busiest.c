// SPDX-License-Identifier: GPL-2.0
/*
 * Two looks at /proc: /proc/PID/task/TID/stat has the CPU that a thread ran on last, its policy and its time
 * on CPUs, in ticks.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "busiest.h"
#include "base/array.h"
#include "base/clock.h"
#include "base/map.h"

#define STAT_BYTES	1024
#define NS_PER_S	1e9

/* Fields after the name, which is in parentheses. */
enum { STAT_UTIME = 11, STAT_STIME = 12, STAT_NICE = 16, STAT_CPU = 36, STAT_RT_PRIORITY = 37, STAT_POLICY = 38, STAT_CNT };

struct thread_stat {
	char comm[64];
	long long fields[STAT_CNT];
};

struct look {
	uint64_t ns;
	struct map map;		/* by tid */
	uint64_t *ticks;
	size_t cnt, cap;
};

struct search {
	struct busiest *out;
	const uint32_t *cpus;
	unsigned int cpus_cnt;
	struct look look;
	bool second;
};

static bool parse_stat(char *text, struct thread_stat *s)
{
	char *open = strchr(text, '('), *close = strrchr(text, ')'), *at, *end;
	unsigned int i;

	if (!open || !close || close < open || close[1] != ' ')
		return false;
	snprintf(s->comm, sizeof(s->comm), "%.*s", (int)(close - open - 1), open + 1);
	at = close + 3;		/* the state, a letter */
	for (i = 1; i < STAT_CNT; i++) {
		s->fields[i] = strtoll(at, &end, 10);
		if (end == at)
			return false;
		at = end;
	}
	return true;
}

static bool read_stat(const char *pid, const char *tid, struct thread_stat *s)
{
	char path[64], text[STAT_BYTES];
	ssize_t len;
	int fd;

	snprintf(path, sizeof(path), "/proc/%.20s/task/%.20s/stat", pid, tid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	len = read(fd, text, sizeof(text) - 1);
	close(fd);
	if (len <= 0)
		return false;
	text[len] = 0;
	return parse_stat(text, s);
}

static struct busiest *of_cpu(const struct search *s, long long cpu)
{
	unsigned int i;

	for (i = 0; i < s->cpus_cnt; i++)
		if (s->cpus[i] == (uint64_t)cpu)
			return &s->out[i];
	return NULL;
}

static int note(struct search *s, uint32_t tid, uint64_t ticks)
{
	struct look *l = &s->look;
	int err = array_reserve(l->ticks, l->cnt, l->cap, 1);

	err = err ?: map_get(&l->map, tid) != MAP_NONE ? err : map_add(&l->map, tid, l->cnt);
	if (!err)
		l->ticks[l->cnt++] = ticks;
	return err;
}

static void note_busier(struct search *s, uint32_t tid, const struct thread_stat *stat, uint64_t ticks)
{
	const uint32_t i = map_get(&s->look.map, tid);
	struct busiest *b = of_cpu(s, stat->fields[STAT_CPU]);
	double share;

	if (!b || i == MAP_NONE || ticks <= s->look.ticks[i])
		return;
	share = (double)(ticks - s->look.ticks[i]) / sysconf(_SC_CLK_TCK) / ((clock_ns(CLOCK_MONOTONIC) - s->look.ns) / NS_PER_S);
	if (share <= b->share)
		return;
	*b = (struct busiest){ .tid = tid, .share = share < 1 ? share : 1, .policy = (int)stat->fields[STAT_POLICY] };
	b->priority = (int)stat->fields[b->policy == SCHED_FIFO || b->policy == SCHED_RR ? STAT_RT_PRIORITY : STAT_NICE];
	strcpy(b->comm, stat->comm);
}

static int look_at_thread(struct search *s, const char *pid, const char *name)
{
	const uint32_t tid = strtoul(name, NULL, 10);
	struct thread_stat stat;
	uint64_t ticks;

	if (!tid || !read_stat(pid, name, &stat))
		return 0;
	ticks = stat.fields[STAT_UTIME] + stat.fields[STAT_STIME];
	if (!s->second)
		return note(s, tid, ticks);
	note_busier(s, tid, &stat, ticks);
	return 0;
}

static int look_at_process(struct search *s, const char *pid)
{
	const struct dirent *entry;
	char path[64];
	int err = 0;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%.20s/task", pid);
	dir = opendir(path);
	while (dir && !err && (entry = readdir(dir)))
		err = look_at_thread(s, pid, entry->d_name);
	if (dir)
		closedir(dir);
	return err;
}

static int look_at_all(struct search *s)
{
	DIR *dir = opendir("/proc");
	const struct dirent *entry;
	int err = 0;

	while (dir && !err && (entry = readdir(dir)))
		if (entry->d_name[0] >= '1' && entry->d_name[0] <= '9')
			err = look_at_process(s, entry->d_name);
	if (dir)
		closedir(dir);
	return err;
}

int busiest_find(struct busiest *out, const uint32_t *cpus, unsigned int cpus_cnt, unsigned int ms)
{
	struct search s = { .out = out, .cpus = cpus, .cpus_cnt = cpus_cnt, .look.ns = clock_ns(CLOCK_MONOTONIC) };
	int err;

	memset(out, 0, sizeof(*out) * cpus_cnt);
	err = look_at_all(&s);
	usleep(ms * 1000);
	s.second = true;
	err = err ?: look_at_all(&s);
	map_fini(&s.look.map);
	free(s.look.ticks);
	return err;
}
