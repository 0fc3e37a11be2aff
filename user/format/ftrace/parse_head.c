/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Lines that are no records: headers, notices of lost data, process dumps; and
 * whether the beginning of an input looks like any of this.
 */
#include <strings.h>

#include "parse_p.h"

#define KNOWS_LINES 16 /* looked at by ftrace_parser_knows() */

static bool holds(const struct parse_line *line, const char *what)
{
	return memmem(line->s, line->e - line->s, what, strlen(what));
}

/* Tracers that print columns of numbers; the kernel calls the records as them. */
static const char *reporter_of(struct model_text tracer)
{
	static const char *const names[] = { "timerlat", "osnoise", "hwlat" };
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (text_is(tracer, names[i]))
			return names[i];
	return NULL;
}

static void begin_trace(struct parse_mode *mode, struct ftrace_event *ev, const char *s,
			const char *e)
{
	parse_event_init(ev);
	ev->kind = FTRACE_TRACE;
	ev->name = text_of(s, e);
	*mode = (struct parse_mode){
		.header = true,
		.graph = text_is(ev->name, "function_graph"),
		.reporter = reporter_of(ev->name),
		.function = text_is(ev->name, "function"),
	};
}

/* "##### CPU 2 buffer started ####" */
static bool parse_buffer_started(struct ftrace_event *ev, const struct parse_line *line)
{
	static const char label[] = "##### CPU ";
	const char *s = line->s + sizeof(label) - 1;

	if (!starts(line->s, line->e, label))
		return false;
	parse_event_init(ev);
	ev->kind = FTRACE_BUFFER_STARTED;
	return !parse_cpu(&s, line->e, &ev->cpu) && starts(s, line->e, " buffer started");
}

bool parse_header(struct parse_mode *mode, struct ftrace_event *ev, const struct parse_line *line)
{
	static const char tracer[] = "# tracer:";
	const char *s = line->s, *e = trim_end(s, line->e);

	if (starts(s, e, tracer)) {
		begin_trace(mode, ev, skip_blanks(s + sizeof(tracer) - 1, e), e);
		return true;
	}
	if (holds(line, "TASK-PID") || holds(line, "FUNCTION CALLS") ||
	    holds(line, "cmd     pid")) {
		mode->titles = true;
		mode->graph |= holds(line, "FUNCTION CALLS");
	}
	return parse_buffer_started(ev, line);
}

const char *parse_lost(struct ftrace_event *ev, const struct parse_line *line)
{
	const char *s = skip_blanks(line->s, line->e), *e = trim_end(s, line->e), *reason;
	bool kernel;

	if (!starts(s, e, "CPU:"))
		return parse_unknown;
	parse_event_init(ev);
	ev->kind = FTRACE_LOST;
	s += 4;
	reason = parse_cpu(&s, e, &ev->cpu);
	if (!starts(s, e, " ["))
		return reason ? reason : parse_unknown;
	s += 2;
	kernel = starts(s, e, "LOST ");
	if (kernel)
		s += 5;
	if (s < e && is_digit(*s)) {
		if (!parse_digits(&s, e, &ev->count) || s >= e || *s++ != ' ')
			return parse_unknown;
	}
	if (!ends(s, e, kernel ? "EVENTS]" : "EVENTS DROPPED]") || e - s != (kernel ? 7 : 15))
		return parse_unknown;
	return reason;
}

bool parse_report_begins(struct parse_mode *mode, const struct parse_line *line)
{
	const char *s = line->s + 5, *e = trim_end(line->s, line->e);
	uint64_t v;

	if (!starts(line->s, e, "cpus=") || !parse_digits(&s, e, &v) || s != e)
		return false;
	*mode = (struct parse_mode){ .trace_cmd = true };
	return true;
}

/* ---- process dump ---------------------------------------------------------- */

bool parse_dump_titles(struct parse_mode *mode, const struct parse_line *line)
{
	const char *s = line->s, *e = trim_end(s, line->e), *comm;

	if (starts(s, e, "PROCESS DUMP") && e - s == 12) {
		mode->dump = true;
		return true;
	}
	if (!starts(s, e, "USER ") || !holds(line, " PID "))
		return false;
	mode->dump = true;
	mode->dump_threads = ends(s, e, " TID CMD");
	comm = ends(s, e, " NAME") ? NULL : memmem(s, e - s, " COMM", 5);
	mode->comm_col = comm ? comm + 1 - s : 0;
	return true;
}

/* The @n'th word, from 0; "" at the end if there are less. */
static const char *word_at(const char *s, const char *e, unsigned int n)
{
	s = skip_blanks(s, e);
	while (n--) {
		while (s < e && !is_blank(*s))
			s++;
		s = skip_blanks(s, e);
	}
	return s;
}

static bool parse_number_word(const char *s, const char *e, int32_t *id)
{
	return !parse_tid(&s, e, id) && (s == e || is_blank(*s));
}

/*
 * Where the command's name begins: both it and the process's name before it may
 * hold blanks, so believe the title's column, or nearly, if a word begins there.
 */
static const char *dump_comm(const char *s, const char *e, const char *name, unsigned int col)
{
	const char *q;
	int shift;

	for (shift = -2; col && shift <= 2; shift++) {
		q = s + col + shift;
		if (q > name && q < e && is_blank(q[-1]) && !is_blank(*q))
			return q;
	}
	return word_at(name, e, 1);
}

const char *parse_dump_row(struct ftrace_event *ev, const struct parse_line *line)
{
	const struct parse_mode *mode = line->mode;
	const char *s = line->s, *e = trim_end(s, line->e), *comm;
	int32_t second;

	if (!mode->dump || !line->terminated)
		return parse_unknown;
	parse_event_init(ev);
	ev->kind = FTRACE_PROCESS;
	if (!parse_number_word(word_at(s, e, 1), e, &ev->tgid) ||
	    !parse_number_word(word_at(s, e, 2), e, &second))
		return parse_unknown;
	ev->tid = mode->dump_threads ? second : ev->tgid;
	if (mode->dump_threads) {
		comm = word_at(s, e, 3);
	} else {
		const char *name = word_at(s, e, 8);

		comm = dump_comm(s, e, name, mode->comm_col);
		ev->name = text_of(name, trim_end(name, comm));
	}
	ev->comm = text_of(comm, e);
	return NULL;
}

/* ---- detection ------------------------------------------------------------- */

static bool knows_line(const struct parse_line *line)
{
	struct parse_mode mode = { 0 };
	struct ftrace_event ev;
	bool graph;

	if (starts(line->s, line->e, "# tracer:") || parse_report_begins(&mode, line) ||
	    parse_dump_titles(&mode, line) || !parse_lost(&ev, line))
		return true;
	if (line->s < line->e && *line->s == '#')
		return !parse_hash(&ev, line);
	/* columns alone are enough for other records, these need their call */
	graph = !parse_graph(&ev, line) && ev.kind != FTRACE_MARKER && ev.cpu >= 0;
	return graph || !parse_graph_switch(&ev, line) || !parse_in_columns(&ev, line) ||
	       !parse_elsewhere(&ev, line);
}

bool ftrace_parser_knows(const char *data, size_t len)
{
	static const struct parse_mode none;
	const char *s = data, *end = data + len;
	bool first = true;
	unsigned int i;

	if (starts(s, end, "\xef\xbb\xbf"))
		s += 3;
	for (i = 0; i < KNOWS_LINES && s < end; i++) {
		const char *nl = memchr(s, '\n', end - s);
		struct parse_line line = { s, nl ? nl : end, nl, &none };

		while (line.e > line.s && line.e[-1] == '\r')
			line.e--;
		if (knows_line(&line))
			return true;
		/* a page or a JSON value may quote anything further on */
		if (first && (*s == '{' || starts(s, end, "<!") ||
			      (line.e - s >= 5 && !strncasecmp(s, "<html", 5))))
			return false;
		first &= skip_blanks(line.s, line.e) == line.e;
		if (!nl)
			break;
		s = nl + 1;
	}
	return false;
}
