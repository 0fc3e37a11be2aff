// SPDX-License-Identifier: GPL-2.0
/* A conversion of JSON in memory; see chrome_pipe.h. */
#include "chrome_pipe.h"

#include <stdlib.h>
#include <string.h>

#include "fxt/fxt.h"

struct bytes {
	const char *data;
	size_t len, chunk;
};

static long read_bytes(void *ctx, void *buf, size_t len)
{
	struct bytes *b = ctx;
	size_t n = b->len < len ? b->len : len;

	n = n < b->chunk ? n : b->chunk;
	memcpy(buf, b->data, n);
	b->data += n;
	b->len -= n;
	return (long)n;
}

static int read_all(struct chrome_pipe *p, struct builder *b, struct bytes *bytes)
{
	struct chrome_reader *r;
	int more = chrome_reader_open(&r, read_bytes, bytes, b);

	if (more)
		return more;
	while ((more = chrome_reader_read(r)) > 0)
		;
	chrome_reader_counts(r, &p->counts);
	/* Before the builder ends: it must not use the reader's memory any more. */
	chrome_reader_close(r);
	return more;
}

static uint64_t sum(const uint64_t *counts, size_t cnt)
{
	uint64_t total = 0;

	while (cnt--)
		total += counts[cnt];
	return total;
}

static void must(struct chrome_pipe *p, bool holds, const char *what)
{
	if (!holds && !p->broken)
		p->broken = what;
}

static void check(struct chrome_pipe *p)
{
	const struct chrome_counts *c = &p->counts;

	must(p, !p->out.err, "it ends without an error");
	must(p, sum(c->fates, CHROME_FATES) == c->scan.events, "every event is in one count");
	must(p, sum(c->by_phase, 128) == c->scan.events, "every event has a phase, or none");
	must(p, sum(c->not_converted, 128) == c->fates[CHROME_NOT_CONVERTED], "what is not converted is counted by phase");
	must(p, c->handed_on == p->out.built.records, "what is handed on is what is built");
	must(p, convert_pipe_accounted(&p->out) == p->out.built.records, "what is built is accounted for");
	must(p, !p->out.problems, p->out.first_problem);
}

static bool is_same(const struct convert_pipe *a, const struct convert_pipe *b)
{
	return a->fxt_len == b->fxt_len && !memcmp(a->fxt, b->fxt, a->fxt_len);
}

void chrome_pipe_run(struct chrome_pipe *p, const char *data, size_t len, size_t chunk,
		     const struct chrome_pipe *before)
{
	const struct builder_cfg cfg = { .source = "trace-event" };
	struct bytes bytes = { data, len, chunk };
	struct convert_pipe *out = &p->out;
	struct fxt_writer *w = NULL;
	struct builder *b = NULL;

	*p = (struct chrome_pipe){ 0 };
	out->err = fxt_writer_open(&w, convert_pipe_write, out);
	out->err = out->err ? out->err : builder_open(&b, w, &cfg);
	out->err = out->err ? out->err : read_all(p, b, &bytes);
	out->err = out->err ? out->err : builder_end(b);
	out->err = out->err ? out->err : fxt_writer_flush(w);
	if (!out->err) {
		builder_stats(b, &out->built);
		p->is_same = before && is_same(out, &before->out);
		if (p->is_same)
			out->problems = before->out.problems;
		else
			convert_pipe_verify(out);
	}
	builder_close(b);
	fxt_writer_close(w);
	check(p);
}

void chrome_pipe_free(struct chrome_pipe *p)
{
	free(p->out.fxt);
}
