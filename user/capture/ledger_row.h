/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A row of the ledger: what became of one class of events.
 */
#ifndef CAPTURE_LEDGER_ROW_H
#define CAPTURE_LEDGER_ROW_H

#include <stdint.h>

#include "bpf/abi/counts.h"

/*
 * Logs are lines, or pieces of lines where they came in pieces; one of other sources' events may be
 * several records of the trace, or none.
 */
enum ledger_source {
#define X(id, name, one, many) LEDGER_##id,
	COUNT_CLASSES(X)
#undef X
	LEDGER_SOURCE_CNT
};

/* Why it is not in the trace. */
enum ledger_loss {
#define X(id, name) LEDGER_##id,
	COUNT_LOSSES(X)
#undef X
	LEDGER_LOSS_CNT
};

struct ledger_row {
	uint64_t seen;
	uint64_t taken;
	uint64_t filtered;	/* not selected: by thread, by fields */
	uint64_t ratelimited;	/* calls: beyond --func-max-rate */
	uint64_t over_budget;	/* left out, as the recording cost too much */
	uint64_t idle;		/* samples: the CPU was idle */
	uint64_t brief;		/* samples: sleeps below the threshold; not among those seen */
	uint64_t records;	/* in the trace; not those that the end made of what had not ended */
	uint64_t implied;	/* wakeups: among those taken, not reported, or the sleep before was not */
	uint64_t lost[LEDGER_LOSS_CNT];
	/* Of lost[LEDGER_RING_FULL], those for which no ring was full: */
	uint64_t contended, unpaired, overwritten;
};

#endif
