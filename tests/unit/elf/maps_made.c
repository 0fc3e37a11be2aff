// SPDX-License-Identifier: GPL-2.0
#include "maps_made.h"

#include <dirent.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "elf/mmap_events.h"

int __wrap_mmap_events_open(struct mmap_events **out);
int __wrap_mmap_events_begin(struct mmap_events *m);
int __wrap_mmap_events_read(struct mmap_events *m, uint64_t until_ns, mmap_event_fn fn, void *ctx);
uint64_t __wrap_mmap_events_lost(const struct mmap_events *m);
void __wrap_mmap_events_close(struct mmap_events *m);
DIR *__real_opendir(const char *path);
DIR *__wrap_opendir(const char *path);
FILE *__real_fopen(const char *path, const char *mode);
FILE *__wrap_fopen(const char *path, const char *mode);

static struct {
	int has_records;
	const uint64_t *records;
	size_t words;
	const char *proc;
	uint64_t lost;
} made;

void maps_made_begin(int has_records)
{
	memset(&made, 0, sizeof(made));
	made.has_records = has_records;
}

void maps_made_records(const uint64_t *records, size_t words)
{
	made.records = records;
	made.words = words;
}

void maps_made_proc(const char *text)
{
	made.proc = text;
}

int __wrap_mmap_events_open(struct mmap_events **out)
{
	if (!made.has_records)
		return -EACCES;
	*out = (struct mmap_events *)&made;	/* not NULL */
	return 0;
}

int __wrap_mmap_events_begin(struct mmap_events *m)
{
	(void)m;
	return 0;
}

int __wrap_mmap_events_read(struct mmap_events *m, uint64_t until_ns, mmap_event_fn fn, void *ctx)
{
	const uint64_t *end = made.records + made.words;
	const struct perf_event_header *h;
	struct mmap_event e;
	int ret = 0;

	(void)m;
	(void)until_ns;
	while (ret >= 0 && made.records < end) {
		h = (const struct perf_event_header *)made.records;
		if (!mmap_record_has_size(h) || h->size / 8 > end - made.records)
			break;
		made.records += h->size / 8;
		ret = mmap_record_decode(h, &e, &made.lost);
		if (ret <= 0)
			continue;
		ret = fn(ctx, &e);
		free((char *)e.file.path);
	}
	made.words = 0;
	return ret < 0 ? ret : 0;
}

uint64_t __wrap_mmap_events_lost(const struct mmap_events *m)
{
	return m ? made.lost : 0;
}

void __wrap_mmap_events_close(struct mmap_events *m)
{
	(void)m;
}

/* No process at the start. */
DIR *__wrap_opendir(const char *path)
{
	return __real_opendir(strcmp(path, "/proc") ? path : "/proc/self/ns");
}

FILE *__wrap_fopen(const char *path, const char *mode)
{
	const char *last = strrchr(path, '/');

	if (strncmp(path, "/proc/", 6) || !last || strcmp(last, "/maps"))
		return __real_fopen(path, mode);
	if (!made.proc || !*made.proc) {
		errno = ENOENT;
		return NULL;
	}
	return fmemopen((char *)made.proc, strlen(made.proc), "r");
}
