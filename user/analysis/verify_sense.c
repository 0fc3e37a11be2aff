// SPDX-License-Identifier: GPL-2.0
/*
 * Checks of the whole: can a machine have done this? Plays the timeline and
 * compares it with itself, with the names and with the kernel's own counts.
 * What replay.c calls unknown is no problem.
 */
#include "findings.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "replay.h"

/* ---- which task runs where ---------------------------------------------------- */

static uint64_t koid_of(const struct timeline *tl, uint32_t thread)
{
	return thread == TIMELINE_IDLE ? 0 : tl->threads[thread].koid;
}

static bool runs_elsewhere(const struct replay *rp, uint32_t thread, uint16_t cpu)
{
	return thread != TIMELINE_IDLE && replay_state(rp, thread) == REPLAY_RUNNING &&
	       rp->threads[thread].cpu != cpu;
}

static void found_two_cpus(struct verify *v, const struct replay *rp,
			   const struct timeline_event *ev, uint32_t thread)
{
	verify_found(v, VERIFY_TWO_CPUS, ev->offset,
		     "thread %" PRIu64 " on CPU %u still ran on CPU %u",
		     koid_of(v->tl, thread), (unsigned int)ev->cpu,
		     (unsigned int)rp->threads[thread].cpu);
}

static void check_out(struct verify *v, const struct replay *rp, const struct timeline_event *ev)
{
	const struct replay_cpu *cpu = &rp->cpus[ev->cpu];

	if (cpu->known && cpu->thread != ev->out)
		verify_found(v, VERIFY_NOT_RUNNING, ev->offset,
			     "CPU %u: thread %" PRIu64 " is switched out, %" PRIu64 " was running",
			     (unsigned int)ev->cpu, koid_of(v->tl, ev->out),
			     koid_of(v->tl, cpu->thread));
	else if (runs_elsewhere(rp, ev->out, ev->cpu))
		found_two_cpus(v, rp, ev, ev->out);
}

static void check_in(struct verify *v, const struct replay *rp, const struct timeline_event *ev)
{
	enum replay_state state;

	if (ev->in == TIMELINE_IDLE || ev->in == ev->out)
		return;
	state = replay_state(rp, ev->in);
	if (runs_elsewhere(rp, ev->in, ev->cpu))
		found_two_cpus(v, rp, ev, ev->in);
	else if (state == REPLAY_DEAD)
		verify_found(v, VERIFY_DEAD, ev->offset, "thread %" PRIu64 " runs",
			     koid_of(v->tl, ev->in));
	else if (state == REPLAY_BLOCKED && v->tl->wakeups)
		verify_found(v, VERIFY_NOT_WOKEN, ev->offset,
			     "thread %" PRIu64 " sleeps since %" PRIu64 " ns",
			     koid_of(v->tl, ev->in), rp->threads[ev->in].since_ns);
}

static void check_wakeup(struct verify *v, const struct replay *rp, const struct timeline_event *ev)
{
	enum replay_state state;

	if (ev->in == TIMELINE_IDLE || ev->mark == TIMELINE_MARK_GAP)
		return;
	state = replay_state(rp, ev->in);
	if (state == REPLAY_RUNNING || state == REPLAY_RUNNABLE)
		verify_found(v, VERIFY_WOKEN_AWAKE, ev->offset,
			     "thread %" PRIu64 " is %s since %" PRIu64 " ns",
			     koid_of(v->tl, ev->in),
			     state == REPLAY_RUNNING ? "running" : "runnable",
			     rp->threads[ev->in].since_ns);
	else if (state == REPLAY_DEAD)
		verify_found(v, VERIFY_DEAD, ev->offset, "thread %" PRIu64 " is woken",
			     koid_of(v->tl, ev->in));
}

static void check_session_time(struct verify *v, const struct timeline_event *ev)
{
	const struct timeline_session *s = &v->tl->session;

	if (s->has_start && ev->ts_ns < s->start_ns)
		verify_found(v, VERIFY_OUTSIDE_SESSION, ev->offset,
			     "%" PRIu64 " ns, the start is %" PRIu64 " ns", ev->ts_ns, s->start_ns);
	else if (s->has_stop && ev->ts_ns > s->stop_ns)
		verify_found(v, VERIFY_OUTSIDE_SESSION, ev->offset,
			     "%" PRIu64 " ns, the stop is %" PRIu64 " ns", ev->ts_ns, s->stop_ns);
}

static int check_event(void *ctx, const struct replay *rp, const struct timeline_event *ev)
{
	struct verify *v = ctx;

	check_session_time(v, ev);
	if (ev->kind == TIMELINE_WAKEUP) {
		check_wakeup(v, rp, ev);
	} else if (ev->mark != TIMELINE_MARK_STATE) {
		check_out(v, rp, ev);
		check_in(v, rp, ev);
	}
	return 0;
}

/* ---- the end ------------------------------------------------------------------ */

static unsigned int first_cut_cpu(const struct timeline *tl)
{
	unsigned int cpu = 0;

	while (!timeline_is_cut_cpu(tl, cpu))
		cpu++;
	return cpu;
}

/* Reported once, at the end of the file. */
static void check_end(struct verify *v)
{
	const struct timeline_session *s = &v->tl->session;
	uint64_t end = v->stats.bytes;

	if (!timeline_is_cut(v->tl))
		return;
	if (!s->has_stop)
		verify_found(v, VERIFY_NO_END, end, "there is no event `stop`");
	else if (!s->has_totals)
		verify_found(v, VERIFY_NO_END, end, "there is no ledger of the whole");
	else
		verify_found(v, VERIFY_NO_END, end, "CPU %u has no `stop` mark",
			     first_cut_cpu(v->tl));
}

/* ---- names -------------------------------------------------------------------- */

static void check_name(struct verify *v, const struct timeline_thread *t)
{
	if (!t->has_object)
		verify_found(v, VERIFY_NO_THREAD, t->offset, "thread %" PRIu64, t->koid);
	else if (!t->has_process)
		verify_found(v, VERIFY_NO_PROCESS, t->offset,
			     "the object of thread %" PRIu64 " has no Koid `process`", t->koid);
	else if (!timeline_process(v->tl, t->process))
		verify_found(v, VERIFY_NO_PROCESS, t->offset,
			     "process %" PRIu64 " of thread %" PRIu64, t->process, t->koid);
}

/* Names may come late, but not later than the end; the ledger counts those that were lost. */
static void check_names(struct verify *v)
{
	size_t i;

	if (timeline_is_cut(v->tl) || v->tl->session.repaired || v->tl->session.lost_names || timeline_write_failed(v->tl))
		return;
	for (i = 0; i < v->tl->threads_cnt; i++)
		check_name(v, &v->tl->threads[i]);
}

/* The recorder knows which tasks ran even where records are missing; one with a record did. */
static void check_still(struct verify *v)
{
	const struct timeline_thread *t;
	size_t i;

	for (i = 0; i < v->tl->threads_cnt; i++) {
		t = &v->tl->threads[i];
		if (t->still && t->ran)
			verify_found(v, VERIFY_RAN, t->still_offset, "thread %" PRIu64, t->koid);
	}
}

/* ---- counts ------------------------------------------------------------------- */

/* Switches of each CPU, marks not counted. */
static uint64_t *count_switches(const struct timeline *tl)
{
	uint64_t *counts = calloc(TIMELINE_CPUS_MAX, sizeof(*counts));
	size_t i;

	if (!counts)
		return NULL;
	for (i = 0; i < tl->events_cnt; i++)
		if (tl->events[i].kind == TIMELINE_SWITCH && !tl->events[i].mark)
			counts[tl->events[i].cpu]++;
	return counts;
}

/* Takes what the ledgers say from @counts; what is left is wrong, if none was cut off. */
static void check_switches(struct verify *v, uint64_t *counts)
{
	const struct timeline_session *s = &v->tl->session;
	unsigned int cpu;
	size_t i;

	for (i = 0; i < s->ledgers_cnt; i++) {
		const struct timeline_ledger *l = &s->ledgers[i];

		if (counts[l->cpu] != l->switches)
			verify_found(v, VERIFY_LEDGER_SWITCHES, l->offset,
				     "CPU %u: %" PRIu64 " in the file, %" PRIu64 " counted",
				     (unsigned int)l->cpu, counts[l->cpu], l->switches);
		counts[l->cpu] = 0;
	}
	if (s->has_start && !s->has_totals)
		return;
	for (cpu = 0; cpu < TIMELINE_CPUS_MAX; cpu++)
		if (counts[cpu])
			verify_found(v, VERIFY_LEDGER_SWITCHES, s->ledgers[0].offset,
				     "CPU %u: %" PRIu64 " in the file, no ledger", cpu,
				     counts[cpu]);
}

/*
 * The CPU of a wakeup is not the one that counted it, and where a function was called
 * only its thread says, not its CPU: compare the sums. @counted: of a ledger, by its offset; @cut of
 * these were cut off.
 */
static void check_sum(struct verify *v, enum verify_problem problem, uint64_t in_file, size_t counted, uint64_t cut)
{
	const struct timeline_session *s = &v->tl->session;
	uint64_t sum = -cut;
	size_t i;

	if (s->has_start && !s->has_totals)
		return;
	for (i = 0; i < s->ledgers_cnt; i++)
		sum += *(const uint64_t *)((const char *)&s->ledgers[i] + counted);
	if (sum != in_file)
		verify_found(v, problem, s->ledgers[0].offset, "%" PRIu64 " in the file, %" PRIu64 " counted",
			     in_file, sum);
}

/* Of what the last ledger counts: it is the sum already. */
static void check_total(struct verify *v, enum verify_problem problem, bool told, uint64_t in_file, uint64_t counted)
{
	const struct timeline_session *s = &v->tl->session;

	if (told && s->has_totals && in_file != counted)
		verify_found(v, problem, s->ledgers[0].offset, "%" PRIu64 " in the file, %" PRIu64 " counted",
			     in_file, counted);
}

static void check_balance(struct verify *v)
{
	const struct timeline_session *s = &v->tl->session;
	size_t i;

	for (i = 0; i < s->ledgers_cnt; i++)
		if (s->ledgers[i].unbalanced)
			verify_found(v, VERIFY_LEDGER_SUM, s->ledgers[i].unbalanced, "CPU %u",
				     (unsigned int)s->ledgers[i].cpu);
}

static int check_ledgers(struct verify *v)
{
	const struct timeline_session *s = &v->tl->session;
	uint64_t *counts;

	if (!s->ledgers_cnt || s->repaired)
		return 0;
	counts = count_switches(v->tl);
	if (!counts)
		return -ENOMEM;
	check_balance(v);
	check_switches(v, counts);
	check_sum(v, VERIFY_LEDGER_WAKEUPS, v->tl->wakeups, offsetof(struct timeline_ledger, wakeups), s->cut_wakeups);
	check_sum(v, VERIFY_LEDGER_CALLS, v->tl->calls, offsetof(struct timeline_ledger, calls), s->cut_calls);
	check_total(v, VERIFY_LEDGER_LOGS, s->has_logs, v->tl->logs, s->logs - s->cut_logs);
	check_total(v, VERIFY_LEDGER_EVENTS, s->has_events, v->tl->others, s->events - s->cut_events);
	free(counts);
	return 0;
}

int verify_sense_run(struct verify *v)
{
	int err;

	timeline_sort(v->tl);
	check_end(v);
	err = replay_run(v->tl, check_event, v);
	if (err)
		return err;
	check_names(v);
	check_still(v);
	err = verify_gaps_run(v);
	return err ? err : check_ledgers(v);
}
