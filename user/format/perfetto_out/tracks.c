// SPDX-License-Identifier: GPL-2.0
/*
 * TrackDescriptor packets.
 */
#include "tracks.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "format/perfetto/encode.h"
#include "format/perfetto/fields.h"
#include "model/track_ids.h"

#define ORDERED_BY_RANK	3U	/* children of a track */
#define NAME_BYTES	512U
#define KEY_BYTES	256U	/* of a string of a counter's key */

void out_tracks_init(struct out_tracks *t, struct out_tasks *tasks, struct pb_buf *out)
{
	t->tasks = tasks;
	t->out = out;
}

void out_tracks_fini(struct out_tracks *t)
{
	map_fini(&t->by_thread);
	map_fini(&t->by_process);
	map_fini(&t->by_marked);
	free(t->list);
	pf_pool_fini(&t->counters);
	free(t->counter_uuids);
}

void out_tracks_forget(struct out_tracks *t)
{
	size_t i;

	for (i = 0; i < t->list_cnt; i++)
		t->list[i].described = false;
	pf_pool_fini(&t->counters);
}

/* ---- packets ---------------------------------------------------------------------- */

struct descriptor {
	size_t packet, body;	/* of pb_begin() */
};

static struct descriptor begin(struct out_tracks *t, uint64_t ts_ns, uint64_t uuid, uint64_t parent)
{
	struct descriptor d = { .packet = pb_begin(t->out, PF_TRACE_PACKET) };

	pb_put_u64(t->out, PF_PACKET_TIMESTAMP, ts_ns);
	d.body = pb_begin(t->out, PF_PACKET_TRACK_DESCRIPTOR);
	pb_put_u64(t->out, PF_TRACK_UUID, uuid);
	if (parent)
		pb_put_u64(t->out, PF_TRACK_PARENT_UUID, parent);
	return d;
}

static int end(struct out_tracks *t, struct descriptor d)
{
	pb_end(t->out, d.body);
	pb_end(t->out, d.packet);
	return t->out->failed ? -ENOMEM : 0;
}

static int put_linux_process(struct out_tracks *t, uint64_t uuid, uint32_t pid, uint64_t ts_ns)
{
	struct descriptor d = begin(t, ts_ns, uuid, 0);
	size_t process = pb_begin(t->out, PF_TRACK_PROCESS);

	pb_put_u64(t->out, PF_PROCESS_PID, pid);
	pb_end(t->out, process);
	return end(t, d);
}

static int put_linux_thread(struct out_tracks *t, uint64_t uuid, uint64_t parent, const struct out_task *task,
			    uint64_t ts_ns)
{
	struct descriptor d = begin(t, ts_ns, uuid, parent);
	size_t thread = pb_begin(t->out, PF_TRACK_THREAD);

	pb_put_u64(t->out, PF_THREAD_PID, out_process_id(task));
	pb_put_u64(t->out, PF_THREAD_TID, out_id(task->koid));
	pb_end(t->out, thread);
	return end(t, d);
}

/* One that is neither; children of a root are in the order of their ids, which is that of CPUs. */
static int put_named(struct out_tracks *t, uint64_t uuid, uint64_t parent, struct fxt_str name, uint32_t rank,
		     uint64_t ts_ns)
{
	struct descriptor d = begin(t, ts_ns, uuid, parent);

	pb_put_string(t->out, PF_TRACK_NAME, name.data, name.len);
	if (parent)
		pb_put_u64(t->out, PF_TRACK_RANK, rank);
	else
		pb_put_u64(t->out, PF_TRACK_CHILD_ORDERING, ORDERED_BY_RANK);
	return end(t, d);
}

/* The name in @known, or what the id is. */
static struct fxt_str name_or_id(const struct out_name *known, const char *what, uint64_t koid, char buf[NAME_BYTES])
{
	if (known->len)
		return fxt_str_n(known->data, known->len);
	return fxt_str_n(buf, (size_t)snprintf(buf, NAME_BYTES, "%s %llu", what, (unsigned long long)koid));
}

/* ---- tracks ----------------------------------------------------------------------- */

/* A track that is known and described. */
static bool find(const struct out_tracks *t, const struct map *map, uint64_t koid, uint64_t *uuid)
{
	const uint32_t found = map_get(map, koid);

	if (found == MAP_NONE || !t->list[found].described)
		return false;
	*uuid = t->list[found].uuid;
	return true;
}

/* One that is to be described now, which may be known. */
static int add_track(struct out_tracks *t, struct map *map, uint64_t koid, struct out_track track, uint64_t *uuid)
{
	uint32_t at = map_get(map, koid);
	int err;

	if (at == MAP_NONE) {
		at = (uint32_t)t->list_cnt;
		err = array_reserve(t->list, t->list_cnt, t->list_cap, 1);
		err = err ? err : map_add(map, koid, at);
		if (err)
			return err;
		track.uuid = ++t->cnt;
		t->list[t->list_cnt++] = track;
	}
	t->list[at].described = true;
	*uuid = t->list[at].uuid;
	return 0;
}

int out_tracks_process(struct out_tracks *t, uint64_t koid, uint64_t ts_ns, uint64_t *uuid)
{
	char buf[NAME_BYTES];
	uint32_t at;
	int err;

	if (find(t, &t->by_process, koid, uuid))
		return 0;
	err = out_tasks_get_process(t->tasks, koid, &at);
	err = err ? err : add_track(t, &t->by_process, koid, (struct out_track){ .is_linux = out_is_linux(koid) }, uuid);
	if (err)
		return err;
	if (out_is_linux(koid))
		return put_linux_process(t, *uuid, out_id(koid), ts_ns);
	return put_named(t, *uuid, 0, name_or_id(&t->tasks->processes[at].name, "process", koid, buf), 0, ts_ns);
}

/* The process that viewers have a thread of Linux in: a kernel thread is one of its own. */
static uint64_t process_of(const struct out_task *task)
{
	return task->process ? task->process : task->koid;
}

/* "123 markers", the second track of a thread of that process: its koid; 0: it is none. */
static uint64_t thread_of_markers(const struct out_tracks *t, const struct out_task *markers, uint64_t process)
{
	char *end = NULL;
	uint64_t koid;
	uint32_t at;

	if (markers->koid < PSEUDO_MARKERS || markers->koid >= PSEUDO_TRACKS || !markers->name.len)
		return 0;
	koid = strtoull(markers->name.data, &end, 10);
	if (strcmp(end, " markers") != 0)
		return 0;
	at = map_get(&t->tasks->by_koid, koid);
	return at != MAP_NONE && t->tasks->tasks[at].process == process && out_is_linux(koid) ? koid : 0;
}

static int describe_thread(struct out_tracks *t, uint32_t at, uint64_t process, uint64_t ts_ns, uint64_t *uuid);

/* What a track without a thread of Linux is below. */
static int find_parent(struct out_tracks *t, uint32_t at, uint64_t process, uint64_t ts_ns, uint64_t *uuid)
{
	const uint64_t koid = thread_of_markers(t, &t->tasks->tasks[at], process);

	if (!koid)
		return out_tracks_process(t, process, ts_ns, uuid);
	if (find(t, &t->by_thread, koid, uuid))
		return 0;
	return describe_thread(t, map_get(&t->tasks->by_koid, koid), process, ts_ns, uuid);
}

static int describe_thread(struct out_tracks *t, uint32_t at, uint64_t process, uint64_t ts_ns, uint64_t *uuid)
{
	const uint64_t koid = t->tasks->tasks[at].koid;
	struct out_track track = { .is_linux = out_is_linux(koid) && out_is_linux(process) };
	char buf[NAME_BYTES];
	int err = find_parent(t, at, process, ts_ns, &track.parent);

	err = err ? err : add_track(t, &t->by_thread, koid, track, uuid);
	if (err)
		return err;
	if (track.is_linux)
		return put_linux_thread(t, *uuid, track.parent, &t->tasks->tasks[at], ts_ns);
	return put_named(t, *uuid, track.parent, name_or_id(&t->tasks->tasks[at].name, "thread", koid, buf), out_id(koid), ts_ns);
}

int out_tracks_thread(struct out_tracks *t, struct fxt_thread at, uint64_t ts_ns, uint64_t *uuid)
{
	uint32_t task;
	int err;

	if (find(t, &t->by_thread, at.thread, uuid))
		return 0;
	err = out_tasks_event(t->tasks, at);
	err = err ? err : out_tasks_get(t->tasks, at.thread, &task);
	if (err)
		return err;
	if (out_is_linux(at.thread))
		return describe_thread(t, task, process_of(&t->tasks->tasks[task]), ts_ns, uuid);
	return describe_thread(t, task, at.process, ts_ns, uuid);
}

int out_tracks_markers(struct out_tracks *t, struct fxt_thread at, uint64_t ts_ns, uint64_t *uuid)
{
	struct out_track track = { .is_linux = true };
	int err = out_tracks_thread(t, at, ts_ns, &track.parent);

	*uuid = track.parent;
	if (err || !t->list[map_get(&t->by_thread, at.thread)].is_linux || find(t, &t->by_marked, at.thread, uuid))
		return err;
	err = add_track(t, &t->by_marked, at.thread, track, uuid);
	return err ? err : put_named(t, *uuid, track.parent, fxt_str("markers"), 0, ts_ns);
}

int out_tracks_add(struct out_tracks *t, uint64_t koid, struct fxt_str name, uint64_t ts_ns, uint64_t *uuid)
{
	uint64_t parent;
	int err = out_tracks_process(t, koid, ts_ns, &parent);

	if (err)
		return err;
	*uuid = ++t->cnt;
	return put_named(t, *uuid, parent, name, 0, ts_ns);
}

int out_tracks_rename(struct out_tracks *t, const struct fxt_record *rec, uint64_t ts_ns)
{
	const bool is_thread = rec->object.kind == FXT_KOBJ_THREAD;
	const uint32_t found = map_get(is_thread ? &t->by_thread : &t->by_process, rec->object.id);

	if (found == MAP_NONE || !t->list[found].described || t->list[found].is_linux || !rec->object.name.len)
		return 0;
	return put_named(t, t->list[found].uuid, t->list[found].parent, rec->object.name, out_id(rec->object.id), ts_ns);
}

/* ---- counters --------------------------------------------------------------------- */

/* "pressure cpu some", "cpu_frequency state 3": the argument if it says something, the id if it is not 0. */
static struct fxt_str counter_name(const struct fxt_event *e, struct fxt_str arg, char buf[NAME_BYTES])
{
	const bool is_value = !arg.len || (arg.len == 5 && !memcmp(arg.data, "value", 5));
	int len = snprintf(buf, NAME_BYTES, "%.*s", (int)(e->name.len < 200 ? e->name.len : 200), e->name.data);

	if (!is_value)
		len += snprintf(buf + len, NAME_BYTES - (size_t)len, " %.*s", (int)(arg.len < 200 ? arg.len : 200), arg.data);
	if (e->id)
		len += snprintf(buf + len, NAME_BYTES - (size_t)len, " %llu", (unsigned long long)e->id);
	return fxt_str_n(buf, (size_t)len);
}

/* The record of FXT: viewers have a track for each of its values. */
static void put_record(struct pb_buf *b, const struct fxt_event *e, struct fxt_str arg)
{
	const size_t record = pb_begin(b, PF_COUNTER_FXT);

	pb_put_string(b, PF_FXT_CATEGORY, e->category.data, e->category.len);
	pb_put_string(b, PF_FXT_NAME, e->name.data, e->name.len);
	pb_put_string(b, PF_FXT_ARGUMENT, arg.data, arg.len);
	pb_put_u64(b, PF_FXT_ID, e->id);
	pb_end(b, record);
}

static int describe_counter(struct out_tracks *t, const struct fxt_event *e, struct fxt_str arg, uint64_t ts_ns,
			    uint64_t uuid)
{
	char buf[NAME_BYTES];
	const struct fxt_str name = counter_name(e, arg, buf);
	const bool is_percent = e->category.len == 3 && !memcmp(e->category.data, "psi", 3);
	struct descriptor d;
	uint64_t parent;
	size_t counter;
	int err = out_tracks_process(t, e->thread.process, ts_ns, &parent);

	if (err)
		return err;
	d = begin(t, ts_ns, uuid, parent);
	pb_put_string(t->out, PF_TRACK_NAME, name.data, name.len);
	counter = pb_begin(t->out, PF_TRACK_COUNTER);
	if (is_percent)
		pb_put_text(t->out, PF_COUNTER_UNIT_NAME, "%");
	put_record(t->out, e, arg);
	pb_end(t->out, counter);
	return end(t, d);
}

/* What a value of a counter is known by; its name alone may be that of another one. */
struct counter_key {
	uint64_t process, id;
	char text[3 * KEY_BYTES];
};

static size_t add_key(struct counter_key *key, size_t len, struct fxt_str s)
{
	const size_t more = s.len < KEY_BYTES ? s.len : KEY_BYTES - 1;

	if (more)
		memcpy(key->text + len, s.data, more);
	key->text[len + more] = 0;
	return len + more + 1;
}

/* The number of a key. */
static uint32_t find_counter(struct out_tracks *t, const struct fxt_event *e, struct fxt_str arg)
{
	struct counter_key key;
	size_t len;

	key.process = e->thread.process;
	key.id = e->id;
	len = add_key(&key, 0, e->category);
	len = add_key(&key, len, e->name);
	len = add_key(&key, len, arg);
	return pf_pool_add(&t->counters, &key, offsetof(struct counter_key, text) + len);
}

int out_tracks_counter(struct out_tracks *t, const struct fxt_event *e, struct fxt_str arg, uint64_t ts_ns,
		       uint64_t *uuid)
{
	const size_t before = t->counters.cnt;
	const uint32_t number = find_counter(t, e, arg);

	*uuid = 0;
	if (number == PF_POOL_FULL)
		return 0;
	if (t->counters.cnt > before) {
		if (array_reserve(t->counter_uuids, before, t->counter_uuids_cap, 1))
			return -ENOMEM;
		t->counter_uuids[before] = ++t->cnt;
		*uuid = t->cnt;
		return describe_counter(t, e, arg, ts_ns, t->cnt);
	}
	*uuid = t->counter_uuids[number - 1];
	return 0;
}
