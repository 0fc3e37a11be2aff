// SPDX-License-Identifier: GPL-2.0
/*
 * What the records since the last cut come to.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "cut_p.h"

#define NAME_BYTES	32
#define ROW_MAX		8	/* names, logs, what was overwritten */

int piece_state_cut(struct piece_state *s, const struct piece_cut *cut)
{
	struct cut c;
	int err = piece_cut_init(&c, s, cut);
	unsigned int cpu;
	size_t i;

	if (err)
		return err;
	for (cpu = 0; cpu < s->cpus_end; cpu++)
		s->cpus[cpu].counts = (struct piece_cpu){ 0 };
	for (i = 0; i < c.wakes_cnt; i++) {
		struct piece_cpu *counts = &s->cpus[piece_wakeup_cpu(s, c.wakes[i].wake.cpu)].counts;

		counts->wakeups++;
		counts->unreported_wakeups += c.wakes[i].wake.mark != TEXT_OTHER;
	}
	s->logs = 0;
	s->stop_ns = 0;
	s->lost_names = s->unread_names;
	piece_slices_count(s, &s->calls, &s->events);
	piece_cut_fini(&c);
	return piece_threads_clear(s, true);
}

bool piece_state_cpu(const struct piece_state *s, const struct piece_cut *cut, unsigned int cpu, struct piece_cpu *out)
{
	const struct cpu *c;

	if (cpu >= PIECE_CPUS || !piece_cpu_known(s, cpu))
		return false;
	c = &s->cpus[cpu];
	*out = c->counts;
	out->live = c->begun && !c->ended;
	out->in_gap = c->gap != GAP_NONE;
	out->cut_ns = piece_cpu_cut_ns(s, cut, cpu);
	out->running = piece_running(s, c);
	return true;
}

int piece_state_totals(const struct piece_state *s, const struct piece_cut *cut, struct piece_totals *out)
{
	uint64_t open_calls, open_events;
	struct cut c;
	int err = piece_cut_init(&c, s, cut);

	if (err)
		return err;
	piece_slices_count(s, &open_calls, &open_events);
	*out = (struct piece_totals){
		.calls = s->calls, .logs = s->logs,
		.events = s->events + open_events + cut->more_events,	/* calls end `unfinished` */
		.from_ns = c.from_ns, .to_ns = c.to_ns, .carried = c.wakes_cnt,
		.threads = s->threads_cnt, .processes = s->processes_cnt,
	};
	piece_cut_fini(&c);
	return 0;
}

static struct fxt_str string_of(const struct fxt_arg *arg)
{
	return arg && arg->type == FXT_ARG_STRING ? arg->str : (struct fxt_str){ 0 };
}

int piece_state_processes(const struct piece_state *s,
			  int (*fn)(void *ctx, const struct piece_process *process), void *ctx)
{
	struct piece_process process;
	const struct fxt_arg *parent;
	const struct process *p;
	int err = 0;

	for (p = s->processes; !err && p < s->processes + s->processes_cnt; p++) {
		if (!p->object)
			continue;
		parent = kept_arg(p->object, "parent");
		process = (struct piece_process){
			.koid = p->koid, .parent = parent && parent->type == FXT_ARG_KOID ? parent->u64 : 0,
			.cmdline = string_of(kept_arg(p->object, "cmdline")),
			.cgroup = string_of(kept_arg(p->object, "cgroup")),
		};
		err = fn(ctx, &process);
	}
	return err;
}

/* ---- counts ---------------------------------------------------------------------------------- */

struct piece_counts {
	bool has_start;			/* else there is no session that could have a ledger */
	struct fxt_thread thread;	/* the recorder's own */
	struct piece_session session;
	uint64_t calls, logs, events, names, lost_names;
	struct piece_sums overwritten;
	unsigned int cpus_end;
	struct cpu_counts {
		bool known;
		struct piece_cpu n;	/* only the counts are used */
	} cpus[];
};

struct piece_counts *piece_counts_take(const struct piece_state *s, const struct piece_cut *cut)
{
	struct piece_counts *c = calloc(1, sizeof(*c) + s->cpus_end * sizeof(c->cpus[0]));
	uint64_t open_calls, open_events;
	struct cut session;
	unsigned int cpu;

	if (!c)
		return NULL;
	piece_cut_session(&session, s, cut);
	c->session = (struct piece_session){
		.from_ns = s->start ? s->start->event.ts : session.from_ns, .to_ns = session.to_ns,
		.ticks_per_second = s->ticks_per_second,
	};
	c->has_start = s->start;
	if (s->start)
		c->thread = s->start->event.thread;
	piece_slices_count(s, &open_calls, &open_events);
	c->calls = s->calls;			/* those that are open end `unfinished` */
	c->logs = s->logs;
	c->events = s->events + open_events + cut->more_events;
	c->names = s->threads_cnt + s->processes_cnt;
	c->lost_names = s->lost_names;
	c->cpus_end = s->cpus_end;
	for (cpu = 0; cpu < s->cpus_end; cpu++)
		c->cpus[cpu] = (struct cpu_counts){ .known = piece_cpu_known(s, cpu), .n = s->cpus[cpu].counts };
	return c;
}

static void take_off(struct piece_cpu *n, const struct piece_cpu *less)
{
	n->switches -= less->switches;
	n->wakeups -= less->wakeups;
	n->unreported_wakeups -= less->unreported_wakeups;
	n->lost_switches -= less->lost_switches;
	n->lost_wakeups -= less->lost_wakeups;
	n->unreported_switches -= less->unreported_switches;
	n->lost_calls -= less->lost_calls;
	n->lost_logs -= less->lost_logs;
	n->lost_events -= less->lost_events;
}

int piece_counts_begin(struct piece_counts *counts, const struct piece_state *begin, const struct piece_cut *cut)
{
	uint64_t open_calls, open_events;
	struct cut c;
	int err = piece_cut_init(&c, begin, cut);
	unsigned int cpu;
	size_t i;

	if (err)
		return err;
	for (cpu = 0; cpu < begin->cpus_end && cpu < counts->cpus_end; cpu++)
		take_off(&counts->cpus[cpu].n, &begin->cpus[cpu].counts);
	for (i = 0; i < c.wakes_cnt; i++) {
		cpu = piece_wakeup_cpu(begin, c.wakes[i].wake.cpu);
		if (cpu >= counts->cpus_end)
			continue;
		counts->cpus[cpu].n.wakeups++;
		counts->cpus[cpu].n.unreported_wakeups += c.wakes[i].wake.mark != TEXT_OTHER;
	}
	counts->session.from_ns = c.from_ns;
	piece_cut_fini(&c);
	piece_slices_count(begin, &open_calls, &open_events);
	counts->calls += open_calls - begin->calls;
	counts->events += open_events - begin->events;
	counts->logs -= begin->logs;
	counts->lost_names += begin->unread_names - begin->lost_names;
	return 0;
}

void piece_counts_overwritten(struct piece_counts *c, const struct piece_state *begin)
{
	piece_state_sums(begin, &c->overwritten);
}

struct piece_session piece_counts_session(const struct piece_counts *c)
{
	return c->session;
}

void piece_counts_free(struct piece_counts *c)
{
	free(c);
}

void piece_state_sums(const struct piece_state *s, struct piece_sums *out)
{
	unsigned int cpu;

	*out = (struct piece_sums){ .calls = s->calls, .logs = s->logs, .events = s->events };
	for (cpu = 0; cpu < s->cpus_end; cpu++) {
		out->switches += s->cpus[cpu].counts.switches;
		out->wakeups += s->cpus[cpu].counts.wakeups;
	}
}

/* ---- writing -------------------------------------------------------------------------------- */

struct row {
	struct fxt_arg args[ROW_MAX];
	char names[ROW_MAX][NAME_BYTES];
	unsigned int cnt;
};

static void put_number(struct row *row, const char *what, const char *kind, uint64_t number)
{
	char *name = row->names[row->cnt];

	snprintf(name, NAME_BYTES, "%s%s", what, kind);
	row->args[row->cnt++] = fxt_arg_u64(name, number);
}

static int write_row(const struct piece_counts *c, struct fxt_writer *w, const struct row *row)
{
	const struct fxt_event event = {
		.type = FXT_INSTANT, .ts = c->session.to_ns, .thread = c->thread,
		.category = fxt_str("kfxt"), .name = fxt_str("ledger"),
	};

	return fxt_write_event(w, &event, row->args, row->cnt);
}

/* What was written and what is drawn as lost is what was seen. */
static int write_counts(const struct piece_counts *c, struct fxt_writer *w, unsigned int cpu,
			const char *kind, uint64_t written, uint64_t lost, uint64_t unreported)
{
	struct row row = { .args[0] = fxt_arg_u32("cpu", cpu), .cnt = 1 };

	put_number(&row, "seen_", kind, written + lost);
	put_number(&row, "drained_", kind, written);
	put_number(&row, "", kind, written);
	put_number(&row, "lost_", kind, lost);
	if (unreported)
		put_number(&row, "unreported_", kind, unreported);
	return write_row(c, w, &row);
}

/* Calls, lines and other events do not say their CPU: the @first one has what all have. */
static int write_cpu(const struct piece_counts *c, struct fxt_writer *w, unsigned int cpu, bool first)
{
	const struct piece_cpu *n = &c->cpus[cpu].n;
	int err = write_counts(c, w, cpu, "switches", n->switches, n->lost_switches, n->unreported_switches);

	err = err ? err : write_counts(c, w, cpu, "wakeups", n->wakeups, n->lost_wakeups, n->unreported_wakeups);
	if (!err && (n->lost_calls || (first && c->calls)))
		err = write_counts(c, w, cpu, "calls", first ? c->calls : 0, n->lost_calls, 0);
	if (!err && (n->lost_events || (first && c->events)))
		err = write_counts(c, w, cpu, "events", first ? c->events : 0, n->lost_events, 0);
	if (!err && n->lost_logs) {
		struct row row = { .args[0] = fxt_arg_u32("cpu", cpu), .cnt = 1 };

		put_number(&row, "lost_", "logs", n->lost_logs);
		err = write_row(c, w, &row);
	}
	return err;
}

static void put_overwritten(struct row *row, const struct piece_sums *o)
{
	const struct { const char *kind; uint64_t cnt; } counts[] = {
		{ "switches", o->switches }, { "wakeups", o->wakeups }, { "calls", o->calls }, { "logs", o->logs },
		{ "events", o->events },
	};
	size_t i;

	for (i = 0; i < sizeof(counts) / sizeof(*counts); i++)
		if (counts[i].cnt)
			put_number(row, "window_overwritten_", counts[i].kind, counts[i].cnt);
}

int piece_counts_write_ledger(const struct piece_counts *c, struct fxt_writer *w)
{
	struct row whole = { .cnt = 0 };
	bool first = true;
	unsigned int cpu;
	int err = 0;

	if (!c->has_start)
		return 0;
	for (cpu = 0; !err && cpu < c->cpus_end; cpu++) {
		if (!c->cpus[cpu].known)
			continue;
		err = write_cpu(c, w, cpu, first);
		first = false;
	}
	put_number(&whole, "", "names", c->names);
	if (c->lost_names)
		put_number(&whole, "lost_", "names", c->lost_names);
	if (c->logs)
		put_number(&whole, "", "logs", c->logs);
	put_overwritten(&whole, &c->overwritten);
	return err ? err : write_row(c, w, &whole);
}

int piece_state_write_ledger(const struct piece_state *s, struct fxt_writer *w, const struct piece_cut *cut)
{
	struct piece_counts *c = piece_counts_take(s, cut);
	int err = c ? piece_counts_write_ledger(c, w) : -ENOMEM;

	piece_counts_free(c);
	return err;
}
