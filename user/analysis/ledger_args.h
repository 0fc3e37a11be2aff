/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The counts of an event "ledger", by their names: "write_failed_switches", "switches",
 * "prog_skipped". Traces recorded before schema 2 have other words for some of them; both are read.
 */
#ifndef ANALYSIS_LEDGER_ARGS_H
#define ANALYSIS_LEDGER_ARGS_H

#include <stdint.h>

struct fxt_arg;
struct fxt_record;

/* The argument "WHAT_KIND", where either may be ""; NULL: @rec has none. Belongs to @rec. */
const struct fxt_arg *ledger_arg(const struct fxt_record *rec, const char *what, const char *kind);
/* Its value; 0 if there is none or it is not an unsigned integer. */
uint64_t ledger_number(const struct fxt_record *rec, const char *what, const char *kind);

#endif
