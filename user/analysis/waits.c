// SPDX-License-Identifier: GPL-2.0
/*
 * The longest wait of each thread.
 *
 * Time is cut into clear stretches, in which all CPUs are recorded, and blind ones. In a clear
 * stretch the state of a thread is what its last record in it says, and before its first one what
 * that record needs: who is switched in was runnable, who is woken was blocked. In a blind stretch
 * a thread that does not run may have been woken, run and blocked.
 *
 * From one record of a thread to the next there is a stretch for which it may have waited, from
 * @from_ns on, and pieces of it that are proven. A thread that is switched in waited in all clear
 * stretches since its last record, but for those before a blind one that may hide its wakeup.
 */
#include "waits.h"

#include <errno.h>
#include <stdlib.h>

#include "base/array.h"

enum wait_state {
	WAIT_UNKNOWN,
	WAIT_RUNNING,
	WAIT_RUNNABLE,
	WAIT_BLOCKED,
};

struct wait_thread {
	uint64_t since_ns;	/* in this state */
	uint64_t from_ns;	/* it may wait from here on; BLOCKED: once a blind stretch has begun */
	uint64_t proven_ns;	/* the longest wait that is certain, or a part of it */
	uint64_t exact_ns;	/* the longest of which both ends are certain */
	uint64_t may_ns;	/* the longest that is possible */
	uint32_t clear;		/* the clear stretch in which the state was set, or the next one */
	uint8_t state;		/* enum wait_state */
	bool in_blind;		/* it was set in a blind one */
	bool seen;
	bool is_cut;		/* a `state` mark: the wait began before the recording did */
};

struct clear {
	uint64_t from_ns, to_ns;	/* @to_ns once it has ended */
	uint64_t before_ns;		/* length of all clear stretches before */
	uint32_t woken;			/* the last clear stretch, up to this, before which wakeups may be hidden */
};

struct waits {
	const struct timeline *tl;
	struct wait_thread *threads;	/* as timeline.threads */
	struct clear *clears;
	uint32_t clears_cnt, clears_cap;
	uint64_t begin_ns, end_ns;	/* what is before and after is not looked at */
	uint64_t last_ns;		/* time of the last event played */
	struct timeline_gap *gaps;	/* of switches and wakeups, by CPU and time */
	size_t gaps_cnt;
	bool blind, hides_wakeups;	/* the blind stretch that is, or comes */
	bool blank;			/* always blind: CPUs are not recorded, or records are missing anywhere */
	bool gap_at_start;		/* before the first clear stretch */
	bool filtered;			/* of others than the selected threads records may be left out */
};

/* ---- where waits are looked for ------------------------------------------------- */

static bool is_among(bool known, const struct num_cpus *cpus, unsigned int cpu)
{
	return !known || num_cpus_has(cpus, cpu);
}

/*
 * CPUs start and stop one after the other. A recording is looked at from when the last one has
 * started until the first one stops; those that were offline then do not count.
 */
static void find_ends(struct waits *w)
{
	const struct timeline_session *s = &w->tl->session;
	const struct timeline_event *ev = w->tl->events, *end = ev + w->tl->events_cnt;
	const bool whole = s->has_stop && !timeline_write_failed(w->tl);
	uint64_t gap_ns = UINT64_MAX;

	if (ev == end)
		return;
	w->begin_ns = ev->ts_ns;
	w->end_ns = end[-1].ts_ns;
	for (; s->has_start && ev < end; ev++) {
		if (ev->kind != TIMELINE_SWITCH)
			continue;
		if (ev->mark == TIMELINE_MARK_GAP && ev->ts_ns < gap_ns)
			gap_ns = ev->ts_ns;
		if (ev->mark == TIMELINE_MARK_START && is_among(s->has_online, &s->online_start, ev->cpu) &&
		    ev->ts_ns > w->begin_ns)
			w->begin_ns = ev->ts_ns;
		if (ev->mark == TIMELINE_MARK_STOP && whole &&
		    is_among(s->has_online_stop, &s->online_stop, ev->cpu) && ev->ts_ns < w->end_ns)
			w->end_ns = ev->ts_ns;
	}
	w->gap_at_start = gap_ns <= w->begin_ns;
}

static int compare_gaps(const void *pa, const void *pb)
{
	const struct timeline_gap *a = pa, *b = pb;

	if (a->cpu != b->cpu)
		return a->cpu < b->cpu ? -1 : 1;
	return a->from_ns < b->from_ns ? -1 : a->from_ns > b->from_ns;
}

static int sort_gaps(struct waits *w)
{
	const struct timeline_session *s = &w->tl->session;
	size_t i;

	w->gaps = calloc(s->gaps_cnt + 1, sizeof(*w->gaps));
	if (!w->gaps)
		return -ENOMEM;
	for (i = 0; i < s->gaps_cnt; i++)
		if (!s->gaps[i].of_events)
			w->gaps[w->gaps_cnt++] = s->gaps[i];
	qsort(w->gaps, w->gaps_cnt, sizeof(*w->gaps), compare_gaps);
	return 0;
}

/* Whether wakeups may be missing where this record begins to be blind; a gap's slice counts them. */
static bool may_hide_wakeups(const struct waits *w, const struct timeline_event *ev)
{
	const struct timeline_gap key = { .cpu = ev->cpu, .from_ns = ev->ts_ns };
	const struct timeline_gap *gap;

	if (ev->mark != TIMELINE_MARK_GAP)
		return ev->mark == TIMELINE_MARK_STOP;
	gap = bsearch(&key, w->gaps, w->gaps_cnt, sizeof(*w->gaps), compare_gaps);
	return !gap || gap->lost[LOSS_WAKEUPS];
}

int waits_open(struct waits **out, const struct timeline *tl, bool damaged)
{
	struct waits *w = calloc(1, sizeof(*w));
	size_t i;

	if (!w)
		return -ENOMEM;
	w->tl = tl;
	w->blind = w->hides_wakeups = true;
	w->blank = damaged || timeline_is_partial(tl);
	w->filtered = tl->session.filter;
	w->threads = calloc(tl->threads_cnt + 1, sizeof(*w->threads));
	if (!w->threads || sort_gaps(w)) {
		waits_close(w);
		return -ENOMEM;
	}
	find_ends(w);
	w->last_ns = w->begin_ns;
	for (i = 0; i < tl->threads_cnt; i++) {
		w->threads[i].from_ns = w->begin_ns;
		w->threads[i].in_blind = true;
	}
	*out = w;
	return 0;
}

/* A clear stretch begins or ends with the event before. */
static int follow_clears(struct waits *w, const struct replay *rp)
{
	const bool blind = w->blank || rp->blind;
	struct clear *c = w->clears_cnt ? &w->clears[w->clears_cnt - 1] : NULL, next = { .from_ns = w->last_ns };

	if (blind == w->blind)
		return 0;
	w->blind = blind;
	if (blind) {
		c->to_ns = w->last_ns;
		return 0;
	}
	if (c) {
		next.before_ns = c->before_ns + c->to_ns - c->from_ns;
		next.woken = w->hides_wakeups ? w->clears_cnt : c->woken;
	}
	w->hides_wakeups = false;
	if (array_reserve(w->clears, w->clears_cnt, w->clears_cap, 1))
		return -ENOMEM;
	w->clears[w->clears_cnt++] = next;
	return 0;
}

/* ---- what is known of a thread --------------------------------------------------- */

/* Whether a blind stretch was or is since its state was set. */
static bool is_hidden(const struct waits *w, const struct wait_thread *t)
{
	if (t->is_cut && !w->clears_cnt)	/* a `state` mark: true until all CPUs have started */
		return w->blank || w->gap_at_start;
	return t->in_blind || w->blind || t->clear != w->clears_cnt - 1;
}

/* Its state is certain up to there, from when it was set. */
static uint64_t known_until(const struct waits *w, const struct wait_thread *t, uint64_t ts_ns)
{
	if (!is_hidden(w, t))
		return ts_ns;
	if (t->in_blind || t->clear >= w->clears_cnt)
		return t->since_ns;
	return w->clears[t->clear].to_ns > t->since_ns ? w->clears[t->clear].to_ns : t->since_ns;
}

/* The state is that of a record at @ts_ns from there on; @ts_ns: nothing of the time before. */
static uint64_t known_from(const struct waits *w, const struct wait_thread *t, uint64_t ts_ns)
{
	if (w->filtered || w->blind || !is_hidden(w, t))
		return ts_ns;
	return w->clears[w->clears_cnt - 1].from_ns;
}

/* For how long a thread that is runnable at @ts_ns was so before, in clear stretches, without having run. */
static uint64_t waited_before(const struct waits *w, const struct wait_thread *t, uint64_t ts_ns)
{
	const struct clear *now;
	uint32_t first = t->in_blind ? t->clear : t->clear + 1;

	if (w->filtered || w->blind || !is_hidden(w, t))
		return 0;
	now = &w->clears[w->clears_cnt - 1];
	if (t->state == WAIT_BLOCKED && now->woken < first)
		return 0;	/* no place where it can have been woken */
	if (now->woken > first)
		first = now->woken;
	else if (t->state == WAIT_RUNNABLE && !t->in_blind && now->woken <= t->clear)
		return now->before_ns - w->clears[t->clear].before_ns + ts_ns - now->from_ns -
		       (t->since_ns > w->clears[t->clear].from_ns ? t->since_ns - w->clears[t->clear].from_ns : 0);
	return first < w->clears_cnt ? now->before_ns - w->clears[first].before_ns + ts_ns - now->from_ns : 0;
}

static void longer(uint64_t *ns, uint64_t from_ns, uint64_t to_ns)
{
	if (to_ns > from_ns && to_ns - from_ns > *ns)
		*ns = to_ns - from_ns;
}

static void may_wait(const struct waits *w, struct wait_thread *t, uint64_t from_ns, uint64_t to_ns)
{
	longer(&t->may_ns, from_ns > w->begin_ns ? from_ns : w->begin_ns, to_ns < w->end_ns ? to_ns : w->end_ns);
}

/* Before @known_ns, from when on its next record says its state, it may have waited. */
static void leave_state(const struct waits *w, struct wait_thread *t, uint64_t known_ns, bool runs)
{
	const uint64_t until_ns = known_until(w, t, known_ns);

	if (t->state == WAIT_RUNNING)
		return;
	if (t->state == WAIT_RUNNABLE)
		longer(&t->proven_ns, t->since_ns, until_ns < w->end_ns ? until_ns : w->end_ns);
	if (t->state == WAIT_BLOCKED) {
		t->from_ns = until_ns;
		if (!is_hidden(w, t) && runs)	/* its wakeup is not in the trace */
			t->from_ns = t->since_ns;
	}
	may_wait(w, t, t->from_ns, known_ns);
}

static void set_state(const struct waits *w, struct wait_thread *t, enum wait_state state, uint64_t ts_ns)
{
	*t = (struct wait_thread){
		.since_ns = ts_ns, .from_ns = ts_ns, .state = state, .seen = true,
		.clear = w->clears_cnt - !w->blind, .in_blind = w->blind,
		.proven_ns = t->proven_ns, .exact_ns = t->exact_ns, .may_ns = t->may_ns,
	};
}

static enum wait_state state_after(const struct timeline_event *ev)
{
	if (ev->filtered)
		return WAIT_UNKNOWN;
	switch (ev->state) {
	case FXT_STATE_RUNNING:
		return WAIT_RUNNABLE;
	case FXT_STATE_SUSPENDED:
	case FXT_STATE_BLOCKED:
	case FXT_STATE_DYING:
	case FXT_STATE_DEAD:
		return WAIT_BLOCKED;
	default:
		return WAIT_UNKNOWN;
	}
}

/* ---- records ------------------------------------------------------------------- */

static void play_state(const struct waits *w, struct wait_thread *t, const struct timeline_event *ev)
{
	set_state(w, t, state_after(ev), ev->ts_ns);
	t->in_blind &= w->clears_cnt || w->blank || w->gap_at_start;
	t->is_cut = true;
}

static void play_in(const struct waits *w, struct wait_thread *t, const struct replay *rp,
		    const struct timeline_event *ev)
{
	const bool hidden = is_hidden(w, t);
	/* A mark names the running task, not since when it runs. */
	const uint64_t waited_ns = ev->mark == TIMELINE_MARK_NONE ? waited_before(w, t, ev->ts_ns) : 0;

	leave_state(w, t, ev->ts_ns, true);
	if (t->state == WAIT_RUNNABLE && !hidden && !t->is_cut && ev->mark == TIMELINE_MARK_NONE)
		longer(&t->exact_ns, t->since_ns, ev->ts_ns);
	if (t->state != WAIT_RUNNING)
		longer(&t->proven_ns, 0, waited_ns);
	/* If the CPU's records end here, it is not known for how long it runs. */
	set_state(w, t, replay_is_last(rp, ev) ? WAIT_UNKNOWN : WAIT_RUNNING, ev->ts_ns);
}

static void play_out(const struct waits *w, struct wait_thread *t, const struct timeline_event *ev)
{
	const bool marked = ev->mark != TIMELINE_MARK_NONE;

	leave_state(w, t, marked ? ev->ts_ns : known_from(w, t, ev->ts_ns), true);
	set_state(w, t, marked ? WAIT_UNKNOWN : state_after(ev), ev->ts_ns);
}

/* What came before was not reported: it ran and slept, or was woken, at some time. */
static void play_marked_wakeup(const struct waits *w, struct wait_thread *t, const struct timeline_event *ev)
{
	const bool gap = ev->mark == TIMELINE_MARK_GAP;
	uint64_t from_ns = t->from_ns;

	if (t->state == WAIT_BLOCKED || t->state == WAIT_RUNNING)
		from_ns = t->since_ns;
	may_wait(w, t, from_ns, ev->ts_ns);
	set_state(w, t, gap ? WAIT_RUNNABLE : WAIT_UNKNOWN, ev->ts_ns);
	if (!gap)
		t->from_ns = from_ns;
}

static void play_wakeup(const struct waits *w, struct wait_thread *t, const struct timeline_event *ev)
{
	if (ev->mark != TIMELINE_MARK_NONE) {
		play_marked_wakeup(w, t, ev);
		return;
	}
	if (t->state == WAIT_RUNNING || (t->state == WAIT_RUNNABLE && !is_hidden(w, t)))
		return;		/* it is awake: a second wakeup ends nothing */
	leave_state(w, t, known_from(w, t, ev->ts_ns), false);
	set_state(w, t, WAIT_RUNNABLE, ev->ts_ns);
}

int waits_play(struct waits *w, const struct replay *rp, const struct timeline_event *ev)
{
	int err = follow_clears(w, rp);

	if (err)
		return err;
	w->last_ns = ev->ts_ns;
	if (ev->ts_ns > w->end_ns)
		return 0;
	if (ev->kind == TIMELINE_WAKEUP) {
		if (ev->in != TIMELINE_IDLE)
			play_wakeup(w, &w->threads[ev->in], ev);
		return 0;
	}
	w->hides_wakeups |= rp->cpus[ev->cpu].live && (may_hide_wakeups(w, ev) || replay_is_last(rp, ev));
	if (ev->out != TIMELINE_IDLE && ev->mark == TIMELINE_MARK_STATE)
		play_state(w, &w->threads[ev->out], ev);
	else if (ev->out != TIMELINE_IDLE)
		play_out(w, &w->threads[ev->out], ev);
	if (ev->in != TIMELINE_IDLE)
		play_in(w, &w->threads[ev->in], rp, ev);
	return 0;
}

void waits_end(struct waits *w)
{
	size_t i;

	for (i = 0; i < w->tl->threads_cnt; i++)
		if (w->threads[i].seen)
			leave_state(w, &w->threads[i], w->end_ns, false);
}

struct waits_longest waits_of(const struct waits *w, uint32_t thread)
{
	const struct wait_thread *t = &w->threads[thread];

	return (struct waits_longest){
		.ns = t->proven_ns,
		.complete = t->seen && t->exact_ns >= t->proven_ns && t->exact_ns >= t->may_ns,
	};
}

void waits_close(struct waits *w)
{
	if (!w)
		return;
	free(w->gaps);
	free(w->clears);
	free(w->threads);
	free(w);
}
