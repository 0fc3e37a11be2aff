/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The whole way of a conversion in memory: peel, parse, count, build, and verify
 * what came out.
 */
#ifndef CONVERT_PIPE_H
#define CONVERT_PIPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../../user/build/builder.h"
#include "../../user/ftrace/census.h"
#include "../../user/ftrace/parse.h"
#include "../../user/ftrace/peel.h"

struct convert_pipe {
	int err;			/* of the way, not of the input */
	struct peel_info peel;
	struct ftrace_stats input;
	struct builder_stats built;
	struct census *census;
	char *fxt;			/* what was written */
	size_t fxt_len;
	uint64_t problems;		/* that verify found in it */
	char first_problem[160];
};

/* Converts @data, given to the first stage in chunks of @chunk bytes. */
void convert_pipe_run(struct convert_pipe *p, const void *data, size_t len, size_t chunk);
/* Records that are accounted for as something. */
uint64_t convert_pipe_accounted(const struct convert_pipe *p);
void convert_pipe_free(struct convert_pipe *p);

#endif
