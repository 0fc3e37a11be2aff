// SPDX-License-Identifier: GPL-2.0
/*
 * Scheduling as text says it: switches and wakeups.
 */
#include "import_p.h"

#include <errno.h>

/* ---- switches -------------------------------------------------------------- */

static enum fxt_thread_state state_of_letter(char c)
{
	switch (c) {
	case 'R':
		return FXT_STATE_RUNNING;
	case 'T': case 't':
		return FXT_STATE_SUSPENDED;
	case 'Z':
		return FXT_STATE_DYING;
	case 'X': case 'x':
		return FXT_STATE_DEAD;
	default:
		return FXT_STATE_BLOCKED;
	}
}

/* Of several states the one that lasts. */
static unsigned int rank_of(enum fxt_thread_state state)
{
	static const uint8_t ranks[] = {
		[FXT_STATE_BLOCKED] = 1, [FXT_STATE_SUSPENDED] = 2, [FXT_STATE_DYING] = 3,
		[FXT_STATE_DEAD] = 4,
	};

	return ranks[state];
}

/* Of field dumps: bits as in the kernel's task_report_str[], since 4.14. */
static struct model_text letter_of_number(int64_t bits)
{
	static const char letters[] = "SDTtXZPI";
	unsigned int i;

	if (bits & 0x100)
		return (struct model_text){ "R+", 2 };
	for (i = 8; i > 0; i--)
		if (bits & 1 << (i - 1))
			return (struct model_text){ letters + i - 1, 1 };
	return (struct model_text){ "R", 1 };
}

/* Letters as the kernel prints them, also several with bars between; plain R and S say no more. */
static void set_switch_state(const struct ftrace_event *ev, struct model_text state,
			     struct switch_record *s)
{
	enum fxt_thread_state one;
	int64_t bits;
	size_t i;

	/* A source that is not text has letters only. */
	if (!ev->sched && text_int(state, &bits))
		state = letter_of_number(bits);
	/* trace-cmd has an older table: it prints the idle state as W. */
	if (ev->dialect == FTRACE_TRACE_CMD && text_is(state, "W"))
		state = (struct model_text){ "I", 1 };
	s->state = FXT_STATE_RUNNING;
	for (i = 0; i < state.len && state.data[state.len - 1] != '+'; i++) {
		one = state.data[i] == '|' ? FXT_STATE_RUNNING : state_of_letter(state.data[i]);
		if (rank_of(one) > rank_of(s->state))
			s->state = one;
	}
	if (!text_is(state, "R") && !text_is(state, "S")) {
		s->linux_state = state;
		s->linux_state.len = state.len < 16 ? state.len : 16;
	}
}

static int write_switch(struct builder *b, const struct record *r)
{
	const struct sched_text *text = r->ev->sched;
	struct thread *out = thread_get(b, text->prev_tid), *in = thread_get(b, text->next_tid);
	struct switch_record s = {
		.ts = r->ts, .mark = (enum fixed)text->mark, .out = { out, text->prev_prio }, .in = { in, text->next_prio },
	};

	if (!out || !in || !r->cpu)
		return -ENOMEM;
	thread_name(b, out, text->prev_comm, NAME_ARGUMENT);
	thread_name(b, in, text->next_comm, NAME_ARGUMENT);
	set_switch_state(r->ev, text->state, &s);
	if (s.mark == FIXED_FILTER)
		s.linux_state.len = 0;	/* recorders do not write it there */
	s.is_filtered = s.mark == FIXED_FILTERED;
	if (s.is_filtered)
		s.mark = 0;
	return sched_write_switch(b, r->cpu, &s);
}

/* "<...>" is that of a thread that has none. */
static void name_thread(struct builder *b, struct thread *t, struct model_text comm)
{
	if (!text_is(comm, "<...>"))
		thread_name(b, t, comm, NAME_ARGUMENT);
}

int on_switch(struct builder *b, const struct record *r)
{
	struct switch_record s = { .ts = r->ts };
	const struct sched_text *text;
	struct thread *out, *in;
	struct sched_text buf;
	int err = 0;
	bool late;

	if (r->ev->recorded)
		return write_switch(b, r);
	text = sched_parse_switch(r->ev, &buf);
	if (!text)
		return OUT_OTHER;
	out = r->t && r->t->tid == text->prev_tid ? r->t : thread_get(b, text->prev_tid);
	in = thread_get(b, text->next_tid);
	if (!out || !in)
		return -ENOMEM;
	late = sched_is_late(b, r->cpu, r->ns, out, in);
	if (!late && out->state == SCHED_DEAD)
		err = thread_renew(b, out);
	if (!late && !err && in->state == SCHED_DEAD)
		err = thread_renew(b, in);
	if (err)
		return err;
	name_thread(b, out, text->prev_comm);
	name_thread(b, in, text->next_comm);
	if (late)
		return OUT_LATE;
	s.out = (struct side){ out, text->prev_prio };
	s.in = (struct side){ in, text->next_prio };
	set_switch_state(r->ev, text->state, &s);
	err = sched_play_switch(b, r->cpu, &s);
	return err ? err : OUT_SWITCH;
}

/* ---- wakeups ---------------------------------------------------------------- */

/* OUT_WAKEUP if it is one that can be written, else what it is. */
static int parse_wake(struct builder *b, const struct record *r, struct wake *w, bool is_new)
{
	struct sched_text buf;
	const struct sched_text *text = sched_parse_wakeup(r->ev, &buf);
	bool late;

	if (!text)
		return OUT_OTHER;
	w->t = thread_get(b, text->next_tid);
	if (!w->t || sched_have_wakes(b))
		return -ENOMEM;
	if (w->t == b->idle || !text->success)
		return OUT_NO_OP;
	late = !sched_in_order(b, w->t, r->ns) || b->unsafe_wakes;
	if (!late && (w->t->state == SCHED_DEAD || (is_new && w->t->exited)) &&
	    thread_renew(b, w->t))
		return -ENOMEM;
	name_thread(b, w->t, text->next_comm);
	w->cpu = r->cpu ? r->cpu->nr : 0;
	if (text->cpu >= 0 && text->cpu < CPUS_MAX)
		w->cpu = (uint16_t)text->cpu;
	w->waker = r->ev->in_irq || !r->t ? 0 : r->t->koid;
	w->t->prio = text->next_prio;
	return late ? OUT_LATE : OUT_WAKEUP;
}

static int write_wake(struct builder *b, const struct record *r)
{
	const struct sched_text *text = r->ev->sched;
	struct thread *waker = text->prev_tid > 0 ? thread_get(b, text->prev_tid) : b->idle;
	struct wake w = { .t = thread_get(b, text->next_tid), .cpu = (uint16_t)text->cpu };

	if (!w.t || !waker || sched_have_wakes(b))
		return -ENOMEM;
	thread_name(b, w.t, text->next_comm, NAME_ARGUMENT);
	w.waker = waker->koid;
	w.t->prio = text->next_prio;
	return sched_write_marked_wake(b, r->ts, &w, (enum fixed)text->mark);
}

int on_waking(struct builder *b, const struct record *r)
{
	struct wake w;
	int out;

	if (r->ev->recorded)
		return write_wake(b, r);
	out = parse_wake(b, r, &w, false);
	if (out != OUT_WAKEUP)
		return out;
	out = sched_play_wake(b, r->ts, &w);
	w.t->woken = out == OUT_WAKEUP;
	return out;
}

/* The waking of a thread that then went to sleep: its waker is the true one. */
int on_wakeup(struct builder *b, const struct record *r)
{
	struct wake w;
	int out = parse_wake(b, r, &w, false);
	bool woken;

	if (out != OUT_WAKEUP)
		return out;
	woken = w.t->woken;
	w.t->woken = false;
	if (sched_is_awake(b, w.t, r->ns))
		return woken ? OUT_DUPLICATE : OUT_NO_OP;
	if (w.t->maybe_woken)
		return sched_write_wake(b, r->ts, w.t, w.t->wake_waker, w.t->wake_cpu);
	return sched_write_wake(b, r->ts, w.t, w.waker, w.cpu);
}

int on_wakeup_new(struct builder *b, const struct record *r)
{
	struct wake w;
	int out = parse_wake(b, r, &w, true);

	if (out != OUT_WAKEUP)
		return out;
	w.t->woken = false;
	if (sched_is_awake(b, w.t, r->ns))
		return OUT_NO_OP;
	return sched_write_wake(b, r->ts, w.t, w.waker, w.cpu);
}
