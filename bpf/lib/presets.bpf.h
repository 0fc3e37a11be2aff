/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the presets' programs share.
 */
#ifndef BPF_LIB_PRESETS_BPF_H
#define BPF_LIB_PRESETS_BPF_H

#include "event_ring.bpf.h"
#include "../abi/ctl.h"
#include "../abi/raw.h"

/* The first words of what begins now, on this CPU. */
static __always_inline void open_begin(__u64 *open, const struct task_struct *me, __u32 cpu, __u64 header)
{
	const struct actor who = actor_of(me, cpu);

	open[RAW_HEADER] = header;
	open[RAW_TS] = bpf_ktime_get_boot_ns();
	open[RAW_PROCESS] = who.process;
	open[RAW_THREAD] = who.thread;
	open[OPEN_PLACE] = FXT_PUT(cpu, OPEN_F_CPU);
}

/*
 * Where the record of what began on @cpu and ends here goes: this CPU's ring or, where it is not
 * recorded and hence nothing else here writes or rings, that of the other. NULL: both are off.
 */
static __always_inline struct cpu_ctl *open_ctl(__u32 cpu)
{
	struct cpu_ctl *ctl = ctl_of(bpf_get_smp_processor_id());

	if (ctl && is_recording(ctl))
		return ctl;
	ctl = ctl_of(cpu);
	return ctl && is_recording(ctl) ? ctl : NULL;
}

/* Writes what has ended, @ended being bits of OPEN_PLACE; false: it is still to be kept. */
static __always_inline bool open_end(const __u64 *open, __u32 words, __u64 now, __u64 ended)
{
	struct cpu_ctl *ctl = open_ctl(FXT_GET(open[OPEN_PLACE], OPEN_F_CPU));
	__u64 *rec;

	if (!ctl)
		return false;
	rec = raw_reserve(ctl, words);
	if (!rec)
		return true;
#pragma unroll
	for (__u32 i = RAW_TS; i < words; i++)
		rec[i] = open[i];
	rec[OPEN_END_TS] = now;
	rec[OPEN_PLACE] |= ended;
	event_submit(ctl, rec, open[RAW_HEADER]);
	return true;
}

#endif
