// SPDX-License-Identifier: GPL-2.0
/*
 * Walks nested values without recursion. Tolerant: commas do not count, and what is no JSON ends
 * the walk, with what was found before it kept.
 */
#include "args.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bytes.h"
#include "model/text.h"
#include "value.h"

#define DEPTH_MAX	32U	/* values nested deeper are kept as text */
#define STRING_BYTES_MAX	8000U	/* of one argument */
#define DECODED_BYTES	(64U << 10)	/* of all decoded strings of an event */
#define EXACT_DIGITS	15	/* decimal digits that a double always keeps */

struct chrome_args {
	struct arg_list *list;
	struct chrome_args_counts counts;
	size_t used;
	char decoded[DECODED_BYTES];
};

/* A value that is not nested. */
struct scalar {
	enum chrome_type type;	/* CHROME_NONE: @integer */
	bool escaped;
	const char *data;
	size_t len;
	int64_t integer;
};

/* Where the walk is, but for its place in the text: that is handed on from call to call, NULL if it is damaged. */
struct walk {
	struct chrome_args *a;
	const char *end;
	unsigned int depth, depth_max;
	bool is_outermost;	/* what it began in: no name is before its own ones */
	struct {
		bool is_object;
		uint32_t index;
	} levels[DEPTH_MAX];
	uint64_t seen[DEPTH_MAX];	/* of objects: a bit for each hash that a name had */
};

/* ---- values -------------------------------------------------------------------- */

static struct fxt_str decode(struct chrome_args *a, const char *data, size_t len, bool escaped, size_t max)
{
	char *out = a->decoded + a->used;
	size_t space = DECODED_BYTES - a->used, n;

	if (!escaped) {
		a->counts.cut += len > max;
		return (struct fxt_str){ .data = data, .len = text_cut(data, len, max), .inlined = true };
	}
	n = chrome_string_decode(data, len, out, space < max ? space : max, &a->counts.bad_escapes);
	a->counts.cut += n == (space < max ? space : max);
	a->used += n;
	return fxt_str_inline(out, n);
}

/* Significant digits of a decimal number. */
static unsigned int count_digits(const char *p, size_t len)
{
	unsigned int cnt = 0;
	size_t i;

	for (i = 0; i < len && (p[i] | 0x20) != 'e'; i++)
		if (p[i] >= '0' && p[i] <= '9' && (cnt || p[i] != '0'))
			cnt++;
	return cnt;
}

static bool is_integer(const char *data, size_t len)
{
	size_t i;

	for (i = 0; i < len; i++)
		if (data[i] == '.' || (data[i] | 0x20) == 'e')
			return false;
	return true;
}

/* All but the names is set: these are there already. */
static inline void set_int64(struct fxt_arg *arg, int64_t value)
{
	arg->type = FXT_ARG_INT64;
	arg->i64 = value;
}

static inline void set_double(struct fxt_arg *arg, double value)
{
	arg->type = FXT_ARG_DOUBLE;
	arg->f64 = value;
}

static void set_text(struct chrome_args *a, struct fxt_arg *arg, const char *data, size_t len)
{
	a->counts.cut += len > STRING_BYTES_MAX;
	arg->type = FXT_ARG_STRING;
	arg->str = (struct fxt_str){ data, text_cut(data, len, STRING_BYTES_MAX), true };
}

/* Digits and a point only, few enough for exact arithmetic. */
static bool simple_double(const char *p, size_t len, double *value)
{
	static const double powers[] = { 1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15 };
	bool negative = *p == '-', point = false;
	unsigned int decimals = 0;
	int64_t digits = 0;
	size_t i;

	if (len > EXACT_DIGITS)
		return false;
	for (i = negative; i < len; i++) {
		if (p[i] == '.') {
			point = true;
			continue;
		}
		if (p[i] < '0' || p[i] > '9')
			return false;
		digits = digits * 10 + (p[i] - '0');
		decimals += point;
	}
	*value = (double)digits / powers[decimals];
	*value = negative ? -*value : *value;
	return true;
}

/* Whether the double, printed with as many digits as the text has, has the same ones. */
static bool keeps_digits(const char *p, size_t len, unsigned int digits, double value)
{
	char text[40], *q = text;
	size_t i;
	bool begun = false;

	snprintf(text, sizeof(text), "%.*e", (int)digits - 1, value < 0 ? -value : value);
	for (i = 0; i < len && (p[i] | 0x20) != 'e'; i++) {
		if (p[i] < '0' || p[i] > '9' || (!begun && p[i] == '0'))
			continue;
		begun = true;
		q += *q == '.';
		if (*q++ != p[i])
			return false;
	}
	return true;
}

/* A double if it keeps all digits: 15 of them always, 16 and 17 if they read back the same. */
static void set_number(struct chrome_args *a, struct fxt_arg *arg, const char *data, size_t len)
{
	unsigned int digits;
	double value;
	char text[64];

	if (is_integer(data, len)) {
		arg->type = FXT_ARG_INT64;
		if (chrome_int64(data, len, &arg->i64))
			set_text(a, arg, data, len);
		return;
	}
	if (simple_double(data, len, &value)) {
		set_double(arg, value);
		return;
	}
	digits = count_digits(data, len);
	if (len < sizeof(text) && digits <= 17) {
		memcpy(text, data, len);
		text[len] = '\0';
		value = strtod(text, NULL);
		if (value - value == 0 && (digits <= EXACT_DIGITS || keeps_digits(data, len, digits, value))) {
			set_double(arg, value);
			return;
		}
	}
	set_text(a, arg, data, len);
}

static __attribute__((noinline)) void set_value(struct chrome_args *a, struct fxt_arg *arg, const struct scalar *s)
{
	switch (s->type) {
	case CHROME_STRING:
		set_text(a, arg, s->data, s->len);
		arg->str = decode(a, s->data, s->len, true, STRING_BYTES_MAX);
		break;
	case CHROME_NUMBER:
		set_number(a, arg, s->data, s->len);
		break;
	case CHROME_TRUE:
	case CHROME_FALSE:
		arg->type = FXT_ARG_BOOL;
		arg->b = s->type == CHROME_TRUE;
		break;
	case CHROME_NULL:
		arg->type = FXT_ARG_NULL;
		break;
	default:
		a->counts.not_json += s->type == CHROME_WORD;
		set_text(a, arg, s->data, s->len);
	}
}

/* ---- nested ones --------------------------------------------------------------- */

/* An integer as it is usually written, of less than eight digits or less than 16: after it, NULL: something else. */
static inline const char *plain_integer(const char *p, int64_t *integer)
{
	static const int64_t powers[] = { 1, 10, 100, 1000, 10000, 100000, 1000000, 10000000 };
	bool negative = *p == '-', begins_with_0;
	unsigned int cnt;
	uint64_t word;
	int64_t value;

	p += negative;
	cnt = chrome_digits_at(p, &word);
	begins_with_0 = *p == '0' && cnt > 1;
	if (!cnt || begins_with_0)
		return NULL;
	value = (int64_t)chrome_digits_value(word, cnt);
	p += cnt;
	if (cnt == 8) {
		cnt = chrome_digits_at(p, &word);
		if (cnt == 8)
			return NULL;
		if (cnt)
			value = value * powers[cnt] + (int64_t)chrome_digits_value(word, cnt);
		p += cnt;
	}
	if (*p != ',' && (*p | 0x20) != '}')
		return NULL;
	*integer = negative ? -value : value;
	return p;
}

/* The value at @p, which is not nested: after it. */
static inline const char *take_scalar(const char *p, const char *end, struct scalar *s)
{
	s->escaped = false;
	s->data = p;
	if (p >= end)
		return NULL;
	if (*p == '"') {
		s->type = CHROME_STRING;
		s->data = ++p;
		p = chrome_string_end(p, end, &s->escaped);
		if (!p)
			return NULL;
		s->len = (size_t)(p - s->data);
		return p + 1;
	}
	s->type = CHROME_NONE;
	p = plain_integer(s->data, &s->integer);
	if (!p) {
		s->type = chrome_scalar(s->data, &p);
		if (s->type == CHROME_NONE)
			return NULL;
	}
	s->len = (size_t)(p - s->data);
	return p <= end ? p : NULL;
}

static inline void put_scalar(struct chrome_args *a, struct fxt_arg *arg, const struct scalar *s)
{
	struct fxt_arg left_out;

	if (!arg)
		arg = &left_out;
	if (s->type == CHROME_NONE)
		set_int64(arg, s->integer);
	else if (s->type == CHROME_STRING && !s->escaped)
		set_text(a, arg, s->data, s->len);
	else
		set_value(a, arg, s);
}

static void put_text(struct chrome_args *a, const char *data, size_t len)
{
	put_scalar(a, arg_list_add(a->list), &(struct scalar){ .type = CHROME_OBJECT, .data = data, .len = len });
}

/* Goes into the bracket at @p; an empty one, and one too deep, is a text. */
static const char *walk_nested(struct walk *w, const char *p)
{
	const char *inside = chrome_skip_blanks(p + 1), *begin = p;
	bool is_empty = inside < w->end && (*inside | 0x20) == '}';

	if (is_empty || w->depth == w->depth_max) {
		p = is_empty ? inside + 1 : chrome_nested_end(begin, w->end);
		if (!p)
			return NULL;
		w->a->counts.cut += !is_empty && w->depth == DEPTH_MAX;
		if (is_empty)
			put_text(w->a, *begin == '{' ? "{}" : "[]", 2);
		else
			put_text(w->a, begin, (size_t)(p - begin));
		arg_list_leave(w->a->list);
		return p;
	}
	w->levels[w->depth].is_object = *begin == '{';
	w->seen[w->depth] = 0;
	w->levels[w->depth++].index = 0;
	return inside;
}

/*
 * A name that seems to have come before is looked for: of members of one name the last counts. @written: as it is
 * in the text, a quote before it.
 */
static inline void note_name(struct walk *w, struct fxt_str written, struct fxt_str name)
{
	uint64_t seen = w->seen[w->depth - 1];
	unsigned int first = (unsigned char)written.data[0], last = (unsigned char)(written.data + written.len)[-1];
	unsigned int hash = first + (last << 2) + ((unsigned int)written.len << 3);

	if (seen >> (hash & 63) & 1)
		w->a->counts.duplicates += arg_list_forget(w->a->list, name.data, name.len);
	w->seen[w->depth - 1] = seen | 1ULL << (hash & 63);
}

/* A member of an object, from its quote on. *@nested: it is a bracket, which has been gone into. */
static inline const char *walk_member(struct walk *w, const char *p, bool *nested)
{
	struct arg_list *list = w->a->list;
	struct fxt_str name = { .data = p + 1 }, written;
	bool escaped = false;
	struct fxt_arg *arg;
	struct scalar s;

	p = *p == '"' ? chrome_string_end(p + 1, w->end, &escaped) : NULL;
	if (!p)
		return NULL;
	name.len = (size_t)(p - name.data);
	p = chrome_skip_blanks(p + 1);
	if (p >= w->end || *p != ':')
		return NULL;
	written = name;
	if (escaped || name.len > ARG_PATH_MAX) {
		name = decode(w->a, name.data, name.len, escaped, ARG_PATH_MAX);
		w->seen[w->depth - 1] = UINT64_MAX;	/* it may be one that is written in another way */
	}
	note_name(w, written, name);
	p = chrome_skip_blanks(p + 1);
	*nested = p < w->end && (*p | 0x20) == '{';
	if (*nested) {
		arg_list_member(list, name.data, name.len);
		return walk_nested(w, p);
	}
	p = take_scalar(p, w->end, &s);
	if (!p)
		return NULL;
	if (w->is_outermost && w->depth == 1)
		arg = arg_list_add_member(list, name.data, name.len);
	else
		arg = arg_list_add_in_member(list, name.data, name.len);
	put_scalar(w->a, arg, &s);
	return p;
}

/* A member and, as long as they follow it without blanks and are not nested, the next ones. */
static inline const char *walk_members(struct walk *w, const char *p)
{
	bool nested;

	p = walk_member(w, p, &nested);
	while (p && !nested && p[0] == ',' && p[1] == '"' && p + 1 < w->end)
		p = walk_member(w, p + 1, &nested);
	return p;
}

static inline const char *walk_element(struct walk *w, const char *p)
{
	uint32_t index = w->levels[w->depth - 1].index++;
	struct scalar s;

	if ((*p | 0x20) == '{') {
		arg_list_element(w->a->list, index);
		return walk_nested(w, p);
	}
	p = take_scalar(p, w->end, &s);
	if (p)
		put_scalar(w->a, arg_list_add_element(w->a->list, index), &s);
	return p;
}

/* One thing: a closing bracket, members or an element, and the commas before it. */
static inline const char *step(struct walk *w, const char *p)
{
	while (*p <= ',' && (*p == ',' || chrome_is_blank(*p)))
		p++;
	if (p >= w->end)
		return NULL;
	if ((*p | 0x20) == '}') {
		w->depth--;
		arg_list_leave(w->a->list);
		return p + 1;
	}
	return w->levels[w->depth - 1].is_object ? walk_members(w, p) : walk_element(w, p);
}

/*
 * From the bracket at @data on; names are within what is open in the list, if not @is_outermost. @seen: the hashes of
 * names that are there already.
 */
static void walk(struct chrome_args *a, const char *data, size_t len, unsigned int depth_max, bool is_outermost, uint64_t seen)
{
	const char *p = data + 1;
	struct walk w;

	w.a = a;
	w.end = data + len;
	w.depth = 1;
	w.depth_max = depth_max;
	w.is_outermost = is_outermost;
	w.levels[0].is_object = *data == '{';
	w.levels[0].index = 0;
	w.seen[0] = seen;
	while (w.depth && p)
		p = step(&w, p);
	if (p)
		return;
	a->counts.damaged++;
	while (w.depth--)
		arg_list_leave(a->list);
}

/* ---- for events ---------------------------------------------------------------- */

void chrome_args_object(struct chrome_args *a, const struct chrome_event *e, const struct chrome_field *f,
			bool flat)
{
	if (f && f->type == CHROME_OBJECT)
		walk(a, chrome_text(e, f->value), f->value.len, flat ? 1 : DEPTH_MAX, true, 0);
}

void chrome_args_replace(struct chrome_args *a, const struct chrome_event *e, const struct chrome_field *f)
{
	if (f && f->type == CHROME_OBJECT)
		walk(a, chrome_text(e, f->value), f->value.len, DEPTH_MAX, true, UINT64_MAX);
}

void chrome_args_value(struct chrome_args *a, const char *name, size_t len, const struct chrome_event *e,
		       const struct chrome_field *f)
{
	const char *value = chrome_text(e, f->value);

	if (f->type != CHROME_OBJECT && f->type != CHROME_ARRAY) {
		put_scalar(a, arg_list_add_member(a->list, name, len), &(struct scalar){
			.type = f->type, .escaped = f->escaped, .data = value, .len = f->value.len,
		});
		return;
	}
	/* The walk leaves the member with the last bracket. */
	arg_list_member(a->list, name, len);
	walk(a, value, f->value.len, DEPTH_MAX, false, 0);
}

void chrome_args_int64(struct chrome_args *a, const char *name, int64_t value)
{
	put_scalar(a, arg_list_add_member(a->list, name, strlen(name)), &(struct scalar){ .integer = value });
}

void chrome_args_string(struct chrome_args *a, const char *name, const char *text, size_t len)
{
	size_t space = DECODED_BYTES - a->used;

	a->counts.cut += len > space;
	len = text_cut(text, len, space);
	memcpy(a->decoded + a->used, text, len);
	put_scalar(a, arg_list_add_member(a->list, name, strlen(name)), &(struct scalar){
		.type = CHROME_STRING, .data = a->decoded + a->used, .len = len,
	});
	a->used += len;
}

const struct fxt_arg *chrome_args_get(struct chrome_args *a, unsigned int *cnt)
{
	return arg_list_get(a->list, cnt);
}

const struct fxt_arg *chrome_args_find(struct chrome_args *a, const char *name)
{
	const struct fxt_arg *args;
	unsigned int i, cnt;

	args = arg_list_get(a->list, &cnt);
	for (i = 0; i < cnt; i++)
		if (args[i].name.len == strlen(name) && !memcmp(args[i].name.data, name, args[i].name.len))
			return &args[i];
	return NULL;
}

struct fxt_str chrome_args_decode(struct chrome_args *a, const char *data, size_t len, bool escaped, size_t max)
{
	return decode(a, data, len, escaped, max);
}

struct fxt_str chrome_args_text(struct chrome_args *a, const struct chrome_event *e, const struct chrome_field *f,
				size_t max)
{
	if (!f || f->type == CHROME_NULL)
		return fxt_str_n("", 0);
	return decode(a, chrome_text(e, f->value), f->value.len, f->escaped, max);
}

void chrome_args_clear(struct chrome_args *a)
{
	arg_list_clear(a->list);
	a->used = 0;
}

void chrome_args_counts(const struct chrome_args *a, struct chrome_args_counts *counts)
{
	*counts = a->counts;
	counts->cut += arg_list_dropped(a->list);
}

int chrome_args_open(struct chrome_args **out)
{
	struct chrome_args *a = malloc(sizeof(*a));

	if (!a)
		return -ENOMEM;
	a->counts = (struct chrome_args_counts){ 0 };
	a->used = 0;
	if (arg_list_open(&a->list)) {
		free(a);
		return -ENOMEM;
	}
	*out = a;
	return 0;
}

void chrome_args_close(struct chrome_args *a)
{
	if (!a)
		return;
	arg_list_close(a->list);
	free(a);
}
