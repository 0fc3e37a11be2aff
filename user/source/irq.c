// SPDX-License-Identifier: GPL-2.0
/*
 * Interrupts as slices, on tracks of their CPUs.
 */
#include <errno.h>
#include <string.h>

#include "bpf/abi/irq.h"
#include "bpf/abi/raw.h"
#include "capture/features.h"
#include "capture/source.h"
#include "capture/tracks.h"
#include "fxt/fxt.h"
#include "kfxt.skel.h"
#include "table.h"

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

static int decode(void *state, struct source_ctx *c, const uint64_t *rec, unsigned int *written)
{
	const enum irq_kind kind = FXT_GET(rec[IRQ_WHAT], IRQ_F_KIND);
	const uint32_t number = FXT_GET(rec[IRQ_WHAT], IRQ_F_NUMBER);
	const char *handler = (const char *)&rec[IRQ_NAME];
	struct fxt_event event = { .type = FXT_DURATION_COMPLETE, .ts = rec[RAW_TS], .id = rec[IRQ_END_TS] };
	struct fxt_arg args[3] = { fxt_arg_koid("interrupted", rec[RAW_THREAD]) };
	unsigned int n = 1;
	int err;

	(void)state;
	if (kind >= IRQ_KIND_CNT || (kind == IRQ_HANDLER && FXT_GET(rec[RAW_HEADER], FXT_F_SIZE) <
							     IRQ_NAME + IRQ_NAME_BYTES / 8))
		return -EINVAL;
	err = tracks_get_cpu(c->tracks, c->w, kind == IRQ_SOFTIRQ ? PSEUDO_SOFTIRQ : PSEUDO_IRQ,
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
	err = err ?: fxt_write_event(c->w, &event, args, n);
	*written = !err;
	return err;
}

static int prepare_irqs(void *s, struct source_ctx *c)
{
	(void)s;
	c->skel->rodata->cfg_irqs_of_all = c->of_all;
	return 0;
}

const struct source_ops source_irq = {
	.name = "irq",
	.about = "interrupts and softirqs; on x86 also local timer interrupts and IPIs",
	.shows = "slices on tracks \"irq CPU N\" and \"softirq CPU N\" of process \"interrupts\"",
	.tracepoints = { { "irq_handler_entry", 2 }, { "irq_handler_exit", 3 },
			 { "softirq_entry", 1 }, { "softirq_exit", 1 } },
	.features = (const struct feature[]){
		FEATURE_TRACEPOINT("irq_handler_entry", 2, "-e irq"),
		{ 0 } },
	.programs = { "on_irq_handler_entry", "on_irq_handler_exit", "on_softirq_entry", "on_softirq_exit" },
#define X(name) #name "_entry", #name "_exit",
	.optional = { IRQ_VECTORS(X) },
#undef X
	.maps = { "open_irqs" },
	.class = LEDGER_EVENTS, .raw_words_min = IRQ_NAME,
	.shed_class = SHED_PRESETS, .shed_runs = 2,
	.prepare = prepare_irqs, .decode = decode,
};
