/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Which thread has most of a CPU's time, by /proc.
 */
#ifndef KERNEL_BUSIEST_H
#define KERNEL_BUSIEST_H

#include <stdbool.h>
#include <stdint.h>

struct busiest {
	uint32_t tid;		/* 0: none that is known */
	char comm[64];
	double share;		/* of the time of the look */
	int policy;		/* SCHED_* */
	int priority;		/* real-time; else the nice value */
};

/*
 * Looks for @ms at all threads that ran there last; @out by position in @cpus. A thread of which the kernel hides the
 * time, or that ended meanwhile, is none. 0 or -ENOMEM.
 */
int busiest_find(struct busiest *out, const uint32_t *cpus, unsigned int cpus_cnt, unsigned int ms);

#endif
