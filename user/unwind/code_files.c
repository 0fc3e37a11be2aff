// SPDX-License-Identifier: GPL-2.0
#include <elf.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/clock.h"
#include "code_files.h"
#include "elf/living_thread.h"
#include "elf/mapped_file.h"
#include "elf/process_maps.h"

#define AGAIN_NS	1000000000ULL
#define PATH_BYTES	4160

struct code_files_entry {
	struct cfi_file *cfi;	/* NULL: it is not open */
	uint64_t used, tried_ns;	/* tried_ns 0: never */
};

/* ---- which file it is ------------------------------------------------------------------------ */

/*
 * Some file systems (overlayfs, btrfs) do not have the device in stat(2) that they have in mappings: that
 * the process itself has it there is proof enough then.
 */
static bool is_same(const struct mapped_file *file, const struct code_file *found, const struct stat *st, bool is_own)
{
	if (*file->build_id)
		return !strcmp(file->build_id, found->build_id);
	return st->st_ino == file->inode && (is_own || st->st_dev == file->dev);
}

static bool try_path(const struct code_files *c, const struct mapped_file *file, const char *path, bool is_own,
		     struct cfi_file *into)
{
	/* It may be a FIFO: not to wait for a writer. */
	const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct stat st;

	if (fd < 0)
		return false;
	if (fstat(fd, &st)) {
		close(fd);
		return false;
	}
	if (code_file_open(&into->file, fd, c->reader->machine->elf))
		return false;
	if (is_same(file, &into->file, &st, is_own))
		return true;
	code_file_close(&into->file);
	return false;
}

/* As the process has it, deleted or not, in its own root or another one; at last as we have it. */
static bool try_paths(const struct code_files *c, const struct mapping *m, uint32_t process, struct cfi_file *into)
{
	const struct mapped_file *file = mapped_files_get(c->files, m->file);
	const uint32_t pid = living_thread(process);
	char path[PATH_BYTES];

	snprintf(path, sizeof(path), "/proc/%u/map_files/%" PRIx64 "-%" PRIx64, pid, m->start, m->end);
	if (try_path(c, file, path, true, into))
		return true;
	if (snprintf(path, sizeof(path), "/proc/%u/root%s", pid, file->path) < (int)sizeof(path) &&
	    try_path(c, file, path, true, into))
		return true;
	snprintf(path, sizeof(path), "/proc/%u/exe", pid);
	return try_path(c, file, path, true, into) || try_path(c, file, file->path, false, into);
}

/* Ours, which is the same in all processes; its headers are the kernel's. */
static bool open_vdso(const struct code_files *c, struct cfi_file *into)
{
	const Elf64_Ehdr *h = (const Elf64_Ehdr *)getauxval(AT_SYSINFO_EHDR);

	return h && !code_file_open_memory(&into->file, h, h->e_shoff + (uint64_t)h->e_shnum * h->e_shentsize,
					   c->reader->machine->elf);
}

/* ---- the set --------------------------------------------------------------------------------- */

static void close_entry(struct code_files *c, struct code_files_entry *e)
{
	cfi_file_close(c->reader, e->cfi);
	free(e->cfi);
	e->cfi = NULL;
	c->open_cnt--;
}

static void close_oldest(struct code_files *c)
{
	struct code_files_entry *e, *oldest = NULL;

	for (e = c->entries; e < c->entries + c->cap; e++)
		if (e->cfi && (!oldest || e->used < oldest->used))
			oldest = e;
	if (oldest)
		close_entry(c, oldest);
}

static struct code_files_entry *entry_of(struct code_files *c, uint32_t file)
{
	const unsigned int had = c->cap;

	if (file >= c->cap && array_reserve(c->entries, had, c->cap, file + 1 - had))
		return NULL;
	if (c->cap != had)
		memset(c->entries + had, 0, (c->cap - had) * sizeof(*c->entries));
	return &c->entries[file];
}

static void open_entry(struct code_files *c, struct code_files_entry *e, const struct mapping *m, uint32_t pid)
{
	const uint64_t now = clock_ns(CLOCK_MONOTONIC);
	struct cfi_file *f;

	if (e->tried_ns && now - e->tried_ns < AGAIN_NS)
		return;
	e->tried_ns = now;
	f = calloc(1, sizeof(*f));
	if (!f)
		return;
	if (!(mapped_files_is_vdso(c->files, m->file) ? open_vdso(c, f) : try_paths(c, m, pid, f))) {
		free(f);
		return;
	}
	if (c->open_cnt == CODE_FILES_OPEN_MAX)
		close_oldest(c);
	e->tried_ns = 0;	/* if it is closed for another one, it can be opened again at once */
	e->cfi = f;
	c->open_cnt++;
}

struct cfi_file *code_files_get(struct code_files *c, const struct mapping *m, uint32_t pid)
{
	struct code_files_entry *e = entry_of(c, m->file);

	if (!e)
		return NULL;
	if (!e->cfi)
		open_entry(c, e, m, pid);
	e->used = ++c->uses;
	return e->cfi;
}

void code_files_fini(struct code_files *c)
{
	struct code_files_entry *e;

	for (e = c->entries; e < c->entries + c->cap; e++)
		if (e->cfi)
			close_entry(c, e);
	free(c->entries);
	c->entries = NULL;
	c->cap = 0;
}
