// SPDX-License-Identifier: GPL-2.0
/*
 * The events of a file one by one, out of a window that grows with the longest event.
 */
#include "scan.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "bytes.h"
#include "scan_p.h"
#include "value.h"

#define WINDOW_BYTES	(256U << 10)	/* to begin with */
#define BLANK_BYTES_MAX	4096U	/* between the brackets of a list and its first event */
#define ESCAPE_BYTES_MAX	12U	/* of a surrogate pair */

static const char ends_early[] = "the JSON ends early";
static const char too_long[] = "the event is longer than 16 MiB";

/* ---- the window ---------------------------------------------------------------- */

static void drop_taken(struct chrome_scan *s)
{
	size_t from = s->pos > SCAN_LOOK_BACK ? s->pos - SCAN_LOOK_BACK : 0;

	if (!from)
		return;
	memmove(s->buf, s->buf + from, s->end - from);
	s->base += from;
	s->pos -= from;
	s->end -= from;
}

int scan_more(struct chrome_scan *s)
{
	long got;

	if (s->at_end)
		return 0;
	drop_taken(s);
	if (array_reserve(s->buf, s->end, s->cap, WINDOW_BYTES / 4))
		return -ENOMEM;
	got = s->read(s->read_ctx, s->buf + s->end, s->cap - s->end - CHROME_PAD_BYTES);
	if (got < 0)
		return (int)got;
	s->at_end = !got;
	s->end += (size_t)got;
	s->counts.bytes += (uint64_t)got;
	memset(s->buf + s->end, '"', CHROME_PAD_BYTES);
	return got > 0;
}

int scan_peek(struct chrome_scan *s)
{
	int got;

	for (;;) {
		s->pos = (size_t)(chrome_skip_blanks(s->buf + s->pos) - s->buf);
		if (s->pos < s->end)
			return (unsigned char)s->buf[s->pos];
		s->pos = s->end;
		got = scan_more(s);
		if (got <= 0)
			return got - 1;
	}
}

void scan_problem(struct chrome_scan *s, const char *text)
{
	if (s->counts.problem)
		return;
	s->counts.problem = text;
	s->counts.problem_offset = s->base + s->pos;
	s->counts.problem_event = s->number;
}

static int end_early(struct chrome_scan *s)
{
	s->pos = s->end;
	scan_problem(s, ends_early);
	s->state = SCAN_ENDED;
	return CHROME_END;
}

/* ---- events -------------------------------------------------------------------- */

/* At an element of the list: what the commas before it say. */
static void count_commas(struct chrome_scan *s)
{
	if (s->has_element && !s->commas)
		s->counts.missing_commas++;
	else if (s->commas > s->has_element)
		s->counts.stray_commas += s->commas - s->has_element;
	s->commas = 0;
	s->has_element = true;
}

static void count_damage(struct chrome_scan *s, const struct chrome_damage *at)
{
	struct chrome_scan_counts *c = &s->counts;

	if (s->state == SCAN_SAMPLES) {
		c->bad_samples++;
		return;
	}
	if (c->damaged < CHROME_DAMAGE_KEPT)
		c->first[c->damaged] = *at;
	c->damaged++;
}

/* What is damaged is counted, and passed over. 1, or as scan_more(). */
static int pass_damaged(struct chrome_scan *s, size_t bad_at, const char *reason)
{
	count_damage(s, &(struct chrome_damage){ s->base + s->pos + bad_at, s->number, reason });
	return scan_recover(s);
}

/* The data ended inside of an event: cut off, unless a bracket was missing and events follow. */
static int take_cut(struct chrome_scan *s)
{
	struct chrome_damage at = { s->base + s->pos, s->number, "the event does not end" };
	int got = scan_recover(s);

	if (got > 0)
		count_damage(s, &at);
	return got;
}

/* What is in the list: one that is whole. */
static int count_event(struct chrome_scan *s, const struct chrome_event *event)
{
	if (s->state == SCAN_SAMPLES)
		return CHROME_SAMPLE;
	s->counts.events += event->fields_cnt != 0;
	s->counts.empty += event->fields_cnt == 0;
	return event->fields_cnt ? CHROME_EVENT : CHROME_END;
}

/* At the bracket of an event. CHROME_EVENT or _SAMPLE, CHROME_END: nothing to hand out, go on; or -errno. */
static int take_event(struct chrome_scan *s, struct chrome_event *event)
{
	const char *reason = NULL;
	size_t bad_at = 0;
	int got;

	s->number += s->state == SCAN_EVENTS;
	for (;;) {
		switch (chrome_event_parse(event, s->buf + s->pos, s->end - s->pos, &bad_at, &reason)) {
		case CHROME_WHOLE:
			if (event->len > CHROME_EVENT_BYTES_MAX) {
				got = pass_damaged(s, 0, too_long);
				break;
			}
			event->offset = s->base + s->pos;
			event->number = s->number;
			s->pos += event->len;
			return count_event(s, event);
		case CHROME_DAMAGED:
			got = pass_damaged(s, bad_at, reason);
			break;
		default:
			got = s->end - s->pos > CHROME_EVENT_BYTES_MAX ? -EFBIG : scan_more(s);
			if (got > 0)
				continue;
			if (got == -EFBIG)
				got = pass_damaged(s, 0, too_long);
			else if (!got)
				got = take_cut(s);
			break;
		}
		return got > 0 ? CHROME_END : got ? got : end_early(s);
	}
}

static void end_list(struct chrome_scan *s)
{
	s->pos++;
	if (s->inner) {
		s->inner--;
		return;
	}
	if (s->commas > 1)
		s->counts.stray_commas += s->commas - 1;
	s->state = s->counts.form == CHROME_FORM_OBJECT ? SCAN_MEMBERS : SCAN_TAIL;
	s->commas = 0;
}

/* Whether the bracket at the scanner's place begins a list of events: 1, 0, or -errno. */
static int begins_list(struct chrome_scan *s)
{
	int got = 1;

	while (got > 0) {
		const char *p = chrome_skip_blanks(s->buf + s->pos + 1);

		if (p < s->buf + s->end)
			return *p == '{';
		got = s->end - s->pos > BLANK_BYTES_MAX ? 0 : scan_more(s);
	}
	return got;
}

/* A bracket without another one, or of a list in the list: a second run that was appended begins so. */
static int take_stray(struct chrome_scan *s, int c)
{
	s->counts.stray_bytes++;
	s->inner += c == '[';
	scan_problem(s, c == '[' ? "another array begins" : "the JSON is damaged");
	s->pos++;
	return 1;
}

/* An element that is no object. */
static int take_other(struct chrome_scan *s, int c)
{
	int got = c == '[' && s->state == SCAN_EVENTS ? begins_list(s) : 0;

	if (got < 0)
		return got;
	if (got || c == '}' || c == ':')
		return take_stray(s, c);
	count_commas(s);
	if (s->state == SCAN_SAMPLES) {
		s->counts.bad_samples++;
	} else {
		s->number++;
		s->counts.not_objects++;
	}
	got = scan_skip_value(s);
	if (!got)
		end_early(s);
	return got;
}

/* In a list: CHROME_EVENT or _SAMPLE, CHROME_END if the state has to be looked at again, or -errno. */
static int next_event(struct chrome_scan *s, struct chrome_event *event)
{
	int c = (unsigned char)s->buf[s->pos];

	/* As most events are written: a comma, a line and the next one. */
	if (c == ',' && s->buf[s->pos + 1] == '\n' && s->buf[s->pos + 2] == '{' && s->pos + 2 < s->end) {
		s->commas++;
		s->pos += 2;
		c = '{';
	} else {
		c = scan_peek(s);
	}
	if (c == '{') {
		count_commas(s);
		return take_event(s, event);
	}
	if (c == ',') {
		s->commas++;
		s->pos++;
	} else if (c == ']') {
		end_list(s);
	} else if (c == -1) {
		if (s->counts.form == CHROME_FORM_OBJECT)
			end_early(s);
		s->state = SCAN_ENDED;
	} else if (c < 0) {
		return c + 1;
	} else {
		c = take_other(s, c);
		return c < 0 ? c : CHROME_END;
	}
	return CHROME_END;
}

/* ---- the outermost object ------------------------------------------------------ */

static void begin_list(struct chrome_scan *s, enum scan_state state)
{
	s->pos++;
	s->counts.has_list |= state == SCAN_EVENTS;
	s->state = state;
	s->commas = 0;
	s->inner = 0;
	s->has_element = false;
}

/* After the value at @p, NULL if it does not end in the window; @p is no blank. */
static const char *value_end(const struct chrome_scan *s, const char *p)
{
	const char *end = s->buf + s->end;
	bool escaped;

	if (*p == '"') {
		p = chrome_string_end(p + 1, end, &escaped);
		return p ? p + 1 : NULL;
	}
	if ((*p | 0x20) == '{')
		return chrome_nested_end(p, end);
	while (*p != ',' && *p != '}' && *p != ']' && *p != '"' && !chrome_is_blank(*p))
		p++;
	return p < end ? p : NULL;
}

/* The value at the scanner's place is wholly in the window: 1; 0: the input ends first; -EFBIG; -errno. */
static int need_value(struct chrome_scan *s, size_t *len)
{
	const char *end;
	int got;

	for (;;) {
		end = value_end(s, s->buf + s->pos);
		if (end) {
			*len = (size_t)(end - (s->buf + s->pos));
			return 1;
		}
		if (s->end - s->pos > CHROME_MEMBER_BYTES_MAX)
			return -EFBIG;
		got = scan_more(s);
		if (got <= 0)
			return got;
	}
}

/* That of a frame stays as it is written, as those do that refer to it. */
static size_t copy_name(struct chrome_scan *s, const char *data, size_t len)
{
	uint64_t bad = 0;

	if (s->state != SCAN_FRAMES)
		return chrome_string_decode(data, len, s->name, sizeof(s->name), &bad);
	len = len < sizeof(s->name) ? len : sizeof(s->name);
	memcpy(s->name, data, len);
	return len;
}

/* 1: the name of a member, from its quote on, was taken; 0: the input ends in it; -errno. */
static int take_name(struct chrome_scan *s)
{
	size_t len;
	int got = need_value(s, &len);

	s->name_len = 0;
	if (got == -EFBIG)
		return scan_skip_value(s);
	if (got <= 0)
		return got;
	s->name_len = copy_name(s, s->buf + s->pos + 1, len - 2);
	s->pos += len;
	return 1;
}

/* From the quote of a name to the value: its first byte, 0: it is damaged, or as scan_peek(). */
static int take_key(struct chrome_scan *s)
{
	int got = take_name(s), c = got > 0 ? scan_peek(s) : got - 1;

	if (c == ':') {
		s->pos++;
		c = scan_peek(s);
		if (c != ',' && c != '}' && c != ']')
			return c;
	}
	if (c < 0)
		return c;
	scan_problem(s, "the JSON is damaged");
	return 0;
}

/* @item, CHROME_END if the input ends in it, or -errno. */
static int take_value(struct chrome_scan *s, struct chrome_member *member, enum chrome_item item)
{
	size_t len = 0;
	int got = need_value(s, &len);

	*member = (struct chrome_member){
		.name = s->name, .name_len = s->name_len, .first = s->buf[s->pos], .skipped = got == -EFBIG,
	};
	if (got > 0) {
		member->value = s->buf + s->pos;
		member->value_len = len;
		s->pos += len;
	} else if (got == -EFBIG) {
		got = scan_skip_value(s);
	}
	return got > 0 ? (int)item : got ? got : end_early(s);
}

static bool is_named(const struct chrome_scan *s, const char *name)
{
	return s->name_len == strlen(name) && !memcmp(s->name, name, s->name_len);
}

/* ---- a string of any length, piece by piece ---------------------------------------- */

/* How much of the string in the window can be decoded without what is to come. */
static size_t whole_escapes(const char *data, size_t len)
{
	size_t safe = len > ESCAPE_BYTES_MAX ? len - ESCAPE_BYTES_MAX : 0, at = 0;
	const char *escape;
	uint64_t bad = 0;
	char out[4];

	while (at < safe) {
		escape = chrome_find_quote(data + at);
		at = (size_t)(escape - data);
		if (at >= safe)
			return safe;
		at += escape[1] == 'u' ? ESCAPE_BYTES_MAX / 2 : 2;
		if (escape[1] == 'u' && chrome_string_decode(escape, ESCAPE_BYTES_MAX, out, sizeof(out), &bad) == 4 &&
		    (unsigned char)out[0] >= 0xf0)
			at += ESCAPE_BYTES_MAX / 2;
	}
	return at;
}

static int hand_out(struct chrome_scan *s, size_t len)
{
	char *data = s->buf + s->pos;
	uint64_t bad = 0;
	size_t n = chrome_string_decode(data, len, data, len, &bad);

	s->pos += len;
	return n ? s->text(s->text_ctx, data, n) : 0;
}

static int take_text(struct chrome_scan *s)
{
	const char *end;
	bool escaped = false;
	int err, got;

	for (s->pos++;;) {
		end = chrome_string_end(s->buf + s->pos, s->buf + s->end, &escaped);
		err = hand_out(s, end ? (size_t)(end - (s->buf + s->pos)) : whole_escapes(s->buf + s->pos, s->end - s->pos));
		if (err)
			return err;
		if (end)
			break;
		got = scan_more(s);
		if (got < 0)
			return got;
		if (!got)
			break;
	}
	s->pos += end != NULL;
	err = s->text(s->text_ctx, "", 0);
	return err ? err : end != NULL;
}

/* What is handed out piece by piece, its value begins with @c: 1; 0: it is another member; or -errno. */
static int begin_pieces(struct chrome_scan *s, int c)
{
	int got;

	if (c == '[' && is_named(s, "traceEvents")) {
		begin_list(s, SCAN_EVENTS);
	} else if (c == '[' && is_named(s, "samples")) {
		begin_list(s, SCAN_SAMPLES);
	} else if (c == '{' && is_named(s, "stackFrames")) {
		s->pos++;
		s->state = SCAN_FRAMES;
	} else if (c == '"' && s->text && is_named(s, "systemTraceEvents")) {
		got = take_text(s);
		if (!got)
			end_early(s);
		return got < 0 ? got : 1;
	} else {
		return 0;
	}
	return 1;
}

/* At the quote of a member's name. CHROME_MEMBER or _FRAME, CHROME_END: go on, or -errno. */
static int take_member(struct chrome_scan *s, struct chrome_member *member)
{
	int c = take_key(s), got;

	if (c <= 0)
		return c == -1 ? end_early(s) : c < 0 ? c + 1 : CHROME_END;
	if (s->state == SCAN_FRAMES)
		return take_value(s, member, CHROME_FRAME);
	got = begin_pieces(s, c);
	if (got)
		return got < 0 ? got : CHROME_END;
	got = take_value(s, member, CHROME_MEMBER);
	s->counts.members += got == CHROME_MEMBER;
	return got;
}

/* In the outermost object, or in stackFrames, as next_event(). */
static int next_member(struct chrome_scan *s, struct chrome_member *member)
{
	int c = scan_peek(s);

	if (c == '"')
		return take_member(s, member);
	if (c == -1)
		return end_early(s);
	if (c < 0)
		return c + 1;
	if (c == '}')
		s->state = s->state == SCAN_FRAMES ? SCAN_MEMBERS : SCAN_TAIL;
	else if (c != ',')
		scan_problem(s, "the JSON is damaged");
	s->pos++;
	return CHROME_END;
}

/* ---- the file ------------------------------------------------------------------ */

static void pass_byte_order_mark(struct chrome_scan *s)
{
	if (s->end - s->pos >= 3 && !memcmp(s->buf + s->pos, "\xef\xbb\xbf", 3))
		s->pos += 3;
}

static int begin_file(struct chrome_scan *s)
{
	int got = 1, c;

	while (got > 0 && s->end < 3)
		got = scan_more(s);
	if (got < 0)
		return got;
	pass_byte_order_mark(s);
	c = scan_peek(s);
	if (c < -1)
		return c + 1;
	s->state = SCAN_ENDED;
	if (c == '[') {
		s->counts.form = CHROME_FORM_ARRAY;
		begin_list(s, SCAN_EVENTS);
	} else if (c == '{') {
		s->counts.form = CHROME_FORM_OBJECT;
		s->state = SCAN_MEMBERS;
		s->pos++;
	} else if (c >= 0) {
		scan_problem(s, "this is no JSON");
	}
	return CHROME_END;
}

static int end_file(struct chrome_scan *s)
{
	int c = scan_peek(s);

	if (c < -1)
		return c + 1;
	if (c >= 0)
		scan_problem(s, "something follows the JSON");
	s->state = SCAN_ENDED;
	return CHROME_END;
}

int chrome_scan_next(struct chrome_scan *s, struct chrome_event *event, struct chrome_member *member)
{
	int item = CHROME_END;

	while (item == CHROME_END && s->state != SCAN_ENDED) {
		switch (s->state) {
		case SCAN_START:
			item = begin_file(s);
			break;
		case SCAN_EVENTS:
		case SCAN_SAMPLES:
			item = next_event(s, event);
			break;
		case SCAN_MEMBERS:
		case SCAN_FRAMES:
			item = next_member(s, member);
			break;
		default:
			item = end_file(s);
			break;
		}
	}
	return item;
}

int chrome_scan_frames(chrome_read_fn read, void *read_ctx, chrome_frame_fn take, void *ctx)
{
	struct chrome_member frame;
	struct chrome_scan *s;
	int err = chrome_scan_open(&s, read, read_ctx), item;

	if (err)
		return err;
	s->state = SCAN_MEMBERS;
	s->counts.form = CHROME_FORM_OBJECT;
	item = next_member(s, &frame);
	if (item >= 0 && s->state != SCAN_FRAMES)
		item = -EDOM;
	while (item >= 0 && s->state == SCAN_FRAMES) {
		item = next_member(s, &frame);
		if (item == CHROME_FRAME)
			take(ctx, &frame);
	}
	if (item >= 0 && s->counts.problem)
		item = -EDOM;
	chrome_scan_close(s);
	return item < 0 ? item : 0;
}

void chrome_scan_counts(const struct chrome_scan *s, struct chrome_scan_counts *counts)
{
	*counts = s->counts;
}

void chrome_scan_set_text(struct chrome_scan *s, chrome_text_fn fn, void *ctx)
{
	s->text = fn;
	s->text_ctx = ctx;
}

int chrome_scan_open(struct chrome_scan **out, chrome_read_fn read, void *ctx)
{
	struct chrome_scan *s = calloc(1, sizeof(*s));

	if (!s)
		return -ENOMEM;
	s->read = read;
	s->read_ctx = ctx;
	if (array_reserve(s->buf, 0, s->cap, WINDOW_BYTES)) {
		free(s);
		return -ENOMEM;
	}
	memset(s->buf, '"', CHROME_PAD_BYTES);
	*out = s;
	return 0;
}

void chrome_scan_close(struct chrome_scan *s)
{
	if (!s)
		return;
	free(s->buf);
	free(s);
}
