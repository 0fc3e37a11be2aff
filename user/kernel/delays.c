// SPDX-License-Identifier: GPL-2.0
/*
 * What grace_wait() waits for is a grace period. The buffer of CPU N in a tracefs instance, if it is
 * resized from another CPU, is so by a worker of CPU N. Who waits for either cannot be killed, so it is a process of
 * its own; and while one of its threads waits another one goes on with the next CPUs in another instance.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "delays.h"
#include "base/affinity.h"
#include "base/clock.h"
#include "base/side_process.h"
#include "grace.h"
#include "tracefs.h"

#define NS_PER_MS	1000000ULL
#define PATH_BYTES	512
#define THREADS_MAX	16		/* instances; each has a buffer for every CPU */
#define STUCK_NS	(100 * NS_PER_MS)
#define STACK_BYTES	(64U << 10)
#define SMALL_KIB	8
#define LARGE_KIB	16

/* CLOCK_MONOTONIC; 0: not yet. */
struct times {
	atomic_uint_fast64_t begin_ns, end_ns;
	atomic_bool failed;
};

/* Between the process that measures and the one that asked. */
struct shared {
	size_t bytes;
	atomic_uint_fast64_t made_ns;	/* when there was an instance, CLOCK_MONOTONIC; 0: not yet */
	atomic_bool removed;		/* all is done and nothing is left */
	struct times grace;
	struct times work[];
};

struct measuring {
	struct shared *shared;
	const uint32_t *cpus;
	unsigned int cpus_cnt;
	char instances[PATH_BYTES / 2];	/* "": work items cannot be measured */
	atomic_uint next;		/* the CPU that a thread takes next */
	atomic_uint making;		/* threads that make their instance */
};

/* ---- in the process that measures -------------------------------------------------------------- */

static void *measure_grace(void *ctx)
{
	struct times *t = &((struct measuring *)ctx)->shared->grace;

	atomic_store(&t->begin_ns, clock_ns(CLOCK_MONOTONIC));
	if (grace_wait())
		atomic_store(&t->failed, true);
	else
		atomic_store(&t->end_ns, clock_ns(CLOCK_MONOTONIC));
	return NULL;
}

static int open_size(const char *dir, uint32_t cpu, unsigned int *kib)
{
	char path[PATH_BYTES + 64], text[32] = "";
	int fd;

	snprintf(path, sizeof(path), "%s/per_cpu/cpu%u/buffer_size_kb", dir, cpu);
	fd = open(path, O_RDWR | O_CLOEXEC);
	if (fd < 0 || pread(fd, text, sizeof(text) - 1, 0) <= 0)
		return fd;
	*kib = strtoul(text, NULL, 10);
	return fd;
}

static void measure_one(struct times *t, const char *dir, uint32_t cpu)
{
	unsigned int kib = 0;
	char text[16];
	const int fd = open_size(dir, cpu, &kib);
	const int len = snprintf(text, sizeof(text), "%d", kib == SMALL_KIB ? LARGE_KIB : SMALL_KIB);

	atomic_store(&t->begin_ns, clock_ns(CLOCK_MONOTONIC));
	if (fd < 0 || write(fd, text, len) != len)
		atomic_store(&t->failed, true);
	else
		atomic_store(&t->end_ns, clock_ns(CLOCK_MONOTONIC));
	if (fd >= 0)
		close(fd);
}

static void *measure_work(void *ctx)
{
	struct measuring *m = ctx;
	struct affinity all;
	char name[64], dir[PATH_BYTES];
	unsigned int i;
	bool made;

	/* By the name that the instances of recorders have, so that the next one removes what is left of them. */
	tracefs_instance_name(name, sizeof(name), gettid());
	snprintf(dir, sizeof(dir), "%s/%s", m->instances, name);
	atomic_fetch_add(&m->making, 1);
	made = !affinity_get(&all) && !mkdir(dir, 0700);
	if (made && !atomic_load(&m->shared->made_ns))
		atomic_store(&m->shared->made_ns, clock_ns(CLOCK_MONOTONIC));
	atomic_fetch_sub(&m->making, 1);
	while ((i = atomic_fetch_add(&m->next, 1)) < m->cpus_cnt) {
		if (made && !affinity_avoid(&all, m->cpus[i]))
			measure_one(&m->shared->work[i], dir, m->cpus[i]);
		else
			atomic_store(&m->shared->work[i].failed, true);
	}
	if (made)
		rmdir(dir);
	affinity_free(&all);
	return NULL;
}

static bool begin_thread(pthread_t *thread, void *(*fn)(void *), struct measuring *m)
{
	pthread_attr_t attr;
	int err;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, STACK_BYTES);
	err = pthread_create(thread, &attr, fn, m);
	pthread_attr_destroy(&attr);
	return !err;
}

/*
 * Another thread goes on where all that there are wait: for a worker, or for a CPU, as to measure one a thread has to
 * run on another, which a real-time thread may have. Not where one makes its instance: the kernel makes one at a time,
 * and each may take it a second of work.
 */
static unsigned int begin_workers(struct measuring *m, pthread_t threads[THREADS_MAX])
{
	uint64_t moved_ns = 0;
	unsigned int cnt = 0, at = 0, now_at;	/* the first one at once */

	while ((now_at = atomic_load(&m->next)) < m->cpus_cnt && cnt < THREADS_MAX) {
		if (now_at != at || atomic_load(&m->making)) {
			moved_ns = clock_ns(CLOCK_MONOTONIC);
			at = now_at;
		}
		if (clock_ns(CLOCK_MONOTONIC) - moved_ns > STUCK_NS) {
			if (!begin_thread(&threads[cnt], measure_work, m))
				break;
			cnt++;
			moved_ns = clock_ns(CLOCK_MONOTONIC);
		}
		usleep(1000);
	}
	return cnt;
}

static void measure(struct measuring *m)
{
	pthread_t grace, threads[THREADS_MAX];
	bool has_grace;
	unsigned int cnt;

	side_process_begin("kfxt-delays", false, NULL, 0);
	has_grace = begin_thread(&grace, measure_grace, m);
	if (!has_grace)
		atomic_store(&m->shared->grace.failed, true);
	cnt = m->instances[0] ? begin_workers(m, threads) : 0;
	while (cnt)
		pthread_join(threads[--cnt], NULL);
	if (has_grace)
		pthread_join(grace, NULL);
	atomic_store(&m->shared->removed, true);
	_exit(0);
}

/* ---- in the one that asked ---------------------------------------------------------------------- */

static struct delay delay_of(const struct times *t, uint64_t now_ns)
{
	const uint64_t begin_ns = atomic_load(&t->begin_ns), end_ns = atomic_load(&t->end_ns);

	if (!begin_ns || atomic_load(&t->failed))
		return (struct delay){ .known = false };
	return (struct delay){ true, end_ns, (end_ns ?: now_ns) - begin_ns };
}

static struct shared *share(unsigned int cpus_cnt)
{
	const size_t bytes = sizeof(struct shared) + cpus_cnt * sizeof(struct times);
	struct shared *s = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (s == MAP_FAILED)
		return NULL;
	s->bytes = bytes;
	return s;
}

static void wait_for(pid_t pid, struct shared *s, unsigned int limit_ms)
{
	const uint64_t begin_ns = clock_ns(CLOCK_MONOTONIC);

	while (waitpid(pid, NULL, WNOHANG) == 0 &&
	       clock_ns(CLOCK_MONOTONIC) < (atomic_load(&s->made_ns) ?: begin_ns) + limit_ms * NS_PER_MS)
		usleep(1000);
}

int delays_measure(struct delays *d, const uint32_t *cpus, unsigned int cpus_cnt, unsigned int limit_ms)
{
	struct measuring m = { .shared = share(cpus_cnt), .cpus = cpus, .cpus_cnt = cpus_cnt };
	uint64_t now_ns;
	unsigned int i;
	pid_t pid;

	*d = (struct delays){ .cpus_cnt = cpus_cnt, .work = calloc(cpus_cnt, sizeof(*d->work)) };
	if (!m.shared || !d->work)
		return -ENOMEM;
	if (tracefs_instances(m.instances, sizeof(m.instances)))
		m.instances[0] = 0;
	pid = fork();
	if (!pid)
		measure(&m);
	if (pid < 0)
		return -errno;
	wait_for(pid, m.shared, limit_ms);
	now_ns = clock_ns(CLOCK_MONOTONIC);
	d->grace = delay_of(&m.shared->grace, now_ns);
	for (i = 0; i < cpus_cnt; i++)
		d->work[i] = delay_of(&m.shared->work[i], now_ns);
	d->behind = atomic_load(&m.shared->removed) ? 0 : pid;
	munmap(m.shared, m.shared->bytes);
	return 0;
}

void delays_free(struct delays *d)
{
	free(d->work);
	*d = (struct delays){ 0 };
}
