/* SPDX-License-Identifier: GPL-2.0 */
/*
 * When each thread fell asleep, and how long CPUs are idle. Written by the program of a switch where stacks
 * are sampled.
 */
#ifndef BPF_LIB_STAMP_BPF_H
#define BPF_LIB_STAMP_BPF_H

#include "../abi/ctl.h"
#include "../abi/ids.h"
#include "../abi/stack.h"
#include "ring.bpf.h"

struct stamp_page {
	__u64 ns[1 << STAMPS_SHIFT];
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);		/* IDS_MAX >> STAMPS_SHIFT; set before loading */
	__type(key, __u32);
	__type(value, struct stamp_page);
} stamps __weak SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);		/* CPUs; set before loading */
	__type(key, __u32);
	__type(value, struct stack_ctl);
} stack_ctls __weak SEC(".maps");

const volatile bool cfg_stamps __weak = false;	/* sleeps or their wakers are sampled */
const volatile bool cfg_idle __weak = false;	/* what CPUs execute is */
const volatile __u64 cfg_off_cpu_ns __weak = 0;	/* sleeps from this length on are sampled, or their wakers are */
const volatile bool cfg_off_cpu __weak = false;

static __always_inline __u64 *stamp_of(__u32 tid)
{
	__u32 key = tid >> STAMPS_SHIFT;
	struct stamp_page *page = bpf_map_lookup_elem(&stamps, &key);

	return page ? &page->ns[tid & ((1 << STAMPS_SHIFT) - 1)] : NULL;
}

/*
 * After a switch from @prev to @next, which ctl->last_ns has the time of: @prev fell asleep if it @sleeps,
 * and if @next slept for long it is to be sampled. A CPU that is not recorded begins and samples no sleep.
 */
static __always_inline void stamp_switch(struct cpu_ctl *ctl, __u32 prev, __u32 next, bool sleeps)
{
	const bool recording = is_recording(ctl);
	__u64 now = ctl->last_ns, since = sleeps && recording ? now : 0;
	__u64 *stamp = stamp_of(prev);

	/* It has one already if its switch-in was not reported. Idle threads share theirs, which stays as it is. */
	if (stamp && *stamp != since)
		*stamp = since;
	stamp = stamp_of(next);
	since = stamp ? *stamp : 0;
	if (since)
		*stamp = 0;
	if (since && (!recording || now - since < cfg_off_cpu_ns)) {
		ctl->short_sleeps += recording;
		since = 0;
	}
	if (ctl->slept_since)
		ctl->missed_sleeps++;
	ctl->slept_since = cfg_off_cpu ? since : 0;
}

/*
 * A switch at @ts between threads of these ids, the last one that was reported was at @last_ns. The timers of samples do
 * not run on each idle CPU. That a CPU becomes idle is not reported when it goes offline: it did so since @last_ns.
 */
static __always_inline void count_idle(__u32 cpu, __u64 ts, __u64 last_ns, __u32 prev, __u32 next)
{
	struct stack_ctl *ctl = prev && next ? NULL : bpf_map_lookup_elem(&stack_ctls, &cpu);
	__u64 since;

	if (!ctl)
		return;
	since = ctl->idle_since ?: last_ns;
	if (!prev && since)
		ctl->idle_ns += ts - since;
	WRITE_ONCE(ctl->idle_since, next ? 0 : ts);
}

#endif
