// SPDX-License-Identifier: GPL-2.0
/*
 * The builder's life: takes events, holds each back until it is known whether a
 * stack follows, resolves CPU, thread and time, hands it to its handler and
 * counts what became of it.
 */
#include "build_p.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PROVIDER	1

static const char *const fixed_strings[] = {
	[STR_OUTGOING_WEIGHT] = "outgoing_weight", [STR_INCOMING_WEIGHT] = "incoming_weight",
	[STR_WEIGHT] = "weight", [STR_WAKER] = "waker", [STR_LINUX_STATE] = "linux_state",
	[STR_MARK] = "mark", [STR_START] = "start", [STR_STOP] = "stop", [STR_GAP] = "gap",
	[STR_IMPLIED] = "implied", [STR_STACK] = "stack", [STR_USER_STACK] = "user_stack",
};

struct fxt_str build_str(struct ftrace_text text)
{
	/* What is long does not come again. */
	return text.len > 200 ? fxt_str_inline(text.data, text.len < 2048 ? text.len : 2048) :
				fxt_str_n(text.data, text.len);
}

/* ---- time ------------------------------------------------------------------ */

uint64_t build_ns(const struct builder *b, uint64_t ts)
{
	unsigned __int128 ns;

	if (b->ticks_per_second == 1000000000)
		return ts;
	ns = (unsigned __int128)ts * 1000000000 / (b->ticks_per_second ? b->ticks_per_second : 1);
	return ns > UINT64_MAX ? UINT64_MAX : (uint64_t)ns;
}

static uint64_t rate_of(const struct builder *b, enum ftrace_clock clock)
{
	if (clock != FTRACE_CLOCK_TICKS || !b->cfg.ticks_per_second)
		return 1000000000;
	return b->cfg.ticks_per_second;
}

/* Each clock is a provider: readers keep ticks per second by provider. */
static int set_provider(struct builder *b, enum ftrace_clock clock)
{
	int err;

	b->ticks_per_second = rate_of(b, clock);
	if (b->providers[clock])
		return fxt_write_provider_section(b->w, b->providers[clock]);
	b->providers[clock] = PROVIDER + b->providers_cnt++;
	err = b->providers[clock] == PROVIDER ? 0 :
	      fxt_write_provider_info(b->w, b->providers[clock], fxt_str(b->cfg.source));
	return err ? err : fxt_write_initialization(b->w, b->ticks_per_second);
}

static int end_trace(struct builder *b);

static int set_clock(struct builder *b, enum ftrace_clock clock)
{
	int err = 0;

	if (b->clock != FTRACE_CLOCK_NONE)
		err = end_trace(b);
	if (!err)
		err = set_provider(b, clock);
	b->clock = clock;
	b->now = 0;
	/* Their times are of the other clock. */
	if (b->implied_cnt)
		b->unsafe_wakes = true;
	return err;
}

/* What has no time of its own, or none that readers take, is where its CPU's clock stands. */
static int resolve_time(struct builder *b, struct record *r)
{
	int err = 0;

	if (r->ev->clock != FTRACE_CLOCK_NONE && r->ev->clock != b->clock)
		err = set_clock(b, r->ev->clock);
	else if (b->clock == FTRACE_CLOCK_NONE && !b->ticks_per_second)
		err = set_provider(b, FTRACE_CLOCK_NONE);
	r->ts = r->ev->ts;
	if (r->ev->clock == FTRACE_CLOCK_NONE || build_ns(b, r->ts) > INT64_MAX)
		r->ts = r->cpu ? r->cpu->now : 0;
	else if (r->cpu && r->ts > r->cpu->now)
		r->cpu->now = r->ts;
	r->ns = build_ns(b, r->ts);
	if (r->ts > b->now)
		b->now = r->ts;
	return err;
}

/* ---- CPU and thread -------------------------------------------------------- */

struct cpu *build_cpu(struct builder *b, int32_t nr)
{
	struct cpu *c;

	if (nr < 0 || nr >= CPUS_MAX)
		return NULL;
	c = b->cpus[nr];
	if (c)
		return c;
	c = calloc(1, sizeof(*c));
	if (!c)
		return NULL;
	c->nr = (uint16_t)nr;
	if (c->nr >= b->cpus_cnt)
		b->cpus_cnt = c->nr + 1U;
	b->cpus[nr] = c;
	return c;
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

static int end_tracks(struct builder *b, struct cpu *c)
{
	unsigned int i;
	int err = 0;

	for (i = 0; i < PSEUDO_CNT && !err; i++)
		err = slices_close(b, c->tracks[i]);
	return err;
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
	err = end_tracks(b, c);
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
	struct held *current = b->current;
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
	b->current = NULL;
	err = build_event(b, &e, &arg, arg.u64 > 0);
	b->current = current;
	return err;
}

/* ---- one record ------------------------------------------------------------ */

static record_fn *fn_of(struct builder *b, struct record *r)
{
	switch (r->ev->kind) {
	case FTRACE_EVENT:
		r->kind = kind_of(b, r->ev);
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
	record_fn *fn = fn_of(b, r);
	int out = fn(b, r);

	if (out == OUT_OTHER && !r->ev->complete && fn != on_instant)
		return OUT_INCOMPLETE;
	if (out == OUT_LATE)
		b->stats.out_of_order++;
	return out == OUT_OTHER || out == OUT_LATE ? on_instant(b, r) : out;
}

static void count(struct builder *b, const struct ftrace_event *ev, int out)
{
	unsigned int times = ev->kind == FTRACE_GRAPH_LEAF ? 2 : 1;

	if (out == OUT_UNMATCHED) {
		b->stats.unmatched_ends++;
		out = OUT_INSTANT;
	}
	b->outcomes[out] += times;
	b->stats.records += times;
}

static int take_record(struct builder *b, const struct ftrace_event *ev)
{
	struct record r = { .ev = ev };
	uint64_t since;
	int out;

	r.cpu = build_cpu(b, ev->cpu);
	since = r.cpu ? r.cpu->now : 0;
	out = resolve(b, &r);
	if (!out && r.cpu && r.cpu->lost)
		out = draw_loss(b, &r, since);
	if (out)
		return out;
	if (r.cpu && r.t)
		sched_line(b, &r);
	out = handle(b, &r);
	if (out < 0)
		return out;
	count(b, ev, out);
	return 0;
}

/* ---- notices --------------------------------------------------------------- */

static int end_trace(struct builder *b)
{
	int err = sched_stop(b);
	size_t i;

	for (i = 0; i < b->threads_cnt && !err; i++) {
		err = slices_close(b, b->threads[i]->track);
		if (!err)
			err = slices_close(b, b->threads[i]->markers);
	}
	for (i = 0; i < b->cpus_cnt && !err; i++)
		if (b->cpus[i])
			err = end_tracks(b, b->cpus[i]);
	if (!err)
		err = end_tracks(b, b->no_cpu);
	if (!err)
		err = asyncs_close(b);
	sched_reset(b);
	return err;
}

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

int build_take(struct builder *b, const struct ftrace_event *ev)
{
	switch (ev->kind) {
	case FTRACE_TRACE:
		return end_trace(b);
	case FTRACE_LOST:
	case FTRACE_BUFFER_STARTED:
		return note_loss(b, ev);
	case FTRACE_TASK_SWITCH:
		return note_switch(b, ev);
	case FTRACE_PROCESS:
		return note_process(b, ev);
	default:
		return take_record(b, ev);
	}
}

/* ---- pseudo processes and threads ------------------------------------------ */

static int write_object(struct builder *b, uint8_t kind, uint64_t koid, const char *name,
			const struct fxt_arg *arg)
{
	struct fxt_object o = { .id = koid, .kind = kind,
				.name = fxt_str_inline(name, strlen(name)) };

	return fxt_write_kernel_object(b->w, &o, arg, arg ? 1 : 0);
}

static int write_track(struct builder *b, const struct track *tr, const char *name)
{
	const struct fxt_arg process = fxt_arg_koid("process", tr->at.process);

	if (tr->at.process > PSEUDO_BASE)
		b->pseudo_used |= 1U << (tr->at.process - PSEUDO_BASE);
	return write_object(b, FXT_KOBJ_THREAD, tr->at.thread, name, &process);
}

static int write_pseudo_cpu(struct builder *b, const struct cpu *c)
{
	char name[32];
	unsigned int i;
	int err = 0;

	for (i = 0; i < PSEUDO_CNT && !err; i++) {
		pseudo_thread_name(i, c->nr, name, sizeof(name));
		if (c->nr == CPUS_MAX)
			snprintf(name, sizeof(name), "unknown CPU");
		if (c->tracks[i])
			err = write_track(b, c->tracks[i], name);
	}
	return err;
}

/* Only those that were used. */
static int write_pseudo(struct builder *b)
{
	const struct track counters = { .at = { PROCESS_COUNTERS, PROCESS_COUNTERS, false } };
	unsigned int i;
	int err = b->counted ? write_track(b, &counters, "counters") : 0;

	for (i = 0; i < b->cpus_cnt && !err; i++)
		if (b->cpus[i])
			err = write_pseudo_cpu(b, b->cpus[i]);
	if (!err)
		err = write_pseudo_cpu(b, b->no_cpu);
	for (i = 1; i < PSEUDO_PROCESSES && !err; i++)
		if (b->pseudo_used & 1U << i)
			err = write_object(b, FXT_KOBJ_PROCESS, PSEUDO_BASE + i, pseudo_process_name(PSEUDO_BASE + i),
					   NULL);
	return err;
}

/* ---- life ------------------------------------------------------------------ */

static int write_head(struct builder *b)
{
	unsigned int i;
	int err = fxt_write_magic(b->w);

	if (!err)
		err = fxt_write_provider_info(b->w, PROVIDER, fxt_str(b->cfg.source));
	for (i = 1; i < sizeof(fixed_strings) / sizeof(*fixed_strings) && !err; i++)
		err = fxt_write_string(b->w, (uint16_t)i, fxt_str(fixed_strings[i]));
	return err;
}

static int alloc(struct builder *b)
{
	b->cpus = calloc(CPUS_MAX, sizeof(struct cpu *));
	b->no_cpu = calloc(1, sizeof(*b->no_cpu));
	b->words = malloc(FXT_RECORD_WORDS_MAX * sizeof(*b->words));
	if (!b->cpus || !b->no_cpu || !b->words || kinds_init(b))
		return -ENOMEM;
	b->no_cpu->nr = CPUS_MAX;
	b->idle = thread_get(b, 0);
	if (!b->idle)
		return -ENOMEM;
	b->idle->koid = 0;
	b->idle->process = 0;
	return 0;
}

int builder_open(struct builder **out, struct fxt_writer *w, const struct builder_cfg *cfg)
{
	struct builder *b = calloc(1, sizeof(*b));
	int err;

	if (!b)
		return -ENOMEM;
	b->w = w;
	b->cfg = *cfg;
	b->held_depth = 1;
	err = alloc(b);
	if (!err && cfg->source)
		err = write_head(b);
	if (err) {
		builder_close(b);
		return err;
	}
	*out = b;
	return 0;
}

int builder_end(struct builder *b)
{
	int err = 0;

	while (!err && b->held_cnt)
		err = build_release(b);
	if (!err)
		err = end_trace(b);
	if (err || !b->cfg.source)
		return err;
	if (!b->ticks_per_second)
		err = set_provider(b, FTRACE_CLOCK_NONE);
	if (!err)
		err = write_pseudo(b);
	return err ? err : threads_write(b);
}

void builder_stats(const struct builder *b, struct builder_stats *stats)
{
	*stats = b->stats;
	stats->switches = b->outcomes[OUT_SWITCH];
	stats->wakeups = b->outcomes[OUT_WAKEUP];
	stats->names = b->outcomes[OUT_NAME];
	stats->slices = b->outcomes[OUT_SLICE];
	stats->counters = b->outcomes[OUT_COUNTER];
	stats->instants = b->outcomes[OUT_INSTANT];
	stats->logs = b->outcomes[OUT_LOG];
	stats->stacks = b->outcomes[OUT_STACK];
	stats->no_op_wakes = b->outcomes[OUT_NO_OP];
	stats->duplicate_wakes = b->outcomes[OUT_DUPLICATE];
	stats->incomplete = b->outcomes[OUT_INCOMPLETE];
}

static void cpu_free(struct cpu *c)
{
	unsigned int i;

	for (i = 0; c && i < PSEUDO_CNT; i++)
		track_free(c->tracks[i]);
	free(c);
}

void builder_close(struct builder *b)
{
	unsigned int i;

	if (!b)
		return;
	for (i = 0; b->cpus && i < b->cpus_cnt; i++)
		cpu_free(b->cpus[i]);
	cpu_free(b->no_cpu);
	held_fini(b);
	threads_fini(b);
	kinds_fini(b);
	asyncs_fini(b);
	free(b->implied);
	free(b->cpus);
	free(b->words);
	free(b);
}
