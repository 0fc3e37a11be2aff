// SPDX-License-Identifier: GPL-2.0
/*
 * Events of ftrace in order of time. The compact form does not say which thread was switched out, or which
 * woke another: it is the current one of that CPU, unless events were lost since it was switched in.
 */
#include "ftrace.h"

/* Of a string that is known here; a call for each event would count its bytes. */
#define STR(text)	((struct model_text){ (text), sizeof(text) - 1 })

/* Letters of task states by their bits, from 4.14 on, and before; the last ones say that it was preempted. */
static const struct model_text states[] = {
	STR("S"), STR("D"), STR("T"), STR("t"), STR("X"), STR("Z"), STR("P"), STR("I"), STR("R+"),
};
static const struct model_text old_states[] = {
	STR("S"), STR("D"), STR("T"), STR("t"), STR("X"), STR("Z"), STR("x"), STR("K"), STR("W"), STR("P"), STR("N"),
	STR("R+"), STR("R+"),
};

#define PREEMPTED	(1U << 8)
#define OLD_PREEMPTED	(1U << 11 | 1U << 12)

void pf_choose_states(struct pf_reader *r)
{
	if (!r->has_release)
		r->old_states = r->state_bits > 2 * PREEMPTED - 1;
}

static struct model_text state_of(const struct pf_reader *r, uint32_t bits)
{
	const struct model_text *letters = r->old_states ? old_states : states;
	unsigned int cnt = r->old_states ? sizeof(old_states) / sizeof(old_states[0]) : sizeof(states) / sizeof(states[0]);

	if (!bits)
		return STR("R");
	if (bits & (r->old_states ? OLD_PREEMPTED : PREEMPTED))
		return STR("R+");
	bits = (unsigned int)__builtin_ctz(bits);
	return bits < cnt ? letters[bits] : STR("R");
}

static struct model_text text_of(const struct pf_reader *r, uint32_t number)
{
	struct fxt_str s = pf_pool_str(&r->pool, number);

	return (struct model_text){ s.data, s.len };
}

/* The next event, without what not all have: name, system, thread, what scheduling says. */
static struct pf_ftrace_event *begin(struct pf_reader *r, enum pf_ftrace_kind kind, uint16_t cpu, uint64_t ts_ns)
{
	struct pf_ftrace_event *ev = &r->ftrace_event;

	ev->kind = kind;
	ev->ts_ns = ts_ns;
	ev->cpu = cpu;
	ev->in_irq = false;
	ev->recorded = r->is_recorded;
	ev->args = STR("");
	return ev;
}

static int hand_on(struct pf_reader *r, const struct pf_ftrace_event *ev)
{
	if (!r->ftrace)
		return 0;
	r->counts.handed_on += ev->kind != PF_FTRACE_LOST;
	return r->ftrace(r->ftrace_ctx, ev);
}

static int play_switch(struct pf_reader *r, const struct pf_sched *s, uint64_t ts_ns)
{
	struct pf_cpu *cpu = &r->cpus[s->cpu];
	struct pf_ftrace_event *ev = begin(r, PF_FTRACE_SWITCH, s->cpu, ts_ns);
	bool is_known = s->has_prev || cpu->is_known;

	if (s->mark == PF_MARK_FILL_IN) {
		*cpu = (struct pf_cpu){ .is_known = true, .tid = s->tid, .prio = s->prio, .comm = s->comm };
		return 0;
	}
	ev->system = STR("sched");
	ev->name = STR("sched_switch");
	/* Of an unknown thread nothing is known, least of all its state. */
	ev->sched.prev_tid = s->has_prev ? s->prev_tid : cpu->is_known ? cpu->tid : 0;
	ev->sched.prev_prio = s->has_prev ? s->prev_prio : cpu->prio;
	ev->sched.prev_comm = text_of(r, s->has_prev ? s->prev_comm : cpu->comm);
	ev->sched.state = state_of(r, is_known ? s->prev_state : 0);
	ev->sched.tid = s->tid;
	ev->sched.prio = s->prio;
	ev->sched.comm = text_of(r, s->comm);
	ev->sched.cpu = 0;
	ev->sched.mark = s->mark;
	ev->tid = r->is_recorded ? -1 : ev->sched.prev_tid;
	*cpu = (struct pf_cpu){ .is_known = true, .tid = s->tid, .prio = s->prio, .comm = s->comm };
	return hand_on(r, ev);
}

static int play_waking(struct pf_reader *r, const struct pf_sched *s, uint64_t ts_ns)
{
	const struct pf_cpu *cpu = &r->cpus[s->cpu];
	struct pf_ftrace_event *ev = begin(r, PF_FTRACE_WAKEUP, s->cpu, ts_ns);
	int32_t waker = s->has_prev ? s->prev_tid : cpu->is_known ? cpu->tid : -1;

	ev->system = STR("sched");
	ev->name = s->event == PF_FTRACE_SCHED_WAKING ? STR("sched_waking") :
		   s->event == PF_FTRACE_SCHED_WAKEUP ? STR("sched_wakeup") : STR("sched_wakeup_new");
	ev->tid = r->is_recorded ? -1 : waker;
	ev->in_irq = s->in_irq;
	ev->sched.prev_tid = s->in_irq ? 0 : waker;
	ev->sched.prev_prio = 0;
	ev->sched.prev_comm = STR("");
	ev->sched.state = STR("");
	ev->sched.tid = s->tid;
	ev->sched.prio = s->prio;
	ev->sched.comm = text_of(r, s->comm);
	ev->sched.cpu = s->target_cpu;
	ev->sched.mark = s->mark;
	return hand_on(r, ev);
}

static int play_other(struct pf_reader *r, const struct pf_record *head, uint64_t ts_ns, size_t len)
{
	const bool is_marker = head->type == PF_FTRACE_MARKER;
	struct pf_ftrace_event *ev = begin(r, is_marker ? PF_FTRACE_MARKER : PF_FTRACE_EVENT, head->cpu, ts_ns);
	struct pf_piece piece;

	ev->tid = head->tid;
	ev->in_irq = head->number;
	ev->name = text_of(r, head->name);
	ev->system = text_of(r, head->category);
	if (len >= sizeof(*head) + sizeof(piece)) {
		memcpy(&piece, (const char *)r->at + sizeof(*head), sizeof(piece));
		ev->args = (struct model_text){ (const char *)r->at + sizeof(*head) + sizeof(piece), piece.value };
	}
	return hand_on(r, ev);
}

static int play_lost(struct pf_reader *r, const struct pf_record *head, uint64_t ts_ns)
{
	struct pf_ftrace_event *ev = begin(r, PF_FTRACE_LOST, head->cpu, ts_ns);

	r->cpus[head->cpu].is_known = false;
	ev->tid = -1;
	ev->name = ev->system = STR("");
	return hand_on(r, ev);
}

static int play_sched(struct pf_reader *r, uint8_t kind, uint64_t ts_ns, size_t len)
{
	struct pf_sched s;

	if (len == PF_COMPACT_BYTES) {
		memcpy(&s, r->at, PF_COMPACT_BYTES);
		s.event = PF_FTRACE_SCHED_WAKING;
	} else {
		memcpy(&s, r->at, sizeof(s));
	}
	return kind == PF_RECORD_SWITCH ? play_switch(r, &s, ts_ns) : play_waking(r, &s, ts_ns);
}

int pf_play_ftrace(struct pf_reader *r, const struct pf_record *head, uint64_t ts_ns, size_t len)
{
	switch (head->kind) {
	case PF_RECORD_SWITCH:
	case PF_RECORD_WAKING:
		return play_sched(r, head->kind, ts_ns, len);
	case PF_RECORD_LOST:
		return play_lost(r, head, ts_ns);
	default:
		return play_other(r, head, ts_ns, len);
	}
}
