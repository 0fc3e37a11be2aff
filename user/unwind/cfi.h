/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Call frame information of a file: .eh_frame by the table of .eh_frame_hdr where there is one, .eh_frame or
 * .debug_frame by an index made of all of it otherwise.
 */
#ifndef UNWIND_CFI_H
#define UNWIND_CFI_H

#include "cfi_entry.h"
#include "machine.h"

#define CFI_INDEX_ENTRIES_MAX	(1U << 18)	/* of a section; 16 bytes each */
#define CFI_INDEXED_ENTRIES_MAX	(1U << 22)	/* of all: sections beyond that are not used */

struct cfi_index_entry {
	uint64_t start, pos;
};

struct cfi_index {
	struct cfi_index_entry *entries;	/* by address */
	unsigned int cnt, cap;
	bool is_made;
};

/* Shared by all files. */
struct cfi_reader {
	const struct unwind_machine *machine;
	struct cfi_buffer cie, fde;
	unsigned int indexed_cnt;
};

struct cfi_file {
	struct code_file file;
	struct cfi_index eh, debug;
};

/* The rule at @address, as the file counts; rule->cfa is RULE_NONE if there is none. */
void cfi_find_rule(struct cfi_reader *r, struct cfi_file *f, uint64_t address, struct unwind_rule *rule);
/* Forgets the indexes of @f, and closes its file. */
void cfi_file_close(struct cfi_reader *r, struct cfi_file *f);

#endif
