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

__u32 ids_recycled;	/* set once by on_task_newtask */
__u64 names_lost;	/* metadata ring full; counted here, shown by the recorder */
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

	name_process(p);
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
	rec = begin_record(ctl, OBJECT_EXEC_WORDS);
	if (rec) {
		put_process(rec, OBJECT_EXEC_WORDS, p, NULL);
		rec[OBJECT_CMDLINE - 1] = FXT_ARG_HEADER(FXT_ARG_STRING, 1 + OBJECT_CMDLINE_WORDS, STR_CMDLINE) |
					  FXT_PUT(FXT_STR_INLINE | max, FXT_F_ARG_STRING);
		__builtin_memset(rec + OBJECT_CMDLINE, 0, max);
		bpf_probe_read_user(rec + OBJECT_CMDLINE, len < max ? len : max, (void *)start);
		end_record(ctl, rec);
	}
	send_thread(p, NULL);
	return 0;
}

/* It is in another cgroup now. */
SEC("tp_btf/cgroup_attach_task")
int BPF_PROG(on_cgroup_attach_task, void *to, const char *path, struct task_struct *p)
{
	if (p->pid == p->tgid)
		send_process(p, NULL);
	return 0;
}

/* How the process exits. Its first thread has the code of wait(2), whichever thread exit_group(2) or a signal ended. */
static __always_inline void send_exit(const struct task_struct *p)
{
	const __u32 signal = p->exit_code & 0x7f, code = p->exit_code >> 8 & 0xff;
	struct cpu_ctl *ctl = ctl_of(bpf_get_smp_processor_id());
	__u64 *rec = p->flags & PF_KTHREAD || !ctl ? NULL : begin_record(ctl, OBJECT_EXIT_WORDS);

	if (!rec)
		return;
	put_process(rec, OBJECT_EXIT_WORDS, p, NULL);
	rec[OBJECT_EXIT] = FXT_ARG_HEADER(FXT_ARG_INT32, 1, signal ? STR_EXIT_SIGNAL : STR_EXIT_CODE) |
			   FXT_PUT(signal ?: code, FXT_F_ARG_VALUE32);
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

	name_process(p);
	if (p->pid == p->tgid)
		send_exit(p);
	send_thread(p, NULL);
	if (id)
		*id |= ID_EXITED | ID_NAMED;
	return 0;
}
