// SPDX-License-Identifier: GPL-2.0
/*
 * Context switches and wakeups, born as FXT scheduling records.
 *
 * All programs here that write to the ring run with interrupts off, which is
 * what makes its single producer single.
 */
#include "abi/ctl.h"
#include "abi/ids.h"
#include "abi/ring.h"
#include "abi/strings.h"
#include "lib/func.bpf.h"
#include "lib/stamp.bpf.h"
#include "lib/state.bpf.h"
#include "lib/syscall.bpf.h"
#include "lib/track.bpf.h"

/* Set by the recorder once it has the states of those that have done nothing so far. */
__u32 states_recorded;

/*
 * Writes that @waker woke @p; @running is the current task. Without space in the ring the wakeup is
 * counted as lost. @mark: see write_wakeup().
 */
static __always_inline void emit_wakeup(struct cpu_ctl *ctl, __u32 cpu, __u64 ts, struct task_struct *running,
					struct task_struct *p, __u32 waker, __u32 mark)
{
	if (have_space(ctl, cpu, ts, running->pid, running->prio, WAKEUP_WORDS_MAX))
		write_wakeup(ctl, ts, p->pid, p->prio, task_cpu(p), waker, mark);
	else
		ctl->lost_wakeups++;
}

/*
 * With a filter the trace has the switches from or to a selected task. A CPU's track shows both
 * tasks of such a switch: the outgoing one from its switch-in, the incoming one to its switch-out.
 * Where one of these is filtered out, a switch marked `filter` takes its place. In between the
 * track is empty, @hidden.
 *
 * A task selected at switch-out stays recorded until its next switch-out, even if deselected
 * meanwhile: its wakeup and its next switch are written. That keeps the task states in the trace
 * true. ID_RECORDED is changed by the task with that TID and by its waker, as ID_ASLEEP is.
 */
static __always_inline bool is_recorded(struct task_struct *p)
{
	__u16 *id;

	if (!cfg_filter || is_chosen(p))
		return true;
	id = id_of(p->pid);
	return id && *id & ID_RECORDED;
}

/*
 * Is @prev, the outgoing task, selected? Once it is dead, another task can have its TID, and with
 * it the verdict, as in outgoing_side().
 */
static __always_inline bool outgoing_selected(const struct cpu_ctl *ctl, struct task_struct *prev)
{
	__u16 *id = id_of(prev->pid);
	bool selected;

	if (prev->exit_state && ctl->last_tid == (__u32)prev->pid && ctl->last_koid != koid_of(prev->pid))
		return has_verdict(prev->pid, VERDICT_PAST) || in_selected_cgroup(prev);
	selected = is_chosen(prev);
	if (id && !prev->exit_state && selected != !!(*id & ID_RECORDED))
		*id ^= ID_RECORDED;
	return selected;
}

/*
 * Runs first in a switch. The results are spilled to memory: tracked in registers, the verifier
 * would fork its state at each branch and hit its limit.
 */
static __noinline int judge_switch(struct cpu_ctl *ctl, struct task_struct *prev, struct task_struct *next)
{
	ctl->outgoing_selected = outgoing_selected(ctl, prev);
	ctl->incoming_recorded = is_recorded(next);
	return 0;
}

/* Is the wakeup of @p to be written? */
static __always_inline bool account_wakeup(struct cpu_ctl *ctl, struct task_struct *p)
{
	__u16 *id;

	ctl->seen_wakeups++;
	if (!cfg_filter)
		return true;
	if (!is_recorded(p)) {
		ctl->filtered_wakeups++;
		return false;
	}
	id = id_of(p->pid);
	if (id)
		*id |= ID_RECORDED;
	return true;
}

/* Counts a wakeup that is not written: filtered out, or the ring is full. */
static __always_inline void miss_wakeup(struct cpu_ctl *ctl, bool selected)
{
	ctl->seen_wakeups++;
	if (selected)
		ctl->lost_wakeups++;
	else
		ctl->filtered_wakeups++;
}

/* The first record of a CPU: the current task when the CPU goes live. */
static __always_inline void begin_cpu(struct cpu_ctl *ctl, __u32 cpu, __u64 ts,
				      struct task_struct *running)
{
	struct side in = task_side(running);

	note_switch(ctl, ts, in, running->pid);
	clear_asleep(running->pid, 0);	/* its switch-in may not have been reported */
	set_id(running->pid, ID_RAN);
	set_id(0, ID_NAMED | ID_RAN);	/* idle threads */
	ctl->start_ns = ts;
	ctl->preempt_count = preempt_count_address(running, cpu);
	if (cfg_filter && !ctl->outgoing_selected) {
		write_mark(ctl, cpu, ts, idle_side(), idle_side(), FXT_STATE_RUNNING, STR_MARK_START);
		write_mark(ctl, cpu, ts, idle_side(), idle_side(), FXT_STATE_RUNNING, STR_MARK_FILTER);
		ctl->hidden = 1;
	} else {
		write_mark(ctl, cpu, ts, idle_side(), in, FXT_STATE_RUNNING, STR_MARK_START);
	}
	store_release(&ctl->state, CPU_LIVE);
}

/* The last one: the current task is switched out. Without space in the ring the CPU stays live. */
static __always_inline void end_cpu(struct cpu_ctl *ctl, __u32 cpu, __u64 ts,
				    struct task_struct *running)
{
	check_unreported(ctl, cpu, running);
	if (!have_space(ctl, cpu, ts, running->pid, running->prio, MARKED_WORDS))
		return;
	write_mark(ctl, cpu, ts, cfg_filter && ctl->hidden ? idle_side() : outgoing_side(ctl, running),
		   idle_side(), FXT_STATE_RUNNING, STR_MARK_STOP);
	ctl->stop_ns = ts;
	ctl->fast_until = 0;
	/* The partner of programs_end()'s load: what was counted here is now final. */
	store_release(&ctl->state, CPU_OFF);
}

/* Begins or ends this CPU if it is to; the state it is in then. Global, as end_gap() is. */
__noinline int change_state(__u32 cpu, __u64 ts)
{
	struct task_struct *running = bpf_get_current_task_btf();
	struct cpu_ctl *ctl = ctl_of(cpu);

	if (!ctl)
		return CPU_OFF;
	if (ctl->state == CPU_ARMED)
		begin_cpu(ctl, cpu, ts, running);
	else if (ctl->state == CPU_ENDING)
		end_cpu(ctl, cpu, ts, running);
	return ctl->state;
}

/*
 * Names @p if it has not been. Where tracepoints can be preempted (7.x), the kernel skips a program that another thread is
 * executing on the CPU: then a new thread has no names when it is first woken, and maybe the TID of one that has exited. The
 * same goes for threads that existed at the start.
 */
static __noinline int name_unnamed(struct task_struct *p, __u16 *id)
{
	if (!id)
		return 0;
	/* In exec() it has taken over the id of its process, whose first thread exited just now. */
	if ((*id & ID_EXITED) && !(p->flags & PF_EXITING) && !task_in_exec(p))
		begin_life(p);
	if (!(*id & ID_NAMED)) {
		*id |= ID_NAMED;
		name_process(address_of(p));
		send_names(address_of(p), 0);
	}
	return 0;
}

/* Names @p, which the trace has not seen running before, and sets ID_RAN. */
static __noinline int meet(struct task_struct *p, __u16 *id)
{
	const struct cpu_ctl *ctl = ctl_of(bpf_get_smp_processor_id());

	name_unnamed(p, id);
	/* On a CPU that is not recorded, too, but not before or after the recording. */
	if (id && ctl && (ctl->state != CPU_OFF || (states_recorded && !has_ended(ctl))))
		*id |= ID_RAN;
	return 0;
}

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, DEFERRED_WAKEUPS);
	__type(key, __u32);
	__type(value, struct deferred_wakeup);
} deferred_wakes SEC(".maps");

static __always_inline struct deferred_wakeup *deferred_wakeup_of(__u32 tid)
{
	__u32 key = tid % DEFERRED_WAKEUPS;

	return bpf_map_lookup_elem(&deferred_wakes, &key);
}

/*
 * Marks @next running and named. Returns ID_ASLEEP if it slept and its wakeup was not reported,
 * with ID_DEFERRED if there may be a struct deferred_wakeup.
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
			*id = was & ~(ID_ASLEEP | ID_DEFERRED);
		meet(next, id);
	}
	*koid += ID_GENERATION(*id) * ID_GENERATION_STEP;
	return was & (ID_ASLEEP | ID_DEFERRED);
}

/*
 * Writes the wakeup of @tid, which is switched in on this CPU, @cpu, although it is marked asleep. Waker and
 * time are known if the waker left a mark while it was going to sleep. If the switch-out did not see that mark
 * (not ID_DEFERRED in @missed), the waker read its clock after the switch-out. The caller has checked that the
 * ring has space. Global, as end_gap() is.
 */
__noinline int write_missed_wakeup(__u32 cpu, __u64 ts, __u32 tid, __s32 prio, __u32 missed)
{
	struct deferred_wakeup *wake = deferred_wakeup_of(tid);
	__u64 who = wake ? READ_ONCE(wake->who) : 0;
	struct cpu_ctl *ctl = ctl_of(cpu);

	if (!ctl)
		return 0;
	ctl->seen_wakeups++;	/* by what came of it */
	if (who && DEFERRED_TID(who) == tid && !(missed & ID_DEFERRED) == !(who & DEFERRED_SEEN) &&
	    wake->ts > ctl->start_ns) {
		write_wakeup(ctl, wake->ts, tid, prio, wake->cpu, DEFERRED_WAKER(who), 0);
		wake->who = 0;
	} else {
		write_wakeup(ctl, ts, tid, prio, cpu, 0, STR_MARK_IMPLIED);
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
		send_names(address_of(p), 0);
	return 0;
}

/*
 * @prev is switched out, and a waker has left a mark for it: if it @sleeps, the wakeup is written when
 * it is switched in again. Returns whether the trace is to have it asleep: not if this CPU is not
 * recorded (@ts is 0).
 */
static __noinline int keep_mark(__u32 prev, __u64 ts, bool sleeps)
{
	struct deferred_wakeup *wake = deferred_wakeup_of(prev);

	if (!wake || DEFERRED_TID(wake->who) != prev)
		return sleeps;
	if (!sleeps || !ts) {
		wake->who = 0;
		return false;
	}
	wake->ts = ts + 1;		/* after its switch-out, wherever that is in the file */
	WRITE_ONCE(wake->who, wake->who | DEFERRED_SEEN);
	set_id(prev, ID_DEFERRED);
	return true;
}

/*
 * Makes @next current; @prev, whose state word is @prev_id, can be woken from now on if it @sleeps.
 * Runs on every CPU, as the waker may be on one that is recorded.
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

/* Is there space to switch out who is on the track? If its switch-in was filtered out, writes that first. */
static __always_inline bool have_space_to_switch_out(struct cpu_ctl *ctl, __u32 cpu, __u64 ts, __s32 prio)
{
	const bool hidden = cfg_filter && ctl->hidden && !ctl->gap_ns;

	if (!have_space(ctl, cpu, ts, ctl->last_tid, prio, LEAVE_WORDS + (hidden ? MARKED_WORDS : 0)))
		return false;
	if (hidden) {
		write_mark(ctl, cpu, ctl->last_ns, idle_side(),
			   (struct side){ ctl->last_koid, ctl->last_prio }, FXT_STATE_RUNNING, STR_MARK_FILTER);
		ctl->hidden = 0;
	}
	return true;
}

/* A switch between two tasks that are filtered out: ends @out on the CPU's track, if it is there. */
static __always_inline void leave_out(struct cpu_ctl *ctl, __u32 cpu, __u64 ts, struct side out, __u32 state)
{
	ctl->filtered_switches++;
	if ((!ctl->hidden || ctl->gap_ns) && have_space(ctl, cpu, ts, ctl->last_tid, out.prio, MARKED_WORDS)) {
		write_mark(ctl, cpu, ts, out, idle_side(), state, STR_MARK_FILTER);
		ctl->hidden = 1;
	}
	read_barrier();
}

/* Ends the calls and the system call that @p was inside of: they never return. */
static __noinline int end_thread(struct cpu_ctl *ctl, struct task_struct *p)
{
	if (cfg_func_exit)
		end_calls(p, false);
	if (cfg_syscalls)
		end_syscall();
	if (ctl->state != CPU_OFF)
		name_dying(p, outgoing_side(ctl, p).koid);
	return 0;
}

/* A switch on a CPU that is not recorded. */
static __noinline int switch_unrecorded(struct cpu_ctl *ctl, struct task_struct *prev, struct task_struct *next,
					bool sleeps)
{
	__u64 koid;

	ctl->ran_unrecorded = 1;
	come_in(next, &koid);
	clear_asleep(prev->pid, 0);	/* its switch-in may not have been reported */
	hand_over(ctl, 0, prev->pid, id_of(prev->pid), next->pid, sleeps);
	return 0;
}

/* A parameter of put_switch(): the id of the incoming task, its bits (see come_in()), the index of the state. */
#define SWITCH_WHAT(tid, missed, index)	((__u64)(index) << 48 | (__u64)(missed) << 32 | (__u32)(tid))
#define WHAT_TID(what)			((__u32)(what))
#define WHAT_MISSED(what)		((what) >> 32 & 0xffff)
#define WHAT_INDEX(what)		((what) >> 48 & 0xf)

/*
 * Writes a switch on a CPU that is live, from the task that is on its track to @koid, with both priorities: the
 * incoming task's is the lower half. Global, as end_gap() is: its callers come in many states.
 */
__noinline int put_switch(struct cpu_ctl *ctl, __u64 ts, __u64 koid, __u64 prios, __u64 what)
{
	const __u32 index = WHAT_INDEX(what), state = FXT_STATES >> (index * 4) & 0xf, tid = WHAT_TID(what);
	const bool filter = cfg_filter, sleeps = STATES_ASLEEP >> index & 1;
	__u32 missed = WHAT_MISSED(what), last_tid;
	const __u32 cpu = bpf_get_smp_processor_id();
	struct side out, in = { koid, prios };
	bool selected, recorded;

	if (!ctl)
		return 0;
	last_tid = ctl->last_tid;
	out.koid = ctl->last_koid;
	out.prio = prios >> 32;
	ctl->seen_switches++;
	selected = !filter || ctl->outgoing_selected;
	recorded = !filter || ctl->incoming_recorded;
	if (!selected && !recorded) {
		leave_out(ctl, cpu, ts, out, state);
	} else if (have_space_to_switch_out(ctl, cpu, ts, out.prio)) {
		if (missed && recorded)
			write_missed_wakeup(cpu, ts, tid, in.prio, missed);
		write_switch(ctl, cpu, ts, out, in, state,
			     index > STATE_S ? FXT_STR_ARG(STR_LINUX_STATE, STR_STATE_R + index) : 0,
			     !selected && out.koid ? FXT_BOOL_ARG(STR_FILTERED, 1) : 0);
		ctl->switches++;
		missed = recorded ? 0 : missed;
	} else {
		ctl->lost_switches++;
		read_barrier();		/* as there is in ring_submit() */
	}
	if (missed & ID_DEFERRED)
		miss_wakeup(ctl, recorded);
	note_switch(ctl, ts, in, tid);
	/* From here on it sleeps, at a time that has been read: a waker's will be later. */
	hand_over(ctl, ts, last_tid, id_of(last_tid), tid, sleeps);
	return 0;
}

/* A switch of any kind; @args are the tracepoint's. */
static __noinline int any_switch(struct cpu_ctl *ctl, unsigned long long *args)
{
	struct task_struct *prev = (void *)args[1], *next = (void *)args[2];
	const __u32 index = state_index(args[0], prev, args[3]), cpu = bpf_get_smp_processor_id();
	__u64 ts = bpf_ktime_get_boot_ns(), koid;
	bool unreported;
	__s32 in, out;
	__u32 missed;

	if (cfg_filter && ctl->state != CPU_OFF)
		judge_switch(ctl, prev, next);
	if (STATES_DEAD >> index & 1) {
		end_thread(ctl, prev);
		ts = bpf_ktime_get_boot_ns();	/* after the slices that it has ended */
	}
	if (ctl->state != CPU_LIVE && change_state(cpu, ts) == CPU_OFF)
		return switch_unrecorded(ctl, prev, next, STATES_ASLEEP >> index & 1);
	unreported = ctl->last_tid != (__u32)prev->pid;
	check_unreported(ctl, cpu, prev);
	missed = come_in(next, &koid);
	/*
	 * Its switch-in was not reported: up to here a waker could take @prev for asleep and write a wakeup.
	 * That must be before this sleep, or the trace has two wakeups of one sleep.
	 */
	if (unreported)
		ts = bpf_ktime_get_boot_ns();
	in = next->pid ? next->prio : FXT_WEIGHT_IDLE;
	out = prev->pid ? prev->prio : FXT_WEIGHT_IDLE;
	put_switch(ctl, ts, koid, (__u64)out << 32 | (__u32)in, SWITCH_WHAT(next->pid, missed, index));
	return 0;
}

/*
 * The fast path of nearly all switches: the switch-in of @prev was reported, and @next is known and
 * marked awake. Does what any_switch() does, in less code: the kernel's own fills the caches at a switch,
 * and each line of ours is a miss. False: this is another kind of switch, nothing has been done.
 */
static __always_inline bool usual_switch(struct cpu_ctl *ctl, __u64 ts, __u32 index, struct task_struct *prev,
					 struct task_struct *next)
{
	__u32 tid, last_tid = prev->pid;
	__u64 *rec, header, koid;
	__s32 prio;
	__u16 *id;

	if (ctl->head + LEAVE_WORDS * 8 > ctl->fast_until || ctl->last_tid != last_tid)
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
		header += FXT_SWITCH_HEADER(MARKED_WORDS, 3, 0, FXT_STATES >> (index * 4)) -
			  FXT_SWITCH_HEADER(SWITCH_WORDS, 2, 0, FXT_STATE_RUNNING);
		rec[6] = FXT_STR_ARG(STR_LINUX_STATE, STR_STATE_R + index);
	} else {
		header += index * FXT_PUT(FXT_STATE_BLOCKED - FXT_STATE_RUNNING, FXT_F_SCHED_STATE);
	}
	rec[0] = header;
	prio = last_tid ? prev->prio : FXT_WEIGHT_IDLE;
	rec[4] = FXT_I32_ARG(STR_OUTGOING_WEIGHT, prio);
	tid = next->pid;
	prio = tid ? next->prio : FXT_WEIGHT_IDLE;
	rec[5] = FXT_I32_ARG(STR_INCOMING_WEIGHT, prio);
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

static __always_inline int record_switch(unsigned long long *ctx, const bool stamp)
{
	__u64 ts = bpf_ktime_get_boot_ns();
	__u32 cpu = bpf_get_smp_processor_id();
	struct cpu_ctl *ctl = ctl_at(cpu);
	struct task_struct *prev = (void *)ctx[1], *next = (void *)ctx[2];
	__u32 index;

	if (!ctl)
		return 0;
	if (stamp && cfg_idle)
		count_idle(cpu, ts, ctl->last_ns, prev->pid, next->pid);
	index = state_index(ctx[0], prev, ctx[3]);
	if (stamp && cfg_stamps)
		ctl->outgoing_asleep = STATES_ASLEEP >> index & 1;
	if (unlikely(!usual_switch(ctl, ts, index, prev, next)))
		any_switch(ctl, ctx);
	if (stamp && cfg_stamps)
		stamp_switch(ctl, prev->pid, next->pid, READ_ONCE(ctl->outgoing_asleep));
	return 0;
}

SEC("tp_btf/sched_switch")
int on_sched_switch(unsigned long long *ctx)
{
	return record_switch(ctx, false);
}

/* In its place where stacks are sampled: a program of its own, for the other to be as short as it is. */
SEC("?tp_btf/sched_switch")
int on_sched_switch_stamped(unsigned long long *ctx)
{
	return record_switch(ctx, true);
}

/*
 * A wake that finds its target running: whether that is on its way to sleep is not to be seen, but what
 * it does next will show. False if it was not there any more.
 */
static __always_inline bool leave_mark(struct cpu_ctl *target, __u64 cur, struct task_struct *p, __u32 waker)
{
	__u32 tid = p->pid;
	struct deferred_wakeup *wake = deferred_wakeup_of(tid);

	if (!wake)
		return false;
	wake->ts = 0;
	wake->cpu = task_cpu(p);
	WRITE_ONCE(wake->who, DEFERRED_WHO(tid, waker));
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
	bool asleep;
	__u32 mark = 0;
	__u16 *id;

	if (!recording)
		waker = 0;
	if (target && CUR_TID(cur) == tid && leave_mark(target, cur, p, waker))
		return 0;
	/* It is not there any more: then its bit is set, which the switch did first. */
	read_barrier();
	asleep = clear_asleep(tid, recording ? ID_WOKEN : 0);
	if (!asleep) {
		/* Not seen to fall asleep. Does it run, its switch-in not reported? */
		if (target && task_on_cpu(p) && leave_mark(target, cur, p, waker))
			return 0;
		/* Off its CPU, hence first off the queue if it sleeps. */
		read_barrier();
	}
	/* Asked again: when it was not asleep before, its CPU may have been in the switch. */
	if (!asleep && !clear_asleep(tid, recording ? ID_WOKEN : 0)) {
		/* Queued: awake. Else it fell asleep before the start, or its switch-out was not reported. */
		if (!task_sched_delayed(p) && p->on_rq)
			return 0;
		id = id_of(tid);
		if (recording && id) {
			mark = *id & (ID_RAN | ID_WOKEN) ? STR_MARK_GAP : 0;
			*id |= ID_WOKEN;
		}
	}
	if (recording && account_wakeup(ctl, p))
		emit_wakeup(ctl, cpu, bpf_ktime_get_boot_ns(), me, p, waker, mark);
	return 0;
}

/* The fast path of any_waking(): the switch-out of @p and the switch-in of its waker were reported. */
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
	if (ctl->head + WAKEUP_WORDS * 8 > ctl->fast_until || ctl->last_tid != me)
		return false;
	rec = ring_place(ctl, WAKEUP_WORDS);
	if (!rec)
		return false;
	rec[0] = FXT_SCHED_HEADER(FXT_SCHED_WAKEUP, WAKEUP_WORDS, 2, last_cpu);
	rec[3] = FXT_I32_ARG(STR_WEIGHT, p->prio);
	rec[4] = FXT_ARG_HEADER(FXT_ARG_KOID, 2, STR_WAKER);
	rec[5] = waker ? ctl->last_koid : 0;
	id = id_at(tid);
	if (!id || !(*id & ID_ASLEEP))
		return false;
	*id = (*id & ~(ID_ASLEEP | ID_DEFERRED)) | ID_WOKEN;
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
	__u16 *id;

	if (!ctl || !is_recording(ctl))
		return 0;
	id = id_of(p->pid);
	/* Made before the begin, and reported as runnable. */
	if (id && *id & ID_WOKEN && p->start_boottime < ctl->start_ns)
		return 0;
	if (id && (*id & (ID_NAMED | ID_EXITED)) != ID_NAMED)
		name_unnamed(p, id);
	if (id)
		*id |= ID_WOKEN;
	if (!account_wakeup(ctl, p))
		return 0;
	emit_wakeup(ctl, cpu, bpf_ktime_get_boot_ns(), me, p, me->pid, 0);
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
		ctl->outgoing_selected = is_chosen(me);
	if (ctl)
		change_state(cpu, bpf_ktime_get_boot_ns());
	return 0;
}

char LICENSE[] SEC("license") = "GPL";
