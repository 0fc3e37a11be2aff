/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The line parser: every form of line, real traces in pieces, and the fast path
 * against the general one.
 */
#include <errno.h>
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "parse_rows.h"
#include "parse_samples.h"
#include "parse_walk.h"

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

/* ---- what an event says ---------------------------------------------------- */

static const char *const kinds[] = {
	"event",  "marker", "raw",    "function", "repeats", "enter",	"exit",
	"graph{", "graph}", "graph;", "irq{",	  "irq}",    "stack",	"ustack",
	"text",	  "TRACE",  "LOST",   "STARTED",  "SWITCH",  "PROCESS",
};
static const char *const clocks[] = { "", "ns", "rel", "ticks" };
static const char *const dialects[] = { "", " report", " fields" };

static void add_label(FILE *f, const char *label, struct model_text t)
{
	size_t i;

	if (!t.len)
		return;
	fprintf(f, " %s=", label);
	for (i = 0; i < t.len; i++) {
		if (t.data[i] == '\n')
			fputs("\\n", f);
		else
			fputc(t.data[i], f);
	}
}

static void add_id(FILE *f, const char *label, int32_t id)
{
	if (id != FTRACE_ID_UNKNOWN)
		fprintf(f, " %s%d", label, id);
}

/* One line with all of the event that is not as it is by default. */
static int render(void *ctx, const struct ftrace_event *ev)
{
	FILE *f = ctx;

	fputs(kinds[ev->kind], f);
	if (ev->clock)
		fprintf(f, " %s%" PRIu64, clocks[ev->clock], ev->ts);
	add_id(f, "c", ev->cpu);
	add_id(f, "t", ev->tid);
	add_id(f, "g", ev->tgid);
	fputs(dialects[ev->dialect], f);
	fputs(ev->in_irq ? " irq" : "", f);
	fputs(ev->complete ? "" : " cut", f);
	if (ev->count)
		fprintf(f, " x%" PRIu64, ev->count);
	if (ev->depth)
		fprintf(f, " d%u", ev->depth);
	if (ev->has_duration)
		fprintf(f, " for%" PRIu64, ev->duration_ns);
	add_label(f, "comm", ev->comm);
	add_label(f, "sys", ev->system);
	add_label(f, "name", ev->name);
	add_label(f, "args", ev->args);
	fputc('\n', f);
	return 0;
}

static void check_row(const struct parse_row *row, size_t chunk, bool general)
{
	struct parse_walk_options how = { .chunk = chunk, .general = general, .each = render };
	struct parse_walk w;
	char *text = NULL;
	size_t len = 0, i;
	FILE *f = open_memstream(&text, &len);

	assert_non_null(f);
	how.ctx = f;
	w = parse_walk(row->text, strlen(row->text), how);
	for (i = 0; i < w.stats.unparsed; i++)
		fprintf(f, "! %" PRIu64 " %s\n", w.stats.first_unparsed[i].line,
			w.stats.first_unparsed[i].reason);
	fclose(f);
	if (w.broken || strcmp(text, row->events))
		fail_msg("%s: %s\n%s--- expected\n%s", row->title, w.broken ? w.broken : "", text,
			 row->events);
	free(text);
}

static void test_forms(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		check_row(&rows[i], 0, false);
		check_row(&rows[i], 0, true);
		check_row(&rows[i], 1, false);
		check_row(&rows[i], 5, false);
	}
}

/* ---- real traces ----------------------------------------------------------- */

static void check_pieces(const char *name, struct sample s)
{
	static const size_t chunks[] = { 1, 7, 4096, 65536 };
	struct parse_walk whole = walk_whole(s);
	size_t i;

	for (i = 0; i < ARRAY_SIZE(chunks); i++)
		same_walk(name, whole, walk_pieces(s, chunks[i]), "other events in pieces");
	same_walk(name, whole, walk_general(s), "other events without the fast path");
	if (strncmp(name, "damaged", 7))
		assert_int_equal(whole.stats.unparsed, 0);
	if (!ftrace_parser_knows(s.data, s.len < 4096 ? s.len : 4096))
		fail_msg("%s: not known", name);
}

static void test_samples(void **state)
{
	(void)state;
	each_sample(check_pieces);
}

/* ---- bounds ---------------------------------------------------------------- */

#define HEAD "            init-1       [000] .....     3.041652: tracing_mark_write: "

static int on_longest(void *ctx, const struct ftrace_event *ev)
{
	size_t *longest = ctx;

	if (ev->args.len > *longest)
		*longest = ev->args.len;
	assert_int_equal(ev->complete, ev->args.len < PARSE_RECORD_MAX / 2);
	return 0;
}

/* A marker of @cnt times @part, and a short one after it. */
static struct sample long_marker(const char *part, size_t cnt)
{
	struct sample s = { .len = 0 };
	FILE *f = open_memstream(&s.data, &s.len);

	assert_non_null(f);
	fputs(HEAD, f);
	while (cnt--)
		fputs(part, f);
	fputs("\n" HEAD "short\n", f);
	fclose(f);
	return s;
}

static void check_long(const char *part, size_t cnt, size_t args, uint64_t unparsed)
{
	struct sample s = long_marker(part, cnt);
	size_t longest = 0;
	struct parse_walk_options how = { .each = on_longest, .ctx = &longest };
	struct parse_walk w = parse_walk(s.data, s.len, how);

	assert_null(w.broken);
	assert_int_equal(longest, args);
	assert_int_equal(w.stats.records, 2);
	assert_int_equal(w.stats.unparsed, unparsed);
	how.chunk = 8192;
	same_walk("long", w, parse_walk(s.data, s.len, how), "other events in pieces");
	how.chunk = 100001;
	same_walk("long", w, parse_walk(s.data, s.len, how), "other events in pieces");
	free(s.data);
}

static void test_long_lines(void **state)
{
	(void)state;
	check_long("0123456789", 500000, PARSE_RECORD_MAX - strlen(HEAD), 1);
	/* 1 MiB of lines of ten bytes; the rest is counted */
	check_long("123456789\n", 200000, PARSE_RECORD_MAX, 200000 - PARSE_RECORD_MAX / 10);
}

static int refuse(void *ctx, const struct ftrace_event *ev)
{
	unsigned int *cnt = ctx;

	(void)ev;
	return ++*cnt == 2 ? -EPIPE : 0;
}

static void test_emit_error(void **state)
{
	static const char text[] = HEAD "a\n" HEAD "b\n" HEAD "c\n" HEAD "d\n";
	struct ftrace_parser *p;
	unsigned int cnt = 0;

	(void)state;
	assert_int_equal(ftrace_parser_open(&p, refuse, &cnt), 0);
	assert_int_equal(ftrace_parser_feed(p, text, sizeof(text) - 1), -EPIPE);
	assert_int_equal(ftrace_parser_feed(p, text, sizeof(text) - 1), -EPIPE);
	assert_int_equal(ftrace_parser_end(p), -EPIPE);
	assert_int_equal(cnt, 2);
	ftrace_parser_close(p);
	ftrace_parser_close(NULL);
}

/* ---- detection ------------------------------------------------------------- */

static void test_knows(void **state)
{
	static const char *const not_known[] = {
		"",
		"\n",
		"hello\n",
		"{\"traceEvents\": []}\n",
		"<!DOCTYPE html>\n# tracer: nop\n",
		"<html>\n" HEAD "a\n",
		"#include <stdio.h>\n\nint main(void) {\n\tf();\n}\n",
		"#!/bin/sh\n# tracer\necho 1) f();\n",
		"\177ELF\2\1\1",
		"\20",
		"[    0.000000] Linux version 6.1.0\n[    0.000001] Command line: a=b\n",
		"Nov 20 07:00:51 host kernel: [12.3] x\n",
		"a,b,c\n1,2,3\n",
	};
	static const char *const known[] = {
		"# tracer: nop\n",
		"# tracer: nop",
		"\n\n# tracer: nop\n",
		"cpus=2\n",
		"CPU:1 [LOST 3 EVENTS]\n",
		"PROCESS DUMP\n",
		"line\n" HEAD "a\n",
		"\xef\xbb\xbf# tracer: nop\r\n",
		" 0)   1.292 us    |  f();\n",
	};
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(not_known); i++) {
		if (ftrace_parser_knows(not_known[i], strlen(not_known[i])))
			fail_msg("known: %s", not_known[i]);
	}
	for (i = 0; i < ARRAY_SIZE(known); i++) {
		if (!ftrace_parser_knows(known[i], strlen(known[i])))
			fail_msg("not known: %s", known[i]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_forms),	   cmocka_unit_test(test_samples),
		cmocka_unit_test(test_long_lines), cmocka_unit_test(test_emit_error),
		cmocka_unit_test(test_knows),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
