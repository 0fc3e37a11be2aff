// SPDX-License-Identifier: GPL-2.0
/*
 * Requests of block devices, from the driver's getting them to their completion, which may be
 * anywhere and in parts.
 */
#include "abi/block.h"
#include "abi/ctl.h"
#include "abi/raw.h"
#include "lib/presets.bpf.h"

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct gendisk {
	int major, first_minor;
};

struct request_queue {
	struct gendisk *disk;	/* NULL: the driver's own queue */
};

struct request {
	struct request_queue *q;
	unsigned int cmd_flags, __data_len;
	__u64 __sector;
};

#pragma clang attribute pop

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 16384);	/* in flight */
	__type(key, __u64);
	__type(value, __u64[BLOCK_WORDS]);
} open_requests SEC(".maps");

SEC("tp_btf/block_rq_issue")
int BPF_PROG(on_block_rq_issue, struct request *rq)
{
	const __u32 cpu = bpf_get_smp_processor_id();
	struct task_struct *me = bpf_get_current_task_btf();
	struct cpu_ctl *ctl = ctl_of(cpu);
	struct gendisk *disk = rq->q->disk;
	__u64 key = (__u64)rq, open[BLOCK_WORDS] = { 0 };

	if (!ctl || !is_recording(ctl) || !event_selected(&ctl->raws, me))
		return 0;
	if (event_shed(ctl, SHED_PRESETS)) {
		if (!bpf_map_delete_elem(&open_requests, &key))
			raw_lose(ctl);
		return 0;
	}
	open_begin(open, me, cpu, RAW_RECORD(RAW_BLOCK, BLOCK_WORDS));
	open[BLOCK_DEVICE] = disk ? disk->major << 20 | disk->first_minor : 0;
	open[BLOCK_SECTOR] = rq->__sector;
	open[BLOCK_WHAT] = FXT_PUT(rq->__data_len, BLOCK_F_BYTES) | FXT_PUT(rq->cmd_flags, BLOCK_F_FLAGS);
	if (bpf_map_lookup_elem(&open_requests, &key))
		raw_lose(ctl);	/* it ended without a word */
	if (bpf_map_update_elem(&open_requests, &key, open, BPF_ANY))
		raw_lose(ctl);
	return 0;
}

static __always_inline int end(struct request *rq, __u64 ended)
{
	const __u64 now = bpf_ktime_get_boot_ns();
	__u64 key = (__u64)rq, *open = bpf_map_lookup_elem(&open_requests, &key);

	if (open && open_end(open, BLOCK_WORDS, now, ended))
		bpf_map_delete_elem(&open_requests, &key);
	return 0;
}

/* Of a part, unless @bytes is all that is left. */
SEC("tp_btf/block_rq_complete")
int BPF_PROG(on_block_rq_complete, struct request *rq, __u8 status, unsigned int bytes)
{
	return bytes < rq->__data_len ? 0 : end(rq, FXT_PUT(status, OPEN_F_STATUS));
}

/* The driver gives it back: it will be issued again. */
SEC("tp_btf/block_rq_requeue")
int BPF_PROG(on_block_rq_requeue, struct request *rq)
{
	return end(rq, OPEN_REQUEUED);
}
