/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Kernels on which a thread may be preempted inside of a tracepoint, and so inside of its BPF programs. Until it goes on, the
 * kernel skips that program for all other threads on that CPU, and a record that it has reserved in a ring and not submitted
 * holds up those after it.
 */
#ifndef KERNEL_PREEMPTIBLE_H
#define KERNEL_PREEMPTIBLE_H

#include <stdbool.h>

/* From 7.0 on, by uname -r: nothing in BTF says whether tracepoints are called under SRCU or with preemption off. */
bool kernel_tracepoints_are_preemptible(void);

#endif
