// SPDX-License-Identifier: GPL-2.0
/*
 * Tracks as readers name them, by whatever ids their format has, and the koids that these get.
 * A number is its own koid where Linux could have given it and no other process's thread has it;
 * all else gets one from PSEUDO_TRACKS on, and has its id in its name.
 */
#include "tracks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "core.h"
#include "threads.h"

#define LINUX_IDS	4194304		/* PID_MAX_LIMIT: ids of Linux are below it */
#define TRACK_NAME_MAX	2048U

/* ---- equality -------------------------------------------------------------- */

static bool same_id(const struct model_id *a, const struct model_id *b)
{
	if (!a->text.data || !b->text.data)
		return !a->text.data && !b->text.data && a->number == b->number;
	return a->text.len == b->text.len && !memcmp(a->text.data, b->text.data, a->text.len);
}

static bool same_track(const struct model_track *a, const struct model_track *b)
{
	return a->kind == b->kind && a->no_process == b->no_process && a->cpu == b->cpu &&
	       same_id(&a->process, &b->process) && same_id(&a->thread, &b->thread);
}

static uint64_t mix(uint64_t h, uint64_t v)
{
	h = (h ^ v) * 0xff51afd7ed558ccdULL;
	return h ^ h >> 33;
}

static uint64_t hash_id(uint64_t h, const struct model_id *id)
{
	if (!id->text.data)
		return mix(h, (uint64_t)id->number);
	return mix(mix(h, id->text.len), (uint64_t)text_hash(id->text.data, id->text.len) + 1);
}

static uint64_t hash_track(const struct model_track *spec)
{
	uint64_t h = mix(0, (uint64_t)spec->kind << 32 | (uint64_t)spec->no_process << 16 | spec->cpu);

	return hash_id(hash_id(h, &spec->process), &spec->thread);
}

/* Only what tracks of its kind are known by. */
static struct model_track normalize(const struct model_track *spec)
{
	struct model_track n = { .kind = spec->kind };
	bool has_thread = spec->kind == MODEL_TRACK_THREAD || spec->kind == MODEL_TRACK_NAMED;

	n.no_process = spec->kind == MODEL_TRACK_NAMED && spec->no_process;
	if (spec->kind == MODEL_TRACK_CPU)
		n.cpu = spec->cpu;
	if ((has_thread && !n.no_process) || spec->kind == MODEL_TRACK_PROCESS)
		n.process = spec->process;
	if (has_thread)
		n.thread = spec->thread;
	return n;
}

/* ---- koids ----------------------------------------------------------------- */

static uint64_t invent(struct builder *b, struct source_track *st)
{
	st->is_invented = true;
	return PSEUDO_TRACKS + b->sources->invented++;
}

/* Its number, if no thread of another process than number @process has it; else another one. */
static int give_koid(struct builder *b, struct source_track *st, const struct model_id *id, uint32_t process)
{
	uint32_t owner;
	int err = 0;

	st->koid = (uint64_t)id->number;
	if (id->text.data || id->number < 1 || id->number >= LINUX_IDS) {
		st->koid = invent(b, st);
		return 0;
	}
	owner = map_get(&b->sources->koids, st->koid);
	if (owner == MAP_NONE)
		err = map_add(&b->sources->koids, st->koid, process);
	else if (owner != process)
		st->koid = invent(b, st);
	return err;
}

static int give_thread_koid(struct builder *b, struct source_track *st)
{
	const struct model_track process = { .kind = MODEL_TRACK_PROCESS, .process = st->spec.process };
	uint32_t nr;
	int err = tracks_find(b, &process, &nr);

	if (err)
		return err;
	st->process = track_at(b, nr)->koid;
	if (st->spec.kind == MODEL_TRACK_THREAD)
		return give_koid(b, st, &st->spec.thread, nr);
	st->koid = invent(b, st);
	return 0;
}

/* @nr is what its number will be. */
static int give_koids(struct builder *b, struct source_track *st, uint32_t nr)
{
	int err;

	switch (st->spec.kind) {
	case MODEL_TRACK_PROCESS:
		err = give_koid(b, st, &st->spec.process, nr);
		st->process = st->koid;
		return err;
	case MODEL_TRACK_GLOBAL:
		st->koid = st->process = PROCESS_GLOBAL;
		return 0;
	case MODEL_TRACK_CPU:
		st->koid = pseudo_thread(PSEUDO_CPU, st->spec.cpu).thread;
		return 0;
	case MODEL_TRACK_IDLE:
		st->t = st->last = b->idle;
		return 0;
	default:
		if (!st->spec.no_process)
			return give_thread_koid(b, st);
		st->process = PROCESS_GLOBAL;
		st->koid = invent(b, st);
		return 0;
	}
}

/* ---- the table ------------------------------------------------------------- */

struct source_track *track_at(const struct builder *b, uint32_t nr)
{
	return b->sources && nr && nr <= b->sources->cnt ? b->sources->all[nr - 1] : NULL;
}

static bool copy_id(struct model_id *id)
{
	char *copy;

	if (!id->text.data)
		return true;
	copy = malloc(id->text.len + 1);
	if (!copy)
		return false;
	memcpy(copy, id->text.data, id->text.len);
	id->text.data = copy;
	return true;
}

static void free_track(struct source_track *st)
{
	free((void *)st->spec.process.text.data);
	free((void *)st->spec.thread.text.data);
	free(st->name);
	free(st->lanes);
	free(st);
}

static struct source_track *new_track(const struct model_track *spec)
{
	struct source_track *st = calloc(1, sizeof(*st));

	if (!st)
		return NULL;
	st->spec = *spec;
	if (!copy_id(&st->spec.process))
		st->spec.process.text = st->spec.thread.text = fxt_str_n(NULL, 0);
	else if (copy_id(&st->spec.thread))
		return st;
	else
		st->spec.thread.text = fxt_str_n(NULL, 0);
	free_track(st);
	return NULL;
}

/* @first: of its hash, or NULL. */
static int add_track(struct builder *b, const struct model_track *spec, uint64_t hash, struct source_track *first)
{
	struct source_tracks *s = b->sources;
	struct source_track *st;
	uint32_t index;
	int err = array_reserve(s->all, s->cnt, s->cap, 1);

	st = err ? NULL : new_track(spec);
	if (!st)
		return -ENOMEM;
	/* Its number first: making koids may make the track of its process. */
	index = (uint32_t)s->cnt++;
	s->all[index] = st;
	st->same_hash = first ? first->same_hash : MAP_NONE;
	if (first)
		first->same_hash = index;
	else
		err = map_add(&s->by_hash, hash, index);
	return err ? err : give_koids(b, st, index + 1);
}

int tracks_find(struct builder *b, const struct model_track *spec, uint32_t *track)
{
	const struct model_track key = normalize(spec);
	uint64_t hash = hash_track(&key);
	uint32_t first, i;
	int err;

	if ((unsigned int)spec->kind > MODEL_TRACK_NAMED || key.cpu >= CPUS_MAX)
		return -EINVAL;
	if (!b->sources)
		b->sources = calloc(1, sizeof(*b->sources));
	if (!b->sources)
		return -ENOMEM;
	first = map_get(&b->sources->by_hash, hash);
	for (i = first; i != MAP_NONE; i = b->sources->all[i]->same_hash) {
		if (same_track(&b->sources->all[i]->spec, &key)) {
			*track = i + 1;
			return 0;
		}
	}
	i = (uint32_t)b->sources->cnt;
	err = add_track(b, &key, hash, first == MAP_NONE ? NULL : b->sources->all[first]);
	if (!err)
		*track = i + 1;
	return err;
}

void tracks_fini(struct builder *b)
{
	size_t i;

	if (!b->sources)
		return;
	for (i = 0; i < b->sources->cnt; i++)
		free_track(b->sources->all[i]);
	free(b->sources->all);
	map_fini(&b->sources->by_hash);
	map_fini(&b->sources->koids);
	free(b->sources);
}

/* ---- threads of FXT -------------------------------------------------------- */

static struct thread *new_thread(struct builder *b, const struct source_track *st, uint64_t koid)
{
	struct thread *t = thread_add(b);

	if (!t)
		return NULL;
	t->source = st;
	t->koid = koid;
	t->process = st->process;
	if (st->process && track_use_process(b, st))
		return NULL;
	return t;
}

/* One of Linux, which lines of text may know too: both are one thread. */
static struct thread *linux_thread(struct builder *b, struct source_track *st)
{
	struct thread *t = thread_get(b, (int32_t)st->koid);

	if (!t)
		return NULL;
	t->source = st;
	thread_tgid(b, t, (int32_t)st->process, false);
	return t->process && track_use_process(b, st) ? NULL : t;
}

static bool is_linux_thread(const struct source_track *st)
{
	return st->spec.kind == MODEL_TRACK_THREAD && !st->is_invented && st->process < LINUX_IDS;
}

struct thread *track_thread(struct builder *b, struct source_track *st)
{
	uint64_t koid = st->koid;

	if (!st->t && is_linux_thread(st))
		st->t = st->last = linux_thread(b, st);
	if (st->t)
		return st->t;
	/* A process is no thread: its main thread may be a track too. */
	if (st->spec.kind == MODEL_TRACK_PROCESS)
		koid = PSEUDO_TRACKS + b->sources->invented++;
	st->t = st->last = new_thread(b, st, koid);
	return st->t;
}

struct lane *track_add_lane(struct builder *b, struct source_track *st)
{
	struct thread *t;

	if (array_reserve(st->lanes, st->lanes_cnt, st->lanes_cap, 1))
		return NULL;
	t = new_thread(b, st, PSEUDO_TRACKS + b->sources->invented++);
	if (!t)
		return NULL;
	st->lanes[st->lanes_cnt] = (struct lane){ .t = t };
	t->lane = (uint16_t)++st->lanes_cnt;
	return &st->lanes[st->lanes_cnt - 1];
}

struct thread *track_renew(struct builder *b, struct source_track *st)
{
	struct thread *t = new_thread(b, st, PSEUDO_TRACKS + b->sources->invented++);

	if (t)
		st->t = st->last = t;
	st->lanes_cnt = 0;
	return t;
}

int track_use_process(struct builder *b, const struct source_track *st)
{
	const struct model_track spec = { .kind = MODEL_TRACK_PROCESS, .process = st->spec.process };
	uint32_t nr;
	int err;

	if (!st->process)
		return 0;
	if (st->process == PROCESS_GLOBAL)
		return process_use_source(b, st->process, NULL);
	err = tracks_find(b, &spec, &nr);
	return err ? err : process_use_source(b, st->process, track_at(b, nr));
}

/* ---- names ----------------------------------------------------------------- */

/* Something is known of it: it is in the trace, even without an event. */
static int show(struct builder *b, struct source_track *st)
{
	if (st->spec.kind == MODEL_TRACK_PROCESS)
		return track_use_process(b, st);
	return track_thread(b, st) ? 0 : -ENOMEM;
}

int track_set_name(struct builder *b, struct source_track *st, struct fxt_str name)
{
	size_t len = text_cut(name.data, name.len, TRACK_NAME_MAX);
	char *copy = malloc(len + 1);

	if (!copy)
		return -ENOMEM;
	if (len)
		memcpy(copy, name.data, len);
	free(st->name);
	st->name = copy;
	st->name_len = len;
	return show(b, st);
}

int track_set_order(struct builder *b, struct source_track *st, int64_t order)
{
	st->has_order = true;
	st->order = order;
	return show(b, st);
}
