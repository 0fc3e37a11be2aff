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
struct names;
struct packets;
struct probes;
struct redact;
struct source_late;

/* What is not written of command lines. */
struct names_hidden {
	bool cmdlines;		/* nothing is */
	struct redact *redact;	/* what it matches is not; NULL: all is */
};

struct names_cfg {
	struct fxt_writer *w;
	struct probes *probes;
	struct packets *packets;	/* NULL: none are written */
	struct filter *filter;		/* takes new cgroups; NULL: none */
	struct names_hidden hidden;
	struct thread_hooks reader;	/* of threads that read command lines */
};

/* Borrows what @cfg points to. 0 or -errno. */
int names_open(struct names **out, const struct names_cfg *cfg);
/*
 * Reads on in /proc for a few milliseconds, nothing inside of a PID namespace, whose ids are not
 * the kernel's; the first call starts over. Must
 * come to its end before names_drain(), so that newer names come later in the
 * file. 1: there is more; 0: all read; -errno: of the sink or of /proc.
 */
int names_scan(struct names *n);
/* Writes what the programs have sent, and command lines that names_scan() could not read. 0 or -errno. */
int names_drain(struct names *n);
/* Readable when names_drain() should run or a ring needs the drain. */
int names_fd(const struct names *n);
/* Whether command lines are missing, as long as the kernel lets whoever reads one wait. */
bool names_late(const struct names *n, struct source_late *late);
/* When names_drain() was last called; 0: not yet, and /proc has not been read. */
uint64_t names_drained_ns(const struct names *n);
/* The koids of the thread that has the id now, and of its process; false: the latter is a guess. */
bool names_find(const struct names *n, uint32_t tid, struct fxt_thread *out);
/* NULL is fine. */
void names_close(struct names *n);

#endif
