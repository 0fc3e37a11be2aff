/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Every difference between kernels and architectures, one function each.
 */
#ifndef BPF_LIB_COMPAT_BPF_H
#define BPF_LIB_COMPAT_BPF_H

#include "kernel.bpf.h"
#include "../abi/patch.h"

#define barrier()		asm volatile("" ::: "memory")
#define READ_ONCE(x)		(*(volatile typeof(x) *)&(x))
#define WRITE_ONCE(x, v)	(*(volatile typeof(x) *)&(x) = (v))

/*
 * Stores 32 or 64 bits after everything read and written before it: the partner of
 * an acquire load. x86 never moves a store before what precedes it; elsewhere an
 * atomic exchange, the only ordered store BPF had before 6.15 (commit 880442305a39).
 */
#ifdef __TARGET_ARCH_x86
#define store_release(p, v)	do { barrier(); WRITE_ONCE(*(p), v); } while (0)
#else
#define store_release(p, v)	((void)__sync_lock_test_and_set(p, v))
#endif

/*
 * Reads before it are done before any read or write after it.
 * x86 keeps that order by itself. Elsewhere an atomic instruction that returns a value,
 * which the kernel makes a full barrier of; that no other CPU sees its word does not matter.
 */
static __always_inline void read_barrier(void)
{
#ifdef __TARGET_ARCH_x86
	barrier();
#else
	__u64 word = 0;

	__sync_lock_test_and_set(&word, 1);
	asm volatile("" :: "r"(&word) : "memory");
#endif
}

/*
 * What the recorder puts in the place of a number of abi/patch.h before it loads the program: to the
 * compiler unknown, to the verifier a constant.
 */
#define PATCH_CONST(n)	({ __u64 v_; asm("%0 = %1" : "=r"(v_) : "i"(n)); v_; })
#define PATCH_ADDRESS(n)	({ void *p_; asm("%0 = %1 ll" : "=r"(p_) : "i"(n)); __builtin_assume(p_); p_; })

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

/* Is it about to run another program? */
static __always_inline bool task_in_exec(struct task_struct *task)
{
	return BPF_CORE_READ_BITFIELD(task, in_execve);
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
 * Where this CPU keeps its preempt_count, on x86. Programs may name per-CPU variables
 * only on kernels with KALLSYMS_ALL, but the distance between two of them is in
 * the kernel's BTF and a run queue's address can be had from any task, so the
 * recorder works out the distance and the CPU adds it once. 0 if unknown.
 */
const volatile __s64 cfg_preempt_count_from_rq __weak = 0;

static __always_inline __u64 preempt_count_address(struct task_struct *current_task, __u32 cpu)
{
	/* Read as any address is: see bpf/names.bpf.c. */
	struct rq *rq = BPF_CORE_READ(current_task, se.cfs_rq, rq);

	if (!cfg_preempt_count_from_rq || BPF_CORE_READ(rq, cpu) != (int)cpu)
		return 0;
	return (__u64)rq + cfg_preempt_count_from_rq;
}

/* The system call of @regs, at its exit: number and arguments. */
#ifdef __TARGET_ARCH_x86
#define REGS_SYSCALL_NR(regs)	((regs)->orig_rax)
#define REGS_SYSCALL_ARG1(regs)	((regs)->rdi)
#define REGS_SYSCALL_ARG2(regs)	((regs)->rsi)
#else
struct pt_regs___kernel {
	__u64 orig_x0;
	__s32 syscallno;
} __attribute__((preserve_access_index));
#define REGS_SYSCALL_NR(regs)	BPF_CORE_READ((struct pt_regs___kernel *)(regs), syscallno)
#define REGS_SYSCALL_ARG1(regs)	BPF_CORE_READ((struct pt_regs___kernel *)(regs), orig_x0)
#define REGS_SYSCALL_ARG2(regs)	PT_REGS_PARM2(regs)
#endif

/*
 * bpf_rdonly_cast(): loads through it cannot fault. Since 6.2 (commit a35b9af4ec2c). The recorder
 * puts it in its place: where it is not, libbpf 1.1 would look for it in all modules, which takes
 * CAP_SYS_ADMIN.
 */
static void *(*const rdonly_cast)(const void *obj, __u32 btf_id) = (void *)CALL_RDONLY_CAST;

/*
 * Is the thread that is current merely the one an interrupt came upon? @fast, a constant, is for
 * the one program in which the recorder puts rdonly_cast() and the numbers in place.
 */
static __always_inline bool in_interrupt(__u64 preempt_count_address, struct task_struct *current_task,
					 bool fast)
{
	int count = 0;

	/* Of a task everywhere but on x86 and s390; arm64 has another count above its 32 bits. */
	if (bpf_core_field_exists(current_task->thread_info.preempt_count))
		count = current_task->thread_info.preempt_count;
	else if (unlikely(!preempt_count_address))
		return false;
	else if (fast && PATCH_CONST(NUMBER_RDONLY_CAST))
		count = ((struct refcount_struct *)rdonly_cast((void *)preempt_count_address,
			bpf_core_type_id_kernel(struct refcount_struct)))->refs.counter;
	else
		bpf_probe_read_kernel(&count, sizeof(count), (void *)preempt_count_address);
	return count & (SOFTIRQ_OFFSET | HARDIRQ_MASK | NMI_MASK);
}

/*
 * Where the kernel's function that was just called will return to; 0 if that cannot be
 * read. libbpf 1.1 takes arm64's link register for the address of a place that holds it.
 */
static __always_inline __u64 kernel_return_address(struct pt_regs *ctx)
{
#ifdef __TARGET_ARCH_arm64
	return PT_REGS_RET(ctx);
#else
	__u64 addr = 0;

	BPF_KPROBE_READ_RET_IP(addr, ctx);
	return addr;
#endif
}

/* Of a program of type perf_event: did the event come upon user mode? And arm64's register of the return address. */
#ifdef __TARGET_ARCH_x86
#define REGS_ARE_OF_USER(regs)	((regs)->cs & 3)
#define USER_LINK_REGISTER(regs)	((void)(regs), 0)
#else
#define REGS_ARE_OF_USER(regs)	(!((regs)->pstate & 0xf))	/* EL0 */
#define USER_LINK_REGISTER(regs)	PT_REGS_RET(regs)
#endif

/* Is it in a system call of a 32-bit program, or by the 32-bit way in? Those have other numbers. */
static __always_inline bool syscall_is_compat(const struct task_struct *current_task)
{
#ifdef __TARGET_ARCH_x86
	return current_task->thread_info.status & 0x0002;	/* TS_COMPAT */
#else
	return current_task->thread_info.flags & 1 << 22;	/* TIF_32BIT */
#endif
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
