// SPDX-License-Identifier: GPL-2.0
/*
 * What is in the scripts of a page that hold a trace: text as it is, a
 * JavaScript string, or base64. Ends where the script does, at the latest.
 */
#include "unwrap_p.h"

#include <string.h>

#define BLANKS_MAX	256U		/* before the end of a script: not part of its text */
#define AHEAD_BYTES	1024U		/* covers them, an end tag and what must follow it */
#define SCRIPT_END_LEN	(sizeof(UNWRAP_SCRIPT_END) - 1)

static const char cut_in_block[] = "the HTML ends inside of a block";

size_t unwrap_line_end(const unsigned char *data, size_t len)
{
	size_t i = 0;

	while (i < len && data[i] == '\r')
		i++;
	return i < len && data[i] == '\n' ? i + 1 : 0;
}

/* ---- text as it is -------------------------------------------------------------- */

/*
 * Whether a script ends at @data, where there is a '<'. A thread can be called
 * "</script>": then that is in the middle of a line. So an end must be at the end
 * of its line or in front of another tag.
 */
static bool is_script_end(const unsigned char *data, size_t len)
{
	size_t i = SCRIPT_END_LEN;
	enum unwrap_match match = unwrap_match(data, len, UNWRAP_SCRIPT_END);

	/* The page was cut there, or else read_trace() asks again. */
	if (match != UNWRAP_YES)
		return match == UNWRAP_SO_FAR;
	while (i < len && i < BLANKS_MAX && unwrap_is_blank(data[i]))
		i++;
	if (i == len)
		return true;
	if (data[i++] != '>')
		return false;
	while (i < len && i < BLANKS_MAX && (unwrap_is_space(data[i]) || data[i] == '\r'))
		i++;
	return i == len || data[i] == '\n' || data[i] == '<';
}

/* How many of @len bytes of the window are text: none at the end of the script. */
static size_t text_len(const struct unwrap_level *l, size_t len, bool *ends)
{
	const unsigned char *data = unwrap_data(l), *tag = data;
	size_t n = len;

	while ((tag = memchr(tag, '<', (size_t)(data + len - tag))) != NULL) {
		n = (size_t)(tag - data);
		if (is_script_end(tag, len - n)) {
			*ends = true;
			break;
		}
		n = len;
		tag++;
	}
	len = n;
	while (n && len - n < BLANKS_MAX && unwrap_is_space(data[n - 1]))
		n--;
	return n;
}

/*
 * Looks at no more than it can use. What seems to be an end where the bytes end
 * is looked at again together with the bytes that follow.
 */
static size_t read_trace(struct unwrap_level *l, unsigned char *buf, size_t len)
{
	size_t have = unwrap_need(l, AHEAD_BYTES), n;
	bool ends = false;

	if (have > AHEAD_BYTES && have - AHEAD_BYTES > len)
		have = len + AHEAD_BYTES;
	n = text_len(l, have, &ends);
	if (n > len)
		n = len;
	memcpy(buf, unwrap_data(l), n);
	l->pos += n;
	if (n)
		return n;
	if (!ends)
		l->pos += have;
	if (!unwrap_need(l, 1))
		unwrap_problem(l, cut_in_block);
	l->html.block_ended = true;
	return 0;
}

/* ---- the JavaScript string -------------------------------------------------------- */

/* @len bytes without anything that could be more than itself. */
static size_t plain_len(const unsigned char *data, size_t len, int quote)
{
	size_t i;

	for (i = 0; i < len; i++)
		if (data[i] == '\\' || data[i] == quote || data[i] == '<')
			break;
	return i;
}

/* The quote at @data ends the string if nothing follows on its line, but perhaps ';'. */
static bool is_string_end(const unsigned char *data, size_t len)
{
	size_t i = 1 + (len > 1 && data[1] == ';');

	while (i < len && (unwrap_is_space(data[i]) || data[i] == '\r'))
		i++;
	return i >= len || data[i] == '\n';
}

/*
 * At a backslash: the number of bytes taken, one of which is text. A line ends
 * with \n\ and a real end of line, the last one with \n"; instead. Nothing else
 * is an escape: who wrote these pages escaped nothing else. 0: the page was cut.
 */
static size_t take_escape(const unsigned char *data, size_t len, int quote, unsigned char *out)
{
	size_t end;

	*out = '\\';
	if (len > 1 && data[1] != 'n')
		return 1;
	if (len < 3)
		return 0;
	if (data[2] == quote && is_string_end(data + 2, len - 2)) {
		*out = '\n';
		return len > 3 ? 2 : 0;
	}
	if (data[2] != '\\')
		return 1;
	end = unwrap_line_end(data + 3, len - 3);
	if (end) {
		*out = '\n';
		return 3 + end;
	}
	for (end = 3; end < len && data[end] == '\r';)
		end++;
	return end < len;
}

/* The same at any byte that is not plain; 0 also at the end of the string. */
static size_t take_special(struct unwrap_level *l, unsigned char *out)
{
	size_t have = unwrap_need(l, AHEAD_BYTES);
	const unsigned char *data = unwrap_data(l);

	have = have < AHEAD_BYTES ? have : AHEAD_BYTES;
	if (!have)
		return 0;
	*out = data[0];
	if (data[0] == l->html.quote)
		return !is_string_end(data, have);
	if (data[0] == '<')
		return !is_script_end(data, have);
	return take_escape(data, have, l->html.quote, out);
}

static size_t read_perf(struct unwrap_level *l, unsigned char *buf, size_t len)
{
	size_t n = 0, cnt;

	while (n < len && !l->html.block_ended) {
		cnt = unwrap_need(l, 1);
		cnt = plain_len(unwrap_data(l), cnt < len - n ? cnt : len - n, l->html.quote);
		memcpy(buf + n, unwrap_data(l), cnt);
		l->pos += cnt;
		n += cnt;
		if (n == len)
			break;
		if (cnt && l->pos == l->end)
			continue;
		cnt = take_special(l, buf + n);
		l->pos += cnt;
		n += cnt != 0;
		l->html.block_ended = !cnt;
	}
	if (l->html.block_ended && !unwrap_need(l, 1))
		unwrap_problem(l, cut_in_block);
	return n;
}

/* ---- base64 ------------------------------------------------------------------------- */

static size_t read_viewer(struct unwrap_level *l, unsigned char *buf, size_t len)
{
	size_t in_len, out_len = 0;
	enum unwrap_base64_end end;

	while (!out_len && !l->html.block_ended) {
		in_len = unwrap_need(l, 1);
		if (!in_len) {
			unwrap_problem(l, cut_in_block);
			l->html.block_ended = true;
			break;
		}
		out_len = len;
		end = unwrap_base64(&l->html.base64, unwrap_data(l), &in_len, buf, &out_len);
		l->pos += in_len;
		l->html.block_ended = end != UNWRAP_BASE64_GOES_ON;
		if (end == UNWRAP_BASE64_BAD)
			unwrap_problem(l, "the base64 is damaged");
	}
	return out_len;
}

/* ---- all ------------------------------------------------------------------------------ */

size_t unwrap_block_read(struct unwrap_level *l, unsigned char *buf, size_t len)
{
	if (l->html.block_ended)
		return 0;
	switch (l->html.block) {
	case UNWRAP_BLOCK_TRACE:
		return read_trace(l, buf, len);
	case UNWRAP_BLOCK_PERF:
		return read_perf(l, buf, len);
	case UNWRAP_BLOCK_VIEWER:
		return read_viewer(l, buf, len);
	default:
		return 0;
	}
}
