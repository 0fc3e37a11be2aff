/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a source of events works with while it records, and what it counts.
 */
#ifndef CAPTURE_SOURCE_CTX_H
#define CAPTURE_SOURCE_CTX_H

#include <stdbool.h>
#include <stdint.h>

#include "base/num.h"
#include "base/progress.h"

struct bpf_object;
struct cpu_ctl;
struct filter;
struct fxt_writer;
struct kfxt_bpf;
struct packets;
struct redact;
struct tasks;
struct tracks;

/* What a source works with. All sources of a recording share one. */
struct source_ctx {
	/* From open() on: */
	const char *root;		/* before "/sys", "/proc" and "/dev": "" except in tests */
	struct tracks *tracks;
	bool by_name;			/* open() alone: a word of the user selected it */
	bool of_all;			/* prepare() and start() alone: a trigger is about its events, of threads that no filter selects, too */
	/* From prepare() on: */
	const uint32_t *cpus;		/* that are recorded */
	unsigned int cpus_cnt;
	struct kfxt_bpf *skel;		/* the programs and maps */
	struct bpf_object *obj;		/* the same */
	progress_fn progress;		/* of attaching and detaching; NULL: not reported */
	void *progress_ctx;
	void *aside;			/* for the operations named so alone: what they share */
	bool calls_are_slices;		/* set by prepare(): on tracks of threads, where other slices cannot be */
	/* From start() on: */
	struct fxt_writer *w;
	struct packets *packets;	/* NULL: none are written */
	struct redact *redact;		/* what must not be written of log lines; NULL: nothing */
	const struct tasks *names;
	const struct filter *filter;	/* NULL: all threads */
	uint64_t ring_bytes;		/* of each CPU's ring */
	uint64_t start_ns;		/* CLOCK_BOOTTIME; what is older is not recorded */
	const struct cpu_ctl *ctls;	/* of each CPU, by its number */
	/* For stop() alone: */
	struct num_cpus online;		/* at that time, */
	bool is_online_known;		/* if that is known */
	/* Of what need() selected: an event of @word is in the trace. NULL: nobody asks. */
	void (*found)(void *ctx, const char *word, uint64_t ts_ns, uint64_t thread);
	void *found_ctx;
	/* For sources to count in, of class LEDGER_EVENTS: */
	uint64_t async_ids;		/* given so far: viewers have one namespace for a whole trace */
	uint64_t events;		/* records written other than by decode() */
	uint64_t lost;			/* of those, what could not be written */
};

/* What sources count besides the records of their programs. */
struct source_counts {
	uint64_t taken;			/* events that no program saw */
	uint64_t records;		/* written other than by decode(), of these and of others */
	uint64_t lost;			/* events that no program saw: not recorded for want of space */
	uint64_t unwritten;		/* not written, or invalid */
	uint64_t unreturned;		/* calls whose return was not seen, found at the end */
	uint64_t skipped;		/* by the kernel, where it does not count them itself */
};

#endif
