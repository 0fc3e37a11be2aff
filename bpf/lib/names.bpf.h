/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Kernel object records for the metadata ring: who a thread is.
 */
#ifndef BPF_LIB_NAMES_BPF_H
#define BPF_LIB_NAMES_BPF_H

#include "../abi/ctl.h"
#include "../abi/ids.h"
#include "../abi/object.h"
#include "../abi/strings.h"
#include "filter.bpf.h"
#include "ring.bpf.h"

#define WAKE_BYTES	(1 << 18)	/* metadata ring fill level that wakes the recorder */

/* Metadata ring full; counted here, shown by the recorder. */
extern __u64 names_lost, names_seen, generations_exhausted;

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

/* A kernel thread belongs to the process of koid 0, "kernel". */
static __always_inline __u64 process_of(const struct task_struct *p)
{
	return p->flags & PF_KTHREAD ? 0 : koid_of(p->tgid);
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
			     FXT_PUT(words == OBJECT_WORDS ? 1 : words == OBJECT_PROCESS_WORDS ? 2 : 3, FXT_F_KOBJ_NARGS);
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
	send(rec, sizeof(rec));
}

/* All of a process but its command line. */
static __always_inline void put_process(__u64 *rec, __u32 words, const struct task_struct *p, const char *comm)
{
	put_object(rec, FXT_KOBJ_PROCESS, words, koid_of(p->tgid));
	put_name(rec, p, comm);
	put_koid(rec, STR_PARENT, koid_of(p->real_parent->tgid));
	rec[OBJECT_CGROUP - 1] = FXT_ARG_HEADER(FXT_ARG_UINT64, 2, STR_CGROUP);
	rec[OBJECT_CGROUP] = bpf_core_field_exists(p->cgroups) ? p->cgroups->dfl_cgrp->kn->id : 0;
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
	__u64 *rec = p->flags & PF_KTHREAD || !ctl ? NULL : begin_record(ctl, OBJECT_PROCESS_WORDS);

	if (!rec)
		return;
	put_process(rec, OBJECT_PROCESS_WORDS, p, comm);
	end_record(ctl, rec);
}

/* The process first: a file may be cut between the two, and its threads have processes. */
static __always_inline void send_names(const struct task_struct *p, const char *comm)
{
	if (p->pid == p->tgid)
		send_process(p, comm);
	send_thread(p, comm);
}

/* An id whose last thread has exited starts its next generation. */
static __always_inline void renew_id(__u32 tid)
{
	__u16 *id = id_of(tid);

	if (!id || !(*id & ID_EXITED))
		return;
	*id &= ~(ID_EXITED | ID_ASLEEP | ID_DEFERRED | ID_NAMED | ID_RECORDED | ID_RAN | ID_WOKEN);
	if (ID_GENERATION(*id) >= ID_GENERATION_MAX) {
		__sync_fetch_and_add(&generations_exhausted, 1);
		return;
	}
	*id += 1 << ID_GENERATION_SHIFT;
	ids_recycled = 1;
}

/*
 * The process of @p, a thread that has it from another one, if it has not been named: it may exit before /proc is
 * read, and may have come, or its first thread gone, before the programs were there.
 */
static __always_inline void name_process(const struct task_struct *p)
{
	__u16 *id = p->pid == p->tgid ? NULL : id_of(p->tgid);

	if (!id || *id & ID_NAMED)
		return;
	*id |= ID_NAMED;
	send_names(p->group_leader, NULL);
}

/* A new thread begins its id's next life. */
static __always_inline void begin_life(struct task_struct *p)
{
	renew_id(p->pid);
	forget_verdict(p->pid);
}

static __always_inline void name_new(struct task_struct *p)
{
	__u16 *id;

	name_process(p);
	begin_life(p);
	id = id_of(p->pid);
	if (id)
		*id |= ID_NAMED;
	send_names(p, NULL);
}

#endif
