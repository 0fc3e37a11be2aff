/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Presets: sources of events that know what belongs together, and write it as slices and
 * counters. Inside the events (events_p.h).
 */
#ifndef RECORD_PRESETS_H
#define RECORD_PRESETS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../build/pseudo.h"

struct bpf_object;
struct disk;
struct events;
struct fxt_writer;
struct kernel_symbols;
struct presets;
struct psi;

/* What the wanted ones of enum source_id need; errors are those of events_open(). */
int presets_open(struct presets **out, const bool *has, char *why, size_t why_size);
/* @obj is what their programs and maps are in. @p may be NULL. */
void presets_prepare(struct presets *p, struct bpf_object *obj);
/* As events_poll(). */
int presets_poll(struct events *e, struct fxt_writer *w, uint64_t now_ns, bool last);
/* NULL is fine. */
void presets_close(struct presets *p);

/*
 * A track of a CPU, or of all counters, whose kernel objects are written when it is first asked
 * for. 0 or the writer's error; -EINVAL: no such CPU.
 */
int presets_track(struct presets *p, struct fxt_writer *w, enum pseudo kind, uint32_t cpu, struct fxt_thread *at);
int presets_counters(struct presets *p, struct fxt_writer *w, struct fxt_thread *at);

/* For events_write_raw(). */
int irqs_write(struct events *e, struct fxt_writer *w, const uint64_t *rec, unsigned int *written);
int works_write(struct events *e, struct fxt_writer *w, const uint64_t *rec, unsigned int *written);
int power_write(struct events *e, struct fxt_writer *w, const uint64_t *rec, unsigned int *written);
int blocks_write(struct events *e, struct fxt_writer *w, const uint64_t *rec, unsigned int *written);

/* The frequencies at @now_ns, as sysfs at @root tells them; of CPUs that have none nothing is written. */
int power_write_frequencies(struct events *e, struct fxt_writer *w, const char *root, uint64_t now_ns);

/* Pressure, read from the files in @dir. 0, -ENOTSUP with @why, or -ENOMEM. */
int psi_open(struct psi **out, const char *dir, char *why, size_t why_size);
/* Writes what there was since the last time; the first time, nothing. *@written as elsewhere. */
int psi_poll(struct psi *psi, struct fxt_writer *w, struct fxt_thread at, uint64_t now_ns, unsigned int *written);
void psi_close(struct psi *psi);

struct presets {
	struct bpf_object *obj;			/* borrowed */
	struct kernel_symbols *symbols;		/* NULL: not wanted, or cannot be read */
	struct disk *disks;			/* whose names are known */
	size_t disks_cnt;
	struct psi *psi;			/* NULL: not wanted */
	uint64_t psi_ns;			/* when it was last read */
	bool polled;
	bool named_processes[PSEUDO_PROCESSES];
	bool *named_threads;			/* by koid, from PSEUDO_BASE */
};

#endif
