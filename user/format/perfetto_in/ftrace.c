// SPDX-License-Identifier: GPL-2.0
/*
 * FtraceEventBundle: events of one CPU, each as a message, or scheduling as arrays.
 */
#include "ftrace.h"

#include <errno.h>
#include <stdio.h>

#include "base/array.h"

#define STATES_DEAD	(0x10U | 0x20U)	/* X, Z */
#define FLAGS_IN_IRQ	(0x08U | 0x10U | 0x40U)	/* of common_flags: hard, soft interrupt, NMI */

struct bundle {
	struct pf_packet_info *p;
	uint16_t cpu;
	uint64_t clock_key, offset_ns;
	uint64_t first_ns;		/* of its events; UINT64_MAX: none */
};

/* The place in time of the record at hand. */
static int emit(struct pf_reader *r, struct bundle *b, uint64_t ts, enum pf_rank rank)
{
	uint64_t ns = ts + b->offset_ns;
	int fate = pf_emit_part(r, b->clock_key, ns, rank);

	if (fate < 0)
		return fate;
	if (fate != PF_USED) {
		pf_drop_part(r, b->p->number, b->p->offset, pf_fate_name(fate));
		return 0;
	}
	r->counts.ftrace_events++;
	if (ns < b->first_ns)
		b->first_ns = ns;
	return 0;
}

/* A life of the id @tid begins or ends; where the time is not known, it may be at any. */
static int note_life(struct pf_reader *r, const struct bundle *b, int32_t tid, uint64_t ts)
{
	uint64_t ns;

	if (pf_clocks_time(&r->clocks, b->clock_key, ts + b->offset_ns, &ns) != PF_CONVERTED)
		ns = 0;
	return pf_note_life(r, tid, ns);
}

/* The thread that is switched out, by the order of the file: 0 or -ENOMEM. */
static int note_switch(struct pf_reader *r, const struct bundle *b, const struct pf_sched *s, uint64_t ts)
{
	struct pf_cpu *cpu = &r->cpus[b->cpu];
	const int32_t tid = s->has_prev ? s->prev_tid : cpu->tid;

	cpu->tid = s->tid;
	r->state_bits |= s->prev_state;
	return s->prev_state & STATES_DEAD && tid ? note_life(r, b, tid, ts) : 0;
}

/* ---- single events --------------------------------------------------------- */

struct event {
	uint64_t ts;
	int32_t tid;
	bool has_ts, has_tid, in_irq;
	uint8_t mark;
	struct pf_field message;
};

static int read_event(struct pf_cursor m, struct event *e)
{
	struct pf_field f;
	int got;

	while ((got = pf_next(&m, &f)) > 0) {
		if (pf_is(&f, PF_FTRACE_TIMESTAMP, PF_VARINT)) {
			e->ts = f.value;
			e->has_ts = true;
		} else if (pf_is(&f, PF_FTRACE_PID, PF_VARINT)) {
			e->tid = (int32_t)f.value;
			e->has_tid = true;
		} else if (pf_is(&f, PF_FTRACE_COMMON_FLAGS, PF_VARINT)) {
			e->in_irq = f.value & FLAGS_IN_IRQ;
			e->mark = (f.value >> PF_FLAGS_MARK_SHIFT) % PF_MARK_CNT;
		} else if (f.wire == PF_BYTES) {
			e->message = f;
		}
	}
	return got;
}

static int take_switch(struct pf_reader *r, struct bundle *b, const struct event *e)
{
	struct pf_sched s = { .kind = PF_RECORD_SWITCH, .has_prev = true, .cpu = b->cpu };
	struct pf_cursor m = pf_inner(&e->message);
	struct pf_field f;
	int err;

	while (pf_next(&m, &f) > 0) {
		if (pf_is(&f, PF_SWITCH_PREV_COMM, PF_BYTES))
			s.prev_comm = pf_string_of(r, &f);
		else if (pf_is(&f, PF_SWITCH_PREV_PID, PF_VARINT))
			s.prev_tid = (int32_t)f.value;
		else if (pf_is(&f, PF_SWITCH_PREV_PRIO, PF_VARINT))
			s.prev_prio = (int32_t)f.value;
		else if (pf_is(&f, PF_SWITCH_PREV_STATE, PF_VARINT))
			s.prev_state = (uint32_t)f.value;
		else if (pf_is(&f, PF_SWITCH_NEXT_COMM, PF_BYTES))
			s.comm = pf_string_of(r, &f);
		else if (pf_is(&f, PF_SWITCH_NEXT_PID, PF_VARINT))
			s.tid = (int32_t)f.value;
		else if (pf_is(&f, PF_SWITCH_NEXT_PRIO, PF_VARINT))
			s.prio = (int32_t)f.value;
	}
	err = note_switch(r, b, &s, e->ts);
	err = err ? err : pf_record_begin(r, &s, sizeof(s));
	return err ? err : emit(r, b, e->ts, PF_RANK_OTHER);
}

static int take_wakeup(struct pf_reader *r, struct bundle *b, const struct event *e)
{
	struct pf_sched s = {
		.kind = PF_RECORD_WAKING, .has_prev = true, .in_irq = e->in_irq, .cpu = b->cpu, .target_cpu = b->cpu,
		.prev_tid = e->tid, .event = e->message.number, .mark = r->is_recorded ? e->mark : 0,
	};
	struct pf_cursor m = pf_inner(&e->message);
	struct pf_field f;
	int err;

	while (pf_next(&m, &f) > 0) {
		if (pf_is(&f, PF_WAKEUP_COMM, PF_BYTES))
			s.comm = pf_string_of(r, &f);
		else if (pf_is(&f, PF_WAKEUP_PID, PF_VARINT))
			s.tid = (int32_t)f.value;
		else if (pf_is(&f, PF_WAKEUP_PRIO, PF_VARINT))
			s.prio = (int32_t)f.value;
		else if (pf_is(&f, PF_WAKEUP_CPU, PF_VARINT) && f.value < PF_CPUS)
			s.target_cpu = (uint16_t)f.value;
	}
	err = pf_record_begin(r, &s, sizeof(s));
	return err ? err : emit(r, b, e->ts, PF_RANK_WAKING);
}

/* Calls of functions, and probes that come in pairs, as markers of slices. */
static void put_pair(struct pf_reader *r, const struct event *e, bool begins, struct fxt_str name)
{
	pf_text_clear(r);
	pf_text_print(r, begins ? "B|%d|" : "E|%d", e->tid);
	if (begins)
		pf_text_add(r, name.data, name.len);
}

static bool put_marker(struct pf_reader *r, const struct pf_sequence *q, const struct event *e)
{
	enum { PRINT_BUF = 2, KPROBE_NAME = 1, KPROBE_TYPE = 2, ENTRY_FUNC = 2 };
	const struct pf_cursor m = pf_inner(&e->message);
	const struct pf_entry_data *symbol;
	struct pf_field f, type;
	char buf[24];

	switch (e->message.number) {
	case PF_FTRACE_PRINT:
		pf_text_clear(r);
		if (!pf_find(m, PRINT_BUF, PF_BYTES, &f))
			return true;
		while (f.len && (f.data[f.len - 1] == '\n' || !f.data[f.len - 1]))
			f.len--;
		pf_text_add(r, f.data, f.len);
		return true;
	case PF_FTRACE_KPROBE:
		if (!pf_find(m, KPROBE_NAME, PF_BYTES, &f) || !pf_find(m, KPROBE_TYPE, PF_VARINT, &type) ||
		    type.value < 1 || type.value > 2)
			return false;
		put_pair(r, e, type.value == 1, fxt_str_n((const char *)f.data, f.len));
		return true;
	case PF_FTRACE_FUNCGRAPH_ENTRY:
		pf_find(m, ENTRY_FUNC, PF_VARINT, &f);
		symbol = q ? pf_sequence_find(q, PF_INTERNED_KERNEL_SYMBOLS, f.value) : NULL;
		snprintf(buf, sizeof(buf), "0x%llx", (unsigned long long)f.value);
		put_pair(r, e, true, symbol ? pf_pool_str(&r->pool, symbol->string) : fxt_str(buf));
		return true;
	case PF_FTRACE_FUNCGRAPH_EXIT:
		put_pair(r, e, false, fxt_str(""));
		return true;
	default:
		return pf_driver_mark(r, e->message.number, m);
	}
}

/* Its name, if it has one of its own: a probe, or an event that names its fields. */
static struct fxt_str own_name(const struct event *e, char buf[24])
{
	struct pf_field f;

	if ((e->message.number == PF_FTRACE_GENERIC || e->message.number == PF_FTRACE_KPROBE) &&
	    pf_find(pf_inner(&e->message), 1, PF_BYTES, &f))
		return fxt_str_n((const char *)f.data, f.len);
	snprintf(buf, 24, "ftrace:%u", e->message.number);
	return fxt_str(buf);
}

static int take_other(struct pf_reader *r, struct bundle *b, const struct event *e)
{
	struct pf_record head = {
		.kind = PF_RECORD_FTRACE, .cpu = b->cpu, .tid = e->tid, .number = e->in_irq,
	};
	struct fxt_str name, system;
	char buf[24];
	int err;

	if (put_marker(r, b->p->q, e)) {
		head.type = PF_FTRACE_MARKER;
	} else {
		if (!pf_ftrace_text(r, b->p->q, e->message.number, pf_inner(&e->message), &name, &system))
			pf_tally(&r->counts.ftrace_unknown, e->message.number);
		if (!name.len)
			name = own_name(e, buf);
		head.name = pf_string(r, name.data, name.len);
		head.category = pf_string(r, system.data, system.len);
	}
	err = pf_record_begin(r, &head, sizeof(head));
	err = err ? err : pf_record_put_text(r, PF_PIECE_LOG, 0, r->text, r->text_len);
	return err ? err : emit(r, b, e->ts, PF_RANK_OTHER);
}

/* Of which field a life begins or ends with that event; 0: of none. */
static uint32_t life_field(uint32_t number)
{
	switch (number) {
	case PF_FTRACE_NEWTASK:
		return PF_NEWTASK_PID;
	case PF_FTRACE_PROCESS_FORK:
		return PF_FORK_CHILD_PID;
	case PF_FTRACE_PROCESS_EXIT:
	case PF_FTRACE_PROCESS_FREE:
		return PF_EXIT_PID;
	default:
		return 0;
	}
}

static int take_event(struct pf_reader *r, struct bundle *b, struct pf_cursor m)
{
	struct event e = { 0 };
	struct pf_field f;
	uint32_t field;
	int err = 0;

	if (read_event(m, &e) || !e.has_ts || !e.has_tid || e.tid < 0 || !e.message.data) {
		pf_drop_part(r, b->p->number, b->p->offset, "event of ftrace without time, thread or data");
		return 0;
	}
	switch (e.message.number) {
	case PF_FTRACE_SCHED_SWITCH:
		return take_switch(r, b, &e);
	case PF_FTRACE_SCHED_WAKING:
	case PF_FTRACE_SCHED_WAKEUP:
	case PF_FTRACE_SCHED_WAKEUP_NEW:
		return take_wakeup(r, b, &e);
	default:
		field = life_field(e.message.number);
		if (field && pf_find(pf_inner(&e.message), field, PF_VARINT, &f))
			err = note_life(r, b, (int32_t)f.value, e.ts);
		return err ? err : take_other(r, b, &e);
	}
}

/* ---- compact scheduling ---------------------------------------------------- */

/* The values of a repeated field, whether packed or not. */
struct column {
	struct pf_cursor message, values;
	uint32_t number;
};

/* Of the next field of that number: its value, or the first of a packed array. */
static bool next_array(struct column *c, uint64_t *value)
{
	struct pf_field f;

	while (c->values.at == c->values.end) {
		do {
			if (pf_next(&c->message, &f) <= 0)
				return false;
		} while (f.number != c->number);
		if (f.wire == PF_VARINT) {
			*value = f.value;
			return true;
		}
		c->values = pf_inner(&f);
	}
	return pf_varint(&c->values, value);
}

static inline bool next_value(struct column *c, uint64_t *value)
{
	return c->values.at < c->values.end ? pf_varint(&c->values, value) : next_array(c, value);
}

struct compact {
	const uint32_t *comms;
	uint32_t cnt;
	bool is_bad;
};

static uint32_t comm_of(struct compact *t, uint64_t index)
{
	t->is_bad |= index >= t->cnt;
	return index < t->cnt ? t->comms[index] : PF_NO_STRING;
}

/* All of the columns have a value, or none. */
static bool next_row(struct column *columns, unsigned int cnt, uint64_t *row, bool *is_bad)
{
	unsigned int i;

	if (!next_value(&columns[0], &row[0])) {
		for (i = 1; i < cnt; i++)
			*is_bad |= next_value(&columns[i], &row[i]);
		return false;
	}
	for (i = 1; i < cnt; i++) {
		if (!next_value(&columns[i], &row[i])) {
			*is_bad = true;
			return false;
		}
	}
	return true;
}

/* The mark of each switch, which few have. */
struct marks {
	struct column column;
	uint64_t next, value;	/* the next switch; the mark that is not taken yet, UINT64_MAX: none */
};

static uint8_t next_mark(struct marks *m)
{
	const uint64_t at = m->next++, value = m->value;

	if (value == UINT64_MAX || value / PF_MARK_CNT != at)
		return PF_MARK_NONE;
	if (!next_value(&m->column, &m->value))
		m->value = UINT64_MAX;
	return value % PF_MARK_CNT;
}

static int take_switches(struct pf_reader *r, struct bundle *b, struct pf_cursor m, struct compact *t)
{
	struct column columns[] = {
		{ m, { 0 }, PF_COMPACT_SWITCH_TIME }, { m, { 0 }, PF_COMPACT_PREV_STATE }, { m, { 0 }, PF_COMPACT_NEXT_PID },
		{ m, { 0 }, PF_COMPACT_NEXT_PRIO }, { m, { 0 }, PF_COMPACT_NEXT_COMM },
	};
	struct marks marks = { .column = { m, { 0 }, PF_COMPACT_KFXT_MARKS }, .value = UINT64_MAX };
	uint64_t row[5], ts = 0;
	int err = 0;

	if (r->is_recorded && !next_value(&marks.column, &marks.value))
		marks.value = UINT64_MAX;
	while (!err && next_row(columns, 5, row, &t->is_bad)) {
		struct pf_sched s = {
			.kind = PF_RECORD_SWITCH, .cpu = b->cpu, .tid = (int32_t)row[2], .prio = (int32_t)row[3],
			.comm = comm_of(t, row[4]), .prev_state = (uint32_t)row[1], .mark = next_mark(&marks),
		};

		ts += row[0];
		if (t->is_bad)
			return 0;
		err = note_switch(r, b, &s, ts);
		err = err ? err : pf_record_begin(r, &s, PF_COMPACT_BYTES);
		err = err ? err : emit(r, b, ts, PF_RANK_OTHER);
	}
	return err;
}

static int take_wakings(struct pf_reader *r, struct bundle *b, struct pf_cursor m, struct compact *t)
{
	struct column columns[] = {
		{ m, { 0 }, PF_COMPACT_WAKING_TIME }, { m, { 0 }, PF_COMPACT_WAKING_PID }, { m, { 0 }, PF_COMPACT_WAKING_CPU },
		{ m, { 0 }, PF_COMPACT_WAKING_PRIO }, { m, { 0 }, PF_COMPACT_WAKING_COMM }, { m, { 0 }, PF_COMPACT_WAKING_FLAGS },
	};
	uint64_t row[6], ts = 0;
	int err = 0;

	while (!err && next_row(columns, 5, row, &t->is_bad)) {
		struct pf_sched s = {
			.kind = PF_RECORD_WAKING, .cpu = b->cpu, .target_cpu = (uint16_t)(row[2] < PF_CPUS ? row[2] : b->cpu),
			.tid = (int32_t)row[1], .prio = (int32_t)row[3], .comm = comm_of(t, row[4]),
		};

		ts += row[0];
		if (t->is_bad)
			return 0;
		s.in_irq = next_value(&columns[5], &row[5]) && row[5] & FLAGS_IN_IRQ;
		err = pf_record_begin(r, &s, PF_COMPACT_BYTES);
		err = err ? err : emit(r, b, ts, PF_RANK_WAKING);
	}
	return err;
}

static int take_compact(struct pf_reader *r, struct bundle *b, struct pf_cursor m)
{
	struct compact t = { 0 }, wakings;
	struct pf_cursor names = m;
	struct pf_field f;
	int err;

	while (pf_next(&names, &f) > 0) {
		if (!pf_is(&f, PF_COMPACT_INTERN, PF_BYTES) || t.cnt == PF_COMMS_MAX)
			continue;
		if (array_reserve(r->comms, t.cnt, r->comms_cap, 1))
			return -ENOMEM;
		r->comms[t.cnt++] = pf_string_of(r, &f);
	}
	t.comms = r->comms;
	wakings = t;
	err = take_switches(r, b, m, &t);
	err = err ? err : take_wakings(r, b, m, &wakings);
	r->counts.bad_compact += (uint64_t)t.is_bad + wakings.is_bad;
	if (t.is_bad || wakings.is_bad)
		pf_note(r, b->p->number, b->p->offset, "damaged compact scheduling");
	return err;
}

/* ---- the bundle ------------------------------------------------------------ */

struct head {
	uint64_t cpu, clock, ftrace_time, boot_time, lost;
	bool has_cpu;
};

static int read_head(struct pf_cursor m, struct head *h)
{
	struct pf_field f;
	int got;

	while ((got = pf_next(&m, &f)) > 0) {
		if (f.wire != PF_VARINT)
			continue;
		if (f.number == PF_BUNDLE_CPU) {
			h->cpu = f.value;
			h->has_cpu = true;
		} else if (f.number == PF_BUNDLE_LOST_EVENTS) {
			h->lost = f.value;
		} else if (f.number == PF_BUNDLE_CLOCK) {
			h->clock = f.value;
		} else if (f.number == PF_BUNDLE_FTRACE_TIME) {
			h->ftrace_time = f.value;
		} else if (f.number == PF_BUNDLE_BOOT_TIME) {
			h->boot_time = f.value;
		}
	}
	return got;
}

/* Clocks of the ring buffer are related to BOOTTIME by a pair of times in the bundle. */
static bool set_clock(struct bundle *b, const struct head *h)
{
	b->clock_key = h->clock == PF_FTRACE_MONO_RAW ? PF_CLOCK_MONOTONIC_RAW : PF_CLOCK_BOOTTIME;
	if (h->clock == PF_FTRACE_GLOBAL || h->clock == PF_FTRACE_LOCAL)
		b->offset_ns = h->boot_time - h->ftrace_time;
	return h->clock != PF_FTRACE_UNKNOWN && h->clock <= PF_FTRACE_MONO_RAW;
}

/* Before the first event of the bundle; where it has none, of the next one of that CPU. */
static int draw_loss(struct pf_reader *r, const struct bundle *b)
{
	const struct pf_record head = { .kind = PF_RECORD_LOST, .cpu = b->cpu };
	struct pf_cpu *cpu = &r->cpus[b->cpu];
	int fate;

	if (!cpu->has_lost || b->first_ns == UINT64_MAX)
		return 0;
	cpu->has_lost = false;
	fate = pf_record_begin(r, &head, sizeof(head));
	fate = fate ? fate : pf_emit_part(r, b->clock_key, b->first_ns, PF_RANK_LOST);
	return fate < 0 ? fate : 0;
}

int pf_draw_losses(struct pf_reader *r)
{
	struct pf_record head = { .kind = PF_RECORD_LOST };
	int fate = 0;

	for (; head.cpu < PF_CPUS && fate >= 0; head.cpu++) {
		if (!r->cpus[head.cpu].has_lost || !r->latest_ns)
			continue;
		fate = pf_record_begin(r, &head, sizeof(head));
		fate = fate ? fate : pf_emit_ns(r, r->latest_ns, PF_RANK_OTHER);
	}
	return fate < 0 ? fate : 0;
}

int pf_ftrace_bundle(struct pf_reader *r, struct pf_packet_info *p, struct pf_cursor message)
{
	struct bundle b = { .p = p, .first_ns = UINT64_MAX };
	struct pf_cursor descriptions = message;
	struct head h = { 0 };
	struct pf_field f;
	int err = 0;

	if (read_head(message, &h))
		return PF_DAMAGED;
	if (!h.has_cpu || h.cpu >= PF_CPUS)
		return PF_NO_CPU;
	b.cpu = (uint16_t)h.cpu;
	if (!set_clock(&b, &h))
		return PF_BAD_CLOCK;
	while (!err && pf_next(&descriptions, &f) > 0)
		if (pf_is(&f, PF_BUNDLE_DESCRIPTORS, PF_BYTES))
			err = pf_describe(r, pf_inner(&f));
	while (!err && pf_next(&message, &f) > 0) {
		if (pf_is(&f, PF_BUNDLE_EVENT, PF_BYTES))
			err = take_event(r, &b, pf_inner(&f));
		else if (pf_is(&f, PF_BUNDLE_COMPACT, PF_BYTES))
			err = take_compact(r, &b, pf_inner(&f));
	}
	r->counts.ftrace_losses += h.lost != 0;
	if (!r->is_recorded)	/* else marks say it where it is */
		r->cpus[b.cpu].has_lost |= h.lost;
	err = err ? err : draw_loss(r, &b);
	return err ? err : PF_USED;
}
