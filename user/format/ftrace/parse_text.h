/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Inside the line parser: small steps through text that is not terminated. @s is
 * where it begins, @e where it ends.
 */
#ifndef FORMAT_FTRACE_PARSE_TEXT_H
#define FORMAT_FTRACE_PARSE_TEXT_H

#include <string.h>

#include "event.h"

static inline bool is_digit(char c)
{
	return (unsigned char)(c - '0') < 10;
}

static inline bool is_lower(char c)
{
	return (unsigned char)(c - 'a') < 26;
}

static inline bool is_letter(char c)
{
	return is_lower(c | 0x20);
}

static inline bool is_hex(char c)
{
	return is_digit(c) || (unsigned char)((c | 0x20) - 'a') < 6;
}

static inline bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

/* What a byte may be part of. */
enum parse_class {
	PARSE_NAME = 1,		/* names of events and functions */
	PARSE_FLAG = 2,		/* one of the first three flags */
	PARSE_DEPTH = 4,	/* a flag after those */
};

extern const unsigned char parse_classes[256];

static inline bool is_name(char c)
{
	return parse_classes[(unsigned char)c] & PARSE_NAME;
}

static inline const char *skip_blanks(const char *s, const char *e)
{
	while (s < e && is_blank(*s))
		s++;
	return s;
}

static inline const char *skip_name(const char *s, const char *e)
{
	while (s < e && is_name(*s))
		s++;
	return s;
}

static inline const char *trim_end(const char *s, const char *e)
{
	while (e > s && is_blank(e[-1]))
		e--;
	return e;
}

static inline struct model_text text_of(const char *s, const char *e)
{
	return (struct model_text){ s, e - s };
}

static inline struct model_text literal(const char *s)
{
	return (struct model_text){ s, strlen(s) };
}

static inline bool starts(const char *s, const char *e, const char *with)
{
	size_t len = strlen(with);

	return (size_t)(e - s) >= len && !memcmp(s, with, len);
}

static inline bool ends(const char *s, const char *e, const char *with)
{
	size_t len = strlen(with);

	return (size_t)(e - s) >= len && !memcmp(e - len, with, len);
}

/* The name column: <...> and <XXX> are no names. */
static inline struct model_text parse_comm(const char *s, const char *e)
{
	while (s < e && *s == ' ')
		s++;
	if (e - s == 5 && *s == '<' && (!memcmp(s, "<...>", 5) || !memcmp(s, "<XXX>", 5)))
		s = e;
	return text_of(s, e);
}

#endif
