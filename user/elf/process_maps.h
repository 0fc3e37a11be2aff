/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What is mapped where in each process, and since when: from /proc for processes that are there at the
 * start, from perf's records after that. What the recorder is asked for happened some time
 * ago; the process may have ended or executed another program since.
 */
#ifndef ELF_PROCESS_MAPS_H
#define ELF_PROCESS_MAPS_H

#include <stdbool.h>
#include <stdint.h>

struct mapped_files;
struct process_maps;

struct mapping {
	uint64_t ts;		/* since when, CLOCK_BOOTTIME */
	uint64_t start, end, offset;
	uint32_t file;		/* an index of mapped_files; MAPPED_FILE_NONE: no file */
};

/*
 * Borrows @files. 0 or -errno. *@events_err: -errno if there are no records of perf's; then only /proc is read, when a
 * process is first asked for. The perf events are closed by whoever has their descriptors last: on some kernels (7.3 with
 * PREEMPT_RT) that waits for a grace period.
 */
int process_maps_open(struct process_maps **out, struct mapped_files *files, int *events_err);
/* Reads all of /proc, and follows what is mapped from now on. 0 or -errno. */
int process_maps_begin(struct process_maps *m);
/*
 * Takes what has happened until now; before questions about that are asked. May forget files that no process has
 * mapped any more: see mapped_files_generation(). 0 or -ENOMEM.
 */
int process_maps_read(struct process_maps *m);
/* What was mapped at @addr in the process of @koid at @ts, until the next call; NULL: not known. */
const struct mapping *process_maps_find(struct process_maps *m, uint64_t koid, uint64_t ts, uint64_t addr);
/* Records of perf's that were lost. */
uint64_t process_maps_lost(const struct process_maps *m);
/* NULL is fine. */
void process_maps_close(struct process_maps *m);

#endif
