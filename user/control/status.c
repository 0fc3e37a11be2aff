// SPDX-License-Identifier: GPL-2.0
#include "status.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/json.h"

#define SCHEMA	2	/* as of all objects that kfxt prints, see kfxt(1) */

static void print_double(struct json *j, const char *name, double v, int digits)
{
	json_key(j, name);
	if (isfinite(v))
		json_fixed(j, v, digits);
	else
		json_null(j);
}

/* Seconds since 1970; null: never. */
static void print_time(struct json *j, const char *name, uint64_t ns)
{
	print_double(j, name, ns ? (double)ns / 1e9 : NAN, 3);
}

static void print_texts(struct json *j, const char *name, const char *const *texts, unsigned int cnt)
{
	unsigned int i;

	json_key(j, name);
	json_array(j);
	for (i = 0; i < cnt; i++)
		json_text(j, texts[i]);
	json_end(j);
}

static void print_limit(struct json *j, const char *name, uint64_t limit)
{
	json_key(j, name);
	if (limit)
		json_u64(j, limit);
	else
		json_null(j);
}

static void print_window(struct json *j, const struct control_status_window *w)
{
	json_key(j, "window");
	if (!w->there) {
		json_null(j);
		return;
	}
	json_object(j);
	print_limit(j, "keep_ns", w->keep_ns);
	print_limit(j, "keep_bytes", w->keep_bytes);
	json_key_u64(j, "held_ns", w->held_ns);
	json_key_u64(j, "held_bytes", w->held_bytes);
	json_key_u64(j, "raw_bytes", w->raw_bytes);
	json_key_u64(j, "overwritten", w->overwritten);
	json_key_bool(j, "dumping", w->dumping);
	json_end(j);
}

static void print_count(struct json *j, const struct control_status_count *c)
{
	json_object(j);
	json_key_u64(j, "recorded", c->recorded);
	json_key_u64(j, "lost", c->lost);
	json_key_u64(j, "filtered", c->filtered);
	json_key_u64(j, "shed", c->shed);
	json_key_u64(j, "ratelimited", c->ratelimited);
	json_end(j);
}

static void print_counts(struct json *j, const struct control_status *s)
{
	unsigned int i;

	json_key(j, "events");
	json_object(j);
	for (i = 0; i < s->counts_cnt; i++) {
		json_key(j, s->counts[i].name);
		print_count(j, &s->counts[i]);
	}
	json_end(j);
}

static void print_cost(struct json *j, const struct control_status_cost *c)
{
	json_key(j, "cost");
	json_object(j);
	print_double(j, "total_percent", c->total, 3);
	print_double(j, "kernel_percent", c->kernel, 3);
	print_double(j, "recorder_percent", c->recorder, 3);
	json_key_bool(j, "measured", c->measured);
	print_double(j, "budget_percent", c->budget, 3);
	print_texts(j, "shed", c->shed, c->shed_cnt);
	json_end(j);
}

static void print_trigger(struct json *j, const struct control_status_trigger *t)
{
	json_object(j);
	json_key_text(j, "trigger", t->word);
	json_key_u64(j, "fired", t->fired);
	json_key_u64(j, "suppressed", t->suppressed);
	print_time(j, "last", t->last_ns);
	json_key_text(j, "file", t->file);
	json_key_text(j, "blind", t->blind);
	json_end(j);
}

static void print_triggers(struct json *j, const struct control_status *s)
{
	unsigned int i;

	json_key(j, "triggers");
	json_array(j);
	for (i = 0; i < s->triggers_cnt; i++)
		print_trigger(j, &s->triggers[i]);
	json_end(j);
}

static void print_files(struct json *j, const struct control_status_files *f)
{
	json_key(j, "files");
	json_object(j);
	json_key_u64(j, "written", f->written);
	json_key_u64(j, "failed", f->failed);
	json_key_u64(j, "deleted", f->deleted);
	json_key_text(j, "last", f->last);
	json_key_text(j, "paused", f->paused);
	json_key_u64(j, "hooks_run", f->hooks_run);
	json_key_u64(j, "hooks_failed", f->hooks_failed);
	json_key_u64(j, "hooks_running", f->hooks_running);
	json_key_u64(j, "hooks_skipped", f->hooks_skipped);
	json_end(j);
}

static void print_status(struct json *j, const struct control_status *s)
{
	json_object(j);
	json_key_u64(j, "schema", SCHEMA);
	json_key_u64(j, "pid", (uint64_t)s->pid);
	json_key_text(j, "version", s->version);
	print_time(j, "now", s->now_ns);
	print_time(j, "since", s->since_ns);
	print_texts(j, "options", s->options, s->options_cnt);
	json_key_text(j, "output", s->output);
	print_window(j, &s->window);
	print_double(j, "events_per_s", s->events_per_s, 1);
	print_double(j, "bytes_per_s", s->bytes_per_s, 1);
	print_counts(j, s);
	print_cost(j, &s->cost);
	json_key_u64(j, "memory_bytes", s->memory_bytes);
	print_triggers(j, s);
	print_files(j, &s->files);
	json_end(j);
}

char *control_status_json(const struct control_status *s)
{
	struct json j;
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	if (!out)
		return NULL;
	json_init(&j, out, false);
	print_status(&j, s);
	if (!fclose(out))
		return text;
	free(text);
	return NULL;
}
