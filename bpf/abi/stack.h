/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Samples of stacks: their deferred records, and what their programs and the recorder share.
 */
#ifndef BPF_ABI_STACK_H
#define BPF_ABI_STACK_H

#include <linux/types.h>

#include "ctl.h"
#include "raw.h"

enum stack_kind {
	STACK_CPU,		/* of a thread that runs */
	STACK_OFF_CPU,		/* of a thread that slept, once it runs again */
	STACK_WAKER,		/* of the thread that ends a sleep */
	STACK_KIND_CNT
};

/*
 * The words of a sample; RAW_TS is when it was taken or, of STACK_OFF_CPU, when the sleep began.
 * RAW_PROCESS and RAW_THREAD are of the thread whose stack it is. Frames follow, innermost first: the
 * kernel's, those of user mode by frame pointers. Then come return addresses that are on the user stack
 * no more, since those returns are probed: two words each, where it was and what it was. Then the bytes
 * of the user stack from its end at STACK_SP on, up to a whole word.
 */
enum stack_word {
	STACK_WHAT = RAW_WORDS,
	STACK_WEIGHT,		/* ns: the period, or how long the thread slept */
	STACK_OTHER,		/* STACK_WAKER: the thread that was woken, and its process, as koids */
	STACK_OTHER_PROCESS,
	STACK_IP,		/* registers of user mode, 0 if there is none; STACK_LR: arm64 */
	STACK_SP,
	STACK_BP,
	STACK_LR,
	STACK_COMM,		/* STACK_WAKER: the name of the thread, TASK_COMM_LEN bytes */
	STACK_COMM_WORDS = 2,
	STACK_COUNTS = STACK_COMM + STACK_COMM_WORDS,
	STACK_WORDS,
};
#define STACK_F_KIND		0, 8	/* of STACK_WHAT: enum stack_kind */
#define STACK_F_CPU		8, 16
#define STACK_F_FLAGS		32, 32
#define STACK_USER_MODE		1	/* it ran in user mode when it was sampled */
#define STACK_INTERRUPT		2	/* STACK_WAKER: woken by an interrupt; the thread is the one that it interrupted */
#define STACK_KERNEL_THREAD	4	/* there is no user mode */
#define STACK_USER_MISSING	8	/* there is, but the mechanism cannot read it */
#define STACK_THROUGHOUT	16	/* asleep from the start of the recording to its stop; set by the recorder */

#define STACK_F_KERNEL		0, 16	/* of STACK_COUNTS: frames */
#define STACK_F_FP		16, 16
#define STACK_F_BYTES		32, 24
#define STACK_F_RETURNS		56, 8

#define STACK_FRAMES_MAX	127
#define STACK_RETURNS_MAX	16	/* the innermost ones */
#define STACK_COPY_PAGES_MAX	7	/* with one that is begun in the middle */
#define STACK_COPY_MAX		(24 * 1024)
/* Of a record that fills all it may; a record of FXT has at most 4095 words. */
#define STACK_WORDS_MAX		(STACK_WORDS + 2 * STACK_FRAMES_MAX + 2 * STACK_RETURNS_MAX + STACK_COPY_MAX / 8)
_Static_assert(STACK_WORDS_MAX <= 4095, "a sample is a record");
/* Of a thread that is asleep when the recording stops, which has only kernel frames; RAW_TS 0: since before its start. */
#define STACK_ASLEEP_WORDS_MAX	(STACK_WORDS + STACK_FRAMES_MAX)

/* After each chunk of a stack ring: more than a sample, by what verifiers cannot know to be zero. */
#define STACK_SLACK_BYTES	65536

/* When each thread fell asleep, by its id; 0: it did not, as far as is recorded. So many to a map value. */
#define STAMPS_SHIFT		12

/* What the programs of a CPU count, and its stack ring. The last line is the drain's. */
struct stack_ctl {
	__u64 head;		/* bytes ever reserved */
	struct event_counts counts[STACK_KIND_CNT];
	__u64 idle;		/* of those of STACK_CPU: the CPU was idle */
	__u64 outside;		/* not among them: before the CPU was recorded, or after */
	__u64 idle_ns;		/* times in which the CPU was idle, those that have ended */
	__u64 idle_since;	/* 0: it is not idle, as far as is known */
	__u64 reserved[7];

	__u64 tail;		/* bytes ever taken out */
	__u32 notified;		/* the drain was woken; cleared by the drain */
	__u32 reserved1;
	__u64 reserved2[6];
};
_Static_assert(sizeof(struct stack_ctl) == 256, "the drain's words are in a cache line of their own");

#endif
