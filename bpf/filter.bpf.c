// SPDX-License-Identifier: GPL-2.0
/*
 * Where the filter learns of threads by other ways than looking at them.
 */
#include "lib/filter.bpf.h"

__u32 filter_parent;
__u64 filter_since_ns;

/* Run by the recorder, once, before it makes the command: its id as the kernel has it. */
SEC("raw_tp")
int filter_follow(void *ctx)
{
	struct task_struct *me = bpf_get_current_task_btf();

	filter_since_ns = bpf_ktime_get_boot_ns();
	filter_parent = me->tgid;
	return 0;
}
