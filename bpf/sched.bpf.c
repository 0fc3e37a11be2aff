// SPDX-License-Identifier: GPL-2.0
/*
 * Context switches and wakeups, born as FXT scheduling records.
 *
 * All programs here that write to the ring run with interrupts off, which is
 * what makes its single producer single.
 */
#include "func.bpf.h"
#include "state.bpf.h"
#include "syscall.bpf.h"
#include "track.bpf.h"

/* Set by the recorder once it has the states of those that have done nothing so far. */
__u32 states_told;

/*
 * @running, on this CPU, or whoever is @waker woke @p; with no room for it that is a loss. @mark: see
 * write_wakeup().
 */
static __always_inline void tell_wakeup(struct cpu_ctl *ctl, __u32 cpu, __u64 ts, struct task_struct *running,
					struct task_struct *p, __u32 waker, __u32 mark)
{
	if (have_room(ctl, cpu, ts, running, WAKEUP_WORDS_MAX))
		write_wakeup(ctl, ts, p, task_cpu(p), waker, mark);
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

/* A wakeup that was, of which the trace does not tell: nobody wants it, or there was no room. */
static __always_inline void miss_wakeup(struct cpu_ctl *ctl, bool wanted)
{
	ctl->seen_wakeups++;
	if (wanted)
		ctl->lost_wakeups++;
	else
		ctl->filtered_wakeups++;
}

/* The first record of a CPU: who runs when it goes live. */
static __always_inline void begin_cpu(struct cpu_ctl *ctl, __u32 cpu, __u64 ts,
				      struct task_struct *running)
{
	struct side in = task_side(running);

	note_switch(ctl, ts, in, running->pid);
	set_id(running->pid, ID_RAN);
	set_id(0, ID_NAMED | ID_RAN);	/* idle threads */
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

/* The last one: whoever runs is switched out. With no room yet, it stays live. */
static __always_inline void end_cpu(struct cpu_ctl *ctl, __u32 cpu, __u64 ts,
				    struct task_struct *running)
{
	check_unseen(ctl, cpu, running);
	if (!have_room(ctl, cpu, ts, running, MARKED_WORDS))
		return;
	write_mark(ctl, cpu, ts, cfg_filter && ctl->hidden ? idle_side() : leaving_side(ctl, running),
		   idle_side(), FXT_STATE_RUNNING, STR_MARK_STOP);
	ctl->stop_ns = ts;
	ctl->calm_until = 0;
	/* The partner of probes_end()'s load: what was counted here is now final. */
	store_release(&ctl->state, CPU_OFF);
}

/* Begins or ends a CPU that is to; the state it is in then. */
static __noinline int change_state(struct cpu_ctl *ctl, __u32 cpu, __u64 ts, struct task_struct *running)
{
	if (ctl->state == CPU_ARMED)
		begin_cpu(ctl, cpu, ts, running);
	else if (ctl->state == CPU_ENDING)
		end_cpu(ctl, cpu, ts, running);
	return ctl->state;
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

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, LATE_WAKES);
	__type(key, __u32);
	__type(value, struct late_wake);
} late_wakes SEC(".maps");

static __always_inline struct late_wake *late_wake_of(__u32 tid)
{
	__u32 key = tid % LATE_WAKES;

	return bpf_map_lookup_elem(&late_wakes, &key);
}

/*
 * Who runs from now on is awake, and known. Returns ID_ASLEEP if it slept and nobody told of its
 * wakeup, and with it ID_LATE if somebody may have.
 */
static __always_inline __u32 come_in(struct task_struct *next, __u64 *koid)
{
	__u32 tid = next->pid, was;
	__u16 *id = tid ? id_of(tid) : NULL;

	*koid = tid;
	if (unlikely(!id))
		return 0;
	was = *id;
	if (unlikely((was & (ID_NAMED | ID_RAN | ID_EXITED | ID_ASLEEP)) != (ID_NAMED | ID_RAN))) {
		if (was & ID_ASLEEP)
			*id = was & ~(ID_ASLEEP | ID_LATE);
		meet(next, id);
	}
	*koid += ID_GENERATION(*id) * ID_GENERATION_STEP;
	return was & (ID_ASLEEP | ID_LATE);
}

/*
 * The wakeup of @p, which comes in asleep: by the waker that it met on its way to sleep or, if there was
 * none, by whom is not known, nor when. Where its CPU did not see the waker's mark, the waker read its
 * clock after that. Room was checked.
 */
static __noinline int write_missed_wakeup(struct cpu_ctl *ctl, __u64 ts, struct task_struct *p, bool late)
{
	struct late_wake *wake = late_wake_of(p->pid);
	__u64 who = wake ? READ_ONCE(wake->who) : 0;

	ctl->seen_wakeups++;	/* by what came of it */
	if (who && LATE_TID(who) == (__u32)p->pid && late == !!(who & LATE_SEEN) && wake->ts > ctl->start_ns) {
		write_wakeup(ctl, wake->ts, p, wake->cpu, LATE_WAKER(who), 0);
		wake->who = 0;
	} else {
		write_wakeup(ctl, ts, p, task_cpu(p), 0, STR_MARK_IMPLIED);
	}
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
 * @prev leaves, and a waker has met it here: if it @sleeps, that is told when it runs again. Returns
 * whether the trace is to have it asleep: not if this CPU is not recorded (@ts is 0).
 */
static __noinline int keep_mark(__u32 prev, __u64 ts, bool sleeps)
{
	struct late_wake *wake = late_wake_of(prev);

	if (!wake || LATE_TID(wake->who) != prev)
		return sleeps;
	if (!sleeps || !ts) {
		wake->who = 0;
		return false;
	}
	wake->ts = ts + 1;		/* behind its switch, wherever that is in the file */
	WRITE_ONCE(wake->who, wake->who | LATE_SEEN);
	set_id(prev, ID_LATE);
	return true;
}

/*
 * @next runs from now on, and @prev, whose word is @prev_id, can be woken if it @sleeps. So on every CPU,
 * as the waker may be on one that records.
 */
static __always_inline void hand_over(struct cpu_ctl *ctl, __u64 ts, __u32 prev, __u16 *prev_id, __u32 next,
				      bool sleeps)
{
	if (unlikely(READ_ONCE(ctl->cur) & CUR_WOKEN))
		sleeps = keep_mark(prev, ts, sleeps);
	if (sleeps && prev_id)
		*prev_id |= ID_ASLEEP;
	store_release(&ctl->cur, (__u64)next);
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
static __noinline int end_thread(struct cpu_ctl *ctl, struct task_struct *p)
{
	if (cfg_func_exit)
		end_calls(p, false);
	if (cfg_syscalls)
		end_syscall();
	if (ctl->state != CPU_OFF)
		name_dying(p, leaving_side(ctl, p).koid);
	return 0;
}

/* A switch on a CPU that is not recorded. */
static __noinline int switch_unrecorded(struct cpu_ctl *ctl, struct task_struct *prev, struct task_struct *next,
					bool sleeps)
{
	__u64 koid;

	come_in(next, &koid);
	clear_asleep(prev->pid, 0);	/* it may have come in unseen */
	hand_over(ctl, 0, prev->pid, id_of(prev->pid), next->pid, sleeps);
	return 0;
}

/* A switch of any kind; @args are the tracepoint's. */
static __noinline int any_switch(struct cpu_ctl *ctl, unsigned long long *args)
{
	struct task_struct *prev = (void *)args[1], *next = (void *)args[2];
	const __u32 index = state_index(args[0], prev, args[3]);
	__u64 ts = bpf_ktime_get_boot_ns();
	const bool filter = cfg_filter;
	__u32 cpu = bpf_get_smp_processor_id(), state = FXT_STATES >> (index * 4) & 0xf, missed;
	const bool sleeps = STATES_ASLEEP >> index & 1;
	bool wanted, told;
	struct side out, in;

	if (filter && ctl->state != CPU_OFF)
		judge_switch(ctl, prev, next);
	if (STATES_DEAD >> index & 1) {
		end_thread(ctl, prev);
		ts = bpf_ktime_get_boot_ns();	/* behind what that has ended */
	}
	if (ctl->state != CPU_LIVE && change_state(ctl, cpu, ts, prev) == CPU_OFF)
		return switch_unrecorded(ctl, prev, next, sleeps);
	missed = come_in(next, &in.koid);
	in.prio = next->pid ? next->prio : FXT_WEIGHT_IDLE;
	check_unseen(ctl, cpu, prev);
	out.koid = ctl->last_koid;
	out.prio = prev->pid ? prev->prio : FXT_WEIGHT_IDLE;
	ctl->seen_switches++;
	wanted = !filter || ctl->leaves_wanted;
	told = !filter || ctl->comes_told;
	if (!wanted && !told) {
		leave_out(ctl, cpu, ts, prev, out, state);
	} else if (have_room_to_leave(ctl, cpu, ts, prev)) {
		if (missed && told)
			write_missed_wakeup(ctl, ts, next, missed & ID_LATE);
		write_switch(ctl, cpu, ts, out, in, state,
			     index > STATE_S ? ARG_STR(STR_LINUX_STATE, STR_STATE_R + index) : 0,
			     !wanted && out.koid ? ARG_BOOL(STR_FILTERED, 1) : 0);
		ctl->switches++;
		missed = told ? 0 : missed;
	} else {
		ctl->lost_switches++;
		read_barrier();		/* as there is in ring_submit() */
	}
	if (missed & ID_LATE)
		miss_wakeup(ctl, told);
	note_switch(ctl, ts, in, next->pid);
	/* From here on it sleeps, at a time that has been read: a waker's will be later. */
	hand_over(ctl, ts, prev->pid, id_of(prev->pid), next->pid, sleeps);
	return 0;
}

/*
 * The switch that nearly all are: from who was told to come to one who is known and was told to be
 * awake, with no need to look around. What any_switch() does, in less code: the kernel's own fills the
 * caches at a switch, and each line of ours is a miss. False: it is another one, nothing has been done.
 */
static __always_inline bool usual_switch(struct cpu_ctl *ctl, __u64 ts, __u32 index, struct task_struct *prev,
					 struct task_struct *next)
{
	__u32 tid, last_tid = prev->pid;
	__u64 *rec, header, koid;
	__s32 prio;
	__u16 *id;

	if (ctl->head + LEAVE_WORDS * 8 > ctl->calm_until || ctl->last_tid != last_tid)
		return false;
	rec = ring_place(ctl, MARKED_WORDS);
	if (!rec)
		return false;
	/*
	 * Not there before it is submitted, but written where it is known: what is kept over the looks into
	 * maps is on the stack, and from 64 bytes on the kernel gives a program a stack of its own (6.13).
	 */
	rec[1] = ts;
	rec[2] = ctl->last_koid;
	header = ctl->switch_header;
	if (unlikely(index > STATE_S)) {
		if (STATES_DEAD >> index & 1)
			return false;
		header += FXT_SCHED_HEADER(FXT_SCHED_SWITCH, MARKED_WORDS, 3, 0) -
			  FXT_SCHED_HEADER(FXT_SCHED_SWITCH, SWITCH_WORDS, 2, 0) +
			  FXT_PUT(FXT_STATES >> (index * 4), FXT_F_SCHED_STATE) -
			  FXT_PUT(FXT_STATE_RUNNING, FXT_F_SCHED_STATE);
		rec[6] = ARG_STR(STR_LINUX_STATE, STR_STATE_R + index);
	} else {
		header += index * FXT_PUT(FXT_STATE_BLOCKED - FXT_STATE_RUNNING, FXT_F_SCHED_STATE);
	}
	rec[0] = header;
	prio = last_tid ? prev->prio : FXT_WEIGHT_IDLE;
	rec[4] = ARG_I32(STR_OUTGOING_WEIGHT, prio);
	tid = next->pid;
	prio = tid ? next->prio : FXT_WEIGHT_IDLE;
	rec[5] = ARG_I32(STR_INCOMING_WEIGHT, prio);
	id = id_at(tid);
	if (!id || (*id & (ID_NAMED | ID_RAN | ID_EXITED | ID_ASLEEP)) != (ID_NAMED | ID_RAN))
		return false;
	koid = tid + ID_GENERATION(*id) * ID_GENERATION_STEP;
	rec[3] = koid;
	last_tid = ctl->last_tid;
	ctl->last_ns = rec[1];
	ctl->last_tid = tid;
	ctl->last_koid = koid;
	ctl->last_prio = (__s32)(rec[5] >> 32);
	ring_submit(ctl, index > STATE_S ? MARKED_WORDS : SWITCH_WORDS);
	ctl->seen_switches++;
	ctl->switches++;
	hand_over(ctl, ctl->last_ns, last_tid, id_at(last_tid), tid, STATES_ASLEEP >> index & 1);
	return true;
}

SEC("tp_btf/sched_switch")
int on_sched_switch(unsigned long long *ctx)
{
	__u64 ts = bpf_ktime_get_boot_ns();
	struct cpu_ctl *ctl = ctl_at(bpf_get_smp_processor_id());
	struct task_struct *prev = (void *)ctx[1], *next = (void *)ctx[2];

	if (!ctl)
		return 0;
	if (unlikely(!usual_switch(ctl, ts, state_index(ctx[0], prev, ctx[3]), prev, next)))
		any_switch(ctl, ctx);
	return 0;
}

/*
 * A wake that finds its target running: whether that is on its way to sleep is not to be seen, but what
 * it does next will tell. False if it was not there any more.
 */
static __always_inline bool leave_mark(struct cpu_ctl *target, __u64 cur, struct task_struct *p, __u32 waker)
{
	__u32 tid = p->pid;
	struct late_wake *wake = late_wake_of(tid);

	if (!wake)
		return false;
	wake->ts = 0;
	wake->cpu = task_cpu(p);
	WRITE_ONCE(wake->who, LATE_WHO(tid, waker));
	if (__sync_val_compare_and_swap(&target->cur, cur, CUR_WOKEN | tid) != cur) {
		wake->who = 0;
		return false;
	}
	__sync_val_compare_and_swap(&wake->ts, 0, bpf_ktime_get_boot_ns());	/* unless it has left meanwhile */
	return true;
}

/* A wake of any kind, by @waker; 0: nobody. */
static __noinline int any_waking(struct cpu_ctl *ctl, struct task_struct *p, __u32 waker)
{
	struct task_struct *me = bpf_get_current_task_btf();
	__u32 cpu = bpf_get_smp_processor_id(), tid = p->pid;
	struct cpu_ctl *target = ctl_of(task_cpu(p));
	const bool recording = is_recording(ctl);
	__u64 cur = target ? READ_ONCE(target->cur) : 0;
	__u32 mark = 0;
	__u16 *id;

	if (!recording)
		waker = 0;
	if (target && CUR_TID(cur) == tid && leave_mark(target, cur, p, waker))
		return 0;
	/* It is not there any more: then its bit is set, which the switch did first. */
	read_barrier();
	if (!clear_asleep(tid, recording ? ID_WOKEN : 0)) {
		/* Not seen to fall asleep. Running unseen, its switch in not reported? */
		if (target && task_on_cpu(p) && leave_mark(target, cur, p, waker))
			return 0;
		/* Off its CPU, hence first off the queue if it sleeps. */
		read_barrier();
		/* Queued; else asleep since before the start, or where it slept was told to nobody. */
		if (!task_sched_delayed(p) && p->on_rq)
			return 0;
		id = id_of(tid);
		if (recording && id) {
			mark = *id & (ID_RAN | ID_WOKEN) ? STR_MARK_GAP : 0;
			*id |= ID_WOKEN;
		}
	}
	if (recording && tells_wakeup(ctl, p))
		tell_wakeup(ctl, cpu, bpf_ktime_get_boot_ns(), me, p, waker, mark);
	return 0;
}

/* To any_waking() what usual_switch() is to any_switch(): @p was told to sleep, and its waker to run. */
static __always_inline bool usual_waking(struct cpu_ctl *ctl, __u32 cpu, struct task_struct *p, __u32 me, __u32 waker)
{
	__u32 tid = p->pid, last_cpu = task_cpu(p);
	struct cpu_ctl *target;
	__u64 *rec;
	__u16 *id;

	/* On this CPU @me runs. */
	if (last_cpu != cpu) {
		target = ctl_at(last_cpu);
		if (!target || CUR_TID(READ_ONCE(target->cur)) == tid)
			return false;
	}
	/* It is not there any more: then its bit is set, which the switch did first. */
	read_barrier();
	if (ctl->head + WAKEUP_WORDS * 8 > ctl->calm_until || ctl->last_tid != me)
		return false;
	rec = ring_place(ctl, WAKEUP_WORDS);
	if (!rec)
		return false;
	rec[0] = FXT_SCHED_HEADER(FXT_SCHED_WAKEUP, WAKEUP_WORDS, 2, last_cpu);
	rec[3] = ARG_I32(STR_WEIGHT, p->prio);
	rec[4] = FXT_ARG_HEADER(FXT_ARG_KOID, 2, STR_WAKER);
	rec[5] = waker ? ctl->last_koid : 0;
	id = id_at(tid);
	if (!id || !(*id & ID_ASLEEP))
		return false;
	*id = (*id & ~(ID_ASLEEP | ID_LATE)) | ID_WOKEN;
	rec[2] = tid + ID_GENERATION(*id) * ID_GENERATION_STEP;
	rec[1] = bpf_ktime_get_boot_ns();
	ring_submit(ctl, WAKEUP_WORDS);
	ctl->wakeups++;
	ctl->seen_wakeups++;
	return true;
}

SEC("tp_btf/sched_waking")
int BPF_PROG(on_sched_waking, struct task_struct *p)
{
	struct task_struct *me = bpf_get_current_task_btf();
	__u32 cpu = bpf_get_smp_processor_id(), pid, waker;
	struct cpu_ctl *ctl = ctl_at(cpu);

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
	pid = me->pid;
	waker = in_interrupt(ctl->preempt_count, me, true) ? 0 : pid;
	if (unlikely(!usual_waking(ctl, cpu, p, pid, waker)))
		any_waking(ctl, p, waker);
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
	tell_wakeup(ctl, cpu, bpf_ktime_get_boot_ns(), me, p, me->pid, 0);
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
	if (ctl)
		change_state(ctl, cpu, bpf_ktime_get_boot_ns(), me);
	return 0;
}

char LICENSE[] SEC("license") = "GPL";
