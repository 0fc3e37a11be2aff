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

#include "base/num.h"
#include "ring/event_ring.h"
#include "ledger_row.h"
#include "ring/ring.h"

struct bpf_program;
struct sources;
struct filter;
struct programs;

struct programs_cfg {
	uint64_t ring_bytes;		/* per CPU, a power of two of at least 4096 */
	uint64_t memory_bytes;		/* that all maps together may take: smaller rings, if need be; 0: any */
	const uint32_t *cpus;		/* to record; online */
	unsigned int cpus_cnt;
	struct sources *sources;	/* some or none of it selected. Borrowed. */
	struct filter *filter;	/* of which threads; NULL: all. Borrowed. */
};

/* What the kernel side counted apart from the rings. */
struct programs_counts {
	uint64_t names_seen, names_lost;
	uint64_t generations_exhausted;	/* ids recycled more often than koids can express */
	uint64_t skipped[LEDGER_SOURCE_CNT];	/* programs the kernel did not run */
};

/*
 * Makes maps of the size asked for and loads the programs; nothing is attached.
 * On failure *@what is static text that says what was being done. 0 or -errno; -EDQUOT: it does not fit into
 * cfg.memory_bytes with the smallest rings.
 */
int programs_open(struct programs **out, const struct programs_cfg *cfg, const char **what);
/* Attaches every program but what sources attach aside; events are seen from now on but recorded by no CPU yet. */
int programs_attach(struct programs *p, const char **what);
/*
 * Begins recording on each CPU: its first record switches in the current task. Only
 * from here on anything counts. Moves the calling thread between CPUs and back.
 */
int programs_begin(struct programs *p);
/*
 * Ends it: the last record of each CPU switches out the current task. A CPU whose ring
 * has no space stays live; returns how many there are, to be drained and tried again.
 * CPUs that went offline count too, and will not end by themselves.
 */
int programs_end(struct programs *p);
/* Detaches and frees. NULL is fine. */
void programs_close(struct programs *p);

/* Ring of the @i'th of cfg.cpus. */
struct ring *programs_ring(struct programs *p, unsigned int i);
/* Event ring of the same CPU; NULL: nothing was asked for that writes there. */
struct event_ring *programs_event_ring(struct programs *p, unsigned int i);
/* The BPF ring buffer of names and of notifications. */
int programs_metadata_fd(const struct programs *p);
/* koid = tid + this, for the thread that has the id now. */
uint64_t programs_koid_offset(const struct programs *p, uint32_t tid);
/* What is kept of the id: ID_* of bpf/abi/ids.h. */
uint16_t programs_id(const struct programs *p, uint32_t tid);
/* To be read once all CPUs have begun, up to its end: struct thread_state of bpf/abi/task_state.h. */
int programs_states_fd(const struct programs *p);
/* That has been done. */
void programs_states_recorded(struct programs *p);
/* What they share of each CPU, recorded or not, by its number. */
const struct cpu_ctl *programs_ctls(const struct programs *p);
/* The CPUs that are not recorded and ran something since the last call; returns whether there are any. */
bool programs_take_others(struct programs *p, struct num_cpus *cpus);
/* The program after @program, NULL: the first one; NULL: there are no more. Those without a descriptor are not loaded. */
struct bpf_program *programs_next_program(const struct programs *p, struct bpf_program *program);
/* How many events there were that give or change names. */
uint64_t programs_names_seen(const struct programs *p);
void programs_counts(const struct programs *p, struct programs_counts *counts);
/* Of these names_lost alone, without asking the kernel: to be looked at in each round. */
uint64_t programs_names_lost(const struct programs *p);
/* So many names are lost in the metadata ring, which was not read to its end. */
void programs_names_unread(struct programs *p, uint64_t cnt);
/* From now on programs_counts() does not change, though programs are still attached: what they count is after the end. */
void programs_end_counts(struct programs *p);
/* Of each CPU's ring: as large as asked for, or as fits. */
uint64_t programs_ring_bytes(const struct programs *p);
/* Memory that the programs and their maps hold, in bytes. */
uint64_t programs_memory(const struct programs *p);

#endif
