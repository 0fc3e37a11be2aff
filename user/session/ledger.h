/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What became of everything that happened: for each kind of event and each CPU
 *
 *	seen = taken + filtered + shed + over budget + idle + lost by each reason that a program can see
 *
 * The left side is counted by the programs in the kernel, apart from the rings; @taken is counted by
 * the drain, or is what the programs of scheduling put into their ring, which the drain empties
 * without a look at the records (verify compares it with the file). What does not add up is a loss
 * of its own.
 */
#ifndef SESSION_ACCOUNTING_H
#define SESSION_ACCOUNTING_H

#include <stdint.h>

#include "capture/ledger_row.h"

#define LEDGER_PROVIDER	1	/* the id of the trace's only provider */

struct sources;
struct fxt_arg;
struct fxt_writer;
struct ledger;
struct packets;
struct programs;

/* What the drain counts, of one source on one CPU. */
struct ledger_drained {
	uint64_t taken, records, unwritten;
};

/* In the order of enum ledger_source and of enum ledger_loss, as in the file and in JSON. */
extern const char *const ledger_source_names[LEDGER_SOURCE_CNT];
extern const char *const ledger_loss_names[LEDGER_LOSS_CNT];

struct ledger_cfg {
	struct programs *probes;
	const uint32_t *cpus;
	unsigned int cpus_cnt;
	const struct sources *sources;
};

/* Borrows @cfg's parts. 0 or -ENOMEM. */
int ledger_open(struct ledger **out, const struct ledger_cfg *cfg);
/* For the drain to count in, by source; @i is a position in cfg.cpus. */
struct ledger_drained *ledger_drained(struct ledger *l, unsigned int i);
/* The same for records that were handed to the output and of which no CPU is known: by source. */
uint64_t *ledger_unwritten(struct ledger *l);
/*
 * The kernel's count of context switches is read, before and after all CPUs began, before and after
 * all ended: calls 0 to 3.
 */
void ledger_mark(struct ledger *l, unsigned int call);
/* A row of the @i'th CPU's, and all rows of all CPUs together with what is no CPU's. */
void ledger_row(const struct ledger *l, unsigned int i, enum ledger_source source, struct ledger_row *row);
void ledger_totals(const struct ledger *l, struct ledger_row rows[LEDGER_SOURCE_CNT]);
/* Events that are in the trace as they happened, and those that happened and were selected. */
uint64_t ledger_kept(const struct ledger_row *row);
uint64_t ledger_selected(const struct ledger_row *row);
/* Lost for certain. While it records, what is not accounted for may only be in the rings so far. */
uint64_t ledger_lost_by_now(const struct ledger_row *row);
/*
 * Switches that the kernel counted in /proc/stat beyond those that it reported by sched_switch, at least;
 * 0 too if that cannot be known, as where some CPUs were not recorded.
 */
uint64_t ledger_unreported_switches(const struct ledger *l);
/* Writes it all as events of the recorder's own, with @packets also for Perfetto. 0 or the writer's error. */
int ledger_write(const struct ledger *l, struct fxt_writer *w, struct packets *packets, uint64_t ts);
/* An event about the recording itself, on the caller's thread. */
int ledger_write_event(struct fxt_writer *w, const char *name, uint64_t ts, const struct fxt_arg *args,
		       unsigned int nargs);
/* NULL is fine. */
void ledger_close(struct ledger *l);

#endif
