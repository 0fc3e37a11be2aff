/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What is after the time: "NAME: args", and the forms without a name before
 * a colon: functions, system calls, stacks, raw markers.
 */
#include "parse_p.h"

#define REPORT_NAME_WIDTH 20 /* trace-cmd report pads names to it */

static const char name_cut[] = "record that ends in its event's name";
static const char too_big[] = "[LINE TOO BIG]";

/* What the name of a function may be followed by. */
struct symbol {
	struct model_text name;
	const char *args, *args_end; /* between parentheses, NULL if there are none */
	const char *end;	     /* after all of it */
};

/* "+0x4/0xf0" */
static const char *skip_offset(const char *s, const char *e)
{
	const char *q = s;

	if (!starts(q, e, "+0x"))
		return s;
	for (q += 3; q < e && (is_hex(*q) || *q == '/' || *q == 'x'); q++)
		;
	return q;
}

/* " [module]" or " <address>" */
static const char *skip_bracketed(const char *s, const char *e, char open, char close)
{
	const char *q;

	if (e - s < 4 || s[0] != ' ' || s[1] != open)
		return s;
	for (q = s + 2; q < e && (is_name(*q) || *q == '-'); q++)
		;
	return q > s + 2 && q < e && *q == close ? q + 1 : s;
}

/* Of "(args) <-parent": its closing parenthesis; the texts in args may hold any. */
static const char *closing(const char *s, const char *e)
{
	const char *q;

	for (q = e - 4; q > s; q--) {
		if (!memcmp(q, ") <-", 4))
			return q;
	}
	for (q = e - 12; q > s; q--) {
		if (!memcmp(q, ") (repeats: ", 12))
			return q;
	}
	return memrchr(s, ')', e - s);
}

static const char *skip_suffix(const char *s, const char *e)
{
	s = skip_offset(s, e);
	s = skip_bracketed(s, e, '[', ']');
	return skip_bracketed(s, e, '<', '>');
}

static bool get_symbol(struct symbol *sym, const char *s, const char *e)
{
	const char *q = skip_name(s, e);

	*sym = (struct symbol){ .name = text_of(s, q) };
	if (q == s)
		return false;
	q = skip_suffix(q, e);
	if (q < e && *q == '(') {
		sym->args = q + 1;
		sym->args_end = closing(q, e);
		if (sym->args_end)
			q = sym->args_end + 1;
	}
	sym->end = q;
	return true;
}

/* ---- forms ----------------------------------------------------------------- */

/* "(repeats: 3, last_ts:     1.879300)" */
static void parse_repeats(struct ftrace_event *ev, const char *s, const char *e)
{
	static const char label[] = "(repeats: ";
	const char *q = s == e ? NULL : memmem(s, e - s, label, sizeof(label) - 1);
	uint64_t cnt;

	if (!q)
		return;
	q += sizeof(label) - 1;
	if (!parse_digits(&q, e, &cnt))
		return;
	ev->kind = FTRACE_FUNCTION_REPEATS;
	ev->count = cnt;
}

/* "f <-parent", "f"; NULL: it is one */
static const char *parse_function(struct ftrace_event *ev, const struct symbol *sym,
				  const struct parse_line *line)
{
	const char *s = sym->end, *e = line->e;

	if (sym->args && !sym->args_end)
		return parse_unknown;
	if (is_digit(sym->name.data[0]) && !starts(sym->name.data, e, "0x"))
		return parse_unknown;
	ev->name = sym->name;
	ev->kind = FTRACE_FUNCTION;
	if (s == e || starts(s, e, " (repeats: ")) {
		if (!line->terminated)
			return name_cut;
		parse_repeats(ev, s, e);
		return NULL;
	}
	if (!starts(s, e, " <-"))
		return parse_unknown;
	ev->args = text_of(s + 3, skip_name(s + 3, e));
	parse_repeats(ev, ev->args.data + ev->args.len, e);
	return NULL;
}

/* "sys_openat(...)", "sys_openat -> 0x3" */
static bool parse_syscall(struct ftrace_event *ev, const struct symbol *sym, const char *e)
{
	struct model_text name = sym->name;

	if (name.len < 5 || memcmp(name.data, "sys_", 4))
		return false;
	if (sym->args && !starts(sym->end, e, " <-")) {
		ev->kind = FTRACE_SYSCALL_ENTER;
		ev->args = text_of(sym->args, sym->args_end ? sym->args_end : e);
	} else if (starts(sym->end, e, " -> ")) {
		ev->kind = FTRACE_SYSCALL_EXIT;
		ev->args = text_of(sym->end + 4, e);
	} else {
		return false;
	}
	ev->name = text_of(name.data + 4, name.data + name.len);
	return true;
}

/* "# 1000 buf: 01 02" */
static bool parse_raw_marker(struct ftrace_event *ev, const char *s, const char *e)
{
	const char *q = s + 2, *id = q;
	uint64_t v;

	if (!starts(s, e, "# ") || !parse_hex(&q, e, &v) || !starts(q, e, " buf:"))
		return false;
	ev->kind = FTRACE_MARKER_RAW;
	ev->name = text_of(id, q);
	ev->args = text_of(skip_blanks(q + 5, e), e);
	return true;
}

static bool parse_stack(struct ftrace_event *ev, const char *s, const char *e)
{
	if (starts(s, e, "<stack trace")) {
		ev->kind = FTRACE_STACK;
		ev->name = literal("kernel_stack");
	} else if (starts(s, e, "<user stack trace")) {
		ev->kind = FTRACE_USER_STACK;
		ev->name = literal("user_stack");
	} else {
		return false;
	}
	return true;
}

/* ---- "NAME: args" ---------------------------------------------------------- */

bool parse_is_mark_symbol(const char *s, size_t len)
{
	static const char name[] = "tracing_mark_write";
	const char *e = s + len;
	size_t i;

	if (starts(s, e, name))
		return len == sizeof(name) - 1 || s[sizeof(name) - 1] == '.';
	if (len == 1)
		return *s == '0';
	if (starts(s, e, "0x")) {
		s += 2;
		len -= 2;
	}
	/* an address that has no symbol */
	for (i = 0; i < len && is_hex(s[i]); i++)
		;
	return len >= 8 && i == len;
}

/* "next_prio=0x78 (120)" at the end: option fields */
static bool ends_as_field(const char *s, const char *e)
{
	const char *q = e - 1, *t;

	if (e - s < 8 || *q != ')')
		return false;
	while (q > s && is_digit(q[-1]))
		q--;
	if (q > s && q[-1] == '-')
		q--;
	if (q - s < 5 || q[-1] != '(' || q[-2] != ' ')
		return false;
	for (t = q - 2; t > s && is_hex(t[-1]); t--)
		;
	return t - s > 3 && !memcmp(t - 3, "=0x", 3);
}

/* "KEY=" */
static bool begins_as_field(const char *s, const char *e)
{
	const char *q = skip_name(s, e);

	return q > s && q < e && *q == '=';
}

static enum ftrace_dialect dialect_of(const struct ftrace_event *ev, const char *s, const char *e,
				      bool padded)
{
	if (!padded)
		return ends_as_field(s, e) ? FTRACE_FIELDS : ev->dialect;
	if (ev->dialect == FTRACE_FIELDS || ends_as_field(s, e))
		return FTRACE_FIELDS;
	if (!begins_as_field(s, e))
		return FTRACE_TRACE_CMD;
	if (text_is(ev->name, "sched_switch") && !memmem(s, e - s, " ==> ", 5))
		return FTRACE_FIELDS;
	return FTRACE_KERNEL;
}

/* Those that are no plain events. */
static bool parse_named_special(struct ftrace_event *ev, const char *args,
				const struct parse_line *line, bool padded)
{
	const char *s = ev->name.data, *e = s + ev->name.len;

	if (parse_is_mark_symbol(s, e - s)) {
		ev->kind = FTRACE_MARKER;
		ev->name = literal("print");
		ev->args = text_of(args, line->e);
		return true;
	}
	if (starts(s, e, "sys_enter_") && e - s > 10) {
		ev->kind = FTRACE_SYSCALL_ENTER;
		ev->name = text_of(s + 10, e);
	} else if (starts(s, e, "sys_exit_") && e - s > 9) {
		ev->kind = FTRACE_SYSCALL_EXIT;
		ev->name = text_of(s + 9, e);
	} else {
		return parse_named_report(ev, args, line, padded);
	}
	ev->args = text_of(skip_blanks(args, line->e), line->e);
	return true;
}

void parse_named(struct ftrace_event *ev, struct model_text name, const char *args,
		 const struct parse_line *line, bool padded)
{
	ev->kind = FTRACE_EVENT;
	ev->name = name;
	if (parse_named_special(ev, args, line, padded))
		return;
	args = skip_blanks(args, line->e);
	ev->args = text_of(args, line->e);
	ev->dialect = dialect_of(ev, args, line->e, padded);
}

/* Skips what follows the colon: one blank, and the padding of trace-cmd report. */
static const char *skip_padding(const char *colon, struct model_text name,
				const struct parse_line *line, bool *padded)
{
	const char *s = colon + 1 < line->e ? colon + 2 : line->e;
	const char *column = colon + 2 + REPORT_NAME_WIDTH - name.len, *q;

	if (name.len >= REPORT_NAME_WIDTH || column > line->e)
		return s;
	for (q = s; q < column; q++) {
		if (*q != ' ')
			return s;
	}
	if (line->mode->trace_cmd || column - s > 3)
		*padded = true;
	return *padded ? column : s;
}

/* trace-cmd report --ts-diff: "(+338)" before the name, or as many blanks */
static const char *skip_diff(const char *s, const char *e)
{
	const char *q = s + 2;
	uint64_t v;

	if (!starts(s, e, "(+") || !parse_digits(&q, e, &v) || q >= e || *q != ')')
		return s;
	return skip_blanks(q + 1, e);
}

/* "    124:120:R   + [001]      31: 98:R rcuc/1", of the wakeup tracers, or with ==> */
static const char *wakeup_name(const char *s, const char *e)
{
	uint64_t v;

	s = skip_blanks(s, e);
	if (!parse_digits(&s, e, &v) || s >= e || *s != ':')
		return "";
	if (memmem(s, e - s, " + [", 4))
		return "wakeup";
	return memmem(s, e - s, " ==> [", 6) ? "context_switch" : "";
}

static const char *parse_text(struct ftrace_event *ev, const char *s, const struct parse_line *line)
{
	const char *reporter = line->mode->reporter;

	ev->kind = FTRACE_TEXT;
	ev->name = literal(reporter ? reporter : wakeup_name(s, line->e));
	ev->args = text_of(s, line->e);
	return NULL;
}

const char *parse_body(struct ftrace_event *ev, const char *body, const struct parse_line *line)
{
	struct parse_line kept = *line;
	bool padded = line->mode->trace_cmd;
	const char *s, *reason;
	struct symbol sym;

	if (ends(body, line->e, too_big)) {
		kept.e -= sizeof(too_big) - 1;
		ev->complete = false;
		line = &kept;
	}
	s = skip_diff(skip_blanks(body, line->e), line->e);
	padded |= s > body && *(s - 1) == ' ' && *body == '(';
	if (parse_stack(ev, s, line->e) || parse_raw_marker(ev, s, line->e))
		return NULL;
	if (s == line->e && !line->terminated)
		return name_cut;
	if (!get_symbol(&sym, s, line->e))
		return parse_text(ev, body, line);
	s = sym.end;
	if (s < line->e && *s == ':' && !sym.args && (s + 1 == line->e || is_blank(s[1]))) {
		s = skip_padding(s, sym.name, line, &padded);
		parse_named(ev, sym.name, s, line, padded);
		return NULL;
	}
	if (parse_syscall(ev, &sym, line->e))
		return NULL;
	reason = parse_function(ev, &sym, line);
	return reason == parse_unknown ? parse_text(ev, body, line) : reason;
}
