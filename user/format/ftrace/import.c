// SPDX-License-Identifier: GPL-2.0
/*
 * The import's life: takes events, resolves CPU, thread and time, hands each to its handler and
 * counts what became of it.
 */
#include "import_p.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- CPU, thread and time -------------------------------------------------- */

/* What has no time of its own, or none that readers take, has the last time of its CPU. */
static int resolve_time(struct builder *b, struct record *r)
{
	int err = 0;

	if (r->ev->clock != MODEL_CLOCK_NONE && r->ev->clock != b->clock)
		err = build_set_clock(b, r->ev->clock);
	else if (b->clock == MODEL_CLOCK_NONE && !b->ticks_per_second)
		err = build_set_provider(b, MODEL_CLOCK_NONE);
	r->ts = r->ev->ts > UINT64_MAX - r->im->shift ? UINT64_MAX : r->ev->ts + r->im->shift;
	if (r->ev->clock == MODEL_CLOCK_NONE || build_ns(b, r->ts) > INT64_MAX)
		r->ts = r->cpu ? r->cpu->now : 0;
	else if (r->cpu && r->ts > r->cpu->now)
		r->cpu->now = r->ts;
	r->ns = build_ns(b, r->ts);
	if (r->ts > b->now)
		b->now = r->ts;
	return err;
}

/* Lines of one thread come in runs: the CPU's last one is most often it. */
static int resolve_thread(struct builder *b, struct record *r)
{
	const struct ftrace_event *ev = r->ev;

	if (ev->tid < 0) {
		r->t = r->cpu ? r->cpu->assumed : NULL;
		return 0;
	}
	r->t = r->cpu && r->cpu->line && r->cpu->line->tid == ev->tid ? r->cpu->line :
								      thread_get(b, ev->tid);
	if (!r->t)
		return -ENOMEM;
	if (ev->comm.len)
		thread_name(b, r->t, ev->comm, NAME_COLUMN);
	thread_tgid(b, r->t, ev->tgid, false);
	return 0;
}

static int resolve(struct builder *b, struct record *r)
{
	int err;

	r->cpu = build_cpu(b, r->ev->cpu);
	if (!r->cpu && r->ev->cpu >= 0 && r->ev->cpu < CPUS_MAX)
		return -ENOMEM;
	err = resolve_thread(b, r);
	return err ? err : resolve_time(b, r);
}

/* ---- losses ---------------------------------------------------------------- */

static int note_loss(struct builder *b, const struct ftrace_event *ev)
{
	struct cpu *c = build_cpu(b, ev->cpu);
	int err;

	if (!c)
		return 0;
	if (ev->kind == FTRACE_LOST) {
		c->lost = true;
		c->lost_cnt += ev->count;
	}
	err = build_end_tracks(b, c);
	return err ? err : sched_lose(b, c);
}

/* A slice on the CPU's own track, from its last record to this one. */
static int draw_loss(struct builder *b, const struct record *r, uint64_t since)
{
	struct track *tr = track_of_cpu(b, r->cpu, PSEUDO_LOST);
	struct fxt_arg arg = fxt_arg_u64("lost", r->cpu->lost_cnt);
	struct fxt_event e = {
		.type = FXT_DURATION_COMPLETE, .ts = since < r->ts ? since : r->ts, .id = r->ts,
		.category = fxt_str("lost"),
	};
	char text[48] = "lost events";
	struct call_stacks *stacks = b->stacks;
	int err;

	if (!tr)
		return -ENOMEM;
	if (r->cpu->lost_cnt)
		snprintf(text, sizeof(text), "lost %llu event%s",
			 (unsigned long long)r->cpu->lost_cnt, r->cpu->lost_cnt == 1 ? "" : "s");
	if (!since || e.ts < tr->last)
		e.ts = r->ts;
	tr->last = r->ts;
	e.thread = tr->at;
	e.name = fxt_str_inline(text, strlen(text));
	r->cpu->lost = false;
	r->cpu->lost_cnt = 0;
	if (!r->cpu->in_gap)
		b->stats.gaps++;
	b->stacks = NULL;
	err = build_event(b, &e, &arg, arg.u64 > 0);
	b->stacks = stacks;
	return err;
}

int import_draw_losses(struct ftrace_import *im)
{
	struct builder *b = im->b;
	unsigned int i;
	int err = 0;

	for (i = 0; i < b->cpus_cnt && !err; i++) {
		struct cpu *c = b->cpus[i];
		const struct record r = { .im = im, .cpu = c, .ts = b->now };

		if (c && c->lost && b->now)
			err = draw_loss(b, &r, c->now);
	}
	return err;
}

/* ---- one record ------------------------------------------------------------ */

static record_fn *fn_of(struct record *r)
{
	switch (r->ev->kind) {
	case FTRACE_EVENT:
		r->kind = kind_of(r->im, r->ev);
		return r->kind->fn;
	case FTRACE_MARKER:
		return on_marker;
	case FTRACE_MARKER_RAW:
		return on_raw_marker;
	case FTRACE_FUNCTION:
	case FTRACE_FUNCTION_REPEATS:
		return on_function;
	case FTRACE_SYSCALL_ENTER:
	case FTRACE_SYSCALL_EXIT:
		return on_syscall;
	case FTRACE_GRAPH_ENTRY:
	case FTRACE_GRAPH_EXIT:
	case FTRACE_GRAPH_LEAF:
	case FTRACE_GRAPH_IRQ_ENTRY:
	case FTRACE_GRAPH_IRQ_EXIT:
		return on_graph;
	case FTRACE_STACK:
	case FTRACE_USER_STACK:
		return on_stack;
	default:
		return on_text;
	}
}

/* One that a cut line may have robbed of digits is not used if it means more than its text. */
static int handle(struct builder *b, struct record *r)
{
	record_fn *fn = fn_of(r);
	int out = fn(b, r);

	if (out == OUT_OTHER && !r->ev->complete && fn != on_instant)
		return OUT_INCOMPLETE;
	if (out == OUT_LATE && !b->stats.out_of_order++)
		b->stats.out_of_order_line = r->ev->line;
	return out == OUT_OTHER || out == OUT_LATE ? on_instant(b, r) : out;
}

static int take_record(struct ftrace_import *im, const struct ftrace_event *ev)
{
	struct record r = { .im = im, .ev = ev };
	struct builder *b = im->b;
	uint64_t since;
	int out;

	r.cpu = build_cpu(b, ev->cpu);
	since = r.cpu ? r.cpu->now : 0;
	out = resolve(b, &r);
	if (!out && r.cpu && r.cpu->lost)
		out = draw_loss(b, &r, since);
	if (out)
		return out;
	if (r.cpu && r.t && !ev->recorded)
		sched_line(b, r.cpu, r.t, r.ts, r.ns);
	out = handle(b, &r);
	if (out < 0)
		return out;
	build_count(b, out, ev->kind == FTRACE_GRAPH_LEAF ? 2 : 1);
	return 0;
}

/* ---- notices --------------------------------------------------------------- */

static int note_switch(struct builder *b, const struct ftrace_event *ev)
{
	struct cpu *c = build_cpu(b, ev->cpu);
	struct thread *t = ev->tid >= 0 ? thread_get(b, ev->tid) : NULL;

	if (!c || !t)
		return ev->tid >= 0 && !t ? -ENOMEM : 0;
	thread_name(b, t, ev->comm, NAME_CUT);
	c->assumed = t;
	return 0;
}

/* A line of a process dump. */
static int note_process(struct builder *b, const struct ftrace_event *ev)
{
	int32_t tgid = ev->tgid > 0 ? ev->tgid : ev->tid;
	struct thread *t;

	if (ev->tid <= 0)
		return process_name(b, tgid, ev->comm);
	t = thread_get(b, ev->tid);
	if (!t)
		return -ENOMEM;
	thread_name(b, t, ev->comm, NAME_CUT);
	if (tgid == ev->tid)
		return process_name(b, tgid, ev->comm);
	thread_tgid(b, t, tgid, true);
	return 0;
}

int import_take(struct ftrace_import *im, const struct ftrace_event *ev)
{
	struct builder *b = im->b;
	int err;

	switch (ev->kind) {
	case FTRACE_TRACE:
		im->begins = b->outcomes[OUT_SWITCH];
		im->shift = 0;
		err = import_draw_losses(im);
		return err ? err : build_end_trace(b);
	case FTRACE_LOST:
	case FTRACE_BUFFER_STARTED:
		return note_loss(b, ev);
	case FTRACE_TASK_SWITCH:
		return note_switch(b, ev);
	case FTRACE_PROCESS:
		return note_process(b, ev);
	default:
		return take_record(im, ev);
	}
}

/* ---- life ------------------------------------------------------------------ */

int ftrace_import_open(struct ftrace_import **out, struct builder *b)
{
	struct ftrace_import *im = calloc(1, sizeof(*im));

	if (!im)
		return -ENOMEM;
	im->b = b;
	im->held_depth = 1;
	if (kinds_init(im)) {
		free(im);
		return -ENOMEM;
	}
	*out = im;
	return 0;
}

const struct ftrace_sync *ftrace_import_syncs(const struct ftrace_import *im, unsigned int *cnt)
{
	*cnt = im->syncs_cnt;
	return im->syncs;
}

void ftrace_import_close(struct ftrace_import *im)
{
	if (!im)
		return;
	held_fini(im);
	memories_fini(im);
	kinds_fini(im);
	free(im);
}
