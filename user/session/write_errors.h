/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What was recorded and handed over, but could not be written: counted record by record,
 * each as the ledger counts it.
 */
#ifndef SESSION_WRITE_ERRORS_H
#define SESSION_WRITE_ERRORS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ledger;

/* The first switch of a CPU that could not be written: until then the current task is known. */
struct unwritten_cut {
	bool known;
	uint64_t ts, koid;
	int32_t prio;
};

struct unwritten {
	struct ledger *ledger;		/* where it is counted */
	struct unwritten_cut *cuts;	/* by position in @cpus */
	const uint32_t *cpus;		/* that are recorded, in ascending order */
	unsigned int cpus_cnt;
};

/* Counts @len bytes of whole records. */
void unwritten_count(const struct unwritten *u, const void *records, size_t len);

#endif
