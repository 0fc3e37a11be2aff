// SPDX-License-Identifier: GPL-2.0
/*
 * FXT as an output: its records as they are.
 */
#include <errno.h>
#include <stdlib.h>

#include "formats_p.h"

static const char *const suffixes[] = { ".fxt", NULL };

struct output {
	format_write_fn write;
	void *ctx;
};

static int output_open(void **writer, const struct writer_cfg *cfg)
{
	struct output *o = malloc(sizeof(*o));

	if (!o)
		return -ENOMEM;
	*o = (struct output){ .write = cfg->write, .ctx = cfg->ctx };
	*writer = o;
	return 0;
}

static int output_record(void *writer, const void *records, size_t len)
{
	struct output *o = writer;

	return o->write(o->ctx, records, len);
}

static int output_close(void *writer)
{
	free(writer);
	return 0;
}

const struct writer_ops fxt_format_writer = {
	.name = "fxt",
	.suffixes = suffixes,
	.writes_fxt = true,
	.open = output_open,
	.record = output_record,
	.close = output_close,
};
