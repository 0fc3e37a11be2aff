/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Whether the ids of /proc are those of the kernel.
 */
#ifndef KERNEL_PID_NAMESPACE_H
#define KERNEL_PID_NAMESPACE_H

#include <stdbool.h>
#include <stdint.h>

/* The inode number of this process's PID namespace; 0: not known. */
uint64_t pid_namespace_number(void);
/*
 * Does /proc show the ids that the kernel itself uses? Not inside of a PID namespace, where
 * numbers in /proc are those of other threads.
 */
bool pid_namespace_is_initial(void);

#endif
