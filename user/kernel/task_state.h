/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a thread does at this moment, as /proc says.
 */
#ifndef KERNEL_TASK_STATE_H
#define KERNEL_TASK_STATE_H

#include <stddef.h>
#include <sys/types.h>

/* The state in @stat, the text of /proc/PID/stat or its beginning: "PID (NAME) STATE ..."; '?' if there is none. */
char task_state_parse(const char *stat);
/* The function of the kernel in which thread @tid of @pid waits; an empty text: it does not, or that is not known. */
void task_waits_in(pid_t pid, pid_t tid, char *where, size_t size);

#endif
