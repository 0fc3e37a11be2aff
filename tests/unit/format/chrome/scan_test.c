// SPDX-License-Identifier: GPL-2.0
/*
 * The events of files in every form and with every damage: which are found, where, and what is
 * said of the rest. Every row is read in one piece and byte by byte.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "format/chrome/bytes.h"
#include "scan_walk.h"

#define EARLY	"the JSON ends early"
#define FOLLOWS	"something follows the JSON"
#define NO_JSON	"this is no JSON"
#define DAMAGED	"the JSON is damaged"
#define ANOTHER	"another array begins"

struct row {
	const char *text;
	const char *names;	/* of the events found, one letter each */
	uint64_t empty, others, damaged, stray, missing;
	const char *problem;
	uint64_t bad_samples, frames;
};

static const struct row containers[] = {
	{ .text = "[{\"name\":\"a\"},{\"name\":\"b\"}]", .names = "ab" },
	{ .text = " \r\n[ {\"name\" : \"a\" } , {\"name\":\"b\"}\n]\n ", .names = "ab" },
	{ .text = "\xef\xbb\xbf[{\"name\":\"a\"}]", .names = "a" },
	{ .text = "[{\"name\":\"a\"},{\"name\":\"b\"}", .names = "ab" },
	{ .text = "[{\"name\":\"a\"},\n", .names = "a" },
	{ .text = "[", .names = "" },
	{ .text = "[]", .names = "" },
	{ .text = "[{\"name\":\"a\"},]", .names = "a" },
	{ .text = "[,{\"name\":\"a\"}]", .names = "a", .stray = 1 },
	{ .text = "[{\"name\":\"a\"},,{\"name\":\"b\"}]", .names = "ab", .stray = 1 },
	{ .text = "[{\"name\":\"a\"},,]", .names = "a", .stray = 1 },
	{ .text = "[{\"name\":\"a\"}\n{\"name\":\"b\"}]", .names = "ab", .missing = 1 },
	{ .text = "[{},{\"name\":\"a\"},null,1.5,\"x\",[1,{\"name\":\"n\"}],{\"name\":\"b\"}]", .names = "ab", .empty = 1, .others = 4 },
	{ .text = "{\"traceEvents\":[{\"name\":\"a\"}],\"x\":1}", .names = "a" },
	{ .text = "{\"x\":{\"traceEvents\":[{\"name\":\"n\"}]},\"y\":[1,2],\"z\":\"}\",\"traceEvents\":[{\"name\":\"a\"}],}", .names = "a" },
	{ .text = "{\"traceEvents\":[{\"name\":\"a\"}],\"traceEvents\":[{\"name\":\"b\"}]}", .names = "ab" },
	{ .text = "{\"trace\\u0045vents\":[{\"name\":\"a\"}]}", .names = "a" },
	{ .text = "{\"traceEvents\":{\"name\":\"a\"}}", .names = "" },
	{ .text = "{\"traceEvents\":[{\"name\":\"a\"}", .names = "a", .problem = EARLY },
	{ .text = "{\"traceEvents\":[{\"name\":\"a\"}]", .names = "a", .problem = EARLY },
	{ .text = "{\"traceEvents\":[{\"name\":\"a\"}],\"x\":[1,", .names = "a", .problem = EARLY },
	{ .text = "{\"traceEvents\":[{\"name\":\"a\"}],\"x", .names = "a", .problem = EARLY },
	{ .text = "[{\"name\":\"a\"},{\"name\":\"half a str", .names = "a", .problem = EARLY },
	{ .text = "[{\"name\":\"a\"},{\"name\":\"b\",\"args\":{\"x\":[", .names = "a", .problem = EARLY },
	{ .text = "[{\"name\":\"a\"}][{\"name\":\"b\"}]", .names = "a", .problem = FOLLOWS },
	{ .text = "{\"name\":\"a\"}\n{\"name\":\"b\"}\n", .names = "", .problem = FOLLOWS },
	{ .text = "{\"x\" 1,\"traceEvents\":[{\"name\":\"a\"}]}", .names = "a", .problem = DAMAGED },
	{ .text = "{\"x\":,\"traceEvents\":[{\"name\":\"a\"}]}", .names = "a", .problem = DAMAGED },
	{ .text = "{\"traceEvents\":[{\"name\":\"a\"}},{\"name\":\"b\"}]}", .names = "ab", .problem = DAMAGED },
	/* What a second run appended, or a program that lists lists. */
	{ .text = "[\n{\"name\":\"a\"},\n[\n{\"name\":\"b\"},\n{\"name\":\"c\"},\n", .names = "abc", .problem = ANOTHER },
	{ .text = "[{\"name\":\"a\"},[{\"name\":\"b\"},{\"name\":\"c\"}]", .names = "abc", .problem = ANOTHER },
	{ .text = "[[ {\"name\":\"a\"},[{\"name\":\"b\"}],,],{\"name\":\"c\"}]", .names = "abc", .stray = 2, .problem = ANOTHER },
	{ .text = "{\"traceEvents\":[[{\"name\":\"a\"}][{\"name\":\"b\"}]],\"x\":1}", .names = "ab", .missing = 1, .problem = ANOTHER },
	{ .text = "[[],[1],[\"[{\"],{\"name\":\"a\"}]", .names = "a", .others = 3 },
	{ .text = "nothing", .names = "", .problem = NO_JSON },
	{ .text = "\"x\"", .names = "", .problem = NO_JSON },
	{ .text = "", .names = "" },
};

#define BAD(event)	"[{\"name\":\"a\"},\n" event ",\n{\"name\":\"b\"},\n{\"name\":\"c\"}]"

/* An event in the middle that is none: those around it are found. */
static const struct row damaged[] = {
	{ .text = BAD("{\"name\":+4}"), .names = "abc", .damaged = 1 },
	{ .text = BAD("{\"name\":005}"), .names = "abc", .damaged = 1 },
	{ .text = BAD("{\"name\":6.}"), .names = "abc", .damaged = 1 },
	{ .text = BAD("{\"name\":.5}"), .names = "abc", .damaged = 1 },
	{ .text = BAD("{\"name\":0x1}"), .names = "abc", .damaged = 1 },
	{ .text = BAD("{\"name\":}"), .names = "abc", .damaged = 1 },
	{ .text = BAD("{\"name\"}"), .names = "abc", .damaged = 1 },
	{ .text = BAD("{\"name\" \"x\"}"), .names = "abc", .damaged = 1 },
	{ .text = BAD("{\"name\":1,,\"ph\":1}"), .names = "abc", .damaged = 1 },
	{ .text = BAD("{\"name\":1 \"ph\":1}"), .names = "abc", .damaged = 1 },
	{ .text = BAD("{'name':1}"), .names = "abc", .damaged = 1 },
	{ .text = BAD("{name:1}"), .names = "abc", .damaged = 1 },
	{ .text = BAD("{1}"), .names = "abc", .damaged = 1 },
	/* A nested object of a damaged event is no event. */
	{ .text = BAD("{\"name\":1,,\"args\":[{\"name\":\"n\"},\n{\"name\":\"m\"}]}"), .names = "abc", .damaged = 1 },
	/* A quote is missing, or a backslash hides one: strings begin where they should end. */
	{ .text = BAD("{\"name\":\"x,\"ph\":\"X\"}"), .names = "abc", .damaged = 1 },
	{ .text = BAD("{\"dir\":\"C:\\\",\"ph\":\"X\"}"), .names = "abc", .damaged = 1 },
	{ .text = BAD("{\"ph\":\"X\",\"name\":\"x}"), .names = "abc", .damaged = 1 },
	/* A bracket is missing. */
	{ .text = BAD("{\"name\":\"x\""), .names = "abc", .damaged = 1 },
	{ .text = BAD("{\"name\":\"x\",\"args\":{\"y\":1}"), .names = "abc", .damaged = 1 },
	{ .text = BAD("{\"name\":\"x\",\"args\":{\"y\":1"), .names = "abc", .damaged = 1 },
};

/* What is not JSON and still an event. */
static const struct row accepted[] = {
	{ .text = BAD("{\"name\":\"x\",}"), .names = "axbc" },
	{ .text = BAD("{\"name\":\"x\",\"ts\":NaN,\"n\":None}"), .names = "axbc" },
	{ .text = BAD("{\"name\":\"x\",\"args\":{\"a\":'b',c:,,}}"), .names = "axbc" },
	{ .text = BAD("{\"name\":\"x\n\x01\\q\"}"), .names = "axbc" },
	{ .text = BAD("{\"name\":\"1\",\"name\":\"x\",\"args\":{\"name\":\"n\"}}"), .names = "axbc" },
	{ .text = BAD("{\"n\\u0061me\":\"x\"}"), .names = "axbc" },
	{ .text = BAD("{\"args\":{\"}\":\"]\\\"{\"},\"name\":\"x\"}"), .names = "axbc" },
};

/* Members that are handed out piece by piece; samples are among the names. */
static const struct row pieces[] = {
	{ .text = "{\"samples\":[{\"name\":\"a\"},{\"name\":\"b\"}],\"x\":1}", .names = "ab" },
	{ .text = "{\"samples\":[{\"name\":\"a\"},1,{\"name\":+},null,{},{\"name\":\"b\"}]}", .names = "a?b", .bad_samples = 3 },
	{ .text = "{\"samples\":[{\"name\":\"a\"},{\"name\":\"b", .names = "a", .problem = EARLY },
	{ .text = "{\"samples\":{\"name\":\"a\"},\"traceEvents\":[{\"name\":\"b\"}]}", .names = "b" },
	{ .text = "{\"stackFrames\":{\"1\":{\"name\":\"f\"},\"2\":3},\"traceEvents\":[{\"name\":\"a\"}]}", .names = "a", .frames = 2 },
	{ .text = "{\"stackFrames\":{},\"traceEvents\":[{\"name\":\"a\"}]}", .names = "a" },
	{ .text = "{\"stackFrames\":[1],\"traceEvents\":[{\"name\":\"a\"}]}", .names = "a" },
	{ .text = "{\"stackFrames\":{\"1\":{},x,\"2\",\"3\":4},\"traceEvents\":[{\"name\":\"a\"}]}", .names = "a", .frames = 2, .problem = DAMAGED },
	{ .text = "{\"traceEvents\":[{\"name\":\"a\"}],\"stackFrames\":{\"1\":{}", .names = "a", .frames = 1, .problem = EARLY },
};

struct found {
	char names[16];
	size_t cnt;
};

static void note_name(void *ctx, const struct chrome_event *e)
{
	const struct chrome_field *name = chrome_field(e, CHROME_NAME);
	struct found *f = ctx;

	if (f->cnt < sizeof(f->names) - 1)
		f->names[f->cnt++] = name && name->type == CHROME_STRING && name->value.len ?
			*chrome_text(e, name->value) : '?';
}

static void check_row(const struct row *r, size_t chunk)
{
	struct found f = { 0 };
	struct scan_walk w = scan_walk(r->text, strlen(r->text),
				       (struct scan_walk_options){ .chunk = chunk, .each = note_name, .ctx = &f });
	const struct chrome_scan_counts *c = &w.counts;
	bool same_problem = r->problem ? c->problem && !strcmp(c->problem, r->problem) : !c->problem;

	if (w.broken || w.end || strcmp(f.names, r->names) || !same_problem || c->empty != r->empty ||
	    c->not_objects != r->others || c->damaged != r->damaged || c->stray_commas != r->stray ||
	    c->missing_commas != r->missing || c->bad_samples != r->bad_samples || w.frames != r->frames)
		fail_msg("%s\nby %zu: events %s, %llu empty, %llu others, %llu damaged, %llu stray, %llu missing, "
			 "%llu bad samples, %llu frames, %s, %s",
			 r->text, chunk, f.names, (unsigned long long)c->empty, (unsigned long long)c->not_objects,
			 (unsigned long long)c->damaged, (unsigned long long)c->stray_commas,
			 (unsigned long long)c->missing_commas, (unsigned long long)c->bad_samples,
			 (unsigned long long)w.frames, c->problem ? c->problem : "no problem",
			 w.broken ? w.broken : "nothing broken");
}

static void check_rows(const struct row *rows, size_t cnt)
{
	size_t i;

	for (i = 0; i < cnt; i++) {
		check_row(&rows[i], 0);
		check_row(&rows[i], 1);
	}
}

static void every_container(void **state)
{
	(void)state;
	check_rows(containers, sizeof(containers) / sizeof(containers[0]));
}

static void damage_costs_one_event(void **state)
{
	(void)state;
	check_rows(damaged, sizeof(damaged) / sizeof(damaged[0]));
}

static void what_is_written_is_accepted(void **state)
{
	(void)state;
	check_rows(accepted, sizeof(accepted) / sizeof(accepted[0]));
}

static void members_in_pieces(void **state)
{
	(void)state;
	check_rows(pieces, sizeof(pieces) / sizeof(pieces[0]));
}

static void damage_has_a_place(void **state)
{
	static const char text[] = "[{\"name\":\"a\"},\n{\"name\":+4},{\"x\"}]";
	struct scan_walk w = scan_walk(text, strlen(text), (struct scan_walk_options){ 0 });

	(void)state;
	assert_int_equal(w.counts.damaged, 2);
	assert_int_equal(w.counts.first[0].event, 2);
	assert_int_equal(w.counts.first[0].offset, strchr(text, '+') - text);
	assert_int_equal(w.counts.first[1].event, 3);
	assert_int_equal(w.counts.first[1].offset, strstr(text, "x\"}") + 2 - text);
}

static void cut_anywhere_no_event_is_invented(void **state)
{
	static const char text[] = "{\"a\":\"b\",\"traceEvents\":[{\"name\":\"a\",\"args\":{\"x\":[{\"y\":\"\\u12ab\\\"\"}]}},\n"
				   "{\"ts\":1.5e3,\"name\":\"b\"},{\"name\":\"c\"}],\"m\":{\"n\":\"o\"}}";
	size_t len;

	(void)state;
	for (len = 0; len < strlen(text); len++) {
		char *cut = malloc(len + 1);
		struct found f = { 0 };
		struct scan_walk w;

		memcpy(cut, text, len);
		w = scan_walk(cut, len, (struct scan_walk_options){ .each = note_name, .ctx = &f });
		if (w.broken || strncmp(f.names, "abc", f.cnt) || w.counts.damaged || (len && !w.counts.problem))
			fail_msg("%.*s: %s", (int)len, cut, f.names);
		free(cut);
	}
}

/* Longer than the window at first, and longer than it ever gets. */
static void long_events(void **state)
{
	static const size_t lens[] = { 300 << 10, 3 << 20, 40 << 20 };
	size_t i;

	(void)state;
	for (i = 0; i < 3; i++) {
		char *text = malloc(lens[i] + 100);
		struct found f = { 0 };
		struct scan_walk w;
		int n = sprintf(text, "[{\"name\":\"a\"},{\"name\":\"l\",\"args\":{\"s\":\"");

		memset(text + n, 'x', lens[i]);
		strcpy(text + n + lens[i], "\"}},{\"name\":\"b\"}]");
		w = scan_walk(text, strlen(text), (struct scan_walk_options){ .chunk = 100000, .each = note_name, .ctx = &f });
		free(text);
		assert_null(w.broken);
		assert_string_equal(f.names, i < 2 ? "alb" : "ab");
		assert_int_equal(w.counts.damaged, i == 2);
	}
}

static void members_are_kept_by_type(void **state)
{
	static const char text[] = "[{\"ph\":\"X\",\"ts\":1.5,\"dur\":\"2\",\"flow_in\":true,\"bp\":null,\"args\":{},\"id\":[1],\"zzz\":false}]";
	static const struct {
		enum chrome_key key;
		enum chrome_type type;
		const char *value;
	} want[] = {
		{ CHROME_PH, CHROME_STRING, "X" }, { CHROME_TS, CHROME_NUMBER, "1.5" }, { CHROME_DUR, CHROME_STRING, "2" },
		{ CHROME_FLOW_IN, CHROME_TRUE, "true" }, { CHROME_BP, CHROME_NULL, "null" }, { CHROME_ARGS, CHROME_OBJECT, "{}" },
		{ CHROME_ID, CHROME_ARRAY, "[1]" }, { CHROME_UNKNOWN, CHROME_FALSE, "false" },
	};
	char data[sizeof(text) + 64];
	struct chrome_event e;
	const char *reason;
	size_t bad_at, i;

	(void)state;
	memset(data, '"', sizeof(data));
	memcpy(data, text + 1, strlen(text) - 2);
	assert_int_equal(chrome_event_parse(&e, data, strlen(text) - 2, &bad_at, &reason), CHROME_WHOLE);
	assert_int_equal(e.len, strlen(text) - 2);
	assert_int_equal(e.fields_cnt, sizeof(want) / sizeof(want[0]));
	for (i = 0; i < e.fields_cnt; i++) {
		assert_int_equal(e.fields[i].key, want[i].key);
		assert_int_equal(e.fields[i].type, want[i].type);
		assert_int_equal(e.fields[i].value.len, strlen(want[i].value));
		assert_memory_equal(chrome_text(&e, e.fields[i].value), want[i].value, strlen(want[i].value));
	}
	assert_memory_equal(chrome_text(&e, e.fields[7].name), "zzz", 3);
}

/* Members beyond those that are kept cost no known one. */
static void too_many_members(void **state)
{
	char text[4096 + CHROME_PAD_BYTES];
	struct chrome_event e;
	const char *reason;
	size_t bad_at, len = 0, i;

	(void)state;
	len += (size_t)sprintf(text, "{");
	for (i = 0; i < 100; i++)
		len += (size_t)sprintf(text + len, "\"m%zu\":%zu,", i, i);
	len += (size_t)sprintf(text + len, "\"name\":\"x\"}");
	memset(text + len, '"', CHROME_PAD_BYTES);
	assert_int_equal(chrome_event_parse(&e, text, len, &bad_at, &reason), CHROME_WHOLE);
	assert_non_null(chrome_field(&e, CHROME_NAME));
	assert_int_equal(e.fields_cnt + e.dropped, 101);
	assert_true(e.dropped > 0);
}

static void an_error_of_the_input(void **state)
{
	static const char text[] = "[{\"name\":\"a\"},{\"name\":";
	struct scan_walk w = scan_walk(text, strlen(text), (struct scan_walk_options){ .err = -EIO });

	(void)state;
	assert_int_equal(w.end, -EIO);
	assert_int_equal(w.counts.events, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_container),
		cmocka_unit_test(damage_costs_one_event),
		cmocka_unit_test(what_is_written_is_accepted),
		cmocka_unit_test(members_in_pieces),
		cmocka_unit_test(damage_has_a_place),
		cmocka_unit_test(cut_anywhere_no_event_is_invented),
		cmocka_unit_test(long_events),
		cmocka_unit_test(members_are_kept_by_type),
		cmocka_unit_test(too_many_members),
		cmocka_unit_test(an_error_of_the_input),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
