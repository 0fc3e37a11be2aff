// SPDX-License-Identifier: GPL-2.0
/*
 * The state machine of the scheduler as seen through a trace. It believes the
 * latest record: after a contradiction it goes on with what that one says and
 * forgets what it contradicts, so that one fault is not reported many times.
 */
#include "replay.h"

#include <errno.h>
#include <stdlib.h>

enum replay_state replay_state(const struct replay *rp, uint32_t thread)
{
	const struct replay_thread *t = &rp->threads[thread];

	/* Nobody but its own CPU can end that a thread runs. */
	if (t->state == REPLAY_RUNNING)
		return t->state;
	return rp->blind || t->epoch != rp->epoch ? REPLAY_UNKNOWN : t->state;
}

bool replay_is_last(const struct replay *rp, const struct timeline_event *ev)
{
	return ev->kind == TIMELINE_SWITCH && rp->cpus[ev->cpu].last == ev;
}

static void set_state(struct replay *rp, uint32_t thread, enum replay_state state,
		      const struct timeline_event *ev)
{
	rp->threads[thread] = (struct replay_thread){
		.state = state, .since_ns = ev->ts_ns, .epoch = rp->epoch, .cpu = ev->cpu,
	};
}

static void set_live(struct replay *rp, struct replay_cpu *cpu, bool live)
{
	if (cpu->live == live)
		return;
	cpu->live = live;
	if (live) {
		rp->blind--;
		rp->epoch++;
	} else {
		rp->blind++;
	}
}

static enum replay_state state_after(uint8_t state)
{
	switch (state) {
	case FXT_STATE_RUNNING:
		return REPLAY_RUNNABLE;
	case FXT_STATE_SUSPENDED:
	case FXT_STATE_BLOCKED:
	case FXT_STATE_DYING:	/* a zombie may still sleep on its way out */
		return REPLAY_BLOCKED;
	case FXT_STATE_DEAD:
		return REPLAY_DEAD;
	default:
		return REPLAY_UNKNOWN;
	}
}

static void switch_out(struct replay *rp, struct replay_cpu *cpu, const struct timeline_event *ev)
{
	/* It was thought to run here and does not: its switch-out was not reported. */
	if (cpu->known && cpu->thread != TIMELINE_IDLE && cpu->thread != ev->out)
		set_state(rp, cpu->thread, REPLAY_UNKNOWN, ev);
	if (ev->out == TIMELINE_IDLE)
		return;
	/* Thought to run elsewhere: that CPU's thread is not certain any more. */
	if (rp->threads[ev->out].state == REPLAY_RUNNING && rp->threads[ev->out].cpu != ev->cpu)
		rp->cpus[rp->threads[ev->out].cpu].known = false;
	/* Not asked for: its next wakeup and its next switch may be left out. */
	set_state(rp, ev->out, ev->filtered ? REPLAY_UNKNOWN : state_after(ev->state), ev);
}

/* Without @known the CPU's records end here, and it is not known how long @ev->in runs. */
static void switch_in(struct replay *rp, struct replay_cpu *cpu, const struct timeline_event *ev,
		      bool known)
{
	cpu->known = known;
	cpu->thread = ev->in;
	if (ev->in == TIMELINE_IDLE)
		return;
	if (rp->threads[ev->in].state == REPLAY_RUNNING && rp->threads[ev->in].cpu != ev->cpu)
		rp->cpus[rp->threads[ev->in].cpu].known = false;
	set_state(rp, ev->in, known ? REPLAY_RUNNING : REPLAY_UNKNOWN, ev);
}

/* A gap has two records; when idle on both sides only their order says which is which. */
static bool begins_gap(const struct replay_cpu *cpu, const struct timeline_event *ev)
{
	if (ev->out != TIMELINE_IDLE)
		return true;
	return ev->in == TIMELINE_IDLE && !cpu->in_gap;
}

/*
 * A thread that did not run before all CPUs had started, so the state holds until then. It runs
 * on no CPU.
 */
static void play_state(struct replay *rp, const struct timeline_event *ev)
{
	if (ev->out == TIMELINE_IDLE)
		return;
	set_state(rp, ev->out, state_after(ev->state), ev);
	rp->threads[ev->out].epoch += rp->starting;
}

static void play_switch(struct replay *rp, const struct timeline_event *ev)
{
	struct replay_cpu *cpu = &rp->cpus[ev->cpu];
	bool begins = ev->mark == TIMELINE_MARK_GAP && begins_gap(cpu, ev);
	bool ends = begins || ev->mark == TIMELINE_MARK_STOP || replay_is_last(rp, ev);

	rp->starting -= ev->mark == TIMELINE_MARK_START && rp->starting;
	switch_out(rp, cpu, ev);
	/* Before the switch in, so that its state is of the new epoch. */
	set_live(rp, cpu, !ends);
	cpu->in_gap = begins;
	switch_in(rp, cpu, ev, !ends);
}

static void play_wakeup(struct replay *rp, const struct timeline_event *ev)
{
	if (ev->in == TIMELINE_IDLE)
		return;
	if (ev->mark == TIMELINE_MARK_GAP) {
		if (rp->threads[ev->in].state == REPLAY_RUNNING)
			rp->cpus[rp->threads[ev->in].cpu].known = false;
		set_state(rp, ev->in, REPLAY_RUNNABLE, ev);
		return;
	}
	if (rp->threads[ev->in].state == REPLAY_RUNNING)
		return;
	/* A second wakeup does not make the wait shorter. */
	if (replay_state(rp, ev->in) != REPLAY_RUNNABLE)
		set_state(rp, ev->in, REPLAY_RUNNABLE, ev);
}

/*
 * Files of others are taken to be complete from the first record to the last. In
 * one of `kfxt record` that was cut, the CPUs' records end at different times.
 */
static void init_cpus(struct replay *rp)
{
	const struct timeline *tl = rp->tl;
	unsigned int cpu;
	size_t i;

	for (cpu = 0; cpu < TIMELINE_CPUS_MAX; cpu++) {
		rp->cpus[cpu].live = !timeline_is_recorded(tl, cpu);
		rp->blind += !rp->cpus[cpu].live;
		rp->starting += num_cpus_has(&tl->started, cpu);
	}
	rp->blind += timeline_is_partial(tl);
	for (i = 0; i < tl->events_cnt; i++)
		if (tl->events[i].kind == TIMELINE_SWITCH && tl->events[i].mark != TIMELINE_MARK_STATE &&
		    timeline_is_cut_cpu(tl, tl->events[i].cpu))
			rp->cpus[tl->events[i].cpu].last = &tl->events[i];
}

int replay_run(const struct timeline *tl, replay_fn fn, void *ctx)
{
	struct replay rp = { .tl = tl };
	int err = -ENOMEM;
	size_t i;

	rp.threads = calloc(tl->threads_cnt + 1, sizeof(*rp.threads));
	rp.cpus = calloc(TIMELINE_CPUS_MAX, sizeof(*rp.cpus));
	if (!rp.threads || !rp.cpus)
		goto out;
	init_cpus(&rp);
	err = 0;
	for (i = 0; i < tl->events_cnt && !err; i++) {
		err = fn(ctx, &rp, &tl->events[i]);
		if (tl->events[i].mark == TIMELINE_MARK_STATE)
			play_state(&rp, &tl->events[i]);
		else if (tl->events[i].kind == TIMELINE_SWITCH)
			play_switch(&rp, &tl->events[i]);
		else
			play_wakeup(&rp, &tl->events[i]);
	}
out:
	free(rp.cpus);
	free(rp.threads);
	return err;
}
