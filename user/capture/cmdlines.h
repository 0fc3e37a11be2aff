/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Command lines, read by threads of their own for one that must not wait: who reads /proc/PID/cmdline takes the lock of that
 * process' memory map, which somebody may hold for as long as he gets no CPU, or waits for a disk.
 */
#ifndef CAPTURE_CMDLINES_H
#define CAPTURE_CMDLINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/thread_hooks.h"

#define CMDLINE_BYTES_MAX	8192	/* of longer ones so many are read */
#define CMDLINES_AT_ONCE	64U
#define CMDLINES_WAIT_MS	50
#define CMDLINES_THREADS	4U

struct cmdlines;

/* Starts the threads, each with @hooks. 0 or -errno. */
int cmdlines_open(struct cmdlines **out, const struct thread_hooks *hooks);
/*
 * Reads those of @cnt processes, at most CMDLINES_AT_ONCE. One that is not read after CMDLINES_WAIT_MS keeps its thread, and
 * the rest is for another one. With all threads kept it reads none, and does not wait.
 */
void cmdlines_read(struct cmdlines *c, const uint32_t *pids, size_t cnt);
/*
 * Of the @i'th of those: arguments that each end with a NUL, until the next call of another function. Its length; -EBUSY: not
 * read in time, or not tried; or another -errno.
 */
ssize_t cmdlines_get(const struct cmdlines *c, size_t i, const char **text);
/* One that was not read in time, and is now; false: none. *@len and *@text as above. */
bool cmdlines_late(struct cmdlines *c, uint32_t *pid, ssize_t *len, const char **text);
/* Whether a thread is still reading that of @pid. */
bool cmdlines_is_stuck(const struct cmdlines *c, uint32_t pid);
/* Waits for no thread that is kept, or has not begun: such a one ends by itself, or with the process. NULL is fine. */
void cmdlines_close(struct cmdlines *c);

#endif
