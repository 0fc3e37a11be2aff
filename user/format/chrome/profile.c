// SPDX-License-Identifier: GPL-2.0
/*
 * Samples of stacks. Profiles of V8: a Profile says which thread is sampled from when on, its ProfileChunks have
 * the frames and, by time between, the samples. And the member samples, of frames of the member stackFrames.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "reader_p.h"
#include "value.h"

#define PLACE_BYTES	512U
#define PROFILES_MAX	4096U

/* Of one process and id. */
struct v8_profile {
	uint64_t key;
	uint32_t track;
	int64_t now_ns;		/* of the last sample */
};

/* The lists of a chunk that go with each other. */
struct chunk {
	struct v8_profile *profile;
	struct chrome_each samples, deltas, lines;
};

static uint64_t profile_key(const struct chrome_event *e)
{
	const struct chrome_field *id = chrome_field(e, CHROME_ID), *pid = chrome_field(e, CHROME_PID);
	uint64_t key = reader_frame_key(1, pid ? chrome_text(e, pid->value) : "", pid ? pid->value.len : 0);

	return reader_frame_key(key, id ? chrome_text(e, id->value) : "", id ? id->value.len : 0);
}

static struct v8_profile *find(struct chrome_reader *r, uint64_t key)
{
	size_t i;

	for (i = r->profiles_cnt; i--;)
		if (r->profiles[i].key == key)
			return &r->profiles[i];
	return NULL;
}

/* One begun again goes on from there. 0 or -ENOMEM. */
static int begin(struct chrome_reader *r, const struct chrome_event *e, const struct model_event *ev)
{
	struct chrome_value data, start, args = chrome_value_of(e, chrome_field(e, CHROME_ARGS));
	uint64_t key = profile_key(e);
	struct v8_profile *p = find(r, key);
	int64_t ns, shown;

	if (!p && r->profiles_cnt < PROFILES_MAX) {
		if (array_reserve(r->profiles, r->profiles_cnt, r->profiles_cap, 1))
			return -ENOMEM;
		p = &r->profiles[r->profiles_cnt++];
	}
	if (!p)
		return 0;
	*p = (struct v8_profile){ .key = key, .track = ev->track, .now_ns = (int64_t)ev->ts_ns };
	if (chrome_member_find(&args, "data", &data) && chrome_member_find(&data, "startTime", &start) &&
	    !chrome_time_ns(start.data, start.len, &ns) && !__builtin_add_overflow(ns, r->shift_ns, &shown))
		p->now_ns = shown;
	return 0;
}

/* ---- frames -------------------------------------------------------------------- */

static bool text_of(const struct chrome_value *object, const char *name, struct chrome_value *v)
{
	return chrome_member_find(object, name, v) && v->len && v->type == CHROME_STRING;
}

/* "URL:LINE:COLUMN", both from 1 on, as editors count; V8 counts from 0 and leaves 0 out. */
static size_t place_of(const struct chrome_value *call, char out[PLACE_BYTES])
{
	struct chrome_value url, number;
	int64_t line = 0, column = 0;
	uint64_t bad = 0;
	size_t len;

	if (!text_of(call, "url", &url))
		return 0;
	len = chrome_string_decode(url.data, url.len, out, PLACE_BYTES - 48, &bad);
	if (chrome_member_find(call, "lineNumber", &number) && chrome_int64(number.data, number.len, &line))
		line = 0;
	if (chrome_member_find(call, "columnNumber", &number) && chrome_int64(number.data, number.len, &column))
		column = 0;
	return len + (size_t)snprintf(out + len, 48, ":%" PRId64 ":%" PRId64, line < INT64_MAX ? line + 1 : line,
				      column < INT64_MAX ? column + 1 : column);
}

static bool add_children(struct chrome_reader *r, uint64_t profile, uint64_t key, const struct chrome_value *list)
{
	struct chrome_value child;
	struct chrome_each each;
	bool ok = true;

	chrome_each_begin(&each, list->data, list->len);
	while (chrome_each_next(&each, &child))
		ok &= !chrome_frames_parent(&r->frames, reader_frame_key(profile, child.data, child.len), key);
	return ok;
}

/* The root is above every stack and says nothing. */
static bool is_root(const struct chrome_value *name)
{
	return name->len == 6 && !memcmp(name->data, "(root)", 6);
}

static bool add_node(struct chrome_reader *r, uint64_t profile, const struct chrome_value *node)
{
	static const struct chrome_value anonymous = { .type = CHROME_STRING, .data = "(anonymous)", .len = 11 };
	static const struct chrome_value nothing = { 0 };
	struct chrome_value id, call, name, other;
	char place[PLACE_BYTES];
	uint64_t key;
	bool ok = true;

	if (!chrome_member_find(node, "id", &id))
		return false;
	key = reader_frame_key(profile, id.data, id.len);
	/* Older ones have what is now in callFrame beside it. */
	if (!chrome_member_find(node, "callFrame", &call))
		call = *node;
	if (!text_of(&call, "functionName", &name))
		name = anonymous;
	if (!is_root(&name))
		ok = !chrome_frames_name(&r->frames, key, &name, &nothing, place, place_of(&call, place));
	if (chrome_member_find(node, "parent", &other))
		ok &= !chrome_frames_parent(&r->frames, key, reader_frame_key(profile, other.data, other.len));
	if (chrome_member_find(node, "children", &other))
		ok &= add_children(r, profile, key, &other);
	return ok;
}

/* ---- samples ------------------------------------------------------------------- */

/* @ns: since the sample before; @line: that of the innermost frame, 0: not known. */
static int play_sample(struct chrome_reader *r, const struct v8_profile *p, uint64_t frame, int64_t ns, int64_t line)
{
	bool cut;
	unsigned int cnt = chrome_frames_list(&r->frames, frame, r->stack, &cut);
	struct model_event ev = {
		.kind = MODEL_STACK, .track = p->track, .ts_ns = p->now_ns < 0 ? 0 : (uint64_t)p->now_ns,
		.stack = {
			.source = PROFILE_OTHER, .source_name = fxt_str("v8"), .cpu = -1, .user_mode = true,
			.weight = ns > 0 ? (uint64_t)ns : 0, .frames = r->stack,
		},
	};

	if (!cnt)
		r->stack[cnt++] = (struct profile_frame){ .name = fxt_str("(root)") };
	if (line > 0 && line <= UINT32_MAX)
		r->stack[cnt - 1].line = (uint32_t)line;
	ev.stack.frames_cnt = cnt;
	r->counts.cut_lists += cut;
	r->counts.profile_samples++;
	return reader_add(r, &ev);
}

static int play_samples(struct chrome_reader *r, struct chunk *c)
{
	struct chrome_value sample, delta, line;
	int64_t ns, number;
	int err = 0;

	while (!err && chrome_each_next(&c->samples, &sample) && chrome_each_next(&c->deltas, &delta)) {
		if (chrome_time_ns(delta.data, delta.len, &ns))
			ns = 0;
		if (__builtin_add_overflow(c->profile->now_ns, ns, &c->profile->now_ns))
			c->profile->now_ns = ns > 0 ? INT64_MAX : 0;
		if (!chrome_each_next(&c->lines, &line) || chrome_int64(line.data, line.len, &number))
			number = 0;
		err = play_sample(r, c->profile, reader_frame_key(c->profile->key, sample.data, sample.len), ns, number);
	}
	return err;
}

static void begin_list(struct chrome_each *each, const struct chrome_value *data, const struct chrome_value *inner,
		       const char *name)
{
	struct chrome_value list;

	if (!chrome_member_find(data, name, &list))
		chrome_member_find(inner, name, &list);
	chrome_each_begin(each, list.data, list.type == CHROME_ARRAY ? list.len : 0);
}

/* 1: it had samples or frames. */
static int play_chunk(struct chrome_reader *r, const struct chrome_event *e)
{
	struct chrome_value args = chrome_value_of(e, chrome_field(e, CHROME_ARGS)), data, inner, node;
	struct chunk c = { .profile = find(r, profile_key(e)) };
	struct chrome_each nodes;
	int err;

	if (!c.profile || !chrome_member_find(&args, "data", &data) || !chrome_member_find(&data, "cpuProfile", &inner))
		return 0;
	begin_list(&nodes, &inner, &data, "nodes");
	while (chrome_each_next(&nodes, &node))
		r->counts.dropped_frames += !add_node(r, c.profile->key, &node);
	begin_list(&c.samples, &inner, &data, "samples");
	begin_list(&c.deltas, &data, &inner, "timeDeltas");
	begin_list(&c.lines, &data, &inner, "lines");
	err = play_samples(r, &c);
	return err ? err : 1;
}

int reader_play_profile(struct chrome_reader *r, const struct chrome_event *e, struct model_event *ev)
{
	if (reader_is_text(e, CHROME_NAME, "Profile"))
		return begin(r, e, ev);
	return reader_is_text(e, CHROME_NAME, "ProfileChunk") ? play_chunk(r, e) : 0;
}

/* ---- elements of the member samples ---------------------------------------------- */

/* Of an argument that is a whole number: whether it is there and one. */
static bool count_of(struct chrome_reader *r, const char *name, uint64_t *count)
{
	const struct fxt_arg *arg = chrome_args_find(r->args, name);
	struct fxt_arg number;

	if (!arg || !reader_number(arg, &number))
		return false;
	if (number.type == FXT_ARG_DOUBLE && number.f64 >= 0 && number.f64 < (double)INT64_MAX && number.f64 == (int64_t)number.f64) {
		number.type = FXT_ARG_INT64;
		number.i64 = (int64_t)number.f64;
	}
	if (number.type != FXT_ARG_INT64 || number.i64 < 0)
		return false;
	*count = (uint64_t)number.i64;
	return true;
}

/* "other" is the name of what has none. */
static enum profile_source source_of(struct fxt_str name)
{
	enum profile_source i;

	for (i = PROFILE_CPU; i < PROFILE_OTHER; i++)
		if (name.len == strlen(profile_source_name(i)) && !memcmp(name.data, profile_source_name(i), name.len))
			break;
	return i;
}

int reader_play_listed(struct chrome_reader *r, const struct chrome_event *e, struct model_event *ev)
{
	const struct chrome_field *f = chrome_field(e, CHROME_SF);
	uint64_t cpu = UINT64_MAX, weight = 0;
	unsigned int cnt = 0, used;
	bool cut = false;

	if (f)
		cnt = chrome_frames_list(&r->frames, reader_frame_key(0, chrome_text(e, f->value), f->value.len), r->stack, &cut);
	r->counts.cut_lists += cut;
	if (!cnt)
		return 1;
	used = count_of(r, "cpu", &cpu) + count_of(r, "weight", &weight);
	/* The stack is made of sf. */
	r->counts.dropped_members += ev->args_cnt - used - (chrome_args_find(r->args, "stack") != NULL);
	ev->kind = MODEL_STACK;
	ev->stack = (struct model_stack){
		.source = source_of(ev->name), .source_name = ev->name, .cpu = cpu <= INT32_MAX ? (int)cpu : -1, .user_mode = true,
		.weight = weight, .frames = r->stack, .frames_cnt = cnt,
	};
	return reader_add(r, ev);
}
