// SPDX-License-Identifier: GPL-2.0
/*
 * Passing over what is not used: values of any length, and damaged events. A quote or a bracket
 * that is missing must not cost the rest of the file, so an event may also begin where a
 * well-formed one could not.
 */
#include <string.h>

#include "bytes.h"
#include "scan_p.h"

#define TYPED_DEPTH	64	/* deeper brackets are counted only */

/* Where a scan of quotes and brackets is. */
struct walk {
	uint64_t depth, objects;	/* a bit of each of the first TYPED_DEPTH levels: an object */
	bool in_string, may_restart;
};

enum step { STEP_ON, STEP_END, STEP_RESTART };

/* The last byte before buf[@at] that is no blank; 0 if it is too far back. */
static char byte_before(const struct chrome_scan *s, size_t *at)
{
	size_t i = *at, low = i > SCAN_LOOK_BACK ? i - SCAN_LOOK_BACK : 0;

	while (i > low) {
		i--;
		if (!chrome_is_blank(s->buf[i])) {
			*at = i;
			return s->buf[i];
		}
	}
	return 0;
}

/*
 * Whether the bracket at buf[@at] seems to begin an event: after "}," or at the beginning of a
 * line. For brackets that are where none can be.
 */
static bool begins_event(const struct chrome_scan *s, const struct walk *w, size_t at)
{
	size_t before = at;
	char c = byte_before(s, &before);

	if (!w->may_restart)
		return false;
	if (c == ',')
		c = byte_before(s, &before);
	return c == '}' || (at && s->buf[at - 1] == '\n');
}

static enum step open_bracket(struct chrome_scan *s, struct walk *w, size_t at)
{
	bool in_object = w->depth && w->depth <= TYPED_DEPTH && (w->objects >> (w->depth - 1) & 1);
	size_t before = at;

	if (in_object && s->buf[at] == '{' && byte_before(s, &before) != ':' && begins_event(s, w, at))
		return STEP_RESTART;
	if (w->depth < TYPED_DEPTH) {
		w->objects &= ~(1ULL << w->depth);
		w->objects |= (uint64_t)(s->buf[at] == '{') << w->depth;
	}
	w->depth++;
	return STEP_ON;
}

/* A quote that seems to end a string: after "{", with blanks or without, it may be the first one of an event. */
static enum step close_string(const struct chrome_scan *s, const struct walk *w, size_t *at)
{
	size_t bracket = *at;

	if (w->may_restart && byte_before(s, &bracket) == '{' && begins_event(s, w, bracket)) {
		*at = bracket;
		return STEP_RESTART;
	}
	++*at;
	return STEP_ON;
}

/* One string, or bracket, at buf[*@at]; *@at moves after what was passed over. */
static enum step walk_byte(struct chrome_scan *s, struct walk *w, size_t *at)
{
	char c = s->buf[*at];

	if (w->in_string) {
		if (c == '\\') {
			*at += 2;
			return STEP_ON;
		}
		w->in_string = false;
		return close_string(s, w, at);
	}
	if (c == '"') {
		w->in_string = true;
	} else if ((c | 0x20) == '{') {
		if (open_bracket(s, w, *at) == STEP_RESTART)
			return STEP_RESTART;
	} else if (!--w->depth) {
		++*at;
		return STEP_END;
	}
	++*at;
	return STEP_ON;
}

/* Keeps what is before buf[@at] as far back as is looked at. */
static int walk_more(struct chrome_scan *s, size_t *at)
{
	size_t keep = *at > s->pos + SCAN_LOOK_BACK ? *at - SCAN_LOOK_BACK : s->pos, from = keep;
	int got;

	s->pos = keep;
	got = scan_more(s);
	*at = s->pos + (*at - from);
	return got;
}

/* From the bracket that the scanner is at to the one that closes it, or to where an event begins. */
static int walk(struct chrome_scan *s, bool may_restart)
{
	struct walk w = { .may_restart = may_restart };
	size_t at = s->pos;
	enum step step;
	int got;

	for (;;) {
		at = (size_t)((w.in_string ? chrome_find_quote(s->buf + at) : chrome_find_structure(s->buf + at)) -
			      s->buf);
		/* After a backslash there is one more byte to see. */
		if (at + (at < s->end && s->buf[at] == '\\') >= s->end) {
			at = at < s->end ? at : s->end;
			got = walk_more(s, &at);
			if (got > 0)
				continue;
			s->pos = s->end;
			return got;
		}
		step = walk_byte(s, &w, &at);
		if (step != STEP_ON) {
			s->pos = at;
			/* The comma before the next event was passed over, too. */
			s->commas += step == STEP_RESTART;
			return 1;
		}
	}
}

int scan_recover(struct chrome_scan *s)
{
	return walk(s, true);
}

static bool ends_word(char c)
{
	return c == ',' || c == '"' || (c | 0x20) == '{' || (c | 0x20) == '}' || chrome_is_blank(c);
}

/* A number or a word; one byte at least, whatever it is. */
static int skip_word(struct chrome_scan *s)
{
	int got;

	s->pos++;
	for (;;) {
		while (s->pos < s->end && !ends_word(s->buf[s->pos]))
			s->pos++;
		if (s->pos < s->end)
			return 1;
		got = scan_more(s);
		if (got <= 0)
			return got < 0 ? got : 1;
	}
}

static int skip_string(struct chrome_scan *s)
{
	int got;

	for (s->pos++;;) {
		size_t at = (size_t)(chrome_find_quote(s->buf + s->pos) - s->buf);

		if (at + 1 < s->end || (at < s->end && s->buf[at] == '"')) {
			s->pos = at + 1 + (s->buf[at] == '\\');
			if (s->buf[at] == '"')
				return 1;
			continue;
		}
		s->pos = at < s->end ? at : s->end;
		got = scan_more(s);
		if (got <= 0) {
			s->pos = s->end;
			return got;
		}
	}
}

int scan_skip_value(struct chrome_scan *s)
{
	char c = s->buf[s->pos];

	if (c == '"')
		return skip_string(s);
	return (c | 0x20) == '{' ? walk(s, false) : skip_word(s);
}
