/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The states of threads: the kernel's, and FXT's for them.
 */
#ifndef BPF_LIB_STATE_BPF_H
#define BPF_LIB_STATE_BPF_H

#include "../../user/fxt/format.h"
#include "kernel.bpf.h"

/* FXT has no D, I, P or R+: "Thread States", by the kernel's task state index, a nibble each. */
#define FXT_STATES \
	(FXT_PUT(FXT_STATE_RUNNING, 0, 4) | FXT_PUT(FXT_STATE_BLOCKED, 4, 4) |		/* R S */ \
	 FXT_PUT(FXT_STATE_BLOCKED, 8, 4) | FXT_PUT(FXT_STATE_SUSPENDED, 12, 4) |	/* D T */ \
	 FXT_PUT(FXT_STATE_SUSPENDED, 16, 4) | FXT_PUT(FXT_STATE_DEAD, 20, 4) |		/* t X */ \
	 FXT_PUT(FXT_STATE_DYING, 24, 4) | FXT_PUT(FXT_STATE_BLOCKED, 28, 4) |		/* Z P */ \
	 FXT_PUT(FXT_STATE_BLOCKED, 32, 4) | FXT_PUT(FXT_STATE_RUNNING, 36, 4))		/* I R+ */

enum task_state_index {
	STATE_R = 0,
	STATE_S = 1,
	STATE_D = 2,
	STATE_X = 5,
	STATE_Z = 6,
	STATE_I = 8,
	STATE_R_PLUS = 9,
};

#define STATES_DEAD	(1U << STATE_X | 1U << STATE_Z)
#define STATES_ASLEEP	~(STATES_DEAD | 1U << STATE_R | 1U << STATE_R_PLUS)

/* Of those that neither run nor sleep as most do. */
static __noinline int rare_state_index(struct task_struct *prev, __u32 state)
{
	__u32 report = (state | prev->exit_state) & TASK_REPORT;

	if (report == TASK_INTERRUPTIBLE)
		return STATE_S;
	if (state & (TASK_RTLOCK_WAIT | TASK_FROZEN))
		return STATE_D;
	if ((state & TASK_IDLE) == TASK_IDLE)
		return STATE_I;
#pragma unroll
	for (__u32 i = 7; i > 0; i--)
		if (report & (1U << (i - 1)))
			return i;
	return STATE_R;
}

/*
 * The kernel's own reading of a task's state (__task_state_index()), with one
 * correction: before 6.13 (commit 7d5265ffcd8b) the tracepoint reported sleep
 * for a thread that a pending signal had kept running.
 */
static __always_inline __u32 state_index(bool preempt, struct task_struct *prev, __u32 state)
{
	if (preempt)
		return STATE_R_PLUS;
	if (!state || (!prev->__state && prev->on_rq))
		return STATE_R;
	return state == TASK_INTERRUPTIBLE ? STATE_S : rare_state_index(prev, state);
}

#endif
