/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Strings that repeat, as numbers, and arguments of events.
 */
#ifndef FORMAT_PERFETTO_OUT_ARGS_H
#define FORMAT_PERFETTO_OUT_ARGS_H

#include "format/perfetto/encode.h"
#include "fxt/fxt.h"
#include "format/perfetto/pool.h"
#include "more.h"

enum out_table {
	OUT_CATEGORIES, OUT_NAMES, OUT_ARG_NAMES, OUT_STRINGS,
	OUT_TABLE_CNT
};

/* All zero is an empty one. */
struct out_strings {
	struct pf_pool pools[OUT_TABLE_CNT];
	struct pb_buf news;	/* fields of InternedData that no packet has yet */
	struct out_more more;
};

void out_strings_fini(struct out_strings *s);
/* A string as field @number_field, its number in the table, or as @text_field where the table is full. */
void out_strings_put(struct out_strings *s, struct pb_buf *b, enum out_table table, struct fxt_str str,
		     unsigned int number_field, unsigned int text_field);
/* Appends the value of an annotation; nothing for null. */
void out_args_put_value(struct out_strings *s, struct pb_buf *b, const struct fxt_arg *arg);

#endif
