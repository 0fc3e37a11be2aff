/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A program that runs under ptrace(2), as input for the unwinder: a copy of its stack, its registers and
 * what a kernel would find by frame pointers.
 */
#ifndef UNWIND_TRACED_H
#define UNWIND_TRACED_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "unwind/unwind.h"

#define TRACED_STACK_BYTES	(256U << 10)

struct traced {
	pid_t pid;		/* of the process */
	pid_t tid;		/* of the thread that stopped last */
	struct unwind_input in;	/* of the last traced_look() */
	uint64_t fp[UNWIND_FRAMES_MAX];
	char stack[TRACED_STACK_BYTES];
};

/*
 * Starts `@path @arg`, stopped before its first instruction, in the root @root; NULL: ours. It ends with the
 * test, or when another one is started.
 */
struct traced *traced_start(const char *root, const char *path, const char *arg);
/* Lets it run until one of its threads is stopped by SIGSTOP or SIGTRAP; other signals reach it. */
void traced_run(struct traced *t);
/* One instruction; false: it has ended. */
bool traced_step(struct traced *t);
/* Fills in t->in, with at most @stack_bytes of the stack. */
void traced_look(struct traced *t, size_t stack_bytes);
void traced_end(struct traced *t);

#endif
