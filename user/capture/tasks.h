/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Names of threads and processes: from /proc once, and from then on from the
 * kernel objects the programs send. All become kernel object records.
 */
#ifndef CAPTURE_TASKS_H
#define CAPTURE_TASKS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/thread_hooks.h"

struct filter;
struct fxt_thread;
struct fxt_writer;
struct tasks;
struct packets;
struct programs;
struct redact;
struct source_late;

/* What is not written of command lines. */
struct tasks_hidden {
	bool cmdlines;		/* nothing is */
	struct redact *redact;	/* what it matches is not; NULL: all is */
};

struct tasks_cfg {
	struct fxt_writer *w;
	struct programs *probes;
	struct packets *packets;	/* NULL: none are written */
	struct filter *filter;		/* takes new cgroups; NULL: none */
	struct tasks_hidden hidden;
	struct thread_hooks reader;	/* of threads that read command lines */
};

/* Borrows what @cfg points to. 0 or -errno. */
int tasks_open(struct tasks **out, const struct tasks_cfg *cfg);
/*
 * Reads on in /proc for a few milliseconds, nothing inside of a PID namespace, whose ids are not
 * the kernel's; the first call starts over. Must
 * come to its end before tasks_drain(), so that newer names come later in the
 * file. 1: there is more; 0: all read; -errno: of the sink or of /proc.
 */
int tasks_scan(struct tasks *n);
/* Writes what the programs have sent, and command lines that tasks_scan() could not read. 0 or -errno. */
int tasks_drain(struct tasks *n);
/* Readable when tasks_drain() should run or a ring needs the drain. */
int tasks_fd(const struct tasks *n);
/* Whether command lines are missing, as long as the kernel lets whoever reads one wait. */
bool tasks_late(const struct tasks *n, struct source_late *late);
/* How many names were in the metadata ring so far, whatever became of them. */
uint64_t tasks_taken(const struct tasks *n);
/* When tasks_drain() was last called; 0: not yet, and /proc has not been read. */
uint64_t tasks_drained_ns(const struct tasks *n);
/* The koids of the thread that has the id now, and of its process; false: the latter is a guess. */
bool tasks_find(const struct tasks *n, uint32_t tid, struct fxt_thread *out);
/* NULL is fine. */
void tasks_close(struct tasks *n);

#endif
