/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A repair in memory, and what must hold of it whatever the input is. For tests and the fuzzer.
 */
#ifndef REPAIR_WALK_H
#define REPAIR_WALK_H

#include <stddef.h>
#include <stdint.h>

#include "analysis/repair.h"
#include "analysis/findings.h"

struct repair_walk {
	int err;			/* of repair_copy() */
	struct repair_result result;
	char *data;			/* the copy */
	size_t len;
	uint64_t found[VERIFY_PROBLEM_CNT];	/* what verify finds in it */
	char first[256];		/* the first of these in words, or "" */
	const char *broken;		/* a promise that was, or NULL */
};

/*
 * Promises: every byte is kept or counted as dropped; the copy has no damage, a beginning and
 * an end; to repair it again changes nothing; of a whole input it is the same.
 */
void repair_walk_run(struct repair_walk *w, const void *data, size_t len);
void repair_walk_free(struct repair_walk *w);

#endif
