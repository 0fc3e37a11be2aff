// SPDX-License-Identifier: GPL-2.0
/*
 * Results are in memory that both have; a byte through a pipe says that there is one more.
 */
#include "check_trials.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/poll_until.h"
#include "base/side_process.h"
#include "capture/features.h"

#define NS_PER_MS	1000000ULL

struct result {
	bool have;
	char why[256];
};

struct check_trials {
	pid_t pid;
	int done;		/* our end of the pipe */
	unsigned int cnt;	/* features */
	unsigned int known;	/* so many of them, the first ones */
	bool given_up, ended;
	struct result *results;	/* shared */
};

static void try_all(const struct check_trials *t, const struct source_ops *const *sources, int done)
{
	int *const kept[] = { &done };
	unsigned int i;

	if (side_process_begin("kfxt-check", false, kept, 1))
		_exit(1);
	for (i = 0; i < t->cnt; i++) {
		t->results[i].have = feature_have(feature_at(sources, i), sources, t->results[i].why, sizeof(t->results[i].why));
		if (write(done, "", 1) != 1)
			_exit(1);
	}
	_exit(0);
}

int check_trials_open(struct check_trials **out, const struct source_ops *const *sources)
{
	struct check_trials *t = calloc(1, sizeof(*t));
	int ends[2] = { -1, -1 }, err = 0;

	if (!t)
		return -ENOMEM;
	while (feature_at(sources, t->cnt))
		t->cnt++;
	t->results = mmap(NULL, t->cnt * sizeof(*t->results), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	t->done = -1;
	if (t->results == MAP_FAILED || pipe2(ends, O_CLOEXEC))
		err = -errno;
	t->done = ends[0];
	t->pid = err ? 0 : fork();
	if (!err && !t->pid)
		try_all(t, sources, ends[1]);
	if (ends[1] >= 0)
		close(ends[1]);
	if (t->pid < 0) {
		err = -errno;
		t->pid = 0;
	}
	if (err) {
		check_trials_close(t);
		return err;
	}
	*out = t;
	return 0;
}

/* One more result, or the end of all. */
static void wait_for_one(struct check_trials *t, unsigned int limit_ms)
{
	struct pollfd fd = { .fd = t->done, .events = POLLIN };
	char c;

	if (poll_until(&fd, 1, clock_ns(CLOCK_MONOTONIC) + limit_ms * NS_PER_MS) <= 0)
		t->given_up = true;
	else if (read(t->done, &c, 1) == 1)
		t->known++;
	else
		t->ended = true;
}

bool check_trials_have(struct check_trials *t, unsigned int i, unsigned int limit_ms, char *why, size_t size)
{
	while (t->known <= i && !t->given_up && !t->ended)
		wait_for_one(t, limit_ms);
	if (t->known > i) {
		snprintf(why, size, "%s", t->results[i].why);
		return t->results[i].have;
	}
	if (t->ended)
		snprintf(why, size, "not tried: the process that tries it was ended");
	else if (t->known == i)
		snprintf(why, size, "not known: trying it has not ended, the kernel lets it wait");
	else
		snprintf(why, size, "not tried: the one before has not ended");
	return false;
}

pid_t check_trials_close(struct check_trials *t)
{
	pid_t left;

	if (!t)
		return 0;
	if (t->done >= 0)
		close(t->done);
	if (t->results != MAP_FAILED)
		munmap(t->results, t->cnt * sizeof(*t->results));
	left = t->pid;
	if (left && (!t->given_up ? waitpid(left, NULL, 0) : waitpid(left, NULL, WNOHANG)) == left)
		left = 0;
	free(t);
	return left;
}
