// SPDX-License-Identifier: GPL-2.0
/*
 * Splits one event into its members. Strict about its first level, as what is wrong there makes
 * the event unusable; nested values are passed over by their quotes and brackets.
 */
#include "event.h"

#include <string.h>

#include "bytes.h"
#include "value.h"

#define KEY_BYTES	16	/* no known one is longer */

struct cursor {
	const char *p, *end, *text;
	const char *reason;	/* static string: why the event is damaged */
};

static const char not_a_value[] = "not a JSON value";

/* ---- names of members ---------------------------------------------------------- */

/* Names as words, whose lowest byte is the first letter. */
#define NAME_3(a, b, c)		((uint64_t)(a) | (uint64_t)(b) << 8 | (uint64_t)(c) << 16)
#define NAME_6(a, b, c, d, e, f)	(NAME_3(a, b, c) | NAME_3(d, e, f) << 24)
#define NAME_8(a, b, c, d, e, f, g, h)	(NAME_6(a, b, c, d, e, f) | NAME_3(g, h, 0) << 48)

/* By a multiplication that gives each of them a place of its own: found by trying some. */
#define KEY_FACTOR	0x95b7a664df803b71ULL
#define KEY_BITS	5
#define PLACE(name)	((name) * KEY_FACTOR >> (64 - KEY_BITS))
#define KEY(name, key)	[PLACE(name)] = { name, key }

static const struct {
	uint64_t name;
	enum chrome_key key;
} keys[1 << KEY_BITS] = {
	KEY(NAME_3('p', 'h', 0), CHROME_PH),
	KEY(NAME_3('t', 's', 0), CHROME_TS),
	KEY(NAME_3('i', 'd', 0), CHROME_ID),
	KEY(NAME_3('b', 'p', 0), CHROME_BP),
	KEY(NAME_3('s', 'f', 0), CHROME_SF),
	KEY(NAME_3('s', 0, 0), CHROME_S),
	KEY(NAME_3('p', 'i', 'd'), CHROME_PID),
	KEY(NAME_3('t', 'i', 'd'), CHROME_TID),
	KEY(NAME_3('c', 'a', 't'), CHROME_CAT),
	KEY(NAME_3('d', 'u', 'r'), CHROME_DUR),
	KEY(NAME_3('t', 't', 's'), CHROME_TTS),
	KEY(NAME_3('i', 'd', '2'), CHROME_ID2),
	KEY(NAME_3('e', 's', 'f'), CHROME_ESF),
	KEY(NAME_6('n', 'a', 'm', 'e', 0, 0), CHROME_NAME),
	KEY(NAME_6('a', 'r', 'g', 's', 0, 0), CHROME_ARGS),
	KEY(NAME_6('t', 'd', 'u', 'r', 0, 0), CHROME_TDUR),
	KEY(NAME_6('c', 'n', 'a', 'm', 'e', 0), CHROME_CNAME),
	KEY(NAME_6('s', 'c', 'o', 'p', 'e', 0), CHROME_SCOPE),
	KEY(NAME_6('s', 't', 'a', 'c', 'k', 0), CHROME_STACK),
	KEY(NAME_6('e', 's', 't', 'a', 'c', 'k'), CHROME_ESTACK),
	KEY(NAME_8('b', 'i', 'n', 'd', '_', 'i', 'd', 0), CHROME_BIND_ID),
	KEY(NAME_8('f', 'l', 'o', 'w', '_', 'i', 'n', 0), CHROME_FLOW_IN),
	KEY(NAME_8('f', 'l', 'o', 'w', '_', 'o', 'u', 't'), CHROME_FLOW_OUT),
};

/* A name that many events have with the quote and the colon after it, as a word; all zero: another one. */
struct usual_name {
	uint64_t word, mask;
	size_t bytes;
};

#define USUAL(key, len, name) \
	[key] = { (name) | (uint64_t)'"' << 8 * (len) | (uint64_t)':' << 8 * ((len) + 1), \
		  UINT64_MAX >> (64 - 8 * ((len) + 2)), (len) + 2 }

#define GUESS_MAX	31U	/* as a mask: all keys and more */

static const struct usual_name usual_names[GUESS_MAX + 1] = {
	USUAL(CHROME_PH, 2, NAME_3('p', 'h', 0)),
	USUAL(CHROME_TS, 2, NAME_3('t', 's', 0)),
	USUAL(CHROME_ID, 2, NAME_3('i', 'd', 0)),
	USUAL(CHROME_BP, 2, NAME_3('b', 'p', 0)),
	USUAL(CHROME_S, 1, NAME_3('s', 0, 0)),
	USUAL(CHROME_PID, 3, NAME_3('p', 'i', 'd')),
	USUAL(CHROME_TID, 3, NAME_3('t', 'i', 'd')),
	USUAL(CHROME_CAT, 3, NAME_3('c', 'a', 't')),
	USUAL(CHROME_DUR, 3, NAME_3('d', 'u', 'r')),
	USUAL(CHROME_TTS, 3, NAME_3('t', 't', 's')),
	USUAL(CHROME_NAME, 4, NAME_6('n', 'a', 'm', 'e', 0, 0)),
	USUAL(CHROME_ARGS, 4, NAME_6('a', 'r', 'g', 's', 0, 0)),
	USUAL(CHROME_TDUR, 4, NAME_6('t', 'd', 'u', 'r', 0, 0)),
};

/* Whether @p, after a quote, has the name of that key and its colon; eight bytes are read. */
static inline bool has_name(const char *p, enum chrome_key key)
{
	const struct usual_name *name = &usual_names[key];
	uint64_t word;

	memcpy(&word, p, sizeof(word));
	return name->mask && !((word ^ name->word) & name->mask);
}

/* Eight bytes at @p are read. */
static inline enum chrome_key key_of(const char *p, size_t len)
{
	uint64_t name;

	if (!len || len > sizeof(name))
		return CHROME_UNKNOWN;
	memcpy(&name, p, sizeof(name));
	name &= UINT64_MAX >> (64 - 8 * len);
	return keys[PLACE(name)].name == name ? keys[PLACE(name)].key : CHROME_UNKNOWN;
}

static enum chrome_key escaped_key(const char *p, size_t len)
{
	char key[KEY_BYTES];
	uint64_t bad = 0;
	size_t n;

	if (len > KEY_BYTES * 6)
		return CHROME_UNKNOWN;
	n = chrome_string_decode(p, len, key, sizeof(key), &bad);
	return n < sizeof(key) ? key_of(key, n) : CHROME_UNKNOWN;
}

/* ---- values -------------------------------------------------------------------- */

/*
 * -?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)? from @p on: after it, NULL: it is none. What follows
 * the number, and is none of it, must be readable.
 */
static inline const char *number_end(const char *p)
{
	const char *digits;

	p += *p == '-';
	digits = p;
	p = chrome_skip_digits(p);
	if (p == digits || (*digits == '0' && p - digits > 1))
		return NULL;
	if (*p == '.') {
		digits = ++p;
		p = chrome_skip_digits(p);
		if (p == digits)
			return NULL;
	}
	if ((*p | 0x20) == 'e') {
		p++;
		p += *p == '-' || *p == '+';
		digits = p;
		p = chrome_skip_digits(p);
		if (p == digits)
			return NULL;
	}
	return p;
}

static enum chrome_type word_type(const char *data, size_t len)
{
	static const struct {
		const char *word;
		enum chrome_type type;
	} words[] = {
		{ "true", CHROME_TRUE }, { "false", CHROME_FALSE }, { "null", CHROME_NULL },
		{ "NaN", CHROME_WORD }, { "nan", CHROME_WORD }, { "-nan", CHROME_WORD },
		{ "Infinity", CHROME_WORD }, { "-Infinity", CHROME_WORD },
		{ "inf", CHROME_WORD }, { "-inf", CHROME_WORD },
		{ "None", CHROME_WORD }, { "True", CHROME_WORD }, { "False", CHROME_WORD },
		{ "undefined", CHROME_WORD },
	};
	size_t i;

	for (i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (words[i].word[0] == *data && strlen(words[i].word) == len && !memcmp(words[i].word, data, len))
			return words[i].type;
	return CHROME_NONE;
}

static bool ends_scalar(char c)
{
	return c == ',' || c == '}' || c == ']' || c == '"' || c == '{' || c == '[' || c == ':' || chrome_is_blank(c);
}

enum chrome_type chrome_scalar(const char *p, const char **end)
{
	const char *begin = p;

	p = number_end(begin);
	if (p && ends_scalar(*p)) {
		*end = p;
		return CHROME_NUMBER;
	}
	for (p = begin; !ends_scalar(*p);)
		p++;
	*end = p;
	return word_type(begin, (size_t)(p - begin));
}

static enum chrome_parse parse_scalar(struct cursor *c, struct chrome_field *f)
{
	const char *begin = c->p, *p;

	f->type = (uint8_t)chrome_scalar(begin, &p);
	if (p >= c->end)
		return CHROME_MORE;
	if (f->type == CHROME_NONE) {
		c->reason = not_a_value;
		return CHROME_DAMAGED;
	}
	f->value = (struct chrome_span){ (uint32_t)(begin - c->text), (uint32_t)(p - begin) };
	c->p = p;
	return CHROME_WHOLE;
}

static enum chrome_parse parse_value(struct cursor *c, struct chrome_field *f)
{
	const char *begin = c->p, *p;

	f->escaped = false;
	if (*begin == '"' && begin < c->end) {
		p = chrome_string_end(++begin, c->end, &f->escaped);
		f->type = CHROME_STRING;
	} else if ((*begin | 0x20) == '{') {
		p = chrome_nested_end(begin, c->end);
		f->type = *begin == '{' ? CHROME_OBJECT : CHROME_ARRAY;
	} else {
		return begin >= c->end ? CHROME_MORE : parse_scalar(c, f);
	}
	if (!p)
		return CHROME_MORE;
	f->value = (struct chrome_span){ (uint32_t)(begin - c->text), (uint32_t)(p - begin) };
	c->p = p + (f->type == CHROME_STRING);
	return CHROME_WHOLE;
}

/* ---- members ------------------------------------------------------------------- */

/* From the quote of its name to the colon, which is passed over with the blanks after it. */
static enum chrome_parse parse_name(struct cursor *c, struct chrome_field *f)
{
	const char *begin, *p;

	if (c->p >= c->end)
		return CHROME_MORE;
	if (*c->p != '"') {
		c->reason = "a member without a name";
		return CHROME_DAMAGED;
	}
	begin = c->p + 1;
	f->name_escaped = false;
	p = chrome_string_end(begin, c->end, &f->name_escaped);
	if (!p)
		return CHROME_MORE;
	f->name = (struct chrome_span){ (uint32_t)(begin - c->text), (uint32_t)(p - begin) };
	f->key = (uint8_t)(f->name_escaped ? escaped_key(begin, f->name.len) : key_of(begin, f->name.len));
	if (f->key != CHROME_UNKNOWN)
		f->name = (struct chrome_span){ 0 };
	c->p = chrome_skip_blanks(p + 1);
	if (c->p >= c->end)
		return CHROME_MORE;
	if (*c->p != ':') {
		c->reason = "no colon after the name of a member";
		return CHROME_DAMAGED;
	}
	c->p = chrome_skip_blanks(c->p + 1);
	return CHROME_WHOLE;
}

/*
 * Of the field after the others. The last slots are kept for known members, each of which is there once, so
 * that there is always one.
 */
static inline void keep_field(struct chrome_event *e)
{
	const struct chrome_field *f = &e->fields[e->fields_cnt];

	if (f->key == CHROME_UNKNOWN) {
		e->has_unknown = true;
		if (e->fields_cnt < CHROME_FIELDS_MAX - CHROME_KEY_CNT)
			e->fields_cnt++;
		else
			e->dropped++;
		return;
	}
	e->escaped |= f->escaped;
	if (e->at[f->key]) {
		e->fields[e->at[f->key] - 1] = *f;
		e->duplicates++;
		return;
	}
	e->at[f->key] = (uint8_t)++e->fields_cnt;
}

/* After a value: a comma, which may be the last, or the end. True: there may be more members. */
static enum chrome_parse parse_separator(struct cursor *c, bool *more)
{
	c->p = chrome_skip_blanks(c->p);
	*more = false;
	if (c->p >= c->end)
		return CHROME_MORE;
	if (*c->p == ',') {
		c->p = chrome_skip_blanks(c->p + 1);
		*more = *c->p != '}';
	}
	if (*c->p == '}' || *more)
		return CHROME_WHOLE;
	c->reason = "no comma between members";
	return CHROME_DAMAGED;
}

/*
 * The member at @p as nearly all are written: no blanks, nothing escaped in the name, a comma and a quote or a
 * bracket after the value. The next one, or the bracket; NULL: it is another one, or not whole. *@guess: the key that
 * is tried first, so that where its value begins does not have to be searched for; it becomes the one that was found.
 */
static inline const char *usual_member(const struct cursor *c, const char *p, struct chrome_field *f, uint8_t *guess)
{
	const char *name = p + 1, *value;
	bool more;

	f->name = (struct chrome_span){ 0 };
	f->escaped = f->name_escaped = false;
	f->key = *guess & GUESS_MAX;
	if (has_name(name, f->key)) {
		p = name + usual_names[f->key].bytes - 2;
	} else {
		p = chrome_find_quote(name);
		if (p >= c->end || p[0] != '"' || p[1] != ':')
			return NULL;
		f->key = *guess = (uint8_t)key_of(name, (size_t)(p - name));
		if (f->key == CHROME_UNKNOWN)
			f->name = (struct chrome_span){ (uint32_t)(name - c->text), (uint32_t)(p - name) };
	}
	if (name[-1] != '"')
		return NULL;
	value = p += 2;
	if (*p == '"') {
		f->type = CHROME_STRING;
		value = ++p;
		p = chrome_string_end(p, c->end, &f->escaped);
	} else if ((*p | 0x20) == '{') {
		f->type = *p == '{' ? CHROME_OBJECT : CHROME_ARRAY;
		p = chrome_nested_end(p, c->end);
	} else {
		f->type = CHROME_NUMBER;
		p = number_end(p);
	}
	if (!p)
		return NULL;
	f->value = (struct chrome_span){ (uint32_t)(value - c->text), (uint32_t)(p - value) };
	p += f->type == CHROME_STRING;
	more = p[0] == ',' && p[1] == '"';
	if (p + more >= c->end || (!more && *p != '}'))
		return NULL;
	return p + more;
}

/* As many of those as there are from the cursor on. True: it is at the bracket after the last member. */
static inline bool usual_members(struct cursor *c, struct chrome_event *e)
{
	const char *p = c->p, *next;
	uint8_t last = CHROME_UNKNOWN, key;

	while (*p != '}' && (next = usual_member(c, p, &e->fields[e->fields_cnt], &e->followed[last]))) {
		key = e->fields[e->fields_cnt].key;
		keep_field(e);
		p = next;
		last = key;
	}
	c->p = p;
	return *p == '}';
}

static enum chrome_parse parse_members(struct cursor *c, struct chrome_event *e)
{
	enum chrome_parse result = CHROME_WHOLE;
	struct chrome_field *f;
	bool more = true;

	c->p = chrome_skip_blanks(c->p + 1);
	while (more && result == CHROME_WHOLE && !usual_members(c, e)) {
		f = &e->fields[e->fields_cnt];
		result = parse_name(c, f);
		result = result ? result : parse_value(c, f);
		result = result ? result : parse_separator(c, &more);
		if (result == CHROME_WHOLE)
			keep_field(e);
	}
	return result;
}

enum chrome_parse chrome_event_parse(struct chrome_event *event, const char *data, size_t len,
				     size_t *bad_at, const char **reason)
{
	struct cursor c = { .p = data, .end = data + len, .text = data };
	enum chrome_parse result;

	event->text = data;
	event->fields_cnt = event->duplicates = event->dropped = 0;
	event->escaped = false;
	event->has_unknown = false;
	memset(event->at, 0, sizeof(event->at));
	result = parse_members(&c, event);
	if (result == CHROME_WHOLE)
		event->len = (uint32_t)(c.p + 1 - data);
	if (result == CHROME_DAMAGED) {
		*bad_at = (size_t)(c.p - data);
		*reason = c.reason;
	}
	return result;
}
