// SPDX-License-Identifier: GPL-2.0
/* What a program costs that does nothing: the floor of all others. */
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

SEC("tp_btf/sched_switch")
int bench_empty(void *ctx)
{
	return 0;
}

char LICENSE[] SEC("license") = "GPL";
