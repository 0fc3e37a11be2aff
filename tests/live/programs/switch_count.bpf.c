// SPDX-License-Identifier: GPL-2.0
/*
 * Counts context switches on its own account: the time of each, per CPU. Shares
 * nothing with the programs it is there to check.
 */
#include <linux/bpf.h>
#include <linux/types.h>
#include <bpf/bpf_helpers.h>

#define TIMES_PER_CPU	(1 << 21)

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);		/* CPUs times TIMES_PER_CPU */
	__type(key, __u32);
	__type(value, __u64);
} times SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);		/* CPUs */
	__type(key, __u32);
	__type(value, __u64);
} counts SEC(".maps");

SEC("raw_tp/sched_switch")
int count_switch(void *ctx)
{
	__u32 cpu = bpf_get_smp_processor_id(), slot;
	__u64 *count = bpf_map_lookup_elem(&counts, &cpu), *time;

	(void)ctx;
	if (!count)
		return 0;
	slot = cpu * TIMES_PER_CPU + (*count & (TIMES_PER_CPU - 1));
	time = bpf_map_lookup_elem(&times, &slot);
	if (time)
		*time = bpf_ktime_get_boot_ns();
	(*count)++;
	return 0;
}

char LICENSE[] SEC("license") = "GPL";
