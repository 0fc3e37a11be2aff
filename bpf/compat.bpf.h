/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Every difference between kernels and architectures, one function each.
 */
#ifndef KFXT_COMPAT_BPF_H
#define KFXT_COMPAT_BPF_H

#include "kernel.bpf.h"

#define barrier()		asm volatile("" ::: "memory")
#define READ_ONCE(x)		(*(volatile typeof(x) *)&(x))
#define WRITE_ONCE(x, v)	(*(volatile typeof(x) *)&(x) = (v))

/*
 * Stores @v after everything written before it: the partner of the drain's
 * acquire load. x86 never reorders stores; elsewhere an atomic exchange, the
 * only ordered store BPF had before 6.15 (commit 880442305a39).
 */
static __always_inline void store_release(__u64 *p, __u64 v)
{
#ifdef __TARGET_ARCH_x86
	barrier();
	WRITE_ONCE(*p, v);
#else
	__sync_lock_test_and_set(p, v);
#endif
}

/* The CPU a task runs on or ran on last (commit bcf9033e5449 keeps it in thread_info). */
static __always_inline __u32 task_cpu(struct task_struct *p)
{
	return p->thread_info.cpu;
}

/* Does it run, or has it only just been switched out? Kernels without SMP do not say. */
static __always_inline bool task_on_cpu(struct task_struct *p)
{
	return bpf_core_field_exists(p->on_cpu) && p->on_cpu;
}

/*
 * Queued though asleep: since 6.12 a sleeper may stay on the run queue until its
 * lag is paid (commit 152e11f6df29), and a wake of it is a real one.
 */
static __always_inline bool task_sched_delayed(struct task_struct *p)
{
	return bpf_core_field_exists(p->se.sched_delayed) && p->se.sched_delayed;
}

/*
 * Where this CPU keeps its preempt_count. Programs may name per-CPU variables
 * only on kernels with KALLSYMS_ALL, but the distance between two of them is in
 * the kernel's BTF and a run queue's address can be had from any task, so the
 * recorder works out the distance and the CPU adds it once. 0 if unknown.
 */
const volatile __s64 cfg_preempt_count_from_rq __weak = 0;

static __always_inline __u64 preempt_count_address(struct task_struct *current_task, __u32 cpu)
{
	struct rq *rq = current_task->se.cfs_rq->rq;

	if (!cfg_preempt_count_from_rq || rq->cpu != (int)cpu)
		return 0;
	return (__u64)rq + cfg_preempt_count_from_rq;
}

/* Loads through it cannot fault: since 6.2 (commit a35b9af4ec2c). */
extern void *bpf_rdonly_cast(const void *obj, __u32 btf_id) __ksym __weak;
const volatile bool cfg_rdonly_cast __weak = false;	/* the kernel has it */

/* Is the thread that is current merely the one an interrupt came upon? */
static __always_inline bool in_interrupt(__u64 preempt_count_address)
{
	int count = 0;

	if (!preempt_count_address)
		return false;
	if (cfg_rdonly_cast)
		count = ((struct refcount_struct *)bpf_rdonly_cast((void *)preempt_count_address,
			bpf_core_type_id_kernel(struct refcount_struct)))->refs.counter;
	else
		bpf_probe_read_kernel(&count, sizeof(count), (void *)preempt_count_address);
	return count & (SOFTIRQ_OFFSET | HARDIRQ_MASK | NMI_MASK);
}

/* Where the user's function that was just called will return to; 0 if that cannot be read. */
static __always_inline __u64 user_return_address(struct pt_regs *ctx)
{
#ifdef __TARGET_ARCH_x86
	__u64 addr = 0;

	bpf_probe_read_user(&addr, sizeof(addr), (void *)PT_REGS_SP(ctx));
	return addr;
#else
	return PT_REGS_RET(ctx);
#endif
}

#endif
