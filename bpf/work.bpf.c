// SPDX-License-Identifier: GPL-2.0
/*
 * Workqueues: each execution of a work item, and how long it had been queued.
 */
#include "abi/ctl.h"
#include "abi/raw.h"
#include "abi/workqueue.h"
#include "lib/presets.bpf.h"

struct work_struct {
	void *func;
} __attribute__((preserve_access_index));

/* An item can be queued again, or its memory be another item, while it is executed. */
struct work_key {
	__u64 item;
	__u64 tid;
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 4096);
	__type(key, struct work_key);
	__type(value, __u64[WORK_WORDS]);
} open_works SEC(".maps");

/* Cancelled items stay until they are evicted as the least recently used. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 16384);
	__type(key, __u64);
	__type(value, __u64);
} queued_works SEC(".maps");

SEC("tp_btf/workqueue_queue_work")
int BPF_PROG(on_workqueue_queue_work, int req_cpu, void *pwq, struct work_struct *work)
{
	struct cpu_ctl *ctl = ctl_of(bpf_get_smp_processor_id());
	__u64 item = (__u64)work, now = bpf_ktime_get_boot_ns();

	if (ctl && is_recording(ctl))
		bpf_map_update_elem(&queued_works, &item, &now, BPF_ANY);
	return 0;
}

SEC("tp_btf/workqueue_execute_start")
int BPF_PROG(on_workqueue_execute_start, struct work_struct *work)
{
	const __u32 cpu = bpf_get_smp_processor_id();
	struct task_struct *me = bpf_get_current_task_btf();
	struct cpu_ctl *ctl = ctl_of(cpu);
	struct work_key key = { (__u64)work, me->pid };
	__u64 open[WORK_WORDS] = { 0 }, *queued_ts;

	if (!ctl || !is_recording(ctl) || !event_selected(&ctl->raws, me))
		return 0;
	if (event_shed(ctl, SHED_PRESETS)) {
		bpf_map_delete_elem(&queued_works, &key.item);	/* or it would seem to wait since then */
		return 0;
	}
	open_begin(open, me, cpu, RAW_RECORD(RAW_WORK, WORK_WORDS));
	/* Workqueues of the BH kind (6.9, commit 4cb1ef64609f) are served by softirqs. */
	if (in_interrupt(ctl->preempt_count, me, false))
		open[OPEN_PLACE] |= OPEN_SOFTIRQ;
	open[WORK_ITEM] = key.item;
	open[WORK_FUNCTION] = (__u64)work->func;
	/* It may be queued again already, since this was called. */
	queued_ts = bpf_map_lookup_elem(&queued_works, &key.item);
	if (queued_ts && *queued_ts <= open[RAW_TS]) {
		open[WORK_QUEUED_TS] = *queued_ts;
		bpf_map_delete_elem(&queued_works, &key.item);
	}
	if (bpf_map_update_elem(&open_works, &key, open, BPF_ANY))
		raw_lose(ctl);
	return 0;
}

/* The item may have been freed by its function. */
SEC("tp_btf/workqueue_execute_end")
int BPF_PROG(on_workqueue_execute_end, void *work)
{
	const __u64 now = bpf_ktime_get_boot_ns();
	struct work_key key = { (__u64)work, bpf_get_current_task_btf()->pid };
	__u64 *open = bpf_map_lookup_elem(&open_works, &key);

	if (open && open_end(open, WORK_WORDS, now, 0))
		bpf_map_delete_elem(&open_works, &key);
	return 0;
}
