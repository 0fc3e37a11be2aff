// SPDX-License-Identifier: GPL-2.0
/*
 * Suggestions for -e: presets, systems and events.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/glob.h"
#include "capture/source.h"
#include "table.h"
#include "tracepoint_near.h"

/* With space for two names of each event, and for all presets. */
struct tasks {
	const char **all;
	unsigned int cnt;
};

static void add_presets(struct tasks *names)
{
	unsigned int i;

	for (i = 0; i < RAW_KIND_CNT; i++)
		if (source_table[i]->name)
			names->all[names->cnt++] = source_table[i]->name;
}

/* Those that have an event that @event matches. */
static void add_systems(struct tasks *names, const struct tracepoint_near *n, const char *event)
{
	const char *last = "";
	size_t i;

	for (i = 0; i < n->offered_cnt; i++) {
		const struct tracefs_event *e = &n->offered[i];

		if (strcmp(e->system, last) != 0 && glob_match(event, e->name))
			names->all[names->cnt++] = last = e->system;
	}
}

static void add_events(struct tasks *names, const struct tracepoint_near *n, const char *system)
{
	size_t i;

	for (i = 0; i < n->offered_cnt; i++)
		if (glob_match(system, n->offered[i].system))
			names->all[names->cnt++] = n->offered[i].name;
}

/* A word alone. */
static void find_any(struct tasks *names, const struct tracepoint_near *n, const char *word, char *text)
{
	char near[SUGGEST_CNT][SUGGEST_BYTES];

	if (n->presets)
		add_presets(names);
	add_systems(names, n, "*");
	add_events(names, n, "*");
	suggest_names(word, names->all, names->cnt, near);
	suggest_text(text, "", near);
}

/* There is such a system. */
static void find_event(struct tasks *names, const char *system, const char *event, char *text)
{
	char near[SUGGEST_CNT][SUGGEST_BYTES], prefix[SUGGEST_BYTES + 1];

	snprintf(prefix, sizeof(prefix), "%s:", system);
	suggest_names(event, names->all, names->cnt, near);
	suggest_text(text, prefix, near);
}

/* There is none: one that is like it and has the event, one that has it, one that is like it. */
static void find_system(struct tasks *names, const struct tracepoint_near *n, const char *system, const char *event,
			char *text)
{
	char near[SUGGEST_CNT][SUGGEST_BYTES], whole[SUGGEST_CNT][SUGGEST_BYTES] = { "" };
	unsigned int i;
	bool has;

	add_systems(names, n, event);
	has = names->cnt;
	if (!has)
		add_systems(names, n, "*");
	suggest_names(system, names->all, names->cnt, near);
	if (!near[0][0] && has && !glob_has_wildcard(event))
		snprintf(near[0], sizeof(near[0]), "%s", names->all[0]);
	for (i = 0; i < SUGGEST_CNT && near[i][0]; i++)
		if (snprintf(whole[i], sizeof(whole[i]), "%s%s%s", near[i], has ? ":" : "", has ? event : "") >=
		    (int)sizeof(whole[i]))
			whole[i][0] = 0;
	suggest_text(text, "", whole);
}

const char *tracepoint_near(const struct tracepoint_near *n, const char *system, const char *event,
			    char text[SUGGEST_TEXT_BYTES])
{
	struct tasks names = { calloc(2 * n->offered_cnt + RAW_KIND_CNT, sizeof(*names.all)), 0 };

	text[0] = 0;
	if (!names.all)
		return text;
	if (system[0] && event[0])
		add_events(&names, n, system);
	if (!system[0] || !event[0])
		find_any(&names, n, system[0] ? system : event, text);
	else if (names.cnt)
		find_event(&names, system, event, text);
	else
		find_system(&names, n, system, event, text);
	free(names.all);
	return text;
}
