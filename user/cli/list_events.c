// SPDX-License-Identifier: GPL-2.0
/*
 * Tracepoints and their fields, as text and as JSON.
 */
#include "list_events.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "tracepoint/tracepoint.h"
#include "source/tracepoint.h"
#include "exit.h"
#include "base/json.h"
#include "report/schema.h"
#include "base/log.h"

/* What an argument of the field is in the trace. */
static const char *kind_of(const struct tracepoint_field *field)
{
	switch (field->shape) {
	case TRACEPOINT_NUMBER:
		return field->size == 8 ? field->is_signed ? "Int64" : "Uint64" : field->is_signed ? "Int32" : "Uint32";
	case TRACEPOINT_BOOL:
		return "Bool";
	case TRACEPOINT_POINTER:
		return "Pointer";
	default:
		return "String";
	}
}

static void print_text(const char *system, const char *event, const struct tracepoint_format *format, bool fields)
{
	unsigned int cnt, i;
	const struct tracepoint_field *all = tracepoint_format_fields(format, &cnt);

	printf("%s:%s\n", system, event);
	for (i = 0; fields && i < cnt; i++)
		printf("    %-30s %-8s %s\n", all[i].name, kind_of(&all[i]), all[i].type);
}

static void print_json(struct json *j, const char *system, const char *event, const struct tracepoint_format *format)
{
	unsigned int cnt, i;
	const struct tracepoint_field *all = tracepoint_format_fields(format, &cnt);

	json_line(j, "  ");
	json_object(j);
	json_key_text(j, "system", system);
	json_key_text(j, "event", event);
	json_key(j, "fields");
	json_array(j);
	for (i = 0; i < cnt; i++) {
		json_object(j);
		json_key_text(j, "name", all[i].name);
		json_key_text(j, "argument", kind_of(&all[i]));
		json_key_text(j, "type", all[i].type);
		json_end(j);
	}
	json_end(j);
	json_end(j);
}

static void print_all_json(const struct tracepoints *t, bool count)
{
	const struct tracepoint_format *format;
	const char *system, *event;
	struct json j;
	unsigned int i;

	json_init(&j, stdout, true);
	json_schema_object(&j);
	json_key(&j, "events");
	json_array(&j);
	for (i = 0; i < tracepoints_cnt(t) && !count; i++) {
		format = tracepoints_at(t, i, &system, &event);
		print_json(&j, system, event, format);
	}
	json_end(&j);
	json_key_u64(&j, "count", tracepoints_cnt(t));
	json_end(&j);
}

static void print_all_text(const struct tracepoints *t, bool fields, bool count)
{
	const struct tracepoint_format *format;
	const char *system, *event;
	unsigned int i;

	for (i = 0; i < tracepoints_cnt(t) && !count; i++) {
		format = tracepoints_at(t, i, &system, &event);
		print_text(system, event, format, fields);
	}
	printf("%u tracepoint%s\n", tracepoints_cnt(t), tracepoints_cnt(t) == 1 ? "" : "s");
}

int list_events(char *const *words, int words_cnt, bool json, bool count)
{
	struct tracepoints *t = NULL;
	char why[512];
	int err = tracepoints_open(&t, false), i;

	for (i = 0; !err && i < words_cnt; i++)
		err = tracepoints_choose(t, words[i], false, why, sizeof(why));
	if (!err && !words_cnt)
		err = tracepoints_choose(t, "*:*", false, why, sizeof(why));
	if (!err && json)
		print_all_json(t, count);
	else if (!err)
		print_all_text(t, words_cnt, count);
	else
		log_error("list: %s", err == -ENOMEM ? strerror(ENOMEM) : why);
	tracepoints_close(t);
	return exit_of(err);
}
