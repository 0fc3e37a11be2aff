// SPDX-License-Identifier: GPL-2.0
/*
 * The peeler's core: the input, the stack of levels and the text that comes
 * out of the innermost one.
 *
 * A level asks the one around it for bytes, down to the input. Only what a level
 * looked at before it knew what it is, or looks ahead for, is kept in its window;
 * bare text goes from the input into the caller's buffer.
 */
#include "peel_p.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WRAPPER_BYTES	256

struct peel {
	peel_read_fn read;
	void *ctx;
	enum peel_format format;
	int err;			/* of @read, or memory: after all text is out */
	uint64_t taken;			/* bytes of the input */
	unsigned int depth;		/* levels in use */
	bool begun;			/* the outermost level was made */
	bool has_format;
	struct peel_level levels[PEEL_LEVELS];
	struct peel_info info;
	char wrapper[WRAPPER_BYTES];
};

const char *peel_format_name(enum peel_format format)
{
	static const char *const names[PEEL_FORMAT_CNT] = {
		[PEEL_AUTO] = "auto",
		[PEEL_TEXT] = "text",
		[PEEL_HTML] = "html",
		[PEEL_JSON] = "json",
	};

	return (unsigned int)format < PEEL_FORMAT_CNT ? names[format] : "unknown";
}

int peel_open(struct peel **out, enum peel_format format, peel_read_fn read, void *ctx)
{
	struct peel *p = calloc(1, sizeof(*p));

	if (!p)
		return -ENOMEM;
	p->read = read;
	p->ctx = ctx;
	p->format = format;
	p->info.format = format;
	*out = p;
	return 0;
}

void peel_info(const struct peel *p, struct peel_info *info)
{
	*info = p->info;
	info->wrapper = p->wrapper;
}

/* ---- what levels report ------------------------------------------------------ */

void peel_problem(struct peel_level *l, const char *text)
{
	struct peel *p = l->peel;

	/* After an error of the input, everything ends early. */
	if (p->info.problem || p->err)
		return;
	p->info.problem = text;
	p->info.problem_offset = p->taken - (p->levels[0].end - p->levels[0].pos);
}

void peel_skipped(struct peel_level *l)
{
	l->peel->info.skipped_blocks++;
	l->skipped = true;
}

void peel_fail(struct peel_level *l, int err)
{
	if (!l->peel->err)
		l->peel->err = err;
}

void peel_entry(struct peel_level *l)
{
	l->peel->info.trace_events++;
}

/* ---- bytes -------------------------------------------------------------------- */

static size_t read_input(struct peel *p, unsigned char *buf, size_t len)
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
static size_t read_around(struct peel_level *l, unsigned char *buf, size_t len)
{
	size_t n;

	if (l->ended)
		return 0;
	n = l->outer ? l->outer->kind->read(l->outer, buf, len) : read_input(l->peel, buf, len);
	l->ended = !n;
	return n;
}

size_t peel_need(struct peel_level *l, size_t cnt)
{
	while (l->end - l->pos < cnt && !l->ended) {
		if (l->pos == l->end || PEEL_WINDOW_BYTES - l->pos < cnt) {
			memmove(l->window, peel_data(l), l->end - l->pos);
			l->end -= l->pos;
			l->pos = 0;
		}
		l->end += read_around(l, l->window + l->end, PEEL_WINDOW_BYTES - l->end);
	}
	return l->end - l->pos;
}

static size_t read_text(struct peel_level *l, unsigned char *buf, size_t len)
{
	size_t n = l->end - l->pos;

	if (!n)
		return read_around(l, buf, len);
	if (n > len)
		n = len;
	memcpy(buf, peel_data(l), n);
	l->pos += n;
	return n;
}

const struct peel_kind peel_text = {
	.name = "text",
	.format = PEEL_TEXT,
	.read = read_text,
};

/* What is passed over. */
const struct peel_kind peel_nothing = {
	.name = "unknown",
	.format = PEEL_TEXT,
};

/* ---- levels ------------------------------------------------------------------- */

/* Parts of @outer, or with NULL the input, are looked at in a level of their own. */
static int push(struct peel *p, struct peel_level *outer)
{
	struct peel_level *l = &p->levels[p->depth];
	unsigned char *window = l->window ? l->window : malloc(PEEL_WINDOW_BYTES);

	if (!window)
		return -ENOMEM;
	*l = (struct peel_level){ .peel = p, .outer = outer, .window = window };
	if (!outer) {
		l->format = p->format;
	} else if (outer->kind->format == PEEL_AUTO) {
		l->format = outer->format;
		l->strict = outer->strict;
	} else {
		l->strict = outer->kind == &peel_html;
	}
	p->depth++;
	return 0;
}

static void pop(struct peel *p)
{
	struct peel_level *l = &p->levels[--p->depth];

	if (l->kind && l->kind->close)
		l->kind->close(l);
}

/* The rest of a part counts for nothing, but is read: it may be damaged. */
static void leave(struct peel *p)
{
	struct peel_level *l = &p->levels[p->depth - 1];

	while (l->outer && read_around(l, l->window, PEEL_WINDOW_BYTES))
		;
	pop(p);
	if (!l->outer)
		return;
	l->outer->skipped |= l->skipped;
	if (l->outer->kind->has_parts && !l->pieces && !l->skipped)
		peel_skipped(l->outer);
}

void peel_close(struct peel *p)
{
	unsigned int i;

	if (!p)
		return;
	while (p->depth)
		pop(p);
	for (i = 0; i < PEEL_LEVELS; i++)
		free(p->levels[i].window);
	free(p);
}

static void add_name(struct peel *p, const char *name)
{
	size_t len = strlen(p->wrapper);

	if (len)
		len += (size_t)snprintf(p->wrapper + len, WRAPPER_BYTES - len, ", ");
	if (len < WRAPPER_BYTES)
		snprintf(p->wrapper + len, WRAPPER_BYTES - len, "%s", name);
}

/* Until there is text, the words are about what was found last. */
static void describe(struct peel *p)
{
	const struct peel_level *l;

	if (p->info.texts)
		return;
	p->wrapper[0] = '\0';
	for (l = p->levels; l < p->levels + p->depth; l++) {
		if (l->atrace)
			add_name(p, "atrace output");
		if (l->kind->next)
			add_name(p, l->name);
	}
	if (!p->wrapper[0])
		add_name(p, p->levels[0].kind->name);
}

/* Of a wrapper there must be a level left for what is in it. */
static void become(struct peel_level *l, const struct peel_kind *kind)
{
	struct peel *p = l->peel;
	int err = 0;

	if (kind->next && p->depth == PEEL_LEVELS) {
		peel_problem(l, "wrapped more than 8 times");
		kind = &peel_nothing;
	}
	l->name = kind->name;
	if (kind->open)
		err = kind->open(l);
	if (err) {
		peel_fail(l, err);
		kind = &peel_nothing;
	}
	l->kind = kind;
	if (kind->format != PEEL_AUTO && !p->has_format) {
		p->has_format = true;
		p->info.format = kind->format;
	}
	describe(p);
}

/* Finds out what a level holds. */
static void identify(struct peel_level *l)
{
	struct peel_sight sight = { 0 };

	while (!sight.kind) {
		while (!peel_look(l, &sight))
			peel_need(l, l->end - l->pos + 1);
		l->pos += sight.skip;
		l->atrace |= sight.atrace;
	}
	l->dump = sight.dump;
	if (sight.problem)
		peel_problem(l, sight.problem);
	become(l, sight.kind);
}

/* ---- text --------------------------------------------------------------------- */

static void begin_piece(struct peel_level *l)
{
	struct peel *p = l->peel;

	l->begun = true;
	if (!l->dump) {
		describe(p);
		p->info.texts++;
	}
	for (; l; l = l->outer)
		l->pieces++;
}

/* One step of the innermost level; the number of bytes of text, if it came to that. */
static size_t step(struct peel *p, unsigned char *buf, size_t len, bool *begins)
{
	struct peel_level *l = &p->levels[p->depth - 1];
	size_t n;
	int err;

	if (!l->kind)
		identify(l);
	if (l->kind == &peel_text) {
		n = read_text(l, buf, len);
		*begins = n && !l->begun;
		if (*begins)
			begin_piece(l);
		if (n)
			return n;
	} else if (l->kind->next && l->kind->next(l)) {
		err = push(p, l);
		if (!err)
			return 0;
		peel_fail(l, err);
	}
	leave(p);
	return 0;
}

long peel_read(struct peel *p, void *buf, size_t len, bool *begins)
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
