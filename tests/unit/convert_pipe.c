// SPDX-License-Identifier: GPL-2.0
/* A conversion in memory; see convert_pipe.h. */
#include "convert_pipe.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../user/cli/verify.h"
#include "../../user/fxt/fxt.h"

struct bytes {
	const char *data;
	size_t len, at, chunk;
};

static long read_bytes(void *ctx, void *buf, size_t len)
{
	struct bytes *b = ctx;
	size_t n = b->len - b->at;

	n = n < len ? n : len;
	n = n < b->chunk ? n : b->chunk;
	memcpy(buf, b->data + b->at, n);
	b->at += n;
	return n;
}

static int write_bytes(void *ctx, const void *data, size_t len)
{
	struct convert_pipe *p = ctx;
	char *bigger = realloc(p->fxt, p->fxt_len + len);

	if (!bigger)
		return -ENOMEM;
	p->fxt = bigger;
	memcpy(p->fxt + p->fxt_len, data, len);
	p->fxt_len += len;
	return 0;
}

struct stages {
	struct convert_pipe *pipe;
	struct builder *builder;
};

static int take(void *ctx, const struct ftrace_event *event)
{
	struct stages *s = ctx;
	int err = census_add(s->pipe->census, event);

	return err ? err : builder_add(s->builder, event);
}

static int feed(struct peel *peel, struct ftrace_parser *parser)
{
	char buf[4096];
	bool begins, first = true;
	long got;
	int err = 0;

	while (!err && (got = peel_read(peel, buf, sizeof(buf), &begins)) > 0) {
		if (begins && !first)
			err = ftrace_parser_end(parser);
		first = false;
		err = err ? err : ftrace_parser_feed(parser, buf, got);
	}
	return err ? err : ftrace_parser_end(parser);
}

static void verify_fxt(struct convert_pipe *p)
{
	struct bytes b = { .data = p->fxt, .len = p->fxt_len, .chunk = SIZE_MAX };
	struct fxt_reader *reader = NULL;
	struct fxt_record rec;
	struct verify v;
	int err = verify_init(&v), i;

	err = err ? err : fxt_reader_open(&reader, read_bytes, &b);
	while (!err && fxt_reader_next(reader, &rec) > 0)
		err = verify_format_record(&v, &rec, fxt_reader_ticks_per_second(reader));
	err = err ? err : verify_finish(&v, reader);
	p->err = err;
	p->problems = verify_count(&v);
	for (i = 0; i < VERIFY_PROBLEM_CNT && !p->first_problem[0]; i++)
		if (v.findings[i].count)
			snprintf(p->first_problem, sizeof(p->first_problem), "%s: %s",
				 verify_problem_name(i), v.findings[i].first);
	fxt_reader_close(reader);
	verify_fini(&v);
}

void convert_pipe_run(struct convert_pipe *p, const void *data, size_t len, size_t chunk)
{
	const struct builder_cfg cfg = { .source = "ftrace" };
	struct bytes b = { .data = data, .len = len, .chunk = chunk };
	struct stages s = { .pipe = p };
	struct ftrace_parser *parser = NULL;
	struct fxt_writer *w = NULL;
	struct peel *peel = NULL;

	*p = (struct convert_pipe){ 0 };
	p->err = census_open(&p->census);
	p->err = p->err ? p->err : fxt_writer_open(&w, write_bytes, p);
	p->err = p->err ? p->err : builder_open(&s.builder, w, &cfg);
	p->err = p->err ? p->err : peel_open(&peel, PEEL_AUTO, read_bytes, &b);
	p->err = p->err ? p->err : ftrace_parser_open(&parser, take, &s);
	p->err = p->err ? p->err : feed(peel, parser);
	p->err = p->err ? p->err : builder_end(s.builder);
	p->err = p->err ? p->err : fxt_writer_flush(w);
	if (!p->err) {
		peel_info(peel, &p->peel);
		ftrace_parser_stats(parser, &p->input);
		builder_stats(s.builder, &p->built);
		verify_fxt(p);
	}
	ftrace_parser_close(parser);
	peel_close(peel);
	builder_close(s.builder);
	fxt_writer_close(w);
}

uint64_t convert_pipe_accounted(const struct convert_pipe *p)
{
	const struct builder_stats *b = &p->built;

	return b->switches + b->wakeups + b->names + b->slices + b->counters + b->instants +
	       b->logs + b->stacks + b->no_op_wakes + b->duplicate_wakes + b->incomplete;
}

void convert_pipe_free(struct convert_pipe *p)
{
	census_close(p->census);
	free(p->fxt);
}
