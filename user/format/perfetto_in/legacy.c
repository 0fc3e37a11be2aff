// SPDX-License-Identifier: GPL-2.0
/*
 * LegacyEvent: phases of Trace Event JSON in a TrackEvent.
 */
#include <errno.h>

#include "event.h"

#define SCOPE_GLOBAL	1	/* of instants; 2 is the process, 3 the thread */
#define SCOPE_PROCESS	2
#define NS_PER_US	1000
#define FLOW_OUT	2

struct ids {
	bool has_pid, has_tid;
	int32_t pid, tid;
};

static void read_number(struct pf_event_info *e, struct ids *ids, uint32_t *phase, const struct pf_field *f)
{
	switch (f->number) {
	case PF_LEGACY_PHASE:
		*phase = (uint32_t)f->value;
		break;
	case PF_LEGACY_DURATION_US:
		e->of_legacy.duration_us = (int64_t)f->value;
		break;
	case PF_LEGACY_UNSCOPED_ID:
	case PF_LEGACY_LOCAL_ID:
	case PF_LEGACY_GLOBAL_ID:
		e->of_legacy.id = f->value;
		e->of_legacy.has_id = true;
		e->of_legacy.is_local_id = f->number == PF_LEGACY_LOCAL_ID;
		break;
	case PF_LEGACY_BIND_ID:
		e->of_legacy.bind_id = f->value;
		e->of_legacy.has_bind_id = true;
		break;
	case PF_LEGACY_FLOW_DIRECTION:
		e->of_legacy.flow_direction = (uint8_t)f->value;
		break;
	case PF_LEGACY_BIND_ENCLOSING:
		e->of_legacy.binds_enclosing = f->value;
		break;
	case PF_LEGACY_INSTANT_SCOPE:
		e->of_legacy.instant_scope = (uint8_t)f->value;
		break;
	case PF_LEGACY_PID:
		ids->pid = (int32_t)(uint32_t)f->value;
		ids->has_pid = true;
		break;
	case PF_LEGACY_TID:
		ids->tid = (int32_t)(uint32_t)f->value;
		ids->has_tid = true;
		break;
	default:
		break;
	}
}

/* The letters that another type is the same as. */
static uint8_t type_of(uint32_t phase)
{
	switch (phase) {
	case 'B':
		return PF_TYPE_BEGIN;
	case 'E':
		return PF_TYPE_END;
	case 'I': case 'i': case 'R':
		return PF_TYPE_INSTANT;
	case 'X': case 'b': case 'n': case 'e': case 'S': case 'T': case 'p': case 'F': case 's': case 't': case 'f':
	case 'M':
		return (uint8_t)phase;
	default:
		return 0;
	}
}

/* Thread of the event, if it has no track of a uuid; and of which scope an instant is. */
static int set_track(struct pf_reader *r, const struct pf_packet_info *p, struct pf_event_info *e,
		     const struct ids *ids)
{
	const struct pf_sequence *q = p->q;
	int64_t pid = ids->has_pid ? ids->pid : q->pid;
	int64_t tid = ids->has_tid ? ids->tid : ids->has_pid ? -1 : q->tid;

	if (e->type == PF_TYPE_INSTANT && e->of_legacy.instant_scope == SCOPE_PROCESS)
		e->type = PF_TYPE_PROCESS_INSTANT;
	if (!e->uuid && !ids->has_pid && !ids->has_tid && !q->has_thread)
		return e->has_uuid ? PF_USED : PF_NO_THREAD;
	if (e->type == PF_TYPE_INSTANT && e->of_legacy.instant_scope == SCOPE_GLOBAL) {
		e->track = 0;
		return PF_USED;
	}
	if (!e->uuid)
		e->track = pf_track_by_thread(r, pid, tid);
	return e->track ? PF_USED : pf_track_error(r);
}

int pf_legacy_event(struct pf_reader *r, struct pf_packet_info *p, struct pf_event_info *e)
{
	struct pf_cursor m = pf_inner(&e->legacy);
	struct ids ids = { 0 };
	uint32_t phase = 0;
	struct pf_field f;
	int got;

	e->of_legacy = (struct pf_legacy_info){ 0 };
	while ((got = pf_next(&m, &f)) > 0) {
		if (f.wire == PF_VARINT)
			read_number(e, &ids, &phase, &f);
		else if (pf_is(&f, PF_LEGACY_ID_SCOPE, PF_BYTES))
			e->of_legacy.id_scope = f;
	}
	if (got < 0)
		return PF_DAMAGED;
	e->is_legacy = true;
	if (e->type)
		return e->uuid || (!ids.has_pid && !ids.has_tid) ? PF_USED : set_track(r, p, e, &ids);
	e->type = type_of(phase);
	if (!e->type)
		return PF_NO_TYPE;
	if (e->type == 'X' && e->of_legacy.duration_us < 0)
		return PF_NEGATIVE_DURATION;
	e->value = (uint64_t)e->of_legacy.duration_us * NS_PER_US;
	e->value_flags = e->of_legacy.is_local_id ? PF_HAS_LOCAL_ID : 0;
	return set_track(r, p, e, &ids);
}

/* ---- ids ------------------------------------------------------------------- */

static uint64_t mix(uint64_t hash, uint64_t value)
{
	hash = (hash ^ value) * 0xff51afd7ed558ccdULL;
	return hash ^ hash >> 32;
}

/* A long name has no number. */
static uint64_t name_of(const struct pf_event_info *e)
{
	return e->name || !e->name_text.len ? e->name : ~(uint64_t)text_hash((const char *)e->name_text.data, e->name_text.len);
}

/* Async slices of one name, category or scope share an id only with each other, flows of all three. */
static uint64_t id_of(struct pf_reader *r, const struct pf_event_info *e)
{
	bool is_flow = strchr("stf", e->type), by_name = is_flow || !strchr("bne", e->type);
	uint64_t hash = mix(is_flow ? 's' : by_name ? 'S' : 'b', e->of_legacy.id);
	uint32_t scope = pf_string_of(r, &e->of_legacy.id_scope);

	hash = mix(hash, scope);
	hash = mix(hash, by_name ? name_of(e) : e->category);
	hash = is_flow ? mix(hash, e->category) : hash;
	return hash ? hash : 1;
}

int pf_put_legacy(struct pf_reader *r, const struct pf_event_info *e)
{
	const struct pf_legacy_info *l = &e->of_legacy;
	const uint32_t flags = l->is_local_id ? PF_ID_LOCAL : 0;
	uint64_t bind = mix('=', l->bind_id);
	int err = 0;

	if (pf_is_async(e->type))
		err = pf_record_put(r, PF_PIECE_ASYNC, flags, id_of(r, e));
	else if (e->type >= 'A' && strchr("stf", e->type))
		err = pf_record_put(r, e->type == 's' ? PF_PIECE_FLOW_BEGIN : e->type == 't' ? PF_PIECE_FLOW_STEP : PF_PIECE_FLOW_END,
			     flags | (e->type == 'f' && !l->binds_enclosing ? PF_ID_TO_NEXT : 0), id_of(r, e));
	if (!err && l->has_bind_id && l->flow_direction)
		err = pf_record_put(r, l->flow_direction == FLOW_OUT ? PF_PIECE_FLOW_BEGIN : PF_PIECE_FLOW_STEP, 0, bind);
	return err;
}
