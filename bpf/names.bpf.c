// SPDX-License-Identifier: GPL-2.0
/*
 * Names: threads and processes as they come, are renamed and go, born as FXT
 * kernel object records. They are rare and may be interrupted, so they travel
 * through the side ring; the recorder (user/record/names.c) reads each of them.
 */
#include "ids.bpf.h"
#include "ring.bpf.h"

#define WAKE_BYTES	(1 << 18)	/* side ring fill level that wakes the recorder */

__u32 ids_recycled;	/* set once by on_task_newtask */
__u32 names_scanned;	/* set by the recorder once it has read /proc */
__u64 names_lost;	/* side ring full; counted here, shown by the recorder */
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

/* A kernel thread belongs to the process of koid 0, "kernel". */
static __always_inline __u64 process_of(const struct task_struct *p)
{
	return p->flags & PF_KTHREAD ? 0 : koid_of(p->tgid);
}

/*
 * Everything but a command line. The name has its full length whatever it is;
 * zero bytes behind a shorter one go no further than the recorder, which writes
 * its own record.
 */
static __always_inline void put_object(__u64 *rec, __u32 kind, __u32 words, __u64 koid)
{
	rec[OBJECT_HEADER] = FXT_HEADER(FXT_KERNEL_OBJECT, words) |
			     FXT_PUT(kind, FXT_F_KOBJ_TYPE) |
			     FXT_PUT(FXT_STR_INLINE | TASK_COMM_LEN, FXT_F_KOBJ_NAME) |
			     FXT_PUT(words > OBJECT_WORDS ? 2 : 1, FXT_F_KOBJ_NARGS);
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

static __always_inline void send_thread(const struct task_struct *p, const char *comm)
{
	__u64 rec[OBJECT_WORDS];

	put_object(rec, FXT_KOBJ_THREAD, OBJECT_WORDS, koid_of(p->pid));
	put_name(rec, p, comm);
	put_koid(rec, STR_PROCESS, process_of(p));
	count(bpf_ringbuf_output(&side, rec, sizeof(rec), wake_flags()));
}

static __always_inline void send_process(const struct task_struct *p, const char *comm)
{
	__u64 rec[OBJECT_WORDS];

	if (p->flags & PF_KTHREAD)
		return;
	put_object(rec, FXT_KOBJ_PROCESS, OBJECT_WORDS, koid_of(p->tgid));
	put_name(rec, p, comm);
	put_koid(rec, STR_PARENT, koid_of(p->real_parent->tgid));
	count(bpf_ringbuf_output(&side, rec, sizeof(rec), wake_flags()));
}

static __always_inline void send_names(const struct task_struct *p, const char *comm)
{
	send_thread(p, comm);
	if (p->pid == p->tgid)
		send_process(p, comm);
}

/* An id whose last thread has exited starts its next generation. */
static __always_inline void renew_id(__u32 tid)
{
	__u16 *id = id_of(tid);

	if (!id || !(*id & ID_EXITED))
		return;
	*id &= ~(ID_EXITED | ID_ASLEEP);
	if (*id >> ID_GENERATION_SHIFT >= ID_GENERATION_MAX) {
		__sync_fetch_and_add(&generations_exhausted, 1);
		return;
	}
	*id += 1 << ID_GENERATION_SHIFT;
	ids_recycled = 1;
}

/* In copy_process(), before the thread can run: io_uring's workers pass here too. */
SEC("tp_btf/task_newtask")
int BPF_PROG(on_task_newtask, struct task_struct *p)
{
	if (!p->pid)
		return 0;	/* a CPU's idle thread */
	renew_id(p->pid);
	send_names(p, NULL);
	return 0;
}

SEC("tp_btf/task_rename")
int BPF_PROG(on_task_rename, struct task_struct *p, const char *comm)
{
	send_names(p, comm);
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
	__u64 *rec;

	send_thread(p, NULL);
	rec = bpf_ringbuf_reserve(&side, OBJECT_EXEC_WORDS * 8, 0);
	count(!rec);
	if (!rec)
		return 0;
	put_object(rec, FXT_KOBJ_PROCESS, OBJECT_EXEC_WORDS, koid_of(p->tgid));
	put_name(rec, p, NULL);
	put_koid(rec, STR_PARENT, koid_of(p->real_parent->tgid));
	rec[OBJECT_WORDS] = FXT_ARG_HEADER(FXT_ARG_STRING, 1 + OBJECT_CMDLINE_WORDS, STR_CMDLINE) |
			    FXT_PUT(FXT_STR_INLINE | max, FXT_F_ARG_STRING);
	__builtin_memset(rec + OBJECT_CMDLINE, 0, max);
	bpf_probe_read_user(rec + OBJECT_CMDLINE, len < max ? len : max, (void *)start);
	bpf_ringbuf_submit(rec, wake_flags());
	return 0;
}

/* Who exits before /proc was read would have no name; and its id may come again. */
SEC("tp_btf/sched_process_exit")
int BPF_PROG(on_sched_process_exit, struct task_struct *p)
{
	__u16 *id = id_of(p->pid);

	if (!names_scanned)
		send_names(p, NULL);
	if (id)
		*id |= ID_EXITED;
	return 0;
}
