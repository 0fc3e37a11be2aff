/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Lines of the kernel's log: what bpf/log.bpf.c saw, joined with what /dev/kmsg knows of it
 * (level, facility, dictionary, which fragments make up a line), as log records, as instants
 * and, in Perfetto's own log, as packets.
 */
#ifndef RECORD_LOGS_H
#define RECORD_LOGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct fxt_writer;
struct logs;
struct packets;

struct logs_counts {
	uint64_t lines;		/* written */
	uint64_t bare;		/* of these, without a level: /dev/kmsg did not have them */
	uint64_t pieces;	/* taken, of which lines were joined */
	uint64_t unwritten;	/* pieces of lines that the output did not take */
};

/*
 * Reads @kmsg ("/dev/kmsg"; NULL: nothing) from its end on; where that cannot be opened
 * *@kmsg_err is -errno, and lines have no level. Borrows @w and @packets (NULL: none).
 * 0 or -ENOMEM.
 */
int logs_open(struct logs **out, struct fxt_writer *w, struct packets *packets, const char *kmsg,
	      int *kmsg_err);
/* Takes an event record of the kernel side's (enum log_word), from @cpu; -EINVAL, -ENOMEM. */
int logs_take(struct logs *l, const uint64_t *rec, uint32_t cpu);
/*
 * Writes the lines that are whole. Those that /dev/kmsg does not have wait until @before_ns
 * (UINT64_MAX: nothing waits). 0 or the writer's error; what it concerns is counted.
 */
int logs_write(struct logs *l, uint64_t before_ns);
/* Readable when there is more to join: the kernel keeps little, and for no one. -1: never. */
int logs_fd(const struct logs *l);
void logs_counts(const struct logs *l, struct logs_counts *counts);
/* NULL is fine. */
void logs_close(struct logs *l);

#endif
