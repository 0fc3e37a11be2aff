/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A trace file opened for reading by a command: input and libfxt's reader
 * together, with the messages that go with them.
 */
#ifndef CLI_TRACE_H
#define CLI_TRACE_H

#include <stdbool.h>
#include <stdint.h>

#include "../fxt/fxt.h"
#include "input.h"

struct trace {
	const char *command;		/* for messages */
	struct input *in;
	struct fxt_reader *reader;
	bool begun, has_ahead;
	struct fxt_record ahead;	/* read already, if @has_ahead */
};

/* Opens @path for @command; the message is printed. Returns 0 or -errno. */
int trace_open(struct trace *t, const char *command, const char *path);
/* The enum exit_code for what trace_open() returned: to read a terminal is wrong usage. */
int trace_exit_code(int err);
/*
 * The next record: 1, 0 at the end, or -errno with the message printed:
 *   -EPROTO	the input does not begin like a Fuchsia trace, or is empty
 */
int trace_next(struct trace *t, struct fxt_record *rec);
void trace_close(struct trace *t);

#endif
