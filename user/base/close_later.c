// SPDX-License-Identifier: GPL-2.0
/*
 * Descriptors go to the thread through a pipe, which holds what waits: a write of their size is whole or fails.
 */
#include "close_later.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

#include "thread_hooks.h"

struct close_later {
	int ends[2];
	int (*thread_init)(void);
	int init_err;
	bool has_begun;
	pthread_mutex_t lock;		/* of the two above */
	pthread_cond_t changed;
};

static void begin(struct close_later *c)
{
	pthread_mutex_lock(&c->lock);
	c->init_err = c->thread_init ? c->thread_init() : 0;
	c->has_begun = true;
	pthread_cond_signal(&c->changed);
	pthread_mutex_unlock(&c->lock);
}

/* Until the other end is closed; what is @c's may be freed once it has begun. */
static void *run_closer(void *arg)
{
	struct close_later *c = arg;
	const int from = c->ends[0];
	ssize_t n;
	int fd;

	pthread_setname_np(pthread_self(), "kfxt-close");
	begin(c);
	while ((n = read(from, &fd, sizeof(fd))) == sizeof(fd) || (n < 0 && errno == EINTR))
		if (n > 0)
			close(fd);
	close(from);
	return NULL;
}

/* 0, or -errno: there is no thread then. */
static int start(struct close_later *c)
{
	pthread_t thread;
	int err = thread_begin(&thread, run_closer, c);

	if (err)
		return err;
	pthread_detach(thread);
	pthread_mutex_lock(&c->lock);
	while (!c->has_begun)
		pthread_cond_wait(&c->changed, &c->lock);
	pthread_mutex_unlock(&c->lock);
	return 0;
}

static void free_all(struct close_later *c)
{
	pthread_cond_destroy(&c->changed);
	pthread_mutex_destroy(&c->lock);
	free(c);
}

int close_later_open(struct close_later **out, int (*thread_init)(void))
{
	struct close_later *c = calloc(1, sizeof(*c));
	int err;

	if (!c)
		return -ENOMEM;
	c->thread_init = thread_init;
	pthread_mutex_init(&c->lock, NULL);
	pthread_cond_init(&c->changed, NULL);
	if (pipe2(c->ends, O_CLOEXEC)) {
		err = -errno;
		goto err_free;
	}
	err = fcntl(c->ends[1], F_SETFL, O_NONBLOCK) ? -errno : start(c);
	if (err)
		close(c->ends[0]);
	err = err ?: c->init_err;
	if (err)
		goto err_close;
	*out = c;
	return 0;
err_close:
	close(c->ends[1]);
err_free:
	free_all(c);
	return err;
}

void close_later(struct close_later *c, int fd)
{
	if (!c)
		close(fd);
	else if (write(c->ends[1], &fd, sizeof(fd)) < 0)
		return;		/* so many wait that its file system hangs: it stays open */
}

void close_later_close(struct close_later *c)
{
	if (!c)
		return;
	close(c->ends[1]);
	free_all(c);
}
