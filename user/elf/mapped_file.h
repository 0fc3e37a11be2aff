/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The files that processes have mapped, and their symbols, which are read when they are first needed.
 * A path is not enough to know a file by: it is that of a process's own root, and another file may have
 * it by now.
 */
#ifndef ELF_MAPPED_FILE_H
#define ELF_MAPPED_FILE_H

#include <linux/capability.h>
#include <stdbool.h>
#include <stdint.h>

/* To read what any process has mapped, files of any user, and those that are mapped but deleted. */
#define MAPPED_FILES_CAPABILITIES \
	(1ULL << CAP_SYS_PTRACE | 1ULL << CAP_DAC_READ_SEARCH | 1ULL << CAP_CHECKPOINT_RESTORE)

#define MAPPED_BUILD_ID_BYTES	20
#define MAPPED_FILE_NONE	UINT32_MAX
#define MAPPED_FILES_MAX	65536U	/* known at a time */

struct elf_file;
struct mapped_files;

struct mapped_file {
	const char *path;	/* of anonymous memory, "//anon", "[vdso]" and the like */
	uint64_t dev, inode;	/* 0: not known */
	char build_id[2 * MAPPED_BUILD_ID_BYTES + 1];	/* in hex; "": not known */
};

/* 0 or -ENOMEM. */
int mapped_files_open(struct mapped_files **out);
/*
 * The index of @file, whose path is copied; MAPPED_FILE_NONE: it is no file, or there is no memory. The vdso
 * counts as a file, one for all processes, with no identity but its path "[vdso]".
 */
uint32_t mapped_files_add(struct mapped_files *files, const struct mapped_file *file);
/* Whether most of MAPPED_FILES_MAX are known, so that some should be forgotten. */
bool mapped_files_are_many(const struct mapped_files *files);
/* Forgets those whose @used[index] is false: their indexes are given to others. How many. */
uint32_t mapped_files_forget(struct mapped_files *files, const bool used[MAPPED_FILES_MAX]);
/* Counts how often that was done: who keeps something by index forgets it when this is another number. */
uint64_t mapped_files_generation(const struct mapped_files *files);
/* What it was added with, until it is forgotten. */
const struct mapped_file *mapped_files_get(const struct mapped_files *files, uint32_t index);
bool mapped_files_is_vdso(const struct mapped_files *files, uint32_t index);
/* Its path, as the process has it for which it was added. */
const char *mapped_files_path(const struct mapped_files *files, uint32_t index);
/*
 * What is in it, opened as process @pid sees it or, once that has ended, as we do; NULL: cannot be read. Valid until
 * the next call, for then it may be closed for another one.
 */
const struct elf_file *mapped_files_elf(struct mapped_files *files, uint32_t index, uint32_t pid);
/* How many were not added, as there are too many others. */
uint64_t mapped_files_refused(const struct mapped_files *files);
/* NULL is fine. */
void mapped_files_close(struct mapped_files *files);

#endif
