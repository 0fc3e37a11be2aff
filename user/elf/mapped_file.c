// SPDX-License-Identifier: GPL-2.0
/*
 * A file that cannot be opened, as when the last process that had it in its root has ended, is tried
 * again for others, but not all the time.
 */
#include <errno.h>
#include <inttypes.h>
#include <search.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/array.h"
#include "base/clock.h"
#include "elf.h"
#include "living_thread.h"
#include "mapped_file.h"

#define FILES_MANY	(MAPPED_FILES_MAX / 8 * 7)
#define ELFS_MAX	512U		/* whose symbols are in memory */
#define ELF_BYTES_MAX	(UINT64_C(512) << 20)	/* that these take, but for the last */
#define AGAIN_NS	1000000000ULL
#define VDSO		"[vdso]"
#define DELETED		" (deleted)"	/* after a path in /proc/PID/maps */

struct known_file {
	struct mapped_file file;
	uint32_t index;
	struct elf_file *elf;
	uint64_t tried_ns;	/* 0: never */
	uint64_t used;		/* a counter of questions */
};

struct mapped_files {
	void *tree;
	struct known_file **entries;	/* NULL: forgotten */
	uint32_t cnt, cap, elfs;
	uint64_t elf_bytes;
	uint32_t known, unused;	/* below @unused no index is free */
	uint64_t questions, refused, generation;
};

static int by_identity(const void *a, const void *b)
{
	const struct mapped_file *x = &((const struct known_file *)a)->file, *y = &((const struct known_file *)b)->file;

	if (x->inode != y->inode)
		return x->inode < y->inode ? -1 : 1;
	if (x->dev != y->dev)
		return x->dev < y->dev ? -1 : 1;
	return strcmp(x->build_id, y->build_id) ?: strcmp(x->path, y->path);
}

/* MAPPED_FILE_NONE: there is none, or no memory. */
static uint32_t free_index(struct mapped_files *files)
{
	while (files->unused < files->cnt && files->entries[files->unused])
		files->unused++;
	if (files->unused < files->cnt)
		return files->unused;
	if (files->cnt == MAPPED_FILES_MAX) {
		files->refused++;
		return MAPPED_FILE_NONE;
	}
	if (array_reserve(files->entries, files->cnt, files->cap, 1))
		return MAPPED_FILE_NONE;
	files->entries[files->cnt] = NULL;
	return files->cnt++;
}

static uint32_t add_new(struct mapped_files *files, const struct mapped_file *file)
{
	const uint32_t index = free_index(files);
	struct known_file *e;

	if (index == MAPPED_FILE_NONE)
		return MAPPED_FILE_NONE;
	e = calloc(1, sizeof(*e));
	if (!e)
		return MAPPED_FILE_NONE;
	e->file = *file;
	e->file.path = strdup(file->path);
	e->index = index;
	if (!e->file.path || !tsearch(e, &files->tree, by_identity)) {
		free((char *)e->file.path);
		free(e);
		return MAPPED_FILE_NONE;
	}
	files->entries[index] = e;
	files->known++;
	return index;
}

uint32_t mapped_files_add(struct mapped_files *files, const struct mapped_file *file)
{
	const bool is_vdso = !strcmp(file->path, VDSO);
	const struct known_file key = { .file = is_vdso ? (struct mapped_file){ .path = VDSO } : *file };
	struct known_file **found;

	if (!is_vdso && (file->path[0] != '/' || file->path[1] == '/'))
		return MAPPED_FILE_NONE;
	found = tfind(&key, &files->tree, by_identity);
	return found ? (*found)->index : add_new(files, &key.file);
}

static void free_file(struct known_file *e)
{
	elf_file_close(e->elf);
	free((char *)e->file.path);
	free(e);
}

bool mapped_files_are_many(const struct mapped_files *files)
{
	return files->known >= FILES_MANY;
}

uint32_t mapped_files_forget(struct mapped_files *files, const bool used[MAPPED_FILES_MAX])
{
	const uint32_t known = files->known;
	struct known_file *e;
	uint32_t i;

	for (i = 0; i < files->cnt; i++) {
		e = files->entries[i];
		if (!e || used[i])
			continue;
		tdelete(e, &files->tree, by_identity);
		files->elfs -= !!e->elf;
		files->elf_bytes -= e->elf ? elf_file_bytes(e->elf) : 0;
		free_file(e);
		files->entries[i] = NULL;
		files->known--;
	}
	files->unused = 0;
	files->generation++;
	return known - files->known;
}

uint64_t mapped_files_generation(const struct mapped_files *files)
{
	return files->generation;
}

const struct mapped_file *mapped_files_get(const struct mapped_files *files, uint32_t index)
{
	return &files->entries[index]->file;
}

bool mapped_files_is_vdso(const struct mapped_files *files, uint32_t index)
{
	return !strcmp(files->entries[index]->file.path, VDSO);
}

const char *mapped_files_path(const struct mapped_files *files, uint32_t index)
{
	return files->entries[index]->file.path;
}

/*
 * Is @elf, found at @path, the file that was mapped? Some file systems (overlayfs, btrfs) do not have
 * the device in stat(2) that they have in mappings: a process's own root is proof enough then.
 */
static bool is_same(const struct mapped_file *file, const struct elf_file *elf, const char *path, bool own_root)
{
	struct stat st;

	if (*file->build_id)
		return !strcmp(file->build_id, elf_file_build_id(elf));
	return !stat(path, &st) && st.st_ino == file->inode && (own_root || st.st_dev == file->dev);
}

static struct elf_file *open_at(const struct mapped_file *file, const char *path, bool own_root)
{
	struct elf_file *elf;
	const char *why;

	if (elf_file_open(&elf, path, &why))
		return NULL;
	if (is_same(file, elf, path, own_root))
		return elf;
	elf_file_close(elf);
	return NULL;
}

/* How long its path is, without what says that it is deleted. */
static size_t path_len(const struct mapped_file *file)
{
	const size_t len = strlen(file->path), suffix = strlen(DELETED);

	return len > suffix && !strcmp(file->path + len - suffix, DELETED) ? len - suffix : len;
}

/* By the addresses of its code in a line of /proc/PID/maps; NULL: the line is of another file. */
static struct elf_file *open_in_line(const struct mapped_file *file, uint32_t pid, const char *line)
{
	const size_t len = path_len(file);
	uint64_t start, end;
	char path[64];
	int at = 0;

	if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %*2sx%*s %*s %*s %*s %n", &start, &end, &at) < 2 || !at ||
	    strncmp(line + at, file->path, len) || (line[at + len] && strcmp(line + at + len, DELETED)))
		return NULL;
	snprintf(path, sizeof(path), "/proc/%u/map_files/%" PRIx64 "-%" PRIx64, pid, start, end);
	return open_at(file, path, true);
}

/* Of a library that was deleted, perhaps for a newer one, there is no other way in. */
static struct elf_file *open_in_maps(const struct mapped_file *file, uint32_t pid)
{
	struct elf_file *elf = NULL;
	char path[32], *line = NULL;
	size_t size = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%u/maps", pid);
	f = fopen(path, "re");
	while (f && !elf && getline(&line, &size, f) > 0) {
		line[strcspn(line, "\n")] = 0;
		elf = open_in_line(file, pid, line);
	}
	free(line);
	if (f)
		fclose(f);
	return elf;
}

/*
 * As @process sees it or, once that has ended, as we do. What was deleted, before or after its mapping was
 * reported, the process still has.
 */
static struct elf_file *open_for(const struct mapped_file *file, uint32_t process)
{
	const uint32_t pid = living_thread(process);
	char path[ELF_PATH_BYTES + 32];
	struct elf_file *elf;
	int prefix;

	prefix = snprintf(path, sizeof(path), "/proc/%u/root", pid);
	snprintf(path + prefix, sizeof(path) - prefix, "%.*s", (int)path_len(file), file->path);
	elf = open_at(file, path, true) ?: open_at(file, path + prefix, false);
	if (!elf) {
		snprintf(path, sizeof(path), "/proc/%u/exe", pid);
		elf = open_at(file, path, true);
	}
	return elf ?: open_in_maps(file, pid);
}

/* It can be opened again at @tried_ns + AGAIN_NS, with 0 at once. */
static void close_oldest(struct mapped_files *files, uint64_t tried_ns)
{
	struct known_file *oldest = NULL;
	uint32_t i;

	for (i = 0; i < files->cnt; i++)
		if (files->entries[i] && files->entries[i]->elf && (!oldest || files->entries[i]->used < oldest->used))
			oldest = files->entries[i];
	if (!oldest)
		return;
	files->elf_bytes -= elf_file_bytes(oldest->elf);
	elf_file_close(oldest->elf);
	oldest->elf = NULL;
	oldest->tried_ns = tried_ns;
	files->elfs--;
}

const struct elf_file *mapped_files_elf(struct mapped_files *files, uint32_t index, uint32_t pid)
{
	const uint64_t now = clock_ns(CLOCK_MONOTONIC);
	struct known_file *e = files->entries[index];

	e->used = ++files->questions;
	if (e->elf || mapped_files_is_vdso(files, index) || (e->tried_ns && now - e->tried_ns < AGAIN_NS))
		return e->elf;
	e->tried_ns = now;
	e->elf = open_for(&e->file, pid);
	if (!e->elf)
		return NULL;
	files->elf_bytes += elf_file_bytes(e->elf);
	if (files->elfs++ == ELFS_MAX)
		close_oldest(files, 0);
	/* Two that have no space beside each other are not to be read in turn, sample by sample. */
	while (files->elfs > 1 && files->elf_bytes > ELF_BYTES_MAX)
		close_oldest(files, now);
	return e->elf;
}

uint64_t mapped_files_refused(const struct mapped_files *files)
{
	return files->refused;
}

int mapped_files_open(struct mapped_files **out)
{
	*out = calloc(1, sizeof(**out));
	return *out ? 0 : -ENOMEM;
}

static void keep(void *node)
{
	(void)node;
}

void mapped_files_close(struct mapped_files *files)
{
	uint32_t i;

	if (!files)
		return;
	tdestroy(files->tree, keep);
	for (i = 0; i < files->cnt; i++)
		if (files->entries[i])
			free_file(files->entries[i]);
	free(files->entries);
	free(files);
}
