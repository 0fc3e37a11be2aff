// SPDX-License-Identifier: GPL-2.0
/*
 * The instance is called kfxt-PID. Copies begin and end by its option, never by its tracing_on:
 * while an instance that gets copies does not take them, the kernel refuses the write of whoever
 * writes a marker, and does not copy it to others either. For the same reason its buffers
 * overwrite what is oldest.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/stat.h>
#include <unistd.h>

#include "marker_instance.h"
#include "base/file.h"
#include "kernel/tracefs.h"

#define FORMAT_BYTES_MAX	65536
#define TRACEFS_BYTES		256	/* of its path */
#define OPTION			"options/copy_trace_marker"

struct marker_copy {
	char dir[TRACEFS_BYTES + 64];
	struct marker_format format;
	void *page;
	int epoll_fd, *fds;		/* trace_pipe_raw by position in @cpus */
	int option_fd;			/* kept open: by the end nothing may be opened to write any more */
	const uint32_t *cpus;
	unsigned int cpus_cnt;
	uint64_t *lost;			/* by position too */
};

static int write_file(const struct marker_copy *c, const char *name, const char *text)
{
	char path[TRACEFS_BYTES + 128];
	ssize_t len = (ssize_t)strlen(text);
	int fd, err = 0;

	snprintf(path, sizeof(path), "%s/%s", c->dir, name);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (write(fd, text, len) != len)
		err = -errno;
	close(fd);
	return err;
}

/* Instances of recorders that were killed; the kernel keeps an instance of which files are open. */
static void remove_stale(const char *tracefs)
{
	const struct dirent *entry;
	char path[TRACEFS_BYTES + 64];
	DIR *dir;
	int pid, len;

	snprintf(path, sizeof(path), "%s/instances", tracefs);
	dir = opendir(path);
	while (dir && (entry = readdir(dir))) {
		len = 0;
		if (sscanf(entry->d_name, "kfxt-%d%n", &pid, &len) != 1 || entry->d_name[len] ||
		    (pid != getpid() && (kill(pid, 0) == 0 || errno != ESRCH)))
			continue;
		snprintf(path, sizeof(path), "%s/instances/kfxt-%d", tracefs, pid);
		rmdir(path);
	}
	if (dir)
		closedir(dir);
}

static int read_format(struct marker_copy *c, const char *tracefs)
{
	char path[TRACEFS_BYTES + 64], *header = NULL, *print = NULL;
	size_t len;
	int err;

	snprintf(path, sizeof(path), "%s/events/header_page", tracefs);
	err = text_file_read(path, FORMAT_BYTES_MAX, &header, &len);
	snprintf(path, sizeof(path), "%s/events/ftrace/print/format", tracefs);
	if (!err)
		err = text_file_read(path, FORMAT_BYTES_MAX, &print, &len);
	if (!err && !marker_format_parse(&c->format, header, print))
		err = -ENOTSUP;
	free(header);
	free(print);
	return err;
}

static int open_in(struct marker_copy *c, const char *tracefs)
{
	char path[TRACEFS_BYTES + 64];
	int err = read_format(c, tracefs);

	if (err)
		return err;
	remove_stale(tracefs);
	snprintf(path, sizeof(path), "%s/instances/kfxt-%d", tracefs, getpid());
	if (mkdir(path, 0700))
		return -errno;
	strcpy(c->dir, path);
	return write_file(c, "trace_clock", "boot");
}

int marker_copy_open(struct marker_copy **out)
{
	struct marker_copy *c = calloc(1, sizeof(*c));
	char path[TRACEFS_BYTES];
	int err;

	if (!c)
		return -ENOMEM;
	c->epoll_fd = c->option_fd = -1;
	/* The option is there for the whole kernel too, so that no instance need be made to know. */
	err = tracefs_find(path, sizeof(path), OPTION) ? 0 : -ENOTSUP;
	if (!err) {
		path[strlen(path) - strlen("/" OPTION)] = 0;
		err = open_in(c, path);
	}
	if (!err) {
		c->page = malloc(c->format.page_bytes);
		c->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
		err = !c->page ? -ENOMEM : c->epoll_fd < 0 ? -errno : 0;
	}
	if (err) {
		marker_copy_close(c);
		return err;
	}
	*out = c;
	return 0;
}

static int open_pipe(struct marker_copy *c, unsigned int i)
{
	struct epoll_event event = { .events = EPOLLIN };
	char path[TRACEFS_BYTES + 128];

	snprintf(path, sizeof(path), "%s/per_cpu/cpu%u/trace_pipe_raw", c->dir, c->cpus[i]);
	c->fds[i] = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	return c->fds[i] < 0 || epoll_ctl(c->epoll_fd, EPOLL_CTL_ADD, c->fds[i], &event) ? -errno : 0;
}

static int open_option(struct marker_copy *c)
{
	char path[TRACEFS_BYTES + 128];

	snprintf(path, sizeof(path), "%s/%s", c->dir, OPTION);
	c->option_fd = open(path, O_WRONLY | O_CLOEXEC);
	return c->option_fd < 0 || write(c->option_fd, "1", 1) != 1 ? -errno : 0;
}

static int pin(unsigned int cpu)
{
	cpu_set_t *set = CPU_ALLOC(cpu + 1);
	const size_t bytes = CPU_ALLOC_SIZE(cpu + 1);
	int err;

	if (!set)
		return -ENOMEM;
	CPU_ZERO_S(bytes, set);
	CPU_SET_S(cpu, bytes, set);
	err = sched_setaffinity(0, bytes, set) ? -errno : 0;
	CPU_FREE(set);
	return err;
}

struct resizing {
	const struct marker_copy *copy;
	uint64_t bytes;
	int err;
};

/*
 * From the CPU itself the kernel resizes a buffer in place. From another one, or for all buffers at
 * once, it waits for a worker of that CPU, for as long as other tasks there keep it from running.
 * Where the CPU is not allowed to this process it has to wait, too.
 */
static void *resize_each(void *ctx)
{
	struct resizing *r = ctx;
	char name[64], kb[32];
	unsigned int i;

	snprintf(kb, sizeof(kb), "%llu", (unsigned long long)r->bytes >> 10);
	for (i = 0; !r->err && i < r->copy->cpus_cnt; i++) {
		pin(r->copy->cpus[i]);
		snprintf(name, sizeof(name), "per_cpu/cpu%u/buffer_size_kb", r->copy->cpus[i]);
		r->err = write_file(r->copy, name, kb);
	}
	return NULL;
}

/* By a thread of its own, as the CPUs that others may use are not to change. */
static int resize(const struct marker_copy *c, uint64_t bytes)
{
	struct resizing r = { .copy = c, .bytes = bytes };
	pthread_t thread;
	int err = pthread_create(&thread, NULL, resize_each, &r);

	if (err)
		return -err;
	pthread_join(thread, NULL);
	return r.err;
}

int marker_copy_begin(struct marker_copy *c, const uint32_t *cpus, unsigned int cpus_cnt, uint64_t bytes)
{
	int err = 0;

	c->cpus = cpus;
	c->fds = calloc(cpus_cnt, sizeof(*c->fds));
	c->lost = calloc(cpus_cnt, sizeof(*c->lost));
	if (!c->fds || !c->lost)
		return -ENOMEM;
	while (!err && c->cpus_cnt < cpus_cnt)
		err = open_pipe(c, c->cpus_cnt++);
	err = err ?: resize(c, bytes);
	return err ?: open_option(c);
}

int marker_copy_fd(const struct marker_copy *c)
{
	return c->epoll_fd;
}

/* "overrun: 0", "commit overrun: 0", "dropped events: 0", each on a line. */
static uint64_t lost_in(const char *stats)
{
	static const char *const names[] = { "\noverrun:", "\ncommit overrun:", "\ndropped events:" };
	const char *at;
	uint64_t lost = 0;
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(*names); i++) {
		at = strstr(stats, names[i]);
		lost += at ? strtoull(at + strlen(names[i]), NULL, 10) : 0;
	}
	return lost;
}

static void count_lost(struct marker_copy *c, unsigned int i)
{
	char path[TRACEFS_BYTES + 128], *text;
	size_t len;

	snprintf(path, sizeof(path), "%s/per_cpu/cpu%u/stats", c->dir, c->cpus[i]);
	if (text_file_read(path, FORMAT_BYTES_MAX, &text, &len))
		return;
	c->lost[i] = lost_in(text);
	free(text);
}

int marker_copy_read(struct marker_copy *c, int (*take)(void *ctx, const struct page_marker *m), void *ctx)
{
	struct marker_page page;
	struct page_marker m;
	unsigned int i;
	ssize_t len;
	int err = 0;

	for (i = 0; !err && i < c->cpus_cnt; i++) {
		while (!err && (len = read(c->fds[i], c->page, c->format.page_bytes)) > 0) {
			marker_page_open(&page, &c->format, c->page, (size_t)len);
			if (page.missed)
				count_lost(c, i);
			while (!err && marker_page_next(&page, &m))
				err = take(ctx, &m);
		}
	}
	return err;
}

void marker_copy_end(struct marker_copy *c)
{
	unsigned int i;

	/* Where that fails, taking the instance away ends it. */
	(void)!write(c->option_fd, "0", 1);
	for (i = 0; i < c->cpus_cnt; i++)
		count_lost(c, i);
}

uint64_t marker_copy_lost(const struct marker_copy *c, unsigned int i)
{
	return c->lost ? c->lost[i] : 0;
}

void marker_copy_close(struct marker_copy *c)
{
	unsigned int i;

	if (!c)
		return;
	for (i = 0; i < c->cpus_cnt; i++)
		close(c->fds[i]);
	if (c->epoll_fd >= 0)
		close(c->epoll_fd);
	if (c->option_fd >= 0)
		close(c->option_fd);
	if (c->dir[0])
		rmdir(c->dir);
	free(c->fds);
	free(c->lost);
	free(c->page);
	free(c);
}
