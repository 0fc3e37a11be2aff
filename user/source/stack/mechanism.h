/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How a kernel allows to sample the stack of a thread that slept, tried in this order.
 */
#ifndef SOURCE_STACK_MECHANISM_H
#define SOURCE_STACK_MECHANISM_H

#include <stdbool.h>
#include <stdint.h>
#include "capture/features.h"
#include "capture/source.h"

enum stack_via {
	STACK_VIA_EXIT_TP,	/* the tracepoint sched_exit_tp, since 6.15 or so */
	STACK_VIA_KPROBE,	/* on finish_task_switch() */
	STACK_VIA_SWITCH,	/* in the switch: kernel frames only */
	STACK_VIA_CNT
};

/* "sched_exit_tp", "kprobe on finish_task_switch", "sched_switch, kernel frames only". */
const char *stack_via_name(enum stack_via via);
/* The name that the kernel's symbols have for finish_task_switch(), which compilers split; NULL: none. */
const char *stack_finish_symbol(void);
/* A perf event that expires on @cpu every @period cycles of it or, without @cycles, ns; it does not run yet. -errno. */
int stack_event_open(uint32_t cpu, bool cycles, uint64_t period);
/* Cycles of a CPU a second, as the machine states them. */
uint64_t stack_cycles_hz(void);

/* Rows of kfxt check. */
extern const struct feature stack_features[];
/* And of kfxt list --presets. */
extern const struct source_option stack_options[];

#endif
