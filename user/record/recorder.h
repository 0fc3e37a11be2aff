/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A recording from its first byte to its last: header, probes, names, drain,
 * ledger. One thread does it all and sleeps unless a ring fills.
 */
#ifndef RECORD_RECORDER_H
#define RECORD_RECORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "func_probes.h"

struct funcs;
struct recorder;

struct recorder_cfg {
	const char *output;		/* path, or "-" for stdout */
	uint64_t ring_bytes;		/* per CPU */
	const uint32_t *cpus;		/* to record, online */
	unsigned int cpus_cnt;
	const char *cpus_text;		/* the same as a list, "0-3,7" */
	bool perfetto_packets;
	struct funcs *funcs;		/* functions to trace; NULL: none. Borrowed. */
	bool logs;			/* record the kernel's log too */
	funcs_progress_fn progress;	/* of attaching and detaching them; NULL: not told */
	void *progress_ctx;
};

/* Fixed string indexes from here on are free for functions. */
extern const uint32_t recorder_strings_from;

/* One CPU's line of the ledger: what its programs counted. */
struct recorder_cpu {
	uint32_t cpu;
	uint64_t switches, wakeups;	/* in the trace */
	uint64_t lost_switches, lost_wakeups;
	uint64_t unwritten_switches, unwritten_wakeups;	/* the output took no more */
	uint64_t unseen_switches;	/* the kernel told nobody of them; found by their absence */
	uint64_t unseen_wakeups;	/* the same; they are in the trace, as implied */
	uint64_t calls;			/* of functions, in the trace */
	uint64_t lost_calls;		/* ring full */
	uint64_t deep_calls;		/* lost too: no place to wait for the return */
	uint64_t unreturned_calls;	/* lost too: the kernel did not tell of the return */
	uint64_t shed_calls;		/* beyond --func-max-rate */
	uint64_t unwritten_calls;
	uint64_t lost_logs;		/* lines of the log, or parts of them: ring full */
};

struct recorder_totals {
	struct recorder_cpu sum;	/* over the CPUs recorded; .cpu does not count */
	uint64_t names, names_lost;
	uint64_t skipped;		/* programs the kernel did not run */
	uint64_t logs, unwritten_logs;	/* lines of the kernel's log */
	uint64_t bare_logs;		/* of these in the trace, without a level */
	int kmsg_err;			/* -errno: why, where /dev/kmsg could not be read */
	uint64_t shared_koids;		/* threads whose id was recycled too often */
	uint64_t start_ns, stop_ns;	/* CLOCK_BOOTTIME */
	uint64_t bytes;
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
/* Begins: from here on everything is in the trace. Raises the caller's priority if it may. */
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
/* The @i'th CPU's line. */
void recorder_cpu(const struct recorder *r, unsigned int i, struct recorder_cpu *cpu);
/* Closes all; returns the first error of the output. NULL is fine. */
int recorder_close(struct recorder *r);

#endif
