// SPDX-License-Identifier: GPL-2.0
/*
 * Counters of batteries, power rails and GPUs.
 */
#include <errno.h>

#include "reader_p.h"

#define NS_PER_MS	1000000
#define ANY_GPU		0x3fffffffU
#define NAME_BYTES	128U	/* of a name in the trace that goes into that of a counter */

static void add_name(struct pf_reader *r, const struct pf_field *f)
{
	pf_text_add(r, f->data, f->len < NAME_BYTES ? f->len : NAME_BYTES);
}

/* ---- batteries ------------------------------------------------------------- */

static const struct {
	uint32_t number;
	const char *name;
} battery_rows[] = {
	{ 1, "charge_uah" }, { 2, "capacity_pct" }, { 3, "current_ua" }, { 4, "current.avg_ua" }, { 6, "energy_uwh" },
	{ 7, "voltage_uv" },
};

static int put_battery(struct pf_reader *r, const struct pf_field *f, const struct pf_field *of)
{
	size_t i;

	for (i = 0; i < sizeof(battery_rows) / sizeof(battery_rows[0]) && battery_rows[i].number != f->number; i++)
		;
	if (i == sizeof(battery_rows) / sizeof(battery_rows[0]) || (f->wire != PF_VARINT && f->wire != PF_FIXED32))
		return 0;
	pf_text_clear(r);
	pf_text_print(r, "batt.");
	add_name(r, of);
	pf_text_print(r, "%s%s", of->len ? "." : "", battery_rows[i].name);
	if (f->wire == PF_VARINT)
		return pf_put_counter(r, PF_PIECE_COUNTER, f->value);
	return pf_put_counter(r, PF_PIECE_COUNTER_DOUBLE, pf_bits_of_float(f->value));
}

int pf_battery(struct pf_reader *r, struct pf_packet_info *p, struct pf_cursor message)
{
	const struct pf_record head = { .kind = PF_RECORD_COUNTER };
	int got = 0, err = pf_record_begin(r, &head, sizeof(head));
	struct pf_field f, name;

	pf_find(message, PF_BATTERY_NAME, PF_BYTES, &name);
	while (!err && (got = pf_next(&message, &f)) > 0)
		err = put_battery(r, &f, &name);
	if (err || got < 0)
		return err ? err : got;
	return pf_emit_packet(r, p, PF_RANK_OTHER);
}

/* ---- power rails ----------------------------------------------------------- */

/* Names of rails and of a GPU's counters are given once, by number; kept as strings of their own. */
static int keep_name(struct pf_reader *r, uint64_t key, uint32_t name)
{
	return !name || map_get(&r->meters, key) != MAP_NONE ? 0 : map_add(&r->meters, key, name);
}

/* Each session has indexes of its own; 0: an older format, without sessions. */
static uint64_t rail_key(uint64_t session, uint64_t index)
{
	const uint64_t mixed = session * 0x9e3779b97f4a7c15ULL >> 33;

	return 1ULL << 63 | mixed << 32 | (index & UINT32_MAX);
}

static int take_rail(struct pf_reader *r, struct pf_cursor m, uint64_t session)
{
	struct pf_field index, name;

	if (!pf_find(m, PF_RAIL_INDEX, PF_VARINT, &index))
		return 0;
	pf_find(m, PF_RAIL_NAME, PF_BYTES, &name);
	pf_text_clear(r);
	pf_text_print(r, "power.");
	add_name(r, &name);
	pf_text_print(r, "_uws");
	return keep_name(r, rail_key(session, index.value), pf_string(r, r->text, r->text_len));
}

/* Its own time, in ms, is more exact than that of the packet. */
static int take_energy(struct pf_reader *r, const struct pf_packet_info *p, struct pf_cursor m, uint64_t session)
{
	const struct pf_record head = { .kind = PF_RECORD_COUNTER };
	struct pf_field index, time, energy;
	uint32_t name;
	int err;

	if (!pf_find(m, PF_ENERGY_INDEX, PF_VARINT, &index) || !pf_find(m, PF_ENERGY_UWS, PF_VARINT, &energy))
		return PF_NO_VALUE;
	name = map_get(&r->meters, rail_key(session, index.value));
	if (name == MAP_NONE)
		return PF_NO_COUNTER;
	err = pf_record_begin(r, &head, sizeof(head));
	err = err ? err : pf_record_put(r, PF_PIECE_COUNTER, name, energy.value);
	if (err)
		return err;
	if (!pf_find(m, PF_ENERGY_TIME_MS, PF_VARINT, &time))
		return pf_emit_packet(r, p, PF_RANK_OTHER);
	if (time.value > INT64_MAX / NS_PER_MS)
		return PF_BAD_TIME;
	return pf_emit(r, p->has_clock ? p->clock_key : PF_CLOCK_BOOTTIME, time.value * NS_PER_MS, PF_RANK_OTHER);
}

int pf_power_rails(struct pf_reader *r, struct pf_packet_info *p, struct pf_cursor message)
{
	struct pf_cursor rails = message;
	int got = 0, fate = PF_USED, one, err = 0;
	struct pf_field f;
	const uint64_t session = pf_find(message, PF_RAILS_SESSION, PF_VARINT, &f) ? f.value : 0;

	while (!err && (got = pf_next(&rails, &f)) > 0)
		if (pf_is(&f, PF_RAILS_DESCRIPTORS, PF_BYTES))
			err = take_rail(r, pf_inner(&f), session);
	if (err || got < 0)
		return err ? err : got;
	while (fate >= 0 && pf_next(&message, &f) > 0) {
		one = pf_is(&f, PF_RAILS_ENERGY, PF_BYTES) ? take_energy(r, p, pf_inner(&f), session) : PF_USED;
		fate = one < 0 || one > fate ? one : fate;
	}
	return fate;
}

/* ---- GPUs ------------------------------------------------------------------ */

/* Bytes of a process, or of all. */
int pf_gpu_memory(struct pf_reader *r, struct pf_packet_info *p, struct pf_cursor message)
{
	struct pf_record head = { .kind = PF_RECORD_COUNTER };
	struct pf_field size, pid;
	int err;

	if (!pf_find(message, PF_GPU_MEMORY_SIZE, PF_VARINT, &size))
		return PF_NO_VALUE;
	if (pf_find(message, PF_GPU_MEMORY_PID, PF_VARINT, &pid))
		head.pid = (int32_t)pid.value;
	pf_text_clear(r);
	pf_text_print(r, "GPU Memory");
	err = pf_record_begin(r, &head, sizeof(head));
	err = err ? err : pf_put_counter(r, PF_PIECE_COUNTER, size.value);
	return err ? err : pf_emit_packet(r, p, PF_RANK_OTHER);
}

static uint64_t gpu_key(uint64_t gpu, uint64_t counter)
{
	return (gpu & 0x3fffffff) << 32 | (counter & UINT32_MAX);
}

static int take_spec(struct pf_reader *r, struct pf_cursor m, uint64_t gpu)
{
	struct pf_field id, name;
	uint32_t text;
	int err;

	if (!pf_find(m, PF_GPU_SPEC_ID, PF_VARINT, &id) || !pf_find(m, PF_GPU_SPEC_NAME, PF_BYTES, &name))
		return 0;
	pf_text_clear(r);
	add_name(r, &name);
	if (gpu)
		pf_text_print(r, " (GPU %llu)", (unsigned long long)gpu);
	text = pf_string(r, r->text, r->text_len);
	err = keep_name(r, gpu_key(gpu, id.value), text);
	return err ? err : keep_name(r, gpu_key(ANY_GPU, id.value), text);
}

static int take_specs(struct pf_reader *r, struct pf_cursor m, uint64_t gpu)
{
	struct pf_field f, spec;
	int err = 0;

	while (!err && pf_next(&m, &f) > 0) {
		struct pf_cursor inner = pf_inner(&f);

		while (pf_is(&f, PF_GPU_DESCRIPTOR, PF_BYTES) && !err && pf_next(&inner, &spec) > 0)
			if (pf_is(&spec, PF_GPU_SPECS, PF_BYTES))
				err = take_spec(r, pf_inner(&spec), gpu);
	}
	return err;
}

static int put_gpu_counter(struct pf_reader *r, struct pf_cursor m, uint64_t gpu)
{
	struct pf_field id, value;
	uint32_t name;

	if (!pf_find(m, PF_GPU_COUNTER_ID, PF_VARINT, &id))
		return 0;
	name = map_get(&r->meters, gpu_key(gpu, id.value));
	if (name == MAP_NONE && !gpu)	/* not said, or the first: who describes counters may say more */
		name = map_get(&r->meters, gpu_key(ANY_GPU, id.value));
	if (name == MAP_NONE) {
		pf_text_clear(r);
		pf_text_print(r, "GPU %llu counter %llu", (unsigned long long)gpu, (unsigned long long)id.value);
		name = pf_string(r, r->text, r->text_len);
	}
	if (name && pf_find(m, PF_GPU_COUNTER_INT, PF_VARINT, &value))
		return pf_record_put(r, PF_PIECE_COUNTER, name, value.value);
	if (name && pf_find(m, PF_GPU_COUNTER_DOUBLE, PF_FIXED64, &value))
		return pf_record_put(r, PF_PIECE_COUNTER_DOUBLE, name, value.value);
	return 0;
}

int pf_gpu_counters(struct pf_reader *r, struct pf_packet_info *p, struct pf_cursor message)
{
	const struct pf_record head = { .kind = PF_RECORD_COUNTER };
	struct pf_field f;
	uint64_t gpu = pf_find(message, PF_GPU_ID, PF_VARINT, &f) ? f.value : 0;
	int got = 0, err = take_specs(r, message, gpu);
	bool any = false;

	err = err ? err : pf_record_begin(r, &head, sizeof(head));
	while (!err && (got = pf_next(&message, &f)) > 0) {
		if (!pf_is(&f, PF_GPU_COUNTERS, PF_BYTES))
			continue;
		err = put_gpu_counter(r, pf_inner(&f), gpu);
		any = true;
	}
	if (err || got < 0)
		return err ? err : got;
	return any ? pf_emit_packet(r, p, PF_RANK_OTHER) : PF_USED;
}
