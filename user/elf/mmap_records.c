// SPDX-License-Identifier: GPL-2.0
#include "mmap_records.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>

/* What follows the header, by type. */
struct task_part {
	uint32_t pid, parent, tid, parent_tid;
};

struct map_part {
	uint32_t pid, tid;
	uint64_t start, bytes, offset;
	union {
		struct {
			uint32_t major, minor;
			uint64_t inode, generation;
		};
		struct {
			uint8_t build_id_bytes, reserved[3];
			uint8_t build_id[MAPPED_BUILD_ID_BYTES];
		};
	};
	uint32_t prot, flags;
};

struct comm_part {
	uint32_t pid, tid;
};

struct lost_part {
	uint64_t id, cnt;
};

/* @bytes: from the part on to where the time begins. The path ends there. */
static int decode_map(const struct perf_event_header *h, size_t bytes, struct mmap_event *e)
{
	const struct map_part *part = (const struct map_part *)(h + 1);
	const char *path = (const char *)(part + 1);
	unsigned int i;

	if (bytes <= sizeof(*part))
		return 0;
	e->kind = MMAP_EVENT_MAP;
	e->pid = part->pid;
	e->start = part->start;
	e->end = part->start + part->bytes;
	e->offset = part->offset;
	if (!(h->misc & PERF_RECORD_MISC_MMAP_BUILD_ID)) {
		e->file.dev = makedev(part->major, part->minor);
		e->file.inode = part->inode;
	} else if (part->build_id_bytes <= MAPPED_BUILD_ID_BYTES) {
		for (i = 0; i < part->build_id_bytes; i++)
			sprintf(e->file.build_id + 2 * i, "%02x", part->build_id[i]);
	}
	e->file.path = strndup(path, bytes - sizeof(*part));
	return e->file.path ? 1 : -ENOMEM;
}

static int decode_task(const struct perf_event_header *h, size_t bytes, struct mmap_event *e)
{
	const struct task_part *part = (const struct task_part *)(h + 1);

	if (bytes < sizeof(*part))
		return 0;
	e->pid = part->pid;
	e->parent = part->parent;
	e->kind = h->type == PERF_RECORD_FORK ? MMAP_EVENT_FORK : MMAP_EVENT_EXIT;
	return h->type == PERF_RECORD_FORK ? part->pid != part->parent : part->pid == part->tid;
}

static int decode_exec(const struct perf_event_header *h, size_t bytes, struct mmap_event *e)
{
	const struct comm_part *part = (const struct comm_part *)(h + 1);

	if (bytes < sizeof(*part) || !(h->misc & PERF_RECORD_MISC_COMM_EXEC))
		return 0;
	e->kind = MMAP_EVENT_EXEC;
	e->pid = part->pid;
	return 1;
}

bool mmap_record_has_size(const struct perf_event_header *h)
{
	return h->size >= sizeof(*h) + sizeof(uint64_t) && h->size % sizeof(uint64_t) == 0;
}

int mmap_record_decode(const struct perf_event_header *h, struct mmap_event *e, uint64_t *lost)
{
	const size_t bytes = h->size - sizeof(*h) - sizeof(uint64_t);
	const struct lost_part *part = (const struct lost_part *)(h + 1);

	*e = (struct mmap_event){ .ts = ((const uint64_t *)h)[h->size / sizeof(uint64_t) - 1] };
	switch (h->type) {
	case PERF_RECORD_MMAP2:
		return decode_map(h, bytes, e);
	case PERF_RECORD_FORK:
	case PERF_RECORD_EXIT:
		return decode_task(h, bytes, e);
	case PERF_RECORD_COMM:
		return decode_exec(h, bytes, e);
	case PERF_RECORD_LOST:
		*lost += bytes >= sizeof(*part) ? part->cnt : 0;
		return 0;
	}
	return 0;
}
