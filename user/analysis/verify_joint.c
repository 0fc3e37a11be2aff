// SPDX-License-Identifier: GPL-2.0
/*
 * Files of one recording: each CPU begins in one where it ended in the one before, with the same thread.
 */
#include <inttypes.h>
#include <string.h>

#include "findings.h"

/* The first record of each CPU, if @mark is that of the start, or its last one. */
static void find_marks(const struct timeline *tl, enum timeline_mark mark, struct verify_joint *j)
{
	const struct timeline_event *ev;
	uint32_t thread;

	memset(j, 0, sizeof(*j));
	for (ev = tl->events; ev < tl->events + tl->events_cnt; ev++) {
		if (ev->kind != TIMELINE_SWITCH || ev->mark != mark)
			continue;
		thread = mark == TIMELINE_MARK_START ? ev->in : ev->out;
		num_cpus_add(&j->cpus, ev->cpu);
		j->at[ev->cpu] = (struct verify_joint_cpu){
			.ts_ns = ev->ts_ns, .offset = ev->offset,
			.koid = thread == TIMELINE_IDLE ? 0 : tl->threads[thread].koid,
		};
	}
}

static void check_cpu(struct verify *v, const struct verify_joint *before, const struct verify_joint *now, unsigned int cpu)
{
	const struct verify_joint_cpu *end = &before->at[cpu], *begin = &now->at[cpu];

	if (!num_cpus_has(&now->cpus, cpu) || !num_cpus_has(&before->cpus, cpu))
		verify_found(v, VERIFY_JOINT, begin->offset, "CPU %u is only in %s file", cpu,
			     num_cpus_has(&now->cpus, cpu) ? "this" : "the one before this");
	else if (begin->ts_ns > end->ts_ns)
		verify_found(v, VERIFY_JOINT, begin->offset, "CPU %u: from %" PRIu64 " to %" PRIu64 " ns is in no file", cpu,
			     end->ts_ns, begin->ts_ns);
	else if (begin->ts_ns < end->ts_ns)
		verify_found(v, VERIFY_JOINT, begin->offset, "CPU %u: from %" PRIu64 " to %" PRIu64 " ns is in two files", cpu,
			     begin->ts_ns, end->ts_ns);
	else if (begin->koid != end->koid)
		verify_found(v, VERIFY_JOINT, begin->offset, "CPU %u: thread %" PRIu64 " runs, in the file before %" PRIu64, cpu,
			     begin->koid, end->koid);
}

void verify_joint(struct verify *v, struct verify_joint *j, bool is_first)
{
	struct verify_joint now;
	unsigned int cpu;

	find_marks(v->tl, TIMELINE_MARK_START, &now);
	for (cpu = 0; cpu < TIMELINE_CPUS_MAX && !is_first; cpu++)
		if (num_cpus_has(&now.cpus, cpu) || num_cpus_has(&j->cpus, cpu))
			check_cpu(v, j, &now, cpu);
	find_marks(v->tl, TIMELINE_MARK_STOP, j);
}
