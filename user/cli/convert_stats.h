/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a conversion read and wrote, and how it is reported.
 */
#ifndef CLI_CONVERT_STATS_H
#define CLI_CONVERT_STATS_H

#include "model/builder.h"
#include "format/format.h"
#include "fxt/fxt.h"

#define CONVERT_LEFT_OUT_KINDS	16

/* Records of one kind that the output has no place for. */
struct convert_left_out {
	const char *one, *many;		/* "module", "modules" */
	uint64_t cnt;
};

struct convert_totals {
	const char *path, *output;
	struct reader_counts input;
	struct builder_stats built;
	struct fxt_writer_stats written;
	const char *format;		/* of the output: "json" */
	uint64_t left_out;		/* records that it has no place for */
	struct convert_left_out left_out_by_kind[CONVERT_LEFT_OUT_KINDS];	/* of these; .one is NULL after the last */
};

/* One JSON object on stdout; with what @reader alone has to say. */
void convert_print_json(const struct convert_totals *t, const struct reader_ops *ops, const void *reader);
/* The totals, briefly, on stderr. */
/* What is damaged in the input, and where. */
void convert_print_problems(const struct convert_totals *t);
void convert_print_summary(const struct convert_totals *t);
/* The same where the input was FXT. */
void convert_print_passed(const struct convert_totals *t);

#endif
