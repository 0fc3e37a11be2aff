// SPDX-License-Identifier: GPL-2.0
/*
 * The members of an argument "more".
 */
#include "more.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

#define NUMBER_BYTES	40U

struct scan {
	const char *at, *end;
	char *to;		/* strings go there, without escapes */
};

static bool eat(struct scan *s, char c)
{
	if (s->at == s->end || *s->at != c)
		return false;
	s->at++;
	return true;
}

static bool eat_word(struct scan *s, const char *word)
{
	const size_t len = strlen(word);

	if ((size_t)(s->end - s->at) < len || memcmp(s->at, word, len))
		return false;
	s->at += len;
	return true;
}

/* ---- strings ---------------------------------------------------------------------- */

/* Four hexadecimal digits; what is written so is a control character. */
static bool read_code(struct scan *s)
{
	char digits[5] = { 0 }, *end;
	unsigned long code;

	if (s->end - s->at < 4)
		return false;
	memcpy(digits, s->at, 4);
	code = strtoul(digits, &end, 16);
	if (*end || code > 0x7f)
		return false;
	s->at += 4;
	*s->to++ = (char)code;
	return true;
}

static bool read_escape(struct scan *s)
{
	static const char names[] = "\"\\/bfnrt", values[] = "\"\\/\b\f\n\r\t";
	const char *found;

	if (eat(s, 'u'))
		return read_code(s);
	found = s->at < s->end && *s->at ? strchr(names, *s->at) : NULL;
	if (!found)
		return false;
	s->at++;
	*s->to++ = values[found - names];
	return true;
}

static bool read_string(struct scan *s, struct fxt_str *out)
{
	const char *begin = s->to;

	if (!eat(s, '"'))
		return false;
	while (s->at < s->end && *s->at != '"') {
		if (!eat(s, '\\'))
			*s->to++ = *s->at++;
		else if (!read_escape(s))
			return false;
	}
	*out = fxt_str_inline(begin, (size_t)(s->to - begin));
	return eat(s, '"');
}

/* ---- values ----------------------------------------------------------------------- */

static bool read_number(struct scan *s, struct fxt_arg *arg)
{
	const size_t len = strspn(s->at, "+-.0123456789eE");	/* an object ends with a brace */
	char text[NUMBER_BYTES], *end;

	if (!len || len >= sizeof(text))
		return false;
	memcpy(text, s->at, len);
	text[len] = 0;
	s->at += len;
	errno = 0;
	if (strpbrk(text, ".eE"))
		*arg = fxt_arg_f64("", strtod(text, &end));
	else if (text[0] == '-')
		*arg = fxt_arg_i64("", strtoll(text, &end, 10));
	else
		*arg = fxt_arg_u64("", strtoull(text, &end, 10));
	return !*end && !errno;
}

static bool read_value(struct scan *s, struct fxt_arg *arg)
{
	struct fxt_str str;

	if (s->at < s->end && *s->at == '"') {
		if (!read_string(s, &str))
			return false;
		*arg = fxt_arg_str("", str);
	} else if (eat_word(s, "true")) {
		*arg = fxt_arg_bool("", true);
	} else if (eat_word(s, "false")) {
		*arg = fxt_arg_bool("", false);
	} else if (eat_word(s, "null")) {
		*arg = fxt_arg_null("");
	} else {
		return read_number(s, arg);
	}
	return true;
}

static int read_member(struct out_more *m, struct scan *s)
{
	struct fxt_arg arg;
	struct fxt_str name;

	if (!read_string(s, &name) || !eat(s, ':') || !read_value(s, &arg))
		return -EBADMSG;
	if (array_reserve(m->args, m->cnt, m->cap, 1))
		return -ENOMEM;
	arg.name = name;
	m->args[m->cnt++] = arg;
	return 0;
}

int out_more_read(struct out_more *m, struct fxt_str json)
{
	struct scan s = { .at = json.data, .end = json.data + json.len };
	int err = 0;

	m->cnt = 0;
	if (json.len < 2 || json.data[json.len - 1] != '}' || !eat(&s, '{'))
		return -EBADMSG;
	if (array_reserve(m->text, 0, m->text_cap, json.len))
		return -ENOMEM;
	s.to = m->text;
	while (!err && s.at < s.end - 1) {
		if (m->cnt && !eat(&s, ','))
			return -EBADMSG;
		err = read_member(m, &s);
	}
	return err ? err : s.at == s.end - 1 ? 0 : -EBADMSG;
}

void out_more_fini(struct out_more *m)
{
	free(m->args);
	free(m->text);
	*m = (struct out_more){ 0 };
}
