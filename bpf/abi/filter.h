/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the BPF programs and the recorder agree on about filters: which threads are selected.
 */
#ifndef BPF_ABI_FILTER_H
#define BPF_ABI_FILTER_H

#include <linux/types.h>
#include <stdbool.h>

/* The verdict on the thread that has a TID: a byte each, so many of them to a map value. */
#define VERDICTS_PER_PAGE	4096
#define VERDICT_JUDGED		0x01
#define VERDICT_SELECTED		0x02
#define VERDICT_FOLLOWED	0x04	/* a descendant of the recorder's */
#define VERDICT_TID		0x08	/* set by the recorder: this thread was selected */
#define VERDICT_PID		0x10	/* the same: this process */
#define VERDICT_PAST		0x20	/* the TID's last thread was selected */
#define VERDICT_CGROUP		0x40	/* when last looked at, it was in a selected cgroup */
#define VERDICT_ANY		(VERDICT_SELECTED | VERDICT_PAST | VERDICT_CGROUP)

#define FILTER_CGROUPS_MAX	8
#define FILTER_DEPTH_MAX	64	/* cgroups above a thread that are looked at */

/*
 * A glob for thread names, as a machine that is in several states at once: bit n is set
 * while its first n elements have matched. The NUL that ends the name is an element too.
 */
#define COMM_BYTES_MAX		16	/* TASK_COMM_LEN */
struct comm_glob {
	__u32 steps[256];	/* by byte: the states from which it leads on to the next */
	__u32 stays;		/* the states that any byte leaves as they are: a '*' follows */
	__u32 matched;		/* the last one */
};

static inline __attribute__((always_inline)) bool comm_glob_matches(const struct comm_glob *glob,
								    const char name[COMM_BYTES_MAX])
{
	__u32 states = 1;
	int i;

#pragma GCC unroll 16
	for (i = 0; i < COMM_BYTES_MAX; i++)
		states = (states & glob->stays) | (states & glob->steps[(unsigned char)name[i]]) << 1;
	return states & glob->matched;
}

#endif
