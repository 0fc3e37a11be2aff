// SPDX-License-Identifier: GPL-2.0
/*
 * Tracks: their descriptors, which may come after their events, and the tracks of the model that show
 * them. Threads are threads; tracks of a process, or below it, are async slices of the process; others
 * are pseudo threads.
 */
#include <errno.h>
#include <stdlib.h>

#include "base/array.h"
#include "reader_p.h"

#define LEVELS_MAX	100	/* of tracks within tracks */
#define COUNTER_NAME_BYTES	1024U
#define THREAD_NAME_BYTES	200U

/* ---- the table ------------------------------------------------------------- */

static uint32_t add_row(struct pf_reader *r, struct map *map, uint64_t key)
{
	struct pf_tracks *t = &r->tracks;

	if (t->cnt >= PF_TRACKS_MAX || array_reserve(t->all, t->cnt, t->cap, 1) || map_add(map, key, t->cnt))
		return 0;
	t->all[t->cnt] = (struct pf_track_row){ .multiplier = 1 };
	return ++t->cnt;
}

uint32_t pf_track_by_uuid(struct pf_reader *r, uint64_t uuid)
{
	uint32_t i = map_get(&r->tracks.by_uuid, uuid);

	if (i != MAP_NONE)
		return i + 1;
	i = add_row(r, &r->tracks.by_uuid, uuid);
	if (i)
		pf_track_row(r, i)->uuid = uuid;
	return i;
}

uint32_t pf_track_by_thread(struct pf_reader *r, int64_t pid, int64_t tid)
{
	uint64_t key = (uint64_t)pid * 0x9e3779b97f4a7c15ULL + (uint64_t)tid;
	uint32_t i = map_get(&r->tracks.by_thread, key);

	for (; i != MAP_NONE; i = map_get(&r->tracks.by_thread, ++key))
		if (r->tracks.all[i].pid == pid && r->tracks.all[i].tid == tid)
			return i + 1;
	i = add_row(r, &r->tracks.by_thread, key);
	if (!i)
		return 0;
	pf_track_row(r, i)->is_described = true;
	pf_track_row(r, i)->has_thread = true;
	pf_track_row(r, i)->pid = pid;
	pf_track_row(r, i)->tid = tid;
	return i;
}

int pf_track_error(const struct pf_reader *r)
{
	return r->tracks.cnt >= PF_TRACKS_MAX ? PF_TOO_MANY_TRACKS : -ENOMEM;
}

void pf_tracks_fini(struct pf_reader *r)
{
	map_fini(&r->tracks.by_uuid);
	map_fini(&r->tracks.by_thread);
	map_fini(&r->tracks.owners);
	free(r->tracks.all);
}

/* ---- descriptors ----------------------------------------------------------- */

/* Only if there is no other name. */
static void name_by_type(struct pf_reader *r, struct pf_track_row *row, const char *name)
{
	if (row->name || !name)
		return;
	row->name = pf_word(r, name);
	row->has_type_name = true;
}

static void take_name(struct pf_reader *r, struct pf_track_row *row, const struct pf_field *f)
{
	row->name = pf_string_of(r, f);
	row->has_type_name = false;
}

static int read_process(struct pf_reader *r, struct pf_track_row *row, struct pf_cursor m)
{
	struct pf_field f;
	int got;

	row->has_process = true;
	while ((got = pf_next(&m, &f)) > 0) {
		if (pf_is(&f, PF_PROCESS_PID, PF_VARINT))
			row->pid = (int64_t)f.value;
		else if (pf_is(&f, PF_PROCESS_NAME, PF_BYTES) && f.len)
			take_name(r, row, &f);
		else if (pf_is(&f, PF_PROCESS_CHROME_TYPE, PF_VARINT))
			name_by_type(r, row, pf_chrome_process(f.value));
	}
	return got;
}

static int read_thread(struct pf_reader *r, struct pf_track_row *row, struct pf_sequence *q, struct pf_cursor m)
{
	struct pf_field f;
	int got;

	row->has_thread = true;
	while ((got = pf_next(&m, &f)) > 0) {
		if (pf_is(&f, PF_THREAD_PID, PF_VARINT))
			row->pid = (int64_t)f.value;
		else if (pf_is(&f, PF_THREAD_TID, PF_VARINT))
			row->tid = (int64_t)f.value;
		else if (pf_is(&f, PF_THREAD_NAME, PF_BYTES) && f.len)
			take_name(r, row, &f);
		else if (pf_is(&f, PF_THREAD_CHROME_TYPE, PF_VARINT))
			name_by_type(r, row, pf_chrome_thread(f.value));
		else if (q && pf_is(&f, PF_THREAD_REFERENCE_US, PF_VARINT)) {
			q->time_us = (int64_t)f.value;
			q->has_reference = true;
		} else if (q && pf_is(&f, PF_THREAD_REFERENCE_THREAD_US, PF_VARINT)) {
			q->thread_time_us = (int64_t)f.value;
		} else if (q && pf_is(&f, PF_THREAD_REFERENCE_INSTRUCTIONS, PF_VARINT)) {
			q->instructions = (int64_t)f.value;
		}
	}
	if (q && !got) {
		q->has_thread = true;
		q->pid = row->pid;
		q->tid = row->tid;
	}
	return got;
}

static int read_counter(struct pf_reader *r, struct pf_track_row *row, struct pf_cursor m)
{
	struct pf_field f;
	int got = 0, err = 0;

	row->is_counter = true;
	while (!err && (got = pf_next(&m, &f)) > 0) {
		if (pf_is(&f, PF_COUNTER_TYPE, PF_VARINT))
			row->counter_type = (uint8_t)f.value;
		else if (pf_is(&f, PF_COUNTER_MULTIPLIER, PF_VARINT) && (int64_t)f.value > 0)
			row->multiplier = (int64_t)f.value;
		else if (pf_is(&f, PF_COUNTER_IS_INCREMENTAL, PF_VARINT))
			row->is_incremental = f.value;
		else if (pf_is(&f, PF_COUNTER_FXT, PF_BYTES))
			err = pf_counter_describe(r, row, pf_inner(&f));
	}
	return err ? err : got;
}

static int read_field(struct pf_reader *r, struct pf_packet_info *p, struct pf_track_row *row, const struct pf_field *f)
{
	bool is_number = f->wire == PF_VARINT;
	struct pf_field type;

	switch (f->number) {
	case PF_TRACK_PARENT_UUID:
		row->parent = is_number ? f->value : 0;
		return 0;
	case PF_TRACK_RANK:
		row->rank = is_number ? (int32_t)f->value : 0;
		return 0;
	default:
		break;
	}
	if (f->wire != PF_BYTES)
		return 0;
	switch (f->number) {
	case PF_TRACK_NAME:
	case PF_TRACK_STATIC_NAME:
	case PF_TRACK_ATRACE_NAME:
		if (f->len)
			take_name(r, row, f);
		return 0;
	case PF_TRACK_PROCESS:
		return read_process(r, row, pf_inner(f));
	case PF_TRACK_THREAD:
		return read_thread(r, row, p->q, pf_inner(f));
	case PF_TRACK_CHROME_PROCESS:
		if (pf_find(pf_inner(f), PF_CHROME_TYPE, PF_VARINT, &type))
			name_by_type(r, row, pf_chrome_process(type.value));
		return 0;
	case PF_TRACK_CHROME_THREAD:
		if (pf_find(pf_inner(f), PF_CHROME_TYPE, PF_VARINT, &type))
			name_by_type(r, row, pf_chrome_thread(type.value));
		return 0;
	case PF_TRACK_STATE:
		row->has_state = true;
		return 0;
	case PF_TRACK_COUNTER:
		return read_counter(r, row, pf_inner(f));
	default:
		return 0;
	}
}

/* Whether it is another thread, process, kind of track or has another parent, as far as both say. */
static bool is_other(const struct pf_track_row *row, const struct pf_track_row *new)
{
	if ((new->has_thread && !row->has_thread) || (new->has_process && !row->has_process) ||
	    (new->is_counter && !row->is_counter))
		return true;
	return ((new->has_thread || new->has_process) && (new->pid != row->pid || new->tid != row->tid)) ||
	       (new->parent && new->parent != row->parent);
}

static void rename_row(struct pf_track_row *row, const struct pf_track_row *new)
{
	if (!new->name || (row->name && new->has_type_name))
		return;
	row->name = new->name;
	row->has_type_name = new->has_type_name;
}

/* Of a track that was described before only the name may change. */
static int merge_row(struct pf_track_row *row, const struct pf_track_row *new)
{
	struct pf_track_row before = *row;

	if (row->is_described && is_other(row, new))
		return PF_OTHER_TRACK;
	if (row->is_described) {
		rename_row(row, new);
		return PF_USED;
	}
	*row = *new;
	row->first_name = before.first_name;
	row->packet = before.packet;
	row->offset = before.offset;
	row->last_ns = before.last_ns;
	row->is_described = true;
	return PF_USED;
}

int pf_track_descriptor(struct pf_reader *r, struct pf_packet_info *p, struct pf_cursor message)
{
	struct pf_track_row row = { .multiplier = 1, .trusted_pid = p->trusted_pid };
	struct pf_field f;
	uint32_t track;
	int got = 0, err = 0;

	if (!pf_find(message, PF_TRACK_UUID, PF_VARINT, &f))
		return PF_NO_UUID;
	row.uuid = f.value;
	while (!err && (got = pf_next(&message, &f)) > 0)
		err = read_field(r, p, &row, &f);
	if (err || got < 0)
		return err == -ENOMEM ? err : PF_DAMAGED;
	track = pf_track_by_uuid(r, row.uuid);
	if (!track)
		return pf_track_error(r);
	return merge_row(pf_track_row(r, track), &row);
}

int pf_thread_descriptor(struct pf_reader *r, struct pf_packet_info *p, struct pf_cursor message)
{
	struct pf_track_row row = { .multiplier = 1 };
	uint32_t track;

	if (read_thread(r, &row, p->q, message))
		return PF_DAMAGED;
	track = pf_track_by_thread(r, row.pid, row.tid);
	if (!track)
		return pf_track_error(r);
	rename_row(pf_track_row(r, track), &row);
	return PF_USED;
}

/* A row of its own: a thread of id -1, of which only the process counts. */
int pf_process_descriptor(struct pf_reader *r, struct pf_packet_info *p, struct pf_cursor message)
{
	struct pf_track_row row = { .multiplier = 1 };
	uint32_t track;

	(void)p;
	if (read_process(r, &row, message))
		return PF_DAMAGED;
	track = pf_track_by_thread(r, row.pid, -1);
	if (!track)
		return pf_track_error(r);
	pf_track_row(r, track)->has_thread = false;
	pf_track_row(r, track)->has_process = true;
	rename_row(pf_track_row(r, track), &row);
	return PF_USED;
}

/* ---- the second pass ------------------------------------------------------- */

/* What the track belongs to, by its ancestors; *@owner has the ids. */
static enum pf_scope find_scope(const struct pf_reader *r, const struct pf_track_row *row,
				const struct pf_track_row **owner)
{
	const struct pf_track_row *at = row;
	uint32_t i;
	int level;

	for (level = 0; level < LEVELS_MAX; level++) {
		*owner = at;
		if (at->has_thread)
			return level ? PF_SCOPE_BELOW_THREAD : PF_SCOPE_THREAD;
		if (at->has_process)
			return PF_SCOPE_PROCESS;
		if (!at->parent)
			return at->is_described || !level ? PF_SCOPE_GLOBAL : PF_SCOPE_NONE;
		i = map_get(&r->tracks.by_uuid, at->parent);
		if (i == MAP_NONE || !r->tracks.all[i].is_described)
			return PF_SCOPE_NONE;
		at = &r->tracks.all[i];
	}
	return PF_SCOPE_NONE;
}

struct fxt_str pf_track_name(const struct pf_reader *r, const struct pf_track_row *row)
{
	const bool is_default = !row->uuid && !row->has_thread && !row->has_process;

	if (row->name || (row->first_name && !is_default))
		return pf_pool_str(&r->pool, row->name ? row->name : row->first_name);
	if (row->is_counter && row->counter_type == PF_COUNTS_THREAD_TIME)
		return fxt_str("thread_time");
	if (row->is_counter && row->counter_type == PF_COUNTS_INSTRUCTIONS)
		return fxt_str("thread_instruction_count");
	return fxt_str(is_default ? "Default Track" : "");
}

bool pf_track_process(const struct pf_reader *r, uint32_t track, int64_t *pid)
{
	const struct pf_track_row *owner;
	enum pf_scope scope = find_scope(r, pf_track_row(r, track), &owner);

	*pid = owner->pid;
	return scope == PF_SCOPE_THREAD || scope == PF_SCOPE_BELOW_THREAD || scope == PF_SCOPE_PROCESS;
}

/* "GPU / queue 0": with the names of the tracks that it is in, outermost first. */
static void put_path(struct pf_reader *r, const struct pf_track_row *row, int level)
{
	uint32_t parent = row->parent ? map_get(&r->tracks.by_uuid, row->parent) : MAP_NONE;
	struct fxt_str name = pf_track_name(r, row);

	if (row->has_thread || row->has_process)
		return;
	if (parent != MAP_NONE && level < LEVELS_MAX)
		put_path(r, &r->tracks.all[parent], level + 1);
	if (r->text_len && name.len)
		pf_text_add(r, " / ", 3);
	pf_text_add(r, name.data, name.len);
}

/*
 * With the names of the tracks that it is in, as others below them may have its name. Of a thread it has the thread's
 * name with it, too: FXT's counters are of processes.
 */
static void name_counter(struct pf_reader *r, struct pf_track_row *row, const struct pf_track_row *owner)
{
	struct fxt_str thread = owner == row ? fxt_str("") : pf_track_name(r, owner);

	pf_text_clear(r);
	put_path(r, row, 0);
	if (!r->text_len)
		pf_text_add(r, pf_track_name(r, row).data, pf_track_name(r, row).len);
	r->text_len = pf_cut_len(r, r->text, r->text_len, COUNTER_NAME_BYTES);
	if (owner->has_thread) {
		pf_text_print(r, " (");
		pf_text_add(r, thread.data, pf_cut_len(r, thread.data, thread.len, THREAD_NAME_BYTES));
		pf_text_print(r, "%s%lld)", thread.len ? " " : "", (long long)owner->tid);
	}
	row->shown = pf_string(r, r->text, r->text_len);
}

/* The track of a thread's markers, of a trace that was written from FXT. */
static bool is_markers(const struct pf_reader *r, const struct pf_track_row *row)
{
	struct fxt_str name = pf_track_name(r, row);

	return r->is_recorded && row->scope == PF_SCOPE_BELOW_THREAD && name.len == 7 && !memcmp(name.data, "markers", 7);
}

/* "worker (11)" */
static void put_thread(struct pf_reader *r, const struct pf_track_row *row)
{
	struct fxt_str name = pf_track_name(r, row);

	pf_text_add(r, name.data, name.len);
	pf_text_print(r, name.len ? " (%lld)" : "%lld", (long long)row->tid);
}

static int name_pseudo_thread(struct pf_reader *r, const struct pf_track_row *row, const struct pf_track_row *owner)
{
	struct model_event ev = { .kind = MODEL_NAME, .track = row->track };
	int err = 0;

	pf_text_clear(r);
	if (is_markers(r, row))
		pf_text_print(r, "%lld markers", (long long)owner->tid);
	else if (row->has_thread)
		put_thread(r, row);
	else
		put_path(r, row, 0);
	ev.name = fxt_str_n(r->text, r->text_len);
	if (ev.name.len)
		err = pf_add(r, &ev);
	if (!err && row->rank)
		err = pf_add(r, &(struct model_event){ .kind = MODEL_ORDER, .track = row->track, .order = row->rank });
	return err;
}

/*
 * Slices of two uuids of one thread are in each other only by chance: those of the later one are on a track of its
 * own, if the other one still has some. 0 or -errno.
 */
static int keep_apart(struct pf_reader *r, struct pf_track_row *row, struct model_track *spec)
{
	const uint32_t i = map_get(&r->tracks.owners, row->track), own = (uint32_t)(row - r->tracks.all);
	int err;

	if (!row->uuid || !row->last_ns)
		return 0;
	if (i == MAP_NONE || i == own || r->tracks.all[i].last_ns < r->at_ns)
		return map_set(&r->tracks.owners, row->track, own);
	spec->kind = MODEL_TRACK_NAMED;
	spec->thread.number = (int64_t)row->uuid;
	err = builder_track(r->builder, spec, &row->track);
	return err ? err : name_pseudo_thread(r, row, row);
}

static int find_track(struct pf_reader *r, struct pf_track_row *row, const struct pf_track_row *owner)
{
	struct model_track spec = { .process.number = owner->pid, .thread.number = owner->tid };
	int err;

	switch (row->scope) {
	case PF_SCOPE_THREAD:
		spec.kind = MODEL_TRACK_THREAD;
		break;
	case PF_SCOPE_PROCESS:
		spec.kind = row->has_state ? MODEL_TRACK_NAMED : MODEL_TRACK_PROCESS;
		spec.thread.number = (int64_t)row->uuid;
		break;
	case PF_SCOPE_BELOW_THREAD:
	case PF_SCOPE_GLOBAL:
		spec.kind = MODEL_TRACK_NAMED;
		spec.no_process = row->scope == PF_SCOPE_GLOBAL;
		spec.thread.number = (int64_t)row->uuid;
		break;
	default:
		return PF_NO_PARENT;
	}
	/* Counters have no thread of their own. */
	if (row->is_counter && spec.kind == MODEL_TRACK_NAMED)
		spec.kind = row->scope == PF_SCOPE_GLOBAL ? MODEL_TRACK_GLOBAL : MODEL_TRACK_THREAD;
	if (row->is_counter && row->scope == PF_SCOPE_BELOW_THREAD)
		spec.thread.number = owner->tid;
	if (row->is_counter && !row->counter)
		name_counter(r, row, owner);
	err = builder_track(r->builder, &spec, &row->track);
	if (!err && spec.kind == MODEL_TRACK_NAMED)
		err = name_pseudo_thread(r, row, owner);
	else if (!err && row->scope == PF_SCOPE_THREAD && !row->is_counter)
		err = keep_apart(r, row, &spec);
	return err ? err : PF_USED;
}

int pf_track_resolve(struct pf_reader *r, uint32_t track)
{
	struct pf_track_row *row = pf_track_row(r, track);
	const struct pf_track_row *owner;

	if (row->track)
		return PF_USED;
	if (row->scope == PF_SCOPE_NONE)
		return PF_NO_PARENT;
	row->scope = (uint8_t)find_scope(r, row, &owner);
	return find_track(r, row, owner);
}

/* A tree knows processes better. */
static int name_row(struct pf_reader *r, struct pf_track_row *row)
{
	struct model_track spec = { .process.number = row->pid, .thread.number = row->tid };
	struct model_event ev = { .kind = MODEL_NAME, .name = pf_pool_str(&r->pool, row->name) };
	int err;

	if (!row->name || (!row->has_thread && !row->has_process) ||
	    (!row->has_thread && pf_tree_names(r, row->pid)))
		return 0;
	spec.kind = row->has_thread ? MODEL_TRACK_THREAD : MODEL_TRACK_PROCESS;
	err = builder_track(r->builder, &spec, &ev.track);
	return err ? err : pf_add(r, &ev);
}

/* Ids that a process has in a namespace of its own are others outside of it. */
static void find_ids(const struct pf_reader *r, struct pf_track_row *row)
{
	if (row->trusted_pid <= 0 || (!row->has_thread && !row->has_process))
		return;
	row->pid = pf_tree_id(r, row->trusted_pid, row->pid);
	if (row->has_thread)
		row->tid = pf_tree_id(r, row->trusted_pid, row->tid);
}

int pf_tracks_name(struct pf_reader *r)
{
	uint32_t i;
	int err = 0;

	for (i = 0; i < r->tracks.cnt && !err; i++) {
		find_ids(r, &r->tracks.all[i]);
		err = name_row(r, &r->tracks.all[i]);
	}
	return err;
}
