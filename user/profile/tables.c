// SPDX-License-Identifier: GPL-2.0
/*
 * Interned data by table and iid. Entries may come in any order and refer to what is not there, so that
 * references are looked up when a sample needs them.
 */
#include "tables.h"

#include <errno.h>
#include <stdlib.h>

#include "base/array.h"

#define NS_PER_S	1000000000ULL
#define BUILD_ID_MAX	64U	/* bytes */

static uint64_t key_of(enum pf_interned table, uint32_t iid)
{
	return (uint64_t)table << 32 | iid;
}

static uint32_t find(const struct profile_tables *t, enum pf_interned table, uint64_t iid)
{
	return iid && iid <= UINT32_MAX ? map_get(&t->by_iid, key_of(table, (uint32_t)iid)) : MAP_NONE;
}

/* iids of 32 bits: no entry has another one. */
static uint32_t iid_of(uint64_t value)
{
	return value <= UINT32_MAX ? (uint32_t)value : 0;
}

/* ---- entries --------------------------------------------------------------- */

/* What an entry is becomes *@value: 0, -ENOSPC if it is dropped, -EBADMSG or -ENOMEM. */
typedef int entry_fn(struct profile_tables *t, struct pf_cursor m, uint32_t *value);

static int add_text(struct profile_tables *t, const void *data, size_t len, uint32_t *value)
{
	*value = pf_pool_add(&t->strings, data, len);
	return *value == PF_POOL_FULL ? -ENOSPC : 0;
}

static int add_string(struct profile_tables *t, struct pf_cursor m, uint32_t *value)
{
	struct pf_field f;

	if (!pf_find(m, PF_ENTRY_STRING, PF_BYTES, &f))
		f.len = 0;
	return add_text(t, f.len ? f.data : NULL, f.len, value);
}

/* Bytes, kept as hexadecimal text. */
static int add_build_id(struct profile_tables *t, struct pf_cursor m, uint32_t *value)
{
	static const char digits[] = "0123456789abcdef";
	char text[2 * BUILD_ID_MAX];
	struct pf_field f;
	size_t i;

	if (!pf_find(m, PF_ENTRY_STRING, PF_BYTES, &f))
		f.len = 0;
	for (i = 0; i < f.len && i < BUILD_ID_MAX; i++) {
		text[2 * i] = digits[f.data[i] >> 4];
		text[2 * i + 1] = digits[f.data[i] & 15];
	}
	return add_text(t, text, 2 * i, value);
}

static int add_mapping(struct profile_tables *t, struct pf_cursor m, uint32_t *value)
{
	struct profile_entry_mapping mapping = { 0 };
	struct pf_field f;
	int got;

	while ((got = pf_next(&m, &f)) > 0) {
		if (pf_is(&f, PF_MAPPING_BUILD_ID, PF_VARINT))
			mapping.build_id = iid_of(f.value);
		else if (pf_is(&f, PF_MAPPING_PATH_IDS, PF_VARINT))
			mapping.path = iid_of(f.value);
	}
	if (!got && array_reserve(t->mappings, t->mappings_cnt, t->mappings_cap, 1))
		return -ENOMEM;
	*value = t->mappings_cnt;
	if (!got)
		t->mappings[t->mappings_cnt++] = mapping;
	return got;
}

static void take_frame_field(struct profile_entry_frame *frame, const struct pf_field *f)
{
	switch (f->wire == PF_VARINT ? f->number : 0) {
	case PF_FRAME_FUNCTION:
		frame->name = iid_of(f->value);
		break;
	case PF_FRAME_MAPPING:
		frame->mapping = iid_of(f->value);
		break;
	case PF_FRAME_REL_PC:
		frame->f.rel_pc = f->value;
		break;
	case PF_FRAME_SOURCE_PATH:
		frame->source_path = iid_of(f->value);
		break;
	case PF_FRAME_LINE:
		frame->f.line = iid_of(f->value);
		break;
	case PF_FRAME_KIND:
		frame->f.kind = f->value < PROFILE_FRAME_KIND_CNT ? (enum profile_frame_kind)f->value : 0;
		break;
	}
}

static int add_frame(struct profile_tables *t, struct pf_cursor m, uint32_t *value)
{
	struct profile_entry_frame frame = { 0 };
	struct pf_field f;
	int got;

	while ((got = pf_next(&m, &f)) > 0)
		take_frame_field(&frame, &f);
	if (!got && array_reserve(t->frames, t->frames_cnt, t->frames_cap, 1))
		return -ENOMEM;
	*value = t->frames_cnt;
	if (!got)
		t->frames[t->frames_cnt++] = frame;
	return got;
}

static int add_iid(struct profile_tables *t, uint64_t iid)
{
	if (t->iids_cnt >= PROFILE_IIDS_MAX)
		return -ENOSPC;
	if (array_reserve(t->iids, t->iids_cnt, t->iids_cap, 1))
		return -ENOMEM;
	t->iids[t->iids_cnt++] = iid_of(iid);
	return 0;
}

/* The frames may be packed. */
static int add_frame_iids(struct profile_tables *t, const struct pf_field *f)
{
	struct pf_cursor packed = pf_inner(f);
	uint64_t iid;
	int err = 0;

	if (f->wire == PF_VARINT)
		return add_iid(t, f->value);
	if (f->wire != PF_BYTES)
		return 0;
	while (!err && packed.at < packed.end)
		err = pf_varint(&packed, &iid) ? add_iid(t, iid) : -EBADMSG;
	return err;
}

static int add_stack(struct profile_tables *t, struct pf_cursor m, uint32_t *value)
{
	uint32_t first = t->iids_cnt;
	struct pf_field f;
	int got = 0, err = 0;

	while (!err && (got = pf_next(&m, &f)) > 0)
		if (f.number == PF_CALLSTACK_FRAMES)
			err = add_frame_iids(t, &f);
	err = err ? err : got;
	if (!err && array_reserve(t->stacks, t->stacks_cnt, t->stacks_cap, 1))
		err = -ENOMEM;
	if (err) {
		t->iids_cnt = first;
		return err;
	}
	*value = t->stacks_cnt;
	t->stacks[t->stacks_cnt++] = (struct profile_entry_stack){ first, t->iids_cnt - first };
	return 0;
}

static entry_fn *entry_of(uint32_t table)
{
	switch (table) {
	case PF_INTERNED_FUNCTIONS:
	case PF_INTERNED_MAPPING_PATHS:
	case PF_INTERNED_SOURCE_PATHS:
		return add_string;
	case PF_INTERNED_BUILD_IDS:
		return add_build_id;
	case PF_INTERNED_MAPPINGS:
		return add_mapping;
	case PF_INTERNED_FRAMES:
		return add_frame;
	case PF_INTERNED_CALLSTACKS:
		return add_stack;
	default:
		return NULL;
	}
}

static int add_entry(struct profile_tables *t, const struct pf_field *entry, struct profile_stats *stats)
{
	entry_fn *fn = entry->wire == PF_BYTES ? entry_of(entry->number) : NULL;
	struct pf_field f;
	uint32_t value, iid;
	int err;

	if (!fn)
		return 0;
	iid = pf_find(pf_inner(entry), PF_ENTRY_IID, PF_VARINT, &f) ? iid_of(f.value) : 0;
	if (find(t, entry->number, iid) != MAP_NONE)
		return 0;
	err = iid && t->by_iid.cnt < PROFILE_ENTRIES_MAX ? fn(t, pf_inner(entry), &value) : -ENOSPC;
	if (err == -ENOSPC) {
		stats->dropped++;
		return 0;
	}
	return err ? err : map_add(&t->by_iid, key_of(entry->number, iid), value);
}

int profile_tables_intern(struct profile_tables *t, struct pf_cursor message, struct profile_stats *stats)
{
	struct pf_field f;
	int got = 0, err = 0;

	while (!err && (got = pf_next(&message, &f)) > 0)
		err = add_entry(t, &f, stats);
	return err ? err : got;
}

/* ---- defaults -------------------------------------------------------------- */

static int take_timebase(struct profile_tables *t, struct pf_cursor m)
{
	uint64_t period = 0, frequency = 0, counter = PF_TIMEBASE_CPU_CLOCK;
	struct pf_field f;
	int got;

	while ((got = pf_next(&m, &f)) > 0) {
		if (pf_is(&f, PF_TIMEBASE_PERIOD, PF_VARINT))
			period = f.value;
		else if (pf_is(&f, PF_TIMEBASE_FREQUENCY, PF_VARINT))
			frequency = f.value;
		else if (pf_is(&f, PF_TIMEBASE_COUNTER, PF_VARINT))
			counter = f.value;
	}
	/* Periods of other counters are no times. */
	if (frequency)
		t->period_ns = (NS_PER_S + frequency / 2) / frequency;
	else if (counter == PF_TIMEBASE_CPU_CLOCK)
		t->period_ns = period;
	return got;
}

static void take_source(struct profile_tables *t, const struct pf_field *name)
{
	struct fxt_str s;

	t->source_name = pf_pool_add(&t->source_names, name->data, name->len);
	s = pf_pool_str(&t->source_names, t->source_name);
	for (t->source = PROFILE_OFF_CPU; t->source < PROFILE_OTHER; t->source++)
		if (s.len == strlen(profile_source_name(t->source)) &&
		    !memcmp(s.data, profile_source_name(t->source), s.len))
			break;
}

int profile_tables_defaults(struct profile_tables *t, struct pf_cursor message)
{
	struct pf_field f, inner;
	int got, err = 0;

	t->period_ns = 0;
	t->clock_id = 0;
	t->source = PROFILE_OTHER;
	t->source_name = 0;
	while (!err && (got = pf_next(&message, &f)) > 0) {
		if (pf_is(&f, PF_PACKET_CLOCK_ID, PF_VARINT))
			t->clock_id = (uint32_t)f.value;
		else if (pf_is(&f, PF_DEFAULTS_PERF_SAMPLE, PF_BYTES) &&
			 pf_find(pf_inner(&f), PF_SAMPLE_DEFAULTS_TIMEBASE, PF_BYTES, &inner))
			err = take_timebase(t, pf_inner(&inner));
		else if (pf_is(&f, PF_DEFAULTS_STACK_SAMPLE, PF_BYTES) &&
			 pf_find(pf_inner(&f), PF_STACK_DEFAULTS_SOURCE, PF_BYTES, &inner))
			take_source(t, &inner);
	}
	return err ? err : got;
}

/* ---- stacks ---------------------------------------------------------------- */

static struct fxt_str string_of(const struct profile_tables *t, enum pf_interned table, uint32_t iid, uint64_t *unknown)
{
	uint32_t number = find(t, table, iid);

	*unknown += iid && number == MAP_NONE;
	return pf_pool_str(&t->strings, number == MAP_NONE ? PF_NO_STRING : number);
}

static void resolve(struct profile_tables *t, struct profile_entry_frame *frame, uint64_t *unknown)
{
	uint32_t i = find(t, PF_INTERNED_MAPPINGS, frame->mapping);
	struct profile_entry_mapping mapping = { 0 };

	if (i != MAP_NONE)
		mapping = t->mappings[i];
	*unknown += frame->mapping && i == MAP_NONE;
	frame->f.name = string_of(t, PF_INTERNED_FUNCTIONS, frame->name, unknown);
	frame->f.source_file = string_of(t, PF_INTERNED_SOURCE_PATHS, frame->source_path, unknown);
	frame->f.mapping = string_of(t, PF_INTERNED_MAPPING_PATHS, mapping.path, unknown);
	frame->f.build_id = string_of(t, PF_INTERNED_BUILD_IDS, mapping.build_id, unknown);
	frame->is_resolved = true;
}

bool profile_tables_stack(struct profile_tables *t, uint64_t iid, struct profile_frame *frames, unsigned int *cnt,
			  struct profile_stats *stats)
{
	uint32_t i = find(t, PF_INTERNED_CALLSTACKS, iid), at;
	struct profile_entry_stack stack;

	if (i == MAP_NONE)
		return false;
	stack = t->stacks[i];
	/* Of more the innermost ones. */
	if (stack.cnt > PROFILE_FRAMES_MAX)
		stack = (struct profile_entry_stack){ stack.first + stack.cnt - PROFILE_FRAMES_MAX, PROFILE_FRAMES_MAX };
	for (i = 0; i < stack.cnt; i++) {
		at = find(t, PF_INTERNED_FRAMES, t->iids[stack.first + i]);
		if (at == MAP_NONE) {
			stats->unknown_frames++;
			frames[i] = (struct profile_frame){ .name = fxt_str("[unknown]") };
			continue;
		}
		if (!t->frames[at].is_resolved)
			resolve(t, &t->frames[at], &stats->unknown_frames);
		frames[i] = t->frames[at].f;
	}
	*cnt = stack.cnt;
	return true;
}

void profile_tables_clear(struct profile_tables *t)
{
	map_fini(&t->by_iid);
	pf_pool_fini(&t->strings);
	pf_pool_fini(&t->source_names);
	free(t->frames);
	free(t->stacks);
	free(t->mappings);
	free(t->iids);
	*t = (struct profile_tables){ .source = PROFILE_OTHER };
}
