/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The numbers that head the output of verify and report.
 */
#ifndef ANALYSIS_SUMMARY_H
#define ANALYSIS_SUMMARY_H

#include "fxt/fxt.h"
#include "timeline.h"

/* What a recording may lack. */
enum summary_loss {
	SUMMARY_SWITCHES,
	SUMMARY_WAKEUPS,
	SUMMARY_NAMES,
	SUMMARY_UNREPORTED,	/* switches the kernel did not report */
	SUMMARY_PROG_SKIPPED_NAMES,	/* forks, renames, execs, exits, cgroup moves: the same */
	SUMMARY_PROG_SKIPPED,	/* events of unknown kind: the kernel did not run a program */
	SUMMARY_SHARED,		/* threads that have the koid of an earlier one */
	SUMMARY_UNREPORTED_WAKEUPS,	/* in the trace as implied */
	SUMMARY_CALLS,		/* of functions */
	SUMMARY_MISSED,		/* calls made while another one was being traced */
	SUMMARY_RATELIMITED,	/* calls beyond --func-max-rate */
	SUMMARY_LOGS,		/* lines of the kernel's log, or parts of them */
	SUMMARY_EVENTS,		/* of other sources */
	SUMMARY_SAMPLES,	/* of stacks */
	SUMMARY_WRITE_FAILED,	/* of any kind: the output could not be written */
	SUMMARY_PROCSTAT_EXCESS, /* switches that /proc/stat counts beyond those seen */
	SUMMARY_LOSS_CNT
};

struct json;

struct summary {
	uint64_t from_ns, duration_ns;	/* the session, or first to last event without one */
	uint64_t switches, wakeups, calls, logs, events, bytes;
	uint64_t lost[SUMMARY_LOSS_CNT];	/* as in JSON */
	struct losses losses;		/* in words */
	bool has_session, has_ledger;	/* without a ledger @lost is not all */
	bool repaired;
	unsigned int cpus;
	size_t threads;
};

void summary_init(struct summary *s, const struct timeline *tl,
		  const struct fxt_reader_stats *stats);
/* Whether something is missing which gaps in the trace show. */
bool summary_has_gaps(const struct summary *s);
void summary_print_text(const struct summary *s);
/* Members of the object that is open. */
void summary_print_json(const struct summary *s, struct json *j);

#endif
