// SPDX-License-Identifier: GPL-2.0
/*
 * Pages with traces in them: systrace's trace-data scripts, trace2html's
 * viewer-data scripts and the linuxPerfData string of older viewers.
 *
 * Only scripts are looked at, and of the page's own ones only how they begin:
 * the viewer that is part of the page mentions everything a trace could hold.
 */
#include "peel_p.h"

#include <string.h>

#define TAG_BYTES	4096U		/* longer is no tag we know */
#define PERF_BYTES	512U		/* from a script's tag to the string in it */
#define SCRIPT		"<script"
#define SCRIPT_LEN	(sizeof(SCRIPT) - 1)
#define SCRIPT_END_LEN	(sizeof(PEEL_SCRIPT_END) - 1)

/* ---- finding scripts ----------------------------------------------------------- */

/* Up to the next '<', which stays; false if there is none. */
static bool skip_to_tag(struct peel_level *l)
{
	const unsigned char *tag;

	while (peel_need(l, 1)) {
		tag = memchr(peel_data(l), '<', l->end - l->pos);
		if (tag) {
			l->pos = (size_t)(tag - l->window);
			return true;
		}
		l->pos = l->end;
	}
	return false;
}

/* Past "</script"; false if there is none. */
static bool skip_script(struct peel_level *l)
{
	size_t have;

	while (skip_to_tag(l)) {
		have = peel_need(l, SCRIPT_END_LEN);
		if (peel_match(peel_data(l), have, PEEL_SCRIPT_END) == PEEL_YES) {
			l->pos += SCRIPT_END_LEN;
			return true;
		}
		l->pos++;
	}
	peel_problem(l, "the HTML ends inside of a script");
	return false;
}

static void skip_comment(struct peel_level *l)
{
	const unsigned char *dash;

	while (peel_need(l, 3) >= 3) {
		dash = memchr(peel_data(l), '-', l->end - l->pos - 2);
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
	peel_problem(l, "the HTML ends inside of a comment");
}

/* The length of the script's tag at @tag, quotes respected; 0 if it is none or does not end. */
static size_t script_tag_len(const unsigned char *tag, size_t len)
{
	size_t i = SCRIPT_LEN;
	int quote = 0;

	if (peel_match(tag, len, SCRIPT) != PEEL_YES || len == i ||
	    (tag[i] != '>' && !peel_is_blank(tag[i])))
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
		if (quote ? rest->data[i] == quote : peel_is_blank(rest->data[i]))
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
	while (rest->len && peel_is_blank(rest->data[0])) {
		rest->data++;
		rest->len--;
	}
}

static bool is_word(struct span span, const char *word)
{
	return span.len == strlen(word) && peel_match(span.data, span.len, word) == PEEL_YES;
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
		for (one.len = 0; one.len < rest.len && !peel_is_blank(one.data[one.len]);)
			one.len++;
		if (is_word(one, word))
			return true;
		rest.data += one.len;
		rest.len -= one.len;
	}
}

/* What the script of the tag @tag, the end of which is cut off, holds. */
static enum peel_block block_of(struct span tag)
{
	struct span name, value, rest = tag;

	for (;;) {
		skip_span_blanks(&rest);
		if (!rest.len)
			return PEEL_BLOCK_SCRIPT;
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
			return PEEL_BLOCK_TRACE;
		if (is_word(name, "id") && value.len && is_word(value, "viewer-data"))
			return PEEL_BLOCK_VIEWER;
	}
}

/* Past @word and the blanks after it, from @at on; 0 if it is not there. */
static size_t past_word(const struct peel_level *l, size_t at, size_t len, const char *word)
{
	const unsigned char *data = peel_data(l);

	if (at == len || peel_match(data + at, len - at, word) != PEEL_YES)
		return 0;
	at += strlen(word);
	while (at < len && peel_is_space(data[at]))
		at++;
	return at;
}

/* A script that begins: var linuxPerfData = "\ */
static bool enter_perf(struct peel_level *l)
{
	size_t have = peel_need(l, PERF_BYTES), at = 0, end;

	have = have < PERF_BYTES ? have : PERF_BYTES;
	while (at < have && peel_is_blank(peel_data(l)[at]))
		at++;
	at = past_word(l, at, have, "var");
	at = at ? past_word(l, at, have, "linuxperfdata") : 0;
	at = at ? past_word(l, at, have, "=") : 0;
	if (!at || at == have || peel_data(l)[at] != '"')
		return false;
	at++;
	end = at;
	if (at < have && peel_data(l)[at] == '\\')
		end += 1 + peel_line_end(peel_data(l) + at + 1, have - at - 1);
	l->pos += end > at + 1 ? end : at;
	return true;
}

/* Behind the tag of a script. */
static void enter(struct peel_level *l, enum peel_block block)
{
	static const char *const names[] = {
		[PEEL_BLOCK_SCRIPT] = "HTML",
		[PEEL_BLOCK_TRACE] = "HTML with trace-data",
		[PEEL_BLOCK_VIEWER] = "HTML with viewer-data",
		[PEEL_BLOCK_PERF] = "HTML with linuxPerfData",
	};

	if (block == PEEL_BLOCK_SCRIPT && enter_perf(l))
		block = PEEL_BLOCK_PERF;
	l->html = (struct peel_html){ .block = block };
	if (block != PEEL_BLOCK_SCRIPT)
		l->name = names[block];
}

/* Past the tag of the next script; false if there is none. */
static bool find_script(struct peel_level *l)
{
	const unsigned char *tag;
	struct span span;
	size_t have, len;

	while (skip_to_tag(l)) {
		have = peel_need(l, TAG_BYTES);
		have = have < TAG_BYTES ? have : TAG_BYTES;
		tag = peel_data(l);
		if (peel_match(tag, have, "<!--") == PEEL_YES) {
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
static bool leave_script(struct peel_level *l)
{
	bool inside = l->html.block != PEEL_BLOCK_PAGE;

	l->html.block = PEEL_BLOCK_PAGE;
	return !inside || skip_script(l);
}

static bool next_block(struct peel_level *l)
{
	do {
		if (!leave_script(l) || !find_script(l))
			return false;
	} while (l->html.block == PEEL_BLOCK_SCRIPT);
	return true;
}

const struct peel_kind peel_html = {
	.name = "HTML",
	.format = PEEL_HTML,
	.has_parts = true,
	.next = next_block,
	.read = peel_block_read,
};
