/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What became of all events of a recording, in the words of the summary, report, verify and the
 * manual (LOSSES in kfxt-record.1):
 *
 *	seen = recorded + filtered + rate-limited + shed (over the budget) + lost by each reason
 */
#ifndef ANALYSIS_LOSSES_H
#define ANALYSIS_LOSSES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/abi/counts.h"
#include "fxt/fxt.h"

enum loss_kind {
#define X(id, name, one, many) LOSS_##id,
	EVENT_CLASSES(X)
#undef X
	LOSS_KIND_CNT
};

enum loss_reason {
	LOSS_RING_FULL,
	LOSS_CONTENDED,		/* the program was interrupted each time it reserved space */
	LOSS_UNPAIRED,		/* only the beginning or the end was seen */
	LOSS_OVERWRITTEN,	/* in a ring of the kernel's */
	LOSS_TOO_DEEP,		/* calls: nowhere to keep the entry until the return */
	LOSS_UNRETURNED,
	LOSS_UNWRITTEN,		/* drained, but the output failed */
	LOSS_UNREPORTED,	/* no program of ours ran; inferred from the next switch */
	LOSS_ONLY_COUNTED,	/* the same, known from /proc/stat alone: a lower bound */
	LOSS_SKIPPED,		/* the kernel did not run a program inside of itself */
	LOSS_UNSAMPLED,		/* stack samples: due, by the count of the perf event or by a switch */
	LOSS_UNACCOUNTED,
	LOSS_REASON_CNT
};

#define LOSS_LATE_MAX	4

struct losses {
	uint64_t drained[LOSS_KIND_CNT];
	uint64_t filtered, ratelimited, over_budget;
	uint64_t lost[LOSS_REASON_CNT][LOSS_KIND_CNT];
	/* No events, and not in the sums: */
	uint64_t names;		/* lost */
	uint64_t names_late;	/* that the kernel did not run a program for: sent when the thread next runs or exits */
	uint64_t implied;	/* wakeups recorded where their task ran */
	uint64_t shared_koids;
	unsigned int late_cnt;
	struct loss_late {	/* a source that did not record from the beginning on */
		char source[24];
		uint64_t after_ns;	/* the beginning; 0: not at all */
		char why[160];		/* then */
	} late[LOSS_LATE_MAX];
};

/* Adds what an event "ledger" of a trace counts. */
void losses_add_ledger(struct losses *l, const struct fxt_record *rec);
/* What an event "late" of a trace says of a source; the last one counts. */
void losses_add_late(struct losses *l, const struct fxt_record *rec);
/* The same of a source: @after_ns the beginning it began to record or, 0, does not because of @why. */
void losses_add_late_source(struct losses *l, struct fxt_str source, uint64_t after_ns, struct fxt_str why);
/* @excess: switches that /proc/stat counts beyond those seen. Call it after the unreported ones were added. */
void losses_add_procstat(struct losses *l, uint64_t excess);

uint64_t losses_recorded(const struct losses *l);
uint64_t losses_lost(const struct losses *l);
uint64_t losses_seen(const struct losses *l);

#define LOSSES_TEXT	400
/* "19473 events: 19465 recorded, 8 lost". Returns @buf. */
const char *losses_sum_text(const struct losses *l, char buf[LOSSES_TEXT]);
/* "8 switches: not reported by the kernel, ..."; false if that is no reason here. */
bool losses_text(const struct losses *l, enum loss_reason reason, char buf[LOSSES_TEXT]);
/* The same for the names. */
bool losses_names_text(const struct losses *l, char buf[LOSSES_TEXT]);
/* What is in the trace but not exact: sentences by number, from 0 on; false: there is none of that number. */
bool losses_note_text(const struct losses *l, unsigned int i, char buf[LOSSES_TEXT]);
/* "at least " where the number of those lost is a lower bound, else "". */
const char *losses_bound_text(const struct losses *l);
#define LOSSES_COUNT_TEXT	40
/* "1 switch", "2 switches". Returns @buf. */
const char *losses_count_text(uint64_t count, enum loss_kind kind, char buf[LOSSES_COUNT_TEXT]);

#endif
