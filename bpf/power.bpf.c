// SPDX-License-Identifier: GPL-2.0
/*
 * Idle states and frequencies of CPUs.
 */
#include "abi/ctl.h"
#include "abi/power.h"
#include "abi/raw.h"
#include "lib/presets.bpf.h"

/* @cpu need not be the one that this runs on. */
static __always_inline int write_value(enum power_kind kind, __u32 value, __u32 cpu)
{
	struct cpu_ctl *ctl = ctl_of(bpf_get_smp_processor_id());
	const __u64 ts = bpf_ktime_get_boot_ns();
	__u64 *rec;

	if (!ctl || !is_recording(ctl) || event_shed(ctl, SHED_PRESETS))
		return 0;
	rec = raw_reserve(ctl, POWER_WORDS);
	if (!rec)
		return 0;
	rec[RAW_TS] = ts;
	rec[POWER_WHAT] = FXT_PUT(kind, POWER_F_KIND) | FXT_PUT(cpu, POWER_F_CPU) | FXT_PUT(value, POWER_F_VALUE);
	event_submit(ctl, rec, RAW_RECORD(RAW_POWER, POWER_WORDS));
	return 0;
}

SEC("tp_btf/cpu_idle")
int BPF_PROG(on_cpu_idle, unsigned int state, unsigned int cpu)
{
	return write_value(POWER_IDLE, state, cpu);
}

SEC("tp_btf/cpu_frequency")
int BPF_PROG(on_cpu_frequency, unsigned int khz, unsigned int cpu)
{
	return write_value(POWER_FREQUENCY, khz, cpu);
}
