// SPDX-License-Identifier: GPL-2.0
/*
 * Threads and processes: their names, and what each thread does. Records of different CPUs come out of order, so a
 * record that is older than what is known of its thread changes nothing, and a wakeup waits in its thread's list until
 * something younger is known.
 */
#include <errno.h>
#include <stdlib.h>

#include "base/array.h"
#include "bpf/abi/ids.h"
#include "cut_p.h"
#include "state_p.h"

#define EXITED_KEPT_NS	60000000000ULL	/* a request that it began may end as late */
#define CLEAR_AT	4096U		/* exited threads */
#define CLEAR_NS	10000000000ULL	/* at most every so often */
#define WAKES_KEPT_NS	5000000000ULL	/* rings are not drained so much later than others */

int piece_thread(struct piece_state *s, uint64_t koid, uint32_t *out)
{
	uint32_t i = map_get(&s->thread_map, koid), before;
	int err;

	if (i == MAP_NONE) {
		err = array_reserve(s->threads, s->threads_cnt, s->threads_cap, 1);
		if (!err)
			err = map_add(&s->thread_map, koid, (uint32_t)s->threads_cnt);
		if (err)
			return err;
		i = (uint32_t)s->threads_cnt++;
		s->threads[i] = (struct thread){ .koid = koid, .wakes = NONE };
		/* Its id is used again, so the one before has exited. */
		before = koid < PSEUDO_BASE && koid >= ID_GENERATION_STEP ?
			map_get(&s->thread_map, koid - ID_GENERATION_STEP) : MAP_NONE;
		if (before != MAP_NONE)
			piece_thread_exit(s, &s->threads[before], s->seen_ns);
	}
	*out = i;
	return 0;
}

static int intern_process(struct piece_state *s, uint64_t koid, uint32_t *out)
{
	uint32_t i = map_get(&s->process_map, koid);
	int err;

	if (i == MAP_NONE) {
		err = array_reserve(s->processes, s->processes_cnt, s->processes_cap, 1);
		if (!err)
			err = map_add(&s->process_map, koid, (uint32_t)s->processes_cnt);
		if (err)
			return err;
		i = (uint32_t)s->processes_cnt++;
		s->processes[i] = (struct process){ .koid = koid };
	}
	*out = i;
	return 0;
}

/* It may run for a while, and one that executes a program takes over the id of its process's first thread. */
static void set_exiting(struct piece_state *s, struct thread *t)
{
	s->exiting_cnt -= t->exiting;
	t->exiting = kept_arg(t->object, "exited");
	t->exiting_ns = s->seen_ns;
	s->exiting_cnt += t->exiting;
}

/* Both take over @object, also if they fail. */
int piece_name_thread(struct piece_state *s, struct kept *object)
{
	uint32_t i;
	int err = piece_thread(s, object->object.id, &i);

	if (err) {
		free(object);
		return err;
	}
	free(s->threads[i].object);
	s->threads[i].object = object;
	set_exiting(s, &s->threads[i]);
	return 0;
}

int piece_name_process(struct piece_state *s, struct kept *object)
{
	uint32_t i;
	int err = intern_process(s, object->object.id, &i);

	if (err) {
		free(object);
		return err;
	}
	free(s->processes[i].object);
	s->processes[i].object = object;
	s->processes[i].named_ns = s->seen_ns;
	return 0;
}

/* ---- wakeups ------------------------------------------------------------------------------ */

static uint32_t first_free(struct piece_state *s)
{
	uint32_t i = s->free_wake;

	if (i != NONE) {
		s->free_wake = s->wakes[i].next;
		return i;
	}
	return array_reserve(s->wakes, s->wakes_cnt, s->wakes_cap, 1) ? NONE : (uint32_t)s->wakes_cnt++;
}

static void drop_first(struct piece_state *s, struct thread *t)
{
	const uint32_t i = t->wakes;

	t->wakes = s->wakes[i].next;
	s->wakes[i].next = s->free_wake;
	s->free_wake = i;
}

/* Those before @ts: that it was switched then is younger. */
static void drop_before(struct piece_state *s, struct thread *t, uint64_t ts)
{
	while (t->wakes != NONE && s->wakes[t->wakes].ts < ts)
		drop_first(s, t);
}

/* Where one of that time is linked in: nearly always after the last one. */
static uint32_t *place_of(struct piece_state *s, struct thread *t, uint64_t ts)
{
	uint32_t *link = &t->wakes;

	if (t->wakes != NONE && s->wakes[t->last_wake].ts <= ts)
		return &s->wakes[t->last_wake].next;
	while (*link != NONE && s->wakes[*link].ts <= ts)
		link = &s->wakes[*link].next;
	return link;
}

/*
 * There is more than one only while the ring of the thread's CPU is to be drained after others. A thread that is woken
 * here and runs where nothing is recorded would gather them for ever.
 */
int piece_thread_woken(struct piece_state *s, uint32_t thread, const struct wake *wake)
{
	struct thread *t = &s->threads[thread];
	uint32_t i, *link;

	if (wake->ts < t->since_ns)
		return 0;
	t->initial = false;
	i = first_free(s);
	if (i == NONE)
		return -ENOMEM;
	link = place_of(s, t, wake->ts);
	s->wakes[i] = *wake;
	s->wakes[i].next = *link;
	if (*link == NONE)
		t->last_wake = i;
	*link = i;
	if (s->partial)
		drop_before(s, t, wake->ts);
	else if (wake->ts > WAKES_KEPT_NS)
		drop_before(s, t, wake->ts - WAKES_KEPT_NS);
	return 0;
}

/* ---- switches ----------------------------------------------------------------------------- */

void piece_thread_in(struct piece_state *s, uint32_t thread, uint64_t ts, uint16_t cpu, int32_t prio)
{
	struct thread *t = &s->threads[thread];

	if (ts < t->since_ns)
		return;
	drop_before(s, t, ts + 1);
	s->exited_cnt -= t->exited;
	t->exited = false;
	t->initial = false;
	t->state = RUN_RUNNING;
	t->since_ns = ts;
	t->cpu = cpu;
	t->prio = prio;
}

void piece_thread_out(struct piece_state *s, uint32_t thread, const struct thread *left)
{
	struct thread *t = &s->threads[thread];

	if (left->since_ns < t->since_ns)
		return;
	drop_before(s, t, left->since_ns);
	t->state = left->state;
	t->since_ns = left->since_ns;
	t->cpu = left->cpu;
	t->prio = left->prio;
	t->fxt_state = left->fxt_state;
	t->linux_state = left->linux_state;
	t->initial = left->initial;
	if (left->state == RUN_DEAD)
		piece_thread_exit(s, t, left->since_ns);
}

void piece_thread_exit(struct piece_state *s, struct thread *t, uint64_t ts)
{
	if (t->exited)
		return;
	t->exited = true;
	t->state = RUN_DEAD;
	t->since_ns = ts > t->since_ns ? ts : t->since_ns;
	s->exited_cnt++;
}

uint64_t piece_running(const struct piece_state *s, const struct cpu *cpu)
{
	return cpu->begun && cpu->thread != NONE ? s->threads[cpu->thread].koid : 0;
}

/* ---- forgetting --------------------------------------------------------------------------- */

static void forget_thread(struct piece_state *s, struct thread *t)
{
	while (t->wakes != NONE)
		drop_first(s, t);
	piece_slices_drop(s, t->koid);
	free(t->object);
	s->exited_cnt -= t->exited;
	s->exiting_cnt -= t->exiting;
}

static bool is_old(const struct piece_state *s, uint64_t ts)
{
	return s->seen_ns > EXITED_KEPT_NS && ts < s->seen_ns - EXITED_KEPT_NS;
}

/* Its last switch may be hidden by a filter, by a gap, or on a CPU that is not recorded. */
static bool is_gone(const struct piece_state *s, const struct thread *t, uint64_t blind_ns)
{
	if (t->exited)
		return is_old(s, t->since_ns);
	return t->exiting && t->state != RUN_RUNNING && (t->state == RUN_UNKNOWN || t->since_ns < blind_ns) &&
	       is_old(s, t->exiting_ns) && is_old(s, t->since_ns);
}

/* Gives what is left its new indexes. */
static int renumber(struct piece_state *s)
{
	size_t i;
	int err = 0;

	for (i = 0; !err && i < s->threads_cnt; i++)
		err = map_add(&s->thread_map, s->threads[i].koid, (uint32_t)i);
	for (i = 0; !err && i < s->processes_cnt; i++)
		err = map_add(&s->process_map, s->processes[i].koid, (uint32_t)i);
	return err;
}

static void clear_threads(struct piece_state *s)
{
	const uint64_t blind_ns = piece_blind_until(s);
	const struct fxt_arg *process;
	struct thread *t;
	size_t kept = 0;
	uint32_t at;

	for (t = s->threads; t < s->threads + s->threads_cnt; t++) {
		if (is_gone(s, t, blind_ns)) {
			forget_thread(s, t);
			continue;
		}
		process = t->object ? kept_arg(t->object, "process") : NULL;
		at = process && process->type == FXT_ARG_KOID ? map_get(&s->process_map, process->u64) : MAP_NONE;
		if (at != MAP_NONE)
			s->processes[at].used = true;
		s->threads[kept++] = *t;
	}
	s->threads_cnt = kept;
}

static void clear_processes(struct piece_state *s)
{
	struct process *p;
	size_t kept = 0;

	for (p = s->processes; p < s->processes + s->processes_cnt; p++) {
		if (!p->used && p->koid < PSEUDO_BASE && is_old(s, p->named_ns)) {
			free(p->object);
			continue;
		}
		p->used = false;
		s->processes[kept++] = *p;
	}
	s->processes_cnt = kept;
}

int piece_threads_clear(struct piece_state *s, bool now)
{
	uint64_t running[PIECE_CPUS];
	unsigned int cpu;
	int err;

	if (!now && (s->exited_cnt + s->exiting_cnt < CLEAR_AT || s->seen_ns < s->cleared_ns + CLEAR_NS))
		return 0;
	s->cleared_ns = s->seen_ns;
	for (cpu = 0; cpu < s->cpus_end; cpu++)
		running[cpu] = piece_running(s, &s->cpus[cpu]);
	clear_threads(s);
	clear_processes(s);
	map_fini(&s->thread_map);
	map_fini(&s->process_map);
	err = renumber(s);
	if (!err)
		piece_slices_inherit(s);
	for (cpu = 0; cpu < s->cpus_end; cpu++)
		s->cpus[cpu].thread = running[cpu] ? map_get(&s->thread_map, running[cpu]) : NONE;
	return err;
}

void piece_threads_close(struct piece_state *s)
{
	size_t i;

	for (i = 0; i < s->threads_cnt; i++)
		free(s->threads[i].object);
	for (i = 0; i < s->processes_cnt; i++)
		free(s->processes[i].object);
	free(s->threads);
	free(s->processes);
	free(s->wakes);
	map_fini(&s->thread_map);
	map_fini(&s->process_map);
}
