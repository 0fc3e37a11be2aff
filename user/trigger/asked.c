// SPDX-License-Identifier: GPL-2.0
/* See asked.h. */
#include "asked.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "bpf/abi/ids.h"

#define ANSWER_NS	(1000000000U / ASKED_PER_S)

enum asked_step {
	ASKED_FIRST,		/* is to be asked */
	ASKED_FIRST_ANSWER,	/* there is one, but records of its time may be missing */
	ASKED_AGAIN,
	ASKED_AGAIN_ANSWER,
};

/* ---- the heap ------------------------------------------------------------------------ */

static void sift_up(struct asked *a, size_t i)
{
	const struct asked_wait wait = a->list[i];

	for (; i && a->list[(i - 1) / 2].due_ns > wait.due_ns; i = (i - 1) / 2)
		a->list[i] = a->list[(i - 1) / 2];
	a->list[i] = wait;
}

static void sift_down(struct asked *a, size_t i)
{
	const struct asked_wait wait = a->list[i];
	size_t next;

	for (; (next = 2 * i + 1) < a->cnt; i = next) {
		if (next + 1 < a->cnt && a->list[next + 1].due_ns < a->list[next].due_ns)
			next++;
		if (a->list[next].due_ns >= wait.due_ns)
			break;
		a->list[i] = a->list[next];
	}
	a->list[i] = wait;
}

static void drop_top(struct asked *a)
{
	a->list[0] = a->list[--a->cnt];
	if (a->cnt)
		sift_down(a, 0);
}

/* The thread, while it is in that wait; else NULL. */
static struct thread *thread_of(const struct asked *a, const struct asked_wait *wait)
{
	const bool off = wait->id == WAIT_OFF;
	struct thread *t = threads_find(a->threads, wait->koid);

	if (!t || (off ? t->switched_ns : t->last_ns) != wait->record_ns ||
	    (off ? t->switched : t->state) != wait->record_state || threads_has_ended(t))
		return NULL;
	return t;
}

/* Waits that have ended may be due in an hour. */
static void drop_ended(struct asked *a)
{
	size_t i, kept = 0;

	for (i = 0; i < a->cnt; i++)
		if (thread_of(a, &a->list[i]))
			a->list[kept++] = a->list[i];
	a->cnt = kept;
	for (i = kept / 2; i-- > 0;)
		sift_down(a, i);
}

/* ---- what may fire --------------------------------------------------------------------- */

/* Of a thread in that state; 0: of one whose state is not known. */
static uint32_t mask_of(const struct asked *a, const struct thread *t, uint8_t id, char state)
{
	uint32_t mask;

	if (id == WAIT_OFF)
		mask = firing_mask(a->firing, TRIGGER_OFFCPU);
	else
		mask = (state == 'D' || !state ? firing_mask(a->firing, TRIGGER_BLOCKED) : 0) |
		       (state == 'R' || !state ? firing_mask(a->firing, TRIGGER_RUNQ) : 0);
	return firing_select(a->firing, mask & ~t->fired, t);
}

/* Space for one more. All are looked at only once as many have been added. */
static bool reserve(struct asked *a)
{
	if (a->cnt < a->cap)
		return true;
	drop_ended(a);
	if (2 * a->cnt < a->cap)
		return true;
	return !array_reserve(a->list, a->cnt, a->cap, a->cnt + 1) || a->cnt < a->cap;
}

void asked_add(struct asked *a, struct thread *t, enum thread_wait id, uint64_t complete_ns)
{
	const bool off = id == WAIT_OFF;

	if (!a->ask || t->asked & 1U << id || !mask_of(a, t, id, 0))
		return;
	if (!reserve(a))
		return;		/* it is found at its end */
	a->list[a->cnt++] = (struct asked_wait){
		.koid = t->koid, .record_ns = off ? t->switched_ns : t->last_ns, .due_ns = complete_ns - 1, .id = id,
		.record_state = off ? t->switched : t->state, .step = ASKED_FIRST,
	};
	sift_up(a, a->cnt - 1);
	t->asked |= 1U << id;
}

/* ---- steps ------------------------------------------------------------------------------- */

static void ask_first(struct asked_wait *wait, const struct trigger_answer *answer)
{
	wait->step = ASKED_FIRST_ANSWER;
	wait->switches = answer->switches;
	wait->state = answer->state;
	wait->answer_ns = wait->due_ns = answer->after_ns;
}

/* Another one may have its id by now. */
static bool is_same(const struct thread *t, const struct trigger_answer *answer)
{
	return !strncmp(answer->comm, t->comm, strnlen(t->comm, sizeof(t->comm)));
}

/* False: it is of no use any more. */
static bool ask(struct asked *a, const struct thread *t, struct asked_wait *wait)
{
	struct trigger_answer answer;

	a->left_ns -= ANSWER_NS;
	if (wait->koid >= PSEUDO_BASE || a->ask(a->ctx, (uint32_t)(wait->koid % ID_GENERATION_STEP), &answer) ||
	    !is_same(t, &answer) || answer.state == 'Z' || answer.state == 'X')
		return false;
	/* Of threads that are not recorded no gap ends with their names: it may run. */
	if (a->is_filtered && answer.state == 'R')
		return false;
	if (wait->step == ASKED_FIRST || answer.switches != wait->switches || answer.state != wait->state) {
		ask_first(wait, &answer);
		return true;
	}
	wait->step = ASKED_AGAIN_ANSWER;
	wait->answer_ns = wait->due_ns = answer.before_ns;
	return true;
}

/* Since when it has been as it was at the first answer, at the latest. */
static uint64_t since(const struct asked *a, const struct asked_wait *wait)
{
	const struct blind_span *span = blind_before(a->blind, wait->answer_ns);
	uint64_t from_ns = span && span->to_ns > a->blind->begin_ns ? span->to_ns : a->blind->begin_ns;

	/* Not each wakeup is reported when it comes. */
	if (a->is_filtered || (wait->id == WAIT_LAST && wait->state == 'R'))
		return wait->answer_ns;
	return from_ns > wait->record_ns ? from_ns : wait->record_ns;
}

static bool is_blind(const struct asked *a, uint64_t ns)
{
	const struct blind_span *span = blind_before(a->blind, ns + 1);

	return ns < a->blind->begin_ns || (span && span->to_ns >= ns);
}

static void fire(struct asked *a, struct thread *t, const struct asked_wait *wait, uint32_t mask)
{
	const struct trigger_fired what = {
		.value = wait->answer_ns - wait->from_ns, .thread = wait->koid, .from_ns = wait->from_ns,
		.to_ns = wait->answer_ns, .cpu = -1, .is_partial = true, .is_ongoing = true,
	};

	t->fired |= firing_add_above(a->firing, mask, &what);
}

/* All records up to the answer are there. */
static void take_answer(struct asked *a, struct thread *t, struct asked_wait *wait, uint32_t mask)
{
	if (wait->step == ASKED_FIRST_ANSWER)
		wait->from_ns = since(a, wait);
	if (wait->from_ns < a->suspended_ns || (wait->step == ASKED_FIRST_ANSWER && is_blind(a, wait->answer_ns))) {
		wait->step = ASKED_FIRST;	/* as soon as it may be */
		return;
	}
	if (wait->step == ASKED_AGAIN_ANSWER && !is_blind(a, wait->answer_ns) && wait->answer_ns > wait->from_ns)
		fire(a, t, wait, mask);
	wait->step = ASKED_AGAIN;
}

/* The next step of the one that is due first; false: that has to wait until others may be asked. */
static bool step(struct asked *a)
{
	struct asked_wait *wait = &a->list[0];
	struct thread *t = thread_of(a, wait);
	const bool asks = wait->step == ASKED_FIRST || wait->step == ASKED_AGAIN;
	uint32_t mask = t ? mask_of(a, t, wait->id, wait->state) : 0;

	if (mask && asks && a->left_ns < ANSWER_NS)
		return false;
	if (mask && asks && !ask(a, t, wait))
		mask = 0;
	if (mask && !asks)
		take_answer(a, t, wait, mask);
	mask = mask ? mask_of(a, t, wait->id, wait->state) : 0;
	if (mask && wait->step == ASKED_AGAIN)
		wait->due_ns = firing_due(a->firing, mask, wait->from_ns);
	if (mask)
		sift_down(a, 0);
	else
		drop_top(a);
	return true;
}

void asked_round(struct asked *a, uint64_t complete_ns)
{
	uint64_t passed_ns = complete_ns > a->looked_ns ? complete_ns - a->looked_ns : 0;

	a->looked_ns += passed_ns;
	if (passed_ns > ASKED_AT_ONCE * ANSWER_NS - a->left_ns)
		a->left_ns = ASKED_AT_ONCE * ANSWER_NS;
	else
		a->left_ns += passed_ns;
	while (a->cnt && a->list[0].due_ns < complete_ns && step(a))
		;
}

void asked_fini(struct asked *a)
{
	free(a->list);
	a->list = NULL;
	a->cnt = a->cap = 0;
}
