/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Lines of the kernel's log: what bpf/log.bpf.c saw, joined with what /dev/kmsg knows of it
 * (level, facility, dictionary, which fragments make up a line), as log records, as instants
 * and, in Perfetto's own log, as packets.
 */
#ifndef SOURCE_LOG_H
#define SOURCE_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct fxt_writer;
struct logs;
struct packets;
struct redact;

struct logs_counts {
	uint64_t lines;		/* written */
	uint64_t bare;		/* of these, without a level: /dev/kmsg did not have them */
	uint64_t unwritten;	/* lines or parts of them that were taken and not written */
	int kmsg_err;		/* -errno: why /dev/kmsg was not, or is no longer, read */
};

/* How long a line waits for /dev/kmsg to have it, and the other way round. pr_cont() comes in parts. */
#define LOGS_WAIT_NS	1000000000ULL

/*
 * Reads @kmsg ("/dev/kmsg") from its end on; without it lines have no level. What @redact (NULL: nothing) matches of
 * the text of a line, or of a value of its dictionary, is not written. Borrows @w, @packets (NULL: none) and @redact. 0 or -ENOMEM.
 */
int logs_open(struct logs **out, struct fxt_writer *w, struct packets *packets, struct redact *redact, const char *kmsg);
/*
 * Reads what /dev/kmsg has. Before the rings are drained: then all pieces of a line that it has
 * are there when the line is joined. 0 or -ENOMEM.
 */
int logs_read(struct logs *l, uint64_t now_ns);
/* Takes a deferred record (enum log_word). 0, -EINVAL or -ENOMEM. */
int logs_take(struct logs *l, const uint64_t *rec);
/*
 * Writes the lines that are whole, and those that have waited long enough at @now_ns
 * (UINT64_MAX: nothing waits). 0 or the writer's error; what it concerns is counted.
 */
int logs_write(struct logs *l, uint64_t now_ns);
/* Readable when there is more to join: the kernel keeps little, and for no one. -1: never. */
int logs_fd(const struct logs *l);
void logs_counts(const struct logs *l, struct logs_counts *counts);
/* NULL is fine. */
void logs_close(struct logs *l);

#endif
