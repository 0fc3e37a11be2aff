// SPDX-License-Identifier: GPL-2.0
/*
 * A few processes at a time, of which the one that was not asked for longest is forgotten first.
 */
#include <errno.h>
#include <stdlib.h>

#include "base/clock.h"
#include "jit_file.h"
#include "jit.h"

#define PROCESSES_MAX	256U
#define BYTES_MAX	(128U << 20)	/* of all maps */
#define FILE_BYTES_MAX	(32U << 20)
#define AGAIN_NS	100000000ULL	/* code that is hot is compiled anew just before it is sampled first */
#define ABSENT_NS	1000000000ULL	/* of a process without a map, as most that have a JIT; less while it may yet make one */
#define SHARE		20U		/* reading takes one of so many parts of the time */

struct jit_process {
	uint64_t koid;
	uint32_t pid;
	uint64_t used;		/* a counter of questions */
	uint64_t again_ns;	/* when the map of code may be read again */
	uint64_t absent_ns;	/* so long after it was not there; 0: it has not been missed yet */
	struct jit_file *file;
};

struct jit {
	const char *root;
	struct jit_process entries[PROCESSES_MAX];
	unsigned int cnt;
	uint64_t questions;
	uint64_t again_ns;	/* when any map of code may be read again */
};

int jit_open(struct jit **out, const char *root)
{
	struct jit *p = calloc(1, sizeof(*p));

	if (!p)
		return -ENOMEM;
	p->root = root;
	*out = p;
	return 0;
}

void jit_close(struct jit *p)
{
	if (!p)
		return;
	while (p->cnt)
		jit_file_close(p->entries[--p->cnt].file);
	free(p);
}

/* ---- which process ------------------------------------------------------------------ */

static struct jit_process *oldest(struct jit *p)
{
	struct jit_process *found = p->entries, *e;

	for (e = p->entries; e < p->entries + p->cnt; e++)
		if (e->used < found->used)
			found = e;
	return found;
}

static void forget(struct jit *p, struct jit_process *e)
{
	jit_file_close(e->file);
	*e = p->entries[--p->cnt];
}

static struct jit_process *process_of(struct jit *p, uint64_t koid, uint32_t pid)
{
	struct jit_process *e;

	for (e = p->entries; e < p->entries + p->cnt; e++)
		if (e->koid == koid) {
			e->used = ++p->questions;
			return e;
		}
	if (p->cnt == PROCESSES_MAX)
		forget(p, oldest(p));
	e = &p->entries[p->cnt++];
	*e = (struct jit_process){ .koid = koid, .pid = pid, .used = ++p->questions };
	return e;
}

/* ---- its code --------------------------------------------------------------------------- */

/* Forgets others until @e, which is then at another place, is not too much with them. */
static struct jit_process *limit_bytes(struct jit *p, struct jit_process *e)
{
	const uint64_t koid = e->koid;
	struct jit_process *each, *found;
	size_t bytes;

	for (;;) {
		bytes = 0;
		for (each = p->entries; each < p->entries + p->cnt; each++)
			bytes += each->file ? jit_map_bytes(jit_file_map(each->file)) : 0;
		found = oldest(p);
		if (bytes <= BYTES_MAX || found->koid == koid)
			break;
		forget(p, found);
	}
	for (each = p->entries; each->koid != koid; each++)
		;
	return each;
}

static bool may_read(const struct jit *p, struct jit_process *e, uint64_t now)
{
	return now >= e->again_ns && now >= p->again_ns && (e->file || !jit_file_open(&e->file, p->root, e->pid));
}

/* How long to wait then. A process that has just begun is given some short times. */
static uint64_t read_map(struct jit_process *e)
{
	if (jit_file_read(e->file, FILE_BYTES_MAX))
		return AGAIN_NS;
	e->absent_ns = e->absent_ns ? 2 * e->absent_ns : AGAIN_NS;
	if (e->absent_ns > ABSENT_NS)
		e->absent_ns = ABSENT_NS;
	return e->absent_ns;
}

bool jit_find(struct jit *p, uint64_t koid, uint32_t pid, uint64_t pc, struct jit_code *out)
{
	struct jit_process *e = process_of(p, koid, pid);
	uint64_t begin;
	bool found;

	if (e->file && jit_map_find(jit_file_map(e->file), pc, out))
		return true;
	begin = clock_ns(CLOCK_MONOTONIC);
	if (!may_read(p, e, begin))
		return false;
	e->again_ns = begin + read_map(e);
	found = jit_map_find(jit_file_map(limit_bytes(p, e)->file), pc, out);
	p->again_ns = begin + SHARE * (clock_ns(CLOCK_MONOTONIC) - begin);
	return found;
}
