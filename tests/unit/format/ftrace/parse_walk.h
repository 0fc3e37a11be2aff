/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Parses a text from end to end, looks at every byte of every event and checks
 * what must hold for any input.
 */
#ifndef PARSE_WALK_H
#define PARSE_WALK_H

#include "format/ftrace/parse_p.h"

struct parse_walk {
	uint64_t digest;		/* of every event and of the counts */
	uint64_t record_lines;		/* events that are records of the ring buffer */
	uint64_t last_line;
	struct ftrace_stats stats;
	const char *broken;		/* the promise that was not kept, or NULL */
	ftrace_emit_fn each;
	void *ctx;
};

struct parse_walk_options {
	size_t chunk;			/* bytes at a time; 0: all at once */
	bool general;			/* without the fast path */
	ftrace_emit_fn each;		/* is given every event, too; may be NULL */
	void *ctx;
};

/*
 * Promises: numbers within their bounds, lines in order, every line counted once.
 * Each chunk is gone once it has been fed.
 */
struct parse_walk parse_walk(const char *data, size_t len, struct parse_walk_options how);

#endif
