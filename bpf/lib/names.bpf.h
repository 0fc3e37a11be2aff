/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Who a thread is, and what its id says of it; names.bpf.c sends records of that.
 */
#ifndef BPF_LIB_NAMES_BPF_H
#define BPF_LIB_NAMES_BPF_H

#include "../abi/ctl.h"
#include "../abi/ids.h"
#include "filter.bpf.h"
#include "ring.bpf.h"

extern __u64 generations_exhausted;

/* A kernel thread belongs to the process of koid 0, "kernel". */
static __always_inline __u64 process_of(const struct task_struct *p)
{
	return p->flags & PF_KTHREAD ? 0 : koid_of(p->tgid);
}

/* The address of @p as a number. */
static __always_inline __u64 address_of(const struct task_struct *p)
{
	const struct task_struct *at = p;
	__u64 address = 0;

	bpf_probe_read_kernel(&address, sizeof(address), &at);
	return address;
}

/*
 * Names the thread at address @task, and its process if it is the first one, which has the name at @comm, or 0. The verifier
 * looks once at what is not static, and not along each way that leads to it.
 */
int send_names(__u64 task, __u64 comm);
/*
 * The process of the thread at address @task, which has it from another one, if it has not been named: it may exit before
 * /proc is read, and may have come, or its first thread gone, before the programs were there.
 */
int name_process(__u64 task);

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

/* A new thread begins its id's next life. */
static __always_inline void begin_life(struct task_struct *p)
{
	renew_id(p->pid);
	forget_verdict(p->pid);
}

#endif
