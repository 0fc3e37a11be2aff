/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A trace of another format, read as FXT: converted piece by piece while it is read, without a file
 * between.
 */
#ifndef CLI_CONVERTED_H
#define CLI_CONVERTED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/formats.h"
#include "model/builder.h"

struct converted;

/*
 * What reads an input of that name, which may be NULL, that begins with @head; NULL if it is FXT, damaged
 * or not, or nothing that is known.
 */
const struct reader_ops *converted_reader(const char *path, const void *head, size_t len);
/*
 * Opens the input that @read gives; borrows @ctx. Reads up to the first event, so that an input without one
 * is known: *@is_empty. 0 or -errno of the reader.
 */
int converted_open(struct converted **out, const struct reader_ops *reader, format_read_fn read, void *ctx,
		   bool *is_empty);
/* Bytes of FXT, an fxt_read_fn: the number read, 0 at the end, or -errno. */
long converted_read(void *converted, void *buf, size_t len);
/* What was in the input so far. */
void converted_counts(const struct converted *c, struct reader_counts *input, struct builder_stats *built);
/* Warns of what of the input is not in the trace: what @where has lost, and what is not converted. */
void converted_warn_missing(const char *where, const struct reader_counts *input);
/* NULL is fine. */
void converted_close(struct converted *c);

#endif
