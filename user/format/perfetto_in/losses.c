// SPDX-License-Identifier: GPL-2.0
/*
 * What the recorder says of its own losses: they have no place in the trace, so they are drawn where it says so.
 * Its counts go on from packet to packet; what they grew by was lost since.
 */
#include <errno.h>
#include <stdlib.h>

#include "reader_p.h"

#define BUFFERS_MAX	64U	/* that are looked at */

/* An instant of @cnt arguments; a packet without a time is at the latest one, before all events it is not drawn. */
static int draw(struct pf_reader *r, const struct pf_packet_info *p, const char *name, const char *const *keys,
		const uint64_t *values, size_t cnt)
{
	const struct pf_record head = { .kind = PF_RECORD_INSTANT, .category = pf_word(r, "lost"), .name = pf_word(r, name) };
	int fate;
	size_t i;

	if (!p->has_timestamp && !r->latest_ns)
		return PF_USED;
	fate = pf_record_begin(r, &head, sizeof(head));
	for (i = 0; i < cnt && !fate; i++)
		fate = pf_record_put(r, PF_PIECE_UINT, pf_word(r, keys[i]), values[i]);
	if (fate)
		return fate;
	return p->has_timestamp ? pf_emit_packet(r, p, PF_RANK_OTHER) : pf_emit_ns(r, r->latest_ns, PF_RANK_OTHER);
}

static uint64_t growth(uint64_t *last, uint64_t now)
{
	uint64_t more = now > *last ? now - *last : 0;

	*last = now;
	return more;
}

/* ---- TraceStats ------------------------------------------------------------ */

static int take_buffer(struct pf_reader *r, const struct pf_packet_info *p, struct pf_cursor m, uint32_t buffer)
{
	static const char *const keys[] = { "buffer", "packets", "chunks_overwritten", "chunks_discarded" };
	static const uint32_t fields[] = { 0, PF_BUFFER_PACKET_LOSS, PF_BUFFER_OVERWRITTEN, PF_BUFFER_DISCARDED };
	uint64_t values[4] = { buffer };
	bool any = false;
	struct pf_field f;
	int i;

	for (i = 1; i < 4; i++) {
		if (pf_find(m, fields[i], PF_VARINT, &f))
			values[i] = growth(&r->lost_in_buffers[buffer][i - 1], f.value);
		any |= values[i] != 0;
	}
	if (!any)
		return PF_SKIPPED;
	r->counts.buffer_losses++;
	return draw(r, p, "lost in a buffer", keys, values, 4);
}

int pf_trace_stats(struct pf_reader *r, struct pf_packet_info *p, struct pf_cursor message)
{
	int got = 0, fate = PF_SKIPPED, one;
	uint32_t buffer = 0;
	struct pf_field f;

	/* Its events say where. */
	if (r->is_recorded)
		return PF_USED;
	if (!r->lost_in_buffers)
		r->lost_in_buffers = calloc(BUFFERS_MAX, sizeof(*r->lost_in_buffers));
	if (!r->lost_in_buffers)
		return -ENOMEM;
	while (fate >= 0 && (got = pf_next(&message, &f)) > 0) {
		if (!pf_is(&f, PF_STATS_BUFFERS, PF_BYTES) || buffer == BUFFERS_MAX)
			continue;
		one = take_buffer(r, p, pf_inner(&f), buffer++);
		fate = one < 0 || one > fate ? one : fate;
	}
	return fate < 0 || got >= 0 ? fate : got;
}

/* ---- journald -------------------------------------------------------------- */

int pf_lost_lines(struct pf_reader *r, const struct pf_packet_info *p, uint64_t failed)
{
	static const char *const keys[] = { "lost" };
	const uint64_t lost = growth(&r->lost_lines, failed);

	r->counts.lost_lines += lost;
	return lost ? draw(r, p, "lost lines of the journal", keys, &lost, 1) : PF_SKIPPED;
}

/* ---- FtraceStats ----------------------------------------------------------- */

static int take_cpu(struct pf_reader *r, const struct pf_packet_info *p, struct pf_cursor m, bool is_end)
{
	static const char *const keys[] = { "cpu", "lost" };
	struct pf_field cpu, overrun, dropped;
	uint64_t values[2];

	if (!pf_find(m, PF_FTRACE_CPU_NUMBER, PF_VARINT, &cpu) || cpu.value >= PF_CPUS)
		return PF_SKIPPED;
	pf_find(m, PF_FTRACE_CPU_OVERRUN, PF_VARINT, &overrun);
	pf_find(m, PF_FTRACE_CPU_DROPPED, PF_VARINT, &dropped);
	values[0] = cpu.value;
	values[1] = growth(&r->lost_on_cpus[cpu.value], overrun.value + dropped.value);
	if (!is_end || !values[1])
		return PF_SKIPPED;
	r->counts.lost_ftrace += values[1];
	return draw(r, p, "lost on a CPU", keys, values, 2);
}

int pf_ftrace_stats(struct pf_reader *r, struct pf_packet_info *p, struct pf_cursor message)
{
	int got = 0, fate = PF_SKIPPED, one;
	struct pf_field f;
	bool is_end = pf_find(message, PF_FTRACE_STATS_PHASE, PF_VARINT, &f) && f.value == PF_FTRACE_STATS_END;

	if (!r->lost_on_cpus)
		r->lost_on_cpus = calloc(PF_CPUS, sizeof(*r->lost_on_cpus));
	if (!r->lost_on_cpus)
		return -ENOMEM;
	while (fate >= 0 && (got = pf_next(&message, &f)) > 0) {
		one = pf_is(&f, PF_FTRACE_STATS_CPUS, PF_BYTES) ? take_cpu(r, p, pf_inner(&f), is_end) : PF_SKIPPED;
		fate = one < 0 || one > fate ? one : fate;
	}
	return fate < 0 || got >= 0 ? fate : got;
}
