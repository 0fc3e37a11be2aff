// SPDX-License-Identifier: GPL-2.0
#include "affinity.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "num.h"

static int alloc(struct affinity *a)
{
	a->bytes = CPU_ALLOC_SIZE(NUM_CPUS_MAX);
	a->set = calloc(1, a->bytes);
	return a->set ? 0 : -ENOMEM;
}

int affinity_get(struct affinity *a)
{
	int err = alloc(a);

	if (!err && sched_getaffinity(0, a->bytes, a->set) < 0)
		err = -errno;
	return err;
}

int affinity_set_of(pid_t tid, const struct affinity *a)
{
	return sched_setaffinity(tid, a->bytes, a->set) ? -errno : 0;
}

int affinity_set(const struct affinity *a)
{
	return affinity_set_of(0, a);
}

int affinity_pin(unsigned int cpu)
{
	struct affinity one;
	int err = alloc(&one);

	if (err)
		return err;
	CPU_SET_S(cpu, one.bytes, one.set);
	err = affinity_set(&one);
	affinity_free(&one);
	return err;
}

int affinity_avoid(const struct affinity *a, unsigned int cpu)
{
	struct affinity others;
	int err = alloc(&others);

	if (err)
		return err;
	memcpy(others.set, a->set, a->bytes);
	CPU_CLR_S(cpu, others.bytes, others.set);
	err = affinity_set(&others);	/* of none the kernel says -EINVAL */
	affinity_free(&others);
	return err;
}

void affinity_free(struct affinity *a)
{
	free(a->set);
	a->set = NULL;
}
