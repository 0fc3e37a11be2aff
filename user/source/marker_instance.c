// SPDX-License-Identifier: GPL-2.0
/*
 * The instance has the name of tracefs_instance_name(). Copies begin and end by its option, never by its tracing_on:
 * while an instance that gets copies does not take them, the kernel refuses the write of whoever
 * writes a marker, and does not copy it to others either. For the same reason its buffers
 * overwrite what is oldest.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "marker_instance.h"
#include "base/log.h"
#include "kernel/tracefs.h"

#define STATS_BYTES		4096
#define TRACEFS_BYTES		256	/* of its path */
#define OPTION			"options/copy_trace_marker"
#define START_MS		200	/* a recording begins without markers if these take longer */
#define END_MS			300

struct marker_instance {
	char dir[TRACEFS_BYTES + 64];
	struct marker_format format;
	void *page;
	struct marker_helper *helper;
	enum helper_state state;
	bool in_time;			/* there are copies since the recording began */
	int open_err;			/* then: -errno, they cannot be read */
	int epoll_fd;
	const uint32_t *cpus;
	unsigned int cpus_cnt;
	uint64_t *lost;			/* by position in @cpus */
};

static int open_in(struct marker_instance *c, const char *tracefs)
{
	char instances[TRACEFS_BYTES], name[64];
	int err = tracefs_instances(instances, sizeof(instances));

	if (err)
		return err;
	tracefs_instance_name(name, sizeof(name), getpid());
	snprintf(c->dir, sizeof(c->dir), "%s/%s", instances, name);
	return marker_helper_open(&c->helper, tracefs, c->dir, OPTION);
}

int marker_instance_open(struct marker_instance **out)
{
	struct marker_instance *c = calloc(1, sizeof(*c));
	char path[TRACEFS_BYTES];
	int err;

	if (!c)
		return -ENOMEM;
	c->epoll_fd = -1;
	/* The option is there for the whole kernel too, so that no instance need be made to know. */
	err = tracefs_find(path, sizeof(path), OPTION) ? 0 : -ENOTSUP;
	if (!err) {
		path[strlen(path) - strlen("/" OPTION)] = 0;
		err = open_in(c, path);
	}
	if (!err) {
		c->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
		err = c->epoll_fd < 0 ? -errno : 0;
	}
	if (err) {
		marker_instance_close(c);
		return err;
	}
	*out = c;
	return 0;
}

static bool has_pages(const struct marker_instance *c)
{
	return c->state != HELPER_WORKS && c->page && !c->open_err;
}

static int watch(const struct marker_instance *c, int op, int fd)
{
	struct epoll_event event = { .events = EPOLLIN };

	return epoll_ctl(c->epoll_fd, op, fd, &event) ? -errno : 0;
}

static int open_pages(struct marker_instance *c)
{
	unsigned int i;
	int err;

	c->format = *marker_helper_format(c->helper);
	c->page = malloc(c->format.page_bytes);
	err = c->page ? 0 : -ENOMEM;
	for (i = 0; !err && i < c->cpus_cnt; i++)
		err = watch(c, EPOLL_CTL_ADD, marker_helper_files(c->helper, i).pipe);
	/* Nobody is to be woken by what is not read. */
	for (; err && i; i--)
		watch(c, EPOLL_CTL_DEL, marker_helper_files(c->helper, i - 1).pipe);
	return err;
}

/* Have copies begun now? From then on nothing comes from the helper before the end. */
static void look(struct marker_instance *c, unsigned int wait_ms)
{
	if (c->state != HELPER_WORKS)
		return;
	c->state = marker_helper_look(c->helper, wait_ms);
	if (c->state == HELPER_WORKS)
		return;
	watch(c, EPOLL_CTL_DEL, marker_helper_fd(c->helper));
	if (c->state == HELPER_READY)
		c->open_err = open_pages(c);
}

int marker_instance_begin(struct marker_instance *c, const uint32_t *cpus, unsigned int cpus_cnt, uint64_t bytes)
{
	int err;

	c->lost = calloc(cpus_cnt, sizeof(*c->lost));
	if (!c->lost)
		return -ENOMEM;
	c->cpus = cpus;
	c->cpus_cnt = cpus_cnt;
	err = watch(c, EPOLL_CTL_ADD, marker_helper_fd(c->helper));
	if (!err)
		err = marker_helper_begin(c->helper, cpus, cpus_cnt, bytes);
	look(c, START_MS);
	c->in_time = c->state == HELPER_READY;
	/* Where it has ended it says why. */
	return err == -EPIPE || err == -ECONNRESET ? 0 : err;
}

bool marker_instance_late(const struct marker_instance *c, uint64_t *since_ns, char why[SOURCE_WHY_BYTES])
{
	*since_ns = c->open_err ? 0 : marker_helper_since(c->helper);
	why[0] = 0;
	if (c->open_err)
		snprintf(why, SOURCE_WHY_BYTES, "its buffers cannot be read: %s", strerror(-c->open_err));
	else if (!*since_ns)
		marker_helper_why(c->helper, why);
	return !c->in_time || c->open_err;
}

int marker_instance_fd(const struct marker_instance *c)
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

static void count_lost(struct marker_instance *c, unsigned int i)
{
	char text[STATS_BYTES];
	const ssize_t len = pread(marker_helper_files(c->helper, i).stats, text, sizeof(text) - 1, 0);

	if (len <= 0)
		return;
	text[len] = 0;
	c->lost[i] = lost_in(text);
}

int marker_instance_read(struct marker_instance *c, int (*take)(void *ctx, const struct page_marker *m), void *ctx)
{
	struct marker_page page;
	struct page_marker m;
	unsigned int i;
	ssize_t len;
	int err = 0, fd;

	look(c, 0);
	for (i = 0; !err && has_pages(c) && i < c->cpus_cnt; i++) {
		fd = marker_helper_files(c->helper, i).pipe;
		while (!err && (len = read(fd, c->page, c->format.page_bytes)) > 0) {
			marker_page_open(&page, &c->format, c->page, (size_t)len);
			if (page.missed)
				count_lost(c, i);
			while (!err && marker_page_next(&page, &m))
				err = take(ctx, &m);
		}
	}
	return err;
}

void marker_instance_end(struct marker_instance *c)
{
	unsigned int i;

	/* Where that takes too long, what still comes is newer than the end. */
	if (c->state == HELPER_READY)
		marker_helper_end(c->helper, END_MS);
	for (i = 0; has_pages(c) && i < c->cpus_cnt; i++)
		count_lost(c, i);
}

uint64_t marker_instance_lost(const struct marker_instance *c, unsigned int i)
{
	return c->lost ? c->lost[i] : 0;
}

void marker_instance_close(struct marker_instance *c)
{
	if (!c)
		return;
	if (c->epoll_fd >= 0)
		close(c->epoll_fd);
	if (!marker_helper_close(c->helper, END_MS))
		log_info("%s is still removed by another process: the kernel lets it wait", c->dir);
	free(c->lost);
	free(c->page);
	free(c);
}
