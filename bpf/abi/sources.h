/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The sources of events: one row each. A row makes RAW_ID, the kind of its deferred records, and
 * a place in the table of sources for source_NAME (user/source/table.h).
 */
#ifndef BPF_ABI_SOURCES_H
#define BPF_ABI_SOURCES_H

/* X(ID, name), in the order in which kfxt list has them. */
#define SOURCES(X) \
	X(LOG,		log) \
	X(MARKER,	marker) \
	X(SIGNAL,	signal) \
	X(MIGRATE,	migrate) \
	X(IRQ,		irq) \
	X(WORK,		workqueue) \
	X(POWER,	power) \
	X(BLOCK,	block) \
	X(PSI,		psi) \
	X(SYSCALL,	syscall) \
	X(TRACEPOINT,	tracepoint) \
	X(FUNC,		func) \
	X(STACK,	stack)

#endif
