/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Reports: what kfxt report prints of a trace.
 */
#ifndef REPORT_REPORT_H
#define REPORT_REPORT_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/cpu_time.h"
#include "analysis/summary.h"

#define REPORT_TOP_DEFAULT	UINT64_MAX

struct report_cfg {
	bool json;
	uint64_t top;
	const char *stacks;		/* "cpu", "off-cpu", "waker"; "": all there are; NULL: no stacks */
	bool inverted, inlines, debuginfod;
	const char *by, *comm;		/* NULL: not said */
	uint64_t pid;			/* UINT64_MAX: not said */
	uint64_t from_ns, to_ns;	/* the same: 0 */
};

struct report {
	struct timeline *tl;
	struct cpu_time time;
	struct summary summary;
};

/* A kind of report, in each form, on stdout. */
struct report_ops {
	const char *name;
	void (*text)(const struct report *r, const struct report_cfg *cfg);
	void (*json)(const struct report *r, const struct report_cfg *cfg);
};

/* The busiest threads and CPUs. */
extern const struct report_ops report_threads;

#endif
