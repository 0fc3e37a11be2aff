// SPDX-License-Identifier: GPL-2.0
/*
 * Processes and threads of events. An id is a number or a name: "12", 12 and 12.0 are the same
 * number, all other strings are names. A thread without an id is the main thread.
 */
#include <string.h>

#include "model/track_ids.h"
#include "reader_p.h"
#include "value.h"

#define ID_BYTES	256U	/* of a name; longer ones are cut */

static const struct chrome_field *present(const struct chrome_event *e, enum chrome_key key)
{
	const struct chrome_field *f = chrome_field(e, key);

	return f && f->type != CHROME_NULL ? f : NULL;
}

/* @buf is where a name is decoded to, and must live as long as the id. */
static struct model_id id_of(const struct chrome_event *e, const struct chrome_field *f, char buf[ID_BYTES])
{
	struct model_id id = { 0 };
	uint64_t bad = 0;
	const char *text;

	if (!f)
		return id;
	text = chrome_text(e, f->value);
	if (f->type <= CHROME_NUMBER && !chrome_int64(text, f->value.len, &id.number))
		return id;
	id.number = 0;
	id.text = fxt_str_n(buf, chrome_string_decode(text, f->value.len, buf, ID_BYTES, &bad));
	return id;
}

/* ---- the cache ----------------------------------------------------------------- */

/* False: it is too long to be kept. */
static inline bool put_key(const struct chrome_event *e, const struct chrome_field *f, struct cached_id *key)
{
	const char *text;

	*key = (struct cached_id){ 0 };
	if (!f)
		return true;
	if (f->value.len > sizeof(key->words))
		return false;
	key->kind = (uint32_t)f->type << 8 | f->value.len;
	text = chrome_text(e, f->value);
	memcpy(key->words, text, sizeof(key->words));
	/* What follows the text is none of it. */
	if (f->value.len < 8)
		key->words[0] &= (1ULL << 8 * f->value.len) - 1;
	if (f->value.len <= 8)
		key->words[1] = 0;
	else if (f->value.len < 16)
		key->words[1] &= (1ULL << 8 * (f->value.len - 8)) - 1;
	return true;
}

static inline uint64_t hash_key(const struct cached_track *key)
{
	uint64_t hash = (key->pid.words[0] ^ key->pid.kind) * 0x9e3779b97f4a7c15ULL ^ key->pid.words[1];

	hash = (hash ^ hash >> 32 ^ key->tid.words[0] ^ key->tid.kind) * 0xff51afd7ed558ccdULL ^ key->tid.words[1];
	hash *= 0x9e3779b97f4a7c15ULL;
	return hash >> 32;
}

/* The place of the event's ids, with @key as they are; NULL: they are not kept. */
static inline struct cached_track *cached(struct chrome_reader *r, const struct chrome_event *e, struct cached_track *key)
{
	if (!put_key(e, present(e, CHROME_PID), &key->pid) || !put_key(e, present(e, CHROME_TID), &key->tid))
		return NULL;
	return &r->cache[hash_key(key) % CACHED_TRACKS];
}

static inline bool is_same_id(const struct cached_id *a, const struct cached_id *b)
{
	return a->words[0] == b->words[0] && a->words[1] == b->words[1] && a->kind == b->kind;
}

static inline bool is_same(const struct cached_track *a, const struct cached_track *b)
{
	return is_same_id(&a->pid, &b->pid) && is_same_id(&a->tid, &b->tid);
}

/* ---- tracks -------------------------------------------------------------------- */

static int find(struct chrome_reader *r, const struct chrome_event *e, uint32_t *thread, uint32_t *process)
{
	const struct chrome_field *pid = present(e, CHROME_PID), *tid = present(e, CHROME_TID);
	char pid_text[ID_BYTES], tid_text[ID_BYTES];
	struct model_track spec = { .kind = MODEL_TRACK_PROCESS, .process = id_of(e, pid, pid_text) };
	int err;

	/* As the track of the whole trace is written. */
	if (spec.process.number == PROCESS_GLOBAL) {
		err = reader_global_track(r, thread);
		*process = *thread;
		return err;
	}
	err = builder_track(r->builder, &spec, process);
	spec.kind = MODEL_TRACK_THREAD;
	spec.thread = tid ? id_of(e, tid, tid_text) : spec.process;
	return err ? err : builder_track(r->builder, &spec, thread);
}

int reader_track(struct chrome_reader *r, const struct chrome_event *e, uint32_t *thread, uint32_t *process)
{
	struct cached_track key, *c = cached(r, e, &key);
	int err = 0;

	if (!c || !c->track || !is_same(c, &key)) {
		err = find(r, e, &key.track, &key.process);
		if (err)
			return err;
		if (c)
			*c = key;
		else
			c = &key;
	}
	*thread = c->track;
	if (process)
		*process = c->process;
	return 0;
}

int reader_main_track(struct chrome_reader *r, const struct chrome_event *e, uint32_t *thread)
{
	char text[ID_BYTES];
	struct model_id id = id_of(e, present(e, CHROME_TID), text);

	return builder_track(r->builder, &(struct model_track){ .kind = MODEL_TRACK_THREAD, .process = id, .thread = id }, thread);
}

int reader_global_track(struct chrome_reader *r, uint32_t *track)
{
	return builder_track(r->builder, &(struct model_track){ .kind = MODEL_TRACK_GLOBAL }, track);
}
