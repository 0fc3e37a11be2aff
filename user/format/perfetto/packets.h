/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What FXT has no words for, as Perfetto packets in BLOB records of type 3:
 * system, wall clock, parents, command lines and labels of processes, lost events.
 * Other readers of the format skip them.
 */
#ifndef FORMAT_PERFETTO_PACKETS_H
#define FORMAT_PERFETTO_PACKETS_H

#include <stddef.h>
#include <stdint.h>

struct fxt_writer;
struct packets;

/* Borrows @w. 0 or -ENOMEM. */
int packets_open(struct packets **out, struct fxt_writer *w);
/* Kernel release, machine, time zone, number of CPUs. */
int packets_write_system(struct packets *p, unsigned int cpus);
/* What the clocks show now: boot time, real time, monotonic time. */
int packets_write_clocks(struct packets *p);
/* Events lost per buffer, which the Perfetto UI counts as data loss. */
int packets_write_lost(struct packets *p, const uint64_t *lost, unsigned int cnt);
struct packets_log {
	uint64_t ts;			/* CLOCK_BOOTTIME */
	uint64_t process, thread;	/* koids */
	int level;			/* the kernel's, -1: unknown */
	const char *tag;		/* NULL: "kern" */
	const char *text;		/* UTF-8 */
};

/* A line of the kernel's log. The clocks were written before, or there is no wall clock. */
int packets_write_log(struct packets *p, const struct packets_log *line);

struct packets_process {
	uint64_t koid, parent;
	const char *cmdline;	/* arguments, each ending with a NUL; none: the name stays what it is */
	size_t cmdline_len;
	const char *label;	/* what it belongs to, instead of what was said before; NULL: that stays */
};

/* Gathered, and written a few hundred at a time. */
int packets_add_process(struct packets *p, const struct packets_process *process);
/* Writes what packets_add_process() gathered. */
int packets_flush(struct packets *p);
/* NULL is fine. */
void packets_close(struct packets *p);

#endif
