// SPDX-License-Identifier: GPL-2.0
/*
 * Tracepoints and their fields, as text and as JSON.
 */
#include "list_events.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "../record/tracepoint_format.h"
#include "../record/tracepoints.h"
#include "exit.h"
#include "json.h"
#include "log.h"

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

static void print_json(const char *system, const char *event, const struct tracepoint_format *format, bool first)
{
	unsigned int cnt, i;
	const struct tracepoint_field *all = tracepoint_format_fields(format, &cnt);

	printf("%s\n  {\"system\": ", first ? "" : ",");
	json_print_text(system);
	printf(", \"event\": ");
	json_print_text(event);
	printf(", \"fields\": [");
	for (i = 0; i < cnt; i++) {
		printf("%s{\"name\": ", i ? ", " : "");
		json_print_text(all[i].name);
		printf(", \"argument\": \"%s\", \"type\": ", kind_of(&all[i]));
		json_print_text(all[i].type);
		printf("}");
	}
	printf("]}");
}

static void print(const struct tracepoints *t, bool json, bool fields, bool count)
{
	const struct tracepoint_format *format;
	const char *system, *event;
	unsigned int i;

	if (json)
		printf("{\"events\": [");
	for (i = 0; i < tracepoints_cnt(t) && !count; i++) {
		format = tracepoints_at(t, i, &system, &event);
		if (json)
			print_json(system, event, format, i == 0);
		else
			print_text(system, event, format, fields);
	}
	if (json)
		printf("], \"count\": %u}\n", tracepoints_cnt(t));
	else
		printf("%u tracepoint%s\n", tracepoints_cnt(t), tracepoints_cnt(t) == 1 ? "" : "s");
}

int list_events(char *const *words, int words_cnt, bool json, bool count)
{
	struct tracepoints *t = NULL;
	char why[512];
	int err = tracepoints_open(&t), i;

	for (i = 0; !err && i < words_cnt; i++)
		err = tracepoints_choose(t, words[i], false, why, sizeof(why));
	if (!err && !words_cnt)
		err = tracepoints_choose(t, "*:*", false, why, sizeof(why));
	if (!err)
		print(t, json, words_cnt, count);
	else
		log_error("list: %s", err == -ENOMEM ? strerror(ENOMEM) : why);
	tracepoints_close(t);
	return exit_of(err);
}
