// SPDX-License-Identifier: GPL-2.0
/*
 * Threads that have done nothing so far, and their states. The recorder reads them once every
 * CPU records.
 */
#include "abi/ctl.h"
#include "abi/ids.h"
#include "abi/task_state.h"
#include "lib/func.bpf.h"
#include "lib/state.bpf.h"

#define NEW_NS	1000000000ULL	/* so long it may take to make a thread */

/* As the kernel numbers states, of a thread that does not run; -1 while it is about to change. */
static __always_inline int waiting_state(struct task_struct *p)
{
	__u32 state = p->__state;

	if (task_on_cpu(p) || state & TASK_NEW)
		return -1;
	if (state & TASK_WAKING || (p->on_rq && !task_sched_delayed(p)))
		return STATE_R;
	/* Neither asleep nor queued: on its way from one to the other. */
	return state || p->exit_state ? (int)state_index(false, p, state) : -1;
}

/*
 * A new thread is queued before its first wakeup is reported, which says when. The one that makes it may be preempted before
 * that, so it may have come some time before the begin.
 */
static __always_inline bool has_a_wakeup_to_come(const struct task_struct *p, const struct cpu_ctl *ctl)
{
	return ctl->start_ns && p->start_boottime + NEW_NS >= ctl->start_ns;
}

/*
 * Before a thread's state changes, programs have set the bits that say so. If there are none after
 * the state has been read, it was that state, from when the CPU on which it ran last began.
 */
SEC("iter/task")
int record_states(struct bpf_iter__task *ctx)
{
	struct task_struct *p = ctx->task;
	struct thread_state waits;
	struct cpu_ctl *ctl;
	bool is_new;
	__u32 cpu;
	__u16 *id;
	int state;

	if (!p || !is_selected(p))
		return 0;
	id = id_of(p->pid);
	/* Read once: it may be moved to another CPU, which began at another time. */
	cpu = task_cpu(p);
	ctl = ctl_of(cpu);
	state = waiting_state(p);
	read_barrier();
	if (state < 0 || !id || *id & (ID_RAN | ID_WOKEN) || !ctl)
		return 0;
	is_new = state == STATE_R && !p->se.sum_exec_runtime;
	if (is_new && has_a_wakeup_to_come(p, ctl))
		return 0;
	/* Its wakeup was not reported, or came before the program for it was attached: the trace says here that it is awake. */
	if (state == STATE_R)
		clear_asleep(p->pid, 0);
	waits = (struct thread_state){
		.koid = koid_of(p->pid), .since_ns = ctl->start_ns ? ctl->start_ns - 1 : 0, .tid = p->pid,
		.cpu = cpu, .prio = p->prio, .index = state,
	};
	/* It may be gone from /proc soon, as in name_dying(). */
	if (p->flags & PF_EXITING) {
		name_process(address_of(p));
		send_names(address_of(p), 0);
	}
	/* Should a first wakeup come all the same, it says nothing new; see on_sched_wakeup_new(). */
	if (!bpf_seq_write(ctx->meta->seq, &waits, sizeof(waits)) && is_new)
		*id |= ID_WOKEN;
	return 0;
}
