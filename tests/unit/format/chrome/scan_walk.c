// SPDX-License-Identifier: GPL-2.0
#include "scan_walk.h"

#include <stdlib.h>
#include <string.h>

#include "format/chrome/value.h"

struct source {
	const char *data;
	size_t len, chunk;
	int err;
};

static long read_source(void *ctx, void *buf, size_t len)
{
	struct source *s = ctx;
	size_t n = s->len < len ? s->len : len;

	if (!n)
		return s->err;
	n = s->chunk && n > s->chunk ? s->chunk : n;
	memcpy(buf, s->data, n);
	s->data += n;
	s->len -= n;
	return (long)n;
}

static void add(struct scan_walk *w, const void *data, size_t len)
{
	const unsigned char *p = data;

	for (; len; len--)
		w->digest = (w->digest ^ *p++) * 0x100000001b3ULL;
}

static void add_number(struct scan_walk *w, uint64_t v)
{
	add(w, &v, sizeof(v));
}

static void promise(struct scan_walk *w, bool kept, const char *what)
{
	if (!kept && !w->broken)
		w->broken = what;
}

static void decode(struct scan_walk *w, const char *data, size_t len)
{
	char out[300];
	uint64_t bad = 0;
	size_t n = chrome_string_decode(data, len, out, sizeof(out), &bad);

	promise(w, n <= sizeof(out) && n <= len, "a decoded string is not longer");
	add(w, out, n);
	add_number(w, bad);
}

static void walk_field(struct scan_walk *w, const struct chrome_event *e, const struct chrome_field *f)
{
	const char *value = chrome_text(e, f->value);
	int64_t number = 0;

	promise(w, f->value.at < e->len && f->value.len < e->len - f->value.at, "a value is within its event");
	promise(w, f->name.at < e->len && f->name.len < e->len - f->name.at, "a name is within its event");
	promise(w, f->type != CHROME_NONE && f->key < CHROME_KEY_CNT, "a member has a type and a key");
	add_number(w, f->key | (uint64_t)f->type << 8 | (uint64_t)f->escaped << 16);
	decode(w, chrome_text(e, f->name), f->name.len);
	decode(w, value, f->value.len);
	if (!chrome_time_ns(value, f->value.len, &number) || !chrome_int64(value, f->value.len, &number))
		add_number(w, (uint64_t)number);
}

static void walk_event(struct scan_walk *w, const struct chrome_event *e, uint64_t *next)
{
	unsigned int key, i;

	promise(w, e->offset >= *next && e->len >= 2 && e->text[0] == '{' && e->text[e->len - 1] == '}',
		"events follow each other");
	promise(w, (e->fields_cnt || w->end == CHROME_SAMPLE) && e->fields_cnt <= CHROME_FIELDS_MAX, "an event has members");
	*next = e->offset + e->len;
	for (key = 1; key < CHROME_KEY_CNT; key++)
		promise(w, !chrome_field(e, key) || chrome_field(e, key)->key == key, "the index is right");
	for (i = 0; i < e->fields_cnt; i++)
		walk_field(w, e, &e->fields[i]);
	add_number(w, e->offset);
	add_number(w, e->number);
	add(w, e->text, e->len);
}

static void walk_member(struct scan_walk *w, const struct chrome_member *m)
{
	add(w, m->name, m->name_len);
	promise(w, m->skipped == !m->value && (m->skipped || m->value[0] == m->first), "a member has its value");
	if (m->value)
		add(w, m->value, m->value_len);
}

static void walk_counts(struct scan_walk *w, uint64_t events, uint64_t len)
{
	const struct chrome_scan_counts *c = &w->counts;

	promise(w, c->events == events, "events are counted");
	promise(w, w->end || c->bytes == len || c->problem || c->form, "all is read");
	promise(w, !c->problem || c->problem_offset <= len, "a problem is in the input");
	promise(w, c->has_list || !(c->events + c->empty + c->not_objects + c->damaged), "events are in a list");
	add_number(w, c->form);
	add_number(w, c->empty);
	add_number(w, c->not_objects);
	add_number(w, c->damaged);
	add_number(w, c->stray_commas);
	add_number(w, c->missing_commas);
	add_number(w, c->stray_bytes);
	add_number(w, c->bad_samples);
	add_number(w, w->frames);
	add_number(w, c->problem_offset);
}

struct scan_walk scan_walk(const char *data, size_t len, struct scan_walk_options how)
{
	struct source source = { data, len, how.chunk, how.err };
	struct scan_walk w = { .digest = 0xcbf29ce484222325ULL };
	struct chrome_event *event = malloc(sizeof(*event));
	struct chrome_member member;
	struct chrome_scan *s;
	uint64_t next = 0, events = 0;

	if (!event || chrome_scan_open(&s, read_source, &source))
		abort();
	while ((w.end = chrome_scan_next(s, event, &member)) > 0) {
		if (w.end == CHROME_MEMBER || w.end == CHROME_FRAME) {
			w.frames += w.end == CHROME_FRAME;
			walk_member(&w, &member);
			continue;
		}
		events += w.end == CHROME_EVENT;
		walk_event(&w, event, &next);
		if (how.each)
			how.each(how.ctx, event);
	}
	chrome_scan_counts(s, &w.counts);
	walk_counts(&w, events, len);
	chrome_scan_close(s);
	free(event);
	return w;
}
