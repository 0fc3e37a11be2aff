// SPDX-License-Identifier: GPL-2.0
/*
 * Perfetto's trace format as an output.
 */
#include "format/perfetto_out/writer.h"
#include "formats_p.h"

static const char *const suffixes[] = { ".pftrace", NULL };

static int output_open(void **writer, const struct writer_cfg *cfg)
{
	const struct pf_out_cfg out_cfg = { .write = cfg->write, .ctx = cfg->ctx };
	struct pf_out *o;
	int err = pf_out_open(&o, &out_cfg);

	if (!err)
		*writer = o;
	return err;
}

static uint64_t output_left_out_kind(const void *writer, unsigned int i, const char **one, const char **many)
{
	static const struct {
		const char *one, *many;
	} names[PF_LEFT_CNT] = {
		[PF_LEFT_CPU] = { "record of a CPU above 1023", "records of CPUs above 1023" },
		[PF_LEFT_TIME] = { "time beyond 2^63 ns", "times beyond 2^63 ns" },
		[PF_LEFT_COUNTER] = { "counter without a number", "counters without a number" },
		[PF_LEFT_EVENT] = { "unknown event", "unknown events" },
		[PF_LEFT_OBJECT] = { "kernel object", "kernel objects" },
		[PF_LEFT_PACKET] = { "damaged packet", "damaged packets" },
		[PF_LEFT_BLOB] = { "BLOB", "BLOBs" },
		[PF_LEFT_MODULE] = { "module", "modules" },
		[PF_LEFT_MAPPING] = { "mapping", "mappings" },
		[PF_LEFT_BACKTRACE] = { "backtrace", "backtraces" },
		[PF_LEFT_UNKNOWN] = { "unknown record", "unknown records" },
		[PF_LEFT_TEXT] = { "string that is not UTF-8", "strings that are not UTF-8" },
		[PF_LEFT_DAMAGED] = { "damaged stretch", "damaged stretches" },
	};

	*one = i < PF_LEFT_CNT ? names[i].one : NULL;
	*many = i < PF_LEFT_CNT ? names[i].many : NULL;
	return i < PF_LEFT_CNT ? pf_out_left_out(writer, (enum pf_left_out)i) : 0;
}

static uint64_t output_left_out(const void *writer)
{
	uint64_t sum = 0;
	int i;

	for (i = 0; i < PF_LEFT_CNT; i++)
		sum += pf_out_left_out(writer, (enum pf_left_out)i);
	return sum;
}

static int output_close(void *writer)
{
	return pf_out_close(writer);
}

const struct writer_ops perfetto_format_writer = {
	.name = "perfetto",
	.suffixes = suffixes,
	.open = output_open,
	.record = pf_out_record,
	.left_out = output_left_out,
	.left_out_kind = output_left_out_kind,
	.close = output_close,
};
