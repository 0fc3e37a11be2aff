// SPDX-License-Identifier: GPL-2.0
/*
 * Folded stacks as an output, for flame graphs.
 */
#include <errno.h>
#include <stdlib.h>

#include "analysis/stacks_folded.h"
#include "formats_p.h"
#include "profile_out.h"

static const char *const suffixes[] = { ".folded", NULL };

static int output_open(void **writer, const struct writer_cfg *cfg)
{
	const struct stacks_cfg stacks_cfg = { .process = STACKS_PROCESS_ANY };
	struct profile_out *o = malloc(sizeof(*o));
	int err = o ? profile_out_open(o, cfg, &stacks_cfg) : -ENOMEM;

	if (err)
		free(o);
	else
		*writer = o;
	return err;
}

static int write_lines(struct profile_out *o)
{
	struct stacks_folded f = { 0 };
	int err = stacks_folded_add(&f, o->stacks, profile_out_source(o), 0);
	FILE *out = err ? NULL : profile_out_stream(o);

	if (out) {
		stacks_folded_write(&f, out, 1);
		err = profile_out_stream_close(o, out);
	} else {
		err = -ENOMEM;
	}
	stacks_folded_fini(&f);
	return err;
}

static int output_close(void *writer)
{
	struct profile_out *o = writer;
	int err;

	if (!o)
		return 0;
	err = profile_out_end(o);
	err = err ? err : write_lines(o);
	profile_out_fini(o);
	free(o);
	return err;
}

const struct writer_ops folded_format_writer = {
	.name = "folded",
	.suffixes = suffixes,
	.sources = profile_out_sources,
	.open = output_open,
	.record = profile_out_record,
	.left_out = profile_out_left_out,
	.left_out_kind = profile_out_left_out_kind,
	.source = profile_out_source_name,
	.close = output_close,
};
