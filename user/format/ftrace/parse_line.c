/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Records of the forms "TASK-PID [CPU] flags TIME: body", in any spacing, of the
 * latency format, short and verbose, and of none (option nocontext-info); and
 * which form is tried when.
 */
#include "parse_p.h"

#define COMM_MAX       15  /* bytes of a name, without the kernel's NUL */
#define COMM_LONG      256 /* of one that a tool has put in the column */
#define LATENCY_COLUMN 8

static const char columns_damaged[] = "record that ends in its columns";

static bool is_irq_letter(char c)
{
	return c == 'h' || c == 's' || c == 'H' || c == 'z' || c == 'Z';
}

static bool is_depth(char c)
{
	return parse_classes[(unsigned char)c] & PARSE_DEPTH;
}

unsigned int parse_flags(const char *s, const char *e, bool *in_irq)
{
	unsigned int i;

	if (e - s < 4)
		return 0;
	for (i = 0; i < 3; i++) {
		if (!(parse_classes[(unsigned char)s[i]] & PARSE_FLAG))
			return 0;
	}
	/* kernels with the old PREEMPT_RT patches have one more letter before this one */
	if (!is_depth(s[3]) && !is_irq_letter(s[3]))
		return 0;
	for (i = 4; i < 8 && s + i < e && is_depth(s[i]); i++)
		;
	*in_irq = is_irq_letter(s[2]) || is_irq_letter(s[3]);
	return i;
}

/* "TIME: "; *s is then where the body begins. */
static const char *parse_stamp(struct ftrace_event *ev, const char **s, const char *e)
{
	const char *q = *s, *reason = parse_time(&q, e, ev);

	if (reason == parse_unknown || q >= e || *q != ':' || (q + 1 < e && !is_blank(q[1])))
		return parse_unknown;
	q++;
	*s = q < e ? q + 1 : q;
	return reason;
}

/* Flags, if any, and the time. Some tools leave no blank in between. */
static const char *parse_flags_stamp(struct ftrace_event *ev, const char **s, const char *e)
{
	const char *q = skip_blanks(*s, e), *t, *reason = parse_unknown;
	unsigned int len = parse_flags(q, e, &ev->in_irq), i;

	if (!len || q + len == e || is_blank(q[len])) {
		*s = skip_blanks(q + len, e);
		return parse_stamp(ev, s, e);
	}
	for (i = 4; i <= len && reason == parse_unknown; i++) {
		t = q + i;
		reason = parse_stamp(ev, &t, e);
	}
	*s = t;
	return reason;
}

/* "(  1234) " or "(-------) ", if there is one. */
static const char *parse_tgid(struct ftrace_event *ev, const char **s, const char *e)
{
	const char *q = *s, *reason = NULL;

	if (q >= e || *q != '(')
		return NULL;
	q = skip_blanks(q + 1, e);
	if (q < e && *q == '-') {
		while (q < e && *q == '-')
			q++;
	} else {
		reason = parse_tid(&q, e, &ev->tgid);
	}
	/* 0 is how "not recorded" looks to tools that print a number */
	if (!ev->tgid)
		ev->tgid = FTRACE_ID_UNKNOWN;
	q = skip_blanks(q, e);
	if (q >= e || *q != ')')
		return parse_unknown;
	*s = skip_blanks(q + 1, e);
	return reason;
}

/* "-PID (TGID) [CPU]", from the dash; *digits: of the CPU's number. */
static const char *parse_ids(struct ftrace_event *ev, const char **s, const char *e, long *digits)
{
	const char *q = *s + 1, *t, *first = NULL;
	bool negative = q < e && *q == '-';

	q += negative;
	if (!parse_fits(parse_tid(&q, e, &ev->tid), &first) || q >= e ||
	    !(is_blank(*q) || *q == '(' || *q == '['))
		return parse_unknown;
	if (negative)
		ev->tid = FTRACE_ID_UNKNOWN;
	q = skip_blanks(q, e);
	if (!parse_fits(parse_tgid(ev, &q, e), &first) || q >= e || *q != '[')
		return parse_unknown;
	t = q = skip_blanks(q + 1, e);
	if (!parse_fits(parse_cpu(&q, e, &ev->cpu), &first) || q >= e || *q != ']')
		return parse_unknown;
	*digits = q - t;
	*s = q + 1;
	return first;
}

/* trace-cmd report -R: flags as a number, and fields instead of text. */
static void parse_raw_flags(struct ftrace_event *ev, const char **s, const char *e)
{
	const char *q = *s + 3;
	uint64_t flags;

	if (!starts(*s, e, "-0x") || !parse_hex(&q, e, &flags))
		return;
	/* the ring buffer's bits: in a hard interrupt, a soft one, an NMI */
	ev->in_irq = flags & (0x08 | 0x10 | 0x40);
	ev->dialect = FTRACE_FIELDS;
	*s = q;
}

/* The record whose name ends at @dash. @at_column: that is where the kernel puts it. */
static const char *parse_at(struct ftrace_event *ev, const struct parse_line *line,
			    const char *dash, bool at_column)
{
	const char *q = dash, *reason, *first = NULL;
	long digits = 0;

	parse_event_init(ev);
	if (!parse_fits(parse_ids(ev, &q, line->e, &digits), &first))
		return parse_unknown;
	parse_raw_flags(ev, &q, line->e);
	reason = parse_flags_stamp(ev, &q, line->e);
	if (reason == parse_unknown && at_column && digits >= 3)
		return columns_damaged;
	if (!parse_fits(reason, &first) || first)
		return first ? first : reason;
	ev->comm = parse_comm(line->s, dash);
	return parse_body(ev, q, line);
}

const char *parse_default(struct ftrace_event *ev, const struct parse_line *line)
{
	const char *dash = line->s + PARSE_COLUMN;

	if (line->e - line->s <= PARSE_COLUMN || *dash != '-')
		return parse_unknown;
	return parse_at(ev, line, dash, true);
}

static bool looks_like_ids(const char *dash, const char *e, bool three_digits)
{
	struct ftrace_event ev;
	const char *q = dash;
	long digits;

	return parse_ids(&ev, &q, e, &digits) != parse_unknown && (!three_digits || digits >= 3);
}

/*
 * The columns were moved: look for "-PID [CPU]". A name may hold just that, so the
 * last one counts that leaves a name of legal length; then any that comes first.
 */
static const char *parse_moved(struct ftrace_event *ev, const struct parse_line *line)
{
	const char *s = skip_blanks(line->s, line->e), *q, *reason = parse_unknown;
	const char *limit = line->e - s > COMM_MAX ? s + COMM_MAX + 1 : line->e;

	for (q = limit; q-- > s && reason;) {
		if (*q == '-' && looks_like_ids(q, line->e, true))
			reason = parse_at(ev, line, q, false);
	}
	limit = line->e - s > COMM_LONG ? s + COMM_LONG : line->e;
	for (q = s; reason == parse_unknown && (q = memchr(q, '-', limit - q)); q++) {
		if (looks_like_ids(q, line->e, false))
			reason = parse_at(ev, line, q, false);
	}
	return reason;
}

/* "1823us+: ", an integer or "sec.frac: " */
static const char *parse_latency_stamp(struct ftrace_event *ev, const char **s, const char *e)
{
	const char *q = *s, *reason = parse_time(&q, e, ev);

	if (!starts(q, e, "us"))
		return reason == parse_unknown ? reason : parse_stamp(ev, s, e);
	if (ev->clock != MODEL_CLOCK_TICKS || e - q < 4 || q[3] != ':')
		return parse_unknown;
	ev->clock = MODEL_CLOCK_RELATIVE;
	if (!reason && ev->ts > INT64_MAX / 1000)
		reason = parse_too_late;
	ev->ts *= 1000;
	q += 4;
	*s = q < e ? q + 1 : q;
	return reason;
}

/* "-PID   CPU" and flags that abut it, or a number in the way of trace-cmd report -R. */
static const char *parse_latency_at(struct ftrace_event *ev, const struct parse_line *line,
				    const char *dash)
{
	const char *q = dash + 1, *first = NULL;
	unsigned int len;

	parse_event_init(ev);
	if (!parse_fits(parse_tid(&q, line->e, &ev->tid), &first) || q >= line->e || !is_blank(*q))
		return parse_unknown;
	q = skip_blanks(q, line->e);
	if (!parse_fits(parse_cpu(&q, line->e, &ev->cpu), &first))
		return parse_unknown;
	len = parse_flags(q, line->e, &ev->in_irq);
	if (len)
		q += len;
	else
		parse_raw_flags(ev, &q, line->e);
	if (q >= line->e || !is_blank(*q))
		return parse_unknown;
	q = skip_blanks(q, line->e);
	if (!parse_fits(parse_latency_stamp(ev, &q, line->e), &first))
		return parse_unknown;
	if (first)
		return first;
	ev->comm = parse_comm(line->s, dash);
	/* may be the beginning of a longer name, or the end of one with a newline */
	if (ev->comm.len >= LATENCY_COLUMN || dash != line->s + LATENCY_COLUMN)
		ev->comm.len = 0;
	return parse_body(ev, q, line);
}

const char *parse_latency(struct ftrace_event *ev, const struct parse_line *line)
{
	const char *s = line->s, *q, *reason = parse_unknown;
	const char *limit = line->e - s > LATENCY_COLUMN ? s + LATENCY_COLUMN + 1 : line->e;

	if (line->e - s > LATENCY_COLUMN && s[LATENCY_COLUMN] == '-')
		reason = parse_latency_at(ev, line, s + LATENCY_COLUMN);
	for (q = s; q < limit && reason == parse_unknown; q++) {
		if (*q == '-')
			reason = parse_latency_at(ev, line, q);
	}
	return reason;
}

/* "MS.USms (+MS.USms): " or "TICKS (+TICKS): " */
static const char *parse_verbose_stamp(struct ftrace_event *ev, const char **s, const char *e)
{
	const char *q = *s, *close;
	uint64_t ms, us;

	if (!parse_digits(&q, e, &ms))
		return parse_unknown;
	ev->clock = MODEL_CLOCK_TICKS;
	ev->ts = ms;
	if (q < e && *q == '.') {
		q++;
		if (!parse_fraction(&q, e, 3, &us) || !starts(q, e, "ms"))
			return parse_unknown;
		if (ms > INT64_MAX / 1000000 - 1)
			return parse_too_late;
		ev->clock = MODEL_CLOCK_RELATIVE;
		ev->ts = ms * 1000000 + us * 1000;
		q += 2;
	}
	if (!starts(q, e, " (+"))
		return parse_unknown;
	close = memchr(q, ')', e - q);
	if (!close || e - close < 2 || close[1] != ':')
		return parse_unknown;
	*s = close + 2 < e ? close + 3 : e;
	return NULL;
}

/* COMM16 PID CPU FLAGS PREEMPT INDEX "[" STAMP "] " ...: numbers in fixed order, no dash */
const char *parse_verbose(struct ftrace_event *ev, const struct parse_line *line)
{
	const char *q = line->s + PARSE_COLUMN, *e = line->e, *first = NULL;
	uint64_t flags, v[3];
	unsigned int i;

	if (e - line->s <= PARSE_COLUMN || *q != ' ')
		return parse_unknown;
	parse_event_init(ev);
	q = skip_blanks(q, e);
	if (!parse_fits(parse_tid(&q, e, &ev->tid), &first))
		return parse_unknown;
	q = skip_blanks(q, e);
	if (!parse_fits(parse_cpu(&q, e, &ev->cpu), &first))
		return parse_unknown;
	q = skip_blanks(q, e);
	if (!parse_digits(&q, e, &flags))
		return parse_unknown;
	for (i = 0; i < 3; i++) {
		q = skip_blanks(q, e);
		if (i == 2 && (q >= e || *q++ != '['))
			return parse_unknown;
		if (!parse_hex(&q, e, &v[i]))
			return parse_unknown;
	}
	if (!starts(q, e, "] "))
		return parse_unknown;
	q = skip_blanks(q + 2, e);
	if (!parse_fits(parse_verbose_stamp(ev, &q, e), &first))
		return parse_unknown;
	if (first)
		return first;
	ev->in_irq = flags & (0x08 | 0x10 | 0x40);
	ev->comm = parse_comm(line->s, line->s + PARSE_COLUMN);
	return parse_body(ev, q, line);
}

/* Option nocontext-info: nothing but the body, and no titles above. */
static const char *parse_unframed(struct ftrace_event *ev, const struct parse_line *line)
{
	const struct parse_mode *mode = line->mode;
	const char *reason;

	if (!mode->header || mode->titles || mode->graph || !line->terminated)
		return parse_unknown;
	parse_event_init(ev);
	reason = parse_body(ev, line->s, line);
	if (reason || ev->kind == FTRACE_TEXT)
		return parse_unknown;
	if (ev->kind == FTRACE_FUNCTION && !ev->args.len && !mode->function)
		return parse_unknown;
	return NULL;
}

const char *parse_hash(struct ftrace_event *ev, const struct parse_line *line)
{
	const struct parse_mode *mode = line->mode;
	const char *reason = parse_latency(ev, line);

	if (reason)
		reason = parse_moved(ev, line);
	if (reason && mode->header && !mode->titles) {
		reason = parse_unframed(ev, line);
		if (!reason && ev->kind != FTRACE_MARKER_RAW)
			reason = parse_unknown;
	}
	return reason;
}

const char *parse_in_columns(struct ftrace_event *ev, const struct parse_line *line)
{
	const char *s = line->s, *reason = parse_default(ev, line);

	if (reason == parse_unknown && line->e - s > LATENCY_COLUMN + 1 &&
	    s[LATENCY_COLUMN] == '-' && is_digit(s[LATENCY_COLUMN + 1]))
		reason = parse_latency_at(ev, line, s + LATENCY_COLUMN);
	if (reason == parse_unknown && line->mode->graph) {
		reason = parse_graph(ev, line);
		/* it may be a line between the calls */
		if (reason)
			reason = parse_unknown;
	}
	return reason;
}

const char *parse_elsewhere(struct ftrace_event *ev, const struct parse_line *line)
{
	static const char *(*const forms[])(struct ftrace_event *, const struct parse_line *) = {
		parse_latency, parse_moved, parse_perf, parse_verbose, parse_graph, parse_raw,
		parse_unframed,
	};
	const char *reason = parse_unknown;
	size_t i;

	for (i = 0; i < sizeof(forms) / sizeof(forms[0]) && reason == parse_unknown; i++)
		reason = forms[i](ev, line);
	return reason;
}
