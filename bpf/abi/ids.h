/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What is kept of every thread id, and deferred wakeups.
 */
#ifndef BPF_ABI_IDS_H
#define BPF_ABI_IDS_H

#include <linux/types.h>

/* The kernel's PID_MAX_LIMIT: ids are below. */
#define IDS_MAX			4194304U

/*
 * What is kept of every id: 16 bits, all of them in one map value or, where the kernel does not
 * have such large ones (before 6.8), 2048 to a value.
 */
#define IDS_PAGE_SHIFT		11
#define ID_EXITED		1	/* its thread has exited */
#define ID_ASLEEP		2	/* according to the trace */
#define ID_RECORDED	(1U << 11)	/* with a filter: its state since it ran is in the trace */
#define ID_RAN		(1U << 12)	/* the trace has it running */
#define ID_WOKEN	(1U << 13)	/* and of a wakeup */
#define ID_DEFERRED	(1U << 14)	/* asleep, and maybe woken already: there is a struct deferred_wakeup */
#define ID_NAMED	(1U << 15)	/* the names of its thread have been sent */
#define ID_GENERATION_SHIFT	2	/* how often it was recycled: 9 bits */
#define ID_GENERATION(id)	((id) >> ID_GENERATION_SHIFT & 0x1ff)
#define ID_GENERATION_MAX	419	/* keeps koids below PSEUDO_BASE */
#define ID_GENERATION_STEP	10000000ULL

/*
 * A wakeup of a task that seemed to be running. If the task then sleeps, it was already on its way
 * to sleep, and the wakeup is a real one. Indexed by TID modulo the map's size; of two with the
 * same index the later one is kept.
 */
struct deferred_wakeup {
	__u64 ts;
	__u64 who;	/* DEFERRED_WHO(), DEFERRED_SEEN; 0: none */
	__u64 cpu;	/* where it ran */
};
#define DEFERRED_WAKEUPS	8192
#define DEFERRED_WHO(tid, waker)	((__u64)(tid) << 32 | (waker))
#define DEFERRED_SEEN		(1ULL << 63)	/* by the thread's CPU at its switch-out, which set ID_DEFERRED */
#define DEFERRED_TID(who)		((__u32)((who) >> 32) & 0x7fffffff)
#define DEFERRED_WAKER(who)		((__u32)(who))

/* The koid of an idle thread that calls functions: above all ids, below the second generation. */
#define IDLE_KOID(cpu)		((unsigned long long)IDS_MAX + (cpu))

/* Koids from here on are of no thread of Linux. */
#define PSEUDO_BASE		4200000000ULL

#endif
