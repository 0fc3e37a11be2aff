/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The CPUs that the calling thread may run on.
 */
#ifndef BASE_AFFINITY_H
#define BASE_AFFINITY_H

#include <sched.h>
#include <stddef.h>
#include <sys/types.h>

struct affinity {
	cpu_set_t *set;
	size_t bytes;
};

/* As they are, for affinity_set(); to be freed by affinity_free(), after a failure, too. 0 or -errno. */
int affinity_get(struct affinity *a);
int affinity_set(const struct affinity *a);
/* Those of the thread @tid, which is 0 for the calling one. 0 or -errno. */
int affinity_set_of(pid_t tid, const struct affinity *a);
/* That CPU alone. 0 or -errno. */
int affinity_pin(unsigned int cpu);
/* Those of @a but that CPU. 0 or -errno; -EINVAL: there is none. */
int affinity_avoid(const struct affinity *a, unsigned int cpu);
void affinity_free(struct affinity *a);

#endif
