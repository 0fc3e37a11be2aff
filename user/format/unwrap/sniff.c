// SPDX-License-Identifier: GPL-2.0
/*
 * What a level holds, by its first bytes.
 *
 * What is decided with some bytes must not change with more of them, so that
 * the size of the pieces the input arrives in makes no difference. Where the
 * input ends within a mark, it is taken for the whole mark: a file that was cut
 * there shows nothing, instead of showing half a mark as text.
 */
#include "unwrap_p.h"

#include <string.h>

#define ENTRIES(table)	(sizeof(table) / sizeof((table)[0]))

/* What can be seen. */
struct view {
	const unsigned char *data;
	size_t len;
	bool ended;			/* there is no more of it */
	bool all;			/* the same, or there are enough to decide */
};

struct line {
	const unsigned char *text;
	size_t len;			/* without its end, be it \n, \r\n or \r\r\n */
	size_t next;			/* where the next one begins */
	bool whole;			/* it had an end */
};

static struct view view_from(struct view view, size_t at)
{
	view.data += at;
	view.len -= at;
	return view;
}

static struct line line_at(struct view view, size_t at)
{
	const unsigned char *end = memchr(view.data + at, '\n', view.len - at);
	struct line line = { .text = view.data + at, .whole = end, .next = view.len };

	if (end)
		line.next = (size_t)(end - view.data) + 1;
	line.len = (end ? (size_t)(end - view.data) : view.len) - at;
	while (line.len && unwrap_is_blank(line.text[line.len - 1]))
		line.len--;
	return line;
}

static bool begins_with(struct line line, const char *word)
{
	size_t len = strlen(word);

	return line.len >= len && !memcmp(line.text, word, len);
}

/* The input was cut within @word. */
static bool is_cut_within(struct view view, struct line line, const char *word)
{
	return view.ended && !line.whole && line.len && line.len < strlen(word) &&
	       !memcmp(line.text, word, line.len);
}

static bool is_digit(int c)
{
	return c >= '0' && c <= '9';
}

static bool is_flag_or_time(int c)
{
	return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '.' ||
	       c == '#' || c == ' ' || c == '\t';
}

static size_t skip_digits(struct line line, size_t at)
{
	while (at < line.len && is_digit(line.text[at]))
		at++;
	return at;
}

/* ---- lines of ftrace text ------------------------------------------------------ */

/* "PID " or "PID (TGID) " before @at? */
static bool has_pid_before(struct line line, size_t at)
{
	size_t widest = 12;

	while (at && line.text[at - 1] == ' ')
		at--;
	if (at && line.text[at - 1] == ')') {
		while (at && line.text[at - 1] != '(' && --widest)
			at--;
		at -= at != 0;
		while (at && line.text[at - 1] == ' ')
			at--;
	}
	return at && is_digit(line.text[at - 1]);
}

/* "PID [CPU] FLAGS TIME:", as the kernel, trace-cmd and perf print it. */
static bool is_record(struct line line)
{
	const unsigned char *bracket;
	size_t at = 0, end;

	while (at < line.len) {
		bracket = memchr(line.text + at, '[', line.len - at);
		if (!bracket)
			return false;
		at = (size_t)(bracket - line.text) + 1;
		end = skip_digits(line, at);
		if (end == at || end == line.len || line.text[end] != ']' ||
		    !has_pid_before(line, at - 1))
			continue;
		end++;
		while (end < line.len && is_flag_or_time(line.text[end]))
			end++;
		if (end < line.len && line.text[end] == ':' && is_digit(line.text[end - 1]))
			return true;
	}
	return false;
}

/* function_graph: "CPU) ... |", "TIME | ..." */
static bool is_graph(struct line line)
{
	size_t at = 0, digits;

	while (at < line.len && line.text[at] == ' ')
		at++;
	digits = at;
	at = skip_digits(line, at);
	if (at == digits || at == line.len)
		return false;
	if (line.text[at] == '.')
		at = skip_digits(line, at + 1);
	else if (line.text[at] != ')')
		return false;
	return at < line.len && memchr(line.text + at, '|', line.len - at);
}

static bool is_trace(struct line line)
{
	static const char *const begins[] = {
		"# tracer:", "# clock_type=", "# entries-in-buffer", "##### CPU ", "CPU:", "cpus=",
	};
	size_t i;

	for (i = 0; i < ENTRIES(begins); i++)
		if (begins_with(line, begins[i]))
			return true;
	return is_record(line) || is_graph(line);
}

/* ---- wrappers ------------------------------------------------------------------ */

enum unwrap_match unwrap_match(const unsigned char *data, size_t len, const char *word)
{
	size_t i;

	for (i = 0; word[i]; i++) {
		if (i == len)
			return UNWRAP_SO_FAR;
		if ((data[i] >= 'A' && data[i] <= 'Z' ? data[i] + 32 : data[i]) !=
		    (unsigned char)word[i])
			return UNWRAP_NO;
	}
	return UNWRAP_YES;
}

static size_t skip_blanks(const unsigned char *data, size_t len, size_t at)
{
	while (at < len && unwrap_is_blank(data[at]))
		at++;
	return at;
}

static enum unwrap_match match_gzip(const unsigned char *data, size_t len)
{
	return unwrap_match(data, len, "\x1f\x8b");
}

/* The three levels that are in use; "x^", a fourth, is rather a thread's name. */
static enum unwrap_match match_zlib(const unsigned char *data, size_t len)
{
	if (data[0] != 'x')
		return UNWRAP_NO;
	if (len == 1)
		return UNWRAP_SO_FAR;
	return data[1] == 0x01 || data[1] == 0x9c || data[1] == 0xda ? UNWRAP_YES : UNWRAP_NO;
}

static enum unwrap_match match_html(const unsigned char *data, size_t len)
{
	enum unwrap_match match = unwrap_match(data, len, "<html");
	size_t at = strlen("<html");

	if (match == UNWRAP_SO_FAR || (match == UNWRAP_YES && len == at))
		return UNWRAP_SO_FAR;
	if (match == UNWRAP_YES)
		return data[at] == '>' || unwrap_is_blank(data[at]) ? UNWRAP_YES : UNWRAP_NO;
	at = strlen("<!doctype");
	match = unwrap_match(data, len, "<!doctype");
	if (match != UNWRAP_YES)
		return match;
	if (at < len && !unwrap_is_blank(data[at]))
		return UNWRAP_NO;
	at = skip_blanks(data, len, at);
	return unwrap_match(data + at, len - at, "html");
}

/* "[" alone could begin a record whose name's blanks were taken away. */
static enum unwrap_match match_json(const unsigned char *data, size_t len)
{
	size_t at;

	if (data[0] != '{' && data[0] != '[')
		return UNWRAP_NO;
	at = skip_blanks(data, len, 1);
	if (at == len)
		return UNWRAP_SO_FAR;
	if (data[0] == '{')
		return data[at] == '"' || data[at] == '}' ? UNWRAP_YES : UNWRAP_NO;
	return data[at] == '{' || data[at] == ']' ? UNWRAP_YES : UNWRAP_NO;
}

static const struct wrapper {
	const struct unwrap_kind *kind;
	enum unwrap_match (*match)(const unsigned char *data, size_t len);
} wrappers[] = {
	{ &unwrap_gzip, match_gzip },
	{ &unwrap_zlib, match_zlib },
	{ &unwrap_html, match_html },
	{ &unwrap_json, match_json },
};

/* Whether @w may be found where @format is asked for: compression always. */
static bool is_selected(const struct wrapper *w, enum unwrap_format format)
{
	return format == UNWRAP_AUTO || w->kind->format == UNWRAP_AUTO;
}

/* At least one byte is there. False: more are needed. */
static bool look_for_wrapper(const struct unwrap_level *l, struct view view, struct unwrap_sight *sight)
{
	const struct wrapper *w;
	enum unwrap_match match;

	for (w = wrappers; w < wrappers + ENTRIES(wrappers); w++) {
		match = is_selected(w, l->format) ? w->match(view.data, view.len) : UNWRAP_NO;
		if (match == UNWRAP_SO_FAR && !view.all)
			return false;
		if (match != UNWRAP_NO) {
			sight->kind = w->kind;
			return true;
		}
	}
	return true;
}

/* ---- text ---------------------------------------------------------------------- */

/*
 * Past what atrace, and adb before it, say before the trace: all up to a line
 * "TRACE:" that comes before any line of a trace.
 */
static bool look_for_atrace(struct view view, struct unwrap_sight *sight)
{
	struct line line;
	size_t at;

	for (at = 0; at < view.len; at = line.next) {
		line = line_at(view, at);
		if (!line.whole && !view.all)
			return false;
		if ((line.len == strlen("TRACE:") && begins_with(line, "TRACE:")) ||
		    is_cut_within(view, line, "TRACE:")) {
			sight->skip = line.next;
			sight->atrace = true;
			return true;
		}
		if (begins_with(line, "#") || is_trace(line))
			return true;
		if (begins_with(line, "capturing trace") ||
		    is_cut_within(view, line, "capturing trace")) {
			sight->skip = line.next;
			sight->atrace = true;
		}
	}
	return view.all;
}

/* Text, or nothing. */
static bool look_for_text(const struct unwrap_level *l, struct view view, struct unwrap_sight *sight)
{
	struct line line = { 0 };
	size_t at;

	for (at = 0; at < view.len && !line.len; at = line.next)
		line = line_at(view, at);
	if (!(line.len && line.whole) && !view.all)
		return false;
	sight->dump = begins_with(line, "PROCESS DUMP");
	sight->kind = &unwrap_text;
	if (l->strict && !sight->dump && !is_trace(line))
		sight->kind = &unwrap_nothing;
	/* A page's blank lines are about the page, atrace's about the terminal. */
	if (line.len && (l->strict || l->atrace))
		sight->skip += (size_t)(line.text - view.data);
	else if (!line.len && view.ended)
		sight->skip += view.len;
	return true;
}

/* The length of a byte order mark, or what the input was cut to of one. */
static size_t mark_len(struct view view)
{
	static const unsigned char mark[] = { 0xef, 0xbb, 0xbf };
	size_t cnt = view.len < sizeof(mark) ? view.len : sizeof(mark);

	return memcmp(view.data, mark, cnt) ? 0 : cnt;
}

static const struct unwrap_kind *kind_asked_for(enum unwrap_format format)
{
	if (format == UNWRAP_HTML)
		return &unwrap_html;
	return format == UNWRAP_JSON ? &unwrap_json : NULL;
}

/* Looks at what follows a byte order mark and is in no wrapper. */
static bool look_behind_mark(const struct unwrap_level *l, struct view view, struct unwrap_sight *sight)
{
	size_t skip = sight->skip;

	sight->kind = kind_asked_for(l->format);
	if (sight->kind)
		return true;
	if (l->format != UNWRAP_TEXT && !unwrap_look_for_foreign(view.data, view.len, view.all, &sight->foreign))
		return false;
	if (sight->foreign && !sight->foreign->is_guess) {
		sight->kind = &unwrap_nothing;
		return true;
	}
	if (!l->atrace) {
		if (!look_for_atrace(view, sight))
			return false;
		if (sight->atrace) {
			sight->skip += skip;
			return true;
		}
	}
	return look_for_text(l, view, sight);
}

bool unwrap_look(const struct unwrap_level *l, struct unwrap_sight *sight)
{
	struct view view = { .data = unwrap_data(l), .len = l->end - l->pos };
	size_t mark, at;

	/* Never more, or it would depend on how much is there already. */
	view.ended = l->ended && view.len < UNWRAP_SIGHT_BYTES;
	if (view.len > UNWRAP_SIGHT_BYTES)
		view.len = UNWRAP_SIGHT_BYTES;
	view.all = view.ended || view.len == UNWRAP_SIGHT_BYTES;
	mark = mark_len(view);
	at = skip_blanks(view.data, view.len, mark);
	if (at == view.len && !view.all)
		return false;
	*sight = (struct unwrap_sight){ .skip = at };
	if (at < view.len && !look_for_wrapper(l, view_from(view, at), sight))
		return false;
	if (sight->kind)
		return true;
	sight->skip = mark;
	return look_behind_mark(l, view_from(view, mark), sight);
}
