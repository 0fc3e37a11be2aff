/* SPDX-License-Identifier: GPL-2.0 */
/*
 * System calls that have not returned: where they are kept, and how they are written when
 * their thread ends.
 */
#ifndef BPF_LIB_SYSCALL_BPF_H
#define BPF_LIB_SYSCALL_BPF_H

#include "../abi/ctl.h"
#include "../abi/raw.h"
#include "../abi/syscall.h"
#include "event_ring.bpf.h"

#define OPEN_SYSCALL_PROBES	8	/* slots looked at */

const volatile bool cfg_syscalls __weak = false;

/* Only its thread touches a slot, and no interrupt does. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);		/* 1 << OPEN_SYSCALLS_SHIFT where they are recorded */
	__type(key, __u32);
	__type(value, struct open_syscall);
} open_syscalls __weak SEC(".maps");

/* The slot of the current thread: its own, or, with @claim, a free one that is now its own; NULL: none. */
static __always_inline struct open_syscall *open_syscall(bool claim)
{
	const __u64 task = bpf_get_current_task();
	__u32 key = task * 0x9e3779b97f4a7c15ULL >> (64 - OPEN_SYSCALLS_SHIFT), free = ~0U;
	struct open_syscall *slot;

#pragma unroll
	for (int i = 0; i < OPEN_SYSCALL_PROBES; i++) {
		slot = bpf_map_lookup_elem(&open_syscalls, &key);
		if (slot && slot->task == task)
			return slot;
		if (slot && !slot->task && free == ~0U)
			free = key;
		key = (key + 1) & ((1U << OPEN_SYSCALLS_SHIFT) - 1);
	}
	if (!claim)
		return NULL;
	slot = bpf_map_lookup_elem(&open_syscalls, &free);
	if (!slot || __sync_val_compare_and_swap(&slot->task, 0, task))
		return NULL;
	return slot;
}

/* A place of @words for the call in @slot, all but its return, flags and texts filled in; closes the slot. */
static __always_inline __u64 *syscall_reserve(struct cpu_ctl *ctl, struct open_syscall *slot, __u32 words)
{
	__u64 *rec = raw_reserve(ctl, words);
	__u64 ts = bpf_ktime_get_boot_ns();

	if (rec) {
		rec[RAW_TS] = slot->ts;
		rec[RAW_PROCESS] = slot->process;
		rec[RAW_THREAD] = slot->thread;
		rec[SYSCALL_END_TS] = ts > slot->ts ? ts : slot->ts + 1;
		rec[SYSCALL_CALL] = slot->call & ~SYSCALL_OPEN;
#pragma unroll
		for (int i = 0; i < SYSCALL_ARGS_MAX; i++)
			rec[SYSCALL_ARGS + i] = slot->args[i];
	}
	slot->ts = ts > slot->ts ? ts : slot->ts + 1;
	slot->call = 0;
	return rec;
}

/* The current thread is switched out for good. What it is in, exit(2) as a rule, does not return. */
static __always_inline void end_syscall(void)
{
	struct cpu_ctl *ctl = ctl_of(bpf_get_smp_processor_id());
	struct open_syscall *slot = open_syscall(false);
	__u64 *rec;

	if (!ctl || !slot || (slot->call && has_ended(ctl)))
		return;
	rec = slot->call && is_recording(ctl) ? syscall_reserve(ctl, slot, SYSCALL_TEXT) : NULL;
	if (rec) {
		rec[SYSCALL_CALL] |= SYSCALL_UNFINISHED;
		event_submit(ctl, rec, RAW_RECORD(RAW_SYSCALL, SYSCALL_TEXT));
	}
	store_release(&slot->task, 0);
}

#endif
