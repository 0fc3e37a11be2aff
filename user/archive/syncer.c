// SPDX-License-Identifier: GPL-2.0
/* See syncer.h. The process ends with it, so it has no end of its own. */
#include "syncer.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define STACK_BYTES	(64U << 10)

struct job {
	uint32_t id;
	int fd, err;
	bool all;
};

/* A queue: taken, done and added are counts since the beginning. */
struct syncer {
	pthread_mutex_t lock;
	pthread_cond_t more, begun;
	bool has_begun;
	struct job jobs[SYNCER_MAX];
	unsigned int taken, done, added;
	int fd;
};

/* Some file systems have no such call, or nothing to write to. */
static int sync_one(const struct job *j)
{
	if (j->all)
		return fsync(j->fd) ? -errno : 0;
	return fdatasync(j->fd) && errno != EINVAL && errno != ENOSYS && errno != EROFS ? -errno : 0;
}

static void announce(const struct syncer *s)
{
	const uint64_t one = 1;

	if (write(s->fd, &one, sizeof(one)) < 0)
		return;		/* cannot be: the count is small */
}

static void *sync_all(void *ctx)
{
	struct syncer *s = ctx;
	struct job *j;

	pthread_mutex_lock(&s->lock);
	s->has_begun = true;
	pthread_cond_signal(&s->begun);
	for (;;) {
		while (s->done == s->added)
			pthread_cond_wait(&s->more, &s->lock);
		j = &s->jobs[s->done % SYNCER_MAX];
		pthread_mutex_unlock(&s->lock);
		j->err = sync_one(j);
		pthread_mutex_lock(&s->lock);
		s->done++;
		announce(s);
	}
	return NULL;
}

/* Signals are for the thread that has the loop. What a thread does at its beginning is done by then. */
static int begin_thread(struct syncer *s)
{
	sigset_t all, before;
	pthread_attr_t attr;
	pthread_t thread;
	int err;

	sigfillset(&all);
	pthread_attr_init(&attr);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	pthread_attr_setstacksize(&attr, STACK_BYTES);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	err = pthread_create(&thread, &attr, sync_all, s);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attr);
	pthread_mutex_lock(&s->lock);
	while (!err && !s->has_begun)
		pthread_cond_wait(&s->begun, &s->lock);
	pthread_mutex_unlock(&s->lock);
	return -err;
}

int syncer_open(struct syncer **out)
{
	struct syncer *s = calloc(1, sizeof(*s));
	int err;

	if (!s)
		return -ENOMEM;
	pthread_mutex_init(&s->lock, NULL);
	pthread_cond_init(&s->more, NULL);
	pthread_cond_init(&s->begun, NULL);
	s->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	err = s->fd < 0 ? -errno : begin_thread(s);
	if (err) {
		if (s->fd >= 0)
			close(s->fd);
		free(s);
		return err;
	}
	*out = s;
	return 0;
}

int syncer_fd(const struct syncer *s)
{
	return s->fd;
}

int syncer_add(struct syncer *s, uint32_t id, int fd, bool all)
{
	int err = -EBUSY;

	pthread_mutex_lock(&s->lock);
	if (s->added - s->taken < SYNCER_MAX) {
		s->jobs[s->added++ % SYNCER_MAX] = (struct job){ .id = id, .fd = fd, .all = all };
		pthread_cond_signal(&s->more);
		err = 0;
	}
	pthread_mutex_unlock(&s->lock);
	return err;
}

bool syncer_next(struct syncer *s, uint32_t *id, int *err)
{
	const struct job *j = NULL;
	uint64_t cnt;

	pthread_mutex_lock(&s->lock);
	if (s->taken != s->done) {
		j = &s->jobs[s->taken++ % SYNCER_MAX];
		*id = j->id;
		*err = j->err;
	}
	/* Before it is empty it stays readable. */
	if (s->taken == s->done && read(s->fd, &cnt, sizeof(cnt)) < 0)
		cnt = 0;
	pthread_mutex_unlock(&s->lock);
	return j;
}
