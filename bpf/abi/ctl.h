/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the programs of each CPU and the recorder share: the control words.
 */
#ifndef BPF_ABI_CTL_H
#define BPF_ABI_CTL_H

#include <linux/types.h>

#include "shed.h"

/* A CPU records nothing, or everything. */
enum cpu_state {
	CPU_OFF		= 0,
	CPU_ARMED	= 1,	/* goes live at its next switch (see on_sched_switch) */
	CPU_LIVE	= 2,
	CPU_ENDING	= 3,	/* ends at its next switch */
};

/*
 * Counts of one class of events: each event is counted in @seen once its outcome is known. Those
 * neither filtered nor lost are in the ring. Updated by atomic instructions.
 */
struct event_counts {
	__u64 seen;
	__u64 filtered;	/* of threads that are not selected, or by a filter on fields */
	__u64 lost;	/* the ring was full, or for a reason that is counted besides: */
	__u64 contended;	/* interrupted each time it reserved its place */
};

/*
 * One per CPU, in an mmap-able array. The first part is written by that CPU's
 * programs alone (@cur and @state apart, which say who else), the last line by
 * the drain alone.
 */
struct cpu_ctl {
	/* The current task: its tid; CUR_WOKEN is set by a waker on another CPU, see struct deferred_wakeup. */
	__u64 cur;
	__u64 head;		/* bytes ever written to the ring */
	__u64 fast_until;	/* up to this @head the CPU is live with no filter, and there is space and no gap */
	__u32 state;		/* enum cpu_state; set by the recorder too */
	__u32 chunk;		/* where @head is; set by the recorder to the first of this CPU's */
	__u32 last_tid;		/* the task last switched in according to the trace, and when */
	__u32 last_koid;
	__u64 last_ns;
	__u64 switch_header;	/* of this CPU's switches from R without more arguments; set by the recorder */
	__u64 preempt_count;	/* its address; 0: not known */
	/* A cache line ends here; with what is above and in the next one most events are done. */
	__u64 switches, wakeups;		/* written */
	__u64 seen_switches, seen_wakeups;	/* written, lost or filtered */
	__u64 gap_ns;		/* when it began; 0: nothing is missing */
	__s32 last_prio;
	__u32 hidden;		/* the current task is not selected: the CPU is idle according to the trace */
	__u32 gap_koid;		/* the current task when the gap began */
	__s32 gap_prio;
	__u32 gap_bytes;	/* it ends when so much is free */
	__u32 slot;		/* which ring is this CPU's */
	__u64 lost_switches, lost_wakeups;	/* ring full */
	__u64 unreported_switches;		/* the kernel ran none of our programs for them */
	__u64 unreported_wakeups;		/* the same for wakeups, or the sleep before; written, with a mark */
	__u64 start_ns, stop_ns;
	__u64 filtered_switches, filtered_wakeups;	/* not written: of threads that are not selected */
	__u64 recorded_switches, recorded_wakeups;	/* of those lost: in the slices of gaps that are over */
	__u32 reported_in_gaps;
	__u32 gaps;		/* how many those are */
	__u32 ran_unrecorded;	/* threads were switched while it was not recorded; cleared by the recorder */
	__u16 outgoing_selected, incoming_recorded;	/* of the switch under way: see judge_switch() */
	/*
	 * Where sleeps are sampled: when the current thread fell asleep, until its sample is taken; those that
	 * were not, since the kernel ran no program at the end of the switch; sleeps that were too short.
	 */
	__u64 slept_since, missed_sleeps, short_sleeps;
	__u64 outgoing_asleep;	/* of the switch under way; kept in memory: tracked in a register, the verifier would fork its state */

	__u64 tail;		/* bytes ever taken out */
	__u64 event_tail;
	__u32 notified;		/* the drain was woken; cleared by the drain */
	__u32 event_notified;	/* the same for the event ring */
	__u64 cut_ns;		/* a file may have been cut there: a gap that is noticed late begins no earlier */
	__u64 reserved3[4];

	/*
	 * The event ring. Its writers nest, so all of this is changed by atomic
	 * instructions, and the counts are of what is not in the ring.
	 */
	__u64 event_head;		/* bytes ever reserved */
	__u32 metadata_users;		/* programs here that are inside of the metadata ring's code */
	__u32 shedding;			/* a bit for each enum shed_class that is left out; set by the recorder */
	struct event_counts calls;	/* of functions; these three are neither lost nor filtered: */
	__u64 deep_calls;		/* no place to keep an entry until its return */
	__u64 ratelimited_calls;	/* beyond --func-max-rate */
	__u64 lost_returns;		/* calls whose return was not seen */
	struct event_counts logs;	/* lines of the log, or parts of them */
	struct event_counts raws;	/* what other sources have */
	__u64 unpaired_raws;		/* of those lost: beginning or end not seen, or no slot to wait for the end */
	__u64 shed[SHED_CNT];		/* left out, and not among those that @calls and @raws have seen */
	__u64 reserved4[2];
};
_Static_assert(sizeof(struct cpu_ctl) == 512, "the drain's words are in a cache line of their own");

#define CUR_TID(cur)	((__u32)(cur))
#define CUR_WOKEN	(1ULL << 63)

#endif
