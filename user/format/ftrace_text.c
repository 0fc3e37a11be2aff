// SPDX-License-Identifier: GPL-2.0
/*
 * ftrace text as an input: what it is wrapped in (unwrap/) around its lines (ftrace/),
 * neither of which knows the other. Trace Event JSON in a page is left to the reader of that, and its events
 * wait for the text, which may say what their clock is.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "format/ftrace/import.h"
#include "format/ftrace/parse.h"
#include "format/unwrap/unwrap.h"
#include "formats_p.h"
#include "stats.h"

#define READ_BYTES	(1 << 20)
#define JSON_MAX	4U	/* pieces of JSON that wait for the text */

_Static_assert(READER_UNPARSED_KEPT == FTRACE_UNPARSED_KEPT, "one is copied to the other");

struct text {
	struct unwrap *unwrap;
	struct ftrace_parser *parser;
	struct ftrace_import *import;
	struct event_stats *event_stats;	/* NULL: not asked for */
	bool begun;
	struct reader_cfg cfg;	/* of readers of JSON */
	void *json[JSON_MAX];	/* of pieces whose events wait; the last may be at hand */
	unsigned int json_cnt, json_at;	/* those before json_at have been played */
	void *played;		/* the last that was; NULL: none was */
	bool in_json, reads_json;	/* the piece at hand is not read to its end; nor is what is of it in the input */
	bool ended;		/* the input; json is left */
	struct reader_counts counted;	/* of those that were played before the last */
	char *buf;		/* READ_BYTES */
	size_t held, held_at;	/* bytes of @buf that are read, and belong to a piece not begun */
};

/* As enum unwrap_format, from the second on. */
static const char *const forms[] = { "text", "html", "json", NULL };

static const char *const suffixes[] = { ".txt", ".html", NULL };

/* Any bytes: what is no text is named by unwrap/, what is no line is counted. */
static enum format_sniff text_sniff(const void *head, size_t len)
{
	(void)head;
	(void)len;
	return FORMAT_MAYBE;
}

static enum unwrap_format format_of(const char *form)
{
	enum unwrap_format format = UNWRAP_AUTO;

	while (form && format < UNWRAP_FORMAT_CNT && strcmp(form, unwrap_format_name(format)) != 0)
		format++;
	return format;
}

static void text_close(void *reader)
{
	struct text *t = reader;

	if (!t)
		return;
	ftrace_parser_close(t->parser);
	ftrace_import_close(t->import);
	for (; t->json_at < t->json_cnt; t->json_at++)
		chrome_json_reader.close(t->json[t->json_at]);
	chrome_json_reader.close(t->played);
	unwrap_close(t->unwrap);
	event_stats_close(t->event_stats);
	free(t->buf);
	free(t);
}

/* One record of the text; an ftrace_emit_fn. */
static int add_record(void *ctx, const struct ftrace_event *event)
{
	struct text *t = ctx;
	int err = t->event_stats ? event_stats_add(t->event_stats, event) : 0;

	return err ? err : ftrace_import_add(t->import, event);
}

/* ---- JSON in a page ------------------------------------------------------------ */

/* To the end of the piece; what is read of the next one is held. A format_read_fn. */
static long read_json(void *ctx, void *buf, size_t len)
{
	struct text *t = ctx;
	size_t n = t->held - t->held_at;
	bool begins = false;
	long got;

	if (!t->reads_json)
		return 0;
	if (n) {
		n = n < len ? n : len;
		memcpy(buf, t->buf + t->held_at, n);
		t->held_at += n;
		return (long)n;
	}
	t->held = t->held_at = 0;
	got = unwrap_read(t->unwrap, buf, len < READ_BYTES ? len : READ_BYTES, &begins);
	t->reads_json = got > 0 && !begins;
	if (!begins)
		return got;
	memcpy(t->buf, buf, (size_t)got);
	t->held = (size_t)got;
	return 0;
}

/* A piece of the JSON; after its last event the rest of it, which counts for nothing. */
static int continue_json(struct text *t)
{
	int more = chrome_json_reader.read(t->json[t->json_cnt - 1]);
	char rest[4096];
	long got = 1;

	if (more)
		return more;
	while (got > 0)
		got = read_json(t, rest, sizeof(rest));
	t->in_json = false;
	return got < 0 ? (int)got : 1;
}

static void add_counts(struct reader_counts *sum, const struct reader_counts *c)
{
	unsigned int i, n = 0;

	if (c->problem && !sum->problem) {
		sum->problem = c->problem;
		sum->problem_offset = c->problem_offset;
		sum->problem_event = c->problem_event;
	}
	sum->skipped_blocks += c->skipped_blocks + (c->wrapper && !c->records && !c->unparsed);
	sum->records += c->records;
	sum->unparsed += c->unparsed;
	sum->lost_notices += c->lost_notices;
	/* Of all pieces so far. */
	if (c->left_out[0])
		memcpy(sum->left_out, c->left_out, sizeof(sum->left_out));
	while (n < READER_UNPARSED_KEPT && sum->first_unparsed[n].reason)
		n++;
	for (i = 0; n < READER_UNPARSED_KEPT && c->first_unparsed[i].reason; i++, n++)
		sum->first_unparsed[n] = c->first_unparsed[i];
}

/* Events of the next piece that waits: 1, 0 if none does, or -errno. */
static int play_json(struct text *t)
{
	struct reader_counts c;
	void *json;
	int more;

	if (t->json_at == t->json_cnt)
		return 0;
	json = t->json[t->json_at];
	chrome_json_release(json, t->import);
	more = chrome_json_reader.read(json);
	if (more)
		return more;
	if (t->played) {
		chrome_json_reader.counts(t->played, &c);
		add_counts(&t->counted, &c);
	}
	chrome_json_follow(json, t->played);
	t->played = json;
	t->json_at++;
	return 1;
}

/* What is held begins a piece of JSON; if too many wait they do no longer. */
static int begin_json(struct text *t)
{
	int more = t->json_cnt == JSON_MAX, err;

	while (more > 0)
		more = play_json(t);
	if (more < 0)
		return more;
	if (t->json_at == t->json_cnt)
		t->json_at = t->json_cnt = 0;
	err = chrome_json_reader.open(&t->json[t->json_cnt], &t->cfg);
	if (err)
		return err;
	chrome_json_hold(t->json[t->json_cnt++]);
	t->in_json = t->reads_json = true;
	return 0;
}

/* ---- text ---------------------------------------------------------------------- */

static int text_open(void **reader, const struct reader_cfg *cfg)
{
	struct text *t = calloc(1, sizeof(*t));
	int err;

	if (!t)
		return -ENOMEM;
	t->buf = malloc(READ_BYTES);
	err = t->buf ? unwrap_open(&t->unwrap, format_of(cfg->form), cfg->read, cfg->read_ctx) : -ENOMEM;
	if (!err)
		unwrap_keep_json(t->unwrap);
	t->cfg = (struct reader_cfg){
		.read = read_json, .read_ctx = t, .builder = cfg->builder, .statistics = cfg->statistics,
	};
	err = err ? err : ftrace_import_open(&t->import, cfg->builder);
	err = err ? err : ftrace_parser_open(&t->parser, add_record, t);
	if (!err && cfg->statistics)
		err = event_stats_open(&t->event_stats);
	if (err) {
		text_close(t);
		return err;
	}
	*reader = t;
	return 0;
}

static int end_text(struct text *t)
{
	int err = t->begun ? ftrace_parser_end(t->parser) : 0;

	t->begun = false;
	t->ended = true;
	return err ? err : ftrace_import_end(t->import);
}

/* @got bytes of the buffer. */
static int take_bytes(struct text *t, size_t got, bool begins)
{
	int err = 0;

	if (begins && t->begun)
		err = ftrace_parser_end(t->parser);
	if (err || !begins || !unwrap_is_json(t->unwrap)) {
		t->begun = true;
		return err ? err : ftrace_parser_feed(t->parser, t->buf, got);
	}
	t->begun = false;
	t->held = got;
	t->held_at = 0;
	return begin_json(t);
}

static int text_read(void *reader)
{
	struct text *t = reader;
	bool begins = false;
	long got;
	int err;

	if (t->in_json)
		return continue_json(t);
	if (t->ended)
		return play_json(t);
	/* The piece after JSON begins with what was read of it already. */
	got = (long)t->held;
	begins = t->held;
	t->held = 0;
	if (!got)
		got = unwrap_read(t->unwrap, t->buf, READ_BYTES, &begins);
	err = got < 0 ? (int)got : got ? take_bytes(t, (size_t)got, begins) : end_text(t);
	return err ? err : got > 0 || t->json_at < t->json_cnt;
}

static void count_wrappers(const struct text *t, struct reader_counts *c)
{
	struct unwrap_info info;

	unwrap_info(t->unwrap, &info);
	c->wrapper = info.wrapper;
	c->problem = info.problem;
	c->problem_offset = info.problem_offset;
	c->texts = info.texts;
	c->skipped_blocks = info.skipped_blocks;
	c->trace_events = info.trace_events;
	if (!info.foreign)
		return;
	c->foreign = info.foreign->name;
	/* Text is what is left where no format is recognized. */
	c->expected = "a trace that kfxt reads";
	c->foreign_hint = info.foreign->hint;
	c->foreign_is_guess = info.foreign->is_guess;
}

static void text_counts(const void *reader, struct reader_counts *c)
{
	const struct text *t = reader;
	struct reader_counts last;
	struct ftrace_stats s;
	unsigned int i;

	*c = (struct reader_counts){ .event_stats = t->event_stats };
	count_wrappers(t, c);
	ftrace_parser_stats(t->parser, &s);
	c->bytes = s.bytes;
	c->lines = s.lines;
	c->records = s.records;
	c->comments = s.comments;
	c->blanks = s.blanks;
	c->continuation_lines = s.continuation_lines;
	c->lost_notices = s.lost_notices;
	c->lost_events = s.lost_events;
	c->unparsed = s.unparsed;
	for (i = 0; i < READER_UNPARSED_KEPT; i++) {
		c->first_unparsed[i].line = s.first_unparsed[i].line;
		c->first_unparsed[i].reason = s.first_unparsed[i].reason;
	}
	if (!t->played)
		return;
	add_counts(c, &t->counted);
	chrome_json_reader.counts(t->played, &last);
	add_counts(c, &last);
}

/* Of all pieces of JSON, if there is any. */
static void text_stats(const void *reader, struct json *j)
{
	const struct text *t = reader;

	if (t->played)
		chrome_json_reader.stats(t->played, j);
}

const struct reader_ops ftrace_reader = {
	.name = "ftrace",
	.about = "ftrace text",
	.forms = forms,
	.suffixes = suffixes,
	.sniff = text_sniff,
	.open = text_open,
	.read = text_read,
	.counts = text_counts,
	.stats = text_stats,
	.close = text_close,
};
