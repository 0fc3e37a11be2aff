/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Classes of events that are left out while a recording costs more than its budget, in this order: X(ID, many). Never
 * those of scheduling, names, lines of the log and what programs mark.
 */
#ifndef BPF_ABI_SHED_H
#define BPF_ABI_SHED_H

#define SHED_CLASSES(X) \
	X(CALLS,	"functions") \
	X(SYSCALLS,	"system calls") \
	X(TRACEPOINTS,	"tracepoints") \
	X(PRESETS,	"presets")	/* interrupts, work items, power, requests */

enum shed_class {
#define X(id, many) SHED_##id,
	SHED_CLASSES(X)
#undef X
	SHED_CNT
};

#endif
