/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Raw records (session.h) of the presets: what belongs together is one record.
 */
#ifndef KFXT_PRESETS_H
#define KFXT_PRESETS_H

#include "session.h"

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

/*
 * What begins here and ends elsewhere is kept by the kernel side as the record that it is to
 * become; what has not ended at last is taken from there.
 */
enum open_word {
	OPEN_END_TS	= RAW_WORDS,
	OPEN_PLACE,
	OPEN_WORDS,
	OPEN_WORDS_MAX	= 12,
};
#define OPEN_F_CPU		0, 16	/* where it began */
#define OPEN_F_STATUS		16, 8	/* how it ended; 0: well */
#define OPEN_SOFTIRQ		(1ULL << 32)	/* no thread's doing */
#define OPEN_REQUEUED		(1ULL << 33)	/* given back, to be begun again */
#define OPEN_UNFINISHED		(1ULL << 34)

/* A work item that was executed. */
enum work_word {
	WORK_ITEM	= OPEN_WORDS,	/* addresses */
	WORK_FUNCTION,
	WORK_QUEUED_TS,			/* 0: not known */
	WORK_WORDS,
};

/* A request of a block device, from issue to completion. */
enum block_word {
	BLOCK_DEVICE	= OPEN_WORDS,	/* as the kernel has it: major << 20 | minor; 0: none */
	BLOCK_SECTOR,
	BLOCK_WHAT,
	BLOCK_WORDS,
};
#define BLOCK_F_BYTES	0, 32
#define BLOCK_F_OP	32, 8		/* enum req_op */
#define BLOCK_F_FLAGS	32, 32		/* blk_opf_t, the op among it */

/* A number of a CPU that changed; no thread's doing. */
enum power_kind {
	POWER_IDLE,
	POWER_FREQUENCY,
	POWER_KIND_CNT
};
enum power_word {
	POWER_WHAT	= RAW_WORDS,
	POWER_WORDS,
};
#define POWER_F_VALUE	0, 32
#define POWER_F_CPU	32, 16
#define POWER_F_KIND	48, 8		/* enum power_kind */

#endif
