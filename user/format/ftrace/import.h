/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Gives records of ftrace text their meaning and writes them with the trace builder: which thread
 * is on each CPU, what a record begins or ends, wakes or names.
 */
#ifndef FORMAT_FTRACE_IMPORT_H
#define FORMAT_FTRACE_IMPORT_H

#include "event.h"

struct builder;
struct ftrace_import;

/* Borrows @b. 0 or -ENOMEM. */
int ftrace_import_open(struct ftrace_import **out, struct builder *b);
/* Takes one event, whose texts are borrowed for the call; an ftrace_emit_fn, @ctx is the import. 0 or -errno. */
int ftrace_import_add(void *ctx, const struct ftrace_event *event);
/* Writes what is held back; before builder_end(). 0 or -errno. */
int ftrace_import_end(struct ftrace_import *im);
/* NULL is fine. */
void ftrace_import_close(struct ftrace_import *im);

#endif
