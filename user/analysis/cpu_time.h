/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How long each thread ran and each CPU was busy, and how long threads waited for one.
 */
#ifndef ANALYSIS_CPU_TIME_H
#define ANALYSIS_CPU_TIME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "timeline.h"
#include "waits.h"

/* What one thread did. */
struct cpu_time_thread {
	uint64_t run_ns, slices, wakeups;
	uint64_t cut_ns;	/* it was switched in then, and there its CPU's records end */
	bool is_cut;
	bool is_partial;	/* it was not selected: only some of its switches are in the trace */
	uint32_t thread;	/* index in the timeline */
};

enum cpu_time_doing {
	CPU_TIME_UNKNOWN,	/* in a gap, or before and after its records */
	CPU_TIME_BUSY,
	CPU_TIME_IDLE,
};

/* What one CPU did. */
struct cpu_time_cpu {
	uint64_t since_ns;	/* doing it */
	uint64_t busy_ns, idle_ns, switches;
	uint16_t cpu;
	uint8_t doing;		/* enum cpu_time_doing */
	bool seen;
};

struct cpu_time {
	const struct timeline *tl;
	struct cpu_time_thread *threads;	/* timeline.threads_cnt, the busiest first */
	struct cpu_time_cpu *cpus;		/* the busiest first, @cpus_cnt of them */
	size_t cpus_cnt;
	struct waits *waits;
};

/*
 * Sorts @tl, which must outlive @ct, and counts. @damaged: records are missing, and it is unknown
 * where. 0 or -ENOMEM; cpu_time_free() frees what it allocated in either case.
 */
int cpu_time_count(struct cpu_time *ct, struct timeline *tl, bool damaged);
/* Frees what cpu_time_count() allocated; one that is all zero is fine. */
void cpu_time_free(struct cpu_time *ct);

#endif
