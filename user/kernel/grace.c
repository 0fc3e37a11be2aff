// SPDX-License-Identifier: GPL-2.0
/* See grace.h. Kernel: kernel/sched/membarrier.c, sync_runqueues_membarrier_state() (227a4aadc75b, 5.4). */
#include "grace.h"

#include <errno.h>
#include <linux/membarrier.h>
#include <pthread.h>
#include <semaphore.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

#define CNT(a)	(sizeof(a) / sizeof((a)[0]))

static int membarrier(int cmd)
{
	return syscall(SYS_membarrier, cmd, 0, 0) ? -errno : 0;
}

static void *wait_for_end(void *ctx)
{
	while (sem_wait(ctx))
		;
	return NULL;
}

/* The kind that no call has registered for; one that the kernel does not have is passed over. */
static int register_next(void)
{
	static const int kinds[] = {
		MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED,
		MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED_SYNC_CORE, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED_RSEQ,
	};
	static size_t next;	/* a forked process is registered as well */
	int err = -EINVAL;

	while (err == -EINVAL && next < CNT(kinds))
		err = membarrier(kinds[next++]);
	return err == -EINVAL ? -EOPNOTSUPP : err;
}

int grace_wait_registering(void)
{
	pthread_t other;
	sem_t end;
	int err;

	if (sem_init(&end, 0, 0))
		return -errno;
	err = -pthread_create(&other, NULL, wait_for_end, &end);
	if (!err) {
		err = register_next();
		sem_post(&end);
		pthread_join(other, NULL);
	}
	sem_destroy(&end);
	return err;
}

int grace_wait(void)
{
	int err;

	/* Nothing to be ordered against: it returns at once. */
	if (sysconf(_SC_NPROCESSORS_ONLN) == 1)
		return -EOPNOTSUPP;
	err = membarrier(MEMBARRIER_CMD_GLOBAL);
	return err == -EINVAL ? grace_wait_registering() : err;
}
