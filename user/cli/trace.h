/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A trace file opened for reading by a command: input and libfxt's reader
 * together, with the messages that go with them.
 */
#ifndef CLI_TRACE_H
#define CLI_TRACE_H

#include <stdbool.h>
#include <stdint.h>

#include "format/formats.h"
#include "fxt/fxt.h"
#include "io/input.h"

struct converted;

/* Stays where it is while it is open. */
struct trace {
	const char *command;		/* for messages */
	struct input *in;
	struct fxt_reader *reader;
	struct converted *converted;	/* of another format than FXT; else NULL */
	char head[FORMATS_HEAD_BYTES];	/* read before it was known what reads it */
	size_t head_len, head_at;
	bool begun, has_ahead;
	struct fxt_record ahead;	/* read already, if @has_ahead */
};

/*
 * Opens @path for @command; the message is printed. What is no FXT but a format that kfxt convert reads is
 * read as if it were converted. Returns 0 or -errno:
 *   -EPROTO	of such a format, without an event
 */
int trace_open(struct trace *t, const char *command, const char *path);
/* The enum exit_code for what trace_open() returned: to read a terminal is wrong usage. */
int trace_exit_code(int err);
/*
 * The next record: 1, 0 at the end, or -errno with the message printed:
 *   -EPROTO	the input does not begin like a Fuchsia trace, or is empty
 */
int trace_next(struct trace *t, struct fxt_record *rec);
/* Of what was converted: whether parts of the input were damaged; the message is printed. After the last record. */
bool trace_is_damaged(const struct trace *t);
void trace_close(struct trace *t);

#endif
