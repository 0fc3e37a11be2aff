// SPDX-License-Identifier: GPL-2.0
/*
 * Trace Event JSON: the string systemTraceEvents of the outermost object is
 * text, traceEvents and the entries of an outermost array are counted, all else
 * is passed over. Lenient: commas count for nothing, brackets need not match.
 */
#include "unwrap_p.h"

#include <string.h>

#define KEY_BYTES	32
#define REPLACEMENT	0xfffd	/* for what is no character */

static const char cut[] = "the JSON ends early";
static const char damaged[] = "the JSON is damaged";

/* ---- strings ------------------------------------------------------------------- */

static void put_utf8(struct unwrap_json *j, uint32_t c)
{
	unsigned char *out = j->decoded;

	j->decoded_pos = 0;
	if (c < 0x80) {
		out[0] = (unsigned char)c;
		j->decoded_cnt = 1;
	} else if (c < 0x800) {
		out[0] = (unsigned char)(0xc0 | c >> 6);
		out[1] = (unsigned char)(0x80 | (c & 0x3f));
		j->decoded_cnt = 2;
	} else if (c < 0x10000) {
		out[0] = (unsigned char)(0xe0 | c >> 12);
		out[1] = (unsigned char)(0x80 | (c >> 6 & 0x3f));
		out[2] = (unsigned char)(0x80 | (c & 0x3f));
		j->decoded_cnt = 3;
	} else {
		out[0] = (unsigned char)(0xf0 | c >> 18);
		out[1] = (unsigned char)(0x80 | (c >> 12 & 0x3f));
		out[2] = (unsigned char)(0x80 | (c >> 6 & 0x3f));
		out[3] = (unsigned char)(0x80 | (c & 0x3f));
		j->decoded_cnt = 4;
	}
}

static int hex_value(unsigned char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* \uXXXX, or what there is of it: the number of bytes, all 6 if it is right. */
static size_t unicode_len(const unsigned char *data, size_t len, uint32_t *value)
{
	static const char begin[] = "\\u";
	size_t i;

	*value = 0;
	for (i = 0; i < len && i < 6; i++) {
		if (i < 2 ? data[i] != (unsigned char)begin[i] : hex_value(data[i]) < 0)
			break;
		if (i >= 2)
			*value = *value << 4 | (uint32_t)hex_value(data[i]);
	}
	return i;
}

static void end_cut(struct unwrap_level *l)
{
	unwrap_problem(l, cut);
	l->json.in_string = false;
	l->pos = l->end;
}

/* A surrogate alone is what some writers make of a bad name: no damage. */
static void take_unicode(struct unwrap_level *l)
{
	size_t have = unwrap_need(l, 12), len, low_len;
	const unsigned char *data = unwrap_data(l);
	uint32_t value, low;

	have = have < 12 ? have : 12;
	len = unicode_len(data, have, &value);
	if (len < 6) {
		if (len == have) {
			end_cut(l);
			return;
		}
		unwrap_problem(l, damaged);
		value = REPLACEMENT;
	} else if (value >= 0xd800 && value < 0xdc00) {
		low_len = unicode_len(data + 6, have - 6, &low);
		if (low_len < 6 && low_len == have - 6) {
			end_cut(l);
			return;
		}
		if (low_len == 6 && low >= 0xdc00 && low < 0xe000) {
			len = 12;
			value = 0x10000 + ((value & 0x3ff) << 10) + (low & 0x3ff);
		} else {
			value = REPLACEMENT;
		}
	} else if (value >= 0xdc00 && value < 0xe000) {
		value = REPLACEMENT;
	}
	l->pos += len;
	put_utf8(&l->json, value);
}

/* At a backslash. */
static void take_escape(struct unwrap_level *l)
{
	static const char letters[] = "bfnrt\"\\/", meanings[] = "\b\f\n\r\t\"\\/";
	const char *letter;
	unsigned char c;

	if (unwrap_need(l, 2) < 2) {
		end_cut(l);
		return;
	}
	c = unwrap_data(l)[1];
	if (c == 'u') {
		take_unicode(l);
		return;
	}
	letter = c ? strchr(letters, c) : NULL;
	if (letter) {
		put_utf8(&l->json, (unsigned char)meanings[letter - letters]);
		l->pos += 2;
		return;
	}
	/* No escape: the backslash stands for itself. */
	unwrap_problem(l, damaged);
	put_utf8(&l->json, '\\');
	l->pos++;
}

/* Bytes that stand for themselves. */
static size_t copy_plain(struct unwrap_level *l, unsigned char *buf, size_t len)
{
	const unsigned char *data = unwrap_data(l);
	size_t have = l->end - l->pos, i;

	if (have > len)
		have = len;
	for (i = 0; i < have && data[i] != '"' && data[i] != '\\'; i++)
		buf[i] = data[i];
	l->pos += i;
	return i;
}

static size_t take_decoded(struct unwrap_json *j, unsigned char *buf, size_t len)
{
	size_t n = j->decoded_cnt - j->decoded_pos;

	if (n > len)
		n = len;
	memcpy(buf, j->decoded + j->decoded_pos, n);
	j->decoded_pos += (unsigned int)n;
	return n;
}

/* Of the string that the level is in. */
static size_t read_string(struct unwrap_level *l, unsigned char *buf, size_t len)
{
	struct unwrap_json *j = &l->json;
	size_t n = take_decoded(j, buf, len);
	int c;

	while (n < len && j->in_string) {
		c = unwrap_peek(l);
		if (c < 0) {
			end_cut(l);
		} else if (c == '"') {
			l->pos++;
			j->in_string = false;
		} else if (c == '\\') {
			take_escape(l);
			n += take_decoded(j, buf + n, len - n);
		} else {
			n += copy_plain(l, buf + n, len - n);
		}
	}
	return n;
}

/* After the quote that begins it. */
static void begin_string(struct unwrap_level *l)
{
	l->json.in_string = true;
	l->json.decoded_pos = l->json.decoded_cnt = 0;
}

/* The key of a member; what is longer than @size is cut, as we know none so long. */
static void read_key(struct unwrap_level *l, char *key, size_t size)
{
	unsigned char rest[64];
	size_t len = 0, n;

	begin_string(l);
	do {
		n = read_string(l, rest, sizeof(rest));
		if (n > size - 1 - len)
			n = size - 1 - len;
		memcpy(key + len, rest, n);
		len += n;
	} while (l->json.in_string);
	key[len] = '\0';
}

/* ---- what is passed over --------------------------------------------------------- */

/* The same without decoding. */
static void skip_string(struct unwrap_level *l)
{
	int c;

	for (c = unwrap_peek(l); c >= 0 && c != '"'; c = unwrap_peek(l)) {
		if (c == '\\' && unwrap_need(l, 2) >= 2)
			l->pos++;
		l->pos++;
		while (l->pos < l->end && l->window[l->pos] != '"' && l->window[l->pos] != '\\')
			l->pos++;
	}
	if (c < 0)
		unwrap_problem(l, cut);
	else
		l->pos++;
}

static bool is_structure(unsigned char c)
{
	return c == '"' || (c | 0x20) == '{' || (c | 0x20) == '}';
}

/* An object or an array, with all that is in it. */
static void skip_nested(struct unwrap_level *l)
{
	uint64_t depth = 0;
	int c;

	do {
		while (l->pos < l->end && !is_structure(l->window[l->pos]))
			l->pos++;
		c = unwrap_peek(l);
		if (c < 0) {
			unwrap_problem(l, cut);
			return;
		}
		l->pos++;
		if (c == '"')
			skip_string(l);
		else if (c == '{' || c == '[')
			depth++;
		else if (c == '}' || c == ']')
			depth--;
	} while (depth);
}

/* The next byte that is no blank, which stays; -1 at the end. */
static int peek_token(struct unwrap_level *l)
{
	int c;

	for (c = unwrap_peek(l); unwrap_is_blank(c); c = unwrap_peek(l))
		l->pos++;
	return c;
}

/* Commas are passed over as well. */
static int peek_entry(struct unwrap_level *l)
{
	int c;

	for (c = peek_token(l); c == ','; c = peek_token(l))
		l->pos++;
	return c;
}

/* Takes one byte at least, if there is any. */
static void skip_value(struct unwrap_level *l)
{
	int c = unwrap_peek(l);

	if (c == '{' || c == '[') {
		skip_nested(l);
	} else if (c == '"') {
		l->pos++;
		skip_string(l);
	} else {
		while (c >= 0) {
			l->pos++;
			c = unwrap_peek(l);
			if (c == ',' || unwrap_is_blank(c))
				break;
			if (c >= 0 && is_structure((unsigned char)c))
				break;
		}
	}
}

/* An array of events. */
static void count_entries(struct unwrap_level *l)
{
	int c;

	l->pos++;
	for (c = peek_entry(l); c >= 0 && c != ']'; c = peek_entry(l)) {
		unwrap_entry(l);
		skip_value(l);
	}
	if (c >= 0)
		l->pos++;
}

/* ---- the kind ------------------------------------------------------------------------ */

/* After the quote that begins a key. True: the level is in a string that is text. */
static bool member(struct unwrap_level *l)
{
	char key[KEY_BYTES];
	int c;

	read_key(l, key, sizeof(key));
	c = peek_token(l);
	if (c != ':') {
		if (c >= 0)
			unwrap_problem(l, damaged);
		return false;
	}
	l->pos++;
	c = peek_token(l);
	if (c == ',' || c == '}' || c == ']') {
		unwrap_problem(l, damaged);
		return false;
	}
	if (!strcmp(key, "systemTraceEvents") && c >= 0) {
		if (c == '"') {
			l->pos++;
			begin_string(l);
			return true;
		}
		unwrap_problem(l, "systemTraceEvents is not a string");
		unwrap_skipped(l);
	}
	if (!strcmp(key, "traceEvents") && c == '[')
		count_entries(l);
	else
		skip_value(l);
	return false;
}

/* A value that is in nothing else, at @c; false if there is none. */
static bool begin_value(struct unwrap_level *l, int c)
{
	if (c == '{') {
		l->pos++;
		l->json.begun = l->json.in_object = true;
		return true;
	}
	if (c == '[') {
		l->json.begun = true;
		count_entries(l);
		return true;
	}
	unwrap_problem(l, l->json.begun ? "something follows the JSON" : "this is no JSON");
	return false;
}

/* On to the next string that is text. */
static bool next_text(struct unwrap_level *l)
{
	struct unwrap_json *j = &l->json;
	int c;

	for (;;) {
		c = peek_entry(l);
		if (c < 0) {
			if (j->in_object)
				unwrap_problem(l, cut);
			return false;
		}
		if (!j->in_object) {
			if (!begin_value(l, c))
				return false;
			continue;
		}
		if (c != '"' && c != '}')
			unwrap_problem(l, damaged);
		l->pos++;
		if (c == '}')
			j->in_object = false;
		else if (c == '"' && member(l))
			return true;
	}
}

const struct unwrap_kind unwrap_json = {
	.name = "JSON",
	.format = UNWRAP_JSON,
	.has_parts = true,
	.next = next_text,
	.read = read_string,
};
