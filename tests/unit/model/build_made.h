/* SPDX-License-Identifier: GPL-2.0 */
/*
 * For the tests of the trace builder: traces built of events made by hand.
 * Failures end the test.
 */
#ifndef BUILD_MADE_H
#define BUILD_MADE_H

#include "format/ftrace/import.h"
#include "model/builder.h"
#include "cli/cli_made.h"

/* A trace being built; @ev is what the next event looks like but for its own fields. */
struct build {
	struct made m;
	struct builder *b;
	struct ftrace_import *im;
	struct builder_stats stats;
	struct ftrace_event ev;
	char *text;			/* what came out, a line a record */
	size_t len, cap;
};

struct model_text trace_text(const char *s);

void trace_begin(struct build *t);
void trace_begin_rate(struct build *t, uint64_t ticks_per_second);
/* An event of t->ev with these fields. */
void feed_event(struct build *t, uint64_t ts, int cpu, int tid, const char *name, const char *args);
/* The same of another kind. */
void feed_kind(struct build *t, enum ftrace_kind k, uint64_t ts, int cpu, int tid, const char *name,
	  const char *args);
void feed_marker(struct build *t, uint64_t ts, int cpu, int tid, const char *text);
/* Names are "t1", "t2", ...; priorities 120, of the incoming task 110. */
void feed_sched(struct build *t, uint64_t ts, int cpu, int out, const char *state, int in);
/* @name is one of the wakeup events; its CPU is 1, its priority 120. */
void feed_wake(struct build *t, uint64_t ts, int cpu, int tid, const char *name, int woken);
/* Ends the trace, which must be clean and account for each record, and reads it. */
void trace_end(struct build *t);
void trace_done(struct build *t);

/* A whole line is in the output, or the beginning of one if it ends in "...". */
void trace_has(const struct build *t, const char *line);
void trace_has_no(const struct build *t, const char *part);

/* Weights as they are printed. */
#define W(out, in)	" outgoing_weight=" out " incoming_weight=" in
#define NONE		"-2147483648"

#endif
