// SPDX-License-Identifier: GPL-2.0
/*
 * A few processes and files are kept; what is not found in a process's mappings is
 * looked up again, but not all the time.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../bpf/session.h"
#include "clock.h"
#include "elf_file.h"
#include "user_symbols.h"

#define PROCESSES_MAX	64
#define FILES_MAX	128
#define MAPPINGS_MAX	4096	/* executable ones of a process */
#define AGAIN_NS	100000000ULL
#define NAME_BYTES	256

struct mapping {
	uint64_t start, end, offset;
	unsigned int file;	/* in files */
};

struct process {
	uint64_t koid;		/* 0: free */
	struct mapping *mappings;
	unsigned int cnt;
	uint64_t read_ns;
};

struct mapped_file {
	char *path;
	struct elf_file *elf;	/* NULL: cannot be read */
};

struct user_symbols {
	struct process processes[PROCESSES_MAX];
	unsigned int next;	/* process to give way */
	struct mapped_file files[FILES_MAX];
	unsigned int files_cnt;
	char name[NAME_BYTES];
};

/* A koid is an id of its generation. */
static uint32_t pid_of(uint64_t koid)
{
	return koid % ID_GENERATION_STEP;
}

/* The file's place in the table, opened as process @pid sees it; FILES_MAX: there is no room left. */
static unsigned int find_file(struct user_symbols *s, uint32_t pid, const char *path)
{
	char full[ELF_PATH_BYTES + 32];
	struct mapped_file *file;
	const char *why;
	unsigned int i;

	for (i = 0; i < s->files_cnt; i++)
		if (!strcmp(s->files[i].path, path))
			return i;
	if (i == FILES_MAX)
		return i;
	file = &s->files[i];
	file->path = strdup(path);
	if (!file->path)
		return FILES_MAX;
	snprintf(full, sizeof(full), "/proc/%u/root%s", pid, path);
	/* The process may have ended since its mappings were read. */
	if (elf_file_open(&file->elf, full, &why) && elf_file_open(&file->elf, path, &why))
		file->elf = NULL;
	return s->files_cnt++;
}

/* "start-end perms offset dev inode path": proc(5); executable files count. */
static void add_mapping(struct user_symbols *s, struct process *p, const char *line)
{
	struct mapping m;
	char perms[5] = "";
	int at = 0;

	if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %*s %*s %n", &m.start, &m.end, perms,
		   &m.offset, &at) < 4 || perms[2] != 'x' || line[at] != '/' || p->cnt == MAPPINGS_MAX)
		return;
	m.file = find_file(s, pid_of(p->koid), line + at);
	p->mappings[p->cnt++] = m;
}

static void read_mappings(struct user_symbols *s, struct process *p)
{
	char path[32], *line = NULL;
	size_t size = 0;
	FILE *f;

	p->read_ns = clock_ns(CLOCK_MONOTONIC);
	snprintf(path, sizeof(path), "/proc/%u/maps", pid_of(p->koid));
	f = fopen(path, "re");
	if (!f)
		return;		/* gone; what was known of it still holds */
	p->cnt = 0;
	while (getline(&line, &size, f) > 0) {
		line[strcspn(line, "\n")] = 0;
		add_mapping(s, p, line);
	}
	free(line);
	fclose(f);
}

static struct process *find_process(struct user_symbols *s, uint64_t koid)
{
	struct process *p;
	unsigned int i;

	for (i = 0; i < PROCESSES_MAX; i++)
		if (s->processes[i].koid == koid)
			return &s->processes[i];
	p = &s->processes[s->next++ % PROCESSES_MAX];
	if (!p->mappings)
		p->mappings = calloc(MAPPINGS_MAX, sizeof(*p->mappings));
	if (!p->mappings)
		return NULL;
	p->koid = koid;
	p->cnt = 0;
	read_mappings(s, p);
	return p;
}

static const struct mapping *find_mapping(const struct process *p, uint64_t addr)
{
	unsigned int i;

	for (i = 0; i < p->cnt; i++)
		if (addr >= p->mappings[i].start && addr < p->mappings[i].end)
			return &p->mappings[i];
	return NULL;
}

const char *user_symbols_find(struct user_symbols *s, uint64_t koid, uint64_t addr)
{
	struct process *p = koid ? find_process(s, koid) : NULL;
	const struct mapping *m = p ? find_mapping(p, addr) : NULL;
	const struct elf_func *func;
	const char *base;
	uint64_t offset;

	if (p && !m && clock_ns(CLOCK_MONOTONIC) - p->read_ns > AGAIN_NS) {
		read_mappings(s, p);
		m = find_mapping(p, addr);
	}
	if (!m || m->file == FILES_MAX)
		return NULL;
	offset = addr - m->start + m->offset;
	func = s->files[m->file].elf ? elf_file_find(s->files[m->file].elf, offset) : NULL;
	if (func)
		return func->name;
	base = strrchr(s->files[m->file].path, '/') + 1;
	snprintf(s->name, sizeof(s->name), "%.200s+0x%" PRIx64, base, offset);
	return s->name;
}

int user_symbols_open(struct user_symbols **out)
{
	*out = calloc(1, sizeof(**out));
	return *out ? 0 : -ENOMEM;
}

void user_symbols_close(struct user_symbols *s)
{
	unsigned int i;

	if (!s)
		return;
	for (i = 0; i < PROCESSES_MAX; i++)
		free(s->processes[i].mappings);
	for (i = 0; i < s->files_cnt; i++) {
		elf_file_close(s->files[i].elf);
		free(s->files[i].path);
	}
	free(s);
}
