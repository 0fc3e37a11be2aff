// SPDX-License-Identifier: GPL-2.0
/* See sched.h. */
#include "sched.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/array.h"

#define TS_MAX		((uint64_t)INT64_MAX)	/* 292 years: no sum of two overflows */
#define PLAIN_WORDS	6U	/* of a switch with two weights, of a wakeup with weight and waker */

/* What arguments say beyond the record. */
struct marks {
	enum text mark;
	bool blocked;		/* linux_state D */
	bool filtered;
};

static struct marks read_marks(const struct texts *texts, const uint64_t *arg, const uint64_t *end, unsigned int nargs)
{
	struct marks m = { .mark = TEXT_NONE };

	for (; nargs && arg < end; nargs--) {
		const size_t words = FXT_GET(*arg, FXT_F_ARG_SIZE);
		const enum text value = FXT_GET(*arg, FXT_F_ARG_TYPE) == FXT_ARG_STRING ?
						texts_of(texts, FXT_GET(*arg, FXT_F_ARG_STRING)) : TEXT_NONE;

		switch (texts_of(texts, FXT_GET(*arg, FXT_F_ARG_NAME))) {
		case TEXT_MARK:
			m.mark = value;
			break;
		case TEXT_LINUX_STATE:
			m.blocked = value == TEXT_D;
			break;
		case TEXT_FILTERED:
			m.filtered = true;
			break;
		default:
			break;
		}
		if (!words || words > (size_t)(end - arg))
			break;
		arg += words;
	}
	return m;
}

/* ---- both ends -------------------------------------------------------------------------- */

void sched_expect(struct sched *s, const struct num_cpus *recorded, const struct num_cpus *online)
{
	unsigned int i;

	s->recorded = *recorded;
	for (i = 0; i < NUM_CPUS_MAX / 64; i++) {
		s->expected.words[i] = recorded->words[i] & online->words[i];
		s->waits.is_blank |= (online->words[i] & ~recorded->words[i]) != 0;
	}
	s->expected_cnt = num_cpus_count(&s->expected);
}

void sched_set_filtered(struct sched *s)
{
	s->waits.is_filtered = true;
	s->cpus.is_filtered = true;
}

/* One that came online later: threads run there, too. */
static bool have_others(const struct sched *s, const struct num_cpus *online)
{
	uint64_t others = 0;
	unsigned int i;

	for (i = 0; i < NUM_CPUS_MAX / 64; i++)
		others |= online->words[i] & ~s->recorded.words[i];
	return others;
}

/* When a CPU came or went is known to lie between two looks: all that time is what it may have been. */
void sched_look(struct sched *s, const struct num_cpus *online, uint64_t now_ns)
{
	const bool had_others = s->has_others;

	/* A gap that is noticed late makes the time up to which nothing is missing earlier than it was. */
	if (!num_cpus_count(&s->recorded) || now_ns < s->looked_ns)
		return;
	s->has_others = have_others(s, online);
	if (s->has_others || had_others)
		blind_add(&s->blind, s->looked_ns, now_ns);
	cpus_look(&s->cpus, online, now_ns);
	s->looked_ns = now_ns;
}

void sched_suspended(struct sched *s, uint64_t from_ns, uint64_t to_ns)
{
	blind_add(&s->blind, from_ns, to_ns);
	if (to_ns > s->waits.asked.suspended_ns)
		s->waits.asked.suspended_ns = to_ns;
	cpus_suspended(&s->cpus, from_ns, to_ns);
}

static void start_cpu(struct sched *s, unsigned int number, struct cpu *cpu, uint64_t ts_ns)
{
	if (!cpu->has_started && num_cpus_has(&s->expected, number))
		s->expected_cnt--;
	cpu->has_started = true;
	if (ts_ns > s->blind.begin_ns)
		s->blind.begin_ns = ts_ns;
}

/*
 * Two marks of a gap follow each other: where it begins and where it ends. True: this is the first one. Where the kernel did
 * not report a switch, that may have been at any time since the one before.
 */
static bool mark_gap(struct sched *s, struct cpu *cpu, uint64_t ts_ns)
{
	cpu->in_gap = !cpu->in_gap;
	if (cpu->in_gap) {
		cpu->gap_ns = ts_ns;
		cpu->blind_ns = cpu->is_known && cpu->since_ns < ts_ns ? cpu->since_ns : ts_ns;
	} else {
		blind_add(&s->blind, cpu->blind_ns, ts_ns);
	}
	return cpu->in_gap;
}

/* ---- records ------------------------------------------------------------------------------ */

static uint8_t state_after(uint64_t state, const struct marks *m)
{
	if (m->filtered || (m->mark != TEXT_NONE && m->mark != TEXT_STATE))
		return THREAD_UNKNOWN;
	switch (state) {
	case FXT_STATE_RUNNING:
		return THREAD_RUNNABLE;
	case FXT_STATE_SUSPENDED:
		return THREAD_SLEEPS;
	case FXT_STATE_BLOCKED:
		return m->blocked ? THREAD_BLOCKED : THREAD_SLEEPS;
	case FXT_STATE_DYING:
	case FXT_STATE_DEAD:
		return THREAD_DEAD;
	default:
		return THREAD_UNKNOWN;
	}
}

/* Once for each process that has exited: it says so when the last of its threads begins to exit. */
static int fire_exit(struct sched *s, struct thread *process, uint64_t ts_ns, int cpu)
{
	const struct trigger_fired what = {
		.value = 1, .thread = process->koid, .from_ns = ts_ns, .to_ns = ts_ns, .cpu = cpu, .is_partial = cpu < 0,
	};

	if (!process->has_exited || process->is_evaluated)
		return 0;
	process->is_evaluated = true;
	return firing_defer(s->waits.firing, s->exits, &what);
}

/*
 * The last switch-out of a thread: then its process exits, if it is the last one. The first one may be gone long before, or may
 * have become another one by an exec.
 */
static int take_exit(struct sched *s, const uint64_t *rec)
{
	const struct thread *t = threads_find(s->waits.threads, rec[2]);
	struct thread *process = t && t->process != THREADS_NO_PROCESS ? threads_find(s->waits.threads, t->process) : NULL;

	return process ? fire_exit(s, process, rec[1], (int)FXT_GET(rec[0], FXT_F_SCHED_CPU)) : 0;
}

int sched_exit(struct sched *s, uint64_t process)
{
	if (array_reserve(s->exited, s->exited_cnt, s->exited_cap, 1))
		return -ENOMEM;
	s->exited[s->exited_cnt++] = process;
	return 0;
}

/* Those whose last switch-out was not reported, or comes after the end: about now. */
static int fire_exited(struct sched *s)
{
	struct thread *process;
	size_t i;
	int err = 0;

	for (i = 0; i < s->exited_cnt; i++) {
		process = threads_find(s->waits.threads, s->exited[i]);
		err = (process ? fire_exit(s, process, s->last_ns, -1) : 0) ?: err;
	}
	s->exited_cnt = 0;
	return err;
}

/* A thread that has not run since the start. */
static int take_state(struct sched *s, const uint64_t *rec, const struct marks *m)
{
	const struct wait_record record = {
		.koid = rec[2], .ts_ns = rec[1], .run_ns = UINT64_MAX, .is_switch = true, .is_begun = true,
		.state = state_after(FXT_GET(rec[0], FXT_F_SCHED_STATE), m),
	};

	return rec[2] ? thread_waits_add(&s->waits, &record) : 0;
}

/*
 * A gap that is noticed late begins with the thread that was switched in here last, which may have gone since without a record, and
 * been seen elsewhere. What was before the gap's begin has been drained by then.
 */
static bool has_left(const struct sched *s, const struct cpu *cpu, const uint64_t *rec)
{
	const struct thread *t = cpu->is_known && cpu->koid == rec[2] ? threads_find(s->waits.threads, rec[2]) : NULL;

	return t && t->last_ns > cpu->since_ns && t->last_ns <= rec[1];
}

static int take_threads(struct sched *s, const struct cpu *cpu, const uint64_t *rec, const struct marks *m)
{
	struct wait_record record = { .koid = rec[2], .ts_ns = rec[1], .is_switch = true };
	int err = 0;

	if (rec[2] && !(m->mark == TEXT_GAP && has_left(s, cpu, rec))) {
		record.run_ns = cpu->is_known && cpu->koid == rec[2] ? cpu->since_ns : UINT64_MAX;
		record.state = state_after(FXT_GET(rec[0], FXT_F_SCHED_STATE), m);
		err = thread_waits_add(&s->waits, &record);
	}
	if (!rec[3])
		return err;
	record.koid = rec[3];
	record.run_ns = UINT64_MAX;
	record.state = m->mark == TEXT_START || m->mark == TEXT_GAP ? THREAD_RUNS_MARKED : THREAD_RUNS;
	return thread_waits_add(&s->waits, &record) ?: err;
}

/* A record that is not a switch of the machine: what it says of its CPU. */
static void take_mark(struct sched *s, unsigned int number, enum text mark, struct cpu_switch *sw)
{
	struct cpu *cpu = &s->cpus.list[number];

	sw->is_marked = mark == TEXT_START || mark == TEXT_GAP;
	sw->out_is_marked = mark == TEXT_STOP || mark == TEXT_GAP;
	sw->out_may_have_left = mark == TEXT_GAP;
	if (mark == TEXT_START)
		start_cpu(s, number, cpu, sw->ts_ns);
	if (mark == TEXT_STOP)
		blind_add(&s->blind, sw->ts_ns, UINT64_MAX);
	sw->is_known = mark != TEXT_STOP && !(mark == TEXT_GAP && mark_gap(s, cpu, sw->ts_ns));
}

/* Without triggers on waits: only so that a thread's name can be dropped. */
static void take_end(struct sched *s, const uint64_t *rec)
{
	const uint64_t state = FXT_GET(rec[0], FXT_F_SCHED_STATE);
	struct thread *t;

	if (state != FXT_STATE_DYING && state != FXT_STATE_DEAD)
		return;
	t = threads_find(s->waits.threads, rec[2]);
	if (t) {
		t->state = THREAD_DEAD;
		t->last_ns = rec[1];
	}
}

/* One that has executed another program has the id of the first thread of its process, which is dead. */
static void take_begin(struct sched *s, const uint64_t *rec)
{
	struct thread *t = rec[3] ? threads_find(s->waits.threads, rec[3]) : NULL;

	if (t && t->state == THREAD_DEAD && rec[1] >= t->last_ns)
		t->state = THREAD_UNKNOWN;
}

static int take_switch(struct sched *s, const struct texts *texts, const uint64_t *rec, size_t words)
{
	const unsigned int number = FXT_GET(rec[0], FXT_F_SCHED_CPU);
	struct cpu_switch sw = { .ts_ns = rec[1], .out = rec[2], .in = rec[3], .is_known = true };
	struct marks m = { .mark = TEXT_NONE };
	int err = 0;

	if (number >= NUM_CPUS_MAX)
		return 0;
	if (words != PLAIN_WORDS)
		m = read_marks(texts, rec + FXT_SWITCH_WORDS, rec + words, FXT_GET(rec[0], FXT_F_SCHED_NARGS));
	if (m.mark == TEXT_STATE)
		return take_state(s, rec, &m);
	if (number >= s->cpus.used)
		s->cpus.used = number + 1;
	if (s->waits.runq | s->waits.blocked | s->waits.offcpu) {
		err = take_threads(s, &s->cpus.list[number], rec, &m);
	} else {
		take_end(s, rec);
		take_begin(s, rec);
	}
	if (s->exits && m.mark == TEXT_NONE && state_after(FXT_GET(rec[0], FXT_F_SCHED_STATE), &m) == THREAD_DEAD)
		err = take_exit(s, rec) ?: err;
	if (m.mark != TEXT_NONE)
		take_mark(s, number, m.mark, &sw);
	return cpus_switch(&s->cpus, &s->cpus.list[number], &sw) ?: err;
}

static int take_wakeup(struct sched *s, const struct texts *texts, const uint64_t *rec, size_t words)
{
	struct wait_record record = {
		.koid = rec[2], .ts_ns = rec[1], .run_ns = UINT64_MAX, .state = THREAD_WOKEN,
	};
	struct marks m;

	if (!rec[2])
		return 0;
	if (words != PLAIN_WORDS) {
		m = read_marks(texts, rec + FXT_WAKEUP_WORDS, rec + words, FXT_GET(rec[0], FXT_F_SCHED_NARGS));
		if (m.mark == TEXT_IMPLIED)
			record.state = THREAD_WOKEN_BEFORE;
		if (m.mark == TEXT_GAP)
			record.state = THREAD_WOKEN_AGAIN;
	}
	/* It ran since its last switch, which was not reported. */
	record.is_switch = record.state == THREAD_WOKEN_AGAIN;
	return thread_waits_add(&s->waits, &record);
}

int sched_take(struct sched *s, const struct texts *texts, const uint64_t *rec, size_t words)
{
	const uint64_t type = FXT_GET(rec[0], FXT_F_SCHED_TYPE);

	if (words < FXT_WAKEUP_WORDS || rec[1] > TS_MAX)
		return 0;
	if (rec[1] > s->last_ns)
		s->last_ns = rec[1];
	if (type == FXT_SCHED_SWITCH && words >= FXT_SWITCH_WORDS)
		return take_switch(s, texts, rec, words);
	if (type == FXT_SCHED_WAKEUP && (s->waits.runq | s->waits.blocked | s->waits.offcpu))
		return take_wakeup(s, texts, rec, words);
	return 0;
}

/* Of a gap that has begun, and whose other mark has not been taken, it is not known how long it is. */
static uint64_t before_gaps(const struct sched *s, uint64_t ns)
{
	const struct cpu *cpu;

	for (cpu = s->cpus.list; cpu < s->cpus.list + s->cpus.used; cpu++)
		if (cpu->in_gap && cpu->gap_ns < ns)
			ns = cpu->gap_ns;
	return ns;
}

int sched_round(struct sched *s, uint64_t complete_ns)
{
	const struct blind_span *last = blind_before(&s->blind, UINT64_MAX);
	int err;

	complete_ns = before_gaps(s, complete_ns);
	err = cpus_round(&s->cpus, complete_ns);
	s->waits.threads->complete_ns = complete_ns;
	s->waits.threads->blind_ns = last ? last->to_ns : 0;
	if (s->expected_cnt && s->blind.begin_ns < complete_ns)
		s->blind.begin_ns = complete_ns;
	thread_waits_round(&s->waits, complete_ns);
	return fire_exited(s) ?: err;
}

void sched_fini(struct sched *s)
{
	thread_waits_fini(&s->waits);
	free(s->exited);
	cpus_fini(&s->cpus);
}
