/* SPDX-License-Identifier: GPL-2.0 */
/*
 * function_graph: columns that are each there or not, in a fixed order, and the
 * calls after them.
 */
#include "parse_p.h"

#define GRAPH_COMM_MAX 7  /* bytes of the name that are printed */
#define SWITCH_MAX     64 /* bytes of a switch between two tasks */
#define GRAPH_TASK_MAX 18 /* those, the dash and the digits */

static const char cut[] = "line of function_graph that ends in its columns";

/* "   17.418755 |  " or "      123 us |  " */
static bool parse_graph_time(struct ftrace_event *ev, const char **s, const char *e)
{
	struct ftrace_event stamp;
	const char *q = skip_blanks(*s, e);
	bool relative;

	if (parse_time(&q, e, &stamp))
		return false;
	relative = starts(q, e, " us |");
	if (relative ? stamp.clock != MODEL_CLOCK_TICKS : stamp.clock != MODEL_CLOCK_NS)
		return false;
	if (!relative && !starts(q, e, " |"))
		return false;
	q += relative ? 5 : 2;
	if (ev->clock == MODEL_CLOCK_NONE) {
		ev->clock = relative ? MODEL_CLOCK_RELATIVE : MODEL_CLOCK_NS;
		ev->ts = stamp.ts;
		if (relative && __builtin_mul_overflow(ev->ts, 1000, &ev->ts))
			return false;
	}
	*s = q;
	return true;
}

/* " 0) " */
static const char *parse_graph_cpu(struct ftrace_event *ev, const char **s, const char *e)
{
	const char *q = skip_blanks(*s, e), *reason = parse_cpu(&q, e, &ev->cpu);

	if (q >= e || *q != ')') {
		ev->cpu = FTRACE_ID_UNKNOWN;
		return reason && reason != parse_unknown ? reason : parse_unknown;
	}
	*s = q + 1;
	return reason;
}

/* "kdamond-50", all of it */
static bool parse_graph_task(struct ftrace_event *ev, const char *s, const char *e)
{
	const char *dash, *q;
	int32_t tid;

	s = skip_blanks(s, e);
	e = trim_end(s, e);
	if (e - s > GRAPH_TASK_MAX)
		return false;
	dash = memrchr(s, '-', e - s);
	if (!dash)
		return false;
	q = dash + 1;
	if (parse_tid(&q, e, &tid) || q != e)
		return false;
	ev->tid = tid;
	ev->comm = parse_comm(s, dash);
	if (ev->comm.len >= GRAPH_COMM_MAX)
		ev->comm.len = 0;
	return true;
}

/* The task and its "|". A name may hold one, too. */
static bool parse_graph_proc(struct ftrace_event *ev, const char **s, const char *e)
{
	const char *from = skip_blanks(*s, e), *limit = e, *q = from;

	if (limit - from > 2 * GRAPH_TASK_MAX)
		limit = from + 2 * GRAPH_TASK_MAX;
	if (q < limit && *q == '|')
		return false;
	while ((q = memchr(q, '|', limit - q))) {
		if (parse_graph_task(ev, *s, q)) {
			*s = q + 1;
			return true;
		}
		q++;
	}
	return false;
}

/* " dNh3. | " */
static bool parse_graph_flags(struct ftrace_event *ev, const char **s, const char *e)
{
	const char *q = skip_blanks(*s, e);
	unsigned int len = parse_flags(q, e, &ev->in_irq);

	if (!len || !starts(q + len, e, " |")) {
		ev->in_irq = false;
		return false;
	}
	*s = q + len + 2;
	return true;
}

bool parse_graph_duration(struct ftrace_event *ev, const char **s, const char *e)
{
	const char *q = skip_blanks(*s, e);
	uint64_t us, ns = 0;

	if (q + 1 < e && strchr("+!#*@$", *q) && q[1] == ' ')
		q = skip_blanks(q + 1, e);
	if (q < e && is_digit(*q)) {
		if (!parse_digits(&q, e, &us) || us > INT64_MAX / 1000)
			return false;
		if (q < e && *q == '.') {
			q++;
			if (!parse_fraction(&q, e, 3, &ns))
				return false;
		}
		if (!starts(q, e, " us"))
			return false;
		q = skip_blanks(q + 3, e);
		ev->has_duration = true;
		ev->duration_ns = us * 1000 + ns;
	}
	if (q >= e || *q != '|')
		return false;
	*s = q + 1;
	/* two blanks belong to the column, those after them are indentation */
	if (starts(*s, e, "  "))
		*s += 2;
	return true;
}

static bool parse_graph_arrow(struct ftrace_event *ev, const char *s, const char *e)
{
	s = skip_blanks(s, e);
	e = trim_end(s, e);
	if (!strncmp(s, "==========> |", e - s) && e - s == 13)
		ev->kind = FTRACE_GRAPH_IRQ_ENTRY;
	else if (!strncmp(s, "<========== |", e - s) && e - s == 13)
		ev->kind = FTRACE_GRAPH_IRQ_EXIT;
	else
		return false;
	return true;
}

/* ---- calls ----------------------------------------------------------------- */

/* Takes " LABEL...CLOSE" off the end; *text: what was between. */
static bool drop_tail(const char *s, const char **e, const char *open, const char *close,
		      struct model_text *text)
{
	const char *end = trim_end(s, *e), *q;
	size_t len = strlen(open);

	if (!ends(s, end, close))
		return false;
	for (q = end - strlen(close) - len; q >= s; q--) {
		if (!memcmp(q, open, len)) {
			*text = text_of(q + len, end - strlen(close));
			*e = trim_end(s, q);
			return true;
		}
	}
	return false;
}

/* Comments and numbers after a call; *ret: "ret=..." if there was one. */
static const char *drop_tails(const char *s, const char *e, struct model_text *ret)
{
	struct model_text text;
	unsigned int i;
	uint64_t v;

	ret->data = e;
	ret->len = 0;
	for (i = 0; i < 4; i++) {
		const char *q;

		if (drop_tail(s, &e, " /* ", " */", &text)) {
			q = text.len ? memmem(text.data, text.len, "ret=", 4) : NULL;
			if (q && (q == text.data || q[-1] == ' '))
				*ret = text_of(q, text.data + text.len);
			continue;
		}
		q = e;
		if (!drop_tail(s, &q, " (", ")", &text))
			break;
		if (starts(text.data, text.data + text.len, "ret=")) {
			*ret = text;
		} else {
			const char *digits = text.data;

			if (parse_digits(&digits, digits + text.len, &v) != text.len)
				break;
		}
		e = q;
	}
	return e;
}

/* "}", "} / * f ret=0x0 * /" */
static const char *parse_graph_exit(struct ftrace_event *ev, const char *s, const char *e)
{
	struct model_text ret;
	const char *q, *end = drop_tails(s, e, &ret);

	if (end != s + 1)
		return parse_unknown;
	ev->kind = FTRACE_GRAPH_EXIT;
	ev->args = ret;
	q = s + 1;
	if (starts(q, e, " /* ")) {
		const char *name = q + 4;

		q = skip_name(name, e);
		if (q < e && *q != '=')
			ev->name = text_of(name, q);
	}
	return NULL;
}

/* "f(args) {", "f(args);" */
static const char *parse_graph_function(struct ftrace_event *ev, const char *s, const char *e)
{
	struct model_text ret, unused;
	const char *q = skip_name(s, e), *open;

	if (q == s)
		return parse_unknown;
	ev->name = text_of(s, q);
	open = memchr(q, '(', e - q);
	if (!open || (open > q && *q != ' '))
		return parse_unknown;
	e = drop_tails(open, e, &ret);
	if (e[-1] == ';') {
		ev->kind = FTRACE_GRAPH_LEAF;
		e--;
	} else if (e[-1] == '{') {
		ev->kind = FTRACE_GRAPH_ENTRY;
		e = drop_tails(open, trim_end(open, e - 1), &unused);
	} else {
		return parse_unknown;
	}
	if (e - open < 2 || e[-1] != ')')
		return parse_unknown;
	ev->args = text_of(open + 1, e - 1);
	/* the interface has one text for both */
	if (!ev->args.len && ev->kind == FTRACE_GRAPH_LEAF)
		ev->args = ret;
	return NULL;
}

/* Events of other kinds are comments; a marker is there without its symbol. */
static const char *parse_graph_comment(struct ftrace_event *ev, const char *s,
				       const struct parse_line *line)
{
	struct parse_line inner = *line;
	struct ftrace_event event = *ev;

	s += s < inner.e && *s == ' ';
	if (ends(s, inner.e, "*/")) {
		inner.e -= 2;
		if (inner.e > s && inner.e[-1] == ' ')
			inner.e--;
	}
	if (!parse_body(&event, s, &inner) && event.kind != FTRACE_TEXT &&
	    event.kind != FTRACE_FUNCTION && event.kind != FTRACE_FUNCTION_REPEATS) {
		*ev = event;
		return NULL;
	}
	ev->kind = FTRACE_MARKER;
	ev->name = literal("print");
	ev->args = text_of(s, inner.e);
	return NULL;
}

const char *parse_graph_call(struct ftrace_event *ev, const char *s, const struct parse_line *line)
{
	const char *e = trim_end(s, line->e), *q = s;

	while (q < e && *q == ' ')
		q++;
	ev->depth = (q - s) / 2;
	if (q >= e)
		return parse_unknown;
	if (starts(q, e, "/*"))
		return parse_graph_comment(ev, q + 2, line);
	if (*q == '}')
		return parse_graph_exit(ev, q, e);
	return parse_graph_function(ev, q, e);
}

const char *parse_graph(struct ftrace_event *ev, const struct parse_line *line)
{
	const char *s = line->s, *e = line->e, *reason;
	bool known = false;

	parse_event_init(ev);
	known |= parse_graph_time(ev, &s, e);
	known |= parse_graph_time(ev, &s, e);
	reason = parse_graph_cpu(ev, &s, e);
	if (reason && reason != parse_unknown)
		return line->mode->graph ? reason : parse_unknown;
	known |= !reason;
	if (known || line->mode->graph) {
		known |= parse_graph_proc(ev, &s, e);
		known |= parse_graph_flags(ev, &s, e);
	}
	if (known && parse_graph_arrow(ev, s, e))
		return NULL;
	known &= parse_graph_duration(ev, &s, e) || line->mode->graph;
	if (!known && !line->mode->graph)
		return parse_unknown;
	reason = parse_graph_call(ev, s, line);
	return reason && known && line->mode->graph ? cut : reason;
}

/* " 0)    <idle>-0    =>   kdamond-50  " */
const char *parse_graph_switch(struct ftrace_event *ev, const struct parse_line *line)
{
	const char *s = line->s, *e = line->e, *arrow;
	struct ftrace_event from;

	if (!line->terminated)
		return parse_unknown;
	parse_event_init(ev);
	if (parse_graph_cpu(ev, &s, e))
		return parse_unknown;
	if (e - s > SWITCH_MAX)
		return parse_unknown;
	/* a name may hold an arrow: the one with a task on both sides */
	for (arrow = s; (arrow = memmem(arrow, e - arrow, " => ", 4)); arrow++) {
		if (parse_graph_task(&from, s, arrow) && parse_graph_task(ev, arrow + 4, e)) {
			ev->kind = FTRACE_TASK_SWITCH;
			return NULL;
		}
	}
	return parse_unknown;
}

/* "LABEL 123 REST" */
static bool is_notice(const char *s, const char *e, const char *label, const char *rest)
{
	uint64_t v;

	if (!starts(s, e, label))
		return false;
	s += strlen(label);
	return parse_digits(&s, e, &v) && (size_t)(e - s) == strlen(rest) && ends(s, e, rest);
}

bool parse_is_filler(const struct parse_line *line)
{
	const char *s = skip_blanks(line->s, line->e), *e = trim_end(s, line->e), *q;

	for (q = s; q < e && *q == '-'; q++)
		;
	if (q == e && e - s >= 10)
		return true;
	return is_notice(s, e, "(Overruns: ", ")") || is_notice(s, e, "version = ", "") ||
	       is_notice(s, e, "CPU ", " is empty") ||
	       is_notice(s, e, "CPU:", " [SUBBUFFER START]");
}
