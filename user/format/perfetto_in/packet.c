// SPDX-License-Identifier: GPL-2.0
/*
 * A packet: its place in a sequence, the state that it brings or needs, and what its data is.
 */
#include <errno.h>

#include "reader_p.h"

/* ---- counts ---------------------------------------------------------------- */

static const char *const fate_names[PF_FATES] = {
	[PF_DAMAGED] = "damaged packet", [PF_NEEDS_STATE] = "needs state that was lost or never given",
	[PF_NO_SEQUENCE] = "no sequence", [PF_NO_TIME] = "no time", [PF_BAD_TIME] = "time beyond 2^63",
	[PF_BAD_CLOCK] = "clock that no snapshot relates to the trace's", [PF_NO_TYPE] = "event of no known type",
	[PF_NO_TRACK] = "counter without a track", [PF_NO_COUNTER] = "counter on a track that is none",
	[PF_NO_VALUE] = "counter without a value", [PF_NO_PARENT] = "track without its parent, or within itself",
	[PF_NO_THREAD] = "no thread", [PF_NEGATIVE_DURATION] = "negative duration",
	[PF_NO_UUID] = "track descriptor without uuid", [PF_NO_CPU] = "no CPU, or one beyond 4095",
	[PF_NO_CALLSTACK] = "call stack that is not known", [PF_NESTED] = "compressed packet in another",
	[PF_OTHER_MACHINE] = "of another machine", [PF_TOO_MANY_SEQUENCES] = "too many sequences", [PF_TOO_MANY_TRACKS] = "too many tracks",
	[PF_OTHER_TRACK] = "track described as another one",
};

const char *pf_fate_name(enum pf_fate fate)
{
	return fate_names[fate];
}

void pf_tally(struct pf_tally *t, uint32_t number)
{
	unsigned int i;

	for (i = 0; i < t->cnt && t->of[i].number != number; i++)
		;
	if (i == PF_TALLY_MAX) {
		t->others++;
		return;
	}
	if (i == t->cnt) {
		t->of[i].number = number;
		t->cnt++;
	}
	t->of[i].times++;
}

void pf_note(struct pf_reader *r, uint64_t number, uint64_t offset, const char *reason)
{
	struct pf_counts *c = &r->counts;
	unsigned int i;

	for (i = 0; i < c->first_cnt && (c->first[i].packet != number || c->first[i].reason != reason); i++)
		;
	if (i < c->first_cnt || i == PF_KEPT)
		return;
	c->first[c->first_cnt].packet = number;
	c->first[c->first_cnt].offset = offset;
	c->first[c->first_cnt++].reason = reason;
}

void pf_count_fate(struct pf_reader *r, enum pf_fate fate, uint64_t number, uint64_t offset)
{
	r->counts.fates[fate]++;
	if (fate >= PF_FIRST_DROPPED)
		pf_note(r, number, offset, fate_names[fate]);
}

void pf_drop_part(struct pf_reader *r, uint64_t number, uint64_t offset, const char *reason)
{
	r->counts.ftrace_dropped++;
	pf_note(r, number, offset, reason);
}

void pf_drop_extra(struct pf_reader *r, uint64_t number, uint64_t offset)
{
	r->counts.extras_dropped++;
	pf_note(r, number, offset, "extra value of no counter");
}

/* One that has several events may have been dropped for another of them. */
void pf_unuse(struct pf_reader *r, enum pf_fate fate, uint64_t number, uint64_t offset)
{
	if (!r->counts.fates[PF_USED])
		return;
	r->counts.fates[PF_USED]--;
	pf_count_fate(r, fate, number, offset);
}

/* ---- data ------------------------------------------------------------------ */

/* Nothing of it is shown. */
static int skip_data(struct pf_reader *r, struct pf_packet_info *p, struct pf_cursor message)
{
	(void)r, (void)p, (void)message;
	return PF_SKIPPED;
}

static const struct {
	uint32_t number;
	pf_message_fn *fn;
	bool in_sequence;	/* means nothing without one */
} data_rows[] = {
	{ PF_PACKET_TRACK_EVENT, pf_track_event, true },
	{ PF_PACKET_FTRACE_EVENTS, pf_ftrace_bundle, false },
	{ PF_PACKET_TRACK_DESCRIPTOR, pf_track_descriptor, false },
	{ PF_PACKET_CLOCK_SNAPSHOT, pf_clock_snapshot, false },
	{ PF_PACKET_PROCESS_TREE, pf_process_tree, false },
	{ PF_PACKET_PROCESS_STATS, pf_process_stats, false },
	{ PF_PACKET_SYS_STATS, pf_sys_stats, false },
	{ PF_PACKET_ANDROID_LOG, pf_android_log, false },
	{ PF_PACKET_JOURNALD, pf_journald, false },
	{ PF_PACKET_PERF_SAMPLE, pf_perf_sample, true },
	{ PF_PACKET_STACK_SAMPLE, pf_stack_sample, true },
	{ PF_PACKET_THREAD_DESCRIPTOR, pf_thread_descriptor, true },
	{ PF_PACKET_PROCESS_DESCRIPTOR, pf_process_descriptor, false },
	{ PF_PACKET_SYSTEM_INFO, pf_system_info, false },
	{ PF_PACKET_TASK_STATE, pf_task_state, false },
	{ PF_PACKET_GENERIC_FREQUENCY, pf_generic_frequency, false },
	{ PF_PACKET_TASK_RENAME, pf_task_rename, false },
	{ PF_PACKET_TASK_TREE, pf_task_tree, false },
	{ PF_PACKET_STREAMING_PROFILE, pf_streaming_profile, true },
	{ PF_PACKET_HEAP_PROFILE, pf_heap_profile, true },
	{ PF_PACKET_BATTERY, pf_battery, false },
	{ PF_PACKET_POWER_RAILS, pf_power_rails, false },
	{ PF_PACKET_GPU_COUNTERS, pf_gpu_counters, false },
	{ PF_PACKET_GPU_MEMORY, pf_gpu_memory, false },
	{ PF_PACKET_FTRACE_STATS, pf_ftrace_stats, false },
	{ PF_PACKET_TRACE_STATS, pf_trace_stats, false },
	{ PF_PACKET_SYNC_MARKER, skip_data, false },
	{ PF_PACKET_CPU_INFO, skip_data, false },
	{ PF_PACKET_SERVICE_EVENT, skip_data, false },
	{ PF_PACKET_TRACE_UUID, pf_trace_begins, false },
	{ PF_PACKET_TRACE_CONFIG, pf_trace_begins, false },
	{ PF_PACKET_PACKAGES_LIST, skip_data, false },
	{ PF_PACKET_CHROME_METADATA, skip_data, false },
	{ PF_PACKET_CHROME_TRIGGER, skip_data, false },
	{ PF_PACKET_TRACE_ATTRIBUTES, pf_trace_attributes, false },
};

#define DATA_ROWS	(sizeof(data_rows) / sizeof(data_rows[0]))

/* The worst of what the data of a packet became counts. */
static int take_data(struct pf_reader *r, struct pf_packet_info *p)
{
	int worst = PF_EMPTY, fate;
	unsigned int i, row;

	for (i = 0; i < p->data_cnt; i++) {
		for (row = 0; row < DATA_ROWS && data_rows[row].number != p->data[i].number; row++)
			;
		if (row == DATA_ROWS) {
			pf_tally(&r->counts.by_field, p->data[i].number);
			fate = PF_UNKNOWN;
		} else if (data_rows[row].in_sequence && !p->q) {
			fate = PF_NO_SEQUENCE;
		} else {
			fate = data_rows[row].fn(r, p, pf_inner(&p->data[i]));
		}
		if (fate == -EBADMSG)
			fate = PF_DAMAGED;
		if (fate < 0)
			return fate;
		worst = fate > worst ? fate : worst;
	}
	return worst;
}

/* ---- state ----------------------------------------------------------------- */

static void lose_state(struct pf_reader *r, struct pf_packet_info *p)
{
	if (!p->q->has_packets)
		return;
	r->counts.lost_packets++;
	p->is_after_loss = true;
	pf_sequence_clear(&r->sequences, p->q, false);
	p->q->is_valid = false;
}

/* An instant where packets are missing; of a packet without a time of its own at the latest one. 0 or -errno. */
static int show_loss(struct pf_reader *r, const struct pf_packet_info *p)
{
	struct pf_record head = { .kind = PF_RECORD_INSTANT };
	int fate;

	head.category = pf_word(r, "lost");
	head.name = pf_word(r, "lost packets");
	fate = pf_record_begin(r, &head, sizeof(head));
	if (!fate)
		fate = pf_record_put(r, PF_PIECE_UINT, pf_word(r, "sequence"), p->sequence_id);
	if (!fate)
		fate = pf_emit_packet(r, p, PF_RANK_LOST);
	if (fate == PF_NO_TIME && r->latest_ns)
		fate = pf_emit_ns(r, r->latest_ns, PF_RANK_LOST);
	return fate < 0 ? fate : 0;
}

static int take_defaults(struct pf_reader *r, struct pf_packet_info *p)
{
	int err = pf_sequence_defaults(p->q, &r->pool, pf_inner(&p->defaults));

	if (!err)
		pf_perf_defaults(r, p->q, pf_inner(&p->defaults));
	return err;
}

/* Loss, clearing, defaults and interned data, in this order: a packet may use what it brings. */
static int take_state(struct pf_reader *r, struct pf_packet_info *p)
{
	int err = 0;

	if (!p->q)
		return p->flags & PF_FLAG_NEEDS_STATE || p->interned.data || p->defaults.data ||
		       p->flags & PF_FLAG_CLEARED ? PF_NO_SEQUENCE : PF_USED;
	if (p->was_dropped)
		lose_state(r, p);
	p->q->has_packets = true;
	if (p->flags & PF_FLAG_CLEARED) {
		pf_sequence_clear(&r->sequences, p->q, true);
		p->q->has_reference = false;
		p->q->is_valid = true;
	}
	if (p->defaults.data)
		err = take_defaults(r, p);
	if (!err && p->interned.data && p->q->is_valid)
		err = pf_sequence_intern(&r->sequences, p->q, &r->pool, pf_inner(&p->interned));
	if (err)
		return err;
	return p->flags & PF_FLAG_NEEDS_STATE && !p->q->is_valid ? PF_NEEDS_STATE : PF_USED;
}

/* ---- the packet ------------------------------------------------------------ */

static void take_number(struct pf_packet_info *p, const struct pf_field *f)
{
	switch (f->number) {
	case PF_PACKET_TIMESTAMP:
		p->timestamp = f->value;
		p->has_timestamp = true;
		break;
	case PF_PACKET_CLOCK_ID:
		p->clock_id = (uint32_t)f->value;
		p->has_clock = f->value;
		break;
	case PF_PACKET_SEQUENCE_ID:
		p->sequence_id = (uint32_t)f->value;
		p->has_sequence = true;
		break;
	case PF_PACKET_SEQUENCE_FLAGS:
		p->flags |= (uint32_t)f->value;
		break;
	case PF_PACKET_STATE_CLEARED:
		p->flags |= f->value ? PF_FLAG_CLEARED : 0;
		break;
	case PF_PACKET_PREVIOUS_DROPPED:
		p->was_dropped = f->value;
		break;
	case PF_PACKET_TRUSTED_PID:
		p->trusted_pid = (int32_t)f->value;
		break;
	case PF_PACKET_MACHINE_ID:
		p->machine_id = (uint32_t)f->value;
		break;
	default:
		break;
	}
}

static int scan(struct pf_packet_info *p, struct pf_cursor m)
{
	struct pf_field f;
	unsigned int i;
	int got;

	while ((got = pf_next(&m, &f)) > 0) {
		if (f.wire == PF_VARINT) {
			take_number(p, &f);
		} else if (f.wire == PF_BYTES && f.number == PF_PACKET_INTERNED_DATA) {
			p->interned = f;
		} else if (f.wire == PF_BYTES && f.number == PF_PACKET_DEFAULTS) {
			p->defaults = f;
		} else if (f.wire == PF_BYTES) {
			for (i = 0; i < p->data_cnt && p->data[i].number != f.number; i++)
				;
			if (i < PF_DATA_MAX) {
				p->data[i] = f;
				p->data_cnt += i == p->data_cnt;
			}
		}
	}
	return got;
}

static int take_compressed(struct pf_reader *r, struct pf_packet_info *p, const struct pf_field *f)
{
	struct pf_inflate *z;
	struct pf_input in = { .read = pf_inflate_read };
	struct pf_cursor packet;
	uint64_t offset;
	int item, err = p->is_inner ? PF_NESTED : pf_inflate_open(&z, f->number, pf_inner(f));

	if (err)
		return err;
	in.ctx = z;
	while (!err && (item = pf_input_next(&in, &packet, &offset)) == PF_INPUT_PACKET)
		err = pf_take_packet(r, packet, p->offset, true);
	r->counts.compressed++;
	pf_input_fini(&in);
	pf_inflate_close(z);
	if (err)
		return err;
	return item == PF_INPUT_END ? PF_USED : item == -ENOMEM ? item : PF_DAMAGED;
}

static int take_whole(struct pf_reader *r, struct pf_packet_info *p)
{
	unsigned int i;
	int fate, err;

	if (p->machine_id)
		return PF_OTHER_MACHINE;
	p->q = p->has_sequence ? pf_sequence_get(&r->sequences, p->sequence_id) : NULL;
	if (p->has_sequence && !p->q)
		return PF_TOO_MANY_SEQUENCES;
	fate = take_state(r, p);
	if (fate < 0)
		return fate;
	if (fate == PF_USED || p->is_after_loss)
		pf_packet_time(r, p);
	err = p->is_after_loss ? show_loss(r, p) : 0;
	if (err || fate != PF_USED)
		return err ? err : fate;
	for (i = 0; i < p->data_cnt; i++)
		if (p->data[i].number == PF_PACKET_COMPRESSED || p->data[i].number == PF_PACKET_COMPRESSED_ZSTD)
			return take_compressed(r, p, &p->data[i]);
	return take_data(r, p);
}

int pf_take_packet(struct pf_reader *r, struct pf_cursor message, uint64_t offset, bool is_inner)
{
	const uint64_t dropped = r->sequences.entries_dropped;
	struct pf_packet_info p;
	int fate;

	memset(&p, 0, offsetof(struct pf_packet_info, interned));
	p.interned.data = p.defaults.data = NULL;
	p.offset = offset;
	p.number = ++r->counts.packets;
	p.is_inner = is_inner;
	r->packet_number = p.number;
	r->packet_offset = offset;
	fate = scan(&p, message) ? PF_DAMAGED : take_whole(r, &p);
	if (fate == -EBADMSG)
		fate = PF_DAMAGED;
	if (fate < 0)
		return fate;
	pf_count_fate(r, fate, p.number, offset);
	if (!dropped && r->sequences.entries_dropped)
		pf_note(r, p.number, offset, "interned data or stacks that there is no space for");
	return 0;
}

int pf_clock_snapshot(struct pf_reader *r, struct pf_packet_info *p, struct pf_cursor message)
{
	int err = pf_clocks_snapshot(&r->clocks, message, p->sequence_id);

	return err ? err : PF_USED;
}
