// SPDX-License-Identifier: GPL-2.0
/*
 * Names: threads and processes as they come, are renamed and go, born as FXT
 * kernel object records. They are rare and may be interrupted, so they travel
 * through the side ring; the recorder (user/record/names.c) reads each of them.
 */
#include "func.bpf.h"

__u32 ids_recycled;	/* set once by on_task_newtask */
__u32 names_scanned;	/* set by the recorder once it has read /proc */
__u64 names_lost;	/* side ring full; counted here, shown by the recorder */
__u64 names_seen;
__u64 generations_exhausted;

/* In copy_process(), before the thread can run: io_uring's workers pass here too. */
SEC("tp_btf/task_newtask")
int BPF_PROG(on_task_newtask, struct task_struct *p)
{
	__u8 *verdict;

	if (!p->pid)
		return 0;	/* a CPU's idle thread */
	name_new(p);
	verdict = cfg_filter ? verdict_of(p->pid) : NULL;
	if (verdict)
		follow(p, bpf_get_current_task_btf(), verdict);
	return 0;
}

SEC("tp_btf/task_rename")
int BPF_PROG(on_task_rename, struct task_struct *p, const char *comm)
{
	__u8 *verdict = cfg_filter ? verdict_of(p->pid) : NULL;

	send_names(p, comm);
	if (verdict)
		judge(p, comm, verdict);
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
	if (cfg_func_exit)
		end_calls(p, true);
	/* Its leader, whose id it may have taken over, has exited. */
	id = id_of(p->pid);
	if (id)
		*id &= ~ID_EXITED;
	send_thread(p, NULL);
	side_enter(ctl);
	rec = bpf_ringbuf_reserve(&side, OBJECT_EXEC_WORDS * 8, 0);
	count(!rec);
	if (!rec)
		goto out;
	put_object(rec, FXT_KOBJ_PROCESS, OBJECT_EXEC_WORDS, koid_of(p->tgid));
	put_name(rec, p, NULL);
	put_koid(rec, STR_PARENT, koid_of(p->real_parent->tgid));
	rec[OBJECT_WORDS] = FXT_ARG_HEADER(FXT_ARG_STRING, 1 + OBJECT_CMDLINE_WORDS, STR_CMDLINE) |
			    FXT_PUT(FXT_STR_INLINE | max, FXT_F_ARG_STRING);
	__builtin_memset(rec + OBJECT_CMDLINE, 0, max);
	bpf_probe_read_user(rec + OBJECT_CMDLINE, len < max ? len : max, (void *)start);
	bpf_ringbuf_submit(rec, wake_flags());
out:
	side_leave(ctl);
	return 0;
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

	send_names(p, NULL);
	if (id)
		*id |= ID_EXITED;
	return 0;
}
