/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Perf's records of mappings and processes, as perf_event_open(2) has them, with sample_id_all and
 * PERF_SAMPLE_TIME: the last word of each is its time.
 */
#ifndef ELF_MMAP_RECORDS_H
#define ELF_MMAP_RECORDS_H

#include <stdbool.h>
#include <stdint.h>

#include "mapped_file.h"

struct perf_event_header;

enum mmap_event_kind {
	MMAP_EVENT_MAP,
	MMAP_EVENT_FORK,	/* of a process, not of a thread */
	MMAP_EVENT_EXEC,	/* all mappings end */
	MMAP_EVENT_EXIT,	/* of the first thread */
};

struct mmap_event {
	enum mmap_event_kind kind;
	uint64_t ts;		/* CLOCK_BOOTTIME */
	uint32_t pid;		/* as the recorder's PID namespace has it */
	uint32_t parent;	/* fork */
	uint64_t start, end, offset;
	struct mapped_file file;	/* map */
};

/* Whether a record of the size that @h has can be read by mmap_record_decode(). */
bool mmap_record_has_size(const struct perf_event_header *h);
/*
 * 1: *@e is what the record at @h says, its path, if any, a copy for free(); 0: it is of no interest,
 * or too short for its type; -ENOMEM. *@lost grows by what a record of lost records counts.
 */
int mmap_record_decode(const struct perf_event_header *h, struct mmap_event *e, uint64_t *lost);

#endif
