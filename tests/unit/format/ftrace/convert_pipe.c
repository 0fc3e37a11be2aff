// SPDX-License-Identifier: GPL-2.0
/* A conversion in memory; see convert_pipe.h. */
#include "convert_pipe.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/findings.h"
#include "fxt/fxt.h"

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

int convert_pipe_write(void *ctx, const void *data, size_t len)
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

void convert_pipe_verify(struct convert_pipe *p)
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

/* All of the input. 0 or -errno */
static int read_all(struct convert_pipe *p, const struct reader_cfg *cfg)
{
	int more = p->ops->open(&p->reader, cfg);

	if (more)
		return more;
	while ((more = p->ops->read(p->reader)) > 0)
		;
	p->ops->counts(p->reader, &p->input);
	return more;
}

void convert_pipe_run(struct convert_pipe *p, const void *data, size_t len, size_t chunk)
{
	convert_pipe_run_as(p, formats_recognize(NULL, data, len), data, len, chunk);
}

void convert_pipe_run_as(struct convert_pipe *p, const struct reader_ops *ops, const void *data, size_t len, size_t chunk)
{
	const struct builder_cfg cfg = { .source = "ftrace" };
	struct bytes b = { .data = data, .len = len, .chunk = chunk };
	struct reader_cfg reader_cfg = { .read = read_bytes, .read_ctx = &b, .statistics = true };
	struct fxt_writer *w = NULL;

	*p = (struct convert_pipe){ .ops = ops };
	p->err = fxt_writer_open(&w, convert_pipe_write, p);
	p->err = p->err ? p->err : builder_open(&reader_cfg.builder, w, &cfg);
	p->err = p->err ? p->err : read_all(p, &reader_cfg);
	p->err = p->err ? p->err : builder_end(reader_cfg.builder);
	p->err = p->err ? p->err : fxt_writer_flush(w);
	if (!p->err) {
		builder_stats(reader_cfg.builder, &p->built);
		convert_pipe_verify(p);
	}
	builder_close(reader_cfg.builder);
	fxt_writer_close(w);
}

uint64_t convert_pipe_accounted(const struct convert_pipe *p)
{
	const struct builder_stats *b = &p->built;

	return b->switches + b->wakeups + b->names + b->slices + b->counters + b->instants +
	       b->logs + b->stacks + b->no_op_wakes + b->duplicate_wakes + b->incomplete +
	       b->flows + b->states + b->samples;
}

void convert_pipe_free(struct convert_pipe *p)
{
	p->ops->close(p->reader);
	free(p->fxt);
}
