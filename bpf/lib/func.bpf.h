/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Calls that have not returned: where they are kept, and how they are written when
 * their thread ends.
 */
#ifndef BPF_LIB_FUNC_BPF_H
#define BPF_LIB_FUNC_BPF_H

#include "../abi/ctl.h"
#include "../abi/func.h"
#include "event_ring.bpf.h"

const volatile bool cfg_func_exit __weak = false;	/* entries wait for their return */
const volatile bool cfg_func_misses __weak = false;	/* some returns are not reported, by such mechanisms */
const volatile __u32 cfg_func_user_from __weak = 0;	/* ids from here on are those of programs */

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);		/* OPEN_SLOTS where returns are seen */
	__type(key, __u32);
	__type(value, struct open_calls);
} open_calls __weak SEC(".maps");

/* One call, at either end. */
struct call {
	struct cpu_ctl *ctl;
	struct task_struct *task;
	__u32 cpu;
	__u32 id;	/* FUNC_ID_NONE: known by its address alone */
	__u64 addr;
	__u64 parent;
};

/* A place in the event ring, which a flood of calls does not fill. */
static __always_inline __u64 *call_reserve(const struct call *c, __u32 words)
{
	return flood_reserve(c->ctl, words, &c->ctl->calls);
}

/* An event that the recorder completes; @end_ts 0: an instant. */
static __always_inline bool write_raw(const struct call *c, struct actor who, __u64 ts, __u64 end_ts,
				      __u64 value, __u64 flags)
{
	__u64 *rec = call_reserve(c, FUNC_WORDS);

	if (!rec)
		return false;
	rec[RAW_TS] = ts;
	rec[RAW_PROCESS] = who.process;
	rec[RAW_THREAD] = who.thread;
	rec[FUNC_END_TS] = end_ts;
	rec[FUNC_ID] = c->id | flags;
	rec[FUNC_ADDR] = c->addr;
	rec[FUNC_PARENT] = c->parent;
	rec[FUNC_RETURN] = value;
	event_submit(c->ctl, rec, RAW_RECORD(RAW_FUNC, FUNC_WORDS));
	return true;
}

/* The slot of @who: its own, or, with @claim, a free one that is now its own; NULL: none. */
static __always_inline struct open_calls *open_slot(__u32 who, bool claim)
{
	__u32 key = (who * 0x9e3779b1U) >> 20, free = OPEN_SLOTS;
	struct open_calls *slot;

	_Static_assert(OPEN_SLOTS == 1 << 12, "the hash is of 12 bits");
#pragma unroll
	for (int i = 0; i < OPEN_PROBES; i++) {
		slot = bpf_map_lookup_elem(&open_calls, &key);
		if (slot && OPEN_WHO(slot->owner) == who)
			return slot;
		if (slot && !slot->owner && free == OPEN_SLOTS)
			free = key;
		key = (key + 1) & (OPEN_SLOTS - 1);
	}
	if (!claim || free == OPEN_SLOTS)
		return NULL;
	slot = bpf_map_lookup_elem(&open_calls, &free);
	if (!slot || __sync_val_compare_and_swap(&slot->owner, 0, OPEN_OWNER(who, 0)))
		return NULL;
	return slot;
}

/* The place at @depth, or NULL. The verifier sees the mask, which the compiler knows to be idle. */
static __always_inline struct open_call *open_place(struct open_calls *slot, __u32 depth)
{
	__u64 i = depth;

	if (depth >= OPEN_CALLS)
		return NULL;
	asm volatile("%[i] &= %[mask]" : [i]"+r"(i) : [mask]"i"(OPEN_CALLS - 1));
	return &slot->calls[i];
}

static __always_inline void lose_returns(struct cpu_ctl *ctl, __u64 cnt)
{
	__sync_fetch_and_add(&ctl->calls.seen, cnt);
	__sync_fetch_and_add(&ctl->lost_returns, cnt);
}

/* Calls that end with their thread or its program. */
struct ending {
	struct call call;
	struct open_calls *slot;
	struct actor who;
	__u64 ts;
	__u32 depth;
	bool only_user;
};

static long end_call(__u32 i, struct ending *e)
{
	struct open_call *place = i < e->depth ? open_place(e->slot, i) : NULL;

	if (!place)
		return 1;
	e->call.id = place->addr < FUNC_ID_NONE ? place->addr : FUNC_ID_NONE;
	if (place->addr == OPEN_ENDED || place->start_ns == OPEN_SHED ||
	    (e->only_user && (e->call.id < cfg_func_user_from || e->call.id == FUNC_ID_NONE)))
		return 0;
	e->call.addr = place->addr;
	e->call.parent = place->parent;
	place->addr = OPEN_ENDED;
	if (cfg_func_misses || !is_recording(e->call.ctl))
		lose_returns(e->call.ctl, 1);
	else
		write_raw(&e->call, e->who, place->start_ns, e->ts, 0, FUNC_UNFINISHED);
	return 0;
}

/*
 * The thread @task ends, or its program does and with it the calls in there: what has
 * not returned never will. Where not all returns are reported it may well have, and is lost.
 */
static __always_inline void end_calls(struct task_struct *task, bool only_user)
{
	struct ending e = {
		.call = { .task = task, .cpu = bpf_get_smp_processor_id() },
		.slot = open_slot(task->pid, false), .ts = bpf_ktime_get_boot_ns(), .only_user = only_user,
	};

	e.call.ctl = ctl_of(e.call.cpu);
	if (!e.slot || !e.call.ctl)
		return;
	e.depth = OPEN_DEPTH(e.slot->owner);
	e.who = (struct actor){ e.slot->process, e.slot->thread };
	bpf_loop(OPEN_CALLS, end_call, &e, 0);
	if (!only_user)
		store_release(&e.slot->owner, 0);
}

#endif
