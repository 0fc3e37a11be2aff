/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A recording from its first byte to its last: header, probes, names, drain,
 * ledger. One thread does it all and sleeps unless a ring fills; a second one compresses.
 */
#ifndef RECORD_RECORDER_H
#define RECORD_RECORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "compress.h"
#include "func_probes.h"
#include "ledger.h"

struct events;
struct filter;
struct funcs;
struct recorder;

struct recorder_cfg {
	const char *output;		/* path, or "-" for stdout */
	struct compress_cfg compress;
	uint64_t ring_bytes;		/* per CPU */
	const uint32_t *cpus;		/* to record, online */
	unsigned int cpus_cnt;
	const char *cpus_text;		/* the same as a list, "0-3,7" */
	bool perfetto_packets;
	struct funcs *funcs;		/* functions to trace; NULL: none. Borrowed. */
	struct events *events;		/* what else to record, the log among it; NULL: nothing. Borrowed. */
	struct filter *filter;	/* of which threads; NULL: all. Borrowed. */
	progress_fn progress;		/* of attaching and detaching; NULL: not told */
	void *progress_ctx;
};

/* Fixed string indexes from here on are free for functions. */
extern const uint32_t recorder_strings_from;

struct recorder_totals {
	struct ledger_row of[LEDGER_SOURCE_CNT];
	uint64_t untold_switches;	/* as of ledger_untold_switches() */
	uint64_t bare_logs;		/* of the lines in the trace, without a level */
	int kmsg_err;			/* -errno: why, where /dev/kmsg could not be read */
	uint64_t filtered_events;	/* by filters on fields; not wanted */
	uint64_t shared_koids;		/* threads whose id was recycled too often */
	uint64_t start_ns, stop_ns;	/* CLOCK_BOOTTIME */
	uint64_t bytes, raw_bytes;	/* in the file; of its records, if it were not compressed */
	uint64_t memory_bytes;		/* rings and other maps */
};

/* Room for a list of CPUs. */
#define RECORDER_CPUS_TEXT	4096

/* The CPUs that are online now, as a list. 0 or -errno. */
int recorder_online_cpus(char *text, size_t size);
/*
 * Opens the output, loads and attaches the programs, writes the header; nothing
 * is recorded yet. 0 or -errno; on failure *@what is static text naming the step,
 * or NULL if it was the output that failed, with *@hint then as of sink_open().
 * Functions to trace take seconds to attach: -ECANCELED if cfg.progress said no.
 */
int recorder_open(struct recorder **out, const struct recorder_cfg *cfg, const char **what,
		  const char **hint);
/* Begins: from here on everything is in the trace. */
int recorder_begin(struct recorder *r);
/*
 * Drains until @stop_fd is readable. Sleeps meanwhile; woken by the fill level
 * of a ring and a few times a second, when it also calls @tick (NULL: nothing).
 * 0 or the sink's -errno.
 */
int recorder_run(struct recorder *r, int stop_fd, void (*tick)(void *ctx), void *ctx);
/* Ends each CPU, drains the rest, writes ledger and trailer. 0 or -errno. */
int recorder_end(struct recorder *r);
void recorder_totals(const struct recorder *r, struct recorder_totals *totals);
/* The @i'th CPU's row of the ledger. */
void recorder_cpu(const struct recorder *r, unsigned int i, enum ledger_source source, struct ledger_row *row);
/* Closes all; returns the first error of the output. NULL is fine. */
int recorder_close(struct recorder *r);

#endif
