/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Cuts the text into lines, keeps the record that may still continue, and counts
 * every line. Lines are parsed where the caller has them; what is left over at
 * the end of its text, an unfinished line and the record held back, is copied.
 */
#include <errno.h>
#include <stdlib.h>

#include "parse_p.h"
#include "base/array.h"

/* A line's bytes that are kept at most: enough to see that there are too many. */
#define TAIL_MAX (PARSE_RECORD_MAX + 64)

/* More than all columns of function_graph and its deepest indentation are wide. */
#define GRAPH_COLUMNS 240

static const char too_long[] = "record longer than 1 MiB";
static const char lone_frame[] = "frame of a stack without its stack";
static const char cut_short[] = "unfinished last line";

struct buffer {
	char *data;
	size_t len, size;
};

struct ftrace_parser {
	ftrace_emit_fn emit;
	void *ctx;
	int err;
	bool no_fast;
	struct parse_mode mode;
	struct ftrace_stats stats;
	/* the record held back, and space for the next one */
	struct ftrace_event ev[2];
	unsigned int cur; /* index of the first */
	bool held;
	bool held_closed;  /* it takes no more lines ... */
	bool held_full;	   /* ... because it is too long */
	bool held_comment; /* from function_graph, its end not seen yet */
	/* where its texts are */
	const char *held_s, *held_e;
	/* empty lines since: its own only if more follows */
	uint64_t held_blanks;
	struct buffer tail; /* lines not yet parsed */
	struct buffer keep; /* first line of the record held back */
	struct buffer more; /* its args, once they have several lines */
};

static int buffer_add(struct buffer *b, const char *data, size_t len)
{
	if (array_reserve(b->data, b->len, b->size, len + 1))
		return -ENOMEM;
	if (len)
		memcpy(b->data + b->len, data, len);
	b->len += len;
	return 0;
}

/* ---- events out ------------------------------------------------------------ */

static void emit(struct ftrace_parser *p, const struct ftrace_event *ev)
{
	if (p->err)
		return;
	if (ev->kind < FTRACE_KIND_RECORDS)
		p->stats.records += ev->kind == FTRACE_GRAPH_LEAF ? 2 : 1;
	p->err = p->emit(p->ctx, ev);
}

static bool is_stack_kind(enum ftrace_kind kind)
{
	return kind == FTRACE_STACK || kind == FTRACE_USER_STACK;
}

/* The record held back is complete. @next is what comes after it, NULL if that is not known. */
static void flush(struct ftrace_parser *p, const struct ftrace_event *next)
{
	struct ftrace_event *ev = &p->ev[p->cur];

	p->stats.blanks += p->held_blanks;
	p->held_blanks = 0;
	if (!p->held)
		return;
	p->held = false;
	ev->stack_follows = !next || is_stack_kind(next->kind);
	if (p->more.len) {
		ev->args = (struct model_text){ p->more.data, p->more.len };
		p->more.len = 0;
		if (ev->kind == FTRACE_SYSCALL_ENTER &&
		    ends(p->more.data, p->more.data + ev->args.len, ")"))
			ev->args.len--;
	}
	emit(p, ev);
}

/* The other of the two events was filled from [s, e): it is held back from now on. */
static void hold(struct ftrace_parser *p, const char *s, const char *e)
{
	if (p->held || p->held_blanks)
		flush(p, &p->ev[p->cur ^ 1]);
	p->cur ^= 1;
	p->ev[p->cur].line = p->stats.lines;
	p->held = true;
	p->held_closed = false;
	p->held_full = false;
	p->held_comment = false;
	p->held_s = s;
	p->held_e = e;
	p->mode.dump = false;
}

/* An event that is no record. */
static void emit_notice(struct ftrace_parser *p, struct ftrace_event *ev)
{
	flush(p, ev);
	ev->line = p->stats.lines;
	emit(p, ev);
}

static void move_text(struct model_text *t, const char *s, const char *e, const char *to)
{
	if (t->len && t->data >= s && t->data <= e)
		t->data = to + (t->data - s);
}

/* The text that the record held back points into is about to go. */
static void save_held(struct ftrace_parser *p)
{
	struct ftrace_event *ev = &p->ev[p->cur];
	const char *s = p->held_s, *e = p->held_e;

	if (!p->held || s == p->keep.data)
		return;
	p->keep.len = 0;
	if (buffer_add(&p->keep, s, e - s)) {
		p->err = -ENOMEM;
		p->held = false;
		return;
	}
	move_text(&ev->comm, s, e, p->keep.data);
	move_text(&ev->system, s, e, p->keep.data);
	move_text(&ev->name, s, e, p->keep.data);
	move_text(&ev->args, s, e, p->keep.data);
	p->held_s = p->keep.data;
	p->held_e = p->keep.data + p->keep.len;
}

/* ---- lines of no form ------------------------------------------------------ */

static void count_unparsed(struct ftrace_parser *p, const char *reason)
{
	struct ftrace_stats *st = &p->stats;

	if (st->unparsed < FTRACE_UNPARSED_KEPT) {
		st->first_unparsed[st->unparsed].line = st->lines;
		st->first_unparsed[st->unparsed].reason = reason;
	}
	st->unparsed++;
}

/* Adds to the args of the record held back, up to the bound. */
static bool add_text(struct ftrace_parser *p, const char *data, size_t len)
{
	size_t space = PARSE_RECORD_MAX - p->more.len;

	if (buffer_add(&p->more, data, len < space ? len : space))
		p->err = -ENOMEM;
	if (len > space)
		p->held_full = true;
	return len <= space;
}

/* Its args so far go to the buffer that can grow. */
static void begin_more(struct ftrace_parser *p)
{
	struct ftrace_event *ev = &p->ev[p->cur];

	if (!p->more.len && ev->args.len)
		add_text(p, ev->args.data, ev->args.len);
}

static void add_line(struct ftrace_parser *p, struct model_text text, bool terminated)
{
	struct ftrace_event *ev = &p->ev[p->cur];
	bool stack = is_stack_kind(ev->kind);
	bool fits = true;

	begin_more(p);
	for (; p->held_blanks; p->held_blanks--) {
		if (!stack)
			fits &= add_text(p, "\n", 1);
		p->stats.continuation_lines++;
	}
	if (!stack || p->more.len)
		fits &= add_text(p, "\n", 1);
	fits = fits && add_text(p, text.data, text.len);
	ev->complete &= terminated && fits;
	if (fits)
		p->stats.continuation_lines++;
	else
		count_unparsed(p, too_long);
}

/* function_graph: the comment ends where it says so. */
static bool add_comment_line(struct ftrace_parser *p, const struct parse_line *line)
{
	const char *e = trim_end(line->s, line->e);
	bool last = ends(line->s, e, "*/");

	if (last) {
		e -= 2;
		e -= e > line->s && e[-1] == ' ';
	}
	add_line(p, text_of(line->s, last ? e : line->e), line->terminated);
	p->held_comment = !last;
	p->held_closed = last;
	return true;
}

/* Whether the line was taken as more of the record held back. */
static bool continues(struct ftrace_parser *p, const struct parse_line *line)
{
	struct ftrace_event *ev = &p->ev[p->cur];
	struct model_text args = ev->args;

	if (!p->held || p->held_closed || p->held_full)
		return false;
	if (p->held_comment)
		return add_comment_line(p, line);
	/* without its end it is as likely a record that was cut */
	if (!line->terminated && line->s < line->e && *line->s == ' ')
		return false;
	if (p->more.len)
		args = (struct model_text){ p->more.data, p->more.len };
	if (!parse_may_continue(ev, args))
		return false;
	add_line(p, text_of(line->s, line->e), line->terminated);
	return true;
}

static bool is_stack(const struct ftrace_parser *p)
{
	return p->held && is_stack_kind(p->ev[p->cur].kind);
}

static bool take_frame(struct ftrace_parser *p, const struct parse_line *line)
{
	struct model_text frame;

	if (!is_stack(p) || !parse_is_frame(line, &frame))
		return false;
	if (p->held_full)
		count_unparsed(p, too_long);
	else
		add_line(p, frame, line->terminated);
	return true;
}

/* perf script -g: frames follow their event without a record of their own. */
static bool take_perf_frame(struct ftrace_parser *p, const struct parse_line *line)
{
	struct ftrace_event *ev = &p->ev[p->cur], stack = *ev;
	struct model_text frame;

	if (!p->held || !ev->system.len || !parse_is_perf_frame(line, &frame))
		return false;
	if (is_stack(p)) {
		add_line(p, frame, line->terminated);
		return true;
	}
	stack.kind = FTRACE_STACK;
	stack.name = literal("kernel_stack");
	stack.args = frame;
	stack.complete = line->terminated;
	p->ev[p->cur ^ 1] = stack;
	/* the name stays where it is, the frame goes where more of them can follow */
	flush(p, &p->ev[p->cur ^ 1]);
	hold(p, p->held_s, p->held_e);
	if (!p->err)
		begin_more(p);
	return true;
}

static void take_unknown(struct ftrace_parser *p, const struct parse_line *line, const char *reason)
{
	struct model_text frame;

	if (reason == parse_unknown) {
		if (starts(line->s, line->e, "[LINE TOO BIG]") && p->held) {
			p->ev[p->cur].complete = false;
			p->stats.continuation_lines++;
			return;
		}
		if (take_perf_frame(p, line) || continues(p, line))
			return;
		if (p->held_full)
			reason = too_long;
		else if (parse_is_frame(line, &frame))
			reason = lone_frame;
		else if (!line->terminated)
			reason = cut_short;
	}
	p->stats.blanks += p->held_blanks;
	p->held_blanks = 0;
	count_unparsed(p, reason);
	/* what follows damage is no continuation of what was before it */
	p->held_closed = true;
}

/* ---- lines ----------------------------------------------------------------- */

/* "/ *" without its end: the comment goes on. */
static bool opens_comment(const struct ftrace_event *ev, const struct parse_line *line)
{
	const char *e = trim_end(line->s, line->e);
	size_t columns = e - line->s < GRAPH_COLUMNS ? e - line->s : GRAPH_COLUMNS;
	struct ftrace_event again;

	return (ev->kind == FTRACE_MARKER || ev->kind == FTRACE_EVENT) && !ends(line->s, e, "*/") &&
	       memmem(line->s, columns, "/* ", 3) && parse_default(&again, line) == parse_unknown &&
	       !parse_graph(&again, line);
}

static void take_comment(struct ftrace_parser *p, const struct parse_line *line)
{
	struct ftrace_event ev;

	p->stats.comments++;
	p->mode.dump = false;
	if (parse_header(&p->mode, &ev, line))
		emit_notice(p, &ev);
}

/* Notices, reports' and dumps' lines; false if it is none of them. */
static bool take_other(struct ftrace_parser *p, const struct parse_line *line)
{
	struct ftrace_event ev;
	const char *reason = parse_lost(&ev, line);

	if (!reason) {
		p->stats.lost_notices++;
		p->stats.lost_events += ev.count;
		emit_notice(p, &ev);
		return true;
	}
	if (reason != parse_unknown) {
		count_unparsed(p, reason);
		return true;
	}
	if (parse_report_begins(&p->mode, line)) {
		parse_event_init(&ev);
		ev.kind = FTRACE_TRACE;
		emit_notice(p, &ev);
	} else if (!parse_graph_switch(&ev, line) || !parse_dump_row(&ev, line)) {
		emit_notice(p, &ev);
	} else if (!parse_dump_titles(&p->mode, line) && !parse_is_filler(line)) {
		return false;
	}
	p->stats.comments++;
	return true;
}

static void take_record(struct ftrace_parser *p, const struct parse_line *line, bool cut)
{
	struct ftrace_event *ev = &p->ev[p->cur ^ 1];

	ev->complete &= line->terminated && !cut;
	hold(p, line->s, line->e);
	p->held_comment = opens_comment(ev, line);
	p->held_full = cut;
	if (cut)
		count_unparsed(p, too_long);
}

/* The order decides what a line is that could be several things. */
static void sort_line(struct ftrace_parser *p, const struct parse_line *line, bool cut)
{
	struct ftrace_event *ev = &p->ev[p->cur ^ 1];
	const char *reason = parse_in_columns(ev, line);

	if (reason == parse_unknown && *line->s == '#') {
		reason = parse_hash(ev, line);
		if (reason) {
			take_comment(p, line);
			return;
		}
	}
	if (reason == parse_unknown) {
		if (take_frame(p, line) || take_other(p, line))
			return;
		reason = parse_elsewhere(ev, line);
	}
	if (!reason)
		take_record(p, line, cut);
	else if (cut)
		count_unparsed(p, too_long);
	else
		take_unknown(p, line, reason);
}

/* One line, of any kind. */
static void take_line(struct ftrace_parser *p, struct parse_line *line)
{
	bool cut = line->e - line->s > (long)PARSE_RECORD_MAX;

	p->stats.lines++;
	if (p->stats.lines == 1 && starts(line->s, line->e, "\xef\xbb\xbf"))
		line->s += 3;
	if (cut)
		line->e = line->s + PARSE_RECORD_MAX;
	if (skip_blanks(line->s, line->e) == line->e) {
		p->held_blanks++;
		return;
	}
	sort_line(p, line, cut);
}

/* ---- names with a newline -------------------------------------------------- */

/* Whether the line at @s alone is a record in its usual columns. */
static bool stands_alone(const char *s, const char *e)
{
	return e - s > PARSE_COLUMN + 1 && s[PARSE_COLUMN] == '-' &&
	       is_digit(s[PARSE_COLUMN + 1]) && !memchr(s, '\n', PARSE_COLUMN);
}

/*
 * A line too short for the name column may be the beginning of one that holds a
 * newline: with the next lines it is a record whose dash is where it should be.
 * Returns the end of that record, NULL if it is none; *wait: not known yet.
 */
static const char *join_name(struct ftrace_parser *p, const char *s, const char *nl, const char *e,
			     bool final, bool *wait)
{
	struct parse_line line = { .s = s, .mode = &p->mode };
	const char *end;

	*wait = false;
	if (e - s <= PARSE_COLUMN + 1) {
		*wait = !final;
		return NULL;
	}
	if (s[PARSE_COLUMN] != '-' || !is_digit(s[PARSE_COLUMN + 1]))
		return NULL;
	end = memchr(s + PARSE_COLUMN, '\n', e - s - PARSE_COLUMN);
	if (!end && !final && e - s <= (long)PARSE_RECORD_MAX) {
		*wait = true;
		return NULL;
	}
	line.terminated = end;
	line.e = end ? end : e;
	if (line.e - s > (long)PARSE_RECORD_MAX || stands_alone(nl + 1, e))
		return NULL;
	end = line.e;
	while (line.e > s && line.e[-1] == '\r')
		line.e--;
	if (parse_default(&p->ev[p->cur ^ 1], &line))
		return NULL;
	p->stats.lines++;
	p->ev[p->cur ^ 1].complete &= line.terminated;
	hold(p, s, line.e);
	for (; nl < s + PARSE_COLUMN; nl++) {
		p->stats.lines += *nl == '\n';
		p->stats.continuation_lines += *nl == '\n';
	}
	return end;
}

/* ---- text in --------------------------------------------------------------- */

/* Parses the lines in [s, e); returns where the first one begins that needs more text. */
static const char *consume(struct ftrace_parser *p, const char *s, const char *e, bool final)
{
	while (s < e && !p->err) {
		const char *nl = memchr(s, '\n', e - s), *end;
		struct parse_line line = { s, nl ? nl : e, nl, &p->mode };
		bool wait = false;

		if (!nl && !final)
			break;
		while (line.e > s && line.e[-1] == '\r')
			line.e--;
		if (nl && !p->no_fast && parse_fast(&p->ev[p->cur ^ 1], &line)) {
			p->stats.lines++;
			hold(p, s, line.e);
			s = nl + 1;
			continue;
		}
		end = nl && nl - s < PARSE_COLUMN ? join_name(p, s, nl, e, final, &wait) : NULL;
		if (wait)
			break;
		if (!end) {
			take_line(p, &line);
			end = nl ? nl : e;
		}
		s = end < e ? end + 1 : e;
	}
	return s;
}

static void add_tail(struct ftrace_parser *p, const char *s, const char *e)
{
	size_t space = p->tail.len < TAIL_MAX ? TAIL_MAX - p->tail.len : 0;
	bool newline = e > s && e[-1] == '\n';

	if ((size_t)(e - s) <= space) {
		newline = false;
	} else {
		e = s + space;
	}
	if (buffer_add(&p->tail, s, e - s) || (newline && buffer_add(&p->tail, "\n", 1)))
		p->err = -ENOMEM;
}

/* The lines in the tail. */
static void consume_tail(struct ftrace_parser *p, bool final)
{
	const char *e, *done;

	if (!p->tail.len)
		return;
	e = p->tail.data + p->tail.len;
	done = consume(p, p->tail.data, e, final);
	save_held(p);
	p->tail.len = e - done;
	memmove(p->tail.data, done, p->tail.len);
}

int ftrace_parser_feed(struct ftrace_parser *p, const char *data, size_t len)
{
	const char *s = data, *e = data + len, *nl;

	p->stats.bytes += len;
	while (s < e && p->tail.len && !p->err) {
		nl = memchr(s, '\n', e - s);
		add_tail(p, s, nl ? nl + 1 : e);
		s = nl ? nl + 1 : e;
		if (nl)
			consume_tail(p, false);
	}
	if (s < e && !p->err) {
		s = consume(p, s, e, false);
		save_held(p);
		add_tail(p, s, e);
	}
	return p->err;
}

int ftrace_parser_end(struct ftrace_parser *p)
{
	if (!p->err)
		consume_tail(p, true);
	flush(p, NULL);
	return p->err;
}

int ftrace_parser_open(struct ftrace_parser **out, ftrace_emit_fn emit_fn, void *ctx)
{
	struct ftrace_parser *p = calloc(1, sizeof(*p));

	if (!p)
		return -ENOMEM;
	p->emit = emit_fn;
	p->ctx = ctx;
	*out = p;
	return 0;
}

void ftrace_parser_stats(const struct ftrace_parser *p, struct ftrace_stats *stats)
{
	*stats = p->stats;
}

void ftrace_parser_set_fast(struct ftrace_parser *p, bool fast)
{
	p->no_fast = !fast;
}

void ftrace_parser_close(struct ftrace_parser *p)
{
	if (!p)
		return;
	free(p->tail.data);
	free(p->keep.data);
	free(p->more.data);
	free(p);
}
