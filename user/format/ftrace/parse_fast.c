/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The form nearly every line has, in the columns the kernel gives it: nothing is
 * searched for. Whatever differs is left to parse_in_columns(), which must give
 * the same answer for what is taken here.
 *
 * The line's end ends every loop, so most steps need no bound. Loops over
 * single bytes are faster here than words of eight: columns are short, and their
 * widths nearly always what they were in the line before.
 */
#include "parse_p.h"

#define FAST_MIN (PARSE_COLUMN + 2) /* the name, the dash and a digit */
#define TIME_MIN 18 /* seconds of nine digits, the point, eight bytes read at once */
#define BLANKS	 0x2020202020202020ULL

static uint64_t load_le(const char *s)
{
	uint64_t v;

	memcpy(&v, s, sizeof(v));
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	v = __builtin_bswap64(v);
#endif
	return v;
}

/* Blanks at @s, at most 16. */
static unsigned int leading_blanks(const char *s)
{
	uint64_t v = load_le(s) ^ BLANKS;

	if (v)
		return __builtin_ctzll(v) / 8;
	v = load_le(s + 8) ^ BLANKS;
	return v ? 8 + __builtin_ctzll(v) / 8 : 16;
}

/* Up to 9 digits; NULL if there are none or more. */
static const char *fast_digits(const char *q, uint32_t *v)
{
	uint32_t sum = *q - '0', digit;
	const char *s = q;

	if (sum > 9)
		return NULL;
	while ((digit = (uint32_t)(*++q - '0')) <= 9)
		sum = sum * 10 + digit;
	*v = sum;
	return q - s <= 9 ? q : NULL;
}

static const char *fast_blanks(const char *q)
{
	while (*q == ' ')
		q++;
	return q;
}

/* "(-------) " or "(   1234) " */
static const char *fast_tgid(const char *q, int32_t *tgid)
{
	uint32_t v = 0;

	q = fast_blanks(q);
	if (*q == '-') {
		while (*q == '-')
			q++;
	} else {
		q = fast_digits(q, &v);
	}
	if (!q || q[0] != ')' || q[1] != ' ')
		return NULL;
	*tgid = v ? (int32_t)v : FTRACE_ID_UNKNOWN;
	return q + 2;
}

/* "-PID (TGID) [CPU] " */
static const char *fast_ids(struct ftrace_event *ev, const char *q)
{
	uint32_t tid, cpu;

	if (*q != '-')
		return NULL;
	q = fast_digits(q + 1, &tid);
	if (!q || *q != ' ')
		return NULL;
	ev->tid = tid;
	q = fast_blanks(q);
	if (*q == '(') {
		q = fast_tgid(q + 1, &ev->tgid);
		if (!q)
			return NULL;
	}
	if (*q != '[')
		return NULL;
	q = fast_digits(q + 1, &cpu);
	if (!q || cpu > PARSE_CPU_MAX || q[0] != ']' || q[1] != ' ')
		return NULL;
	ev->cpu = cpu;
	return q + 2;
}

/* Six digits, which is all that most clocks print, at once. */
static bool fast_micros(const char *q, uint32_t *us)
{
	uint64_t v = load_le(q) << 16, ascii = 0x3030303030300000ULL;

	v ^= ascii;
	if ((v | (v + 0x0606060606060000ULL)) & 0xf0f0f0f0f0f00000ULL)
		return false;
	v = v * 10 + (v >> 8);
	*us = (((v & 0x000000ff000000ffULL) * (100 + (1000000ULL << 32))) +
	       (((v >> 16) & 0x000000ff000000ffULL) * (1 + (10000ULL << 32)))) >>
	      32;
	return true;
}

/* "     3.041652: ", "  9522910098: " */
static const char *fast_time(struct ftrace_event *ev, const char *q)
{
	const char *s = q = fast_blanks(q);
	uint32_t us, digit;
	uint64_t v = 0;

	while ((digit = (uint32_t)(*q - '0')) <= 9) {
		v = v * 10 + digit;
		q++;
	}
	if (q == s || q - s > 18)
		return NULL;
	if (q[0] == ':' && q[1] == ' ') {
		ev->clock = MODEL_CLOCK_TICKS;
		ev->ts = v;
		return q + 2;
	}
	if (*q != '.' || q - s > 9 || !fast_micros(q + 1, &us) || q[7] != ':' || q[8] != ' ')
		return NULL;
	ev->clock = MODEL_CLOCK_NS;
	ev->ts = v * 1000000000ULL + us * 1000ULL;
	return q + 9;
}

static const char *fast_columns(struct ftrace_event *ev, const char *s, const char *e)
{
	const char *q = fast_ids(ev, s + PARSE_COLUMN);
	unsigned int len;

	if (!q)
		return NULL;
	if (*q != ' ') {
		len = parse_flags(q, e, &ev->in_irq);
		if (!len || q[len] != ' ')
			return NULL;
		q += len;
	}
	q = fast_blanks(q);
	return e - q < TIME_MIN ? NULL : fast_time(ev, q);
}

/* Names that are more than the name of an event, by their first letter. */
static bool is_special(const char *s, size_t len)
{
	switch (*s) {
	case 't':
		return len >= 18 && !memcmp(s, "tracing_mark_write", 18);
	case 's':
		return s[1] == 'y';
	case 'f':	/* a function's name, or a digit */
		if (s[1] == 'u')
			return true;
		break;
	case 'p':
	case 'k':
	case 'u':
		return len == 5 || len == 10 || len == 12;
	}
	if (len < 8 || !is_hex(*s))
		return false;
	return parse_is_mark_symbol(s, len);
}

/* As option fields do, or a record that was too big. */
static bool ends_specially(const char *e)
{
	return (e[-1] == ')' && is_digit(e[-2])) || (e[-1] == ']' && e[-2] == 'G');
}

/* "NAME: args" where it is no more than that. */
static bool fast_event(struct ftrace_event *ev, const char *s, const char *e)
{
	const char *q = s;

	while (is_name(*q))
		q++;
	if (q[0] != ':' || q[1] != ' ' || is_blank(q[2]) || is_digit(*s) || q == s ||
	    is_special(s, q - s) || ends_specially(e))
		return false;
	ev->kind = FTRACE_EVENT;
	ev->name = text_of(s, q);
	ev->args = text_of(q + 2, e);
	return true;
}

bool parse_fast(struct ftrace_event *ev, const struct parse_line *line)
{
	const char *s = line->s, *e = line->e, *body;
	unsigned int blanks;

	/* a byte order mark may begin with that */
	if (e - s < FAST_MIN || e - s > (long)PARSE_RECORD_MAX || *s == '\xef')
		return false;
	parse_event_init(ev);
	body = fast_columns(ev, s, e);
	if (!body)
		return false;
	blanks = leading_blanks(s);
	ev->comm = text_of(s + blanks, s + PARSE_COLUMN);
	if (ev->comm.len == 5 && s[blanks] == '<')
		ev->comm = parse_comm(s, s + PARSE_COLUMN);
	if (!line->mode->trace_cmd && fast_event(ev, body, e))
		return true;
	return !parse_body(ev, body, line);
}
