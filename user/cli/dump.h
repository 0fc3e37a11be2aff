/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Inside `kfxt dump`: a record as a list of named values, which both printers
 * take, so that text and JSON say the same.
 */
#ifndef CLI_DUMP_H
#define CLI_DUMP_H

#include "../fxt/fxt.h"

#define DUMP_FIELDS_MAX	12

/*
 * The fixed fields of @rec as arguments. Returns how many. Frames of a
 * backtrace and rec->args are not among them.
 */
unsigned int dump_fields(const struct fxt_record *rec, struct fxt_arg fields[DUMP_FIELDS_MAX]);

/* Print one record as a line. @ts_ns counts if @has_ts. */
void dump_print_text(const struct fxt_record *rec, bool has_ts, uint64_t ts_ns);
void dump_print_json(const struct fxt_record *rec, bool has_ts, uint64_t ts_ns);

#endif
