/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Deferred records of system calls, and calls that have not returned.
 */
#ifndef BPF_ABI_SYSCALL_H
#define BPF_ABI_SYSCALL_H

#include <linux/types.h>

#include "raw.h"

/* A system call, from entry to exit; its time is that of the entry. */
enum syscall_word {
	SYSCALL_END_TS	= RAW_WORDS,
	SYSCALL_CALL,		/* SYSCALL_*() below; and SYSCALL_UNFINISHED */
	SYSCALL_RETURN,
	SYSCALL_TEXT_LEN,	/* of the first text, NUL included, and of the second, 32 bits each */
	SYSCALL_ARGS,
	SYSCALL_ARGS_MAX = 6,
	SYSCALL_TEXT	= SYSCALL_ARGS + SYSCALL_ARGS_MAX,	/* the second one after the first, at a whole word */
	SYSCALL_TEXTS_MAX = 2,
	SYSCALL_TEXT_MAX = 256,			/* bytes that are written */
	SYSCALL_TEXT_BYTES = SYSCALL_TEXT_MAX + 8,	/* that are read, to see whether there are more */
};

/* Which call: its number, by the table of 32-bit programs with SYSCALL_COMPAT. */
#define SYSCALL_COMPAT		(1ULL << 32)
#define SYSCALL_OPEN		(1ULL << 33)	/* in open_syscall only */
#define SYSCALL_UNFINISHED	(1ULL << 34)	/* in a record only: it did not return */
#define SYSCALL_CONTINUES	(1ULL << 35)	/* the same: it will be written as a whole */
#define SYSCALL_NR(call)	((__s32)(call))
#define SYSCALL_NUMBERS		1024	/* known; what is beyond is no call of any kernel so far */

/* What is known of a number: */
#define SYSCALL_SELECTED		0x8000
#define SYSCALL_EXEC		0x4000	/* the memory of its arguments is gone at exit, and its number may be */
#define SYSCALL_PROBE	0x2000	/* made by the trampoline of a uprobe, not by the program: filtered */
#define SYSCALL_TEXT_ARG(i)	(3 * (i)), 3	/* which argument is a text, plus 1; 0: none */

/* A thread's slot, its own from its first call on, that of a thread until it ends. */
struct open_syscall {
	__u64 task;	/* address of its task_struct, which exec does not change; 0: free */
	__u64 call;	/* 0: none is open */
	__u64 ts;	/* entry or, if none is open, the latest exit: times of one thread never repeat */
	__u64 process;	/* koids */
	__u64 thread;
	__u64 args[SYSCALL_ARGS_MAX];
};
#define OPEN_SYSCALLS_SHIFT	16

#endif
