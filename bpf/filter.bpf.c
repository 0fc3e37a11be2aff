// SPDX-License-Identifier: GPL-2.0
/*
 * Where the filter learns of threads by other ways than looking at them.
 */
#include "abi/object.h"
#include "lib/filter.bpf.h"
#include "lib/preempt.bpf.h"
#include "lib/ring.bpf.h"

__u32 filter_parent;
__u64 filter_since_ns;
__u64 filter_cgroups[FILTER_CGROUPS_MAX];
__u64 cgroups_unreported;	/* made, and not reported: the metadata ring is full */

/* Run by the recorder, once, before it makes the command: its id as the kernel has it. */
SEC("raw_tp")
int filter_follow(void *ctx)
{
	struct task_struct *me = bpf_get_current_task_btf();

	filter_since_ns = bpf_ktime_get_boot_ns();
	filter_parent = me->tgid;
	return 0;
}

/* Ids of other hierarchies are others'. */
static __always_inline bool is_in_v2(const struct cgroup *group)
{
	const struct task_struct *me = bpf_get_current_task_btf();

	return BPF_CORE_READ(group, root) == BPF_CORE_READ(me, cgroups, dfl_cgrp, root);
}

/* The recorder knows whether it is selected. It is to look at once: what runs in it comes soon. */
SEC("tp_btf/cgroup_mkdir")
int BPF_PROG(on_cgroup_mkdir, struct cgroup *group, const char *path)
{
	struct cpu_ctl *ctl = ctl_of(bpf_get_smp_processor_id());
	__u64 *rec;

	if (!ctl || !is_in_v2(group))
		return 0;
	lock_cpu();
	metadata_enter(ctl);
	rec = bpf_ringbuf_reserve(&side, CGROUP_MADE_WORDS * 8, 0);
	if (rec) {
		rec[0] = 0;
		rec[CGROUP_MADE_ID] = BPF_CORE_READ(group, kn, id);
		bpf_probe_read_kernel_str(rec + CGROUP_MADE_PATH, CGROUP_MADE_PATH_WORDS * 8, path);
		bpf_ringbuf_submit(rec, BPF_RB_FORCE_WAKEUP);
	} else {
		__sync_fetch_and_add(&cgroups_unreported, 1);
	}
	metadata_leave(ctl);
	unlock_cpu();
	return 0;
}

/* Nobody is in it any more. */
SEC("tp_btf/cgroup_rmdir")
int BPF_PROG(on_cgroup_rmdir, struct cgroup *group, const char *path)
{
	const __u64 id = BPF_CORE_READ(group, kn, id);
	int i;

	if (!is_in_v2(group))
		return 0;
	for (i = 0; i < FILTER_CGROUPS_MAX; i++)
		if (filter_cgroups[i] == id)
			filter_cgroups[i] = 0;
	return 0;
}
