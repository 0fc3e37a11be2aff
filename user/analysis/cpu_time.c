// SPDX-License-Identifier: GPL-2.0
/*
 * CPU time from a replay: of each thread and of each CPU, ranked.
 */
#include "cpu_time.h"

#include <errno.h>
#include <stdlib.h>

#include "replay.h"

/*
 * Where the records of a CPU are cut off a thread is still running, for an unknown time.
 * It counts as running up to the last time in the trace or, if earlier, up to its next
 * record: a thread that kept its CPU to the end would otherwise not have run at all. It is
 * the most it can have been.
 */
static void end_cut_slice(struct cpu_time *ct, uint32_t thread, uint64_t ts_ns)
{
	struct cpu_time_thread *u;

	if (thread == TIMELINE_IDLE || !ct->threads[thread].is_cut)
		return;
	u = &ct->threads[thread];
	u->run_ns += ts_ns - u->cut_ns;
	u->slices++;
	u->is_cut = false;
}

static void begin_cut_slice(struct cpu_time *ct, uint32_t thread, uint64_t ts_ns)
{
	if (thread == TIMELINE_IDLE)
		return;
	ct->threads[thread].cut_ns = ts_ns;
	ct->threads[thread].is_cut = true;
}

static void count_switch(struct cpu_time *ct, const struct replay *rp, const struct timeline_event *ev)
{
	const struct replay_thread *t;

	if (ev->out == TIMELINE_IDLE)
		return;
	t = &rp->threads[ev->out];
	if (t->state == REPLAY_RUNNING && t->cpu == ev->cpu) {
		ct->threads[ev->out].run_ns += ev->ts_ns - t->since_ns;
		ct->threads[ev->out].slices++;
	}
}

/* A CPU's time goes to the task switched in; idle may be a thread that was not selected. */
static void count_cpu(struct cpu_time *ct, const struct replay *rp, const struct timeline_event *ev)
{
	struct cpu_time_cpu *c = &ct->cpus[ev->cpu];
	const bool ends = ev->mark == TIMELINE_MARK_STOP || replay_is_last(rp, ev) ||
			  (ev->mark == TIMELINE_MARK_GAP && rp->cpus[ev->cpu].live);

	if (c->doing == CPU_TIME_BUSY)
		c->busy_ns += ev->ts_ns - c->since_ns;
	else if (c->doing == CPU_TIME_IDLE)
		c->idle_ns += ev->ts_ns - c->since_ns;
	c->doing = ends ? CPU_TIME_UNKNOWN : ev->in == TIMELINE_IDLE ? CPU_TIME_IDLE : CPU_TIME_BUSY;
	c->since_ns = ev->ts_ns;
	c->switches += ev->mark == TIMELINE_MARK_NONE;
	c->cpu = ev->cpu;
	c->seen = true;
}

static int count_event(void *ctx, const struct replay *rp, const struct timeline_event *ev)
{
	struct cpu_time *ct = ctx;
	int err = waits_play(ct->waits, rp, ev);

	end_cut_slice(ct, ev->in, ev->ts_ns);
	if (ev->kind == TIMELINE_WAKEUP && ev->in != TIMELINE_IDLE)
		ct->threads[ev->in].wakeups++;
	if (err || ev->kind != TIMELINE_SWITCH)
		return err;	/* a waker runs, which does not end its slice */
	end_cut_slice(ct, ev->out, ev->ts_ns);
	count_switch(ct, rp, ev);
	if (ev->mark != TIMELINE_MARK_STATE)
		count_cpu(ct, rp, ev);
	if (replay_is_last(rp, ev))
		begin_cut_slice(ct, ev->in, ev->ts_ns);
	return 0;
}

/* The busiest first; equal ones in the order of the file. Those that were not selected come last. */
static int compare_usage(const void *pa, const void *pb)
{
	const struct cpu_time_thread *a = pa, *b = pb;

	if (a->is_partial != b->is_partial)
		return a->is_partial ? 1 : -1;
	if (a->run_ns != b->run_ns)
		return a->run_ns > b->run_ns ? -1 : 1;
	return a->thread < b->thread ? -1 : a->thread > b->thread;
}

static int compare_cpus(const void *pa, const void *pb)
{
	const struct cpu_time_cpu *a = pa, *b = pb;

	if (a->seen != b->seen)
		return a->seen ? -1 : 1;
	if (a->busy_ns != b->busy_ns)
		return a->busy_ns > b->busy_ns ? -1 : 1;
	return a->cpu < b->cpu ? -1 : a->cpu > b->cpu;
}

/* Of a filtered trace no CPU's time is known: that of threads that were not selected is not in it. */
static void rank_cpus(struct cpu_time *ct)
{
	qsort(ct->cpus, TIMELINE_CPUS_MAX, sizeof(*ct->cpus), compare_cpus);
	while (!ct->tl->session.filter && ct->cpus_cnt < TIMELINE_CPUS_MAX && ct->cpus[ct->cpus_cnt].seen)
		ct->cpus_cnt++;
}

int cpu_time_count(struct cpu_time *ct, struct timeline *tl, bool damaged)
{
	size_t i;
	int err;

	*ct = (struct cpu_time){ .tl = tl };
	timeline_sort(tl);
	ct->threads = calloc(tl->threads_cnt + 1, sizeof(*ct->threads));
	ct->cpus = calloc(TIMELINE_CPUS_MAX, sizeof(*ct->cpus));
	if (!ct->threads || !ct->cpus || waits_open(&ct->waits, tl, damaged))
		return -ENOMEM;
	for (i = 0; i < tl->threads_cnt; i++)
		ct->threads[i].thread = (uint32_t)i;
	err = replay_run(tl, count_event, ct);
	waits_end(ct->waits);
	rank_cpus(ct);
	for (i = 0; i < tl->threads_cnt && tl->events_cnt; i++) {
		end_cut_slice(ct, (uint32_t)i, tl->events[tl->events_cnt - 1].ts_ns);
		ct->threads[i].is_partial = tl->session.filter && !tl->threads[i].selected;
	}
	qsort(ct->threads, tl->threads_cnt, sizeof(*ct->threads), compare_usage);
	return err;
}

void cpu_time_free(struct cpu_time *ct)
{
	waits_close(ct->waits);
	free(ct->cpus);
	free(ct->threads);
	*ct = (struct cpu_time){ 0 };
}
