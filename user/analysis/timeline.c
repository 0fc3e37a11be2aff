// SPDX-License-Identifier: GPL-2.0
/*
 * Gathers scheduling facts from records in file order. It judges nothing:
 * what is missing stays missing, and verify says so.
 */
#include "timeline.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "bpf/abi/counts.h"
#include "ledger_args.h"

_Static_assert(sizeof(struct timeline_event) <= 40, "a million records should stay small");

bool timeline_ns(uint64_t ticks, uint64_t ticks_per_second, uint64_t *ns)
{
	unsigned __int128 value;

	if (ticks_per_second == 1000000000) {
		*ns = ticks;
		return true;
	}
	if (!ticks_per_second)
		return false;
	value = (unsigned __int128)ticks * 1000000000 / ticks_per_second;
	if (value > UINT64_MAX)
		return false;
	*ns = (uint64_t)value;
	return true;
}

static int set_text(char **field, struct fxt_str s)
{
	char *copy = strndup(s.data ? s.data : "", s.len);

	if (!copy)
		return -ENOMEM;
	free(*field);
	*field = copy;
	return 0;
}

static bool str_is(struct fxt_str s, const char *text)
{
	return s.len == strlen(text) && !memcmp(s.data, text, s.len);
}

/* ---- threads and processes ------------------------------------------------ */

/* The index of the thread, which is made if it is new. */
static int intern_thread(struct timeline *tl, uint64_t koid, uint64_t offset, uint32_t *out)
{
	uint32_t i = map_get(&tl->thread_map, koid);
	int err;

	if (i == MAP_NONE) {
		err = array_reserve(tl->threads, tl->threads_cnt, tl->threads_cap, 1);
		if (!err)
			err = map_add(&tl->thread_map, koid, (uint32_t)tl->threads_cnt);
		if (err)
			return err;
		i = (uint32_t)tl->threads_cnt++;
		tl->threads[i] = (struct timeline_thread){ .koid = koid, .offset = offset };
	}
	*out = i;
	return 0;
}

static int intern_process(struct timeline *tl, uint64_t koid, uint32_t *out)
{
	uint32_t i = map_get(&tl->process_map, koid);
	int err;

	if (i == MAP_NONE) {
		err = array_reserve(tl->processes, tl->processes_cnt, tl->processes_cap, 1);
		if (!err)
			err = map_add(&tl->process_map, koid, (uint32_t)tl->processes_cnt);
		if (err)
			return err;
		i = (uint32_t)tl->processes_cnt++;
		tl->processes[i] = (struct timeline_process){ .koid = koid };
	}
	*out = i;
	return 0;
}

const struct timeline_process *timeline_process(const struct timeline *tl, uint64_t koid)
{
	uint32_t i = map_get(&tl->process_map, koid);

	return i == MAP_NONE ? NULL : &tl->processes[i];
}

/* An empty string if there is none. */
static struct fxt_str string_arg(const struct fxt_record *rec, const char *name)
{
	const struct fxt_arg *arg = fxt_record_arg(rec, name);

	return arg && arg->type == FXT_ARG_STRING ? arg->str : fxt_str("");
}

static int add_process(struct timeline *tl, const struct fxt_record *rec)
{
	const struct fxt_str cmdline = string_arg(rec, "cmdline");
	struct timeline_process *p;
	uint32_t i;
	int err;

	err = intern_process(tl, rec->object.id, &i);
	p = err ? NULL : &tl->processes[i];
	err = err ?: set_text(&p->name, rec->object.name);
	if (!err && cmdline.len)
		err = set_text(&p->cmdline, cmdline);
	if (!err && string_arg(rec, "cgroup").len)
		err = set_text(&p->container, string_arg(rec, "container")) ?: set_text(&p->unit, string_arg(rec, "unit"));
	return err;
}

/* As in Perfetto, the last record of a thread wins. */
static int add_thread(struct timeline *tl, const struct fxt_record *rec)
{
	const struct fxt_arg *process = fxt_record_arg(rec, "process");
	struct timeline_thread *t;
	uint32_t i;
	int err;

	err = intern_thread(tl, rec->object.id, rec->offset, &i);
	if (err)
		return err;
	t = &tl->threads[i];
	t->has_object = true;
	if (process && process->type == FXT_ARG_KOID) {
		t->has_process = true;
		t->process = process->u64;
	}
	return set_text(&t->name, rec->object.name);
}

static int add_object(struct timeline *tl, const struct fxt_record *rec)
{
	if (rec->object.kind == FXT_KOBJ_PROCESS)
		return add_process(tl, rec);
	if (rec->object.kind == FXT_KOBJ_THREAD)
		return add_thread(tl, rec);
	return 0;
}

/* A thread that only events or logs name. */
static int add_mention(struct timeline *tl, const struct fxt_record *rec, uint64_t koid)
{
	uint32_t i;

	return koid ? intern_thread(tl, koid, rec->offset, &i) : 0;
}

/* ---- scheduling -------------------------------------------------------------- */

static enum timeline_mark mark_of(const struct fxt_record *rec)
{
	const struct fxt_arg *arg = fxt_record_arg(rec, "mark");

	if (!arg || arg->type != FXT_ARG_STRING)
		return TIMELINE_MARK_NONE;
	if (str_is(arg->str, "start"))
		return TIMELINE_MARK_START;
	if (str_is(arg->str, "stop"))
		return TIMELINE_MARK_STOP;
	if (str_is(arg->str, "gap"))
		return TIMELINE_MARK_GAP;
	if (str_is(arg->str, "filter"))
		return TIMELINE_MARK_FILTER;
	if (str_is(arg->str, "state"))
		return TIMELINE_MARK_STATE;
	if (str_is(arg->str, "implied"))
		return TIMELINE_MARK_IMPLIED;
	return TIMELINE_MARK_NONE;
}

static bool is_idle_weight(const struct fxt_record *rec, const char *name)
{
	const struct fxt_arg *arg = fxt_record_arg(rec, name);

	return arg && arg->type == FXT_ARG_INT32 && arg->i32 == FXT_WEIGHT_IDLE;
}

/* Interns @koid unless it is @idle. */
static int event_thread(struct timeline *tl, uint64_t koid, bool idle, uint64_t offset,
			uint32_t *out)
{
	*out = TIMELINE_IDLE;
	return idle ? 0 : intern_thread(tl, koid, offset, out);
}

static int append(struct timeline *tl, const struct timeline_event *ev)
{
	int err = array_reserve(tl->events, tl->events_cnt, tl->events_cap, 1);

	if (err)
		return err;
	tl->events[tl->events_cnt++] = *ev;
	if (ev->kind == TIMELINE_WAKEUP) {
		tl->wakeups++;
		return 0;
	}
	num_cpus_add(&tl->cpus, ev->cpu);
	if (ev->mark == TIMELINE_MARK_START)
		num_cpus_add(&tl->started, ev->cpu);
	if (ev->mark == TIMELINE_MARK_STOP)
		num_cpus_add(&tl->stopped, ev->cpu);
	if (ev->mark == TIMELINE_MARK_NONE)
		tl->switches++;
	else
		tl->marks++;
	return 0;
}

/* Koid 0 is idle too when a file has no weights: no thread of Linux has it. */
static int add_switch(struct timeline *tl, const struct fxt_record *rec, uint64_t ts_ns)
{
	const struct fxt_switch *s = &rec->context_switch;
	struct timeline_event ev = {
		.ts_ns = ts_ns, .offset = rec->offset, .cpu = s->cpu, .kind = TIMELINE_SWITCH,
		.state = (uint8_t)s->state, .mark = (uint8_t)mark_of(rec),
	};
	bool out_idle = !s->out || is_idle_weight(rec, "outgoing_weight");
	bool in_idle = !s->in || is_idle_weight(rec, "incoming_weight");
	int err;

	ev.filtered = ev.mark == TIMELINE_MARK_FILTER || fxt_record_arg(rec, "filtered");
	if (s->cpu >= TIMELINE_CPUS_MAX)
		return 0;
	err = event_thread(tl, s->out, out_idle, rec->offset, &ev.out);
	if (!err)
		err = event_thread(tl, s->in, in_idle, rec->offset, &ev.in);
	if (err)
		return err;
	if (ev.in != TIMELINE_IDLE)
		tl->threads[ev.in].ran = true;
	/* Who is switched in may owe that to the other side; a CPU's start names none but the selected. */
	if (ev.in != TIMELINE_IDLE && ev.mark == TIMELINE_MARK_START)
		tl->threads[ev.in].selected = true;
	if (ev.out != TIMELINE_IDLE && !ev.filtered && (!ev.mark || ev.mark == TIMELINE_MARK_STATE))
		tl->threads[ev.out].selected = true;
	return append(tl, &ev);
}

static int add_legacy_switch(struct timeline *tl, const struct fxt_record *rec, uint64_t ts_ns)
{
	const struct fxt_legacy_switch *s = &rec->legacy_switch;
	struct timeline_event ev = {
		.ts_ns = ts_ns, .offset = rec->offset, .cpu = s->cpu, .kind = TIMELINE_SWITCH,
		.state = (uint8_t)s->state,
	};
	int err;

	err = event_thread(tl, s->out.thread, !s->out.thread, rec->offset, &ev.out);
	if (!err)
		err = event_thread(tl, s->in.thread, !s->in.thread, rec->offset, &ev.in);
	return err ? err : append(tl, &ev);
}

static int add_wakeup(struct timeline *tl, const struct fxt_record *rec, uint64_t ts_ns)
{
	const struct fxt_arg *waker = fxt_record_arg(rec, "waker");
	struct timeline_event ev = {
		.ts_ns = ts_ns, .offset = rec->offset, .cpu = rec->wakeup.cpu,
		.kind = TIMELINE_WAKEUP, .mark = (uint8_t)mark_of(rec), .out = TIMELINE_IDLE,
	};
	int err;

	if (ev.cpu >= TIMELINE_CPUS_MAX)
		return 0;
	err = event_thread(tl, rec->wakeup.thread, !rec->wakeup.thread, rec->offset, &ev.in);
	if (!err && ev.in != TIMELINE_IDLE && (!tl->threads[ev.in].woken_ns || ts_ns < tl->threads[ev.in].woken_ns))
		tl->threads[ev.in].woken_ns = ts_ns;
	if (!err && ev.in != TIMELINE_IDLE)
		tl->threads[ev.in].selected = true;
	if (!err && waker && waker->type == FXT_ARG_KOID && waker->u64)
		err = intern_thread(tl, waker->u64, rec->offset, &ev.out);
	return err ? err : append(tl, &ev);
}

/* ---- session ------------------------------------------------------------------ */

static uint64_t arg_number(const struct fxt_record *rec, const char *name)
{
	const struct fxt_arg *arg = fxt_record_arg(rec, name);

	if (arg && arg->type == FXT_ARG_UINT64)
		return arg->u64;
	return arg && arg->type == FXT_ARG_UINT32 ? arg->u32 : 0;
}

/* The CPU that @arg is, TIMELINE_CPUS_MAX if it is none; integers of packets have 64 bits. */
static unsigned int arg_cpu(const struct fxt_arg *arg)
{
	if (arg->type == FXT_ARG_UINT32 && arg->u32 < TIMELINE_CPUS_MAX)
		return arg->u32;
	return arg->type == FXT_ARG_UINT64 && arg->u64 < TIMELINE_CPUS_MAX ? (unsigned int)arg->u64 : TIMELINE_CPUS_MAX;
}

static bool arg_cpus(const struct fxt_record *rec, const char *name, struct num_cpus *cpus)
{
	const struct fxt_arg *arg = fxt_record_arg(rec, name);

	return arg && arg->type == FXT_ARG_STRING && !num_parse_cpus_n(arg->str.data, arg->str.len, cpus);
}

/* Returns 0 or -ENOMEM; a text that is not there leaves NULL. */
static int arg_text(const struct fxt_record *rec, const char *name, char **text)
{
	const struct fxt_arg *arg = fxt_record_arg(rec, name);

	return arg && arg->type == FXT_ARG_STRING ? set_text(text, arg->str) : 0;
}

/* Whatever programs saw is in one of the counts of what became of it. */
static bool is_balanced(const struct fxt_record *rec)
{
#define X(id, name) name,
	static const char *const fates[] = { "drained", "filtered", "ratelimited", "over_budget", "idle", PROGRAM_LOSSES(X) };
#undef X
	char kind[32];
	uint64_t sum = 0;
	unsigned int i, k;

	for (i = 0; i < rec->nargs; i++) {
		struct fxt_str name = rec->args[i].name;

		if (name.len < 5 || memcmp(name.data, "seen_", 5) != 0)
			continue;
		snprintf(kind, sizeof(kind), "%.*s", (int)name.len - 5, name.data + 5);
		for (k = 0; k < sizeof(fates) / sizeof(fates[0]); k++)
			sum += ledger_number(rec, fates[k], kind);
		return sum == ledger_number(rec, "seen", kind);
	}
	return true;
}

static uint64_t write_failed(const struct fxt_record *rec)
{
#define X(id, name, one, many) + ledger_number(rec, "write_failed", name)
	return 0 EVENT_CLASSES(X);
#undef X
}

static void add_whole_ledger(struct timeline_session *s, const struct fxt_record *rec)
{
	s->names += arg_number(rec, "names");
	s->lost_names += arg_number(rec, "lost_names");
	s->prog_skipped += ledger_number(rec, "prog_skipped", "");
	s->lost_calls += arg_number(rec, "unreturned_calls");
	s->has_logs |= fxt_record_arg(rec, "logs") != NULL;
	s->logs += arg_number(rec, "logs");
	s->missed_calls += arg_number(rec, "missed_calls");
	s->shared_koids += arg_number(rec, "shared_koids");
	s->has_events |= fxt_record_arg(rec, "events") != NULL;
	s->events += arg_number(rec, "events");
	s->lost_events += arg_number(rec, "lost_events");
	s->cut_wakeups += arg_number(rec, "cut_wakeups");
	s->cut_calls += arg_number(rec, "cut_calls");
	s->cut_logs += arg_number(rec, "cut_logs");
	s->cut_events += arg_number(rec, "cut_events");
	s->write_failed += write_failed(rec);
	s->procstat_excess += ledger_number(rec, "procstat_excess", "switches");
	s->has_totals = true;
}

/* A CPU has one for each kind of event; together they are its ledger. */
static struct timeline_ledger *ledger_of(struct timeline_session *s, uint16_t cpu, uint64_t offset)
{
	size_t i = s->ledgers_cnt;

	while (i--)
		if (s->ledgers[i].cpu == cpu)
			return &s->ledgers[i];
	if (array_reserve(s->ledgers, s->ledgers_cnt, s->ledgers_cap, 1))
		return NULL;
	s->ledgers[s->ledgers_cnt] = (struct timeline_ledger){ .offset = offset, .cpu = cpu };
	return &s->ledgers[s->ledgers_cnt++];
}

static int add_ledger(struct timeline *tl, const struct fxt_record *rec)
{
	const struct fxt_arg *cpu = fxt_record_arg(rec, "cpu");
	struct timeline_session *s = &tl->session;
	struct timeline_ledger *l;

	if (cpu && arg_cpu(cpu) == TIMELINE_CPUS_MAX)
		return 0;
	losses_add_ledger(&s->losses, rec);
	if (!cpu) {
		add_whole_ledger(s, rec);
		return 0;
	}
	l = ledger_of(s, (uint16_t)arg_cpu(cpu), rec->offset);
	if (!l)
		return -ENOMEM;
	s->has_events |= fxt_record_arg(rec, "events") != NULL;
	s->events += arg_number(rec, "events");
	l->switches += arg_number(rec, "switches");
	l->wakeups += arg_number(rec, "wakeups");
	l->unreported_switches += ledger_number(rec, "unreported", "switches");
	l->unreported_wakeups += ledger_number(rec, "unreported", "wakeups");
	l->calls += arg_number(rec, "calls");
#define X(id, name, one, many) l->lost[LOSS_##id] += ledger_number(rec, "lost", name);
	EVENT_CLASSES(X)
#undef X
	l->lost[LOSS_CALLS] += ledger_number(rec, "depth_exceeded", "calls") + ledger_number(rec, "unreturned", "calls");
	l->ratelimited_calls += ledger_number(rec, "ratelimited", "calls");
	l->events += arg_number(rec, "events");
	l->write_failed += write_failed(rec);
	if (!l->unbalanced && !is_balanced(rec))
		l->unbalanced = rec->offset;
	return 0;
}

/* A thread that did not run. */
static int add_still(struct timeline *tl, const struct fxt_record *rec, uint64_t from_ns, uint64_t to_ns)
{
	const struct fxt_arg *state = fxt_record_arg(rec, "state");
	struct timeline_thread *t;
	uint32_t i;
	int err;

	if (!state || state->type != FXT_ARG_STRING || !state->str.len || !rec->event.thread.thread)
		return 0;
	err = intern_thread(tl, rec->event.thread.thread, rec->offset, &i);
	if (err)
		return err;
	t = &tl->threads[i];
	t->still = state->str.data[0];
	t->still_from_ns = from_ns;
	t->still_to_ns = to_ns;
	t->still_offset = rec->offset;
	return 0;
}

static int add_gap(struct timeline *tl, const struct fxt_record *rec, uint64_t from_ns, uint64_t to_ns)
{
	const struct fxt_arg *cpu = fxt_record_arg(rec, "cpu");
	struct timeline_session *s = &tl->session;
	struct timeline_gap gap = {
		.offset = rec->offset, .from_ns = from_ns, .to_ns = to_ns,
		.of_events = !ledger_arg(rec, "unreported", ""),
#define X(id, name, one, many) .lost[LOSS_##id] = arg_number(rec, name),
		EVENT_CLASSES(X)
#undef X
		.unreported = ledger_number(rec, "unreported", ""),
	};
	int err;

	if (arg_cpu(cpu) == TIMELINE_CPUS_MAX)
		return 0;
	gap.cpu = (uint16_t)arg_cpu(cpu);
	err = array_reserve(s->gaps, s->gaps_cnt, s->gaps_cap, 1);
	if (!err)
		s->gaps[s->gaps_cnt++] = gap;
	return err;
}

static int add_session_slice(struct timeline *tl, const struct fxt_record *rec, uint64_t from_ns,
			     uint64_t ticks_per_second)
{
	uint64_t to_ns;

	if (!timeline_ns(rec->event.id, ticks_per_second, &to_ns))
		return 0;
	return fxt_record_arg(rec, "cpu") ? add_gap(tl, rec, from_ns, to_ns) : add_still(tl, rec, from_ns, to_ns);
}

static int add_session_event(struct timeline *tl, const struct fxt_record *rec, uint64_t ts_ns)
{
	struct timeline_session *s = &tl->session;
	size_t i;

	if (str_is(rec->event.name, "start")) {
		s->has_start = true;
		s->start_ns = ts_ns;
		s->is_piece = fxt_record_arg(rec, "piece");
		s->has_cpus = arg_cpus(rec, "cpus", &s->cpus);
		s->has_online = arg_cpus(rec, "online", &s->online);
		s->online_start = s->online;
		s->realtime_ns = arg_number(rec, "realtime_ns");
		return arg_text(rec, "filter", &s->filter) ?: arg_text(rec, "host", &s->host) ?:
		       arg_text(rec, "kernel", &s->kernel);
	} else if (str_is(rec->event.name, "stop")) {
		s->has_stop = true;
		s->stop_ns = ts_ns;
		/* CPUs that came since the start were not recorded. */
		s->has_online_stop = arg_cpus(rec, "online", &s->online_stop);
		for (i = 0; s->has_online_stop && i < sizeof(s->online.words) / sizeof(s->online.words[0]); i++)
			s->online.words[i] |= s->online_stop.words[i];
	} else if (str_is(rec->event.name, "ledger")) {
		return add_ledger(tl, rec);
	} else if (str_is(rec->event.name, "late")) {
		losses_add_late(&s->losses, rec);
	} else if (str_is(rec->event.name, "repaired")) {
		if (!s->damages)
			s->first_damage = arg_number(rec, "first_damage");
		s->repaired = true;
		s->damages += arg_number(rec, "damages");
		s->dropped_bytes += arg_number(rec, "dropped_bytes");
	}
	return 0;
}

/* The first name of a provider counts: a file that was repaired announces it again without one. */
static int add_provider(struct timeline *tl, const struct fxt_record *rec)
{
	const struct fxt_str name = rec->provider.name;

	if (!name.len || map_get(&tl->provider_map, rec->provider.id) != MAP_NONE)
		return 0;
	return map_add(&tl->provider_map, rec->provider.id, !str_is(name, "kfxt"));
}

bool timeline_is_foreign(const struct timeline *tl, const struct fxt_record *rec)
{
	return map_get(&tl->provider_map, rec->provider_id) == 1;
}

static void add_other(struct timeline *tl, const struct fxt_record *rec, uint64_t ts_ns, uint64_t ticks_per_second)
{
	uint64_t to_ns;

	if (rec->event.type != FXT_DURATION_COMPLETE || !timeline_ns(rec->event.id, ticks_per_second, &to_ns))
		to_ns = ts_ns;
	if (!tl->others || ts_ns < tl->others_from_ns)
		tl->others_from_ns = ts_ns;
	if (to_ns > tl->others_to_ns)
		tl->others_to_ns = to_ns;
	tl->others++;
}

static int add_event(struct timeline *tl, const struct fxt_record *rec, uint64_t ts_ns, uint64_t ticks_per_second)
{
	int err = 0;

	if (timeline_is_foreign(tl, rec) && str_is(rec->event.category, "kfxt"))
		err = 0;
	else if (str_is(rec->event.category, "kfxt") && rec->event.type == FXT_INSTANT)
		err = add_session_event(tl, rec, ts_ns);
	else if (str_is(rec->event.category, "kfxt") && rec->event.type == FXT_DURATION_COMPLETE)
		err = add_session_slice(tl, rec, ts_ns, ticks_per_second);
	else if (str_is(rec->event.category, "kfxt"))
		err = 0;
	else if (str_is(rec->event.category, "function") || str_is(rec->event.category, "usdt"))
		tl->calls += !fxt_record_arg(rec, "unfinished");
	else if (!str_is(rec->event.category, "log"))
		add_other(tl, rec, ts_ns, ticks_per_second);
	return err ? err : add_mention(tl, rec, rec->event.thread.thread);
}

bool timeline_is_partial(const struct timeline *tl)
{
	const struct timeline_session *s = &tl->session;
	unsigned int cpu;

	if (!s->has_cpus || !s->has_online)
		return false;
	for (cpu = 0; cpu < TIMELINE_CPUS_MAX; cpu++)
		if (num_cpus_has(&s->online, cpu) && !num_cpus_has(&s->cpus, cpu))
			return true;
	return false;
}

/* A CPU of the session counts before its `start` mark has come: the file may end there. */
bool timeline_is_recorded(const struct timeline *tl, unsigned int cpu)
{
	const struct timeline_session *s = &tl->session;

	return num_cpus_has(&tl->started, cpu) || (s->has_cpus && num_cpus_has(&s->cpus, cpu));
}

bool timeline_is_cut_cpu(const struct timeline *tl, unsigned int cpu)
{
	return tl->session.has_start && timeline_is_recorded(tl, cpu) &&
	       !num_cpus_has(&tl->stopped, cpu);
}

uint64_t timeline_write_failed(const struct timeline *tl)
{
	const struct timeline_session *s = &tl->session;
	uint64_t sum = s->write_failed + s->cut_wakeups + s->cut_calls + s->cut_logs + s->cut_events;
	size_t i;

	for (i = 0; i < tl->session.ledgers_cnt; i++)
		sum += tl->session.ledgers[i].write_failed;
	return sum;
}

bool timeline_is_cut(const struct timeline *tl)
{
	const struct timeline_session *s = &tl->session;
	unsigned int cpu;

	if (!s->has_start || s->repaired)
		return false;
	if (!s->has_stop || !s->has_totals)
		return true;
	for (cpu = 0; cpu < TIMELINE_CPUS_MAX; cpu++)
		if (timeline_is_cut_cpu(tl, cpu))
			return true;
	return false;
}

/* ---- the whole ------------------------------------------------------------------ */

int timeline_open(struct timeline **out)
{
	struct timeline *tl = calloc(1, sizeof(*tl));

	if (!tl)
		return -ENOMEM;
	*out = tl;
	return 0;
}

int timeline_add(struct timeline *tl, const struct fxt_record *rec, uint64_t ticks_per_second)
{
	uint64_t ts_ns = 0;

	if (rec->kind == FXT_KIND_KERNEL_OBJECT)
		return add_object(tl, rec);
	if (rec->kind == FXT_KIND_PROVIDER_INFO)
		return add_provider(tl, rec);
	if (!rec->has_ts || !timeline_ns(rec->ts, ticks_per_second, &ts_ns))
		return 0;
	switch (rec->kind) {
	case FXT_KIND_SWITCH:
		return add_switch(tl, rec, ts_ns);
	case FXT_KIND_LEGACY_SWITCH:
		return add_legacy_switch(tl, rec, ts_ns);
	case FXT_KIND_WAKEUP:
		return add_wakeup(tl, rec, ts_ns);
	case FXT_KIND_EVENT:
		return add_event(tl, rec, ts_ns, ticks_per_second);
	case FXT_KIND_LOG:
		tl->logs++;
		return add_mention(tl, rec, rec->log.thread.thread);
	default:
		return 0;
	}
}

/* Offsets differ, so the order is total and any sort is stable. */
static int compare_events(const void *pa, const void *pb)
{
	const struct timeline_event *a = pa, *b = pb;

	if (a->ts_ns != b->ts_ns)
		return a->ts_ns < b->ts_ns ? -1 : 1;
	return a->offset < b->offset ? -1 : a->offset > b->offset;
}

void timeline_sort(struct timeline *tl)
{
	if (tl->events_cnt)
		qsort(tl->events, tl->events_cnt, sizeof(*tl->events), compare_events);
}

void timeline_close(struct timeline *tl)
{
	size_t i;

	if (!tl)
		return;
	for (i = 0; i < tl->threads_cnt; i++)
		free(tl->threads[i].name);
	for (i = 0; i < tl->processes_cnt; i++) {
		free(tl->processes[i].name);
		free(tl->processes[i].cmdline);
		free(tl->processes[i].container);
		free(tl->processes[i].unit);
	}
	free(tl->threads);
	free(tl->processes);
	free(tl->events);
	free(tl->session.filter);
	free(tl->session.host);
	free(tl->session.kernel);
	free(tl->session.ledgers);
	free(tl->session.gaps);
	map_fini(&tl->thread_map);
	map_fini(&tl->process_map);
	map_fini(&tl->provider_map);
	free(tl);
}
