/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A writer and a reader of what it wrote, for cmocka tests: the fixture and the
 * checks that several of them share. Included after cmocka.h.
 */
#ifndef FXT_PAIR_H
#define FXT_PAIR_H

#include <stdint.h>

#include "fxt_mem.h"

#define PAIR_TEST(test) \
	cmocka_unit_test_setup_teardown(test, fxt_pair_setup, fxt_pair_teardown)

struct fxt_pair {
	struct fxt_writer *w;
	struct fxt_mem mem;
	struct fxt_mem_source source;
	struct fxt_reader *r;
	struct fxt_record rec;
	uint64_t seed;
};

int fxt_pair_setup(void **state);
int fxt_pair_teardown(void **state);
/* Starts to read what was written so far. */
void fxt_pair_read(struct fxt_pair *f);
/*
 * The next record must be of this kind, string and thread records before it
 * aside, and have no ref that is not registered.
 */
struct fxt_record *fxt_pair_expect(struct fxt_pair *f, enum fxt_kind kind);
void fxt_pair_end(struct fxt_pair *f);

void fxt_same_text(struct fxt_str got, const char *want);
void fxt_same_thread(struct fxt_thread got, struct fxt_thread want);

#endif
