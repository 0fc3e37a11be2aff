/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Libdwfl's unwinder, as a judge of ours: it reads the process itself, and shares no code with us.
 */
#ifndef UNWIND_DWFL_JUDGE_H
#define UNWIND_DWFL_JUDGE_H

#include <stdint.h>
#include <sys/types.h>

struct dwfl_judge;

/* Of a process that is stopped by ptrace(2). Fails the test if it cannot. */
struct dwfl_judge *dwfl_judge_open(pid_t pid);
/* The frames of thread @tid, at most @max, innermost first; how many. */
unsigned int dwfl_judge_unwind(struct dwfl_judge *j, pid_t tid, uint64_t *pcs, unsigned int max);
void dwfl_judge_close(struct dwfl_judge *j);

#endif
