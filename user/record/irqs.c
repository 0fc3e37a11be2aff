// SPDX-License-Identifier: GPL-2.0
/*
 * Interrupts as slices, on tracks of their CPUs.
 */
#include <errno.h>
#include <string.h>

#include "../../bpf/presets.h"
#include "events_p.h"
#include "presets.h"

static const char *softirq_name(uint32_t vec)
{
	/* As the kernel's own tracepoint prints them. */
	static const char *const names[] = {
		"HI", "TIMER", "NET_TX", "NET_RX", "BLOCK", "IRQ_POLL", "TASKLET", "SCHED", "HRTIMER", "RCU",
	};

	return vec < sizeof(names) / sizeof(*names) ? names[vec] : "softirq";
}

static const char *const vector_names[IRQ_KIND_CNT] = {
#define X(name) [IRQ_VECTOR_##name] = #name,
	IRQ_VECTORS(X)
#undef X
};

int irqs_write(struct events *e, struct fxt_writer *w, const uint64_t *rec, unsigned int *written)
{
	const enum irq_kind kind = FXT_GET(rec[IRQ_WHAT], IRQ_F_KIND);
	const uint32_t number = FXT_GET(rec[IRQ_WHAT], IRQ_F_NUMBER);
	const char *handler = (const char *)&rec[IRQ_NAME];
	struct fxt_event event = { .type = FXT_DURATION_COMPLETE, .ts = rec[RAW_TS], .id = rec[IRQ_END_TS] };
	struct fxt_arg args[3] = { fxt_arg_koid("interrupted", rec[RAW_THREAD]) };
	unsigned int n = 1;
	int err;

	*written = 0;
	if (kind >= IRQ_KIND_CNT || (kind == IRQ_HANDLER && FXT_GET(rec[RAW_HEADER], FXT_F_SIZE) <
							     IRQ_NAME + IRQ_NAME_BYTES / 8))
		return -EINVAL;
	err = presets_track(e->presets, w, kind == IRQ_SOFTIRQ ? PSEUDO_SOFTIRQ : PSEUDO_IRQ,
			    FXT_GET(rec[IRQ_WHAT], IRQ_F_CPU), &event.thread);
	event.category = fxt_str("irq");
	switch (kind) {
	case IRQ_HANDLER:
		event.name = fxt_str_n(handler, strnlen(handler, IRQ_NAME_BYTES));
		args[n++] = fxt_arg_u32("irq", number);
		args[n++] = fxt_arg_str("ret", fxt_str(FXT_GET(rec[IRQ_WHAT], IRQ_F_HANDLED) ? "handled" : "unhandled"));
		break;
	case IRQ_SOFTIRQ:
		event.name = fxt_str(softirq_name(number));
		args[n++] = fxt_arg_u32("vec", number);
		break;
	default:
		event.category = fxt_str("irq_vectors");
		event.name = fxt_str(vector_names[kind]);
		args[n++] = fxt_arg_u32("vector", number);
	}
	err = err ?: fxt_write_event(w, &event, args, n);
	*written = !err;
	return err;
}
