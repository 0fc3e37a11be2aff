/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A record as a line, and as the list of named values which both printers take,
 * so that text and JSON say the same.
 */
#ifndef REPORT_DUMP_H
#define REPORT_DUMP_H

#include "fxt/fxt.h"

struct profile_sample;

#define DUMP_FIELDS_MAX	12
#define DUMP_SAMPLE	"sample"	/* the kind of what is no record but in one */

/*
 * The fixed fields of @rec as arguments. Returns how many. Frames of a
 * backtrace and rec->args are not among them.
 */
unsigned int dump_fields(const struct fxt_record *rec, struct fxt_arg fields[DUMP_FIELDS_MAX]);

/* Print one record as a line. @ts_ns counts if @has_ts. */
void dump_print_text(const struct fxt_record *rec, bool has_ts, uint64_t ts_ns);
void dump_print_json(const struct fxt_record *rec, bool has_ts, uint64_t ts_ns);
/* A stack sample of the BLOB record at @offset. */
void dump_print_sample_text(const struct profile_sample *s, uint64_t offset);
void dump_print_sample_json(const struct profile_sample *s, uint64_t offset);

#endif
