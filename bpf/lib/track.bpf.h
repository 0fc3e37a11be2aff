/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A CPU's track: its current task, record by record, and where its ring was full.
 */
#ifndef BPF_LIB_TRACK_BPF_H
#define BPF_LIB_TRACK_BPF_H

#include "../abi/ctl.h"
#include "../abi/ids.h"
#include "../abi/ring.h"
#include "../abi/strings.h"
#include "filter.bpf.h"
#include "gap.bpf.h"
#include "ids.bpf.h"

#define WAKEUP_WORDS	6	/* header, time, tid, weight, waker (2) */
#define WAKEUP_WORDS_MAX	(WAKEUP_WORDS + 1)	/* with a mark */
#define MARKED_WORDS	(SWITCH_WORDS + 1)	/* with a Linux state or a mark */
#define SWITCH_WORDS_MAX	(SWITCH_WORDS + 2)	/* with a Linux state, and filtered */
#define LEAVE_WORDS	(SWITCH_WORDS_MAX + WAKEUP_WORDS_MAX)
/* Both ends of a gap, its slice and what follows. */
#define GAP_END_BYTES	((2 * MARKED_WORDS + LOST_WORDS_MAX + LEAVE_WORDS) * 8)

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
 * @p was woken by @waker; @on is the CPU where it ran last; @mark, a string ref or 0, says what the kernel
 * did not report: the wakeup itself (implied), or that it ran and slept before it (gap). The caller has
 * checked the space.
 */
static __always_inline void write_wakeup(struct cpu_ctl *ctl, __u64 ts, struct task_struct *p, __u32 on,
					 __u32 waker, __u32 mark)
{
	__u32 words = WAKEUP_WORDS + !!mark;
	__u64 *rec = ring_reserve(ctl, words);

	if (unlikely(!rec))
		return;
	FXT_PUT_WAKEUP(rec, words, words - 4, on, ts, koid_of(p->pid));	/* the waker is one of two words */
	rec[3] = FXT_I32_ARG(STR_WEIGHT, p->prio);
	rec[4] = FXT_ARG_HEADER(FXT_ARG_KOID, 2, STR_WAKER);
	rec[5] = waker ? koid_of(waker) : 0;
	if (mark) {
		rec[6] = FXT_STR_ARG(STR_MARK, mark);
		ctl->unseen_wakeups++;
	}
	ring_submit(ctl, words);
	ctl->wakeups++;
}

/* Remembers that @in, whose id is @tid, was switched in at @ts. */
static __always_inline void note_switch(struct cpu_ctl *ctl, __u64 ts, struct side in, __u32 tid)
{
	ctl->last_ns = ts;
	ctl->last_tid = tid;
	ctl->last_koid = in.koid;
	ctl->last_prio = in.prio;
}

/* Begins a gap at @since, when @who was current: records are missing until @bytes are free. */
static __always_inline void begin_gap(struct cpu_ctl *ctl, __u64 since, struct side who, __u32 bytes)
{
	if (ctl->gap_ns)
		return;
	if (cfg_filter && ctl->hidden)
		who = idle_side();
	ctl->gap_ns = since;
	ctl->fast_until = 0;
	ctl->gap_koid = who.koid;
	ctl->gap_prio = who.prio;
	ctl->gap_bytes = bytes;
}

/* @pid is current, but its switch-in was not reported. Global, as end_gap() is. */
__noinline int found_unseen(__u32 cpu, __u32 pid, __s32 prio)
{
	struct cpu_ctl *ctl = ctl_of(cpu);
	__u64 since, cut;

	if (!ctl)
		return 0;
	cut = READ_ONCE(ctl->cut_ns);
	since = cut > ctl->last_ns ? cut : ctl->last_ns;
	begin_gap(ctl, since, (struct side){ ctl->last_koid, ctl->last_prio }, GAP_END_BYTES);
	ctl->unseen_switches++;
	/* As come_in() would have. */
	clear_asleep(pid, 0);
	set_id(pid, ID_RAN);
	note_switch(ctl, since, pid ? (struct side){ koid_of(pid), prio } : idle_side(), pid);
	return 0;
}

/*
 * Some kernels do not report all switches. That one is missing shows when the current task is not
 * the last one switched in; which tasks ran in between is unknown.
 */
static __always_inline void check_unseen(struct cpu_ctl *ctl, __u32 cpu, struct task_struct *running)
{
	if (unlikely(ctl->last_tid != (__u32)running->pid))
		found_unseen(cpu, running->pid, running->prio);
}

/*
 * The outgoing task, with the koid it had at switch-in: the TID of a dead task can belong to
 * another one before its last switch.
 */
static __always_inline struct side outgoing_side(const struct cpu_ctl *ctl, struct task_struct *prev)
{
	if (prev->pid && ctl->last_tid == (__u32)prev->pid)
		return (struct side){ ctl->last_koid, prev->prio };
	return task_side(prev);
}

/*
 * Ends a gap if the ring has space, begins one if not. Both ends are records: the task that was
 * current at the beginning is switched out there, @pid, the current task, is switched in at the
 * end, now; the gap's slice is between them. After a full ring nothing is written until half of
 * it is free, so that events are lost in one stretch.
 *
 * A global function, so that the verifier checks it once and not for each caller.
 */
__noinline int end_gap(__u32 cpu, __u64 ts, __u32 pid, __s32 prio)
{
	struct cpu_ctl *ctl = ctl_of(cpu);
	struct side was, is;

	if (!ctl)
		return false;
	if (ctl->last_tid != pid)
		found_unseen(cpu, pid, prio);
	is = pid ? (struct side){ ctl->last_koid, prio } : idle_side();
	if (!ctl->gap_ns) {
		begin_gap(ctl, ts, is, ring_bytes() / 2);
		return false;
	}
	if (ring_free(ctl) < ctl->gap_bytes)
		return false;
	was.koid = ctl->gap_koid;
	was.prio = ctl->gap_prio;
	write_mark(ctl, cpu, ctl->gap_ns, was, idle_side(), FXT_STATE_RUNNING, STR_MARK_GAP);
	write_gap(cpu, ts);
	write_mark(ctl, cpu, ts, idle_side(), is, FXT_STATE_RUNNING, STR_MARK_GAP);
	note_switch(ctl, ts, is, pid);
	ctl->gap_ns = 0;
	if (cfg_filter)
		ctl->hidden = 0;
	return true;
}

static __noinline int make_space(struct cpu_ctl *ctl, __u32 words)
{
	if (ctl->gap_ns)
		return false;
	ring_look(ctl);
	if (cfg_filter || ctl->state != CPU_LIVE)
		ctl->fast_until = 0;
	return ring_free(ctl) >= words * 8;
}

/* Is there space for @words? @running is on this CPU. */
static __always_inline bool have_space(struct cpu_ctl *ctl, __u32 cpu, __u64 ts,
				      struct task_struct *running, __u32 words)
{
	return likely(ctl->head + words * 8 <= ctl->fast_until) || make_space(ctl, words) ||
	       end_gap(cpu, ts, running->pid, running->prio);
}

#endif
