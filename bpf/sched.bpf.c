// SPDX-License-Identifier: GPL-2.0
/*
 * Context switches and wakeups, born as FXT scheduling records.
 *
 * All programs here that write to the ring run with interrupts off, which is
 * what makes its single producer single.
 */
#include "func.bpf.h"

#define SWITCH_WORDS	6	/* header, time, out, in, two weights */
#define WAKEUP_WORDS	6	/* header, time, tid, weight, waker (2) */
#define IMPLIED_WORDS	(WAKEUP_WORDS + 1)	/* with a mark */
#define MARKED_WORDS	(SWITCH_WORDS + 1)	/* with a Linux state or a mark */
#define MEND_BYTES	((3 * MARKED_WORDS + IMPLIED_WORDS) * 8)	/* both ends of a gap and what follows */

/* An argument that fits its header. */
#define ARG_I32(name, v)	(FXT_ARG_HEADER(FXT_ARG_INT32, 1, name) | FXT_PUT((__u32)(v), FXT_F_ARG_VALUE32))
#define ARG_STR(name, ref)	(FXT_ARG_HEADER(FXT_ARG_STRING, 1, name) | FXT_PUT(ref, FXT_F_ARG_STRING))

/* FXT has no D, I, P or R+: "Thread States", by the kernel's task state index, a nibble each. */
#define FXT_STATES \
	(FXT_PUT(FXT_STATE_RUNNING, 0, 4) | FXT_PUT(FXT_STATE_BLOCKED, 4, 4) |		/* R S */ \
	 FXT_PUT(FXT_STATE_BLOCKED, 8, 4) | FXT_PUT(FXT_STATE_SUSPENDED, 12, 4) |	/* D T */ \
	 FXT_PUT(FXT_STATE_SUSPENDED, 16, 4) | FXT_PUT(FXT_STATE_DEAD, 20, 4) |		/* t X */ \
	 FXT_PUT(FXT_STATE_DYING, 24, 4) | FXT_PUT(FXT_STATE_BLOCKED, 28, 4) |		/* Z P */ \
	 FXT_PUT(FXT_STATE_BLOCKED, 32, 4) | FXT_PUT(FXT_STATE_RUNNING, 36, 4))		/* I R+ */

enum task_state_index {
	STATE_R = 0,
	STATE_S = 1,
	STATE_D = 2,
	STATE_X = 5,
	STATE_Z = 6,
	STATE_I = 8,
	STATE_R_PLUS = 9,
};

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

/* Writes a context switch; @linux_state and @mark are string refs, 0 for none. Room was checked. */
static __always_inline void write_switch(struct cpu_ctl *ctl, __u32 cpu, __u64 ts, struct side out,
					 struct side in, __u32 state, __u32 linux_state, __u32 mark)
{
	__u32 words = SWITCH_WORDS + !!linux_state + !!mark;
	__u64 *rec = ring_reserve(ctl, words);

	if (!rec)
		return;
	rec[0] = FXT_SCHED_HEADER(FXT_SCHED_SWITCH, words, words - 4, cpu) |
		 FXT_PUT(state, FXT_F_SCHED_STATE);
	rec[1] = ts;
	rec[2] = out.koid;
	rec[3] = in.koid;
	rec[4] = ARG_I32(STR_OUTGOING_WEIGHT, out.prio);
	rec[5] = ARG_I32(STR_INCOMING_WEIGHT, in.prio);
	if (linux_state)
		rec[6] = ARG_STR(STR_LINUX_STATE, linux_state);
	else if (mark)
		rec[6] = ARG_STR(STR_MARK, mark);
	ring_submit(ctl, words);
}

static __always_inline void write_wakeup(struct cpu_ctl *ctl, __u64 ts,
					 struct task_struct *p, __u32 waker)
{
	__u64 *rec = ring_reserve(ctl, WAKEUP_WORDS);

	if (!rec)
		return;
	rec[0] = FXT_SCHED_HEADER(FXT_SCHED_WAKEUP, WAKEUP_WORDS, 2, task_cpu(p));
	rec[1] = ts;
	rec[2] = koid_of(p->pid);
	rec[3] = ARG_I32(STR_WEIGHT, p->prio);
	rec[4] = FXT_ARG_HEADER(FXT_ARG_KOID, 2, STR_WAKER);
	rec[5] = waker ? koid_of(waker) : 0;
	ring_submit(ctl, WAKEUP_WORDS);
	ctl->wakeups++;
}

/* @in, whose id is @tid, runs from now on. */
static __always_inline void note_switch(struct cpu_ctl *ctl, __u64 ts, struct side in, __u32 tid)
{
	ctl->last_ns = ts;
	ctl->last_tid = tid;
	ctl->last_koid = in.koid;
	ctl->last_prio = in.prio;
}

/* From @since on, when @who ran, this CPU's records do not tell all. Ends when @bytes are free. */
static __always_inline void begin_gap(struct cpu_ctl *ctl, __u64 since, struct side who, __u32 bytes)
{
	if (ctl->gap_ns)
		return;
	ctl->gap_ns = since;
	ctl->gap_koid = who.koid;
	ctl->gap_prio = who.prio;
	ctl->gap_bytes = bytes;
}

/*
 * Ends a gap if there is room, begins one if there is none. The two ends of a
 * gap are records: who ran when it began is switched out there, @running is
 * switched in where it ends, now. After a full ring nothing is written until
 * half of it is free, so that a loss is one stretch and not a sieve.
 */
static __noinline bool mend(struct cpu_ctl *ctl, __u32 cpu, __u64 ts, struct task_struct *running)
{
	struct side was, is = task_side(running);

	if (!ctl->gap_ns) {
		begin_gap(ctl, ts, is, ring_bytes() / 2);
		return false;
	}
	if (ring_free(ctl) < ctl->gap_bytes)
		return false;
	was.koid = ctl->gap_koid;
	was.prio = ctl->gap_prio;
	write_switch(ctl, cpu, ctl->gap_ns, was, idle_side(), FXT_STATE_RUNNING, 0, STR_MARK_GAP);
	write_switch(ctl, cpu, ts, idle_side(), is, FXT_STATE_RUNNING, 0, STR_MARK_GAP);
	ctl->gap_ns = 0;
	return true;
}

/* Is there room for @words? @running is on this CPU. */
static __always_inline bool have_room(struct cpu_ctl *ctl, __u32 cpu, __u64 ts,
				      struct task_struct *running, __u32 words)
{
	if (!ctl->gap_ns && ring_free(ctl) >= words * 8)
		return true;
	return mend(ctl, cpu, ts, running);
}

/*
 * The kernel's own reading of a task's state (__task_state_index()), with one
 * correction: before 6.13 (commit 7d5265ffcd8b) the tracepoint reported sleep
 * for a thread that a pending signal had kept running.
 */
static __always_inline __u32 state_index(bool preempt, struct task_struct *prev, __u32 state)
{
	__u32 report = (state | prev->exit_state) & TASK_REPORT;

	if (preempt)
		return STATE_R_PLUS;
	if (!state || (!prev->__state && prev->on_rq))
		return STATE_R;
	if (report == TASK_INTERRUPTIBLE)
		return STATE_S;
	if (state & (TASK_RTLOCK_WAIT | TASK_FROZEN))
		return STATE_D;
	if ((state & TASK_IDLE) == TASK_IDLE)
		return STATE_I;
#pragma unroll
	for (__u32 i = 7; i > 0; i--)
		if (report & (1U << (i - 1)))
			return i;
	return STATE_R;
}

/* The first record of a CPU: who runs when it goes live. */
static __always_inline void begin_cpu(struct cpu_ctl *ctl, __u32 cpu, __u64 ts,
				      struct task_struct *running)
{
	struct side in = task_side(running);

	note_switch(ctl, ts, in, running->pid);
	ctl->start_ns = ts;
	ctl->preempt_count = preempt_count_address(running, cpu);
	write_switch(ctl, cpu, ts, idle_side(), in, FXT_STATE_RUNNING, 0, STR_MARK_START);
	store_release(&ctl->state, CPU_LIVE);
}

/*
 * Some kernels keep switches of some threads to themselves. That one happened is
 * seen by who runs now; what ran since the last switch that was told is unknown.
 */
static __always_inline void check_unseen(struct cpu_ctl *ctl, struct task_struct *running)
{
	if (ctl->last_tid == (__u32)running->pid)
		return;
	begin_gap(ctl, ctl->last_ns, (struct side){ ctl->last_koid, ctl->last_prio }, MEND_BYTES);
	ctl->unseen_switches++;
	clear_asleep(running->pid);	/* as come_in() would have */
}

/*
 * The one who leaves, as it was known when it came: once a thread is dead its id can be
 * another's before its last switch.
 */
static __always_inline struct side leaving_side(const struct cpu_ctl *ctl, struct task_struct *prev)
{
	if (prev->pid && ctl->last_tid == (__u32)prev->pid)
		return (struct side){ ctl->last_koid, prev->prio };
	return task_side(prev);
}

/* The last one: whoever runs is switched out. False: no room yet, the CPU stays live. */
static __always_inline bool end_cpu(struct cpu_ctl *ctl, __u32 cpu, __u64 ts,
				    struct task_struct *running)
{
	check_unseen(ctl, running);
	if (!have_room(ctl, cpu, ts, running, MARKED_WORDS)) {
		ctl->last_tid = running->pid;
		return false;
	}
	write_switch(ctl, cpu, ts, leaving_side(ctl, running), idle_side(), FXT_STATE_RUNNING, 0,
		     STR_MARK_STOP);
	ctl->stop_ns = ts;
	/* The partner of probes_end()'s load: what was counted here is now final. */
	store_release(&ctl->state, CPU_OFF);
	return true;
}

/*
 * Where tracepoints can be preempted (7.x) the kernel skips a program that another
 * thread is inside of on the CPU: then a new thread has no names, and maybe the id of
 * one that has exited, when it first runs. So do those that were there at the start.
 */
static __noinline int name_missed(struct task_struct *p, __u16 *id)
{
	if (!id)
		return 0;
	if ((*id & ID_EXITED) && !(p->flags & PF_EXITING)) {
		name_new(p);
	} else if (!(*id & ID_NAMED)) {
		*id |= ID_NAMED;
		send_names(p, NULL);
	}
	return 0;
}

/* Who runs from now on is awake, and known. True: it slept, and nobody told of its wakeup. */
static __always_inline bool come_in(struct task_struct *next)
{
	__u16 *id = next->pid ? id_of(next->pid) : NULL;
	bool asleep;

	if (!id)
		return false;
	asleep = *id & ID_ASLEEP;
	if (asleep)
		*id &= ~ID_ASLEEP;
	if (!(*id & ID_NAMED) || (*id & ID_EXITED))
		name_missed(next, id);
	return asleep;
}

/* A wakeup that must have been: by whom is not known, nor when. Room was checked. */
static __noinline int write_implied_wakeup(struct cpu_ctl *ctl, __u64 ts, struct task_struct *p)
{
	__u64 *rec = ring_reserve(ctl, IMPLIED_WORDS);

	if (!rec)
		return 0;
	rec[0] = FXT_SCHED_HEADER(FXT_SCHED_WAKEUP, IMPLIED_WORDS, 3, task_cpu(p));
	rec[1] = ts;
	rec[2] = koid_of(p->pid);
	rec[3] = ARG_I32(STR_WEIGHT, p->prio);
	rec[4] = FXT_ARG_HEADER(FXT_ARG_KOID, 2, STR_WAKER);
	rec[5] = 0;
	rec[6] = ARG_STR(STR_MARK, STR_MARK_IMPLIED);
	ring_submit(ctl, IMPLIED_WORDS);
	ctl->wakeups++;
	ctl->unseen_wakeups++;
	return 0;
}

/*
 * Who was past its exit's tracepoint when that was attached is gone from /proc
 * soon, and would have no name.
 */
static __noinline int name_dying(struct task_struct *p, __u64 koid)
{
	__u16 *id = id_of(p->pid);

	if (id && !(*id & ID_EXITED) && koid_of(p->pid) == koid)
		send_names(p, NULL);
	return 0;
}

/*
 * @next runs from now on, and @prev, if it @sleeps, can be woken. The mark of a waker that
 * came first, or 0. So on every CPU, as the waker may be on one that records.
 */
static __always_inline __u64 hand_over(struct cpu_ctl *ctl, __u32 prev, __u32 next, bool sleeps)
{
	__u64 was;

	if (!sleeps) {
		/* A wake that came just now was a no-op: its mark goes too. */
		WRITE_ONCE(ctl->cur, (__u64)next);
		return 0;
	}
	set_asleep(prev);
	/* Atomic, because a waker may leave its mark at this very moment. */
	was = __sync_lock_test_and_set(&ctl->cur, (__u64)next);
	if (!(was & CUR_WOKEN) || CUR_TID(was) != prev)
		return 0;
	clear_asleep(prev);
	return was;
}

SEC("tp_btf/sched_switch")
int BPF_PROG(on_sched_switch, bool preempt, struct task_struct *prev, struct task_struct *next,
	     unsigned int prev_state)
{
	__u32 cpu = bpf_get_smp_processor_id(), index = state_index(preempt, prev, prev_state);
	bool dies = index == STATE_X || index == STATE_Z;
	bool sleeps = index != STATE_R && index != STATE_R_PLUS && !dies;
	struct cpu_ctl *ctl = ctl_of(cpu);
	bool implied = come_in(next);
	struct side out, in;
	__u64 ts, was;

	in = task_side(next);
	if (cfg_func_exit && dies)
		end_calls(prev, false);
	if (!ctl)
		return 0;
	ts = bpf_ktime_get_boot_ns();
	if (ctl->state == CPU_ARMED)
		begin_cpu(ctl, cpu, ts, prev);
	if (ctl->state == CPU_OFF || (ctl->state == CPU_ENDING && end_cpu(ctl, cpu, ts, prev))) {
		clear_asleep(prev->pid);	/* it may have come in unseen */
		hand_over(ctl, prev->pid, next->pid, sleeps);
		return 0;
	}
	check_unseen(ctl, prev);
	out = leaving_side(ctl, prev);
	if (dies)
		name_dying(prev, out.koid);
	if (have_room(ctl, cpu, ts, prev, MARKED_WORDS + IMPLIED_WORDS)) {
		if (implied)
			write_implied_wakeup(ctl, ts, next);
		write_switch(ctl, cpu, ts, out, in, FXT_STATES >> (index * 4) & 0xf,
			     index > STATE_S ? STR_STATE_R + index : 0, 0);
		ctl->switches++;
	} else {
		ctl->lost_switches++;
		read_barrier();		/* as there is in ring_submit() */
	}
	note_switch(ctl, ts, in, next->pid);
	/* From here on it sleeps, at a time that has been read: a waker's will be later. */
	was = hand_over(ctl, prev->pid, next->pid, sleeps);
	if (!was)
		return 0;
	if (have_room(ctl, cpu, ts, next, WAKEUP_WORDS))
		write_wakeup(ctl, ts, prev, CUR_WAKER(was));
	else
		ctl->lost_wakeups++;
	return 0;
}

/*
 * A wake that finds its target running leaves a mark. If the target is on its way
 * out, its CPU will find the mark with the switch and write the wakeup behind it,
 * at a time that is not before it. If it is not, the wake is a no-op, the kernel
 * says so by an immediate sched_wakeup, and the mark is taken back. Returns false
 * if the target, not being @cur any more, was switched out meanwhile.
 */
static __always_inline bool leave_mark(struct cpu_ctl *ctl, struct cpu_ctl *target, __u64 cur,
				       __u32 tid, __u32 waker)
{
	__u64 mark = CUR_WOKEN | (__u64)waker << 32 | tid;

	if (__sync_val_compare_and_swap(&target->cur, cur, mark) != cur)
		return false;
	ctl->maybe_woken = tid;
	return true;
}

SEC("tp_btf/sched_waking")
int BPF_PROG(on_sched_waking, struct task_struct *p)
{
	struct task_struct *me = bpf_get_current_task_btf();
	__u32 cpu = bpf_get_smp_processor_id();
	struct cpu_ctl *target, *ctl = ctl_of(cpu);
	__u32 waker, tid = p->pid;
	__u64 ts, cur;

	/*
	 * A thread that wakes itself has not slept. This is also the one case in
	 * which the tracepoint is reached with interrupts on: leave before the ring.
	 */
	if (!ctl || p == me)
		return 0;
	/*
	 * The kernel has just read that it sleeps or is about to. What that thread, its
	 * CPU and its wakers before us wrote until then is to be seen from here on.
	 */
	read_barrier();
	waker = !is_recording(ctl) || in_interrupt(ctl->preempt_count, me, true) ? 0 : me->pid;
	ctl->maybe_woken = 0;

	target = ctl_of(task_cpu(p));
	cur = target ? READ_ONCE(target->cur) : 0;
	if (target && CUR_TID(cur) == tid && leave_mark(ctl, target, tid, tid, waker))
		return 0;
	/* It is not there any more: then its bit is set, which the switch did first. */
	read_barrier();
	if (!clear_asleep(tid)) {
		/* Not seen to fall asleep. Running unseen, its switch in not reported? */
		if (target && task_on_cpu(p) && leave_mark(ctl, target, cur, tid, waker))
			return 0;
		/* Off its CPU, hence first off the queue if it sleeps. */
		read_barrier();
		/* Queued; else asleep since before the start. */
		if (!task_sched_delayed(p) && p->on_rq)
			return 0;
	}
	if (!is_recording(ctl))
		return 0;
	ts = bpf_ktime_get_boot_ns();
	if (have_room(ctl, cpu, ts, me, WAKEUP_WORDS))
		write_wakeup(ctl, ts, p, waker);
	else
		ctl->lost_wakeups++;
	return 0;
}

/* Takes the mark of a no-op wake back; it fires under the run queue's lock, before any switch. */
SEC("tp_btf/sched_wakeup")
int BPF_PROG(on_sched_wakeup, struct task_struct *p)
{
	struct cpu_ctl *target, *ctl = ctl_of(bpf_get_smp_processor_id());
	__u32 tid;
	__u64 cur;

	if (!ctl || !ctl->maybe_woken)
		return 0;
	tid = p->pid;
	if (ctl->maybe_woken != tid || (void *)p == (void *)bpf_get_current_task_btf())
		return 0;
	ctl->maybe_woken = 0;
	target = ctl_of(task_cpu(p));
	if (!target)
		return 0;
	cur = READ_ONCE(target->cur);
	if ((cur & CUR_WOKEN) && CUR_TID(cur) == tid)
		__sync_val_compare_and_swap(&target->cur, cur, (__u64)tid);
	return 0;
}

/* A new thread's first wake; always a real one. */
SEC("tp_btf/sched_wakeup_new")
int BPF_PROG(on_sched_wakeup_new, struct task_struct *p)
{
	struct task_struct *me = bpf_get_current_task_btf();
	__u32 cpu = bpf_get_smp_processor_id();
	struct cpu_ctl *ctl = ctl_of(cpu);
	__u64 ts;

	if (!ctl || !is_recording(ctl))
		return 0;
	ts = bpf_ktime_get_boot_ns();
	if (have_room(ctl, cpu, ts, me, WAKEUP_WORDS))
		write_wakeup(ctl, ts, p, me->pid);
	else
		ctl->lost_wakeups++;
	return 0;
}

/*
 * Run by the recorder on one CPU after the other, by interrupt, so that it meets
 * no other program there: that CPU goes live or ends at this moment.
 */
SEC("raw_tp")
int begin_or_end(void *ctx)
{
	struct task_struct *me = bpf_get_current_task_btf();
	__u32 cpu = bpf_get_smp_processor_id();
	struct cpu_ctl *ctl = ctl_of(cpu);

	if (ctl && ctl->state == CPU_ARMED)
		begin_cpu(ctl, cpu, bpf_ktime_get_boot_ns(), me);
	else if (ctl && ctl->state == CPU_ENDING)
		end_cpu(ctl, cpu, bpf_ktime_get_boot_ns(), me);
	return 0;
}

char LICENSE[] SEC("license") = "GPL";
