// SPDX-License-Identifier: GPL-2.0
/*
 * The way of kfxt convert, pulled from its end: when all that was made is read, the reader takes another
 * piece of the input.
 */
#include "converted.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/log.h"
#include "fxt/fxt.h"

struct converted {
	const struct reader_ops *ops;
	void *reading;
	struct builder *builder;
	struct fxt_writer *w;
	char *made;		/* FXT, not read yet from @at on */
	size_t at, len, cap;
	bool ended;
	int err;		/* for good */
};

static bool is_text(const unsigned char *head, size_t len)
{
	size_t i;

	for (i = 0; i < len && ((head[i] >= ' ' && head[i] != 0x7f) || (head[i] >= '\b' && head[i] <= '\r') || head[i] == '\033'); i++)
		;
	return len && i == len;
}

/* The reader of text takes anything; FXT without its beginning is none. */
const struct reader_ops *converted_reader(const char *path, const void *head, size_t len)
{
	const struct reader_ops *ops = formats_recognize(path, head, len);

	if (!ops || ops->makes_records)
		return NULL;
	return ops->sniff(head, len) == FORMAT_YES || is_text(head, len) ? ops : NULL;
}

/* What the builder makes; an fxt_write_fn. */
static int keep(void *ctx, const void *data, size_t len)
{
	struct converted *c = ctx;

	if (array_reserve(c->made, c->len, c->cap, len))
		return -ENOMEM;
	memcpy(c->made + c->len, data, len);
	c->len += len;
	return 0;
}

/* Another piece, or the end. 0 or -errno. */
static int advance(struct converted *c)
{
	int more = c->ops->read(c->reading);

	if (more > 0)
		return 0;
	c->ended = true;
	if (!more)
		more = builder_end(c->builder);
	return more ? more : fxt_writer_flush(c->w);
}

static bool has_records(const struct converted *c)
{
	struct builder_stats built;

	builder_stats(c->builder, &built);
	return built.records;
}

int converted_open(struct converted **out, const struct reader_ops *reader, format_read_fn read, void *ctx,
		   bool *is_empty)
{
	const struct builder_cfg builder_cfg = { .source = reader->name };
	struct reader_cfg cfg = { .read = read, .read_ctx = ctx };
	struct converted *c = calloc(1, sizeof(*c));
	int err;

	if (!c)
		return -ENOMEM;
	c->ops = reader;
	err = fxt_writer_open(&c->w, keep, c);
	err = err ? err : builder_open(&c->builder, c->w, &builder_cfg);
	cfg.builder = c->builder;
	err = err ? err : reader->open(&c->reading, &cfg);
	while (!err && !c->ended && !has_records(c))
		err = advance(c);
	if (err) {
		converted_close(c);
		return err;
	}
	*is_empty = !has_records(c);
	*out = c;
	return 0;
}

long converted_read(void *converted, void *buf, size_t len)
{
	struct converted *c = converted;

	if (c->at == c->len)
		c->at = c->len = 0;
	while (!c->err && !c->ended && !c->len)
		c->err = advance(c);
	if (!c->len)
		return c->err;
	len = len < c->len - c->at ? len : c->len - c->at;
	memcpy(buf, c->made + c->at, len);
	c->at += len;
	return (long)len;
}

void converted_counts(const struct converted *c, struct reader_counts *input, struct builder_stats *built)
{
	c->ops->counts(c->reading, input);
	builder_stats(c->builder, built);
}

void converted_warn_missing(const char *where, const struct reader_counts *input)
{
	if (input->lost_notices)
		log_warn("%s: events are missing (its recorder reports %" PRIu64 " loss%s)", where, input->lost_notices,
			 input->lost_notices == 1 ? "" : "es");
	if (input->left_out[0])
		log_warn("%s: %s not converted", where, input->left_out);
}

void converted_close(struct converted *c)
{
	if (!c)
		return;
	if (c->reading)
		c->ops->close(c->reading);
	builder_close(c->builder);
	fxt_writer_close(c->w);
	free(c->made);
	free(c);
}
