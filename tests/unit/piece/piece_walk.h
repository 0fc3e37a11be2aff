/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Recordings cut into pieces in memory, for the tests of user/piece. Failures end the test.
 */
#ifndef PIECE_WALK_H
#define PIECE_WALK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fxt/fxt_mem.h"
#include "piece/state.h"

/* A recording without its ledgers, which are of the whole, and where each of its records begins. */
struct whole {
	unsigned char *data;
	size_t len;
	size_t *at;			/* records_cnt + 1 */
	size_t records_cnt;
	uint64_t *digests;		/* of each record's meaning, indexes looked up */
	uint64_t *bounds;		/* the first time of a switch or wakeup from that record on */
	size_t begun;			/* all CPUs have begun before this record */
	bool *named;			/* each thread and process before this record is named before it */
};

/* Takes over @data. */
void whole_open(struct whole *w, unsigned char *data, size_t len);
void whole_close(struct whole *w);

/* What a caller could say of the cut before a record at best. */
struct piece_cut walk_cut(const struct whole *w, size_t record, bool bound);
/* The records from @first up to @end, a file that begins and ends there, with its ledger. */
void walk_piece(const struct whole *w, size_t first, size_t end, bool bound, struct fxt_mem *out);
/*
 * The same for all of the recording, cut before each of @cuts, which are in order, by one state that goes on from piece
 * to piece; @out has one more than these.
 */
void walk_rotation(const struct whole *w, const size_t *cuts, size_t cnt, struct fxt_mem *out);
/*
 * The records from @first up to @end by two states that were never cut: one has what is before @first and writes the
 * head, the other one has everything before @end and writes the tail. The ledger is the difference of their counts.
 */
void walk_window(const struct whole *w, size_t first, size_t end, struct fxt_mem *out);
/* verify finds nothing. */
void walk_verify(const struct fxt_mem *m, const char *what, size_t first, size_t end);
/*
 * After its own first records the piece has those of the recording, each with the same meaning. Returns how many
 * wakeups it carries.
 */
size_t walk_compare(const struct whole *w, const struct fxt_mem *m, size_t first, size_t end);
/* The switches and wakeups in @m that happened, with no mark of a recorder, in the order of the file; for free(). */
uint64_t *walk_real(const struct fxt_mem *m, size_t *cnt);

#endif
