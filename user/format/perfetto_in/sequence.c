// SPDX-License-Identifier: GPL-2.0
/*
 * Interned data by table and id in one map. Strings are numbers of the pool; messages are kept as they
 * are and read when they are used.
 */
#include "sequence.h"

#include <errno.h>
#include <stdlib.h>

#include "base/array.h"

#define ID_BITS		57	/* of an id; none has more */
#define NS_PER_S	1000000000ULL

/* Tables whose entries are read later. */
static bool is_message(uint32_t table)
{
	return table == PF_INTERNED_LOCATIONS || table == PF_INTERNED_FRAMES || table == PF_INTERNED_CALLSTACKS ||
	       table == PF_INTERNED_MAPPINGS;
}

/* Strings that may be other ones in each event. */
static bool is_value(uint32_t table)
{
	return table == PF_INTERNED_ANNOTATION_STRINGS || table == PF_INTERNED_LOG_BODIES || table == PF_INTERNED_CORRELATION_IDS;
}

static struct pf_sequence *sequence_new(struct pf_sequences *s, uint32_t id)
{
	struct pf_sequence *q;

	if (s->cnt >= PF_SEQUENCES_MAX || array_reserve(s->all, s->cnt, s->cap, 1))
		return NULL;
	q = calloc(1, sizeof(*q));
	if (!q || map_add(&s->by_id, id, s->cnt)) {
		free(q);
		return NULL;
	}
	q->id = id;
	s->all[s->cnt++] = q;
	return q;
}

struct pf_sequence *pf_sequence_get(struct pf_sequences *s, uint32_t id)
{
	uint32_t i;

	if (s->last && s->last->id == id)
		return s->last;
	i = map_get(&s->by_id, id);
	s->last = i == MAP_NONE ? sequence_new(s, id) : s->all[i];
	return s->last;
}

/* ---- interned data --------------------------------------------------------- */

static uint64_t key_of(uint32_t table, uint64_t id)
{
	return (uint64_t)table << ID_BITS | id;
}

static bool is_usable(uint32_t table, uint64_t id)
{
	return id >> ID_BITS == 0 && table < 1U << (64 - ID_BITS);
}

static struct pf_entry_data *entry_get(struct pf_sequences *s, struct pf_sequence *q, uint64_t key)
{
	uint32_t i = map_get(&q->by_id, key);

	if (i != MAP_NONE) {
		s->raw_bytes -= q->entries[i].raw ? q->entries[i].len : 0;
		free(q->entries[i].raw);
		return &q->entries[i];
	}
	if (q->entries_cnt >= PF_ENTRIES_MAX || array_reserve(q->entries, q->entries_cnt, q->entries_cap, 1) ||
	    map_add(&q->by_id, key, q->entries_cnt))
		return NULL;
	return &q->entries[q->entries_cnt++];
}

static int keep_message(struct pf_sequences *s, struct pf_entry_data *e, const struct pf_field *f)
{
	if (!f->len)
		return 0;
	if (f->len > PF_RAW_BYTES_MAX - s->raw_bytes) {
		s->entries_dropped++;
		return 0;
	}
	e->raw = malloc(f->len);
	if (!e->raw)
		return -ENOMEM;
	memcpy(e->raw, f->data, f->len);
	e->len = (uint32_t)f->len;
	s->raw_bytes += f->len;
	return 0;
}

int pf_sequence_add(struct pf_sequences *s, struct pf_sequence *q, struct pf_pool *pool, const struct pf_field *entry)
{
	struct pf_field f, text = { 0 };
	struct pf_cursor m = pf_inner(entry);
	struct pf_entry_data *e;
	uint64_t id = 0;
	int got;

	while ((got = pf_next(&m, &f)) > 0) {
		if (pf_is(&f, PF_ENTRY_IID, PF_VARINT))
			id = f.value;
		else if (pf_is(&f, PF_ENTRY_STRING, PF_BYTES))
			text = f;
	}
	if (got < 0)
		return got;
	e = is_usable(entry->number, id) ? entry_get(s, q, key_of(entry->number, id)) : NULL;
	if (!e) {
		s->entries_dropped++;
		return 0;
	}
	*e = (struct pf_entry_data){ 0 };
	if (is_message(entry->number))
		return keep_message(s, e, entry);
	e->string = pf_pool_add_below(pool, text.data, text.len, is_value(entry->number) ? PF_STACK_BYTES : PF_POOL_BYTES);
	if (e->string == PF_POOL_FULL) {
		e->string = PF_NO_STRING;
		s->entries_dropped++;
	}
	return 0;
}

int pf_sequence_intern(struct pf_sequences *s, struct pf_sequence *q, struct pf_pool *pool, struct pf_cursor message)
{
	struct pf_field f;
	int got, err = 0;

	while (!err && (got = pf_next(&message, &f)) > 0)
		if (f.wire == PF_BYTES)
			err = pf_sequence_add(s, q, pool, &f);
	return err ? err : got;
}

const struct pf_entry_data *pf_sequence_find(const struct pf_sequence *q, enum pf_interned table, uint64_t id)
{
	uint32_t i = is_usable(table, id) ? map_get(&q->by_id, key_of(table, id)) : MAP_NONE;

	return i == MAP_NONE ? NULL : &q->entries[i];
}

/* ---- defaults, sums -------------------------------------------------------- */

static int track_defaults(struct pf_sequence *q, struct pf_cursor m)
{
	struct pf_field f;
	int got;

	q->has_track_uuid = false;
	q->extra = (struct pf_extra){ 0 };
	while ((got = pf_next(&m, &f)) > 0) {
		if (pf_is(&f, PF_TRACK_DEFAULTS_UUID, PF_VARINT)) {
			q->track_uuid = f.value;
			q->has_track_uuid = true;
		} else if (f.number == PF_TRACK_DEFAULTS_EXTRA_UUIDS) {
			q->extra.ints_cnt = (uint8_t)pf_numbers(&f, PF_VARINT, q->extra.ints, q->extra.ints_cnt,
								PF_EXTRA_MAX);
		} else if (f.number == PF_TRACK_DEFAULTS_EXTRA_DOUBLE_UUIDS) {
			q->extra.doubles_cnt = (uint8_t)pf_numbers(&f, PF_VARINT, q->extra.doubles,
								   q->extra.doubles_cnt, PF_EXTRA_MAX);
		}
	}
	return got;
}

static void perf_defaults(struct pf_sequence *q, struct pf_cursor m)
{
	uint64_t period = 0, frequency = 0;
	struct pf_field base, f;

	if (!pf_find(m, PF_SAMPLE_DEFAULTS_TIMEBASE, PF_BYTES, &base))
		return;
	if (pf_find(pf_inner(&base), PF_TIMEBASE_FREQUENCY, PF_VARINT, &f))
		frequency = f.value;
	/* Of the clock it is a time, of other counters a number of events. */
	if (!pf_find(pf_inner(&base), PF_TIMEBASE_COUNTER, PF_VARINT, &f) || f.value == PF_TIMEBASE_CPU_CLOCK)
		period = pf_find(pf_inner(&base), PF_TIMEBASE_PERIOD, PF_VARINT, &f) ? f.value : 0;
	q->sample_period_ns = frequency ? (NS_PER_S + frequency / 2) / frequency : period;
}

static void stack_defaults(struct pf_sequence *q, struct pf_pool *pool, struct pf_cursor m)
{
	struct pf_field f;

	if (pf_find(m, PF_STACK_DEFAULTS_SOURCE, PF_BYTES, &f))
		q->stack_source = pf_pool_add(pool, f.data, f.len);
	if (q->stack_source == PF_POOL_FULL)
		q->stack_source = PF_NO_STRING;
}

static void forget_defaults(struct pf_sequence *q)
{
	q->clock_id = 0;
	q->has_track_uuid = false;
	q->extra = (struct pf_extra){ 0 };
	q->stack_source = 0;
	q->sample_period_ns = 0;
	q->perf_cnt = 0;
}

int pf_sequence_defaults(struct pf_sequence *q, struct pf_pool *pool, struct pf_cursor message)
{
	struct pf_field f;
	int got, err = 0;

	forget_defaults(q);
	while (!err && (got = pf_next(&message, &f)) > 0) {
		if (pf_is(&f, PF_PACKET_CLOCK_ID, PF_VARINT))
			q->clock_id = (uint32_t)f.value;
		else if (pf_is(&f, PF_DEFAULTS_TRACK_EVENT, PF_BYTES))
			err = track_defaults(q, pf_inner(&f));
		else if (pf_is(&f, PF_DEFAULTS_PERF_SAMPLE, PF_BYTES))
			perf_defaults(q, pf_inner(&f));
		else if (pf_is(&f, PF_DEFAULTS_STACK_SAMPLE, PF_BYTES))
			stack_defaults(q, pool, pf_inner(&f));
	}
	return err ? err : got;
}

struct pf_sum *pf_sequence_sum(struct pf_sequence *q, uint64_t uuid)
{
	uint32_t i = map_get(&q->sums_by_uuid, uuid);

	if (i != MAP_NONE)
		return &q->sums[i];
	if (array_reserve(q->sums, q->sums_cnt, q->sums_cap, 1) || map_add(&q->sums_by_uuid, uuid, q->sums_cnt))
		return NULL;
	q->sums[q->sums_cnt] = (struct pf_sum){ 0 };
	return &q->sums[q->sums_cnt++];
}

/* ---- the end --------------------------------------------------------------- */

void pf_sequence_clear(struct pf_sequences *s, struct pf_sequence *q, bool defaults)
{
	uint32_t i;

	for (i = 0; i < q->entries_cnt; i++) {
		s->raw_bytes -= q->entries[i].raw ? q->entries[i].len : 0;
		free(q->entries[i].raw);
	}
	q->entries_cnt = 0;
	q->sums_cnt = 0;
	map_fini(&q->by_id);
	map_fini(&q->sums_by_uuid);
	if (defaults)
		forget_defaults(q);
}

void pf_sequences_fini(struct pf_sequences *s)
{
	uint32_t i;

	for (i = 0; i < s->cnt; i++) {
		pf_sequence_clear(s, s->all[i], true);
		free(s->all[i]->entries);
		free(s->all[i]->sums);
		free(s->all[i]);
	}
	free(s->all);
	map_fini(&s->by_id);
}
