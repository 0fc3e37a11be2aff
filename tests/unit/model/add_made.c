// SPDX-License-Identifier: GPL-2.0
/*
 * Events for builder_add(), made by hand.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "add_made.h"

struct model_id id_number(int64_t n)
{
	return (struct model_id){ .number = n };
}

struct model_id id_word(const char *text)
{
	return (struct model_id){ .text = fxt_str(text) };
}

uint32_t find_track(struct build *t, enum model_track_kind kind, struct model_id process, struct model_id thread)
{
	const struct model_track spec = { .kind = kind, .process = process, .thread = thread };
	uint32_t nr = 0;

	assert_int_equal(builder_track(t->b, &spec, &nr), 0);
	assert_int_not_equal(nr, 0);
	return nr;
}

uint32_t find_thread(struct build *t, int64_t pid, int64_t tid)
{
	return find_track(t, MODEL_TRACK_THREAD, id_number(pid), id_number(tid));
}

/* Names are on the stack of this call: what the builder keeps it has to copy. */
void add_event(struct build *t, struct model_event ev, const char *name)
{
	char copy[64];

	snprintf(copy, sizeof(copy), "%s", name);
	ev.name = fxt_str(copy);
	if (!ev.category.data)
		ev.category = fxt_str("cat");
	assert_int_equal(builder_add(t->b, &ev), 0);
	memset(copy, 'x', sizeof(copy));
}

void add_kind(struct build *t, enum model_kind kind, uint32_t track, uint64_t ts, const char *name)
{
	add_event(t, (struct model_event){ .kind = kind, .track = track, .ts_ns = ts }, name);
}

void add_slice(struct build *t, uint32_t track, uint64_t from, uint64_t to, const char *name)
{
	add_event(t, (struct model_event){ .kind = MODEL_SLICE, .track = track, .ts_ns = from, .duration_ns = to - from }, name);
}

void add_id(struct build *t, enum model_kind kind, uint32_t track, uint64_t ts, uint64_t id, const char *name)
{
	add_event(t, (struct model_event){ .kind = kind, .track = track, .ts_ns = ts, .id = id }, name);
}
