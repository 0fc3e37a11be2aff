/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Makes a whole trace of one that is damaged or cut short.
 */
#ifndef ANALYSIS_REPAIR_H
#define ANALYSIS_REPAIR_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "fxt/fxt.h"

#define REPAIR_SHOWN_MAX	5

/*
 * So many records with a time, one right after the other, make a file without the magic number
 * a trace. In programs, libraries and other files of a Linux system at most 35 were found.
 */
#define REPAIR_RUN_MIN		64

/* What was done; sizes in bytes. */
struct repair_result {
	uint64_t records, kept_bytes;	/* of the input, in the copy */
	uint64_t dropped_bytes;
	uint64_t dropped_records;	/* that could be read but not be trusted, after damage */
	uint64_t damages;		/* stretches that are no records, and what was dropped for it */
	struct {
		uint64_t offset, len;	/* 0: none; the magic number is missing */
		const char *reason;
	} shown[REPAIR_SHOWN_MAX];	/* the first of them */
	uint64_t gaps;			/* drawn where switches of a CPU may be missing */
	unsigned int ended;		/* CPUs that had no end */
	bool cut;			/* the end was missing */
	bool output_failed;		/* what was returned is the output's error */
};

/*
 * Copies what @read gives to @out, which is seekable and empty, and puts in what it takes to
 * make it whole. @cut: set by @read if the input ends before its end. Memory does not
 * depend on the size. 0 or -errno; -ENODATA: there is no record at all; -EPROTO: there may be
 * some by chance, but it is no trace.
 */
int repair_copy(fxt_read_fn read, void *ctx, const bool *cut, FILE *out, struct repair_result *result);
/* Whether the copy is the input, byte for byte. */
bool repair_was_whole(const struct repair_result *result);

#endif
