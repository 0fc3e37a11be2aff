/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Whether the ids of /proc are those of the kernel.
 */
#ifndef CAPTURE_PID_NAMESPACE_H
#define CAPTURE_PID_NAMESPACE_H

#include <stdbool.h>

/*
 * Does /proc show the ids that the kernel itself uses? Not inside of a PID namespace, where
 * numbers in /proc are those of other threads.
 */
bool pid_namespace_is_initial(void);

#endif
