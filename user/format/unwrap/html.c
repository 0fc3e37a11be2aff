// SPDX-License-Identifier: GPL-2.0
/*
 * Pages with traces in them: systrace's trace-data scripts, trace2html's
 * viewer-data scripts and the linuxPerfData string of older viewers.
 *
 * Only scripts are looked at, and in the page's own ones only for that string:
 * the viewer that is part of the page mentions everything a trace could hold.
 */
#include "unwrap_p.h"

#include <string.h>

#define TAG_BYTES	4096U		/* longer is no tag we know */
#define PERF_BYTES	512U		/* from the variable's name to the string */
#define PERF_NAME	"linuxperfdata"	/* in any case */
#define SCRIPT		"<script"
#define SCRIPT_LEN	(sizeof(SCRIPT) - 1)
#define SCRIPT_END_LEN	(sizeof(UNWRAP_SCRIPT_END) - 1)

/* ---- finding scripts ----------------------------------------------------------- */

/* Up to the next '<', which stays; false if there is none. */
static bool skip_to_tag(struct unwrap_level *l)
{
	const unsigned char *tag;

	while (unwrap_need(l, 1)) {
		tag = memchr(unwrap_data(l), '<', l->end - l->pos);
		if (tag) {
			l->pos = (size_t)(tag - l->window);
			return true;
		}
		l->pos = l->end;
	}
	return false;
}

/* Past "</script"; false if there is none. */
static bool skip_script(struct unwrap_level *l)
{
	size_t have;

	while (skip_to_tag(l)) {
		have = unwrap_need(l, SCRIPT_END_LEN);
		if (unwrap_match(unwrap_data(l), have, UNWRAP_SCRIPT_END) == UNWRAP_YES) {
			l->pos += SCRIPT_END_LEN;
			return true;
		}
		l->pos++;
	}
	unwrap_problem(l, "the HTML ends inside of a script");
	return false;
}

static void skip_comment(struct unwrap_level *l)
{
	const unsigned char *dash;

	while (unwrap_need(l, 3) >= 3) {
		dash = memchr(unwrap_data(l), '-', l->end - l->pos - 2);
		if (!dash) {
			l->pos = l->end - 2;
			continue;
		}
		l->pos = (size_t)(dash - l->window);
		if (!memcmp(dash, "-->", 3)) {
			l->pos += 3;
			return;
		}
		l->pos++;
	}
	l->pos = l->end;
	unwrap_problem(l, "the HTML ends inside of a comment");
}

/* The length of the script's tag at @tag, quotes respected; 0 if it is none or does not end. */
static size_t script_tag_len(const unsigned char *tag, size_t len)
{
	size_t i = SCRIPT_LEN;
	int quote = 0;

	if (unwrap_match(tag, len, SCRIPT) != UNWRAP_YES || len == i ||
	    (tag[i] != '>' && !unwrap_is_blank(tag[i])))
		return 0;
	for (; i < len; i++) {
		if (quote)
			quote = tag[i] == quote ? 0 : quote;
		else if (tag[i] == '"' || tag[i] == '\'')
			quote = tag[i];
		else if (tag[i] == '>')
			return i + 1;
		else if (tag[i] == '<')
			break;
	}
	return 0;
}

struct span {
	const unsigned char *data;
	size_t len;
};

/* Takes a name or a value, in quotes or not, from the front of @rest. */
static struct span take_word(struct span *rest, bool is_value)
{
	struct span word = *rest;
	int quote = 0;
	size_t i = 0;

	if (is_value && rest->len && (rest->data[0] == '"' || rest->data[0] == '\'')) {
		quote = rest->data[0];
		word.data++;
		i = 1;
	}
	for (; i < rest->len; i++) {
		if (quote ? rest->data[i] == quote : unwrap_is_blank(rest->data[i]))
			break;
		if (!is_value && rest->data[i] == '=')
			break;
	}
	word.len = i - (size_t)(word.data - rest->data);
	i += quote && i < rest->len;
	rest->data += i;
	rest->len -= i;
	return word;
}

static void skip_span_blanks(struct span *rest)
{
	while (rest->len && unwrap_is_blank(rest->data[0])) {
		rest->data++;
		rest->len--;
	}
}

static bool is_word(struct span span, const char *word)
{
	return span.len == strlen(word) && unwrap_match(span.data, span.len, word) == UNWRAP_YES;
}

/* Whether one of the words of @list is @word. */
static bool has_word(struct span list, const char *word)
{
	struct span rest = list, one;

	for (;;) {
		skip_span_blanks(&rest);
		if (!rest.len)
			return false;
		one = rest;
		for (one.len = 0; one.len < rest.len && !unwrap_is_blank(one.data[one.len]);)
			one.len++;
		if (is_word(one, word))
			return true;
		rest.data += one.len;
		rest.len -= one.len;
	}
}

/* What the script of the tag @tag, the end of which is cut off, holds. */
static enum unwrap_block block_of(struct span tag)
{
	struct span name, value, rest = tag;

	for (;;) {
		skip_span_blanks(&rest);
		if (!rest.len)
			return UNWRAP_BLOCK_SCRIPT;
		name = take_word(&rest, false);
		skip_span_blanks(&rest);
		value.len = 0;
		if (rest.len && rest.data[0] == '=') {
			rest.data++;
			rest.len--;
			skip_span_blanks(&rest);
			value = take_word(&rest, true);
		}
		if (is_word(name, "class") && value.len && has_word(value, "trace-data"))
			return UNWRAP_BLOCK_TRACE;
		if (is_word(name, "id") && value.len && is_word(value, "viewer-data"))
			return UNWRAP_BLOCK_VIEWER;
	}
}

/* ---- the assignment in a script -------------------------------------------------- */

static bool is_identifier(int c)
{
	return c == '_' || c == '$' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
	       (c >= 'A' && c <= 'Z');
}

static size_t skip_blanks(const unsigned char *data, size_t len, size_t at)
{
	while (at < len && unwrap_is_blank(data[at]))
		at++;
	return at;
}

/*
 * At: linuxPerfData = "\ and a line's end, or the text itself. Into the string; false if this
 * is not at the window's front. Viewers have it in a regular expression, with two backslashes.
 */
static bool enter_perf(struct unwrap_level *l)
{
	const unsigned char *data = unwrap_data(l);
	size_t len = l->end - l->pos, at = strlen(PERF_NAME), end;

	if (unwrap_match(data, len, PERF_NAME) != UNWRAP_YES)
		return false;
	len = len < PERF_BYTES ? len : PERF_BYTES;
	at = skip_blanks(data, len, at);
	if (at == len || data[at] != '=')
		return false;
	at = skip_blanks(data, len, at + 1);
	if (at == len || (data[at] != '"' && data[at] != '\''))
		return false;
	l->html = (struct unwrap_html){ .block = UNWRAP_BLOCK_PERF, .quote = data[at++] };
	if (at < len && data[at] == '\\') {
		end = unwrap_line_end(data + at + 1, len - at - 1);
		if (!end)
			return false;
		at += 1 + end;
	}
	l->pos += at;
	l->name = "HTML with linuxPerfData";
	return true;
}

/* To the next assignment in the script; false at its end, which stays, or the page's. */
static bool find_perf(struct unwrap_level *l)
{
	size_t have;
	int before = 0;

	while ((have = unwrap_need(l, PERF_BYTES))) {
		if (unwrap_match(unwrap_data(l), have, UNWRAP_SCRIPT_END) == UNWRAP_YES)
			break;
		if (!is_identifier(before) && enter_perf(l))
			return true;
		before = *unwrap_data(l);
		l->pos++;
	}
	l->html.block = UNWRAP_BLOCK_SCRIPT;
	return false;
}

/* Enters a script, after its tag. */
static void enter(struct unwrap_level *l, enum unwrap_block block)
{
	l->html = (struct unwrap_html){ .block = block };
	if (block == UNWRAP_BLOCK_SCRIPT)
		find_perf(l);
	else
		l->name = block == UNWRAP_BLOCK_TRACE ? "HTML with trace-data" : "HTML with viewer-data";
}

/* Past the tag of the next script; false if there is none. */
static bool find_script(struct unwrap_level *l)
{
	const unsigned char *tag;
	struct span span;
	size_t have, len;

	while (skip_to_tag(l)) {
		have = unwrap_need(l, TAG_BYTES);
		have = have < TAG_BYTES ? have : TAG_BYTES;
		tag = unwrap_data(l);
		if (unwrap_match(tag, have, "<!--") == UNWRAP_YES) {
			l->pos += 2;	/* the dashes may end it as well */
			skip_comment(l);
			continue;
		}
		len = script_tag_len(tag, have);
		if (len) {
			span.data = tag + SCRIPT_LEN;
			span.len = len - SCRIPT_LEN - 1;
			l->pos += len;
			enter(l, block_of(span));
			return true;
		}
		l->pos++;
	}
	return false;
}

/* ---- the kind -------------------------------------------------------------------------- */

/* To the end of the script that the text was in; false if the page ends first. */
static bool leave_script(struct unwrap_level *l)
{
	bool inside = l->html.block != UNWRAP_BLOCK_PAGE;

	l->html.block = UNWRAP_BLOCK_PAGE;
	return !inside || skip_script(l);
}

static bool next_block(struct unwrap_level *l)
{
	/* The script goes on after the string. */
	if (l->html.block == UNWRAP_BLOCK_PERF && find_perf(l))
		return true;
	do {
		if (!leave_script(l) || !find_script(l))
			return false;
	} while (l->html.block == UNWRAP_BLOCK_SCRIPT);
	return true;
}

const struct unwrap_kind unwrap_html = {
	.name = "HTML",
	.format = UNWRAP_HTML,
	.has_parts = true,
	.next = next_block,
	.read = unwrap_block_read,
};
