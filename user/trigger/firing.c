// SPDX-License-Identifier: GPL-2.0
/* See firing.h. */
#include "firing.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/glob.h"

uint32_t firing_mask(const struct firing *f, enum trigger_kind kind)
{
	uint32_t mask = 0;
	unsigned int i;

	for (i = 0; i < f->cnt; i++)
		if (f->list[i].w.kind == kind)
			mask |= 1U << i;
	return mask;
}

uint64_t firing_least(const struct firing *f, enum trigger_kind kind)
{
	uint64_t least = UINT64_MAX;
	unsigned int i;

	for (i = 0; i < f->cnt; i++)
		if (f->list[i].w.kind == kind && f->list[i].w.threshold < least)
			least = f->list[i].w.threshold;
	return least;
}

static void copy_comm(char comm[TRIGGER_COMM_BYTES], const struct thread *t)
{
	memcpy(comm, t->comm, THREAD_COMM_BYTES);
	comm[THREAD_COMM_BYTES] = 0;
}

static bool is_exit_of(const struct trigger_word *w, const struct thread *t)
{
	if (w->exit == TRIGGER_EXIT_ANY)
		return true;
	if (!t->has_exited || t->by_signal != (w->exit == TRIGGER_EXIT_SIGNAL))
		return false;
	return w->exit_value < 0 ? t->exit_value : t->exit_value == w->exit_value;
}

static void print_exit(char text[TRIGGER_TEXT_BYTES], const struct thread *t)
{
	const char *name = t->by_signal ? sigabbrev_np(t->exit_value) : NULL;

	snprintf(text, TRIGGER_TEXT_BYTES, "%s %d%s%s%s", t->by_signal ? "signal" : "code", t->exit_value, name ? " (SIG" : "",
		 name ?: "", name ? ")" : "");
}

/* Of a thread whose name, process or cgroup is not known a selector of it does not hold. */
static bool is_selected(const struct firing *f, unsigned int i, const struct thread *t)
{
	const struct trigger_word *w = &f->list[i].w;
	const struct thread *process;
	char comm[TRIGGER_COMM_BYTES];

	if (w->kind == TRIGGER_EXIT && (!t || !is_exit_of(w, t)))
		return false;
	if (!w->comm && !w->has_pid && !trigger_word_selects_cgroup(w))
		return true;
	if (!t)
		return false;
	if (w->has_pid && t->process != w->pid)
		return false;
	if (w->comm) {
		copy_comm(comm, t);
		if (!comm[0] || !glob_match(w->comm, comm))
			return false;
	}
	if (!trigger_word_selects_cgroup(w))
		return true;
	process = t->process == THREADS_NO_PROCESS ? NULL : threads_find(f->threads, t->process);
	return process && process->cgroups >> i & 1;
}

uint32_t firing_select(const struct firing *f, uint32_t mask, const struct thread *t)
{
	uint32_t left, selected = 0;

	for (left = mask; left; left &= left - 1)
		if (is_selected(f, (unsigned int)__builtin_ctz(left), t))
			selected |= left & -left;
	return selected;
}

static void enqueue(struct firing *f, unsigned int i, const struct trigger_fired *what, const struct thread *t)
{
	struct trigger_fired *out = &f->queue[(f->first + f->queued++) % FIRING_QUEUE];
	const struct trigger_word *w = &f->list[i].w;

	*out = *what;
	out->name = w->name;
	out->word = w->word;
	out->threshold = w->threshold;
	out->process = t && t->process != THREADS_NO_PROCESS ? t->process : what->thread;
	if (!t)
		return;
	copy_comm(out->comm, t);
	if (w->kind == TRIGGER_EXIT && t->has_exited)
		print_exit(out->text, t);
}

uint64_t firing_quiet_until(const struct firing *f, unsigned int i)
{
	return f->list[i].has_fired && f->cooldown_ns ? f->list[i].last_ns + f->cooldown_ns : 0;
}

uint64_t firing_due(const struct firing *f, uint32_t mask, uint64_t from_ns)
{
	uint64_t due_ns = UINT64_MAX, over_ns, quiet_ns;

	for (; mask; mask &= mask - 1) {
		const unsigned int i = (unsigned int)__builtin_ctz(mask);

		over_ns = from_ns + f->list[i].w.threshold;
		quiet_ns = firing_quiet_until(f, i);
		if (over_ns < quiet_ns)
			over_ns = quiet_ns;
		if (over_ns < due_ns)
			due_ns = over_ns;
	}
	return due_ns;
}

bool firing_add(struct firing *f, unsigned int i, const struct trigger_fired *what)
{
	const struct thread *t = what->thread ? threads_find(f->threads, what->thread) : NULL;
	const bool is_quiet = what->to_ns < firing_quiet_until(f, i);
	struct firing_trigger *trigger = &f->list[i];

	if (!is_selected(f, i, t))
		return true;
	if (is_quiet && what->is_ongoing && trigger->round != f->round)
		return false;
	if (is_quiet || f->queued == FIRING_QUEUE) {
		trigger->suppressed++;
		return true;
	}
	trigger->has_fired = true;
	trigger->last_ns = what->to_ns;
	trigger->round = f->round;
	trigger->fired++;
	enqueue(f, i, what, t);
	return true;
}

uint32_t firing_add_above(struct firing *f, uint32_t mask, const struct trigger_fired *what)
{
	uint32_t above = 0;

	for (; mask; mask &= mask - 1) {
		const unsigned int i = (unsigned int)__builtin_ctz(mask);

		if (what->value <= f->list[i].w.threshold)
			continue;
		above |= firing_add(f, i, what) ? 1U << i : 0;
	}
	return above;
}

int firing_defer(struct firing *f, uint32_t mask, const struct trigger_fired *what)
{
	if (array_reserve(f->deferred, f->deferred_cnt, f->deferred_cap, 1))
		return -ENOMEM;
	f->deferred[f->deferred_cnt++] = (struct firing_deferred){ mask, *what };
	return 0;
}

void firing_add_deferred(struct firing *f)
{
	size_t i;

	for (i = 0; i < f->deferred_cnt; i++) {
		struct firing_deferred *d = &f->deferred[i];

		if (d->what.is_ongoing && !threads_has_ended(threads_find(f->threads, d->what.thread)))
			continue;
		d->what.is_ongoing = false;
		firing_add_above(f, d->mask, &d->what);
	}
	f->deferred_cnt = 0;
}

const struct trigger_fired *firing_next(struct firing *f)
{
	const struct trigger_fired *next = &f->queue[f->first];

	if (!f->queued)
		return NULL;
	f->first = (f->first + 1) % FIRING_QUEUE;
	f->queued--;
	return next;
}

void firing_fini(struct firing *f)
{
	unsigned int i;

	for (i = 0; i < f->cnt; i++)
		trigger_word_fini(&f->list[i].w);
	f->cnt = 0;
	free(f->deferred);
	f->deferred = NULL;
	f->deferred_cnt = f->deferred_cap = 0;
}
