/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Threads of libraries: how they are begun, and what they call at their begin and at their end, and who begins them
 * then.
 */
#ifndef BASE_THREAD_HOOKS_H
#define BASE_THREAD_HOOKS_H

#include <pthread.h>
#include <signal.h>
#include <stddef.h>

#define THREAD_STACK_BYTES	(1U << 20)	/* the usual 8 MiB of each are too much where address space is limited */

struct thread_hooks {
	int (*begin)(void *ctx);	/* 0 or -errno, with which the thread does no work; NULL: nothing */
	void (*end)(void *ctx);		/* after an error of begin(), too; NULL: nothing */
	void (*created)(void *ctx, pthread_t thread);	/* by who has begun it; NULL: nothing */
	void *ctx;
};

/* Begins a thread that takes no signals: those are of who begins it. 0 or -errno: -EAGAIN for want of memory, too. */
static inline int thread_begin(pthread_t *thread, void *(*run)(void *), void *arg)
{
	sigset_t all, before;
	pthread_attr_t attr;
	int err;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, THREAD_STACK_BYTES);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	err = pthread_create(thread, &attr, run, arg);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attr);
	return -err;
}

static inline int thread_hooks_begin(const struct thread_hooks *h)
{
	return h->begin ? h->begin(h->ctx) : 0;
}

static inline void thread_hooks_end(const struct thread_hooks *h)
{
	if (h->end)
		h->end(h->ctx);
}

static inline void thread_hooks_created(const struct thread_hooks *h, pthread_t thread)
{
	if (h->created)
		h->created(h->ctx, thread);
}

#endif
