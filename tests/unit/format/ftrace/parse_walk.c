/* SPDX-License-Identifier: GPL-2.0 */
/* Parses a text and checks what must hold for any: see parse_walk.h. */
#include <stdlib.h>

#include "parse_walk.h"

static void mix(struct parse_walk *w, const void *data, size_t len)
{
	const unsigned char *p = data;
	uint64_t h = w->digest;

	while (len--)
		h = (h ^ *p++) * 0x100000001b3ULL;
	w->digest = h;
}

static void mix_number(struct parse_walk *w, uint64_t v)
{
	mix(w, &v, sizeof(v));
}

static void mix_text(struct parse_walk *w, struct model_text t)
{
	mix_number(w, t.len);
	mix(w, t.data, t.len);
}

static void mix_event(struct parse_walk *w, const struct ftrace_event *ev)
{
	mix_number(w, ev->kind << 16 | ev->clock << 8 | ev->dialect);
	mix_number(w, ev->line);
	mix_number(w, ev->ts);
	mix_number(w, (uint64_t)ev->cpu << 32 | (uint32_t)ev->tid);
	mix_number(w, (uint64_t)ev->tgid << 32 | ev->depth);
	mix_number(w, ev->in_irq | ev->complete << 1 | ev->has_duration << 2);
	mix_number(w, ev->count);
	mix_number(w, ev->duration_ns);
	mix_text(w, ev->comm);
	mix_text(w, ev->system);
	mix_text(w, ev->name);
	mix_text(w, ev->args);
}

static const char *check_event(const struct parse_walk *w, const struct ftrace_event *ev)
{
	if (ev->kind >= FTRACE_KIND_CNT || ev->clock > MODEL_CLOCK_TICKS ||
	    ev->dialect > FTRACE_FIELDS)
		return "an enum has a value of its own";
	if (ev->cpu < FTRACE_ID_UNKNOWN || ev->cpu > PARSE_CPU_MAX)
		return "CPU out of bounds";
	if (ev->tid < FTRACE_ID_UNKNOWN || ev->tgid < FTRACE_ID_UNKNOWN)
		return "thread id out of bounds";
	if (ev->ts > INT64_MAX || (ev->clock == MODEL_CLOCK_NONE && ev->ts))
		return "time out of bounds";
	if (ev->line <= w->last_line)
		return "lines out of order";
	return NULL;
}

static int on_event(void *ctx, const struct ftrace_event *ev)
{
	struct parse_walk *w = ctx;

	mix_event(w, ev);
	if (!w->broken)
		w->broken = check_event(w, ev);
	w->last_line = ev->line;
	w->record_lines += ev->kind < FTRACE_KIND_RECORDS;
	return w->each ? w->each(w->ctx, ev) : 0;
}

static void check_stats(struct parse_walk *w, const char *data, size_t len)
{
	const struct ftrace_stats *st = &w->stats;
	uint64_t lines = 0;
	size_t i;

	for (i = 0; i < len; i++)
		lines += data[i] == '\n';
	lines += len && data[len - 1] != '\n';
	if (w->broken)
		return;
	if (st->bytes != len || st->lines != lines)
		w->broken = "bytes or lines miscounted";
	else if (st->records < w->record_lines || st->records > 2 * w->record_lines)
		w->broken = "records miscounted";
	else if (len < PARSE_RECORD_MAX && lines != w->record_lines + st->comments + st->blanks +
							    st->continuation_lines +
							    st->lost_notices + st->unparsed)
		w->broken = "a line was not counted once";
	else if (w->last_line > lines)
		w->broken = "an event after the last line";
}

static void mix_stats(struct parse_walk *w)
{
	const struct ftrace_stats *st = &w->stats;
	size_t i;

	mix_number(w, st->records);
	mix_number(w, st->comments);
	mix_number(w, st->blanks);
	mix_number(w, st->continuation_lines);
	mix_number(w, st->lost_notices);
	mix_number(w, st->lost_events);
	mix_number(w, st->unparsed);
	for (i = 0; i < st->unparsed && i < FTRACE_UNPARSED_KEPT; i++) {
		mix_number(w, st->first_unparsed[i].line);
		mix(w, st->first_unparsed[i].reason, strlen(st->first_unparsed[i].reason));
	}
}

/* From a copy that is gone afterwards. */
static int feed_copy(struct ftrace_parser *p, const char *data, size_t len)
{
	char *copy = malloc(len);
	int err;

	if (!copy)
		abort();
	memcpy(copy, data, len);
	err = ftrace_parser_feed(p, copy, len);
	memset(copy, 0x55, len);
	free(copy);
	return err;
}

struct parse_walk parse_walk(const char *data, size_t len, struct parse_walk_options how)
{
	struct parse_walk w = { .digest = 0xcbf29ce484222325ULL, .each = how.each, .ctx = how.ctx };
	size_t step = how.chunk ? how.chunk : len, pos;
	struct ftrace_parser *p;
	int err = 0;

	if (ftrace_parser_open(&p, on_event, &w))
		abort();
	ftrace_parser_set_fast(p, !how.general);
	for (pos = 0; pos < len && !err; pos += step)
		err = feed_copy(p, data + pos, len - pos < step ? len - pos : step);
	if (!err)
		err = ftrace_parser_end(p);
	ftrace_parser_stats(p, &w.stats);
	ftrace_parser_close(p);
	if (err)
		w.broken = "an error nobody made";
	check_stats(&w, data, len);
	mix_stats(&w);
	return w;
}
