/* SPDX-License-Identifier: GPL-2.0 */
/*
 * States of threads of which the trace says nothing else.
 */
#ifndef BPF_ABI_TASK_STATE_H
#define BPF_ABI_TASK_STATE_H

#include <linux/types.h>

/*
 * A thread without a record when the program that iterates over all threads
 * reached it. It did not run since its CPU's recording began, and was not woken.
 */
struct thread_state {
	__u64 koid;
	__u64 since_ns;		/* right before the first record of the CPU on which it ran last; 0: it has none */
	__u32 tid;
	__u32 cpu;
	__s32 prio;
	__u32 index;		/* of its state, as the kernel numbers them */
};

#endif
