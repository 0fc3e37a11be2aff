// SPDX-License-Identifier: GPL-2.0
/*
 * TrackEvent: slices, instants, counters and states, with all that is attached to them.
 */
#include "event.h"

#include <errno.h>

#define NS_PER_US	1000
#define CATEGORY_BYTES	1024U

/* ---- fields ---------------------------------------------------------------- */

/* Values of extra counters: the new count. */
static uint32_t read_values(struct pf_event_info *e, const struct pf_field *f, enum pf_wire wire, uint64_t *values,
			    uint32_t cnt)
{
	const uint32_t now = (uint32_t)pf_numbers(f, wire, values, cnt, PF_EXTRA_MAX);

	if (now == PF_EXTRA_MAX)
		e->extras_over += (uint32_t)pf_numbers_cnt(f, wire) - (now - cnt);
	return now;
}

/* Numbers of a repeated field; whether it was one. */
static bool read_numbers(struct pf_event_info *e, const struct pf_field *f)
{
	switch (f->number) {
	case PF_EVENT_CATEGORY_IIDS:
		e->has_more_categories |= e->iids_cnt + pf_numbers_cnt(f, PF_VARINT) > PF_CATEGORIES_MAX;
		e->iids_cnt = (uint32_t)pf_numbers(f, PF_VARINT, e->category_iids, e->iids_cnt, PF_CATEGORIES_MAX);
		return true;
	case PF_EVENT_EXTRA_UUIDS:
		e->uuids.ints_cnt = (uint8_t)pf_numbers(f, PF_VARINT, e->uuids.ints, e->uuids.ints_cnt, PF_EXTRA_MAX);
		return true;
	case PF_EVENT_EXTRA_VALUES:
		e->values_cnt = read_values(e, f, PF_VARINT, e->extra_values, e->values_cnt);
		return true;
	case PF_EVENT_EXTRA_DOUBLE_UUIDS:
		e->uuids.doubles_cnt = (uint8_t)pf_numbers(f, PF_VARINT, e->uuids.doubles, e->uuids.doubles_cnt, PF_EXTRA_MAX);
		return true;
	case PF_EVENT_EXTRA_DOUBLES:
		e->doubles_cnt = read_values(e, f, PF_FIXED64, e->extra_doubles, e->doubles_cnt);
		return true;
	default:
		return false;
	}
}

static uint32_t name_of_iid(struct pf_reader *r, const struct pf_sequence *q, enum pf_interned table, uint64_t iid)
{
	const struct pf_entry_data *entry = pf_sequence_find(q, table, iid);

	r->counts.unknown_ids += !entry;
	return entry ? entry->string : PF_NO_STRING;
}

static void read_number(struct pf_reader *r, const struct pf_sequence *q, struct pf_event_info *e,
			const struct pf_field *f)
{
	switch (f->number) {
	case PF_EVENT_TYPE:
		e->type = f->value > PF_TYPE_STATE ? UINT8_MAX : (uint8_t)f->value;
		break;
	case PF_EVENT_NAME_IID:
		e->name = name_of_iid(r, q, PF_INTERNED_EVENT_NAMES, f->value);
		break;
	case PF_EVENT_CATEGORY_IIDS:
		if (e->iids_cnt < PF_CATEGORIES_MAX)
			e->category_iids[e->iids_cnt++] = f->value;
		else
			e->has_more_categories = true;
		break;
	case PF_EVENT_TRACK_UUID:
		e->uuid = f->value;
		e->has_uuid = true;
		break;
	case PF_EVENT_TIME_DELTA_US:
	case PF_EVENT_TIME_US:
		e->time_kind = f->number == PF_EVENT_TIME_US ? PF_TIME_ABSOLUTE_US : PF_TIME_DELTA_US;
		e->time_us = (int64_t)f->value;
		break;
	case PF_EVENT_COUNTER_VALUE:
		e->value = f->value;
		e->value_flags = PF_HAS_NUMBER;
		break;
	default:
		e->has_pieces |= !read_numbers(e, f);
		break;
	}
}

static void read_bytes(struct pf_event_info *e, const struct pf_field *f)
{
	switch (f->number) {
	case PF_EVENT_ANNOTATIONS:
		e->has_pieces = true;
		break;
	case PF_EVENT_NAME:
		e->name_text = *f;
		break;
	case PF_EVENT_CATEGORIES:
		if (e->categories_cnt < PF_CATEGORIES_MAX)
			e->categories[e->categories_cnt++] = *f;
		else
			e->has_more_categories = true;
		break;
	case PF_EVENT_LEGACY:
		e->legacy = *f;
		break;
	default:
		e->has_pieces |= !read_numbers(e, f);
		break;
	}
}

static int read_event(struct pf_reader *r, struct pf_packet_info *p, struct pf_cursor m, struct pf_event_info *e)
{
	struct pf_field f;
	int got;

	while ((got = pf_next(&m, &f)) > 0) {
		if (f.wire == PF_VARINT) {
			read_number(r, p->q, e, &f);
		} else if (f.wire == PF_BYTES) {
			read_bytes(e, &f);
		} else if (pf_is(&f, PF_EVENT_DOUBLE_VALUE, PF_FIXED64)) {
			e->value = f.value;
			e->value_flags = PF_HAS_REAL;
		} else {
			e->has_pieces |= !read_numbers(e, &f);
		}
	}
	return got;
}

/* ---- name, categories, track ----------------------------------------------- */

/* "unknown(7)" if there is none of that id. */
static uint32_t category_of_iid(struct pf_reader *r, const struct pf_sequence *q, uint64_t iid)
{
	const struct pf_entry_data *entry = pf_sequence_find(q, PF_INTERNED_CATEGORIES, iid);

	if (entry)
		return entry->string;
	r->counts.unknown_ids++;
	pf_text_clear(r);
	pf_text_print(r, "unknown(%llu)", (unsigned long long)iid);
	return pf_string(r, r->text, r->text_len);
}

/* One is most likely; several are joined by commas, without those that are not known. */
static uint32_t find_category(struct pf_reader *r, const struct pf_packet_info *p, const struct pf_event_info *e)
{
	struct fxt_str s;
	uint32_t i;

	if (e->iids_cnt == 1 && !e->categories_cnt)
		return category_of_iid(r, p->q, e->category_iids[0]);
	if (!e->iids_cnt && !e->categories_cnt)
		return PF_NO_STRING;
	pf_text_clear(r);
	for (i = 0; i < e->iids_cnt; i++) {
		s = pf_pool_str(&r->pool, name_of_iid(r, p->q, PF_INTERNED_CATEGORIES, e->category_iids[i]));
		if (r->text_len && s.len)
			pf_text_add(r, ",", 1);
		pf_text_add(r, s.data, s.len);
	}
	for (i = 0; i < e->categories_cnt; i++) {
		if (r->text_len)
			pf_text_add(r, ",", 1);
		pf_text_add(r, e->categories[i].data, e->categories[i].len);
	}
	r->counts.cut_strings += e->has_more_categories && r->text_len <= CATEGORY_BYTES;
	return pf_string(r, r->text, pf_cut_len(r, r->text, r->text_len, CATEGORY_BYTES));
}

static int find_track(struct pf_reader *r, const struct pf_packet_info *p, struct pf_event_info *e)
{
	const struct pf_sequence *q = p->q;

	if (!e->has_uuid)
		e->uuid = q->has_track_uuid ? q->track_uuid : 0;
	/* Uuid 0 in a packet that has a type is a track, which hides the thread and the default of the sequence. */
	if (!e->uuid && q->has_thread && !(e->has_uuid && e->type))
		e->track = pf_track_by_thread(r, q->pid, q->tid);
	else
		e->track = pf_track_by_uuid(r, e->uuid);
	return e->track ? PF_USED : pf_track_error(r);
}

/* ---- counters -------------------------------------------------------------- */

/* What a counter counts up to; its multiplier comes later. */
static int sum_up(struct pf_reader *r, struct pf_sequence *q, uint32_t track, bool is_real, uint64_t *value)
{
	const struct pf_track_row *row = pf_track_row(r, track);
	struct pf_sum *sum;
	double real;

	if (!row->is_counter || !row->is_incremental)
		return 0;
	sum = pf_sequence_sum(q, row->uuid);
	if (!sum)
		return -ENOMEM;
	sum->real += is_real ? pf_double(*value) : 0;
	sum->number = (int64_t)((uint64_t)sum->number + (is_real ? 0 : *value));
	real = sum->real + (double)sum->number;
	if (is_real)
		memcpy(value, &real, sizeof(real));
	else
		*value = (uint64_t)sum->number;
	return 0;
}

/* Where the first event of the track is. */
static void note_place(const struct pf_reader *r, struct pf_track_row *row)
{
	if (row->packet)
		return;
	row->packet = r->packet_number;
	row->offset = r->packet_offset;
}

static int put_extra(struct pf_reader *r, struct pf_sequence *q, uint64_t uuid, uint64_t value, bool is_real)
{
	uint32_t track = pf_track_by_uuid(r, uuid);
	int err;

	if (!track && pf_track_error(r) < 0)
		return -ENOMEM;
	if (!track) {
		pf_drop_extra(r, r->packet_number, r->packet_offset);
		return 0;
	}
	note_place(r, pf_track_row(r, track));
	err = sum_up(r, q, track, is_real, &value);
	return err ? err : pf_record_put(r, is_real ? PF_PIECE_COUNTER_DOUBLE : PF_PIECE_COUNTER, track, value);
}

static int put_extras(struct pf_reader *r, struct pf_sequence *q, const struct pf_event_info *e)
{
	const struct pf_extra *ints = e->uuids.ints_cnt ? &e->uuids : &q->extra;
	const struct pf_extra *doubles = e->uuids.doubles_cnt ? &e->uuids : &q->extra;
	uint32_t i;
	int err = 0;

	for (i = 0; i < e->values_cnt && i < ints->ints_cnt && !err; i++)
		err = put_extra(r, q, ints->ints[i], e->extra_values[i], false);
	for (; i < e->values_cnt; i++)
		pf_drop_extra(r, r->packet_number, r->packet_offset);
	for (i = 0; i < e->doubles_cnt && i < doubles->doubles_cnt && !err; i++)
		err = put_extra(r, q, doubles->doubles[i], e->extra_doubles[i], true);
	for (; i < e->doubles_cnt; i++)
		pf_drop_extra(r, r->packet_number, r->packet_offset);
	for (i = 0; i < e->extras_over; i++)
		pf_drop_extra(r, r->packet_number, r->packet_offset);
	return err;
}

static int check_counter(struct pf_reader *r, struct pf_packet_info *p, struct pf_event_info *e)
{
	int err;

	if (!e->has_uuid && !p->q->has_track_uuid)
		return PF_NO_TRACK;
	if (!e->value_flags)
		return PF_NO_VALUE;
	err = sum_up(r, p->q, e->track, e->value_flags == PF_HAS_REAL, &e->value);
	return err ? err : PF_USED;
}

/* ---- what is attached ------------------------------------------------------ */

static int put_log(struct pf_reader *r, const struct pf_sequence *q, struct pf_cursor m)
{
	const struct pf_entry_data *body = NULL, *at = NULL;
	struct pf_field f;
	struct fxt_str s;
	int got = 0, err = 0;

	while (!err && (got = pf_next(&m, &f)) > 0) {
		if (pf_is(&f, PF_LOG_BODY_IID, PF_VARINT))
			body = pf_sequence_find(q, PF_INTERNED_LOG_BODIES, f.value);
		else if (pf_is(&f, PF_LOG_LOCATION_IID, PF_VARINT))
			at = pf_sequence_find(q, PF_INTERNED_LOCATIONS, f.value);
		else if (pf_is(&f, PF_LOG_PRIO, PF_VARINT))
			err = pf_record_put(r, PF_PIECE_INT, pf_word(r, "prio"), f.value);
	}
	if (err || got < 0)
		return err ? err : got;
	if (at && at->raw)
		err = pf_put_location(r, q, pf_entry_message(at), "source");
	if (err || !body)
		return err;
	s = pf_pool_str(&r->pool, body->string);
	err = pf_record_put(r, PF_PIECE_STRING, pf_word(r, "message"), body->string);
	return err ? err : pf_record_put_text(r, PF_PIECE_LOG, 0, s.data, s.len);
}

static int put_location_iid(struct pf_reader *r, const struct pf_sequence *q, uint64_t iid, const char *prefix)
{
	const struct pf_entry_data *at = pf_sequence_find(q, PF_INTERNED_LOCATIONS, iid);

	r->counts.unknown_ids += !at;
	return at && at->raw ? pf_put_location(r, q, pf_entry_message(at), prefix) : 0;
}

static int put_bytes(struct pf_reader *r, const struct pf_sequence *q, const struct pf_field *f)
{
	struct pf_field iid;

	switch (f->number) {
	case PF_EVENT_ANNOTATIONS:
		return pf_put_annotation(r, q, pf_inner(f));
	case PF_EVENT_LOCATION:
		return pf_put_location(r, q, pf_inner(f), "source");
	case PF_EVENT_LOG_MESSAGE:
		return put_log(r, q, pf_inner(f));
	case PF_EVENT_CALLSTACK:
		return pf_put_inline_callstack(r, pf_inner(f));
	case PF_EVENT_CORRELATION_STR:
		return pf_record_put_text(r, PF_PIECE_TEXT, pf_word(r, "correlation_id"), f->data, f->len);
	case PF_EVENT_TASK_EXECUTION:
		if (!pf_find(pf_inner(f), PF_TASK_POSTED_FROM_IID, PF_VARINT, &iid))
			return 0;
		return put_location_iid(r, q, iid.value, "task.posted_from");
	case PF_EVENT_NAME:
	case PF_EVENT_CATEGORIES:
	case PF_EVENT_LEGACY:
		return 0;
	default:
		pf_tally(&r->counts.event_fields, f->number);
		return 0;
	}
}

/* Times of the thread, in ns as all our times; deltas add up. */
static int put_thread_time(struct pf_reader *r, struct pf_sequence *q, const struct pf_field *f)
{
	if (f->number == PF_EVENT_THREAD_TIME_DELTA_US)
		q->thread_time_us = (int64_t)((uint64_t)q->thread_time_us + f->value);
	else
		q->thread_time_us = (int64_t)f->value;
	return pf_record_put(r, PF_PIECE_INT, pf_word(r, "thread_time_ns"), (uint64_t)q->thread_time_us * NS_PER_US);
}

static int put_instructions(struct pf_reader *r, struct pf_sequence *q, const struct pf_field *f)
{
	if (f->number == PF_EVENT_INSTRUCTIONS_DELTA)
		q->instructions = (int64_t)((uint64_t)q->instructions + f->value);
	else
		q->instructions = (int64_t)f->value;
	return pf_record_put(r, PF_PIECE_INT, pf_word(r, "thread_instruction_count"), (uint64_t)q->instructions);
}

static int put_number(struct pf_reader *r, struct pf_sequence *q, const struct pf_field *f)
{
	const struct pf_entry_data *text;
	bool is_known;

	switch (f->number) {
	case PF_EVENT_THREAD_TIME_DELTA_US:
	case PF_EVENT_THREAD_TIME_US:
		return put_thread_time(r, q, f);
	case PF_EVENT_INSTRUCTIONS_DELTA:
	case PF_EVENT_INSTRUCTIONS:
		return put_instructions(r, q, f);
	case PF_EVENT_LOCATION_IID:
		return put_location_iid(r, q, f->value, "source");
	case PF_EVENT_CALLSTACK_IID:
		return pf_put_callstack(r, q, f->value, &is_known);
	case PF_EVENT_CORRELATION_ID:
		return pf_record_put(r, PF_PIECE_UINT, pf_word(r, "correlation_id"), f->value);
	case PF_EVENT_CORRELATION_IID:
		text = pf_sequence_find(q, PF_INTERNED_CORRELATION_IDS, f->value);
		return text ? pf_record_put(r, PF_PIECE_STRING, pf_word(r, "correlation_id"), text->string) : 0;
	case PF_EVENT_TYPE: case PF_EVENT_NAME_IID: case PF_EVENT_TRACK_UUID: case PF_EVENT_COUNTER_VALUE:
	case PF_EVENT_TIME_DELTA_US: case PF_EVENT_TIME_US: case PF_EVENT_CATEGORY_IIDS:
	case PF_EVENT_EXTRA_UUIDS: case PF_EVENT_EXTRA_VALUES: case PF_EVENT_EXTRA_DOUBLE_UUIDS:
		return 0;
	default:
		pf_tally(&r->counts.event_fields, f->number);
		return 0;
	}
}

/* Flow ids, of either type; false: the field is another one. */
static bool is_flow(const struct pf_field *f)
{
	return f->number == PF_EVENT_FLOW_IDS || f->number == PF_EVENT_FLOW_IDS_OLD ||
	       f->number == PF_EVENT_TERMINATING || f->number == PF_EVENT_TERMINATING_OLD;
}

static int put_flows(struct pf_reader *r, const struct pf_field *f)
{
	bool is_old = f->number == PF_EVENT_FLOW_IDS_OLD || f->number == PF_EVENT_TERMINATING_OLD;
	bool ends = f->number == PF_EVENT_TERMINATING || f->number == PF_EVENT_TERMINATING_OLD;
	const enum pf_piece_kind kind = ends ? PF_PIECE_FLOW_END : PF_PIECE_FLOW;
	const enum pf_wire wire = is_old ? PF_VARINT : PF_FIXED64;
	struct pf_cursor packed = pf_inner(f);
	uint64_t id;
	int err = f->wire == wire ? pf_record_put(r, kind, 0, f->value) : 0;

	while (!err && f->wire == PF_BYTES && pf_next_number(&packed, wire, &id))
		err = pf_record_put(r, kind, 0, id);
	return err;
}

static int put_pieces(struct pf_reader *r, struct pf_packet_info *p, struct pf_cursor m, const struct pf_event_info *e)
{
	struct pf_field f;
	int err = put_extras(r, p->q, e);

	if (!err && e->is_legacy)
		err = pf_put_legacy(r, e);
	while (!err && e->has_pieces && pf_next(&m, &f) > 0) {
		if (is_flow(&f))
			err = put_flows(r, &f);
		else if (f.wire == PF_BYTES)
			err = put_bytes(r, p->q, &f);
		else if (f.wire == PF_VARINT)
			err = put_number(r, p->q, &f);
		else if (pf_is(&f, PF_EVENT_CALLSTACK_WEIGHT, PF_FIXED64))
			err = pf_record_put(r, PF_PIECE_DOUBLE, pf_word(r, "callstack_weight"), f.value);
		else if (f.number != PF_EVENT_DOUBLE_VALUE && f.number != PF_EVENT_EXTRA_DOUBLES)
			pf_tally(&r->counts.event_fields, f.number);
	}
	return err;
}

/* ---- the event ------------------------------------------------------------- */

static int emit(struct pf_reader *r, const struct pf_packet_info *p, const struct pf_event_info *e)
{
	if (p->has_timestamp && p->converted == PF_CONVERTED)
		pf_note_slice(r, e->track, e->type, p->ns);
	return pf_emit_packet(r, p, PF_RANK_OTHER);
}

/* Times of their own are of CLOCK_MONOTONIC. */
static int emit_own_time(struct pf_reader *r, const struct pf_packet_info *p, const struct pf_event_info *e)
{
	const int64_t us = e->time_kind == PF_TIME_DELTA_US ? p->q->time_us : e->time_us;
	struct pf_packet_info at = *p;

	if (us < 0 || us > INT64_MAX / NS_PER_US)
		return PF_BAD_TIME;
	at.has_timestamp = true;
	at.clock_key = PF_CLOCK_MONOTONIC;
	at.converted = pf_clocks_time(&r->clocks, at.clock_key, (uint64_t)us * NS_PER_US, &at.ns);
	return emit(r, &at, e);
}

/* Its name is that of a track which has none. */
static void find_name(struct pf_reader *r, struct pf_event_info *e, bool *is_long)
{
	struct pf_track_row *row = e->track ? pf_track_row(r, e->track) : NULL;

	*is_long = false;
	if (e->name_text.len) {
		e->name = pf_pool_add_below(&r->pool, e->name_text.data, e->name_text.len < PF_STRING_BYTES_MAX ?
					    e->name_text.len : PF_STRING_BYTES_MAX, PF_VALUE_BYTES);
		*is_long = e->name == PF_POOL_FULL;
		if (*is_long)
			e->name = PF_NO_STRING;
	}
	if (row && !row->first_name)
		row->first_name = e->name;
	if (row)
		note_place(r, row);
}

static int judge(struct pf_reader *r, struct pf_packet_info *p, struct pf_event_info *e)
{
	int fate = find_track(r, p, e);

	if (fate == PF_USED && e->legacy.data)
		fate = pf_legacy_event(r, p, e);
	if (fate != PF_USED)
		return fate;
	if (!e->type || e->type == UINT8_MAX)
		return PF_NO_TYPE;
	return e->type == PF_TYPE_COUNTER ? check_counter(r, p, e) : PF_USED;
}

int pf_track_event(struct pf_reader *r, struct pf_packet_info *p, struct pf_cursor message)
{
	struct pf_event_info e;
	struct pf_record head;
	bool is_long;
	int fate, err;

	memset(&e, 0, offsetof(struct pf_event_info, name_text));
	e.name_text.data = e.legacy.data = NULL;
	e.name_text.len = e.legacy.len = 0;
	e.uuids.ints_cnt = e.uuids.doubles_cnt = 0;
	if (read_event(r, p, message, &e))
		return PF_DAMAGED;
	if (e.time_kind == PF_TIME_DELTA_US && !p->q->has_reference)
		return PF_NO_THREAD;
	if (e.time_kind == PF_TIME_DELTA_US)
		p->q->time_us = (int64_t)((uint64_t)p->q->time_us + (uint64_t)e.time_us);
	fate = judge(r, p, &e);
	if (fate != PF_USED)
		return fate;
	if (e.type == PF_TYPE_END && e.has_uuid && (fate = pf_end_held(r, p, e.uuid)) != 0)
		return fate;
	err = pf_release_begin(r);
	if (err)
		return err;
	find_name(r, &e, &is_long);
	e.category = find_category(r, p, &e);
	head = (struct pf_record){
		.kind = PF_RECORD_EVENT, .type = e.type, .cpu = e.value_flags, .track = e.track, .name = e.name,
		.category = e.category, .bits = e.value,
	};
	err = pf_record_begin(r, &head, sizeof(head));
	if (!err && is_long)
		err = pf_record_put_text(r, PF_PIECE_NAME, 0, e.name_text.data, e.name_text.len);
	if (!err && (e.has_pieces || e.is_legacy || e.values_cnt || e.doubles_cnt))
		err = put_pieces(r, p, message, &e);
	if (err)
		return err;
	if (e.time_kind != PF_TIME_PACKET)
		return emit_own_time(r, p, &e);
	if (!r->is_recorded || e.type != PF_TYPE_BEGIN || !e.has_uuid)
		return emit(r, p, &e);
	pf_hold_begin(r, p, e.uuid);
	return PF_USED;
}
