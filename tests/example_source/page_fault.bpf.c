// SPDX-License-Identifier: GPL-2.0
/*
 * Page faults of programs.
 */
#include "abi/ctl.h"
#include "abi/raw.h"
#include "lib/event_ring.bpf.h"

#define WORDS	(RAW_WORDS + 2)

SEC("tp_btf/page_fault_user")
int BPF_PROG(on_page_fault_user, unsigned long address, struct pt_regs *regs, unsigned long error_code)
{
	struct task_struct *me = bpf_get_current_task_btf();
	const __u32 cpu = bpf_get_smp_processor_id();
	struct cpu_ctl *ctl = ctl_of(cpu);
	__u64 *rec;

	if (!ctl || !is_recording(ctl) || !event_selected(&ctl->raws, me) || event_shed(ctl, SHED_PRESETS))
		return 0;
	rec = raw_reserve(ctl, WORDS);
	if (!rec)
		return 0;
	rec[RAW_TS] = bpf_ktime_get_boot_ns();
	rec[RAW_PROCESS] = process_of(me);
	rec[RAW_THREAD] = koid_of(me->pid);
	rec[RAW_WORDS] = address;
	rec[RAW_WORDS + 1] = error_code;
	event_submit(ctl, rec, RAW_RECORD(RAW_PAGE_FAULT, WORDS));
	return 0;
}
