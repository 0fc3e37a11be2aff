// SPDX-License-Identifier: GPL-2.0
#include "cmdlines.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define NS_PER_S	1000000000L
#define NS_PER_MS	1000000L

/* A thread. */
struct reader {
	pthread_t thread;
	struct thread_hooks hooks;
	bool stuck;			/* given up, and what it has read since then is not taken yet */
	pthread_mutex_t lock;
	pthread_cond_t changed;
	/* Under the lock. While @asked the rest is the thread's, but for what is before @done. */
	bool begun, ready, asked, given_up, closing, left;
	size_t cnt, done;
	uint32_t pids[CMDLINES_AT_ONCE];
	ssize_t lens[CMDLINES_AT_ONCE];
	size_t places[CMDLINES_AT_ONCE];	/* in @text */
	char text[CMDLINES_AT_ONCE * (CMDLINE_BYTES_MAX + 1)];
};

struct cmdlines {
	struct reader *readers[CMDLINES_THREADS];
	ssize_t lens[CMDLINES_AT_ONCE];
	const char *texts[CMDLINES_AT_ONCE];
};

/* ---- the thread ---------------------------------------------------------- */

static ssize_t read_one(uint32_t pid, char *text)
{
	ssize_t len = 0, got = 1;
	char path[32];
	int fd;

	snprintf(path, sizeof(path), "/proc/%u/cmdline", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	while (got > 0 && len < CMDLINE_BYTES_MAX) {
		got = read(fd, text + len, CMDLINE_BYTES_MAX - len);
		if (got > 0)
			len += got;
	}
	if (got < 0 && !len)
		len = -errno;
	close(fd);
	text[len > 0 ? len : 0] = 0;
	return len;
}

/* With the lock, but for the reading. */
static void read_all(struct reader *r, int err)
{
	size_t place = 0;
	ssize_t len;

	/* The one that it is given up for is read all the same. */
	do {
		pthread_mutex_unlock(&r->lock);
		len = err ? err : read_one(r->pids[r->done], r->text + place);
		pthread_mutex_lock(&r->lock);
		r->lens[r->done] = len;
		r->places[r->done++] = place;
		place += len > 0 ? len + 1 : 0;
	} while (r->done < r->cnt && !r->given_up && !r->closing);
}

static void destroy(struct reader *r)
{
	pthread_cond_destroy(&r->changed);
	pthread_mutex_destroy(&r->lock);
	free(r);
}

static void *work(void *arg)
{
	struct reader *r = arg;
	bool left;
	int err = 0;

	pthread_setname_np(pthread_self(), "kfxt-cmdlines");
	pthread_mutex_lock(&r->lock);
	r->begun = !r->closing;
	if (r->begun) {
		pthread_mutex_unlock(&r->lock);
		err = thread_hooks_begin(&r->hooks);
		pthread_mutex_lock(&r->lock);
		r->ready = true;
	}
	while (!r->closing) {
		if (!r->asked) {
			pthread_cond_wait(&r->changed, &r->lock);
			continue;
		}
		read_all(r, err);
		r->asked = r->given_up = false;
		pthread_cond_broadcast(&r->changed);
	}
	left = r->left;
	pthread_mutex_unlock(&r->lock);
	/* What the hooks work with may be gone. */
	if (left)
		destroy(r);
	else
		thread_hooks_end(&r->hooks);
	return NULL;
}

static int start(struct reader *r)
{
	int err = thread_begin(&r->thread, work, r);

	if (!err)
		thread_hooks_created(&r->hooks, r->thread);
	return err;
}

/* ---- who asks it --------------------------------------------------------- */

static int open_reader(struct reader **out, const struct thread_hooks *hooks)
{
	struct reader *r = calloc(1, sizeof(*r));
	pthread_condattr_t attr;
	int err;

	if (!r)
		return -ENOMEM;
	r->hooks = *hooks;
	pthread_mutex_init(&r->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&r->changed, &attr);
	pthread_condattr_destroy(&attr);
	err = start(r);
	if (err)
		destroy(r);
	else
		*out = r;
	return err;
}

/* One that has not begun, or is reading, may take any time to end: it is left. */
static void close_reader(struct reader *r)
{
	const pthread_t thread = r->thread;
	bool left;

	pthread_mutex_lock(&r->lock);
	r->closing = true;
	left = r->left = !r->begun || (r->ready && r->asked);
	pthread_cond_broadcast(&r->changed);
	pthread_mutex_unlock(&r->lock);
	if (left) {
		pthread_detach(thread);
		return;
	}
	pthread_join(thread, NULL);
	destroy(r);
}

static struct timespec deadline(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	t.tv_nsec += CMDLINES_WAIT_MS * NS_PER_MS;
	t.tv_sec += t.tv_nsec / NS_PER_S;
	t.tv_nsec %= NS_PER_S;
	return t;
}

/* Until the thread is ready, or has read nothing for that long. */
static void wait_for(struct reader *r)
{
	struct timespec until;
	size_t before;
	int err;

	do {
		before = r->done;
		until = deadline();
		for (err = 0; r->asked && !err; )
			err = pthread_cond_timedwait(&r->changed, &r->lock, &until);
	} while (r->asked && r->done != before);
}

/* How many of them are read. If that is not all, the next one is still being read. */
static size_t read_by(struct reader *r, const uint32_t *pids, size_t cnt)
{
	size_t done;

	pthread_mutex_lock(&r->lock);
	memcpy(r->pids, pids, cnt * sizeof(*pids));
	r->cnt = cnt;
	r->done = 0;
	r->asked = true;
	pthread_cond_broadcast(&r->changed);
	wait_for(r);
	r->stuck = r->given_up = r->asked;
	done = r->done;
	pthread_mutex_unlock(&r->lock);
	return done;
}

static bool is_reading(struct reader *r)
{
	bool asked;

	pthread_mutex_lock(&r->lock);
	asked = r->asked;
	pthread_mutex_unlock(&r->lock);
	return asked;
}

/* ---- all of them --------------------------------------------------------- */

int cmdlines_open(struct cmdlines **out, const struct thread_hooks *hooks)
{
	struct cmdlines *c = calloc(1, sizeof(*c));
	unsigned int i;
	int err = c ? 0 : -ENOMEM;

	for (i = 0; !err && i < CMDLINES_THREADS; i++)
		err = open_reader(&c->readers[i], hooks);
	if (err)
		cmdlines_close(c);
	else
		*out = c;
	return err;
}

static struct reader *free_reader(const struct cmdlines *c)
{
	unsigned int i;

	for (i = 0; i < CMDLINES_THREADS; i++)
		if (!c->readers[i]->stuck)
			return c->readers[i];
	return NULL;
}

void cmdlines_read(struct cmdlines *c, const uint32_t *pids, size_t cnt)
{
	size_t at = 0, begin, end;
	struct reader *r;

	while (at < cnt && (r = free_reader(c))) {
		begin = at;
		end = begin + read_by(r, pids + begin, cnt - begin);
		for (; at < end; at++) {
			c->lens[at] = r->lens[at - begin];
			c->texts[at] = r->text + r->places[at - begin];
		}
		if (r->stuck)
			c->lens[at++] = -EBUSY;
	}
	while (at < cnt)
		c->lens[at++] = -EBUSY;
}

ssize_t cmdlines_get(const struct cmdlines *c, size_t i, const char **text)
{
	*text = c->texts[i];
	return c->lens[i];
}

bool cmdlines_late(struct cmdlines *c, uint32_t *pid, ssize_t *len, const char **text)
{
	struct reader *r;
	unsigned int i;
	size_t last;

	for (i = 0; i < CMDLINES_THREADS && !(c->readers[i]->stuck && !is_reading(c->readers[i])); i++)
		;
	if (i == CMDLINES_THREADS)
		return false;
	r = c->readers[i];
	r->stuck = false;
	last = r->done - 1;
	*pid = r->pids[last];
	*len = r->lens[last];
	*text = r->text + r->places[last];
	return true;
}

bool cmdlines_is_stuck(const struct cmdlines *c, uint32_t pid)
{
	unsigned int i;
	bool is_it = false;

	for (i = 0; i < CMDLINES_THREADS && !is_it; i++) {
		struct reader *r = c->readers[i];

		pthread_mutex_lock(&r->lock);
		is_it = r->stuck && r->pids[r->asked ? r->done : r->done - 1] == pid;
		pthread_mutex_unlock(&r->lock);
	}
	return is_it;
}

void cmdlines_close(struct cmdlines *c)
{
	unsigned int i;

	if (!c)
		return;
	for (i = 0; i < CMDLINES_THREADS; i++)
		if (c->readers[i])
			close_reader(c->readers[i]);
	free(c);
}
