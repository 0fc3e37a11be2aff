/* SPDX-License-Identifier: GPL-2.0 */
/*
 * From the words of a sample to the frames that are written.
 */
#ifndef SOURCE_STACK_FRAMES_H
#define SOURCE_STACK_FRAMES_H

#include <stdint.h>

#include "profile/profile.h"
#include "stack.h"
#include "unwind/unwind.h"

struct stack_frames;

/* Two parts of at most 127 (STACK_FRAMES_MAX), and one that says that there were more. */
#define FRAMES_MAX	256U

/* What became of user stacks. */
struct stack_frames_counts {
	uint64_t verdicts[UNWIND_VERDICT_CNT];
	uint64_t unreadable;	/* not whole and not among these: there was no byte of them */
	uint64_t maps_lost;	/* records of mappings */
	uint64_t maps_refused;	/* mappings of more files than are kept */
	int events_err;		/* -errno: why mappings are not reported as they are made */
};

/* 0 or -errno. */
int stack_frames_open(struct stack_frames **out, enum stack_user user);
/*
 * Reads the kernel's symbols and, for user stacks, what is mapped in all processes; from here on what is
 * mapped is followed. 0 or -errno.
 */
int stack_frames_begin(struct stack_frames *f);
/* Takes what has happened until now, before samples of that time are asked for. 0 or -ENOMEM. */
int stack_frames_read(struct stack_frames *f);
/*
 * Frames of a sample, whose counts are within its record, innermost first; returns how many. What they point
 * to lives as long as @f.
 */
unsigned int stack_frames_of(struct stack_frames *f, const uint64_t *rec, struct profile_frame frames[FRAMES_MAX]);
void stack_frames_counts(const struct stack_frames *f, struct stack_frames_counts *counts);
/* NULL is fine. */
void stack_frames_close(struct stack_frames *f);

#endif
