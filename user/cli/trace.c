// SPDX-License-Identifier: GPL-2.0
/*
 * Reading a trace for a command. Tells a damaged trace, which is worth
 * reading, from a file that is none at all.
 */
#include "trace.h"

#include <errno.h>

#include "exit.h"
#include "log.h"

int trace_open(struct trace *t, const char *command, const char *path)
{
	int err;

	*t = (struct trace){ .command = command };
	err = input_open(&t->in, path);
	if (err) {
		log_error("%s: %s: %s", command, path, input_error(err));
		return err;
	}
	err = fxt_reader_open(&t->reader, input_read, t->in);
	if (err) {
		log_error("%s: %s: %s", command, path, input_error(err));
		input_close(t->in);
	}
	return err;
}

int trace_exit_code(int err)
{
	return err == -ENOTTY ? EXIT_USAGE : EXIT_FAILED;
}

static int read_record(struct trace *t, struct fxt_record *rec)
{
	int got = fxt_reader_next(t->reader, rec);

	if (got < 0)
		log_error("%s: %s: %s", t->command, input_name(t->in), input_error(got));
	return got;
}

static int refuse(const struct trace *t, const char *reason)
{
	log_error("%s: %s: not a Fuchsia trace: %s", t->command, input_name(t->in), reason);
	return -EPROTO;
}

/* Text, JSON and the like have neither the magic number nor a record to begin with. */
static int begin(struct trace *t, struct fxt_record *rec)
{
	int got = read_record(t, rec);

	if (!got)
		return refuse(t, "it is empty");
	if (got < 0 || rec->kind != FXT_KIND_DAMAGED)
		return got;
	if (rec->len)
		return refuse(t, rec->damage.reason);
	/* Only the magic number is missing: what follows decides. */
	got = read_record(t, &t->ahead);
	if (got < 0)
		return got;
	if (!got)
		return refuse(t, "it is empty");
	if (t->ahead.kind == FXT_KIND_DAMAGED || t->ahead.kind == FXT_KIND_UNKNOWN)
		return refuse(t, rec->damage.reason);
	t->has_ahead = true;
	return 1;
}

int trace_next(struct trace *t, struct fxt_record *rec)
{
	if (!t->begun) {
		t->begun = true;
		return begin(t, rec);
	}
	if (t->has_ahead) {
		t->has_ahead = false;
		*rec = t->ahead;
		return 1;
	}
	return read_record(t, rec);
}

void trace_close(struct trace *t)
{
	fxt_reader_close(t->reader);
	input_close(t->in);
}
