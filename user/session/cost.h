/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a recording costs: time of its BPF programs, and of the recorder's own threads.
 *
 * The programs' time is counts times nanoseconds. The counts are those that the programs keep for the ledger. The
 * nanoseconds are measured when the recording begins, by the kernel's statistics of BPF programs: these cost two
 * reads of the clock for each run, so they do not stay on.
 */
#ifndef SESSION_COST_H
#define SESSION_COST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/abi/raw.h"
#include "bpf/abi/shed.h"
#include "fxt/fxt.h"

struct fxt_writer;
struct recorder;
struct source_ops;

/* What is counted apart: scheduling, then each source by its kind. */
enum cost_item {
	COST_SWITCHES,
	COST_WAKEUPS,
	COST_NAMES,
	COST_POLLED,		/* events that no program sees: markers, pressure */
	COST_SOURCES,
	COST_CNT	= COST_SOURCES + RAW_KIND_CNT
};

/* Runs of programs, counted only while the kernel's statistics are on. */
struct cost_runs {
	uint64_t cnt;
	uint64_t ns;		/* as the kernel counts them: with a part of its reads of the clock */
	uint64_t entry_ns;	/* what the kernel takes to call them, which it does not count: by how they are attached */
};

/* What has been counted up to a moment. What was between two of them is their difference. */
struct cost_counts {
	uint64_t now_ns;		/* CLOCK_BOOTTIME */
	uint64_t seen[COST_CNT];	/* events, filtered and lost ones too, but not those shed; of sources that share a class, those recorded */
	uint64_t recorded[COST_CNT];
	uint64_t shed[SHED_CNT];
	struct cost_runs runs[COST_CNT];
	uint64_t drain_ns;		/* CPU time of the thread that drains, without what counting takes, and of the one that watches it */
	uint64_t output_ns;		/* of the recorder's other threads: compression, another format; names, which is little */
	uint64_t bytes, raw_bytes;	/* as of struct recorder_totals */
	/* With a window: .raw_bytes are in it or were, .packed_from of these have been compressed to .bytes. */
	bool is_kept;
	uint64_t packed_from;
};

/* What the programs take, by item: for each event or, where there are hardly any, of the time that passes. */
struct cost_rates {
	const struct source_ops *const *table;	/* of the sources, by kind; borrowed */
	double event_ns[COST_CNT];
	double share[COST_CNT];		/* ns of programs per ns, of an item that had hardly any events when it was measured */
	double shed_ns[SHED_CNT];	/* of an event that is left out */
};

#define COST_EVENTS_MIN	20	/* fewer events say nothing of how long one takes */

/* Shares are of one CPU, 1 being all of it. */
struct cost_shares {
	uint64_t ns, end_ns;		/* of how long; CLOCK_BOOTTIME */
	double seen_per_s[COST_CNT], recorded_per_s[COST_CNT];
	double shed_per_s[SHED_CNT];
	double item[COST_CNT];		/* of the programs */
	double shed[SHED_CNT];		/* the same, of what is left out */
	double kernel;			/* all programs */
	double drain, output;		/* as of struct cost_counts */
	double bytes_per_s, raw_bytes_per_s;
	double packed;			/* how much of what came was compressed meanwhile; 1 without a window */
};

/* What is typical, by what the sources of @table say, for where nothing can be measured. */
void cost_rates_typical(struct cost_rates *rates, const struct source_ops *const *table);
/*
 * From what was counted between two moments with the statistics on, at @empty_ns counted for a run of a program that
 * does nothing. Where an item had fewer events than COST_EVENTS_MIN, @rates keeps its @event_ns.
 */
void cost_rates_measure(struct cost_rates *rates, const struct cost_counts *from, const struct cost_counts *to,
			double empty_ns);
/* What was between two moments. All is 0 if no time was. */
void cost_shares_between(struct cost_shares *out, const struct cost_counts *from, const struct cost_counts *to,
			 const struct cost_rates *rates);
/*
 * "cost 0.21 % of one CPU (kernel 0.18, recorder 0.03)" in @buf, where recorder is all of its threads. Returns @buf.
 */
#define COST_TEXT	80
const char *cost_text(const struct cost_shares *shares, char buf[COST_TEXT]);

/*
 * Both parts in percent of one CPU, "kernel" and "recorder", as a counter "kfxt cost" of @at for what is from @ts on; and as
 * an event of the recorder's own for the whole recording. 0 or the writer's error.
 */
int cost_write_counter(const struct cost_shares *shares, uint64_t ts, struct fxt_thread at, struct fxt_writer *w);
int cost_write_event(const struct cost_shares *shares, uint64_t ts, struct fxt_writer *w);

/* ---- of a recording ---- */

struct cost;

struct cost_cfg {
	uint64_t settle_ns;	/* what is in this time after the first look does not count: names of what runs already */
	uint64_t measure_ns;	/* how long the statistics are on after that; UINT64_MAX: always, and each look counts */
};

/*
 * Turns the statistics on. Once the programs are loaded, and before privileges are dropped: it takes CAP_SYS_ADMIN.
 * Without it all goes by what is typical. @r is borrowed. 0 or -ENOMEM.
 */
int cost_open(struct cost **out, const struct recorder *r, const struct cost_cfg *cfg);
/* Why the programs are not measured: -errno; 0: they are. */
int cost_error(const struct cost *c);
/*
 * For the tick of recorder_run(), by the thread that drains: counts, if the statistics are on or it has not done so
 * for a second. Returns whether it did.
 */
bool cost_look(struct cost *c);
/* The next time after half a second: what costs has changed. */
void cost_look_soon(struct cost *c);
/* Counts in any case, at the end of the recording. */
void cost_end(struct cost *c);
/* Whether the rates are not known yet. */
bool cost_is_measuring(const struct cost *c);
/* CPU time of the draining thread between two looks that is not part of the recording. */
void cost_leave_out(struct cost *c, uint64_t ns);
/* Bytes of records, not compressed, between the last two looks. */
uint64_t cost_round_bytes(const struct cost *c);
/* Ends the measuring: the programs are not to run any longer as they did. */
void cost_keep_rates(struct cost *c);
/* Since the settling; and between the last two looks that counted. False: nothing yet. */
bool cost_so_far(const struct cost *c, struct cost_shares *out);
bool cost_lately(const struct cost *c, struct cost_shares *out);
/* NULL is fine. */
void cost_close(struct cost *c);

#endif
