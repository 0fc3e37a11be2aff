// SPDX-License-Identifier: GPL-2.0
/*
 * Several traces in one text. One begins with its header or, where that was taken away, where
 * the time of a CPU goes back and then goes on from there: a CPU's lines are in order, so lines
 * that are not, and do not go on, are out of order. What follows is looked at to find out.
 *
 * A trace whose switches are of a time that its CPU has switches of already cannot be put among
 * them. It is shown after all there is, later by whole seconds: the digits after the point stay.
 */
#include "import_p.h"

#define RUN_MIN		4U		/* so many lines make a trace */
#define APART_NS	1000000000ULL	/* the next trace begins at least so much later */

static const struct ftrace_event *held_at(const struct ftrace_import *im, unsigned int i)
{
	return &im->held[(im->held_first + i) % HELD_MAX].ev;
}

/* NULL: not one whose time can be compared. */
static const struct cpu *timed_cpu(const struct ftrace_import *im, const struct ftrace_event *ev)
{
	if (ev->kind >= FTRACE_KIND_RECORDS || ev->clock == MODEL_CLOCK_NONE || (uint32_t)ev->cpu >= CPUS_MAX)
		return NULL;
	return im->b->cpus[ev->cpu];
}

/* How many events the trace goes on for: up to where one goes back again or another one begins. */
static unsigned int run_len(const struct ftrace_import *im)
{
	unsigned int i, j;

	for (i = 1; i < im->held_cnt; i++) {
		const struct ftrace_event *ev = held_at(im, i);

		if (ev->kind == FTRACE_TRACE)
			break;
		for (j = i; j > 0 && held_at(im, j - 1)->cpu != ev->cpu;)
			j--;
		if (j && timed_cpu(im, ev) && ev->ts < held_at(im, j - 1)->ts)
			break;
	}
	return i;
}

/* A trace goes on from where it went back to; lines that were displaced soon meet the others. */
static bool begins_anew(const struct ftrace_import *im)
{
	const unsigned int cnt = run_len(im);
	unsigned int i;

	for (i = 1; i < cnt; i++) {
		const struct ftrace_event *ev = held_at(im, i);
		const struct cpu *c = timed_cpu(im, ev);

		if (c && ev->ts + im->shift > c->now)
			return false;
	}
	return cnt >= RUN_MIN;
}

/* Without times each CPU begins at 0. */
static uint64_t ns_of(const struct ftrace_import *im, const struct ftrace_event *ev)
{
	const uint64_t ts = ev->clock == MODEL_CLOCK_NONE ? 0 : ev->ts;
	const unsigned __int128 ns = (unsigned __int128)ts * 1000000000 / build_rate(im->b, ev->clock);

	return ns > UINT64_MAX ? UINT64_MAX : (uint64_t)ns;
}

/* Of a switch or of function_graph, which has switches in between, at a time its CPU has switches of. */
static bool clashes(const struct ftrace_import *im, const struct ftrace_event *ev)
{
	const struct cpu *c = (uint32_t)ev->cpu < CPUS_MAX ? im->b->cpus[ev->cpu] : NULL;

	if (!text_is(ev->name, "sched_switch") && (ev->kind < FTRACE_GRAPH_ENTRY || ev->kind > FTRACE_GRAPH_LEAF))
		return false;
	return c && ns_of(im, ev) <= c->switch_ns;
}

/* The first such event; *@min_ns is the time of the earliest one. */
static const struct ftrace_event *find_clash(const struct ftrace_import *im, uint64_t *min_ns)
{
	const unsigned int cnt = run_len(im);
	const struct ftrace_event *clash = NULL, *ev;
	unsigned int i;

	*min_ns = UINT64_MAX;
	for (i = 0; i < cnt; i++) {
		ev = held_at(im, i);
		if (ev->kind >= FTRACE_KIND_RECORDS)
			continue;
		if (ns_of(im, ev) < *min_ns)
			*min_ns = ns_of(im, ev);
		if (!clash && clashes(im, ev))
			clash = ev;
	}
	return clash;
}

static uint64_t latest_ns(const struct ftrace_import *im)
{
	uint64_t ns = build_ns(im->b, im->b->now);
	unsigned int i;

	for (i = 0; i < im->b->cpus_cnt; i++)
		if (im->b->cpus[i] && im->b->cpus[i]->switch_ns > ns)
			ns = im->b->cpus[i]->switch_ns;
	return ns;
}

static void set_shift(struct ftrace_import *im)
{
	uint64_t min_ns, seconds;
	const struct ftrace_event *clash = find_clash(im, &min_ns);
	unsigned __int128 shift;
	unsigned int i;

	im->begins = false;
	im->shift = 0;
	if (!clash)
		return;
	seconds = (latest_ns(im) - min_ns + APART_NS) / 1000000000 + 1;
	shift = (unsigned __int128)seconds * build_rate(im->b, clash->clock);
	if (shift > INT64_MAX)
		return;
	im->shift = (uint64_t)shift;
	for (i = 0; clash->clock == MODEL_CLOCK_NONE && i < im->b->cpus_cnt; i++)
		if (im->b->cpus[i])
			im->b->cpus[i]->now = im->shift;
	if (im->b->stats.shifted++)
		return;
	im->b->stats.shifted_line = held_at(im, 0)->line;
	im->b->stats.shifted_s = seconds;
}

int restart_look(struct ftrace_import *im)
{
	int err = 0;

	if (!im->begins) {
		if (!begins_anew(im))
			return 0;
		err = build_end_trace(im->b);
	}
	set_shift(im);
	return err;
}
