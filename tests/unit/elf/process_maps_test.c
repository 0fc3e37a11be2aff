// SPDX-License-Identifier: GPL-2.0
/*
 * What is mapped where and since when, from perf's records and /proc/PID/maps made by hand.
 */
#include <errno.h>
#include <linux/perf_event.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/clock.h"
#include "elf/mmap_records.h"
#include "elf/process_maps.h"
#include "maps_made.h"

#define WORDS_MAX	512

/* Records one after the other, and what they are given to. */
struct made {
	uint64_t records[WORDS_MAX];
	size_t words;
	struct mapped_files *files;
	struct process_maps *maps;
};

static void open_made(struct made *m, int has_records)
{
	int events_err;

	memset(m, 0, sizeof(*m));
	maps_made_begin(has_records);
	assert_int_equal(mapped_files_open(&m->files), 0);
	assert_int_equal(process_maps_open(&m->maps, m->files, &events_err), 0);
	assert_int_equal(process_maps_begin(m->maps), 0);
	assert_int_equal(events_err, has_records ? 0 : -EACCES);
}

static void close_made(struct made *m)
{
	process_maps_close(m->maps);
	mapped_files_close(m->files);
}

/* Adds a record: @part of @bytes, a multiple of 8, and the time. */
static struct perf_event_header *put(struct made *m, uint32_t type, uint16_t misc, uint64_t ts, const void *part,
				     size_t bytes)
{
	struct perf_event_header *h = (struct perf_event_header *)&m->records[m->words];

	assert_true(m->words + bytes / 8 + 2 <= WORDS_MAX);
	*h = (struct perf_event_header){ .type = type, .misc = misc, .size = (uint16_t)(bytes + 16) };
	memcpy(h + 1, part, bytes);
	m->words += bytes / 8 + 2;
	m->records[m->words - 1] = ts;
	return h;
}

static struct perf_event_header *put_map(struct made *m, uint64_t ts, uint32_t pid, uint64_t start, uint64_t bytes,
					 const char *path)
{
	uint64_t part[8 + 8] = { pid | (uint64_t)pid << 32, start, bytes, 0x1000, 8 | 1ULL << 32, 77 };
	const size_t path_words = strlen(path) / 8 + 1;

	memcpy(part + 8, path, strlen(path));
	return put(m, PERF_RECORD_MMAP2, 0, ts, part, (8 + path_words) * 8);
}

static void put_task(struct made *m, uint32_t type, uint64_t ts, uint32_t pid, uint32_t parent, uint32_t tid)
{
	const uint32_t part[4] = { pid, parent, tid, parent };

	put(m, type, 0, ts, part, sizeof(part));
}

static void put_comm(struct made *m, uint64_t ts, uint32_t pid, uint16_t misc)
{
	const uint32_t part[4] = { pid, pid };

	put(m, PERF_RECORD_COMM, misc, ts, part, sizeof(part));
}

static void read_made(struct made *m)
{
	maps_made_records(m->records, m->words);
	assert_int_equal(process_maps_read(m->maps), 0);
	m->words = 0;
}

/* Which file has @addr; NULL: none. */
static const char *path_at(struct made *m, uint64_t koid, uint64_t ts, uint64_t addr)
{
	const struct mapping *found = process_maps_find(m->maps, koid, ts, addr);

	return found && found->file != MAPPED_FILE_NONE ? mapped_files_path(m->files, found->file) : NULL;
}

static void test_lives(void **state)
{
	struct made m;

	(void)state;
	open_made(&m, 1);
	put_map(&m, 10, 5, 0x1000, 0x1000, "/old");
	put_map(&m, 20, 5, 0x1800, 0x100, "/over");
	put_task(&m, PERF_RECORD_FORK, 30, 6, 5, 6);
	put_task(&m, PERF_RECORD_FORK, 31, 5, 5, 99);	/* a thread */
	put_comm(&m, 40, 5, PERF_RECORD_MISC_COMM_EXEC);
	put_comm(&m, 41, 6, 0);				/* a new name only */
	put_map(&m, 50, 5, 0x1000, 0x1000, "/new");
	put_task(&m, PERF_RECORD_EXIT, 60, 6, 5, 6);
	read_made(&m);
	assert_null(path_at(&m, 5, 9, 0x1000));
	assert_string_equal(path_at(&m, 5, 10, 0x1fff), "/old");
	assert_null(path_at(&m, 5, 10, 0x2000));
	assert_string_equal(path_at(&m, 5, 19, 0x1800), "/old");
	assert_string_equal(path_at(&m, 5, 20, 0x1800), "/over");
	assert_string_equal(path_at(&m, 5, 39, 0x18ff), "/over");
	assert_null(path_at(&m, 5, 45, 0x1000));
	assert_string_equal(path_at(&m, 5, 50, 0x1800), "/new");
	assert_null(path_at(&m, 6, 29, 0x1000));
	assert_string_equal(path_at(&m, 6, 59, 0x1000), "/old");
	assert_string_equal(path_at(&m, 10000005, 50, 0x1800), "/new");	/* a later koid of the same TID */
	close_made(&m);
}

static void test_files(void **state)
{
	uint64_t part[8 + 1] = { 7 | 7ULL << 32, 0x5000, 0x1000, 0 };
	unsigned char *id = (unsigned char *)&part[4];
	struct mmap_event e;
	struct made m;
	uint64_t lost = 0;

	(void)state;
	open_made(&m, 1);
	assert_int_equal(mmap_record_decode(put_map(&m, 3, 7, 0x1000, 0x10, "/usr/bin/a"), &e, &lost), 1);
	assert_int_equal(e.kind, MMAP_EVENT_MAP);
	assert_int_equal(e.ts, 3);
	assert_int_equal(e.pid, 7);
	assert_int_equal(e.end, 0x1010);
	assert_int_equal(e.offset, 0x1000);
	assert_int_equal(e.file.inode, 77);
	assert_int_equal(e.file.dev, 8 << 8 | 1);
	assert_string_equal(e.file.build_id, "");
	assert_string_equal(e.file.path, "/usr/bin/a");
	free((char *)e.file.path);

	id[0] = MAPPED_BUILD_ID_BYTES;
	memset(id + 4, 0xa5, MAPPED_BUILD_ID_BYTES);
	memcpy(part + 8, "/12345678", 8);	/* without a NUL */
	assert_int_equal(mmap_record_decode(put(&m, PERF_RECORD_MMAP2, PERF_RECORD_MISC_MMAP_BUILD_ID, 4, part, 72),
					    &e, &lost), 1);
	assert_string_equal(e.file.build_id, "a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5");
	assert_string_equal(e.file.path, "/1234567");
	free((char *)e.file.path);

	id[0] = MAPPED_BUILD_ID_BYTES + 1;	/* more than there can be */
	assert_int_equal(mmap_record_decode(put(&m, PERF_RECORD_MMAP2, PERF_RECORD_MISC_MMAP_BUILD_ID, 4, part, 72),
					    &e, &lost), 1);
	assert_string_equal(e.file.build_id, "");
	free((char *)e.file.path);
	close_made(&m);
}

/* Each type with too few words for it: nothing is read beyond them. */
static void test_short_records(void **state)
{
	static const uint32_t types[] = { PERF_RECORD_MMAP2, PERF_RECORD_FORK, PERF_RECORD_EXIT, PERF_RECORD_COMM,
					  PERF_RECORD_LOST };
	static const size_t bytes[] = { 64, 8, 8, 0, 8 };
	const uint64_t part[8] = { 1, 2, 3, 4, 5, 6, 7, 8 };
	struct perf_event_header *h;
	struct mmap_event e;
	uint64_t lost = 0;
	struct made m;
	size_t i;

	(void)state;
	open_made(&m, 1);
	for (i = 0; i < sizeof(types) / sizeof(*types); i++) {
		h = put(&m, types[i], PERF_RECORD_MISC_COMM_EXEC, ~0ULL, part, bytes[i]);
		assert_true(mmap_record_has_size(h));
		assert_int_equal(mmap_record_decode(h, &e, &lost), 0);
	}
	assert_int_equal(lost, 0);
	assert_int_equal(mmap_record_decode(put(&m, PERF_RECORD_LOST, 0, 1, part, 16), &e, &lost), 0);
	assert_int_equal(lost, 2);
	h->size = 8;
	assert_false(mmap_record_has_size(h));
	h->size = 17;
	assert_false(mmap_record_has_size(h));
	close_made(&m);
}

/* As many mappings as anybody makes do not grow the list without bound; none is of no bytes. */
static void test_many(void **state)
{
	struct made m;
	uint64_t i;

	(void)state;
	open_made(&m, 1);
	for (i = 0; i < 20000; i++) {
		put_map(&m, 100 + i, 5, 0x1000 * i, 0x1000, "/lib/x.so");
		if (i % 10 == 9)
			read_made(&m);
	}
	assert_null(path_at(&m, 5, 30000, 0));
	assert_string_equal(path_at(&m, 5, 30000, 0x1000 * 19999), "/lib/x.so");
	put_map(&m, 40000, 5, 0x7000, 0, "/none");
	put_map(&m, 40001, 5, 0x7000, ~0ULL, "/wraps");
	read_made(&m);
	assert_string_equal(path_at(&m, 5, 50000, 0x1000 * 19999), "/lib/x.so");
	close_made(&m);
}

/* Whoever has many mappings and forks often: their copies take only so much memory, /proc has the others. */
static void test_many_children(void **state)
{
	struct made m;
	uint32_t i;

	(void)state;
	open_made(&m, 1);
	maps_made_proc("1000-2000 r-xp 00000000 08:01 55 /of/proc\n");
	for (i = 0; i < 8000; i++) {
		put_map(&m, 100 + i, 5, 0x1000 * (i + 1), 0x1000, "/of/records");
		if (i % 10 == 9)
			read_made(&m);
	}
	for (i = 0; i < 300; i++) {
		put_task(&m, PERF_RECORD_FORK, 10000 + i, 1000 + i, 5, 1000 + i);
		read_made(&m);
	}
	assert_string_equal(path_at(&m, 1000, 20000, 0x1000), "/of/records");
	assert_string_equal(path_at(&m, 1255, 20000, 0x1000), "/of/records");
	assert_string_equal(path_at(&m, 1299, 20000, 0x1000), "/of/proc");
	close_made(&m);
}

#define BURST_NS	250000000ULL

/* To read tens of thousands of mappings takes long; once it has, nothing is asked for, and not before, however slow a machine is. */
static void test_time(void **state)
{
	static const char line[] = "7f0000000000-7f0000001000 rw-p 00000000 08:01 55 /a\n";
	const size_t len = sizeof(line) - 1, lines = 20000;
	char *text = malloc(len * lines + 1);
	uint64_t pid = 0, begin_ns, spent_ns = 0;
	const char *found;
	struct made m;
	size_t i;

	(void)state;
	assert_non_null(text);
	for (i = 0; i < lines; i++)
		memcpy(text + i * len, line, sizeof(line));
	memcpy(strstr(text, "rw-p"), "r-xp", 4);
	open_made(&m, 1);
	maps_made_proc(text);
	do {
		assert_true(++pid < 10000);
		begin_ns = clock_ns(CLOCK_MONOTONIC);
		found = path_at(&m, pid, 10, 0x7f0000000000);
		spent_ns += clock_ns(CLOCK_MONOTONIC) - begin_ns;
	} while (found);
	assert_true(spent_ns >= BURST_NS);
	assert_null(path_at(&m, pid + 1, 10, 0x7f0000000000));
	/* What is known is known. */
	assert_string_equal(path_at(&m, 1, 10, 0x7f0000000000), "/a");
	close_made(&m);
	free(text);
}

static void test_proc(void **state)
{
	struct made m;

	(void)state;
	open_made(&m, 0);
	maps_made_proc("1000-2000 r-xp 00000000 08:01 55 /bin/a b\n"
		       "2000-3000 rw-p 00001000 08:01 55 /bin/a b\n"
		       "3000-4000 --xp 00000000 00:00 0\n"
		       "4000-5000 r-xp 00000000 00:00 0 [vdso]\n"
		       "6000-5000 r-xp 00000000 08:01 56 /backwards\n"
		       "7000 r-xp 00000000 08:01 56 /damaged\n"
		       "\n"
		       "8000-9000 r-xp 00002000 08:01 57 /last");
	assert_string_equal(path_at(&m, 5, 1, 0x1000), "/bin/a b");
	assert_null(path_at(&m, 5, 1, 0x2000));
	assert_non_null(process_maps_find(m.maps, 5, 1, 0x3000));
	assert_null(path_at(&m, 5, 1, 0x3000));
	assert_string_equal(path_at(&m, 5, 1, 0x4fff), "[vdso]");
	assert_null(path_at(&m, 5, 1, 0x5800));
	assert_null(path_at(&m, 5, 1, 0x7000));
	assert_string_equal(path_at(&m, 5, 1, 0x8fff), "/last");
	maps_made_proc(NULL);
	assert_null(path_at(&m, 6, 1, 0x1000));
	assert_string_equal(path_at(&m, 5, 1, 0x1000), "/bin/a b");
	assert_int_equal(process_maps_lost(m.maps), 0);
	close_made(&m);
}

/* Files that nobody has mapped any more leave; those that are mapped stay what they are. */
static void test_files_are_forgotten(void **state)
{
	struct mapped_file file = { .path = "/gone", .dev = 1 };
	uint32_t kept, i;
	struct made m;

	(void)state;
	open_made(&m, 1);
	for (i = 0; i < 1000; i++) {
		file.inode = i + 1;
		mapped_files_add(m.files, &file);
	}
	put_map(&m, 10, 5, 0x1000, 0x1000, "/kept");
	read_made(&m);
	kept = process_maps_find(m.maps, 5, 10, 0x1000)->file;
	for (; !mapped_files_are_many(m.files); i++) {
		file.inode = i + 1;
		mapped_files_add(m.files, &file);
	}
	put_map(&m, 20, 5, 0x3000, 0x1000, "/after");
	assert_int_equal(mapped_files_generation(m.files), 0);
	read_made(&m);
	assert_int_equal(mapped_files_generation(m.files), 1);
	assert_false(mapped_files_are_many(m.files));
	assert_int_equal(process_maps_find(m.maps, 5, 20, 0x1000)->file, kept);
	assert_string_equal(path_at(&m, 5, 20, 0x1000), "/kept");
	assert_string_equal(path_at(&m, 5, 20, 0x3000), "/after");
	assert_int_equal(process_maps_find(m.maps, 5, 20, 0x3000)->file, 0);
	/* If most are mapped, that is not looked at again each time. */
	for (i = 0; !mapped_files_are_many(m.files); i++) {
		file.inode = i + 1;
		mapped_files_add(m.files, &file);
	}
	read_made(&m);
	assert_int_equal(mapped_files_generation(m.files), 1);
	close_made(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lives), cmocka_unit_test(test_files), cmocka_unit_test(test_short_records),
		cmocka_unit_test(test_many), cmocka_unit_test(test_many_children), cmocka_unit_test(test_time), cmocka_unit_test(test_proc), cmocka_unit_test(test_files_are_forgotten),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
