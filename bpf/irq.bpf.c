// SPDX-License-Identifier: GPL-2.0
/*
 * Interrupts and softirqs as slices. On a CPU neither kind nests in itself, and a softirq can
 * only be interrupted by the other kind: there is one place for either to be kept until its exit.
 */
#include "abi/ctl.h"
#include "abi/irq.h"
#include "abi/raw.h"
#include "lib/presets.bpf.h"

struct irqaction {
	const char *name;
} __attribute__((preserve_access_index));

struct open_irq {
	__u64 start_ns;		/* 0: none */
	__u64 what;
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 2);
	__type(key, __u32);
	__type(value, struct open_irq);
} open_irqs SEC(".maps");

/* Also with a filter: a trigger is about how long they take. */
const volatile bool cfg_irqs_of_all = false;

static __always_inline int enter(enum irq_kind kind, __u32 number)
{
	const __u32 cpu = bpf_get_smp_processor_id(), key = kind == IRQ_SOFTIRQ;
	struct open_irq *open = bpf_map_lookup_elem(&open_irqs, &key);
	struct cpu_ctl *ctl = ctl_of(cpu);

	if (!ctl || !open || !is_recording(ctl))
		return 0;
	if (!cfg_irqs_of_all && !event_selected(&ctl->raws, bpf_get_current_task_btf()))
		return 0;
	if (open->start_ns)
		raw_lose(ctl);	/* its exit was not seen */
	open->start_ns = 0;
	if (event_shed(ctl, SHED_PRESETS))
		return 0;
	open->what = FXT_PUT(kind, IRQ_F_KIND) | FXT_PUT(cpu, IRQ_F_CPU) | FXT_PUT(number, IRQ_F_NUMBER);
	open->start_ns = bpf_ktime_get_boot_ns();
	return 0;
}

/* @action NULL: there is none. */
static __always_inline int leave(enum irq_kind kind, __u32 number, const struct irqaction *action, int ret)
{
	const __u64 now = bpf_ktime_get_boot_ns();
	const __u32 cpu = bpf_get_smp_processor_id(), key = kind == IRQ_SOFTIRQ;
	const __u32 words = action ? IRQ_NAME + IRQ_NAME_BYTES / 8 : IRQ_NAME;
	const struct actor who = actor_of(bpf_get_current_task_btf(), cpu);
	struct open_irq *open = bpf_map_lookup_elem(&open_irqs, &key);
	struct cpu_ctl *ctl = ctl_of(cpu);
	__u64 *rec, start;

	if (!ctl || !open || !open->start_ns)
		return 0;
	start = open->start_ns;
	open->start_ns = 0;
	if (!is_recording(ctl))
		return 0;
	if (FXT_GET(open->what, IRQ_F_NUMBER) != number || FXT_GET(open->what, IRQ_F_KIND) != kind) {
		raw_lose(ctl);	/* nor was this one's entry */
		return 0;
	}
	rec = raw_reserve(ctl, words);
	if (!rec)
		return 0;
	rec[RAW_TS] = start;
	rec[RAW_PROCESS] = who.process;
	rec[RAW_THREAD] = who.thread;
	rec[IRQ_END_TS] = now;
	rec[IRQ_WHAT] = open->what | FXT_PUT(!!ret, IRQ_F_HANDLED);
	if (action)
		bpf_probe_read_kernel_str(rec + IRQ_NAME, IRQ_NAME_BYTES, action->name);
	event_submit(ctl, rec, RAW_RECORD(RAW_IRQ, words));
	return 0;
}

SEC("tp_btf/irq_handler_entry")
int BPF_PROG(on_irq_handler_entry, int irq)
{
	return enter(IRQ_HANDLER, irq);
}

SEC("tp_btf/irq_handler_exit")
int BPF_PROG(on_irq_handler_exit, int irq, struct irqaction *action, int ret)
{
	return leave(IRQ_HANDLER, irq, action, ret);
}

SEC("tp_btf/softirq_entry")
int BPF_PROG(on_softirq_entry, unsigned int vec)
{
	return enter(IRQ_SOFTIRQ, vec);
}

SEC("tp_btf/softirq_exit")
int BPF_PROG(on_softirq_exit, unsigned int vec)
{
	return leave(IRQ_SOFTIRQ, vec, NULL, 0);
}

#define VECTOR(name)						\
SEC("tp_btf/" #name "_entry")					\
int BPF_PROG(on_##name##_entry, int vector)			\
{								\
	return enter(IRQ_VECTOR_##name, vector);		\
}								\
SEC("tp_btf/" #name "_exit")					\
int BPF_PROG(on_##name##_exit, int vector)			\
{								\
	return leave(IRQ_VECTOR_##name, vector, NULL, 0);	\
}
IRQ_VECTORS(VECTOR)
