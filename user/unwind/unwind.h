/* SPDX-License-Identifier: GPL-2.0 */
/*
 * User stacks from a copy of their bytes: the return addresses, by the call frame information of the files
 * that are mapped, by frame pointers where there is none.
 */
#ifndef UNWIND_UNWIND_H
#define UNWIND_UNWIND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define UNWIND_FRAMES_MAX	127

struct mapped_files;
struct process_maps;
struct unwinder;

enum unwind_verdict {
	UNWIND_WHOLE,		/* down to where the thread began */
	UNWIND_CUT,		/* there is more than was copied, or more than UNWIND_FRAMES_MAX frames */
	UNWIND_UNMAPPED,	/* the last address is in no mapping that is known */
	UNWIND_NO_RULE,		/* the last address has neither a rule nor a frame pointer */
	UNWIND_NO_USER,		/* there was no user part */
	UNWIND_VERDICT_CNT
};

struct unwind_regs {
	uint64_t ip, sp, bp, lr;	/* arm64: pc, sp, x29, x30; lr elsewhere: not used */
};

/* A return address that is on the stack no more: the return is probed, and goes by way of the kernel. */
struct unwind_return {
	uint64_t at, ip;	/* where it was (a link register: the end of the stack then), and what it was */
};

struct unwind_input {
	uint64_t process;	/* koid */
	uint64_t ts;		/* CLOCK_BOOTTIME */
	struct unwind_regs regs;
	const void *stack;	/* what was at regs.sp */
	size_t stack_bytes;
	const uint64_t *fp;	/* the kernel's own walk by frame pointers, innermost first, regs.ip being the first */
	unsigned int fp_cnt;
	const struct unwind_return *returns;	/* innermost first */
	unsigned int returns_cnt;
};

struct unwind_frame {
	uint64_t pc;
	uint64_t offset;	/* of @pc in the file */
	uint32_t file;		/* of mapped_files; MAPPED_FILE_NONE: not in a file, or not mapped */
	bool is_call;		/* @pc is a return address: what called is before it, so look up pc - 1 */
};

/* Borrows both. 0 or -errno; -ENOTSUP: not for this machine. */
int unwinder_open(struct unwinder **out, struct mapped_files *files, struct process_maps *maps);
/* The number of frames, innermost first. It reads files, but writes none; @in may hold anything. */
unsigned int unwinder_unwind(struct unwinder *u, const struct unwind_input *in,
			     struct unwind_frame frames[UNWIND_FRAMES_MAX], enum unwind_verdict *verdict);
/* NULL is fine. */
void unwinder_close(struct unwinder *u);

#endif
