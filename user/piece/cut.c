// SPDX-License-Identifier: GPL-2.0
/*
 * Where each CPU is cut, and what is known there of the threads that do nothing.
 *
 * The cut is at another time on each CPU, and a file that begins there has records of one CPU that are older than the
 * cut of another. So a thread's state is dated when it began, if that can matter, and a wakeup that is younger than the
 * cut of its thread's CPU may follow a sleep that is not known yet: it is carried.
 */
#include <errno.h>
#include <stdlib.h>

#include "base/array.h"
#include "cut_p.h"

/*
 * A wakeup that meets its thread on the way to sleep is written when the thread runs again, with its own time. So a
 * state that began so long before the cut, or later, is dated as it began. How long a thread waits for a CPU has no
 * bound: one that waits longer than this, and meets the cut, has a wakeup before its session.
 */
#define LATE_NS		100000000ULL

bool piece_cpu_known(const struct piece_state *s, unsigned int cpu)
{
	return cpu < s->cpus_end && (s->cpus[cpu].begun || num_cpus_has(&s->session_cpus, cpu));
}

uint64_t piece_cpu_cut_ns(const struct piece_state *s, const struct piece_cut *cut, unsigned int cpu)
{
	const struct cpu *c = &s->cpus[cpu];
	uint64_t bound_ns = c->hidden ? 0 : cut->bound_ns;

	if (!c->begun)
		return s->newest_ns;
	if (c->ended || c->gap)
		return c->last_ns;
	if (cut->cpu_bound_ns && cpu < cut->cpus_cnt)
		bound_ns = cut->cpu_bound_ns[cpu];
	return bound_ns > c->last_ns ? bound_ns : c->last_ns;
}

/* ---- the session ---------------------------------------------------------------------------- */

void piece_cut_session(struct cut *c, const struct piece_state *s, const struct piece_cut *cut)
{
	unsigned int cpu;
	uint64_t ns;

	*c = (struct cut){ 0 };
	c->to_ns = s->newest_ns > s->stop_ns ? s->newest_ns : s->stop_ns;
	if (s->sampled_ns > c->to_ns)
		c->to_ns = s->sampled_ns;
	c->from_ns = UINT64_MAX;
	for (cpu = 0; cpu < s->cpus_end; cpu++) {
		if (!s->cpus[cpu].begun)
			continue;
		ns = piece_cpu_cut_ns(s, cut, cpu);
		c->from_ns = ns < c->from_ns ? ns : c->from_ns;
		if (s->cpus[cpu].gap == GAP_DRAWN)
			ns = s->cpus[cpu].gap_to_ns;
		c->to_ns = ns > c->to_ns ? ns : c->to_ns;
	}
	if (c->from_ns == UINT64_MAX)
		c->from_ns = s->newest_ns;
	if (s->start && c->to_ns < s->start->event.ts)
		c->from_ns = c->to_ns = s->start->event.ts;
	c->first_ns = c->from_ns;
}

uint64_t piece_blind_until(const struct piece_state *s)
{
	unsigned int cpu;

	if (s->partial)
		return UINT64_MAX;
	for (cpu = 0; cpu < s->cpus_end; cpu++)
		if (piece_cpu_known(s, cpu) && s->cpus[cpu].gap)
			return UINT64_MAX;
	return s->blind_ns;
}

/* The same but for those that have done nothing since the recording began. */
static uint64_t started_at(const struct piece_state *s)
{
	unsigned int cpu;

	for (cpu = 0; cpu < s->cpus_end; cpu++)
		if (piece_cpu_known(s, cpu) && (!s->cpus[cpu].begun || s->cpus[cpu].ended))
			return UINT64_MAX;
	return s->started_ns;
}

/* ---- threads -------------------------------------------------------------------------------- */

struct walk {
	struct cut *c;
	const struct piece_state *s;
	const struct piece_cut *cut;
	uint64_t blind_ns, started_ns, first_cut_ns;
};

static int add_mark(const struct walk *w, struct idle_mark mark, bool initial)
{
	struct cut *c = w->c;
	int err;

	if (mark.ts < w->blind_ns || (!initial && mark.ts < w->started_ns) || !w->s->cpus[mark.cpu].begun)
		return 0;
	if (mark.ts + LATE_NS < w->first_cut_ns)
		mark.ts = w->first_cut_ns - 1;
	err = array_reserve(c->marks, c->marks_cnt, c->marks_cap, 1);
	if (!err)
		c->marks[c->marks_cnt++] = mark;
	return err;
}

static int carry(const struct walk *w, const struct thread *t, uint32_t wake)
{
	struct cut *c = w->c;
	int err = 0;

	for (; !err && !w->s->partial && wake != NONE; wake = w->s->wakes[wake].next) {
		if (w->s->wakes[wake].ts + LATE_NS < w->first_cut_ns)
			continue;
		err = array_reserve(c->wakes, c->wakes_cnt, c->wakes_cap, 1);
		if (!err)
			c->wakes[c->wakes_cnt++] = (struct carried_wake){ .koid = t->koid, .wake = w->s->wakes[wake] };
	}
	return err;
}

/* One that is asleep, or of which nothing is known: its first wakeup has ended that. */
static int add_woken(const struct walk *w, const struct thread *t, const struct wake *wake, uint16_t cpu)
{
	int err = add_mark(w, (struct idle_mark){
		.ts = wake->ts, .koid = t->koid, .prio = wake->prio, .cpu = cpu, .fxt_state = FXT_STATE_RUNNING,
	}, false);

	return err ? err : carry(w, t, wake->next);
}

static int add_thread(const struct walk *w, const struct thread *t)
{
	const struct wake *wake = t->wakes == NONE ? NULL : &w->s->wakes[t->wakes];
	/* It may have run last on a CPU that has gone offline. */
	const uint16_t cpu = wake && w->s->cpus[wake->cpu].begun ? wake->cpu : t->cpu;
	int err = 0;

	if (t->exited || !t->koid)
		return 0;
	if (t->state != RUN_RUNNING && t->state != RUN_QUEUED && wake &&
	    wake->ts <= piece_cpu_cut_ns(w->s, w->cut, cpu))
		return add_woken(w, t, wake, cpu);
	if (t->state == RUN_QUEUED || t->state == RUN_ASLEEP)
		err = add_mark(w, (struct idle_mark){
			.ts = t->since_ns, .koid = t->koid, .prio = t->prio, .cpu = t->cpu,
			.fxt_state = t->fxt_state, .linux_state = t->linux_state,
		}, t->initial);
	return err ? err : carry(w, t, t->wakes);
}

static int compare_marks(const void *pa, const void *pb)
{
	const struct idle_mark *a = pa, *b = pb;

	if (a->ts != b->ts)
		return a->ts < b->ts ? -1 : 1;
	return a->koid < b->koid ? -1 : a->koid > b->koid;
}

static int compare_wakes(const void *pa, const void *pb)
{
	const struct carried_wake *a = pa, *b = pb;

	if (a->wake.ts != b->wake.ts)
		return a->wake.ts < b->wake.ts ? -1 : 1;
	return a->koid < b->koid ? -1 : a->koid > b->koid;
}

int piece_cut_init(struct cut *c, const struct piece_state *s, const struct piece_cut *cut)
{
	struct walk w = { .c = c, .s = s, .cut = cut };
	const struct thread *t;
	int err = 0;

	piece_cut_session(c, s, cut);
	w.first_cut_ns = c->from_ns;
	w.blind_ns = piece_blind_until(s);
	w.started_ns = started_at(s);
	for (t = s->threads; !err && t < s->threads + s->threads_cnt; t++)
		err = add_thread(&w, t);
	if (err) {
		piece_cut_fini(c);
		return err;
	}
	if (c->marks_cnt)
		qsort(c->marks, c->marks_cnt, sizeof(*c->marks), compare_marks);
	if (c->wakes_cnt)
		qsort(c->wakes, c->wakes_cnt, sizeof(*c->wakes), compare_wakes);
	if (c->marks_cnt && c->marks[0].ts < c->from_ns)
		c->from_ns = c->marks[0].ts;
	if (c->wakes_cnt && c->wakes[0].wake.ts < c->from_ns)
		c->from_ns = c->wakes[0].wake.ts;
	return 0;
}

void piece_cut_fini(struct cut *c)
{
	free(c->marks);
	free(c->wakes);
	*c = (struct cut){ 0 };
}
