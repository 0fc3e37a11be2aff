// SPDX-License-Identifier: GPL-2.0
/* See asked.h. */
#include "asked.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "bpf/abi/ids.h"

#define ANSWER_NS	(1000000000U / ASKED_PER_S)
#define RETRY_NS	1000000000U
#define KWORKER		"kworker/"

/* ---- the heap ------------------------------------------------------------------------ */

static void sift_up(struct asked_heap *h, size_t i)
{
	const struct asked_wait wait = h->list[i];

	for (; i && h->list[(i - 1) / 2].due_ns > wait.due_ns; i = (i - 1) / 2)
		h->list[i] = h->list[(i - 1) / 2];
	h->list[i] = wait;
}

static void sift_down(struct asked_heap *h, size_t i)
{
	const struct asked_wait wait = h->list[i];
	size_t next;

	for (; (next = 2 * i + 1) < h->cnt; i = next) {
		if (next + 1 < h->cnt && h->list[next + 1].due_ns < h->list[next].due_ns)
			next++;
		if (h->list[next].due_ns >= wait.due_ns)
			break;
		h->list[i] = h->list[next];
	}
	h->list[i] = wait;
}

static struct asked_wait pop(struct asked_heap *h)
{
	const struct asked_wait first = h->list[0];

	h->list[0] = h->list[--h->cnt];
	if (h->cnt)
		sift_down(h, 0);
	return first;
}

/* The thread, while it is in that wait; else NULL. One that hangs while it exits has still a wait. */
static struct thread *thread_of(const struct asked *a, const struct asked_wait *wait)
{
	const bool off = wait->id == WAIT_OFF;
	struct thread *t = threads_find(a->threads, wait->koid);

	if (!t || (off ? t->switched_ns : t->last_ns) != wait->record_ns || (off ? t->switched : t->state) != wait->record_state)
		return NULL;
	return t->state == THREAD_DEAD || threads_find(a->threads, wait->koid + ID_GENERATION_STEP) ? NULL : t;
}

/* Waits that have ended may be due in an hour. */
static void drop_ended(const struct asked *a, struct asked_heap *h)
{
	size_t i, kept = 0;

	for (i = 0; i < h->cnt; i++)
		if (thread_of(a, &h->list[i]))
			h->list[kept++] = h->list[i];
	h->cnt = kept;
	for (i = kept / 2; i-- > 0;)
		sift_down(h, i);
}

/* Space for one more. All are looked at only once as many have been added. */
static bool reserve(const struct asked *a, struct asked_heap *h)
{
	if (h->cnt < h->cap)
		return true;
	drop_ended(a, h);
	if (2 * h->cnt < h->cap)
		return true;
	return !array_reserve(h->list, h->cnt, h->cap, h->cnt + 1) || h->cnt < h->cap;
}

/* Without memory it is found at its end. */
static void push(const struct asked *a, struct asked_heap *h, const struct asked_wait *wait)
{
	if (!reserve(a, h))
		return;
	h->list[h->cnt++] = *wait;
	sift_up(h, h->cnt - 1);
}

/* ---- what may fire --------------------------------------------------------------------- */

static bool was_runnable(const struct asked_wait *wait)
{
	return wait->record_state != THREAD_SLEEPS && wait->record_state != THREAD_BLOCKED && wait->record_state != THREAD_UNKNOWN;
}

/* A thread that was preempted on its way to sleep is runnable by its record and D by what it says. */
static uint32_t mask_of(const struct asked *a, const struct thread *t, const struct asked_wait *wait)
{
	uint32_t mask = 0;

	if (wait->id == WAIT_OFF)
		mask = firing_mask(a->firing, TRIGGER_OFFCPU);
	else if ((!wait->state || wait->state == 'D') && !was_runnable(wait))
		mask = firing_mask(a->firing, TRIGGER_BLOCKED);
	if (wait->id == WAIT_LAST && (!wait->state || wait->state == 'R'))
		mask |= firing_mask(a->firing, TRIGGER_RUNQ);
	return firing_select(a->firing, mask & ~t->fired, t);
}

void asked_add(struct asked *a, struct thread *t, enum thread_wait id, bool is_whole, uint64_t complete_ns)
{
	const bool off = id == WAIT_OFF;
	const struct asked_wait wait = {
		.koid = t->koid, .record_ns = off ? t->switched_ns : t->last_ns, .due_ns = complete_ns - 1, .id = id,
		.record_state = off ? t->switched : t->state, .is_whole = is_whole,
	};

	if (!a->ask || t->asked & 1U << id || t->koid >= PSEUDO_BASE || !mask_of(a, t, &wait))
		return;
	t->asked |= 1U << id;
	push(a, &a->asks[id], &wait);
}

/* ---- answers ------------------------------------------------------------------------------ */

static uint32_t tid_of(uint64_t koid)
{
	return (uint32_t)(koid % ID_GENERATION_STEP);
}

/* Another one may have its id by now. The name of a kworker goes on with its work, which may be all that differs. */
static bool is_same(const struct thread *t, const struct trigger_answer *answer)
{
	size_t len = strnlen(t->comm, sizeof(t->comm));

	if (!strncmp(t->comm, KWORKER, sizeof(KWORKER) - 1))
		len = strcspn(t->comm, "+-") < len ? strcspn(t->comm, "+-") : len;
	return !strncmp(answer->comm, t->comm, len);
}

static bool is_as_before(const struct asked_wait *wait, const struct trigger_answer *answer)
{
	return answer->state == wait->state && answer->switches == wait->switches &&
	       (answer->state != 'R' || answer->run_ns == wait->run_ns);
}

/* The state that a wait of which the records know all has in truth. */
static bool is_as_recorded(const struct asked_wait *wait, const struct trigger_answer *answer)
{
	if (was_runnable(wait))
		return answer->state == 'R';
	return wait->id == WAIT_OFF || answer->state == 'D';
}

static void take_first(struct asked_wait *wait, const struct trigger_answer *answer)
{
	wait->is_whole = wait->is_whole && !wait->state && is_as_recorded(wait, answer);
	wait->state = answer->state;
	wait->switches = answer->switches;
	wait->run_ns = answer->run_ns;
	wait->from_ns = answer->after_ns;
	wait->to_ns = 0;
}

static void set_due(const struct asked *a, struct asked_wait *wait, uint32_t mask)
{
	const uint64_t again_ns = wait->from_ns + (wait->state == 'R' ? ASKED_RUN_NS : 0);

	wait->due_ns = firing_due(a->firing, mask, wait->is_whole ? wait->record_ns : wait->from_ns);
	if (wait->due_ns < again_ns)
		wait->due_ns = again_ns;
}

static void take_answer(struct asked *a, const struct thread *t, struct asked_wait *wait, const struct trigger_answer *answer)
{
	uint32_t mask;

	if (!is_same(t, answer) || answer->state == 'Z' || answer->state == 'X' ||
	    (answer->state == 'R' && answer->run_ns == TRIGGER_NO_RUN_NS))
		return;
	if (wait->state && is_as_before(wait, answer)) {
		wait->to_ns = answer->before_ns;
	} else {
		take_first(wait, answer);
		/* What it does by the first answer it did all the time. */
		if (wait->is_whole && wait->state != 'R')
			wait->to_ns = answer->before_ns;
	}
	mask = mask_of(a, t, wait);
	if (wait->to_ns)
		wait->due_ns = wait->to_ns;
	else if (mask)
		set_due(a, wait, mask);
	if (mask)
		push(a, wait->to_ns ? &a->answers : &a->asks[wait->id], wait);
}

/* The first one that is due. */
static void ask(struct asked *a, struct asked_heap *h)
{
	struct asked_wait wait = pop(h);
	const struct thread *t = thread_of(a, &wait);
	struct trigger_answer answer;
	int err;

	if (!t || !mask_of(a, t, &wait))
		return;
	a->left_ns -= ANSWER_NS;
	err = a->ask(a->ctx, tid_of(wait.koid), &answer);
	if (!err) {
		take_answer(a, t, &wait, &answer);
	} else if (err != -ENOENT && err != -ESRCH) {
		wait.due_ns = a->looked_ns + RETRY_NS;
		push(a, h, &wait);
	}
}

/* Its state is older than its record. */
static bool is_begun(const struct thread *t, const struct asked_wait *wait)
{
	return wait->id == WAIT_OFF ? t->switch_is_begun : t->is_begun;
}

static uint32_t fire(struct asked *a, const struct thread *t, const struct asked_wait *wait, uint32_t mask)
{
	struct trigger_fired what = {
		.thread = wait->koid, .from_ns = wait->is_whole ? wait->record_ns : wait->from_ns, .to_ns = wait->to_ns,
		.cpu = -1, .is_partial = is_begun(t, wait) || !wait->is_whole, .is_ongoing = true,
	};

	if (what.to_ns <= what.from_ns)
		return 0;
	what.value = what.to_ns - what.from_ns;
	return firing_add_above(a->firing, mask, &what);
}

/* All records of its time are there. */
static void use_answer(struct asked *a)
{
	struct asked_wait wait = pop(&a->answers);
	struct thread *t = thread_of(a, &wait);
	uint32_t mask = t ? mask_of(a, t, &wait) : 0;

	if (!mask)
		return;
	wait.is_whole = wait.is_whole && !blind_divides(a->blind, wait.record_ns, wait.to_ns, is_begun(t, &wait));
	if (!wait.is_whole && wait.from_ns < a->suspended_ns) {
		wait.state = 0;		/* anew, at once */
	} else {
		t->fired |= fire(a, t, &wait, mask);
		mask = mask_of(a, t, &wait);
		set_due(a, &wait, mask);
	}
	wait.to_ns = 0;
	if (mask)
		push(a, &a->asks[wait.id], &wait);
}

void asked_round(struct asked *a, uint64_t complete_ns)
{
	const uint64_t passed_ns = complete_ns > a->looked_ns ? complete_ns - a->looked_ns : 0;
	enum thread_wait id;

	a->looked_ns += passed_ns;
	if (passed_ns > ASKED_AT_ONCE * ANSWER_NS - a->left_ns)
		a->left_ns = ASKED_AT_ONCE * ANSWER_NS;
	else
		a->left_ns += passed_ns;
	while (a->answers.cnt && a->answers.list[0].due_ns < complete_ns)
		use_answer(a);
	for (id = 0; id < WAIT_LISTS; id++)
		while (a->asks[id].cnt && a->asks[id].list[0].due_ns < complete_ns && a->left_ns >= ANSWER_NS)
			ask(a, &a->asks[id]);
}

bool asked_is_runnable(struct asked *a, uint64_t koid)
{
	struct trigger_answer answer;
	int err;

	if (!a->ask || koid >= PSEUDO_BASE)
		return true;
	if (a->left_ns < ANSWER_NS)
		return false;
	a->left_ns -= ANSWER_NS;
	err = a->ask(a->ctx, tid_of(koid), &answer);
	return err ? err != -ENOENT && err != -ESRCH : answer.state == 'R';
}

void asked_fini(struct asked *a)
{
	enum thread_wait id;

	for (id = 0; id < WAIT_LISTS; id++)
		free(a->asks[id].list);
	free(a->answers.list);
	memset(a->asks, 0, sizeof(a->asks));
	a->answers = (struct asked_heap){ .list = NULL };
}
