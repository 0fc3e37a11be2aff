/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Files that are mapped, opened when one of their addresses is first met. The descriptors are kept, so that
 * a file that is deleted later, or whose processes have ended, can still be read.
 */
#ifndef UNWIND_CODE_FILES_H
#define UNWIND_CODE_FILES_H

#include "cfi.h"

struct mapped_files;
struct mapping;

#define CODE_FILES_OPEN_MAX	256U	/* the one that was used least recently is closed for another */

struct code_files {
	struct mapped_files *files;
	struct cfi_reader *reader;
	struct code_files_entry *entries;	/* by the index of mapped_files */
	unsigned int cap, open_cnt;
	uint64_t uses;
};

/*
 * The file of @m, a mapping of process @pid; NULL: it cannot be read, which is tried again after a second,
 * or it is none for this machine.
 */
struct cfi_file *code_files_get(struct code_files *c, const struct mapping *m, uint32_t pid);
/* Closes all; it can be used again. */
void code_files_fini(struct code_files *c);

#endif
