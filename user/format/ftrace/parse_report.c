/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What trace-cmd report and perf script print otherwise than the kernel: events
 * that stand for other kinds of records, and perf's columns.
 */
#include "parse_p.h"

#define PERF_COLUMNS_MAX 320 /* where perf's CPU must have begun */

/* The text of a marker, without the "SYMBOL: " before it. */
static void parse_print(struct ftrace_event *ev, const char *args, const char *e)
{
	const char *s = skip_blanks(args, e), *q = skip_name(s, e);

	ev->kind = FTRACE_MARKER;
	if (q < e && *q == '+') {
		for (; q < e && *q != ':' && *q != ' '; q++)
			;
	}
	if (q < e && *q == ':' && parse_is_mark_symbol(s, skip_name(s, e) - s))
		args = q + 1 < e ? q + 2 : e;
	ev->args = text_of(args, e);
}

/* "vfs_read <-- ksys_read"; indented by depth */
static bool parse_report_function(struct ftrace_event *ev, const char *args, const char *e)
{
	const char *s = skip_blanks(args, e), *q = skip_name(s, e), *parent;

	if (q == s)
		return false;
	ev->kind = FTRACE_FUNCTION;
	ev->name = text_of(s, q);
	parent = memmem(q, e - q, "<-- ", 4);
	parent = parent ? parent + 4 : e;
	ev->args = text_of(parent, skip_name(parent, e));
	return true;
}

/* "! 122.784 us |  f();" */
static bool parse_report_graph(struct ftrace_event *ev, const char *args,
			       const struct parse_line *line)
{
	struct model_text name = ev->name;
	const char *s = args;

	if (!parse_graph_duration(ev, &s, line->e))
		return false;
	ev->name.len = 0;
	if (!parse_graph_call(ev, s, line))
		return true;
	ev->kind = FTRACE_EVENT;
	ev->name = name;
	ev->has_duration = false;
	ev->duration_ns = 0;
	ev->depth = 0;
	return false;
}

static bool parse_report_stack(struct ftrace_event *ev, const char *args, const char *e)
{
	const char *s = skip_blanks(args, e);

	if (!starts(s, e, "<stack trace") && !starts(s, e, "<user stack trace"))
		return false;
	ev->kind = text_is(ev->name, "user_stack") ? FTRACE_USER_STACK : FTRACE_STACK;
	ev->args = text_of(e, e);
	return true;
}

bool parse_named_report(struct ftrace_event *ev, const char *args, const struct parse_line *line,
			bool padded)
{
	struct model_text name = ev->name;

	if (text_is(name, "print")) {
		parse_print(ev, args, line->e);
		return true;
	}
	if (text_is(name, "kernel_stack") || text_is(name, "user_stack"))
		return parse_report_stack(ev, args, line->e);
	if (text_is(name, "function") && (padded || memmem(args, line->e - args, "<-- ", 4)))
		return parse_report_function(ev, args, line->e);
	if (padded && (text_is(name, "funcgraph_entry") || text_is(name, "funcgraph_exit")))
		return parse_report_graph(ev, args, line);
	return false;
}

/* ---- perf script ----------------------------------------------------------- */

/* " pid" or " pid/tid" that ends at @e; where the name column ends, NULL if it is none */
static const char *parse_perf_ids(struct ftrace_event *ev, const char *s, const char *e)
{
	const char *q = e, *t;

	while (q > s && (is_digit(q[-1]) || q[-1] == '/'))
		q--;
	if (q == e || q == s || q[-1] != ' ')
		return NULL;
	t = q;
	if (parse_tid(&t, e, &ev->tid))
		return NULL;
	if (t < e) {
		ev->tgid = ev->tid;
		t++;
		if (parse_tid(&t, e, &ev->tid) || t != e)
			return NULL;
	}
	return trim_end(s, q);
}

/* "system:event: args" */
static const char *parse_perf_event(struct ftrace_event *ev, const char *s,
				    const struct parse_line *line)
{
	const char *e = line->e, *q, *t;

	for (q = s; q < e && (is_name(*q) || *q == '-'); q++)
		;
	if (q == s || q >= e || *q != ':')
		return parse_unknown;
	t = skip_name(q + 1, e);
	if (t > q + 1 && t < e && *t == ':') {
		ev->system = text_of(s, q);
		s = q + 1;
		q = t;
	} else if (!line->terminated) {
		return "record that ends in its event's name";
	}
	parse_named(ev, text_of(s, q), q + 1 < e ? q + 2 : e, line, false);
	return NULL;
}

/* The record whose CPU begins at @open. */
static const char *parse_perf_at(struct ftrace_event *ev, const struct parse_line *line,
				 const char *open)
{
	const char *e = line->e, *q = open + 1, *comm_end, *first = NULL;

	parse_event_init(ev);
	comm_end = parse_perf_ids(ev, line->s, trim_end(line->s, open));
	if (!comm_end)
		return parse_unknown;
	if (!parse_fits(parse_cpu(&q, e, &ev->cpu), &first) || q >= e || *q != ']')
		return parse_unknown;
	q = skip_blanks(q + 1, e);
	if (!parse_fits(parse_time(&q, e, ev), &first) || ev->clock != MODEL_CLOCK_NS ||
	    !starts(q, e, ": "))
		return parse_unknown;
	if (first)
		return first;
	ev->comm = parse_comm(line->s, comm_end);
	return parse_perf_event(ev, skip_blanks(q + 2, e), line);
}

/*
 * COMM PID[/TID] TIME: SYSTEM:EVENT: ..., where the CPU was not asked for; the time
 * ends at @colon. Without a system it could be anything.
 */
static const char *parse_perf_no_cpu(struct ftrace_event *ev, const struct parse_line *line,
				     const char *colon)
{
	const char *e = line->e, *q = colon, *comm_end, *reason;

	while (q > line->s && (is_digit(q[-1]) || q[-1] == '.'))
		q--;
	if (q == colon || q == line->s || q[-1] != ' ' || !starts(colon, e, ": "))
		return parse_unknown;
	parse_event_init(ev);
	comm_end = parse_perf_ids(ev, line->s, trim_end(line->s, q));
	if (!comm_end || parse_time(&q, colon, ev) || q != colon || ev->clock != MODEL_CLOCK_NS)
		return parse_unknown;
	ev->comm = parse_comm(line->s, comm_end);
	reason = parse_perf_event(ev, skip_blanks(colon + 2, e), line);
	return reason || !ev->system.len ? parse_unknown : NULL;
}

/* COMM PID[/TID] [CPU] TIME: ...: as ever, the first place that fits, from the column on */
const char *parse_perf(struct ftrace_event *ev, const struct parse_line *line)
{
	const char *s = line->s, *reason = parse_unknown, *limit, *q;

	limit = line->e - s > PERF_COLUMNS_MAX ? s + PERF_COLUMNS_MAX : line->e;
	if (limit - s > PARSE_COLUMN)
		s += PARSE_COLUMN;
	while (reason == parse_unknown && (q = memchr(s, '[', limit - s))) {
		reason = parse_perf_at(ev, line, q);
		s = q + 1;
	}
	for (s = line->s; reason == parse_unknown && (q = memchr(s, '[', limit - s)); s = q + 1)
		reason = parse_perf_at(ev, line, q);
	for (s = line->s; reason == parse_unknown && (q = memchr(s, ':', limit - s)); s = q + 1)
		reason = parse_perf_no_cpu(ev, line, q);
	return reason;
}
