// SPDX-License-Identifier: GPL-2.0
/*
 * The tables of pseudo processes and threads.
 */
#include "track_ids.h"

#include <stdio.h>

static const struct {
	uint64_t process;
	const char *prefix;
} kinds[PSEUDO_CNT] = {
	[PSEUDO_IDLE] = { 0, "swapper/" },
	[PSEUDO_CPU] = { 0, "CPU " },
	[PSEUDO_IRQ] = { PROCESS_INTERRUPTS, "irq CPU " },
	[PSEUDO_SOFTIRQ] = { PROCESS_INTERRUPTS, "softirq CPU " },
	[PSEUDO_PREEMPT] = { PROCESS_INTERRUPTS, "preempt off CPU " },
	[PSEUDO_IRQSOFF] = { PROCESS_INTERRUPTS, "irqs off CPU " },
	[PSEUDO_LOST] = { PROCESS_LOST, "lost CPU " },
	[PSEUDO_LOST_EVENTS] = { PROCESS_LOST, "lost by event ring CPU " },
	[PSEUDO_SHED] = { PROCESS_LOST, "shed " },
};

struct fxt_thread pseudo_thread(enum pseudo kind, unsigned int cpu)
{
	return (struct fxt_thread){
		.process = kinds[kind].process, .thread = PSEUDO_BASE + PSEUDO_STEP * (1 + kind) + cpu,
	};
}

void pseudo_thread_name(enum pseudo kind, unsigned int cpu, char *buf, size_t size)
{
	snprintf(buf, size, "%s%u", kinds[kind].prefix, cpu);
}

const char *pseudo_process_name(uint64_t process)
{
	static const char *const names[PSEUDO_PROCESSES] = {
		[PROCESS_INTERRUPTS - PSEUDO_BASE] = "interrupts",
		[PROCESS_LOST - PSEUDO_BASE] = "lost events",
		[PROCESS_COUNTERS - PSEUDO_BASE] = "counters",
	};

	return names[process - PSEUDO_BASE];
}
