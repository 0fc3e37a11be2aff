/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The line parser: ftrace text in, struct ftrace_event out. Knows every form of
 * line that the kernel, trace-cmd report and perf script print, and keeps going
 * whatever is in between.
 */
#ifndef FORMAT_FTRACE_PARSE_H
#define FORMAT_FTRACE_PARSE_H

#include "event.h"

struct ftrace_parser;

/* Takes one event; an error other than 0 ends the parsing and is handed on. */
typedef int (*ftrace_emit_fn)(void *ctx, const struct ftrace_event *event);

#define FTRACE_UNPARSED_KEPT	10

/* What was in the text. lines = records' lines + the rest. */
struct ftrace_stats {
	uint64_t bytes, lines;
	uint64_t records;		/* of the ring buffer: a graph leaf counts as two */
	uint64_t comments, blanks;
	uint64_t continuation_lines;	/* of records of several lines, stack frames included */
	uint64_t lost_notices, lost_events;
	uint64_t unparsed;
	struct {
		uint64_t line;
		const char *reason;	/* static text */
	} first_unparsed[FTRACE_UNPARSED_KEPT];
};

/* @emit is called for each event, in order. 0 or -ENOMEM. */
int ftrace_parser_open(struct ftrace_parser **out, ftrace_emit_fn emit, void *ctx);
/*
 * Parses some more text, cut anywhere. Memory is bounded: a record (with its
 * continuation lines) of more than 1 MiB is cut there and counted as unparsed.
 */
int ftrace_parser_feed(struct ftrace_parser *p, const char *data, size_t len);
/* The text has ended: what was held back, waiting for continuation lines, is emitted. */
int ftrace_parser_end(struct ftrace_parser *p);
void ftrace_parser_stats(const struct ftrace_parser *p, struct ftrace_stats *stats);
/* NULL is fine. */
void ftrace_parser_close(struct ftrace_parser *p);
/* Whether the text @data, the beginning of an input, looks like anything the parser knows. */
bool ftrace_parser_knows(const char *data, size_t len);

#endif
