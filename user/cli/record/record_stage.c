// SPDX-License-Identifier: GPL-2.0
/*
 * Perfetto packets can be made while records come, and be cut anywhere between two of them.
 */
#include "record_stage.h"

#include <string.h>

#include "format/perfetto_out/writer.h"

static int open_stage(void **s, int (*put)(void *ctx, const void *data, size_t len), void *ctx)
{
	const struct pf_out_cfg cfg = { .write = put, .ctx = ctx, .keep = true };
	struct pf_out *o;
	int err = pf_out_open(&o, &cfg);

	if (!err)
		*s = o;
	return err;
}

static int record(void *s, const void *records, size_t len)
{
	int err = pf_out_record(s, records, len);

	return err ? err : pf_out_flush(s, false);
}

static int end(void *s)
{
	return pf_out_flush(s, true);
}

static void written(void *s)
{
	pf_out_written(s);
}

static void lost(void *s, records_lost_fn fn, void *ctx)
{
	pf_out_lost(s, fn, ctx);
}

/* All that it had was written, or is reported. */
static void close_stage(void *s)
{
	if (!s)
		return;
	pf_out_lost(s, NULL, NULL);
	pf_out_close(s);
}

static const struct stage_ops perfetto = {
	.open = open_stage, .record = record, .end = end, .written = written, .lost = lost, .close = close_stage,
};

const struct stage_ops *record_stage(const struct writer_ops *writer)
{
	return strcmp(writer->name, "perfetto") ? NULL : &perfetto;
}
