// SPDX-License-Identifier: GPL-2.0
/* See cpus.h. */
#include "cpus.h"

#include <errno.h>
#include <stdlib.h>

#define MILLION		1000000ULL

int cpus_init(struct cpus *c, struct firing *firing)
{
	c->firing = firing;
	c->list = calloc(NUM_CPUS_MAX, sizeof(*c->list));
	return c->list ? 0 : -ENOMEM;
}

void cpus_set_triggers(struct cpus *c)
{
	c->slice = firing_mask(c->firing, TRIGGER_SLICE);
	c->busy = firing_mask(c->firing, TRIGGER_BUSY);
	c->idle = firing_mask(c->firing, TRIGGER_IDLE);
	c->least_ns = firing_least(c->firing, TRIGGER_SLICE);
}

void cpus_fini(struct cpus *c)
{
	unsigned int i;

	for (i = 0; i < c->used; i++)
		free(c->list[i].windows);
	free(c->list);
	c->list = NULL;
	c->used = 0;
}

static int number_of(const struct cpus *c, const struct cpu *cpu)
{
	return (int)(cpu - c->list);
}

/* ---- slices ------------------------------------------------------------------------ */

/* The longer part of one that a suspend is in: its first record may be drained after that was noticed. */
static struct trigger_fired slice_until(const struct cpus *c, const struct cpu *cpu, uint64_t to_ns)
{
	const uint64_t before_ns = c->asleep_ns > cpu->since_ns ? c->asleep_ns - cpu->since_ns : 0;
	const uint64_t after_ns = to_ns > c->awake_ns ? to_ns - c->awake_ns : 0;
	struct trigger_fired what = {
		.thread = cpu->koid, .from_ns = cpu->since_ns, .to_ns = to_ns, .cpu = number_of(c, cpu),
		.is_partial = cpu->is_marked,
	};

	if (cpu->since_ns < c->awake_ns && to_ns > c->asleep_ns) {
		what.is_partial = true;
		if (before_ns > after_ns)
			what.to_ns = c->asleep_ns;
		else
			what.from_ns = after_ns ? c->awake_ns : to_ns;
	}
	what.value = what.to_ns - what.from_ns;
	return what;
}

/* Since its last record: what is switched in as a CPU goes is switched out without one. */
static bool was_offline(const struct cpus *c, const struct cpu *cpu)
{
	return cpu->offline_ns > cpu->since_ns && cpu->offline_ns > c->awake_ns;
}

static int end_slice(struct cpus *c, struct cpu *cpu, const struct cpu_switch *s)
{
	const uint32_t mask = c->slice & ~cpu->fired;
	struct trigger_fired what;

	if (!mask || !cpu->is_known || s->out_may_have_left || was_offline(c, cpu))
		return 0;
	if (cpu->koid != s->out || s->ts_ns < cpu->since_ns || s->ts_ns - cpu->since_ns <= c->least_ns)
		return 0;
	what = slice_until(c, cpu, s->ts_ns);
	what.is_partial |= s->out_is_marked;
	return firing_defer(c->firing, mask, &what);
}

/* That it has left the CPU may not have been reported. */
static bool may_run(struct cpus *c, const struct cpu *cpu)
{
	const struct thread *t = threads_find(c->firing->threads, cpu->koid);

	return !(t && t->last_ns > cpu->since_ns) && asked_is_runnable(c->asked, cpu->koid);
}

static void look_at_slice(struct cpus *c, struct cpu *cpu, uint64_t complete_ns)
{
	const uint32_t mask = c->slice & ~cpu->fired;
	struct trigger_fired what;

	if (!cpu->koid || !cpu->is_known || was_offline(c, cpu) || cpu->since_ns >= complete_ns ||
	    complete_ns - cpu->since_ns <= c->least_ns)
		return;
	what = slice_until(c, cpu, complete_ns);
	what.is_ongoing = true;
	if (firing_due(c->firing, mask, what.from_ns) < what.to_ns && may_run(c, cpu))
		cpu->fired |= firing_add_above(c->firing, mask, &what);
}

/* ---- busy and idle ----------------------------------------------------------------- */

/* Fires once where windows are above the threshold, and again after one was not: at once, or when a cooldown has ended. */
static int end_step(struct cpus *c, const struct cpu *cpu, unsigned int i, struct share_window *window)
{
	const struct trigger_word *w = &c->firing->list[i].w;
	const uint64_t end_ns = (window->step + 1) * (w->window_ns / SHARE_STEPS);
	struct trigger_fired what = {
		.from_ns = end_ns > w->window_ns ? end_ns - w->window_ns : 0, .to_ns = end_ns, .cpu = number_of(c, cpu),
		.is_partial = c->is_filtered,
	};
	const bool was_over = window->is_over;
	uint64_t sum_ns = 0;
	unsigned int k;

	for (k = 0; k < SHARE_STEPS; k++) {
		sum_ns += window->ns[k];
		what.is_partial |= window->is_partial[k];
	}
	/* Rounded up, so that it is above the threshold if the share is. */
	what.value = (uint64_t)(((unsigned __int128)sum_ns * MILLION + w->window_ns - 1) / w->window_ns);
	window->is_over = what.value > w->threshold;
	if (!window->is_over) {
		c->firing->list[i].suppressed += was_over && !window->is_settled;
		window->is_settled = false;
		return 0;
	}
	if (window->is_settled || end_ns < firing_quiet_until(c->firing, i))
		return 0;
	window->is_settled = true;
	return firing_defer(c->firing, 1U << i, &what);
}

static int next_step(struct cpus *c, const struct cpu *cpu, unsigned int i, struct share_window *window)
{
	const int err = end_step(c, cpu, i, window);
	const unsigned int at = (unsigned int)(++window->step % SHARE_STEPS);

	window->ns[at] = 0;
	window->is_partial[at] = false;
	return err;
}

/* Counts the time up to @to_ns, in which the CPU did the same throughout; of one that is offline it is not known what. */
static int count_window(struct cpus *c, const struct cpu *cpu, unsigned int i, struct share_window *window,
			uint64_t to_ns)
{
	const uint64_t step_ns = c->firing->list[i].w.window_ns / SHARE_STEPS;
	const bool is_known = cpu->is_known && cpu->counted_ns >= cpu->offline_ns;
	const bool counts = is_known && (c->busy >> i & 1 ? cpu->koid != 0 : !cpu->koid && !c->is_filtered);
	uint64_t from_ns = cpu->counted_ns, end_ns, same;
	unsigned int steps = 0, at;
	int err = 0;

	while (from_ns < to_ns) {
		end_ns = (window->step + 1) * step_ns;
		at = (unsigned int)(window->step % SHARE_STEPS);
		window->ns[at] += counts ? (end_ns < to_ns ? end_ns : to_ns) - from_ns : 0;
		window->is_partial[at] |= !is_known;
		if (to_ns < end_ns)
			break;
		from_ns = end_ns;
		err = next_step(c, cpu, i, window) ?: err;
		/* Once all steps of a window are the same, so are further windows. */
		same = ++steps > SHARE_STEPS ? (to_ns - from_ns) / step_ns / SHARE_STEPS * SHARE_STEPS : 0;
		window->step += same;
		from_ns += same * step_ns;
	}
	return err;
}

static int open_windows(struct cpus *c, struct cpu *cpu, uint64_t ts_ns)
{
	unsigned int i, k;
	uint64_t step_ns;

	cpu->windows = calloc(c->firing->cnt, sizeof(*cpu->windows));
	if (!cpu->windows)
		return -ENOMEM;
	cpu->counted_ns = ts_ns;
	for (i = 0; i < c->firing->cnt; i++) {
		if (!((c->busy | c->idle) >> i & 1))
			continue;
		step_ns = c->firing->list[i].w.window_ns / SHARE_STEPS;
		cpu->windows[i].step = ts_ns / step_ns;
		for (k = 0; k < SHARE_STEPS; k++)
			cpu->windows[i].is_partial[k] = true;
		cpu->windows[i].is_partial[cpu->windows[i].step % SHARE_STEPS] = ts_ns % step_ns;
	}
	return 0;
}

static int count_shares(struct cpus *c, struct cpu *cpu, uint64_t to_ns)
{
	uint32_t left = c->busy | c->idle;
	int err = 0;

	if (!cpu->windows)
		return open_windows(c, cpu, to_ns);
	for (; left && to_ns > cpu->counted_ns; left &= left - 1) {
		const unsigned int i = (unsigned int)__builtin_ctz(left);

		err = count_window(c, cpu, i, &cpu->windows[i], to_ns) ?: err;
	}
	if (to_ns > cpu->counted_ns)
		cpu->counted_ns = to_ns;
	return err;
}

/* ---- both ---------------------------------------------------------------------------- */

int cpus_look_at_switch(struct cpus *c, struct cpu *cpu, const struct cpu_switch *s)
{
	int err = 0;

	if (c->busy | c->idle)
		err = count_shares(c, cpu, s->ts_ns);
	if (cpu->koid && c->slice)
		err = end_slice(c, cpu, s) ?: err;
	return err;
}

void cpus_look(struct cpus *c, const struct num_cpus *online, uint64_t now_ns)
{
	unsigned int i;

	for (i = 0; i < c->used; i++) {
		struct cpu *cpu = &c->list[i];
		const bool was_away = cpu->is_offline;

		cpu->is_offline = !num_cpus_has(online, i);
		if (cpu->is_offline || was_away)
			cpu->offline_ns = now_ns;
	}
}

void cpus_suspended(struct cpus *c, uint64_t from_ns, uint64_t to_ns)
{
	struct cpu *cpu;

	c->asleep_ns = from_ns;
	c->awake_ns = to_ns;
	for (cpu = c->list; cpu < c->list + c->used; cpu++) {
		cpu->offline_ns = to_ns > cpu->offline_ns ? to_ns : cpu->offline_ns;
		if (cpu->since_ns >= to_ns)
			continue;
		cpu->since_ns = to_ns;
		cpu->is_marked = true;
	}
}

int cpus_round(struct cpus *c, uint64_t complete_ns)
{
	unsigned int i;
	int err = 0;

	for (i = 0; i < c->used; i++) {
		if (c->list[i].windows)
			err = count_shares(c, &c->list[i], complete_ns) ?: err;
		if (c->slice)
			look_at_slice(c, &c->list[i], complete_ns);
	}
	return err;
}
