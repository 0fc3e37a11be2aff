// SPDX-License-Identifier: GPL-2.0
/* See waits.h. */
#include "waits.h"

#include <errno.h>
#include <stdlib.h>

#include "base/array.h"

/* Which pieces of a gap are of the wait, where blind times divide it. */
#define PIECE_WHOLE	1U	/* all of it, if nothing divides it */
#define PIECE_FIRST	2U
#define PIECE_MIDDLE	4U
#define PIECE_LAST	8U

#define LIST_MIN	1024U	/* shorter ones may as well wait */

struct piece {
	uint64_t from_ns, to_ns;
	bool is_partial;
};

void thread_waits_init(struct thread_waits *w)
{
	const uint64_t runq = firing_least(w->firing, TRIGGER_RUNQ), blocked = firing_least(w->firing, TRIGGER_BLOCKED);

	w->asked.threads = w->threads;
	w->asked.blind = w->blind;
	w->asked.firing = w->firing;
	w->runq = firing_mask(w->firing, TRIGGER_RUNQ);
	w->blocked = firing_mask(w->firing, TRIGGER_BLOCKED);
	w->offcpu = firing_mask(w->firing, TRIGGER_OFFCPU);
	w->least_ns = runq < blocked ? runq : blocked;
	w->least_off_ns = firing_least(w->firing, TRIGGER_OFFCPU);
}

void thread_waits_fini(struct thread_waits *w)
{
	enum thread_wait id;

	for (id = 0; id < WAIT_LISTS; id++) {
		free(w->lists[id].koids);
		free(w->later[id].koids);
		w->lists[id] = w->later[id] = (struct wait_list){ 0 };
	}
	asked_fini(&w->asked);
	free(w->gaps);
	w->gaps = NULL;
	w->gaps_cnt = w->gaps_cap = 0;
}

/* ---- gaps ------------------------------------------------------------------------ */

static int append(struct thread_waits *w, struct thread *t, const struct wait_gap *gap)
{
	if (array_reserve(w->gaps, w->gaps_cnt, w->gaps_cap, 1))
		return -ENOMEM;
	w->gaps[w->gaps_cnt] = *gap;
	w->gaps[w->gaps_cnt].next = t->gaps;
	t->gaps = (uint32_t)w->gaps_cnt++;
	return 0;
}

int thread_waits_add_gap(struct thread_waits *w, struct thread *t, const struct wait_record *rec, bool of_switches)
{
	const uint32_t mask = of_switches ? w->offcpu : w->runq | w->blocked;
	const struct wait_gap gap = {
		.koid = t->koid, .from_ns = of_switches ? t->switched_ns : t->last_ns, .to_ns = rec->ts_ns,
		.fired = t->fired & mask, .from = of_switches ? t->switched : t->state, .to = rec->state,
		.of_switches = of_switches, .is_begun = of_switches ? t->switch_is_begun : t->is_begun,
	};

	t->fired &= ~mask;
	t->asked &= ~(1U << (of_switches ? WAIT_OFF : WAIT_LAST));
	return append(w, t, &gap);
}

/* Of equal times, the order in which that happens to a thread. */
static bool is_in(const struct wait_gap *gap, const struct wait_record *rec)
{
	const unsigned int rank = thread_waits_rank_of(rec);

	if (rec->ts_ns < gap->from_ns || (rec->ts_ns == gap->from_ns && rank < thread_waits_rank(gap->from)))
		return false;
	return rec->ts_ns < gap->to_ns || (rec->ts_ns == gap->to_ns && rank <= thread_waits_rank(gap->to));
}

int thread_waits_add_late(struct thread_waits *w, struct thread *t, const struct wait_record *rec, bool of_switches)
{
	const uint64_t least_ns = of_switches ? w->least_off_ns : w->least_ns;
	struct wait_gap *gap, second;
	uint32_t i;

	for (i = t->gaps; i != THREAD_NO_GAPS; i = w->gaps[i].next) {
		gap = &w->gaps[i];
		if (gap->of_switches == of_switches && is_in(gap, rec))
			break;
	}
	if (i == THREAD_NO_GAPS)
		return 0;
	second = *gap;
	second.from_ns = rec->ts_ns;
	second.from = rec->state;
	second.fired = 0;
	second.is_begun = rec->is_begun;
	gap->to_ns = rec->ts_ns;
	gap->to = rec->state;
	if (second.to_ns - second.from_ns <= least_ns)
		return 0;
	if (gap->to_ns - gap->from_ns > least_ns)
		return append(w, t, &second);
	/* The first part is too short to count. Records come in order by CPU: the next one would have to pass by it. */
	*gap = second;
	return 0;
}

/* ---- what is proven of a gap --------------------------------------------------------- */

static void keep_longer(struct piece *best, uint64_t from_ns, uint64_t to_ns, bool is_partial)
{
	if (to_ns > from_ns && to_ns - from_ns > best->to_ns - best->from_ns)
		*best = (struct piece){ from_ns, to_ns, is_partial };
}

/* The longest piece of @gap that counts; of length 0 if none does. */
static struct piece longest_piece(const struct thread_waits *w, const struct wait_gap *gap, unsigned int counts)
{
	const struct blind *b = w->blind;
	const struct blind_span *span, *end = b->spans + b->cnt;
	struct piece best = { 0 };
	uint64_t from_ns = gap->from_ns;
	bool first = true, last = false;

	/* The state that a mark `state` reports held until all CPUs had started. */
	if (from_ns < b->begin_ns && !gap->is_begun) {
		from_ns = b->begin_ns;
		first = false;
	}
	span = blind_after(b, from_ns) ?: end;
	for (; from_ns < gap->to_ns && !last; first = false) {
		last = span == end || span->from_ns >= gap->to_ns;
		if (first && last && counts & PIECE_WHOLE)
			keep_longer(&best, from_ns, gap->to_ns, gap->is_begun);
		else if (!(first && last) && counts & (first ? PIECE_FIRST : last ? PIECE_LAST : PIECE_MIDDLE))
			keep_longer(&best, from_ns, last ? gap->to_ns : span->from_ns, true);
		if (!last)
			from_ns = span++->to_ns;
	}
	return best;
}

/* @gap->to is THREAD_UNKNOWN_YET for one that goes on. */
static unsigned int runq_pieces(const struct thread_waits *w, const struct wait_gap *gap)
{
	const bool runs = gap->to == THREAD_RUNS, goes_on = gap->to == THREAD_UNKNOWN_YET;
	unsigned int counts = 0;

	if (thread_waits_is_runnable(gap->from) && gap->to != THREAD_WOKEN_AGAIN)
		counts |= PIECE_FIRST | (runs || goes_on ? PIECE_WHOLE : 0);
	/* It runs without having been woken since, so it was runnable. */
	if (runs && !w->is_filtered && gap->from != THREAD_UNKNOWN_YET)
		counts |= PIECE_LAST;
	return counts;
}

static unsigned int blocked_pieces(const struct wait_gap *gap)
{
	const bool woken = gap->to == THREAD_WOKEN, goes_on = gap->to == THREAD_UNKNOWN_YET;

	if (gap->from != THREAD_BLOCKED || gap->to == THREAD_WOKEN_AGAIN || gap->to == THREAD_WOKEN_BEFORE)
		return 0;
	return PIECE_FIRST | (woken || goes_on ? PIECE_WHOLE : 0);
}

static unsigned int offcpu_pieces(const struct thread_waits *w, const struct wait_gap *gap)
{
	const bool runs = gap->to == THREAD_RUNS, goes_on = gap->to == THREAD_UNKNOWN_YET;
	unsigned int counts = 0;

	if (thread_waits_is_off(gap->from) && gap->to != THREAD_WOKEN_AGAIN)
		counts |= PIECE_FIRST | (runs || goes_on ? PIECE_WHOLE : 0);
	/* It is alive, and no record says that it ran where there are all records. */
	if (runs && !w->is_filtered && gap->from != THREAD_UNKNOWN_YET)
		counts |= PIECE_MIDDLE | PIECE_LAST;
	return counts;
}

/* Fires those of @mask whose threshold a piece is above; returns these, whether they select the thread or not. */
static uint32_t fire_piece(struct thread_waits *w, const struct wait_gap *gap, uint32_t mask, unsigned int counts)
{
	const struct piece piece = longest_piece(w, gap, counts);
	const struct trigger_fired what = {
		.value = piece.to_ns - piece.from_ns, .thread = gap->koid, .from_ns = piece.from_ns,
		.to_ns = piece.to_ns, .cpu = -1, .is_partial = piece.is_partial,
		.is_ongoing = gap->to == THREAD_UNKNOWN_YET && piece.to_ns == gap->to_ns,
	};

	return firing_add_above(w->firing, mask & ~gap->fired, &what);
}

static uint32_t evaluate(struct thread_waits *w, const struct wait_gap *gap)
{
	uint32_t fired = 0;

	if (gap->of_switches)
		return fire_piece(w, gap, w->offcpu, offcpu_pieces(w, gap));
	if (w->runq)
		fired = fire_piece(w, gap, w->runq, runq_pieces(w, gap));
	if (w->blocked)
		fired |= fire_piece(w, gap, w->blocked, blocked_pieces(gap));
	return fired;
}

/* ---- rounds ------------------------------------------------------------------------- */

/* Evaluates gaps that ended before @complete_ns and drops them. */
static void end_gaps(struct thread_waits *w, uint64_t complete_ns)
{
	size_t i, kept = 0;
	struct thread *t;

	for (i = 0; i < w->gaps_cnt; i++) {
		t = threads_find(w->threads, w->gaps[i].koid);
		t->gaps = THREAD_NO_GAPS;
	}
	for (i = 0; i < w->gaps_cnt; i++) {
		struct wait_gap *gap = &w->gaps[i];

		if (gap->to_ns < complete_ns) {
			if (!w->is_blank)
				evaluate(w, gap);
			continue;
		}
		t = threads_find(w->threads, gap->koid);
		gap->next = t->gaps;
		t->gaps = (uint32_t)kept;
		w->gaps[kept++] = *gap;
	}
	w->gaps_cnt = kept;
}

static int list_add(struct wait_list *list, uint64_t koid)
{
	if (array_reserve(list->koids, list->cnt, list->cap, 1))
		return -ENOMEM;
	list->koids[list->cnt++] = koid;
	return 0;
}

int thread_waits_list(struct thread_waits *w, struct thread *t, enum thread_wait id)
{
	if (list_add(&w->lists[id], t->koid))
		return -ENOMEM;
	t->listed |= 1U << id;
	return 0;
}

/* What @t has been waiting for since its last record, or since its last switch. */
static struct wait_gap ongoing_gap(const struct thread *t, enum thread_wait id, uint64_t complete_ns)
{
	const bool off = id == WAIT_OFF;

	return (struct wait_gap){
		.koid = t->koid, .from_ns = off ? t->switched_ns : t->last_ns, .to_ns = complete_ns, .fired = t->fired,
		.from = off ? t->switched : t->state, .is_begun = off ? t->switch_is_begun : t->is_begun, .of_switches = off,
	};
}

/* Triggers that the wait of @t may fire, by its records. */
static uint32_t ongoing_mask(const struct thread_waits *w, const struct thread *t, enum thread_wait id)
{
	return id == WAIT_LAST ? thread_waits_of(w, t->state) : thread_waits_is_off(t->switched) ? w->offcpu : 0;
}

static bool is_unsure(const struct thread_waits *w, const struct thread *t, enum thread_wait id)
{
	return thread_waits_is_unsure(w, id == WAIT_LAST ? t->state : t->switched);
}

/*
 * A thread that is awake may run without a record, where the kernel does not report each switch; and one in state D may have been
 * woken on its way there, see docs/design.md. Those that sleep are many.
 */
static bool has_to_be_asked(const struct thread *t, enum thread_wait id)
{
	return id == WAIT_LAST || (t->state != THREAD_SLEEPS && t->state != THREAD_BLOCKED);
}

/*
 * Fires what the records prove, and asks for the rest. When to look at it again; UINT64_MAX: not before its next record.
 */
static uint64_t look_at_ongoing(struct thread_waits *w, struct thread *t, enum thread_wait id, uint64_t complete_ns)
{
	const uint64_t least_ns = id == WAIT_OFF ? w->least_off_ns : w->least_ns;
	const struct wait_gap gap = ongoing_gap(t, id, complete_ns);
	const uint32_t mask = ongoing_mask(w, t, id);
	/* Of what is divided only the time before the first blind one is proven, which gets no longer. */
	const bool unsure = is_unsure(w, t, id);
	const bool divided = unsure || blind_divides(w->blind, gap.from_ns, gap.to_ns, gap.is_begun);
	const bool proven = !w->asked.ask || !has_to_be_asked(t, id), asks = w->asked.ask && (divided || !proven);
	uint64_t due_ns;

	if (proven && mask && gap.from_ns < complete_ns && complete_ns - gap.from_ns > least_ns)
		t->fired |= evaluate(w, &gap);
	due_ns = firing_due(w->firing, (unsure ? id == WAIT_LAST ? w->runq | w->blocked : w->offcpu : mask) & ~t->fired, gap.from_ns);
	if (!asks)
		return divided ? UINT64_MAX : due_ns;
	if (complete_ns <= due_ns)
		return due_ns;
	asked_add(&w->asked, t, id, !divided, complete_ns);
	return UINT64_MAX;
}

/* Is there anything to find in it? Who has exited is to leave it some time. */
static bool is_due(const struct wait_list *list, uint64_t complete_ns)
{
	return complete_ns > list->due_ns || list->cnt >= 2 * list->looked_cnt + LIST_MIN;
}

/* @list keeps @koid, which is not to be looked at before @due_ns. */
static void keep(struct wait_list *list, size_t *kept, uint64_t koid, uint64_t due_ns)
{
	list->koids[(*kept)++] = koid;
	if (due_ns < list->due_ns)
		list->due_ns = due_ns;
}

/* Is it above a threshold? Such ones may be many, and are looked at seldom. */
static bool is_over(const struct thread_waits *w, uint32_t mask, uint64_t waits_ns)
{
	for (; mask; mask &= mask - 1)
		if (waits_ns > w->firing->list[__builtin_ctz(mask)].w.threshold)
			return true;
	return false;
}

/* Moves @t to the other list, where it still is if an earlier wait of it was; false: no memory. */
static bool move_to_later(struct thread_waits *w, struct thread *t, enum thread_wait id, uint64_t due_ns)
{
	struct wait_list *list = &w->later[id];

	if (!(t->listed_later & 1U << id) && list_add(list, t->koid))
		return false;
	if (due_ns < list->due_ns)
		list->due_ns = due_ns;
	t->listed_later |= 1U << id;
	t->listed &= ~(1U << id);
	return true;
}

static void take_from_list(struct thread *t, enum thread_wait id, bool is_later)
{
	if (is_later)
		t->listed_later &= ~(1U << id);
	else
		t->listed &= ~(1U << id);
}

/* @is_later: the other one, in which a wait that began since is not. */
static void look_at_list(struct thread_waits *w, enum thread_wait id, bool is_later, uint64_t complete_ns)
{
	struct wait_list *list = is_later ? &w->later[id] : &w->lists[id];
	const uint64_t least_ns = id == WAIT_OFF ? w->least_off_ns : w->least_ns;
	uint64_t due_ns, from_ns;
	struct thread *t;
	size_t i, kept = 0;

	if (!is_due(list, complete_ns))
		return;
	/* What will be added to the first one began after this look. */
	list->due_ns = is_later ? UINT64_MAX : complete_ns + least_ns;
	for (i = 0; i < list->cnt; i++) {
		t = threads_find(w->threads, list->koids[i]);
		if (!t)
			continue;
		due_ns = is_later && t->listed & 1U << id ? UINT64_MAX : look_at_ongoing(w, t, id, complete_ns);
		from_ns = id == WAIT_OFF ? t->switched_ns : t->last_ns;
		if (due_ns == UINT64_MAX)
			take_from_list(t, id, is_later);
		else if (is_later || from_ns >= complete_ns || !is_over(w, ongoing_mask(w, t, id), complete_ns - from_ns) ||
			 !move_to_later(w, t, id, due_ns))
			keep(list, &kept, t->koid, due_ns);
	}
	list->cnt = list->looked_cnt = kept;
}

void thread_waits_round(struct thread_waits *w, uint64_t complete_ns)
{
	enum thread_wait id;

	end_gaps(w, complete_ns);
	for (id = 0; id < WAIT_LISTS; id++) {
		if (w->is_blank) {
			w->lists[id].cnt = w->later[id].cnt = 0;
			continue;
		}
		look_at_list(w, id, true, complete_ns);
		look_at_list(w, id, false, complete_ns);
	}
	if (!w->is_blank)
		asked_round(&w->asked, complete_ns);
}
