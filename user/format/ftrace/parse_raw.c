// SPDX-License-Identifier: GPL-2.0
/*
 * Options raw and hex: "PID CPU TIME" in decimal, or in hexadecimal digits of
 * fixed number, and then what the event prints of itself there, mostly no more
 * than "type: 355". The time is in the clock's own unit, ns for most.
 */
#include "parse_p.h"

#define HEX_PID		8
#define HEX_CPU		8
#define HEX_TIME	16

/* "ffffffff814310a4 ffffffff8144cd5a": what the function tracer saw, as addresses. */
static bool parse_addresses(struct ftrace_event *ev, const char *s, const char *e)
{
	const char *at = s, *from;
	uint64_t v;

	e = trim_end(s, e);
	if (parse_hex(&at, e, &v) < 8 || at >= e || *at != ' ')
		return false;
	from = at + 1;
	ev->name = text_of(s, at);
	ev->args = text_of(from, e);
	at = from;
	return parse_hex(&at, e, &v) >= 8 && at == e;
}

/* What follows the columns: a function, or "# IP TEXT" of a marker; all else has no form. */
static void parse_raw_body(struct ftrace_event *ev, const char *s, const struct parse_line *line)
{
	const char *e = line->e;
	uint64_t ip;

	if (line->mode->function && parse_addresses(ev, s, e)) {
		ev->kind = FTRACE_FUNCTION;
		return;
	}
	ev->kind = FTRACE_TEXT;
	ev->name = literal("");
	ev->args = text_of(s, e);
	if (!starts(s, e, "# "))
		return;
	s += 2;
	if (!parse_hex(&s, e, &ip) || s >= e || *s != ' ')
		return;
	ev->kind = FTRACE_MARKER;
	ev->name = literal("print");
	ev->args = text_of(s + 1, e);
}

/* An unsigned number that a blank ends. */
static bool parse_column(const char **s, const char *e, uint64_t *v)
{
	if (!parse_digits(s, e, v) || *s >= e || **s != ' ')
		return false;
	++*s;
	return true;
}

/* "22200 1 7542886390366 type: 355" */
static const char *parse_decimal(struct ftrace_event *ev, const struct parse_line *line)
{
	const char *q = line->s, *e = line->e, *first = NULL;

	if (!parse_fits(parse_tid(&q, e, &ev->tid), &first) || q >= e || *q++ != ' ')
		return parse_unknown;
	if (!parse_fits(parse_cpu(&q, e, &ev->cpu), &first) || q >= e || *q++ != ' ')
		return parse_unknown;
	if (!parse_column(&q, e, &ev->ts) || q >= e)
		return parse_unknown;
	if (!first)
		parse_raw_body(ev, q, line);
	return first;
}

/* So many hexadecimal digits and a blank. */
static bool parse_hex_column(const char **s, const char *e, unsigned int digits, uint64_t *v)
{
	const char *end = *s + digits;

	if (e - *s <= (long)digits || *end != ' ' || !parse_hex(s, e, v) || *s != end)
		return false;
	++*s;
	return true;
}

/* "000056b8 00000001 000006dc3c0c784b type: 355" */
static const char *parse_hexadecimal(struct ftrace_event *ev, const struct parse_line *line)
{
	const char *q = line->s, *e = line->e;
	uint64_t pid, cpu;

	if (!parse_hex_column(&q, e, HEX_PID, &pid) || !parse_hex_column(&q, e, HEX_CPU, &cpu) ||
	    !parse_hex_column(&q, e, HEX_TIME, &ev->ts) || q >= e)
		return parse_unknown;
	if (pid > INT32_MAX)
		return "thread id out of bounds";
	if (cpu > PARSE_CPU_MAX)
		return "CPU out of bounds";
	ev->tid = pid;
	ev->cpu = cpu;
	parse_raw_body(ev, q, line);
	return NULL;
}

const char *parse_raw(struct ftrace_event *ev, const struct parse_line *line)
{
	const char *reason;

	/* Three numbers alone say little: only where a header says that this is ftrace. */
	if (!line->mode->header || line->mode->graph || !line->terminated)
		return parse_unknown;
	parse_event_init(ev);
	ev->clock = MODEL_CLOCK_NS;
	reason = parse_hexadecimal(ev, line);
	return reason == parse_unknown ? parse_decimal(ev, line) : reason;
}
