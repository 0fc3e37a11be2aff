// SPDX-License-Identifier: GPL-2.0
/*
 * The core of unwrapping: the input, the stack of levels and the text that comes
 * out of the innermost one.
 *
 * A level asks the one around it for bytes, down to the input. Only what a level
 * looked at before it knew what it is, or looks ahead for, is kept in its window;
 * bare text goes from the input into the caller's buffer.
 */
#include "unwrap_p.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WRAPPER_BYTES	256

struct unwrap {
	unwrap_read_fn read;
	void *ctx;
	enum unwrap_format format;
	int err;			/* of @read, or memory: after all text is out */
	uint64_t taken;			/* bytes of the input */
	unsigned int depth;		/* levels in use */
	bool begun;			/* the outermost level was made */
	bool has_format;
	bool keeps_json, is_json;
	struct unwrap_level levels[UNWRAP_LEVELS];
	struct unwrap_info info;
	char wrapper[WRAPPER_BYTES];
};

const char *unwrap_format_name(enum unwrap_format format)
{
	static const char *const names[UNWRAP_FORMAT_CNT] = {
		[UNWRAP_AUTO] = "auto",
		[UNWRAP_TEXT] = "text",
		[UNWRAP_HTML] = "html",
		[UNWRAP_JSON] = "json",
	};

	return (unsigned int)format < UNWRAP_FORMAT_CNT ? names[format] : "unknown";
}

int unwrap_open(struct unwrap **out, enum unwrap_format format, unwrap_read_fn read, void *ctx)
{
	struct unwrap *p = calloc(1, sizeof(*p));

	if (!p)
		return -ENOMEM;
	p->read = read;
	p->ctx = ctx;
	p->format = format;
	p->info.format = format;
	*out = p;
	return 0;
}

void unwrap_keep_json(struct unwrap *p)
{
	p->keeps_json = true;
}

bool unwrap_is_json(const struct unwrap *p)
{
	return p->is_json;
}

void unwrap_info(const struct unwrap *p, struct unwrap_info *info)
{
	*info = p->info;
	info->wrapper = p->wrapper;
}

/* ---- what levels report ------------------------------------------------------ */

void unwrap_problem(struct unwrap_level *l, const char *text)
{
	struct unwrap *p = l->unwrap;

	/* After an error of the input, everything ends early. */
	if (p->info.problem || p->err)
		return;
	p->info.problem = text;
	p->info.problem_offset = p->taken - (p->levels[0].end - p->levels[0].pos);
}

void unwrap_skipped(struct unwrap_level *l)
{
	l->unwrap->info.skipped_blocks++;
	l->skipped = true;
}

void unwrap_fail(struct unwrap_level *l, int err)
{
	if (!l->unwrap->err)
		l->unwrap->err = err;
}

void unwrap_entry(struct unwrap_level *l)
{
	l->unwrap->info.trace_events++;
}

/* ---- bytes -------------------------------------------------------------------- */

static size_t read_input(struct unwrap *p, unsigned char *buf, size_t len)
{
	long n = p->err ? 0 : p->read(p->ctx, buf, len);

	if (n > 0 && (size_t)n > len)
		n = -EIO;
	if (n < 0) {
		p->err = (int)n;
		return 0;
	}
	p->taken += (uint64_t)n;
	return (size_t)n;
}

/* From around the level, past its window. */
static size_t read_around(struct unwrap_level *l, unsigned char *buf, size_t len)
{
	size_t n;

	if (l->ended)
		return 0;
	n = l->outer ? l->outer->kind->read(l->outer, buf, len) : read_input(l->unwrap, buf, len);
	l->ended = !n;
	return n;
}

size_t unwrap_need(struct unwrap_level *l, size_t cnt)
{
	while (l->end - l->pos < cnt && !l->ended) {
		if (l->pos == l->end || UNWRAP_WINDOW_BYTES - l->pos < cnt) {
			memmove(l->window, unwrap_data(l), l->end - l->pos);
			l->end -= l->pos;
			l->pos = 0;
		}
		l->end += read_around(l, l->window + l->end, UNWRAP_WINDOW_BYTES - l->end);
	}
	return l->end - l->pos;
}

static size_t read_text(struct unwrap_level *l, unsigned char *buf, size_t len)
{
	size_t n = l->end - l->pos;

	if (!n)
		return read_around(l, buf, len);
	if (n > len)
		n = len;
	memcpy(buf, unwrap_data(l), n);
	l->pos += n;
	return n;
}

const struct unwrap_kind unwrap_text = {
	.name = "text",
	.format = UNWRAP_TEXT,
	.read = read_text,
};

/* What is passed over. */
const struct unwrap_kind unwrap_nothing = {
	.name = "unknown",
	.format = UNWRAP_TEXT,
};

/* ---- levels ------------------------------------------------------------------- */

/* Parts of @outer, or with NULL the input, are looked at in a level of their own. */
static int push(struct unwrap *p, struct unwrap_level *outer)
{
	struct unwrap_level *l = &p->levels[p->depth];
	unsigned char *window = l->window ? l->window : malloc(UNWRAP_WINDOW_BYTES);

	if (!window)
		return -ENOMEM;
	*l = (struct unwrap_level){ .unwrap = p, .outer = outer, .window = window };
	if (!outer) {
		l->format = p->format;
	} else if (outer->kind->format == UNWRAP_AUTO) {
		l->format = outer->format;
		l->strict = outer->strict;
	} else {
		l->strict = outer->kind == &unwrap_html;
	}
	p->depth++;
	return 0;
}

static void pop(struct unwrap *p)
{
	struct unwrap_level *l = &p->levels[--p->depth];

	if (l->kind && l->kind->close)
		l->kind->close(l);
}

/* The rest of a part counts for nothing, but is read: it may be damaged. */
static void leave(struct unwrap *p)
{
	struct unwrap_level *l = &p->levels[p->depth - 1];

	while (l->outer && read_around(l, l->window, UNWRAP_WINDOW_BYTES))
		;
	pop(p);
	if (!l->outer)
		return;
	l->outer->skipped |= l->skipped;
	if (l->outer->kind->has_parts && !l->pieces && !l->skipped)
		unwrap_skipped(l->outer);
}

void unwrap_close(struct unwrap *p)
{
	unsigned int i;

	if (!p)
		return;
	while (p->depth)
		pop(p);
	for (i = 0; i < UNWRAP_LEVELS; i++)
		free(p->levels[i].window);
	free(p);
}

static void add_name(struct unwrap *p, const char *name)
{
	size_t len = strlen(p->wrapper);

	if (len)
		len += (size_t)snprintf(p->wrapper + len, WRAPPER_BYTES - len, ", ");
	if (len < WRAPPER_BYTES)
		snprintf(p->wrapper + len, WRAPPER_BYTES - len, "%s", name);
}

/* Until there is text, the words are about what was found last. */
static void describe(struct unwrap *p)
{
	const struct unwrap_level *l;

	if (p->info.texts)
		return;
	p->wrapper[0] = '\0';
	for (l = p->levels; l < p->levels + p->depth; l++) {
		if (l->atrace)
			add_name(p, "atrace output");
		if (l->kind->next || l->is_json)
			add_name(p, l->is_json ? unwrap_json.name : l->name);
	}
	if (!p->wrapper[0])
		add_name(p, p->levels[0].kind->name);
}

/* Of a wrapper there must be a level left for what is in it. */
static void become(struct unwrap_level *l, const struct unwrap_kind *kind)
{
	struct unwrap *p = l->unwrap;
	int err = 0;

	if (kind->next && p->depth == UNWRAP_LEVELS) {
		unwrap_problem(l, "wrapped more than 8 times");
		kind = &unwrap_nothing;
	}
	l->name = kind->name;
	if (kind->open)
		err = kind->open(l);
	if (err) {
		unwrap_fail(l, err);
		kind = &unwrap_nothing;
	}
	l->kind = kind;
	if (kind->format != UNWRAP_AUTO && !p->has_format) {
		p->has_format = true;
		p->info.format = kind->format;
	}
	describe(p);
}

static bool is_in_page(const struct unwrap_level *l)
{
	while (l && l->kind != &unwrap_html)
		l = l->outer;
	return l;
}

/* Finds out what a level holds. */
static void identify(struct unwrap_level *l)
{
	struct unwrap_sight sight = { 0 };

	while (!sight.kind) {
		while (!unwrap_look(l, &sight))
			unwrap_need(l, l->end - l->pos + 1);
		l->pos += sight.skip;
		l->atrace |= sight.atrace;
	}
	l->dump = sight.dump;
	if (sight.foreign && !l->unwrap->info.foreign)
		l->unwrap->info.foreign = sight.foreign;
	if (sight.foreign && !sight.foreign->is_guess)
		unwrap_problem(l, sight.foreign->name);
	l->is_json = sight.kind == &unwrap_json && l->unwrap->keeps_json && is_in_page(l->outer);
	become(l, l->is_json ? &unwrap_text : sight.kind);
}

/* ---- text --------------------------------------------------------------------- */

static void begin_piece(struct unwrap_level *l)
{
	struct unwrap *p = l->unwrap;

	l->begun = true;
	if (!l->dump) {
		describe(p);
		p->info.texts++;
	}
	for (; l; l = l->outer)
		l->pieces++;
}

/* One step of the innermost level; the number of bytes of text, if it came to that. */
static size_t step(struct unwrap *p, unsigned char *buf, size_t len, bool *begins)
{
	struct unwrap_level *l = &p->levels[p->depth - 1];
	size_t n;
	int err;

	if (!l->kind)
		identify(l);
	if (l->kind == &unwrap_text) {
		n = read_text(l, buf, len);
		*begins = n && !l->begun;
		if (*begins) {
			begin_piece(l);
			p->is_json = l->is_json;
		}
		if (n)
			return n;
	} else if (l->kind->next && l->kind->next(l)) {
		err = push(p, l);
		if (!err)
			return 0;
		unwrap_fail(l, err);
	}
	leave(p);
	return 0;
}

long unwrap_read(struct unwrap *p, void *buf, size_t len, bool *begins)
{
	size_t n = 0;

	*begins = false;
	if (!len)
		return 0;
	if (!p->begun) {
		p->begun = true;
		p->err = push(p, NULL);
	}
	while (!n && p->depth)
		n = step(p, buf, len, begins);
	return n ? (long)n : p->err;
}
