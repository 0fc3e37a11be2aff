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

#define FTRACE_SYNCS_MAX	64U

/* A line that ties the clock of the text to another one. */
struct ftrace_sync {
	uint64_t ns;		/* in the trace */
	bool has_parent;
	uint64_t parent_ns;	/* on the clock of who wrote the line; 0: it is the same clock */
	char id[40];		/* else: what the other trace calls this moment */
	uint8_t id_len;
};

/* Borrows @b. 0 or -ENOMEM. */
int ftrace_import_open(struct ftrace_import **out, struct builder *b);
/* Takes one event, whose texts are borrowed for the call; an ftrace_emit_fn, @ctx is the import. 0 or -errno. */
int ftrace_import_add(void *ctx, const struct ftrace_event *event);
/* Writes what is held back; before builder_end(). 0 or -errno. */
int ftrace_import_end(struct ftrace_import *im);
/* Those there were so far, the first FTRACE_SYNCS_MAX of them. */
const struct ftrace_sync *ftrace_import_syncs(const struct ftrace_import *im, unsigned int *cnt);
/* NULL is fine. */
void ftrace_import_close(struct ftrace_import *im);

#endif
