// SPDX-License-Identifier: GPL-2.0
/*
 * Names: threads and processes as they come, are renamed and go, born as FXT
 * kernel object records. They are rare and may be interrupted, so they travel
 * through the metadata ring; the recorder (user/capture/tasks.c) reads each of them.
 */
#include "abi/ctl.h"
#include "abi/ids.h"
#include "abi/object.h"
#include "abi/strings.h"
#include "lib/func.bpf.h"
#include "lib/preempt.bpf.h"

#define WAKE_BYTES	(1 << 18)	/* metadata ring fill level that wakes the recorder */

__u32 ids_recycled;	/* set once by on_task_newtask */
__u64 names_lost;	/* metadata ring full; counted here, shown by the recorder */
__u64 names_seen;
__u64 generations_exhausted;

static __always_inline __u64 wake_flags(void)
{
	return bpf_ringbuf_query(&side, BPF_RB_AVAIL_DATA) > WAKE_BYTES ? BPF_RB_FORCE_WAKEUP
									: BPF_RB_NO_WAKEUP;
}

static __always_inline void count(bool lost)
{
	__sync_fetch_and_add(&names_seen, 1);
	if (lost)
		__sync_fetch_and_add(&names_lost, 1);
}

static __always_inline void send(__u64 *rec, __u32 bytes)
{
	struct cpu_ctl *ctl = ctl_of(bpf_get_smp_processor_id());

	if (!ctl)
		return;
	metadata_enter(ctl);
	count(bpf_ringbuf_output(&side, rec, bytes, wake_flags()));
	metadata_leave(ctl);
}

/*
 * Everything but a command line. The name has its full length whatever it is;
 * zero bytes after a shorter one go no further than the recorder, which writes
 * its own record.
 */
static __always_inline void put_object(__u64 *rec, __u32 kind, __u32 words, __u64 koid)
{
	rec[OBJECT_HEADER] = FXT_HEADER(FXT_KERNEL_OBJECT, words) |
			     FXT_PUT(kind, FXT_F_KOBJ_TYPE) |
			     FXT_PUT(FXT_STR_INLINE | TASK_COMM_LEN, FXT_F_KOBJ_NAME) |
			     FXT_PUT(words == OBJECT_WORDS ? 1 : words <= OBJECT_PROCESS_WORDS ? 2 : 3, FXT_F_KOBJ_NARGS);
	rec[OBJECT_KOID] = koid;
}

static __always_inline void put_koid(__u64 *rec, __u32 name, __u64 koid)
{
	rec[OBJECT_ARG] = FXT_ARG_HEADER(FXT_ARG_KOID, 2, name);
	rec[OBJECT_ARG + 1] = koid;
}

/* The name of @p, or @comm where it is about to change. */
static __always_inline void put_name(__u64 *rec, const struct task_struct *p, const char *comm)
{
	rec[OBJECT_NAME] = 0;
	rec[OBJECT_NAME + 1] = 0;
	bpf_probe_read_kernel_str(rec + OBJECT_NAME, TASK_COMM_LEN, comm ?: p->comm);
}

/*
 * Here a task is read as any address is: for each pointer that is loaded the usual way the verifier looks for names among all
 * types of the kernel (from 6.4 on), a millisecond each time that it comes by.
 */
static __always_inline void put_thread(__u64 *rec, __u32 words, const struct task_struct *p, const char *comm)
{
	const __u64 process = BPF_CORE_READ(p, flags) & PF_KTHREAD ? 0 : koid_of(BPF_CORE_READ(p, tgid));

	put_object(rec, FXT_KOBJ_THREAD, words, koid_of(BPF_CORE_READ(p, pid)));
	put_name(rec, p, comm);
	put_koid(rec, STR_PROCESS, process);
}

static __always_inline void send_thread(const struct task_struct *p, const char *comm)
{
	__u64 rec[OBJECT_WORDS];

	put_thread(rec, OBJECT_WORDS, p, comm);
	send(rec, sizeof(rec));
}

/* All of a process but its command line. */
static __always_inline void put_process(__u64 *rec, __u32 words, const struct task_struct *p, const char *comm)
{
	put_object(rec, FXT_KOBJ_PROCESS, words, koid_of(BPF_CORE_READ(p, tgid)));
	put_name(rec, p, comm);
	put_koid(rec, STR_PARENT, koid_of(BPF_CORE_READ(p, real_parent, tgid)));
	rec[OBJECT_CGROUP - 1] = FXT_ARG_HEADER(FXT_ARG_UINT64, 2, STR_CGROUP);
	rec[OBJECT_CGROUP] = bpf_core_field_exists(p->cgroups) ? BPF_CORE_READ(p, cgroups, dfl_cgrp, kn, id) : 0;
}

/* A record of @words for the metadata ring, to be sent by end_record(). */
static __always_inline __u64 *begin_record(struct cpu_ctl *ctl, __u32 words)
{
	__u64 *rec;

	metadata_enter(ctl);
	rec = bpf_ringbuf_reserve(&side, words * 8, 0);
	count(!rec);
	if (!rec)
		metadata_leave(ctl);
	return rec;
}

static __always_inline void end_record(struct cpu_ctl *ctl, __u64 *rec)
{
	bpf_ringbuf_submit(rec, wake_flags());
	metadata_leave(ctl);
}

/* Not by way of the stack, of which a switch's program has little (see docs/performance.md). */
static __always_inline void send_process(const struct task_struct *p, const char *comm)
{
	struct cpu_ctl *ctl = ctl_of(bpf_get_smp_processor_id());
	__u64 *rec = BPF_CORE_READ(p, flags) & PF_KTHREAD || !ctl ? NULL : begin_record(ctl, OBJECT_PROCESS_WORDS);

	if (!rec)
		return;
	put_process(rec, OBJECT_PROCESS_WORDS, p, comm);
	end_record(ctl, rec);
}

/* The process first: a file may be cut between the two, and its threads have processes. */
__noinline int send_names(__u64 task, __u64 comm)
{
	const struct task_struct *p = (const void *)task;

	if (BPF_CORE_READ(p, pid) == BPF_CORE_READ(p, tgid))
		send_process(p, (const char *)comm);
	send_thread(p, (const char *)comm);
	return 0;
}

__noinline int name_process(__u64 task)
{
	const struct task_struct *p = (const void *)task;
	const __u32 tgid = BPF_CORE_READ(p, tgid);
	__u16 *id = (__u32)BPF_CORE_READ(p, pid) == tgid ? NULL : id_of(tgid);

	if (id && !(*id & ID_NAMED)) {
		*id |= ID_NAMED;
		send_names((__u64)BPF_CORE_READ(p, group_leader), 0);
	}
	return 0;
}

/* A new thread. */
static __always_inline void name_new(struct task_struct *p)
{
	const __u64 task = address_of(p);
	__u16 *id;

	name_process(task);
	begin_life(p);
	id = id_of(p->pid);
	if (id)
		*id |= ID_NAMED;
	send_names(task, 0);
}

/* In copy_process(), before the thread can run: io_uring's workers pass here too. */
SEC("tp_btf/task_newtask")
int BPF_PROG(on_task_newtask, struct task_struct *p)
{
	__u8 *verdict;

	if (!p->pid)
		return 0;	/* a CPU's idle thread */
	lock_cpu();
	name_new(p);
	verdict = cfg_filter ? verdict_of(p->pid) : NULL;
	if (verdict)
		follow(p, bpf_get_current_task_btf(), verdict);
	unlock_cpu();
	return 0;
}

SEC("tp_btf/task_rename")
int BPF_PROG(on_task_rename, struct task_struct *p, const char *comm)
{
	const __u64 task = address_of(p);
	__u8 *verdict;

	lock_cpu();
	name_process(task);
	send_names(task, (__u64)comm);
	verdict = cfg_filter ? verdict_of(p->pid) : NULL;
	if (verdict)
		judge(p, comm, verdict);
	unlock_cpu();
	return 0;
}

/*
 * A new program: its command line, which the kernel has just copied. The thread
 * has the process's id from here on, whichever of its threads called exec.
 */
SEC("tp_btf/sched_process_exec")
int BPF_PROG(on_sched_process_exec, struct task_struct *p)
{
	const __u32 max = OBJECT_CMDLINE_WORDS * 8;
	unsigned long start = p->mm->arg_start, len = p->mm->arg_end - start;
	struct cpu_ctl *ctl = ctl_of(bpf_get_smp_processor_id());
	__u64 *rec;
	__u16 *id;

	if (!ctl)
		return 0;
	lock_cpu();
	if (cfg_func_exit)
		end_calls(p, true);
	/* Its leader, whose id it may have taken over, has exited. */
	id = id_of(p->pid);
	if (id)
		*id &= ~ID_EXITED;
	rec = begin_record(ctl, OBJECT_EXEC_WORDS);
	if (rec) {
		put_process(rec, OBJECT_EXEC_WORDS, p, NULL);
		rec[OBJECT_CMDLINE - 1] = FXT_ARG_HEADER(FXT_ARG_STRING, 1 + OBJECT_CMDLINE_WORDS, STR_CMDLINE) |
					  FXT_PUT(FXT_STR_INLINE | max, FXT_F_ARG_STRING);
		rec[OBJECT_CMDLINE_BYTES] = len;
		barrier_var(len);	/* what is compared is what is passed on */
		__builtin_memset(rec + OBJECT_CMDLINE, 0, max);
		bpf_probe_read_user(rec + OBJECT_CMDLINE, len < max ? len : max, (void *)start);
		end_record(ctl, rec);
	}
	send_thread(p, NULL);
	unlock_cpu();
	return 0;
}

/* It is in another cgroup now. */
SEC("tp_btf/cgroup_attach_task")
int BPF_PROG(on_cgroup_attach_task, void *to, const char *path, struct task_struct *p)
{
	lock_cpu();
	if (p->pid == p->tgid)
		send_process(p, NULL);
	unlock_cpu();
	return 0;
}

/* As wait(2) has it: of all threads, or else of the first one. */
static __always_inline __u32 exit_status(const struct task_struct *first)
{
	if (BPF_CORE_READ(first, signal, flags) & SIGNAL_GROUP_EXIT)
		return BPF_CORE_READ(first, signal, group_exit_code);
	return BPF_CORE_READ(first, exit_code);
}

/* How the process of @p, its first thread, exits. */
static __always_inline void send_exit(const struct task_struct *p)
{
	const __u32 status = exit_status(p), signal = status & 0x7f, code = status >> 8 & 0xff;
	struct cpu_ctl *ctl = ctl_of(bpf_get_smp_processor_id());
	__u64 *rec = BPF_CORE_READ(p, flags) & PF_KTHREAD || !ctl ? NULL : begin_record(ctl, OBJECT_EXIT_WORDS);

	if (!rec)
		return;
	put_process(rec, OBJECT_EXIT_WORDS, p, NULL);
	rec[OBJECT_EXIT] = FXT_ARG_HEADER(FXT_ARG_INT32, 1, signal ? STR_EXIT_SIGNAL : STR_EXIT_CODE) |
			   FXT_PUT(signal ?: code, FXT_F_ARG_VALUE32);
	end_record(ctl, rec);
}

/* Where its last switch is not recorded, nothing else says that no more is to come of it. */
static __always_inline void send_last(const struct task_struct *p)
{
	struct cpu_ctl *ctl = ctl_of(bpf_get_smp_processor_id());
	__u64 *rec = ctl ? begin_record(ctl, OBJECT_LAST_WORDS) : NULL;

	if (!rec)
		return;
	put_thread(rec, OBJECT_LAST_WORDS, p, NULL);
	rec[OBJECT_EXITED] = FXT_BOOL_ARG(STR_EXITED, 1);
	end_record(ctl, rec);
}

/*
 * Its last names: who exits before /proc was read would have none, and since 7.x, whose
 * tracepoints can be preempted, the kernel may have skipped a rename's program. The id
 * may come again.
 */
SEC("tp_btf/sched_process_exit")
int BPF_PROG(on_sched_process_exit, struct task_struct *p)
{
	__u16 *id = id_of(p->pid);

	lock_cpu();
	name_process(address_of(p));
	/* The last of its threads; of two at the same time both are. */
	if (!BPF_CORE_READ(p, signal, live.counter))
		send_exit(BPF_CORE_READ(p, group_leader));
	else if (id && !(*id & ID_NAMED) && BPF_CORE_READ(p, pid) == BPF_CORE_READ(p, tgid))
		send_process(p, NULL);	/* the last one's program may be skipped */
	send_last(p);
	if (id)
		*id |= ID_EXITED | ID_NAMED;
	unlock_cpu();
	return 0;
}
