// SPDX-License-Identifier: GPL-2.0
/*
 * libtraceevent takes format files on trust: some that no kernel writes make it read where
 * nothing is. So the fields are checked here before it gets to see them, against what kernels
 * write (f_show() in kernel/trace/trace_events.c); print formats are not for it at all.
 */
#include <ctype.h>
#include <string.h>

#include "tracepoint_p.h"

#define NUMBER_DIGITS	9	/* of offsets and sizes */

struct cursor {
	const char *at;
};

static bool take_token(struct cursor *c, const char *text)
{
	const size_t len = strlen(text);

	if (strncmp(c->at, text, len) != 0)
		return false;
	c->at += len;
	return true;
}

static bool take_digits(struct cursor *c)
{
	const size_t len = strspn(c->at, "0123456789");

	c->at += len;
	return len && len <= NUMBER_DIGITS;
}

static bool is_name(char ch)
{
	return isalnum((unsigned char)ch) || ch == '_';
}

static bool take_name(struct cursor *c)
{
	const char *from = c->at;

	if (isdigit((unsigned char)*from))
		return false;
	while (is_name(*c->at))
		c->at++;
	return c->at > from;
}

/* ---- fields ---------------------------------------------------------------------------- */

/* "const char * name", "char comm[16]", "__data_loc char[] name" */
static bool take_declaration(struct cursor *c)
{
	unsigned int words = 0;
	bool last = false;	/* "[] " precedes the name */

	do {
		while (take_token(c, " ") || (words && take_token(c, "*")))
			;
		if (last)
			return false;
		last = words && take_token(c, "[] ");
		if (!take_name(c))
			return false;
		words++;
	} while (*c->at == ' ' || *c->at == '*' || !strncmp(c->at, "[] ", 3));
	if (words < 2)
		return false;
	if (take_token(c, "[") && !take_token(c, "]"))
		return (take_name(c) || take_digits(c)) && take_token(c, "]");
	return true;
}

static bool take_field(struct cursor *c)
{
	if (!take_token(c, "\tfield:") || !take_declaration(c) || !take_token(c, ";\toffset:") || !take_digits(c) ||
	    !take_token(c, ";\tsize:") || !take_digits(c) || !take_token(c, ";\tsigned:"))
		return false;
	return (take_token(c, "0") || take_token(c, "1")) && take_token(c, ";\n");
}

const char *tracepoint_check_fields(const char *text)
{
	struct cursor c = { .at = text };

	if (!take_token(&c, "name: ") || !take_name(&c) || !take_token(&c, "\nID: ") || !take_digits(&c) ||
	    !take_token(&c, "\nformat:\n"))
		return NULL;
	while (*c.at == '\t')
		if (!take_field(&c))
			return NULL;
	/* The fields that all events have are before the empty line. */
	if (!take_token(&c, "\n"))
		return NULL;
	while (*c.at == '\t')
		if (!take_field(&c))
			return NULL;
	return take_token(&c, "\nprint fmt: ") ? c.at : NULL;
}
