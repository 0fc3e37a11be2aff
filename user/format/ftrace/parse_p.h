/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Inside the line parser. A form of line is a function that takes a struct
 * parse_line and fills an event. It returns NULL if it could, parse_unknown if
 * the line is of another form, or the reason why this line of its form cannot be
 * used. Texts of the event point into the line.
 */
#ifndef FORMAT_FTRACE_PARSE_P_H
#define FORMAT_FTRACE_PARSE_P_H

#include "parse.h"
#include "parse_text.h"

#define PARSE_RECORD_MAX	(1U << 20)
#define PARSE_CPU_MAX		4095
#define PARSE_COLUMN		16	/* width of the name column; the dash follows */

/* What the lines so far say about those to come. */
struct parse_mode {
	bool header;		/* "# tracer:" was there */
	bool titles;		/* and the titles of the columns */
	bool graph;		/* the tracer is function_graph */
	bool function;		/* ... function: a word alone is a function */
	const char *reporter;	/* ... one whose records are columns: its name, else NULL */
	bool trace_cmd;		/* "cpus=" was there */
	bool dump;		/* in a process dump */
	bool dump_threads;	/* in its list of threads */
	unsigned int comm_col;	/* where COMM is in the other list, 0 if not known */
};

struct parse_line {
	const char *s, *e;	/* without its end, "\n" or "\r\n" */
	bool terminated;	/* it had one */
	const struct parse_mode *mode;
};

extern const char parse_unknown[], parse_too_late[];

/* ---- parse_num.c ----------------------------------------------------------- */

/*
 * These move *s past what they read. Where the form fits and the number is out of
 * bounds, too: the caller goes on, to see whether it is that form of line at all.
 */
unsigned int parse_digits(const char **s, const char *e, uint64_t *v);	/* 0 digits, or too large */
unsigned int parse_hex(const char **s, const char *e, uint64_t *v);
bool parse_fraction(const char **s, const char *e, unsigned int digits, uint64_t *v);
/* NULL, parse_unknown, or why the number cannot be used */
const char *parse_cpu(const char **s, const char *e, int32_t *cpu);
const char *parse_tid(const char **s, const char *e, int32_t *tid);
/* "sec.frac" or an integer */
const char *parse_time(const char **s, const char *e, struct ftrace_event *ev);

/* Keeps the first reason that is more than parse_unknown; true: the form fits so far. */
static inline bool parse_fits(const char *reason, const char **first)
{
	if (reason && reason != parse_unknown && !*first)
		*first = reason;
	return reason != parse_unknown;
}

/* ---- parse_fast.c, parse_line.c -------------------------------------------- */

/* The default form in its usual columns; false: not for certain. *e ends the line. */
bool parse_fast(struct ftrace_event *ev, const struct parse_line *line);
/* The default form with the dash where the kernel puts it. */
const char *parse_default(struct ftrace_event *ev, const struct parse_line *line);
/* That or the latency form, or function_graph's if that is the tracer. */
const char *parse_in_columns(struct ftrace_event *ev, const struct parse_line *line);
/* Any other record. */
const char *parse_elsewhere(struct ftrace_event *ev, const struct parse_line *line);
/* What may begin with "#" although it is a record. */
const char *parse_hash(struct ftrace_event *ev, const struct parse_line *line);
/* Length of the flags at @s: 0, or 4 to 8. */
unsigned int parse_flags(const char *s, const char *e, bool *in_irq);

/* ---- the other forms ------------------------------------------------------- */

const char *parse_latency(struct ftrace_event *ev, const struct parse_line *line);
const char *parse_verbose(struct ftrace_event *ev, const struct parse_line *line);
const char *parse_perf(struct ftrace_event *ev, const struct parse_line *line);
const char *parse_graph(struct ftrace_event *ev, const struct parse_line *line);
/* Options raw and hex. */
const char *parse_raw(struct ftrace_event *ev, const struct parse_line *line);
/* "f() {" and so on, after its columns. */
const char *parse_graph_call(struct ftrace_event *ev, const char *s, const struct parse_line *line);
/* "+ 18.007 us   |"; false and *s as it was if there is none. */
bool parse_graph_duration(struct ftrace_event *ev, const char **s, const char *e);
/* The ruled block's line in the middle. */
const char *parse_graph_switch(struct ftrace_event *ev, const struct parse_line *line);
/* Its rules, and other lines between records that say nothing. */
bool parse_is_filler(const struct parse_line *line);

/* ---- parse_body.c, parse_report.c ------------------------------------------ */

/* Sets kind, name, args, dialect and count. */
const char *parse_body(struct ftrace_event *ev, const char *s, const struct parse_line *line);
/* "NAME: args"; @padded: in the way of trace-cmd report. */
void parse_named(struct ftrace_event *ev, struct model_text name, const char *args,
		 const struct parse_line *line, bool padded);
/* Those names that trace-cmd report and perf script print and the kernel does not. */
bool parse_named_report(struct ftrace_event *ev, const char *args, const struct parse_line *line,
			bool padded);
bool parse_is_mark_symbol(const char *s, size_t len);

/* ---- parse_head.c ---------------------------------------------------------- */

/* Lines that begin with "#"; true: ev says something. */
bool parse_header(struct parse_mode *mode, struct ftrace_event *ev, const struct parse_line *line);
/* "CPU:1 [LOST 209 EVENTS]" */
const char *parse_lost(struct ftrace_event *ev, const struct parse_line *line);
/* "cpus=2": a report begins. */
bool parse_report_begins(struct parse_mode *mode, const struct parse_line *line);
/* A process dump's titles; they set the mode. */
bool parse_dump_titles(struct parse_mode *mode, const struct parse_line *line);
const char *parse_dump_row(struct ftrace_event *ev, const struct parse_line *line);

/* ---- parse_more.c ---------------------------------------------------------- */

/* Whether a line of no form may belong to the text of @ev, of which @args is known so far. */
bool parse_may_continue(const struct ftrace_event *ev, struct model_text args);
/* " => f" gives "f"; false if it is no such line. */
bool parse_is_frame(const struct parse_line *line, struct model_text *frame);
/* "   ffffffff8110 f+0x1 ([kernel.kallsyms])" gives what is after the address. */
bool parse_is_perf_frame(const struct parse_line *line, struct model_text *frame);

/* ---- parse.c --------------------------------------------------------------- */

/* For tests: without parse_fast(). */
void ftrace_parser_set_fast(struct ftrace_parser *p, bool fast);

/*
 * Field by field: clearing all of it in one assignment is a string instruction to
 * some compilers, and that costs a fifth of the whole parsing.
 */
static inline void parse_event_init(struct ftrace_event *ev)
{
	const struct model_text none = { NULL, 0 };

	ev->kind = FTRACE_EVENT;
	ev->clock = MODEL_CLOCK_NONE;
	ev->dialect = FTRACE_KERNEL;
	ev->line = 0;
	ev->ts = 0;
	ev->cpu = FTRACE_ID_UNKNOWN;
	ev->tid = FTRACE_ID_UNKNOWN;
	ev->tgid = FTRACE_ID_UNKNOWN;
	ev->in_irq = false;
	ev->complete = true;
	ev->stack_follows = false;
	ev->comm = none;
	ev->system = none;
	ev->name = none;
	ev->args = none;
	ev->sched = NULL;
	ev->count = 0;
	ev->depth = 0;
	ev->has_duration = false;
	ev->duration_ns = 0;
}

#endif
