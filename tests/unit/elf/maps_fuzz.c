// SPDX-License-Identifier: GPL-2.0
/*
 * libFuzzer entry for what is mapped where: perf's records and lines of /proc/PID/maps, both of any
 * content. What is found for an address is a mapping that has it, of a file with a path.
 *
 * The input: a byte whose lowest bit says whether there are records, /proc/PID/maps up to a NUL,
 * the records.
 */
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>

#include "elf/mmap_records.h"
#include "elf/process_maps.h"
#include "maps_made.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(int holds)
{
	if (!holds)
		abort();
}

static void ask(struct process_maps *m, const struct mapped_files *files, uint32_t pid, uint64_t ts, uint64_t addr)
{
	const struct mapping *found = process_maps_find(m, pid, ts, addr);

	if (!found)
		return;
	check(found->start <= addr && addr < found->end && found->ts <= ts);
	if (found->file != MAPPED_FILE_NONE)
		check(mapped_files_path(files, found->file)[0] == '/' || mapped_files_is_vdso(files, found->file));
}

/* Questions about what the records name, and the numbers before and after. */
static void ask_all(struct process_maps *m, const struct mapped_files *files, const uint64_t *records, size_t words)
{
	uint64_t lost = 0;
	size_t i = 0;

	while (i < words) {
		const struct perf_event_header *h = (const struct perf_event_header *)&records[i];
		struct mmap_event e;

		if (!mmap_record_has_size(h) || h->size / 8 > words - i)
			break;
		i += h->size / 8;
		if (mmap_record_decode(h, &e, &lost) <= 0)
			continue;
		free((char *)e.file.path);
		ask(m, files, e.pid, e.ts, e.start);
		ask(m, files, e.pid, e.ts + 1, e.end - 1);
		ask(m, files, e.parent, e.ts - 1, e.end);
		ask(m, files, e.parent, UINT64_MAX, e.start);
	}
	ask(m, files, 1, 1, 0x1000);
}

/* @text ends with a NUL. */
static void run(const char *text, int has_records, const uint64_t *records, size_t words)
{
	struct mapped_files *files = NULL;
	struct process_maps *m = NULL;
	int events_err = 0;

	maps_made_begin(has_records);
	maps_made_proc(text);
	check(!mapped_files_open(&files) && !process_maps_open(&m, files, &events_err) && !process_maps_begin(m));
	check((events_err == 0) == (has_records != 0));
	maps_made_records(records, words);
	check(!process_maps_read(m));
	ask_all(m, files, records, words);
	maps_made_records(records, words);	/* once more, after what was found by /proc */
	check(!process_maps_read(m));
	ask_all(m, files, records, words);
	process_maps_close(m);
	mapped_files_close(files);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint8_t *nul = size ? memchr(data + 1, 0, size - 1) : NULL;
	size_t text_len, words;
	uint64_t *records;
	char *text;

	if (!size)
		return 0;
	text_len = (nul ? nul : data + size) - (data + 1);
	words = nul ? (size - text_len - 2) / 8 : 0;
	text = strndup((const char *)data + 1, text_len);
	records = malloc(words * 8 + !words);
	check(text && records);
	if (words)
		memcpy(records, nul + 1, words * 8);
	run(text, data[0] & 1, records, words);
	free(records);
	free(text);
	return 0;
}
