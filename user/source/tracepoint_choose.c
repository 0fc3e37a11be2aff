// SPDX-License-Identifier: GPL-2.0
/*
 * The choice of tracepoints, by words.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/glob.h"
#include "kernel/btf.h"
#include "kernel/tracefs.h"
#include "tracepoint/filter.h"
#include "tracepoint/tracepoint.h"
#include "tracepoint_near.h"
#include "tracepoint_p.h"

int tracepoints_open(struct tracepoints **out, bool presets)
{
	*out = calloc(1, sizeof(**out));
	if (!*out)
		return -ENOMEM;
	(*out)->presets = presets;
	return 0;
}

unsigned int tracepoints_cnt(const struct tracepoints *t)
{
	return t ? t->cnt : 0;
}

const struct tracepoint_format *tracepoints_at(const struct tracepoints *t, unsigned int i, const char **system,
					       const char **event)
{
	*system = t->all[i].system.data;
	*event = t->all[i].event.data;
	return t->all[i].format;
}

/* ---- what a word means --------------------------------------------------------------- */

/* A word taken apart: globs, either of them "" where it does not say; and a filter or "". */
struct pattern {
	char system[128], event[128], filter[512];
};

static bool copy(char *to, size_t size, const char *from, size_t len)
{
	if (len >= size)
		return false;
	memcpy(to, from, len);
	to[len] = 0;
	return true;
}

/*
 * "sched:x/pid > 1/", "sched/x/pid > 1/", "x/pid > 1/": a filter ends with a slash and begins
 * with the first one, or the second where the first is between system and event.
 */
static bool split(const char *word, struct pattern *w)
{
	const size_t len = strlen(word);
	const char *colon = strchr(word, ':'), *slash = strchr(word, '/'), *second = slash ? strchr(slash + 1, '/') : NULL;
	const bool filtered = len > 1 && word[len - 1] == '/' && slash != word + len - 1;
	const char *sep = colon && (!slash || colon < slash) ? colon : NULL;
	const char *filter = filtered ? slash : NULL;

	*w = (struct pattern){ 0 };
	if (!sep && filtered && second && second != word + len - 1) {
		sep = slash;
		filter = second;
	} else if (!sep && !filtered) {
		sep = slash;
	}
	if (filter && !copy(w->filter, sizeof(w->filter), filter + 1, (size_t)(word + len - 1 - filter - 1)))
		return false;
	if (!filter)
		filter = word + len;
	if (!sep)
		return copy(w->event, sizeof(w->event), word, (size_t)(filter - word));
	return copy(w->system, sizeof(w->system), word, (size_t)(sep - word)) &&
	       copy(w->event, sizeof(w->event), sep + 1, (size_t)(filter - sep - 1));
}

static const char *near(const struct tracepoints *t, const char *system, const char *event,
			char text[SUGGEST_TEXT_BYTES])
{
	const struct tracepoint_near n = { t->offered, t->offered_cnt, t->presets };

	return tracepoint_near(&n, system, event, text);
}

static int read_offered(struct tracepoints *t, const char *word, char *why, size_t size)
{
	int err = t->offered ? 0 : tracefs_events(&t->offered, &t->offered_cnt);
	char text[SUGGEST_TEXT_BYTES];

	if (!err || err == -ENOMEM)
		return err;
	if (!strpbrk(word, ":/") && near(t, "", word, text)[0])
		snprintf(why, size, "%s: no such preset%s; events in tracefs: %s (%s)", word, text, strerror(-err),
			 tracefs_remedy(err));
	else
		snprintf(why, size, "%s: events in tracefs: %s (%s)", word, strerror(-err), tracefs_remedy(err));
	return -ENOTSUP;
}

/* Why @word, of which @w was made, matches no event. */
static int no_such_events(const struct tracepoints *t, const char *word, const struct pattern *w, char *why, size_t size)
{
	const char *slash = strchr(word, '/'), *op = strpbrk(slash ?: word, "=<>&|~");
	char text[SUGGEST_TEXT_BYTES];

	if (!w->event[0] && !w->system[0])
		snprintf(why, size, "'%s': no event name ('*:*' selects all events)", word);
	else if (op && !w->filter[0] && slash)
		snprintf(why, size, "%s: the slash that ends the filter is missing (%s/)", word, word);
	else if (op && !w->filter[0])
		snprintf(why, size, "%s: no such events (a filter is written SYSTEM:EVENT/FILTER/)", word);
	else if (strchr(w->event, ',') || strchr(w->system, ','))
		snprintf(why, size, "%s: no such events (is it a list? each takes an -e of its own)", word);
	else
		snprintf(why, size, "%s: no such events%s", word,
			 near(t, w->system, w->event, text)[0] ? text : " (kfxt list prints all)");
	return -EINVAL;
}

static bool fits(const struct tracefs_event *e, const struct pattern *w)
{
	return (!w->system[0] || glob_match(w->system, e->system)) &&
	       (!w->event[0] || glob_match(w->event, e->name));
}

/* A word alone is an event; if there is none of that name, it is a system. */
static bool resolve(const struct tracepoints *t, struct pattern *w)
{
	size_t i;

	for (i = 0; i < t->offered_cnt; i++)
		if (fits(&t->offered[i], w))
			return true;
	if (w->system[0])
		return false;
	strcpy(w->system, w->event);
	w->event[0] = 0;
	for (i = 0; i < t->offered_cnt; i++)
		if (fits(&t->offered[i], w))
			return true;
	return false;
}

/* ---- the choice ---------------------------------------------------------------------------- */

void tracepoint_drop(struct tracepoint *tp)
{
	tracepoint_format_close(tp->format);
	free(tp->name);
	free(tp->filter);
	while (tp->needs_cnt)
		free(tp->needs[--tp->needs_cnt].filter);
	free(tp->needs);
}

static struct tracepoint *find(const struct tracepoints *t, const struct tracefs_event *e)
{
	unsigned int i;

	for (i = 0; i < t->cnt; i++)
		if (!strcmp(t->all[i].system.data, e->system) && !strcmp(t->all[i].event.data, e->name))
			return &t->all[i];
	return NULL;
}

/* What the kernel side has to know to copy a record. */
static void describe(struct tracepoint *tp)
{
	unsigned int cnt, i, n = 0;
	const struct tracepoint_field *fields = tracepoint_format_fields(tp->format, &cnt);

	tp->info.bytes = tracepoint_format_bytes(tp->format);
	for (i = 0; i < cnt && n < TRACEPOINT_DYNAMIC_MAX; i++)
		if (fields[i].is_dynamic)
			tp->info.dynamic[n++] = fields[i].offset | (fields[i].is_relative ? TRACEPOINT_RELATIVE : 0);
}

static bool value_of(void *ctx, const char *name, int64_t *value)
{
	(void)ctx;
	return kernel_btf_enumerator(name, value);
}

static int read_format(struct tracepoint *tp, const struct tracefs_event *e, char *why, size_t size)
{
	char *text;
	size_t len;
	int err = tracefs_format(e, &text, &len);

	if (!err) {
		err = tracepoint_format_open(&tp->format, e->system, text, len, value_of, NULL);
		free(text);
	}
	if (err == -EBUSY) {
		snprintf(why, size, "%s:%s: %s", e->system, e->name, TRACEFS_BUSY);
		return err;
	}
	if (err == -EINVAL)
		snprintf(why, size, "%s:%s: its format file cannot be parsed", e->system, e->name);
	else if (err)
		snprintf(why, size, "%s:%s: its format file: %s", e->system, e->name, strerror(-err));
	return err == -ENOMEM ? err : err ? -ENOTSUP : 0;
}

/* Makes the next one, whole but not counted yet. */
static int make(struct tracepoints *t, const struct tracefs_event *e, char *why, size_t size)
{
	struct tracepoint *tp;
	int err;

	if (array_reserve(t->all, t->cnt, t->cap, 1))
		return -ENOMEM;
	tp = &t->all[t->cnt];
	*tp = (struct tracepoint){ 0 };
	err = read_format(tp, e, why, size);
	/* Both names, the first with a NUL in place of the colon. */
	if (!err && asprintf(&tp->name, "%s%c%s", e->system, 0, e->name) < 0) {
		tp->name = NULL;
		err = -ENOMEM;
	}
	if (err) {
		tracepoint_drop(tp);
		return err;
	}
	tp->system = fxt_str(tp->name);
	tp->event = fxt_str(tp->name + strlen(tp->name) + 1);
	describe(tp);
	return 0;
}

/* Adds @e if it is not there. */
static int add_tracepoint(struct tracepoints *t, const struct tracefs_event *e, struct tracepoint **out, char *why, size_t size)
{
	int err = 0;

	*out = find(t, e);
	if (*out)
		return 0;
	err = make(t, e, why, size);
	if (!err)
		*out = &t->all[t->cnt++];
	return err;
}

/* @info: where the tests go. *@copy stays NULL if there is no filter. */
static int compile(const struct tracepoint *tp, const char *filter, struct tracepoint_info *info, char **copy, char *why,
		   size_t size)
{
	char reason[256];
	int err;

	info->tests = 0;
	*copy = NULL;
	if (!*filter)
		return 0;
	err = tracepoint_filter_compile(info, tp->format, filter, reason, sizeof(reason));
	if (err) {
		snprintf(why, size, "%s:%s: filter: %s", tp->system.data, tp->event.data, reason);
		return err;
	}
	*copy = strdup(filter);
	return *copy ? 0 : -ENOMEM;
}

/* Adds @e, or gives it the filter if it is there already. */
static int choose(struct tracepoints *t, const struct tracefs_event *e, const struct pattern *w, char *why, size_t size)
{
	struct tracepoint *tp;
	int err = add_tracepoint(t, e, &tp, why, size);

	/* That is so for all of them. The recording says that they are missing. */
	t->is_busy |= err == -EBUSY;
	if (err)
		return err == -EBUSY ? 0 : err;
	tp->by_glob = glob_has_wildcard(w->system) || glob_has_wildcard(w->event) || !w->event[0];
	tp->by_user = true;
	tp->is_out = false;
	free(tp->filter);
	return compile(tp, w->filter, &tp->info, &tp->filter, why, size);
}

static bool is_needed_by(const struct tracepoint *tp, const char *word)
{
	unsigned int i;

	for (i = 0; i < tp->needs_cnt && strcmp(tp->needs[i].word, word) != 0; i++)
		;
	return i < tp->needs_cnt;
}

static int need(struct tracepoints *t, const struct tracefs_event *e, const struct pattern *w, const char *word, char *why,
		size_t size)
{
	struct tracepoint *tp;
	struct need *n;
	int err = add_tracepoint(t, e, &tp, why, size);

	if (err || is_needed_by(tp, word))
		return err == -EBUSY ? -ENOTSUP : err;
	if (array_reserve(tp->needs, tp->needs_cnt, tp->needs_cap, 1))
		return -ENOMEM;
	n = &tp->needs[tp->needs_cnt++];
	*n = (struct need){ .word = word };
	return compile(tp, w->filter, &n->info, &n->filter, why, size);
}

/* What a trigger needs stays, for the one who asks to see that it is out. */
static void forget(struct tracepoints *t, const struct tracefs_event *e)
{
	struct tracepoint *tp = find(t, e);

	if (!tp)
		return;
	tp->by_user = false;
	tp->is_out = true;
	if (tp->needs_cnt)
		return;
	tracepoint_drop(tp);
	*tp = t->all[--t->cnt];
}

/* Takes @word apart, which means some events. */
static int read_word(struct tracepoints *t, const char *word, struct pattern *w, char *why, size_t why_size)
{
	int err = read_offered(t, word, why, why_size);

	if (!err && (!split(word, w) || !(w->system[0] || w->event[0]) || !resolve(t, w)))
		err = no_such_events(t, word, w, why, why_size);
	return err;
}

int tracepoints_choose(struct tracepoints *t, const char *word, bool out, char *why, size_t why_size)
{
	struct pattern w;
	size_t i;
	int err = read_word(t, word, &w, why, why_size);

	for (i = 0; !err && i < t->offered_cnt; i++) {
		if (!fits(&t->offered[i], &w))
			continue;
		if (out)
			forget(t, &t->offered[i]);
		else
			err = choose(t, &t->offered[i], &w, why, why_size);
	}
	return err;
}

int tracepoints_need(struct tracepoints *t, const char *word, char *why, size_t why_size)
{
	struct pattern w;
	size_t i;
	int err = read_word(t, word, &w, why, why_size);

	for (i = 0; !err && i < t->offered_cnt; i++)
		if (fits(&t->offered[i], &w))
			err = need(t, &t->offered[i], &w, word, why, why_size);
	return err;
}

bool tracepoints_have(const struct tracepoints *t, const char *word)
{
	unsigned int i;

	for (i = 0; i < t->cnt; i++)
		if (!t->all[i].is_out && is_needed_by(&t->all[i], word))
			return true;
	return false;
}

/* One filter for the kernel side: what the user or any of those that need it selects. *@text stays NULL: all records. */
static int join_filters(const struct tracepoint *tp, char **text)
{
	bool all = tp->by_user && !tp->filter;
	unsigned int i;
	FILE *f;
	size_t len;

	for (i = 0; i < tp->needs_cnt; i++)
		all |= !tp->needs[i].filter;
	f = all ? NULL : open_memstream(text, &len);
	if (!f)
		return all ? 0 : -ENOMEM;
	if (tp->by_user)
		fprintf(f, "(%s)", tp->filter);
	for (i = 0; i < tp->needs_cnt; i++)
		fprintf(f, "%s(%s)", i || tp->by_user ? " || " : "", tp->needs[i].filter);
	return fclose(f) ? -ENOMEM : 0;
}

/* Each is right by itself, so that together they have too many comparisons is all that can be wrong. */
static int join(struct tracepoint *tp, char *why, size_t why_size)
{
	char *text = NULL, reason[64];
	int err = join_filters(tp, &text);

	tp->info.tests = 0;
	if (!err && text && tracepoint_filter_compile(&tp->info, tp->format, text, reason, sizeof(reason))) {
		snprintf(why, why_size, "%s:%s: its filters, of -e and of triggers together: %s", tp->system.data, tp->event.data,
			 reason);
		err = -EINVAL;
	}
	free(text);
	return err;
}

int tracepoints_join(struct tracepoints *t, char *why, size_t why_size)
{
	unsigned int i;
	int err = 0;

	for (i = 0; !err && i < t->cnt; i++)
		if (t->all[i].needs_cnt)
			err = join(&t->all[i], why, why_size);
	return err;
}
