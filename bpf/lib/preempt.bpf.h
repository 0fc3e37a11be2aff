/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Programs that are not to be preempted.
 */
#ifndef BPF_LIB_PREEMPT_BPF_H
#define BPF_LIB_PREEMPT_BPF_H

#include "compat.bpf.h"

/* bpf_preempt_disable() and bpf_preempt_enable(), since 6.10; put in their places as rdonly_cast() is. */
static void (*const preempt_disable)(void) = (void *)CALL_PREEMPT_DISABLE;
static void (*const preempt_enable)(void) = (void *)CALL_PREEMPT_ENABLE;

/*
 * From here to unlock_cpu() the program is not preempted: tracepoints can be on 7.x, and a record that is reserved and not
 * submitted holds up all after it in the ring, for as long as its thread waits for a CPU. Only in programs in which the recorder
 * puts it in place, and not in functions that they call; see put_preemption_off().
 */
static __always_inline void lock_cpu(void)
{
	if (PATCH_CONST(NUMBER_PREEMPTIBLE))
		preempt_disable();
}

static __always_inline void unlock_cpu(void)
{
	if (PATCH_CONST(NUMBER_PREEMPTIBLE))
		preempt_enable();
}

#endif
