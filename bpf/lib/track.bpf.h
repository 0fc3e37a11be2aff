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
#include "switch.bpf.h"

/* Both ends of a gap, its slice and what follows. */
#define GAP_END_BYTES	((2 * MARKED_WORDS + LOST_WORDS_MAX + LEAVE_WORDS) * 8)

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
__noinline int found_unreported(__u32 cpu, __u32 pid, __s32 prio)
{
	struct cpu_ctl *ctl = ctl_of(cpu);
	__u64 since, cut;

	if (!ctl)
		return 0;
	cut = READ_ONCE(ctl->cut_ns);
	since = cut > ctl->last_ns ? cut : ctl->last_ns;
	begin_gap(ctl, since, (struct side){ ctl->last_koid, ctl->last_prio }, GAP_END_BYTES);
	ctl->unreported_switches++;
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
static __always_inline void check_unreported(struct cpu_ctl *ctl, __u32 cpu, struct task_struct *running)
{
	if (unlikely(ctl->last_tid != (__u32)running->pid))
		found_unreported(cpu, running->pid, running->prio);
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
		found_unreported(cpu, pid, prio);
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

/* Global, as end_gap() is. */
__noinline int make_space(__u32 cpu, __u32 words)
{
	struct cpu_ctl *ctl = ctl_of(cpu);

	if (!ctl || ctl->gap_ns)
		return false;
	ring_look(ctl);
	if (cfg_filter || ctl->state != CPU_LIVE)
		ctl->fast_until = 0;
	return ring_free(ctl) >= words * 8;
}

/* Is there space for @words? @pid is on this CPU. */
static __always_inline bool have_space(struct cpu_ctl *ctl, __u32 cpu, __u64 ts, __u32 pid, __s32 prio, __u32 words)
{
	return likely(ctl->head + words * 8 <= ctl->fast_until) || make_space(cpu, words) ||
	       end_gap(cpu, ts, pid, prio);
}

#endif
