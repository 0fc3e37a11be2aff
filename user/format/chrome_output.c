// SPDX-License-Identifier: GPL-2.0
/*
 * Trace Event JSON as an output.
 */
#include <string.h>

#include "format/chrome_out/writer.h"
#include "formats_p.h"

static const char *const suffixes[] = { ".json", NULL };
static const char *const scheds[] = { "ftrace", "slices", "states", NULL };

static int output_open(void **writer, const struct writer_cfg *cfg)
{
	struct chrome_writer_cfg chrome = { .write = cfg->write, .ctx = cfg->ctx };
	struct chrome_writer *w;
	int err;

	while (chrome.sched < CHROME_SCHED_CNT - 1 && strcmp(cfg->sched, chrome_sched_name(chrome.sched)) != 0)
		chrome.sched++;
	err = chrome_writer_open(&w, &chrome);
	if (!err)
		*writer = w;
	return err;
}

static uint64_t output_left_out_kind(const void *writer, unsigned int i, const char **one, const char **many)
{
	static const struct {
		const char *one, *many;
	} names[CHROME_LEFT_CNT] = {
		[CHROME_LEFT_PERFETTO] = { "Perfetto packet", "Perfetto packets" },
		[CHROME_LEFT_BLOB] = { "BLOB", "BLOBs" },
		[CHROME_LEFT_MODULE] = { "module", "modules" },
		[CHROME_LEFT_MAPPING] = { "mapping", "mappings" },
		[CHROME_LEFT_BACKTRACE] = { "backtrace", "backtraces" },
		[CHROME_LEFT_COUNTER] = { "counter value that is no number", "counter values that are no numbers" },
		[CHROME_LEFT_TIME] = { "time beyond 2^64 ns", "times beyond 2^64 ns" },
		[CHROME_LEFT_UNKNOWN] = { "unknown record", "unknown records" },
		[CHROME_LEFT_DAMAGED] = { "damaged stretch", "damaged stretches" },
		[CHROME_LEFT_FRAME] = { "frame of a stack", "frames of stacks" },
	};

	*one = i < CHROME_LEFT_CNT ? names[i].one : NULL;
	*many = i < CHROME_LEFT_CNT ? names[i].many : NULL;
	return i < CHROME_LEFT_CNT ? chrome_writer_left_out(writer, (enum chrome_left_out)i) : 0;
}

static uint64_t output_left_out(const void *writer)
{
	uint64_t sum = 0;
	int i;

	for (i = 0; i < CHROME_LEFT_CNT; i++)
		sum += chrome_writer_left_out(writer, (enum chrome_left_out)i);
	return sum;
}

static int output_close(void *writer)
{
	return chrome_writer_close(writer);
}

const struct writer_ops chrome_format_writer = {
	.name = "json",
	.suffixes = suffixes,
	.scheds = scheds,
	.open = output_open,
	.record = chrome_writer_record,
	.left_out = output_left_out,
	.left_out_kind = output_left_out_kind,
	.close = output_close,
};
