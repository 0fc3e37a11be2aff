// SPDX-License-Identifier: GPL-2.0
/*
 * Profiles that have many samples in a packet: of Chrome's threads (StreamingProfilePacket), and of heaps
 * (ProfilePacket).
 */
#include <errno.h>

#include "reader_p.h"

#define NS_PER_US	1000
#define SAMPLES_MAX	4096U	/* of a packet of Chrome; further ones are left out */

/* ---- StreamingProfilePacket ------------------------------------------------ */

static int emit_sample(struct pf_reader *r, const struct pf_packet_info *p, uint64_t callstack,
		       const struct pf_field *priority)
{
	struct pf_record head = {
		.kind = PF_RECORD_INSTANT, .category = pf_word(r, "cpu_profiler"), .name = pf_word(r, "sample"), .tid = (int32_t)p->q->tid,
		.pid = (int32_t)p->q->pid,
	};
	int fate = pf_record_begin(r, &head, sizeof(head));
	bool is_known;

	fate = fate ? fate : pf_put_callstack(r, p->q, callstack, &is_known);
	if (!fate && priority->number)
		fate = pf_record_put(r, PF_PIECE_INT, pf_word(r, "priority"), (uint64_t)(int32_t)priority->value);
	if (fate)
		return fate;
	if (p->q->time_us < 0 || p->q->time_us > INT64_MAX / NS_PER_US)
		return PF_BAD_TIME;
	fate = pf_emit(r, PF_CLOCK_MONOTONIC, (uint64_t)p->q->time_us * NS_PER_US, PF_RANK_OTHER);
	r->counts.samples += fate == PF_USED;
	return fate;
}

/* Each sample is so many microseconds after the one before; the first after the thread's last time. */
int pf_streaming_profile(struct pf_reader *r, struct pf_packet_info *p, struct pf_cursor message)
{
	uint64_t callstacks[SAMPLES_MAX], deltas[SAMPLES_MAX];
	struct pf_field f, priority = { 0 };
	size_t cnt = 0, deltas_cnt = 0, i;
	int got, fate = PF_USED, one;

	if (!p->q->has_thread || !p->q->has_reference)
		return PF_NO_THREAD;
	while ((got = pf_next(&message, &f)) > 0) {
		if (f.number == PF_STREAMING_CALLSTACKS)
			cnt = pf_numbers(&f, PF_VARINT, callstacks, cnt, SAMPLES_MAX);
		else if (f.number == PF_STREAMING_DELTAS_US)
			deltas_cnt = pf_numbers(&f, PF_VARINT, deltas, deltas_cnt, SAMPLES_MAX);
		else if (pf_is(&f, PF_STREAMING_PRIORITY, PF_VARINT))
			priority = f;
	}
	if (got < 0)
		return got;
	for (i = 0; i < deltas_cnt && fate >= 0; i++) {
		p->q->time_us = (int64_t)((uint64_t)p->q->time_us + deltas[i]);
		one = i < cnt ? emit_sample(r, p, callstacks[i], &priority) : PF_USED;
		fate = one < 0 || one > fate ? one : fate;
	}
	return fate;
}

/* ---- ProfilePacket --------------------------------------------------------- */

/* Older ones have their strings, frames and stacks with them, without InternedData. */
static uint32_t table_of(uint32_t field)
{
	switch (field) {
	case PF_PROFILE_STRINGS:
		return PF_INTERNED_FUNCTIONS;
	case PF_PROFILE_FRAMES:
		return PF_INTERNED_FRAMES;
	case PF_PROFILE_CALLSTACKS:
		return PF_INTERNED_CALLSTACKS;
	case PF_PROFILE_MAPPINGS:
		return PF_INTERNED_MAPPINGS;
	default:
		return 0;
	}
}

static const struct {
	uint32_t number;
	const char *name;
} heap_rows[] = {
	{ 2, "allocated_bytes" }, { 3, "freed_bytes" }, { 5, "allocations" }, { 6, "frees" }, { 8, "max_bytes" },
	{ 9, "max_allocations" },
};

#define HEAP_ROWS	(sizeof(heap_rows) / sizeof(heap_rows[0]))

/* What the samples of a dump have in common, and their sums. */
struct dump {
	const struct pf_packet_info *p;
	int32_t pid;
	uint64_t timestamp, sums[HEAP_ROWS];
	struct pf_field heap;
	uint32_t samples;
};

/* By the dump's time; by that of the packet if its clock is not known. */
static int emit_heap(struct pf_reader *r, const struct dump *d)
{
	uint64_t ns = d->timestamp;

	if (ns && pf_clocks_convert(&r->clocks, PF_CLOCK_MONOTONIC_COARSE, &ns) == PF_CONVERTED)
		return pf_emit_ns(r, ns, PF_RANK_OTHER);
	return pf_emit_packet(r, d->p, PF_RANK_OTHER);
}

static int put_heap_number(struct pf_reader *r, struct dump *d, const struct pf_field *f)
{
	size_t i;

	for (i = 0; i < HEAP_ROWS; i++) {
		if (!pf_is(f, heap_rows[i].number, PF_VARINT))
			continue;
		d->sums[i] += f->value;
		return pf_record_put(r, PF_PIECE_UINT, pf_word(r, heap_rows[i].name), f->value);
	}
	return 0;
}

static int take_heap_sample(struct pf_reader *r, struct dump *d, struct pf_cursor m)
{
	struct pf_record head = {
		.kind = PF_RECORD_INSTANT, .category = pf_word(r, "heap"), .name = pf_word(r, "heap sample"), .pid = d->pid,
	};
	int got = 0, err = pf_record_begin(r, &head, sizeof(head));
	struct pf_field f;
	bool is_known;

	while (!err && (got = pf_next(&m, &f)) > 0) {
		if (pf_is(&f, PF_HEAP_SAMPLE_CALLSTACK, PF_VARINT))
			err = pf_put_callstack(r, d->p->q, f.value, &is_known);
		else
			err = put_heap_number(r, d, &f);
	}
	if (!err && d->heap.len)
		err = pf_record_put_text(r, PF_PIECE_TEXT, pf_word(r, "heap"), d->heap.data, d->heap.len);
	if (err || got < 0)
		return err ? err : got;
	d->samples++;
	return emit_heap(r, d);
}

/* What is allocated and not freed: a counter of the process. */
static int put_sums(struct pf_reader *r, const struct dump *d)
{
	const struct pf_record head = { .kind = PF_RECORD_COUNTER, .pid = d->pid };
	size_t i;
	int err = pf_record_begin(r, &head, sizeof(head));

	for (i = 0; i < 2 && !err; i++) {
		pf_text_clear(r);
		pf_text_print(r, "heap.");
		pf_text_add(r, d->heap.data, d->heap.len < 64 ? d->heap.len : 64);
		pf_text_print(r, "%s%s", d->heap.len ? "." : "", heap_rows[i].name);
		err = pf_put_counter(r, PF_PIECE_COUNTER, d->sums[i]);
	}
	return err ? err : emit_heap(r, d);
}

static int take_dump(struct pf_reader *r, struct pf_packet_info *p, struct pf_cursor m)
{
	struct dump d = { .p = p };
	struct pf_field f;
	int got = 0, fate = PF_USED, one;

	if (pf_find(m, PF_HEAP_DUMP_PID, PF_VARINT, &f))
		d.pid = (int32_t)f.value;
	if (pf_find(m, PF_HEAP_DUMP_TIME, PF_VARINT, &f))
		d.timestamp = f.value;
	pf_find(m, PF_HEAP_DUMP_NAME, PF_BYTES, &d.heap);
	while (fate >= 0 && (got = pf_next(&m, &f)) > 0) {
		one = pf_is(&f, PF_HEAP_DUMP_SAMPLES, PF_BYTES) ? take_heap_sample(r, &d, pf_inner(&f)) : PF_USED;
		fate = one < 0 || one > fate ? one : fate;
	}
	if (fate < 0 || got < 0)
		return fate < 0 ? fate : got;
	if (fate != PF_USED || !d.samples)
		return fate;
	r->counts.samples += d.samples;
	return put_sums(r, &d);
}

int pf_heap_profile(struct pf_reader *r, struct pf_packet_info *p, struct pf_cursor message)
{
	struct pf_cursor dumps = message;
	struct pf_field f;
	int got = 0, fate = PF_USED, one, err = 0;

	while (!err && (got = pf_next(&message, &f)) > 0) {
		f.number = f.wire == PF_BYTES ? table_of(f.number) : 0;
		if (f.number)
			err = pf_sequence_add(&r->sequences, p->q, &r->pool, &f);
	}
	if (err || got < 0)
		return err ? err : got;
	while (fate >= 0 && pf_next(&dumps, &f) > 0) {
		one = pf_is(&f, PF_PROFILE_DUMPS, PF_BYTES) ? take_dump(r, p, pf_inner(&f)) : PF_USED;
		fate = one < 0 || one > fate ? one : fate;
	}
	return fate;
}
