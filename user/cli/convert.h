/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a conversion read and wrote, and how it is told.
 */
#ifndef CLI_CONVERT_H
#define CLI_CONVERT_H

#include "../build/builder.h"
#include "../ftrace/census.h"
#include "../ftrace/parse.h"
#include "../ftrace/peel.h"
#include "../fxt/fxt.h"

struct convert_totals {
	const char *path, *output;
	struct peel_info peel;
	struct ftrace_stats input;
	struct builder_stats built;
	struct fxt_writer_stats written;
	const struct census *census;	/* NULL without --stats=json */
};

/* One JSON object on stdout. */
void convert_print_json(const struct convert_totals *t);
/* The totals, briefly, on stderr. */
void convert_print_summary(const struct convert_totals *t);

#endif
