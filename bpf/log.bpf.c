// SPDX-License-Identifier: GPL-2.0
/*
 * The kernel's log: what is printed, as it is printed, by the thread it happens on.
 * Level, facility and dictionary are not known here; the recorder takes them from
 * /dev/kmsg (user/source/log.c).
 */
#include "abi/ctl.h"
#include "abi/log.h"
#include "abi/raw.h"
#include "lib/event_ring.bpf.h"

/* Also with a filter: a trigger is about what it says. */
const volatile bool cfg_logs_of_all = false;

/* Reached from any context. @text does not end with a NUL, nor with the newline it was printed with. */
SEC("tp_btf/console")
int BPF_PROG(on_console, const char *text, unsigned long len)
{
	struct task_struct *me = bpf_get_current_task_btf();
	__u32 cpu = bpf_get_smp_processor_id();
	struct cpu_ctl *ctl = ctl_of(cpu);
	const struct actor who = actor_of(me, cpu);
	const __u64 bytes = len < LOG_TEXT_BYTES ? len : LOG_TEXT_BYTES;
	const __u32 words = LOG_TEXT + (bytes + 7) / 8;
	__u64 *rec, ts;

	if (!ctl || !is_recording(ctl) || !(cfg_logs_of_all || event_selected(&ctl->logs, me)))
		return 0;
	ts = bpf_ktime_get_boot_ns();
	rec = event_reserve(ctl, words, event_ring_bytes(), &ctl->logs);
	if (!rec)
		return 0;
	rec[RAW_TS] = ts;
	rec[RAW_PROCESS] = who.process;
	rec[RAW_THREAD] = who.thread;
	rec[LOG_LEN] = bytes | (in_interrupt(ctl->preempt_count, me, false) ? LOG_INTERRUPT : 0);
	bpf_probe_read_kernel(rec + LOG_TEXT, bytes, text);
	event_submit(ctl, rec, RAW_RECORD(RAW_LOG, words));
	return 0;
}
