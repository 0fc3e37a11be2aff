/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The BPF programs of a recording: sized, loaded, attached, and each CPU begun
 * and ended. What they write is read through ring.h and metadata_fd.
 */
#ifndef CAPTURE_PROGRAMS_H
#define CAPTURE_PROGRAMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ring/event_ring.h"
#include "ledger_row.h"
#include "ring/ring.h"

struct bpf_program;
struct sources;
struct filter;
struct probes;

struct probes_cfg {
	uint64_t ring_bytes;		/* per CPU, a power of two of at least 4096 */
	uint64_t memory_bytes;		/* that all maps together may take: smaller rings, if need be; 0: any */
	const uint32_t *cpus;		/* to record; online */
	unsigned int cpus_cnt;
	struct sources *sources;	/* some or none of it selected. Borrowed. */
	struct filter *filter;	/* of which threads; NULL: all. Borrowed. */
};

/* What the kernel side counted apart from the rings. */
struct probes_counts {
	uint64_t names_seen, names_lost;
	uint64_t generations_exhausted;	/* ids recycled more often than koids can tell */
	uint64_t skipped[LEDGER_SOURCE_CNT];	/* programs the kernel did not run */
};

/*
 * Makes maps of the size asked for and loads the programs; nothing is attached.
 * On failure *@what is static text that says what was being done. 0 or -errno; -EDQUOT: it does not fit into
 * cfg.memory_bytes with the smallest rings.
 */
int probes_open(struct probes **out, const struct probes_cfg *cfg, const char **what);
/* Attaches every program but those below; events are seen from now on but recorded by no CPU yet. */
int probes_attach(struct probes *p, const char **what);
/* Attaches those of sources that take long. *@what as of probes_open(), or the part of a source that it failed for. */
int probes_attach_sources(struct probes *p, const char **what);
void probes_detach_sources(struct probes *p);
/*
 * Begins recording on each CPU: its first record switches in the current task. Only
 * from here on anything counts. Moves the calling thread between CPUs and back.
 */
int probes_begin(struct probes *p);
/*
 * Ends it: the last record of each CPU switches out the current task. A CPU whose ring
 * has no space stays live; returns how many there are, to be drained and tried again.
 * CPUs that went offline count too, and will not end by themselves.
 */
int probes_end(struct probes *p);
/* Detaches and frees. NULL is fine. */
void probes_close(struct probes *p);

/* Ring of the @i'th of cfg.cpus. */
struct ring *probes_ring(struct probes *p, unsigned int i);
/* Event ring of the same CPU; NULL: nothing was asked for that writes there. */
struct event_ring *probes_event_ring(struct probes *p, unsigned int i);
/* The BPF ring buffer of names and of notifications. */
int probes_metadata_fd(const struct probes *p);
/* koid = tid + this, for the thread that has the id now. */
uint64_t probes_koid_offset(const struct probes *p, uint32_t tid);
/* What is kept of the id: ID_* of bpf/abi/ids.h. */
uint16_t probes_id(const struct probes *p, uint32_t tid);
/* To be read once all CPUs have begun, up to its end: struct thread_state of bpf/abi/task_state.h. */
int probes_states_fd(const struct probes *p);
/* That has been done. */
void probes_states_recorded(struct probes *p);
/* The program after @program, NULL: the first one; NULL: there are no more. Those without a descriptor are not loaded. */
struct bpf_program *probes_next_program(const struct probes *p, struct bpf_program *program);
/* How many events there were that give or change names. */
uint64_t probes_names_seen(const struct probes *p);
void probes_counts(const struct probes *p, struct probes_counts *counts);
/* From now on probes_counts() does not change, though programs are still attached: what they count is after the end. */
void probes_end_counts(struct probes *p);
/* Of each CPU's ring: as large as asked for, or as fits. */
uint64_t probes_ring_bytes(const struct probes *p);
/* Memory that the programs and their maps hold, in bytes. */
uint64_t probes_memory(const struct probes *p);

#endif
