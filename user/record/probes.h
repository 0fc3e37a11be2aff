/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The BPF programs of a recording: sized, loaded, attached, and each CPU begun
 * and ended. What they write is read through ring.h and side_fd.
 */
#ifndef RECORD_PROBES_H
#define RECORD_PROBES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "event_ring.h"
#include "func_probes.h"
#include "ledger.h"
#include "ring.h"

struct events;
struct filter;
struct funcs;
struct probes;

struct probes_cfg {
	uint64_t ring_bytes;		/* per CPU, rounded up to a power of two of at least 4096 */
	const uint32_t *cpus;		/* to record; online */
	unsigned int cpus_cnt;
	struct funcs *funcs;		/* to trace; NULL: none. Borrowed. */
	const struct events *events;	/* what else; NULL: nothing. Borrowed. */
	struct filter *filter;	/* of which threads; NULL: all. Borrowed. */
};

/* What the kernel side counted apart from the rings. */
struct probes_counts {
	uint64_t names_seen, names_lost;
	uint64_t generations_exhausted;	/* ids recycled more often than koids can tell */
	uint64_t skipped[LEDGER_SOURCE_CNT];	/* programs the kernel did not run, but functions' */
};

/*
 * Makes maps of the size asked for and loads the programs; nothing is attached.
 * On failure *@what is static text that says what was being done. 0 or -errno.
 */
int probes_open(struct probes **out, const struct probes_cfg *cfg, const char **what);
/* Attaches every program but those below; events are seen from now on but recorded by no CPU yet. */
int probes_attach(struct probes *p, const char **what);
/* Attaches those of events that take long. *@what as of probes_open(), or the event that it failed for. */
int probes_attach_events(struct probes *p, const char **what, progress_fn progress, void *ctx);
void probes_detach_events(struct probes *p, progress_fn progress, void *ctx);
/* Attaches the functions' programs, which may take seconds: see func_probes_attach(). */
int probes_attach_funcs(struct probes *p, progress_fn progress, void *ctx);
/* Takes them off. Their events have all been written then. */
void probes_detach_funcs(struct probes *p, progress_fn progress, void *ctx);
/*
 * Begins recording on each CPU: its first record says who runs there. Only from
 * here on anything counts. Moves the calling thread between CPUs and back.
 */
int probes_begin(struct probes *p);
/*
 * Ends it: the last record of each CPU switches out who runs. A CPU whose ring
 * has no room stays live; returns how many there are, to be drained and tried again.
 * CPUs that went offline count too, and will not end by themselves.
 */
int probes_end(struct probes *p);
/* Detaches and frees. NULL is fine. */
void probes_close(struct probes *p);

/* Ring of the @i'th of cfg.cpus. */
struct ring *probes_ring(struct probes *p, unsigned int i);
/* Event ring of the same CPU; NULL: nothing was asked for that writes there. */
struct event_ring *probes_event_ring(struct probes *p, unsigned int i);
/* The BPF ring buffer of names and of the doorbell. */
int probes_side_fd(const struct probes *p);
/* koid = tid + this, for the thread that has the id now. */
uint64_t probes_koid_offset(const struct probes *p, uint32_t tid);
/* What is kept of the id: ID_* of bpf/session.h. */
uint16_t probes_id(const struct probes *p, uint32_t tid);
/* To be read once all CPUs have begun, up to its end: struct thread_state of bpf/session.h. */
int probes_states_fd(const struct probes *p);
/* That has been done. */
void probes_states_told(struct probes *p);
/* /proc has been read: exits need no names any more. */
void probes_names_scanned(struct probes *p);
void probes_counts(const struct probes *p, struct probes_counts *counts);
/* Memory that the programs and their maps hold, in bytes. */
uint64_t probes_memory(const struct probes *p);

#endif
