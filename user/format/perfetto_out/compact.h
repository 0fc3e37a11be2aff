/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Scheduling of one CPU as packets: an FtraceEventBundle with arrays of switches and wakeups, and
 * single events that do not fit into these. Each is complete by itself: a file that is cut loses no other.
 */
#ifndef FORMAT_PERFETTO_OUT_COMPACT_H
#define FORMAT_PERFETTO_OUT_COMPACT_H

#include <stdbool.h>
#include <stdint.h>

#include "format/perfetto/encode.h"
#include "tasks.h"

/* Numbers of events in FtraceEvent. */
enum pf_ftrace_number {
	PF_FTRACE_CPU_FREQUENCY = 11, PF_FTRACE_CPU_IDLE = 13, PF_FTRACE_SCHED_WAKING = 20,
	PF_FTRACE_TASK_NEWTASK = 235,
};
enum pf_power { PF_POWER_STATE = 1, PF_POWER_CPU = 2 };	/* both of cpu_frequency and cpu_idle */
enum pf_waking { PF_WAKING_PID = 2, PF_WAKING_PRIO = 3, PF_WAKING_TARGET_CPU = 5 };
enum pf_newtask { PF_NEWTASK_PID = 1, PF_NEWTASK_COMM = 2, PF_NEWTASK_FLAGS = 3 };
#define OUT_WAKING_HARDIRQ	8U	/* common_flags: in an interrupt */
#define OUT_BUNDLE_EVENTS	2000U	/* to be put by then: more in one would hardly be smaller, and find no names */

enum out_bundle_array {
	OUT_ARRAY_TIME, OUT_ARRAY_STATE, OUT_ARRAY_PID, OUT_ARRAY_PRIO, OUT_ARRAY_COMM,	/* of switches */
	OUT_ARRAY_WAKING_TIME, OUT_ARRAY_WAKING_PID, OUT_ARRAY_WAKING_CPU, OUT_ARRAY_WAKING_PRIO, OUT_ARRAY_WAKING_COMM,
	OUT_ARRAY_WAKING_FLAGS,
	OUT_ARRAY_MARKS,
	OUT_ARRAY_CNT
};

struct out_comm_slot;

/* All zero is an empty one, but for @cpu. */
struct out_bundle {
	uint16_t cpu;
	bool lost;			/* events are missing before it */
	unsigned int events, switches;
	uint64_t switch_ns, waking_ns;	/* of the last ones in it */
	struct pb_buf arrays[OUT_ARRAY_CNT], comms, single;	/* packed; whole fields */
	struct out_comm_slot *slots;	/* which names are in @comms */
	uint32_t serial, comms_cnt;
};

struct out_bundle_switch {
	uint64_t ts_ns;
	uint32_t next;		/* of tasks[] */
	int32_t prio;
	uint16_t prev_state;	/* bits as Linux has them since 4.14 */
	uint8_t mark;		/* enum pf_mark */
};

struct out_bundle_waking {
	uint64_t ts_ns;
	uint32_t task;		/* of tasks[] */
	int32_t prio;
	uint16_t target_cpu, flags;
};

/* Times are ascending, of switches and of wakeups. 0 or -ENOMEM. */
int out_bundle_switch(struct out_bundle *b, const struct out_tasks *t, const struct out_bundle_switch *s);
int out_bundle_waking(struct out_bundle *b, const struct out_tasks *t, const struct out_bundle_waking *s);
/* A single event of any time; @pid is the thread it is of. Returns what out_bundle_end_single() takes. */
size_t out_bundle_begin_single(struct out_bundle *b, uint64_t ts_ns, uint32_t pid);
void out_bundle_end_single(struct out_bundle *b, size_t begun);
/* Appends the packet to @out and begins an empty bundle; nothing of an empty one. 0 or -ENOMEM. */
int out_bundle_put(struct out_bundle *b, struct pb_buf *out);
void out_bundle_fini(struct out_bundle *b);

#endif
