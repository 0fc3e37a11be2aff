/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Kernels with CONFIG_PREEMPT_RT. There a timer of a fair thread, so also the timeout of its poll(), expires in a thread,
 * ktimers/N at SCHED_FIFO 1, and so not while a real-time thread has that CPU; that of a real-time thread in the interrupt
 * (__hrtimer_setup_sleeper() of the kernel).
 */
#ifndef KERNEL_PREEMPT_RT_H
#define KERNEL_PREEMPT_RT_H

#include <stdbool.h>

/* By uname -v, which has it on all of these: /sys/kernel/realtime is not everywhere. */
bool kernel_is_preempt_rt(void);

#endif
