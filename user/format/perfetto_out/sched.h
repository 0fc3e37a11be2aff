/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Scheduling records in order of time become bundles of each CPU.
 */
#ifndef FORMAT_PERFETTO_OUT_SCHED_H
#define FORMAT_PERFETTO_OUT_SCHED_H

#include <stdbool.h>

#include "fxt/fxt.h"
#include "compact.h"
#include "queue.h"
#include "tasks.h"

/* What runs on a CPU. */
struct out_cpu {
	struct out_bundle bundle;
	bool begun, in_gap;
	uint32_t current;		/* of tasks[] */
	uint64_t switch_ns, waking_ns;	/* of the last ones that were put */
};

struct out_cpus {
	struct out_tasks *tasks;
	struct out_queue queue;
	struct out_cpu *cpus[OUT_CPUS_MAX];	/* NULL: no record of it yet */
	uint64_t begin_ns;		/* the trace begins; set by the caller */
	uint64_t begun_ns;		/* the last mark "start" */
	bool ended;			/* all records are there, as far as they are known */
	uint64_t states_cnt;		/* marks "state": if there are any, threads without one were born later */
};

void out_sched_init(struct out_cpus *s, struct out_tasks *tasks);
void out_sched_fini(struct out_cpus *s);
/* Takes a context switch or a wakeup, legacy or not: 0, -ERANGE if there is no such CPU, or -ENOMEM. */
int out_sched_add(struct out_cpus *s, const struct fxt_record *rec, uint64_t ts_ns);
/* A counter of a CPU as the ftrace event @number, with the CPU as its id and the argument "state". 0 or -ENOMEM. */
int out_sched_power(struct out_cpus *s, struct pb_buf *out, unsigned int number, const struct fxt_record *rec,
		    uint64_t ts_ns);
/* Strings in its packets that had bytes which are not UTF-8. */
uint64_t out_sched_replaced(const struct out_cpus *s);
/* Appends packets of bundles that are begun. 0 or -ENOMEM. */
int out_sched_put_bundles(struct out_cpus *s, struct pb_buf *out);
/* Appends packets of what is in order, if it is much or @all. 0 or -ENOMEM. */
int out_sched_put(struct out_cpus *s, struct pb_buf *out, bool all);

#endif
