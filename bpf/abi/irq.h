/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Deferred records of interrupts.
 */
#ifndef BPF_ABI_IRQ_H
#define BPF_ABI_IRQ_H

#include "raw.h"

/* Interrupts that have no handler of their own: tracepoints NAME_entry and NAME_exit, on x86. */
#define IRQ_VECTORS(X) \
	X(local_timer) X(reschedule) X(call_function) X(call_function_single) X(irq_work)

enum irq_kind {
	IRQ_HANDLER,
	IRQ_SOFTIRQ,
#define X(name) IRQ_VECTOR_##name,
	IRQ_VECTORS(X)
#undef X
	IRQ_KIND_CNT
};

/* An interrupt from entry to exit. Its thread is the one it came upon. */
enum irq_word {
	IRQ_END_TS	= RAW_WORDS,
	IRQ_WHAT,
	IRQ_NAME,			/* of a handler: NUL-terminated, cut */
	IRQ_NAME_BYTES	= 32,
};
#define IRQ_F_NUMBER	0, 32
#define IRQ_F_CPU	32, 16
#define IRQ_F_KIND	48, 8		/* enum irq_kind */
#define IRQ_F_HANDLED	56, 1

#endif
