// SPDX-License-Identifier: GPL-2.0
/*
 * From an address of a process to a mapping, from there to a file, and to a symbol of it.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bpf/abi/ids.h"
#include "elf.h"
#include "mapped_file.h"
#include "process_maps.h"
#include "user_symbols.h"

#define NAME_BYTES	256

struct user_symbols {
	struct mapped_files *files;
	struct process_maps *maps;
	bool has_begun;
	struct user_symbols_counts counts;
	char name[NAME_BYTES];
};

int user_symbols_begin(struct user_symbols *s)
{
	s->has_begun = true;
	return process_maps_begin(s->maps);
}

int user_symbols_read(struct user_symbols *s)
{
	return s->has_begun ? process_maps_read(s->maps) : 0;
}

const char *user_symbols_find_caller(struct user_symbols *s, uint64_t koid, uint64_t ts, uint64_t addr)
{
	const struct mapping *m = koid && s->has_begun ? process_maps_find(s->maps, koid, ts, addr - 1) : NULL;
	const struct elf_file *elf;
	const struct elf_func *func;
	const char *path;
	uint64_t offset;

	if (!m || m->file == MAPPED_FILE_NONE || mapped_files_is_vdso(s->files, m->file)) {
		s->counts.no_file += !!m;
		s->counts.unmapped += !m;
		return NULL;
	}
	offset = addr - m->start + m->offset;
	elf = mapped_files_elf(s->files, m->file, koid % ID_GENERATION_STEP);
	func = elf ? elf_file_find(elf, offset - 1) : NULL;
	if (func)
		return func->name;
	s->counts.unreadable += !elf;
	path = mapped_files_path(s->files, m->file);
	snprintf(s->name, sizeof(s->name), "%.200s+0x%" PRIx64, strrchr(path, '/') + 1, offset);
	return s->name;
}

void user_symbols_counts(const struct user_symbols *s, struct user_symbols_counts *counts)
{
	*counts = s->counts;
	counts->maps_lost = s->has_begun ? process_maps_lost(s->maps) : 0;
}

int user_symbols_open(struct user_symbols **out)
{
	struct user_symbols *s = calloc(1, sizeof(*s));
	int err;

	if (!s)
		return -ENOMEM;
	err = mapped_files_open(&s->files);
	err = err ?: process_maps_open(&s->maps, s->files, &s->counts.events_err);
	if (err) {
		user_symbols_close(s);
		return err;
	}
	*out = s;
	return 0;
}

void user_symbols_close(struct user_symbols *s)
{
	if (!s)
		return;
	process_maps_close(s->maps);
	mapped_files_close(s->files);
	free(s);
}
