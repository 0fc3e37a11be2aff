// SPDX-License-Identifier: GPL-2.0
/*
 * Context switches and wakeups, born as FXT scheduling records.
 *
 * All programs here that write to the ring run with interrupts off, which is
 * what makes its single producer single.
 */
#include "func.bpf.h"
#include "gap.bpf.h"
#include "state.bpf.h"
#include "syscall.bpf.h"

#define SWITCH_WORDS	6	/* header, time, out, in, two weights */
#define WAKEUP_WORDS	6	/* header, time, tid, weight, waker (2) */
#define IMPLIED_WORDS	(WAKEUP_WORDS + 1)	/* with a mark */
#define MARKED_WORDS	(SWITCH_WORDS + 1)	/* with a Linux state or a mark */
#define SWITCH_WORDS_MAX	(SWITCH_WORDS + 2)	/* with a Linux state, and filtered */
#define LEAVE_WORDS	(SWITCH_WORDS_MAX + IMPLIED_WORDS)
/* Both ends of a gap, its slice and what follows. */
#define MEND_BYTES	((2 * MARKED_WORDS + LOST_WORDS_MAX + LEAVE_WORDS) * 8)

/* An argument that fits its header. */
#define ARG_I32(name, v)	(FXT_ARG_HEADER(FXT_ARG_INT32, 1, name) | FXT_PUT((__u32)(v), FXT_F_ARG_VALUE32))
#define ARG_BOOL(name, v)	(FXT_ARG_HEADER(FXT_ARG_BOOL, 1, name) | FXT_PUT(v, FXT_F_ARG_BOOL))
#define ARG_STR(name, ref)	(FXT_ARG_HEADER(FXT_ARG_STRING, 1, name) | FXT_PUT(ref, FXT_F_ARG_STRING))

/* Set by the recorder once it has the states of those that have done nothing so far. */
__u32 states_told;

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

/* Writes a context switch; @arg and @arg2 are more arguments, 0 for none. Room was checked. */
static __always_inline void write_switch(struct cpu_ctl *ctl, __u32 cpu, __u64 ts, struct side out,
					 struct side in, __u32 state, __u64 arg, __u64 arg2)
{
	__u32 words = SWITCH_WORDS + !!arg + !!arg2;
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
	write_switch(ctl, cpu, ts, out, in, state, ARG_STR(STR_MARK, mark), 0);
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
	if (cfg_filter && ctl->hidden)
		who = idle_side();
	ctl->gap_ns = since;
	ctl->gap_koid = who.koid;
	ctl->gap_prio = who.prio;
	ctl->gap_bytes = bytes;
}

/* @pid runs, though it was not told to come. Global, as mend() is. */
__noinline int found_unseen(__u32 cpu, __u32 pid, __s32 prio)
{
	struct cpu_ctl *ctl = ctl_of(cpu);

	if (!ctl)
		return 0;
	begin_gap(ctl, ctl->last_ns, (struct side){ ctl->last_koid, ctl->last_prio }, MEND_BYTES);
	ctl->unseen_switches++;
	/* As come_in() would have. */
	clear_asleep(pid, 0);
	set_id(pid, ID_RAN);
	note_switch(ctl, ctl->last_ns, pid ? (struct side){ koid_of(pid), prio } : idle_side(), pid);
	return 0;
}

/*
 * Some kernels keep switches of some threads to themselves. That one happened is
 * seen by who runs now; what ran since the last switch that was told is unknown.
 */
static __always_inline void check_unseen(struct cpu_ctl *ctl, __u32 cpu, struct task_struct *running)
{
	if (ctl->last_tid != (__u32)running->pid)
		found_unseen(cpu, running->pid, running->prio);
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

/*
 * Ends a gap if there is room, begins one if there is none. The two ends of a
 * gap are records: who ran when it began is switched out there, @pid, which runs, is
 * switched in where it ends, now. Its slice stands between them. After a full ring nothing is
 * written until half of it is free, so that a loss is one stretch and not a sieve.
 *
 * A global function, so that verifiers go through it once and not from each of its callers.
 */
__noinline int mend(__u32 cpu, __u64 ts, __u32 pid, __s32 prio)
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

/* Is there room for @words? @running is on this CPU. */
static __always_inline bool have_room(struct cpu_ctl *ctl, __u32 cpu, __u64 ts,
				      struct task_struct *running, __u32 words)
{
	if (!ctl->gap_ns && ring_free(ctl) >= words * 8)
		return true;
	return mend(cpu, ts, running->pid, running->prio);
}

/* @running, on this CPU, or whoever is @waker woke @p; with no room for it that is a loss. */
static __always_inline void tell_wakeup(struct cpu_ctl *ctl, __u32 cpu, __u64 ts, struct task_struct *running,
					struct task_struct *p, __u32 waker)
{
	if (have_room(ctl, cpu, ts, running, WAKEUP_WORDS))
		write_wakeup(ctl, ts, p, waker);
	else
		ctl->lost_wakeups++;
}

/*
 * With a filter the trace has the switches of which either side is wanted. A CPU's track shows
 * who ran before and who runs after such a switch from when it came to when it leaves, by
 * switches marked `filter` where there are none; in between it is empty, @hidden.
 *
 * What becomes of a thread is told from when it leaves, wanted, until it leaves again: its
 * wakeup and its next switch are written even if nobody wants it any more by then.
 * That keeps what the trace says of each thread's state true. ID_TOLD is changed by who runs
 * as that id, or wakes it, as ID_ASLEEP is.
 */
static __always_inline bool is_told(struct task_struct *p)
{
	__u16 *id;

	if (!cfg_filter || is_chosen(p))
		return true;
	id = id_of(p->pid);
	return id && *id & ID_TOLD;
}

/*
 * Is @prev, which leaves, wanted? Once it is dead its id, and with it the verdict, can be
 * another's, as in leaving_side().
 */
static __always_inline bool leaves_wanted(const struct cpu_ctl *ctl, struct task_struct *prev)
{
	__u16 *id = id_of(prev->pid);
	bool wanted;

	if (prev->exit_state && ctl->last_tid == (__u32)prev->pid && ctl->last_koid != koid_of(prev->pid))
		return has_verdict(prev->pid, VERDICT_PAST) || in_wanted_cgroup(prev);
	wanted = is_chosen(prev);
	if (id && !prev->exit_state && wanted != !!(*id & ID_TOLD))
		*id ^= ID_TOLD;
	return wanted;
}

/*
 * Before all else in a switch, and what comes of it is kept in memory: what the verifier knows it
 * to be it would follow through all the rest, each way anew, and give up.
 */
static __noinline int judge_switch(struct cpu_ctl *ctl, struct task_struct *prev, struct task_struct *next)
{
	ctl->leaves_wanted = leaves_wanted(ctl, prev);
	ctl->comes_told = is_told(next);
	return 0;
}

/* Is the wakeup of @p to be written? */
static __always_inline bool tells_wakeup(struct cpu_ctl *ctl, struct task_struct *p)
{
	__u16 *id;

	ctl->seen_wakeups++;
	if (!cfg_filter)
		return true;
	if (!is_told(p)) {
		ctl->filtered_wakeups++;
		return false;
	}
	id = id_of(p->pid);
	if (id)
		*id |= ID_TOLD;
	return true;
}

/* The first record of a CPU: who runs when it goes live. */
static __always_inline void begin_cpu(struct cpu_ctl *ctl, __u32 cpu, __u64 ts,
				      struct task_struct *running)
{
	struct side in = task_side(running);

	note_switch(ctl, ts, in, running->pid);
	set_id(running->pid, ID_RAN);
	ctl->start_ns = ts;
	ctl->preempt_count = preempt_count_address(running, cpu);
	if (cfg_filter && !ctl->leaves_wanted) {
		write_mark(ctl, cpu, ts, idle_side(), idle_side(), FXT_STATE_RUNNING, STR_MARK_START);
		write_mark(ctl, cpu, ts, idle_side(), idle_side(), FXT_STATE_RUNNING, STR_MARK_FILTER);
		ctl->hidden = 1;
	} else {
		write_mark(ctl, cpu, ts, idle_side(), in, FXT_STATE_RUNNING, STR_MARK_START);
	}
	store_release(&ctl->state, CPU_LIVE);
}

/* The last one: whoever runs is switched out. False: no room yet, the CPU stays live. */
static __always_inline bool end_cpu(struct cpu_ctl *ctl, __u32 cpu, __u64 ts,
				    struct task_struct *running)
{
	check_unseen(ctl, cpu, running);
	if (!have_room(ctl, cpu, ts, running, MARKED_WORDS))
		return false;
	write_mark(ctl, cpu, ts, cfg_filter && ctl->hidden ? idle_side() : leaving_side(ctl, running),
		   idle_side(), FXT_STATE_RUNNING, STR_MARK_STOP);
	ctl->stop_ns = ts;
	/* The partner of probes_end()'s load: what was counted here is now final. */
	store_release(&ctl->state, CPU_OFF);
	return true;
}

/*
 * Whom the trace has not seen before. Where tracepoints can be preempted (7.x) the kernel skips
 * a program that another thread is inside of on the CPU: then a new thread has no names, and
 * maybe the id of one that has exited, when it first runs. So do those that were there at the
 * start.
 */
static __noinline int meet(struct task_struct *p, __u16 *id)
{
	const struct cpu_ctl *ctl = ctl_of(bpf_get_smp_processor_id());

	if (!id)
		return 0;
	/* In exec() it has taken over the id of its process, whose first thread exited just now. */
	if ((*id & ID_EXITED) && !(p->flags & PF_EXITING) && !task_in_exec(p)) {
		name_new(p);
	} else if (!(*id & ID_NAMED)) {
		*id |= ID_NAMED;
		send_names(p, NULL);
	}
	/* On a CPU that is not recorded, too, but not before or behind what is. */
	if (ctl && (ctl->state != CPU_OFF || (states_told && !has_ended(ctl))))
		*id |= ID_RAN;
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
	if ((*id & (ID_NAMED | ID_RAN | ID_EXITED)) != (ID_NAMED | ID_RAN))
		meet(next, id);
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
	ctl->seen_wakeups++;	/* by what came of it */
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
	set_id(prev, ID_ASLEEP);
	/* Atomic, because a waker may leave its mark at this very moment. */
	was = __sync_lock_test_and_set(&ctl->cur, (__u64)next);
	if (!(was & CUR_WOKEN) || CUR_TID(was) != prev)
		return 0;
	clear_asleep(prev, 0);
	return was;
}

/* Is there room for a switch of @running, which, if its coming was not told, is switched in first? */
static __always_inline bool have_room_to_leave(struct cpu_ctl *ctl, __u32 cpu, __u64 ts,
					       struct task_struct *running)
{
	const bool hidden = cfg_filter && ctl->hidden && !ctl->gap_ns;

	if (!have_room(ctl, cpu, ts, running, LEAVE_WORDS + (hidden ? MARKED_WORDS : 0)))
		return false;
	if (hidden) {
		write_mark(ctl, cpu, ctl->last_ns, idle_side(),
			   (struct side){ ctl->last_koid, ctl->last_prio }, FXT_STATE_RUNNING, STR_MARK_FILTER);
		ctl->hidden = 0;
	}
	return true;
}

/* A switch between two that are not wanted: @out leaves the CPU's track, if it is there. */
static __always_inline void leave_out(struct cpu_ctl *ctl, __u32 cpu, __u64 ts, struct task_struct *prev,
				      struct side out, __u32 state)
{
	ctl->filtered_switches++;
	if ((!ctl->hidden || ctl->gap_ns) && have_room(ctl, cpu, ts, prev, MARKED_WORDS)) {
		write_mark(ctl, cpu, ts, out, idle_side(), state, STR_MARK_FILTER);
		ctl->hidden = 1;
	}
	read_barrier();
}

/* What it was inside of never returns. */
static __always_inline void end_thread(struct task_struct *p)
{
	if (cfg_func_exit)
		end_calls(p, false);
	if (cfg_syscalls)
		end_syscall();
}

SEC("tp_btf/sched_switch")
int BPF_PROG(on_sched_switch, bool preempt, struct task_struct *prev, struct task_struct *next,
	     unsigned int prev_state)
{
	__u32 cpu = bpf_get_smp_processor_id(), index, state;
	struct cpu_ctl *ctl = ctl_of(cpu);
	bool implied = come_in(next), dies, sleeps, wanted, told;
	struct side out, in;
	__u64 ts, was;

	if (cfg_filter && ctl && ctl->state != CPU_OFF)
		judge_switch(ctl, prev, next);
	index = state_index(preempt, prev, prev_state);
	state = FXT_STATES >> (index * 4) & 0xf;
	dies = index == STATE_X || index == STATE_Z;
	sleeps = index != STATE_R && index != STATE_R_PLUS && !dies;
	in = task_side(next);
	if (dies)
		end_thread(prev);
	if (!ctl)
		return 0;
	ts = bpf_ktime_get_boot_ns();
	if (ctl->state == CPU_ARMED)
		begin_cpu(ctl, cpu, ts, prev);
	if (ctl->state == CPU_OFF || (ctl->state == CPU_ENDING && end_cpu(ctl, cpu, ts, prev))) {
		clear_asleep(prev->pid, 0);	/* it may have come in unseen */
		hand_over(ctl, prev->pid, next->pid, sleeps);
		return 0;
	}
	check_unseen(ctl, cpu, prev);
	out = leaving_side(ctl, prev);
	if (dies)
		name_dying(prev, out.koid);
	ctl->seen_switches++;
	wanted = !cfg_filter || ctl->leaves_wanted;
	told = !cfg_filter || ctl->comes_told;
	if (!wanted && !told) {
		leave_out(ctl, cpu, ts, prev, out, state);
	} else if (have_room_to_leave(ctl, cpu, ts, prev)) {
		if (implied && told)
			write_implied_wakeup(ctl, ts, next);
		write_switch(ctl, cpu, ts, out, in, state,
			     index > STATE_S ? ARG_STR(STR_LINUX_STATE, STR_STATE_R + index) : 0,
			     !wanted && out.koid ? ARG_BOOL(STR_FILTERED, 1) : 0);
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
	ctl->seen_wakeups++;
	if (!wanted)
		ctl->filtered_wakeups++;
	else
		tell_wakeup(ctl, cpu, ts, next, prev, CUR_WAKER(was));
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
	bool recording;
	__u64 cur;

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
	recording = is_recording(ctl);
	waker = !recording || in_interrupt(ctl->preempt_count, me, true) ? 0 : me->pid;
	ctl->maybe_woken = 0;

	target = ctl_of(task_cpu(p));
	cur = target ? READ_ONCE(target->cur) : 0;
	if (target && CUR_TID(cur) == tid && leave_mark(ctl, target, tid, tid, waker))
		return 0;
	/* It is not there any more: then its bit is set, which the switch did first. */
	read_barrier();
	if (!clear_asleep(tid, recording ? ID_WOKEN : 0)) {
		/* Not seen to fall asleep. Running unseen, its switch in not reported? */
		if (target && task_on_cpu(p) && leave_mark(ctl, target, cur, tid, waker))
			return 0;
		/* Off its CPU, hence first off the queue if it sleeps. */
		read_barrier();
		/* Queued; else asleep since before the start. */
		if (!task_sched_delayed(p) && p->on_rq)
			return 0;
		if (recording)
			set_id(tid, ID_WOKEN);
	}
	if (!recording || !tells_wakeup(ctl, p))
		return 0;
	tell_wakeup(ctl, cpu, bpf_ktime_get_boot_ns(), me, p, waker);
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

	if (!ctl || !is_recording(ctl))
		return 0;
	set_id(p->pid, ID_WOKEN);
	if (!tells_wakeup(ctl, p))
		return 0;
	tell_wakeup(ctl, cpu, bpf_ktime_get_boot_ns(), me, p, me->pid);
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

	if (ctl && cfg_filter)
		ctl->leaves_wanted = is_chosen(me);
	if (ctl && ctl->state == CPU_ARMED)
		begin_cpu(ctl, cpu, bpf_ktime_get_boot_ns(), me);
	else if (ctl && ctl->state == CPU_ENDING)
		end_cpu(ctl, cpu, bpf_ktime_get_boot_ns(), me);
	return 0;
}

char LICENSE[] SEC("license") = "GPL";
