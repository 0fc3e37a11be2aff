/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The whole way of a conversion in memory: read, count, build, and verify what came out.
 */
#ifndef CONVERT_PIPE_H
#define CONVERT_PIPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/builder.h"
#include "format/formats.h"
#include "format/stats.h"

struct convert_pipe {
	int err;			/* of the way, not of the input */
	const struct reader_ops *ops;
	void *reader;
	struct reader_counts input;
	struct builder_stats built;
	char *fxt;			/* what was written */
	size_t fxt_len;
	uint64_t problems;		/* that verify found in it */
	char first_problem[160];
};

/* Converts @data, given to the first stage in chunks of @chunk bytes. */
void convert_pipe_run(struct convert_pipe *p, const void *data, size_t len, size_t chunk);
/* Adds to what was written; an fxt_write_fn of the struct convert_pipe. */
int convert_pipe_write(void *ctx, const void *data, size_t len);
/* Sets err, problems and the first of them by what was written. */
void convert_pipe_verify(struct convert_pipe *p);
/* The same with that reader. */
void convert_pipe_run_as(struct convert_pipe *p, const struct reader_ops *ops, const void *data, size_t len,
			 size_t chunk);
/* Records that are accounted for as something. */
uint64_t convert_pipe_accounted(const struct convert_pipe *p);
void convert_pipe_free(struct convert_pipe *p);

#endif
