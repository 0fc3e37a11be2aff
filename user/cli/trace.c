// SPDX-License-Identifier: GPL-2.0
/*
 * Reading a trace for a command. Distinguishes a damaged trace, which is worth
 * reading, from a file that is none at all.
 */
#include "trace.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "converted.h"
#include "exit.h"
#include "base/log.h"

/* What was looked at first; a format_read_fn and an fxt_read_fn. */
static long read_input(void *ctx, void *buf, size_t len)
{
	struct trace *t = ctx;
	size_t left = t->head_len - t->head_at;

	if (!left)
		return input_read(t->in, buf, len);
	len = len < left ? len : left;
	memcpy(buf, t->head + t->head_at, len);
	t->head_at += len;
	return (long)len;
}

/* As much as shows which format it is; an error comes again with the next call. */
static void read_head(struct trace *t)
{
	long got = 1;

	while (got > 0 && !formats_is_enough(t->head, t->head_len)) {
		got = input_read(t->in, t->head + t->head_len, sizeof(t->head) - t->head_len);
		t->head_len += got > 0 ? (size_t)got : 0;
	}
}

static int open_converted(struct trace *t, const struct reader_ops *ops)
{
	bool is_empty = false;
	int err = converted_open(&t->converted, ops, read_input, t, &is_empty);

	if (err || !is_empty)
		return err;
	log_error("%s: %s: not a Fuchsia trace, and there is no event of %s in it", t->command, input_name(t->in), ops->about);
	return -EPROTO;
}

static int open_reader(struct trace *t, const char *path)
{
	const struct reader_ops *ops;
	int err = 0;

	read_head(t);
	ops = converted_reader(path, t->head, t->head_len);
	if (ops)
		err = open_converted(t, ops);
	if (err)
		return err;
	return fxt_reader_open(&t->reader, ops ? converted_read : read_input, ops ? (void *)t->converted : t);
}

int trace_open(struct trace *t, const char *command, const char *path)
{
	int err;

	*t = (struct trace){ .command = command };
	err = input_open(&t->in, path);
	if (err) {
		log_error("%s: %s: %s", command, path, input_error(err));
		return err;
	}
	err = open_reader(t, path);
	if (err && err != -EPROTO)
		log_error("%s: %s: %s", command, path, input_error(err));
	if (err)
		trace_close(t);
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

bool trace_is_damaged(const struct trace *t)
{
	struct reader_counts input;
	struct builder_stats built;
	char where[PATH_MAX + 16];
	uint64_t damaged;

	if (!t->converted)
		return false;
	converted_counts(t->converted, &input, &built);
	damaged = input.unparsed + input.damaged;
	if (input.problem)
		log_warn("%s: %s: %s at byte %" PRIu64, t->command, input_name(t->in), input.problem, input.problem_offset);
	snprintf(where, sizeof(where), "%s: %s", t->command, input_name(t->in));
	converted_warn_missing(where, &input);
	if (damaged)
		log_warn("%s: %s: %" PRIu64 " damaged or unusable (kfxt convert --stats=json prints more)", t->command,
			 input_name(t->in), damaged);
	return damaged || input.problem || built.out_of_order;
}

void trace_close(struct trace *t)
{
	fxt_reader_close(t->reader);
	converted_close(t->converted);
	input_close(t->in);
}
