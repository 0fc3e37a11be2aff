/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Records of a CPU's track: context switches and wakeups.
 */
#ifndef BPF_LIB_SWITCH_BPF_H
#define BPF_LIB_SWITCH_BPF_H

#include "../abi/ctl.h"
#include "../abi/ids.h"
#include "../abi/ring.h"
#include "../abi/strings.h"
#include "ids.bpf.h"
#include "ring.bpf.h"

#define WAKEUP_WORDS	6	/* header, time, tid, weight, waker (2) */
#define WAKEUP_WORDS_MAX	(WAKEUP_WORDS + 1)	/* with a mark */
#define MARKED_WORDS	(SWITCH_WORDS + 1)	/* with a Linux state or a mark */
#define SWITCH_WORDS_MAX	(SWITCH_WORDS + 2)	/* with a Linux state, and filtered */
#define LEAVE_WORDS	(SWITCH_WORDS_MAX + WAKEUP_WORDS_MAX)

/* One side of a context switch. */
struct side {
	__u64 koid;
	__s32 prio;
};

static __always_inline struct side idle_side(void)
{
	return (struct side){ 0, FXT_WEIGHT_IDLE };
}

static __always_inline struct side task_side(struct task_struct *p)
{
	__u32 tid = p->pid;

	return tid ? (struct side){ koid_of(tid), p->prio } : idle_side();
}

/* Writes a context switch; @arg and @arg2 are more arguments, 0 for none. The caller has checked the space. */
static __always_inline void write_switch(struct cpu_ctl *ctl, __u32 cpu, __u64 ts, struct side out,
					 struct side in, __u32 state, __u64 arg, __u64 arg2)
{
	__u32 words = SWITCH_WORDS + !!arg + !!arg2;
	__u64 *rec = ring_reserve(ctl, words);

	if (unlikely(!rec))
		return;
	FXT_PUT_SWITCH(rec, words, words - FXT_SWITCH_WORDS, cpu, state, ts, out.koid, in.koid);
	rec[4] = FXT_I32_ARG(STR_OUTGOING_WEIGHT, out.prio);
	rec[5] = FXT_I32_ARG(STR_INCOMING_WEIGHT, in.prio);
	if (arg)
		rec[6] = arg;
	if (arg2)
		rec[arg ? 7 : 6] = arg2;
	ring_submit(ctl, words);
}

/* One that did not happen; @mark, a string ref, says why it is there. */
static __always_inline void write_mark(struct cpu_ctl *ctl, __u32 cpu, __u64 ts, struct side out,
				       struct side in, __u32 state, __u32 mark)
{
	write_switch(ctl, cpu, ts, out, in, state, FXT_STR_ARG(STR_MARK, mark), 0);
}

/*
 * @tid was woken by @waker; @on is the CPU where it ran last; @mark, a string ref or 0, says what the kernel
 * did not report: the wakeup itself (implied), or that it ran and slept before it (gap). The caller has
 * checked the space.
 */
static __always_inline void write_wakeup(struct cpu_ctl *ctl, __u64 ts, __u32 tid, __s32 prio, __u32 on,
					 __u32 waker, __u32 mark)
{
	__u32 words = WAKEUP_WORDS + !!mark;
	__u64 *rec = ring_reserve(ctl, words);

	if (unlikely(!rec))
		return;
	FXT_PUT_WAKEUP(rec, words, words - 4, on, ts, koid_of(tid));	/* the waker is one of two words */
	rec[3] = FXT_I32_ARG(STR_WEIGHT, prio);
	rec[4] = FXT_ARG_HEADER(FXT_ARG_KOID, 2, STR_WAKER);
	rec[5] = waker ? koid_of(waker) : 0;
	if (mark) {
		rec[6] = FXT_STR_ARG(STR_MARK, mark);
		ctl->unreported_wakeups++;
	}
	ring_submit(ctl, words);
	ctl->wakeups++;
}

#endif
