/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The numbers that head the output of verify and report.
 */
#ifndef CLI_SUMMARY_H
#define CLI_SUMMARY_H

#include "../fxt/fxt.h"
#include "../read/timeline.h"

/* What a recording may lack. */
enum summary_loss {
	SUMMARY_SWITCHES,
	SUMMARY_WAKEUPS,
	SUMMARY_NAMES,
	SUMMARY_UNSEEN,		/* switches hidden by the kernel: not lost, yet missing */
	SUMMARY_SKIPPED,	/* events of unknown kind: the kernel did not run a program */
	SUMMARY_SHARED,		/* threads that have the koid of an earlier one */
	SUMMARY_UNSEEN_WAKEUPS,	/* hidden too: in the trace as implied */
	SUMMARY_CALLS,		/* of functions */
	SUMMARY_MISSED,		/* calls made while another one was being traced */
	SUMMARY_SHED,		/* calls that were not wanted, being too many */
	SUMMARY_LOGS,		/* lines of the kernel's log, or parts of them */
	SUMMARY_EVENTS,		/* of other sources */
	SUMMARY_UNWRITTEN,	/* of any kind: the output took no more */
	SUMMARY_UNTOLD,		/* switches in the kernel's own count that nobody was told of */
	SUMMARY_LOSS_CNT
};

struct summary {
	uint64_t from_ns, duration_ns;	/* the session, or first to last event without one */
	uint64_t switches, wakeups, calls, logs, events, bytes;
	uint64_t lost[SUMMARY_LOSS_CNT];
	bool has_session, has_ledger;	/* without a ledger @lost is not all */
	bool repaired;
	unsigned int cpus;
	size_t threads;
};

void summary_init(struct summary *s, const struct timeline *tl,
		  const struct fxt_reader_stats *stats);
/* Whether something is missing of which gaps in the trace tell. */
bool summary_has_gaps(const struct summary *s);
void summary_print_text(const struct summary *s);
/* Members of an object, without its braces. */
void summary_print_json(const struct summary *s);

#endif
