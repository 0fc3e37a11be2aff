/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a thread of a library calls at its begin and at its end, and who begins it then.
 */
#ifndef BASE_THREAD_HOOKS_H
#define BASE_THREAD_HOOKS_H

#include <pthread.h>
#include <stddef.h>

struct thread_hooks {
	int (*begin)(void *ctx);	/* 0 or -errno, with which the thread does no work; NULL: nothing */
	void (*end)(void *ctx);		/* after an error of begin(), too; NULL: nothing */
	void (*created)(void *ctx, pthread_t thread);	/* by who has begun it; NULL: nothing */
	void *ctx;
};

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
