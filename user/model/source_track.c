// SPDX-License-Identifier: GPL-2.0
/*
 * Names of tracks: what was said, and the id in the source where the koid differs.
 */
#include "source_track.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "track_ids.h"

#define ID_BYTES_MAX	256U		/* bytes of an id that is a string */

static size_t default_name(const struct source_track *st, char *buf, size_t size)
{
	switch (st->spec.kind) {
	case MODEL_TRACK_GLOBAL:
		return (size_t)snprintf(buf, size, "global");
	case MODEL_TRACK_CPU:
		return (size_t)snprintf(buf, size, "CPU %u", (unsigned int)st->spec.cpu);
	case MODEL_TRACK_NAMED:
		if (!st->spec.thread.text.data)
			return (size_t)snprintf(buf, size, "track %" PRId64, st->spec.thread.number);
		return 0;
	default:
		return 0;
	}
}

static size_t put_id(const struct source_track *st, bool is_named, char *buf, size_t size)
{
	bool is_thread = st->spec.kind == MODEL_TRACK_THREAD;
	const struct model_id *id = st->spec.kind == MODEL_TRACK_PROCESS ? &st->spec.process : &st->spec.thread;
	const char *key = is_thread ? "tid " : st->spec.kind == MODEL_TRACK_NAMED ? "" : "pid ";
	size_t len = id->text.len < ID_BYTES_MAX ? id->text.len : ID_BYTES_MAX;

	if (!id->text.data)
		return (size_t)snprintf(buf, size, is_named ? " [%s%" PRId64 "]" : "%s%" PRId64, key, id->number);
	return (size_t)snprintf(buf, size, is_named ? " [%s%.*s]" : "%.0s%.*s", key, (int)len, id->text.data);
}

/* An importer made it up: what the id was before is in the name. */
static bool was_invented(const struct source_track *st)
{
	const struct model_id *id = st->spec.kind == MODEL_TRACK_PROCESS ? &st->spec.process : &st->spec.thread;

	return st->name_len && !id->text.data && id->number >= (int64_t)PSEUDO_BASE && id->number <= UINT32_MAX;
}

size_t track_full_name(const struct source_track *st, unsigned int lane, char *buf, size_t size)
{
	bool has_id = (st->spec.kind == MODEL_TRACK_THREAD || st->spec.kind == MODEL_TRACK_PROCESS) && !was_invented(st);
	size_t len = st->name_len < size / 2 ? st->name_len : size / 2;

	if (st->name)
		memcpy(buf, st->name, len);
	else
		len = default_name(st, buf, size);
	/* A further lane has another koid: without a name nothing else shows what it belongs to. */
	if ((st->is_invented && (has_id || (!len && st->spec.thread.text.data))) || (lane && !len))
		len += put_id(st, len > 0, buf + len, size - len);
	if (lane)
		len += (size_t)snprintf(buf + len, size - len, "%s(%u)", len ? " " : "", lane + 1);
	return len;
}
