// SPDX-License-Identifier: GPL-2.0
/*
 * What became of what happened, for people and for scripts.
 */
#include "record_summary.h"
#include "record_cost.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "capture/sources.h"
#include "source/func/funcs.h"
#include "source/log.h"
#include "source/stack/stack.h"
#include "source/table.h"
#include "source/tracepoint.h"
#include "analysis/losses.h"
#include "session/budget.h"
#include "session/session.h"
#include "cli/opt/func_opts.h"
#include "cli/opt/stack_opts.h"
#include "base/json.h"
#include "base/log.h"
#include "base/num.h"
#include "record_window.h"
#include "report/schema.h"

/* What helps, by reason; NULL: nothing that is known. */
static const char *const hints[LOSS_REASON_CNT] = {
	[LOSS_RING_FULL]	= "larger -m, fewer events, --func-max-rate",
	[LOSS_UNPAIRED]		= "fewer events",
	[LOSS_OVERWRITTEN]	= "larger -m",
	[LOSS_TOO_DEEP]		= "fewer functions",
	[LOSS_UNRETURNED]	= "--func-via kprobe.session has no such limit",
	[LOSS_SKIPPED]		= "fewer events or functions",
	[LOSS_UNSAMPLED]	= "lower --sample rate",
	[LOSS_UNACCOUNTED]	= "a bug in kfxt",
};

/* Each loss of the ledger is a reason. */
static const enum loss_reason reasons[LEDGER_LOSS_CNT] = {
#define X(id, name) [LEDGER_##id] = LOSS_##id,
	COUNT_LOSSES(X)
#undef X
};

static uint64_t all_lost(const struct ledger_row *row)
{
	return ledger_selected(row) - ledger_kept(row);
}

/* As report derives them from the trace, which has the kind of what was skipped only for calls. */
static void get_losses(const struct record_summary *summary, const struct recorder_totals *t, struct losses *l)
{
	struct source_late late;
	enum ledger_source s;
	unsigned int i, kind = 0;

	*l = (struct losses){ .names_late = t->of[LEDGER_NAMES].lost[LEDGER_SKIPPED], .shared_koids = t->shared_koids };
	l->names = all_lost(&t->of[LEDGER_NAMES]) - l->names_late;
	for (s = 0; s < LEDGER_NAMES; s++) {
		l->drained[s] = t->of[s].taken;
		l->filtered += t->of[s].filtered;
		l->ratelimited += t->of[s].ratelimited;
		l->over_budget += t->of[s].over_budget;
		l->implied += t->of[s].implied;
		for (i = 0; i < LEDGER_LOSS_CNT; i++)
			l->lost[reasons[i]][i == LEDGER_SKIPPED && s != LEDGER_CALLS ? LOSS_EVENTS : s] +=
				t->of[s].lost[i];
		l->lost[LOSS_CONTENDED][s] = t->of[s].contended;
		l->lost[LOSS_UNPAIRED][s] = t->of[s].unpaired;
		l->lost[LOSS_OVERWRITTEN][s] = t->of[s].overwritten;
		l->lost[LOSS_RING_FULL][s] -= t->of[s].contended + t->of[s].unpaired + t->of[s].overwritten;
	}
	losses_add_procstat(l, t->unreported_switches);
	while (recorder_late(summary->recorder, &kind, &late))
		losses_add_late_source(l, fxt_str(late.name), late.since_ns ? late.since_ns - t->start_ns : 0, fxt_str(late.why));
}

/* "9 switches, 6 wakeups, 12 calls, 7 events, 3 log lines, 9 filtered, 0 lost": what was asked for, and lines if any. */
static const char *counts_text(const struct record_summary *s, const struct recorder_totals *t, const struct losses *l,
			       char buf[LOSSES_TEXT])
{
	const bool shown[LOSS_KIND_CNT] = {
		[LOSS_SWITCHES] = true, [LOSS_WAKEUPS] = true, [LOSS_CALLS] = s->funcs,
		[LOSS_EVENTS] = sources_have(s->sources, LEDGER_EVENTS) || t->of[LEDGER_EVENTS].records,
		[LOSS_LOGS] = t->of[LEDGER_LOGS].records, [LOSS_SAMPLES] = sources_have(s->sources, LEDGER_SAMPLES),
	};
	char count[LOSSES_COUNT_TEXT];
	enum loss_kind kind;
	int len = 0;

	for (kind = 0; kind < LOSS_KIND_CNT; kind++)
		if (shown[kind])
			len += snprintf(buf + len, LOSSES_TEXT - len, "%s, ",
					losses_count_text(t->of[kind].records, kind, count));
	if (s->filter)
		len += snprintf(buf + len, LOSSES_TEXT - len, "%" PRIu64 " filtered, ", l->filtered);
	snprintf(buf + len, LOSSES_TEXT - len, "%s%" PRIu64 " lost", losses_bound_text(l), losses_lost(l));
	return buf;
}

void record_summary_progress(const struct record_summary *s)
{
	char bytes[NUM_SIZE_TEXT], counts[LOSSES_TEXT], cost[COST_TEXT];
	struct recorder_totals t;
	struct cost_shares shares;
	struct losses l;

	recorder_totals(s->recorder, &t);
	get_losses(s, &t, &l);
	memset(l.lost[LOSS_UNACCOUNTED], 0, sizeof(l.lost[LOSS_UNACCOUNTED]));	/* it may be in the rings */
	fprintf(stderr, "\r%.0f s: %s, %s, %s%s \033[K", (clock_ns(CLOCK_BOOTTIME) - t.start_ns) / 1e9,
		counts_text(s, &t, &l, counts), num_size_text(t.bytes, bytes),
		budget_cost(recorder_budget(s->recorder), true, &shares) ? cost_text(&shares, cost) : "cost -",
		budget_shed(recorder_budget(s->recorder)) ? ", shedding" : "");
}

/* ---- at the end ----------------------------------------------------------------------- */

/* On which CPUs and why, where that was measured, and what helps then. */
static void show_full_rings(const struct recorder_totals *t, const char *text)
{
	static const struct {
		const char *before, *after, *hint;
	} causes[LATE_CAUSE_CNT] = {
		[LATE_NOT_SCHEDULED] = { "the recorder waited ", " ms for a CPU", "larger -m, --cpu-affinity" },
		[LATE_OUTPUT]	= { "the output took ", " ms", "larger -m, faster output" },
		[LATE_BUSY]	= { "the recorder was busy for ", " ms", "larger -m, fewer events" },
		[LATE_STOPPED]	= { "the recorder was stopped for ", " ms", "larger -m" },
	};
	char where[32] = "", why[80] = "";

	if (t->full_cpus == 1)
		snprintf(where, sizeof(where), "on CPU %u: ", t->full_cpu);
	else if (t->full_cpus)
		snprintf(where, sizeof(where), "on %u CPUs: ", t->full_cpus);
	if (t->late.cause)
		snprintf(why, sizeof(why), "%s%s%" PRIu64 "%s; ", causes[t->late.cause].before,
			 t->late.at_most ? "up to " : "", t->late.ns / 1000000, causes[t->late.cause].after);
	log_warn("lost %s (%s%s%s)", text, where, why, causes[t->late.cause].hint ?: hints[LOSS_RING_FULL]);
}

static void show_losses(const struct recorder_totals *t, const struct losses *l)
{
	char text[LOSSES_TEXT];
	enum loss_reason reason;
	unsigned int i;

	if (losses_text(l, LOSS_RING_FULL, text))
		show_full_rings(t, text);
	for (reason = LOSS_RING_FULL + 1; reason < LOSS_REASON_CNT; reason++)
		if (losses_text(l, reason, text))
			log_warn("lost %s%s%s%s", text, hints[reason] ? " (" : "", hints[reason] ?: "",
				 hints[reason] ? ")" : "");
	if (losses_names_text(l, text))
		log_warn("lost %s", text);
	for (i = 0; losses_note_text(l, i, text); i++)
		log_warn("%s", text);
}

static void show_logs_without_level(const struct logs *l)
{
	struct logs_counts c = { 0 };

	if (l)
		logs_counts(l, &c);
	if (c.bare && c.kmsg_err)
		log_warn("log lines have no level: /dev/kmsg: %s (CAP_SYSLOG helps)", strerror(-c.kmsg_err));
	else if (c.bare)
		log_debug("%" PRIu64 " log line%s no level: no longer in /dev/kmsg", c.bare,
			  c.bare == 1 ? " has" : "s have");
}

static void show_cpus(const struct record_summary *s)
{
	struct ledger_row switches, wakeups;
	unsigned int i;

	for (i = 0; i < s->cpus_cnt; i++) {
		recorder_cpu(s->recorder, i, LEDGER_SWITCHES, &switches);
		recorder_cpu(s->recorder, i, LEDGER_WAKEUPS, &wakeups);
		log_debug("cpu %u: %" PRIu64 " switches, %" PRIu64 " wakeups, lost %" PRIu64 " and %" PRIu64,
			  s->cpus[i], switches.records, wakeups.records, all_lost(&switches), all_lost(&wakeups));
	}
}

static void show_urgency(const struct urgency_totals *u)
{
	if (u->realtime)
		log_debug("recorded as a real-time thread: a nice value counts in its session or cgroup only");
	if (u->refused)
		log_debug("not permitted: to be real-time where other threads are, or where a nice value is not enough (needs CAP_SYS_NICE, and no RestrictRealtime= of a unit)");
	if (u->raised)
		log_debug("raised above real-time threads %u time%s: it was runnable, and did not run", u->raised, u->raised == 1 ? "" : "s");
	if (u->yielded)
		log_debug("not real-time %u time%s: it took most of a CPU", u->yielded, u->yielded == 1 ? "" : "s");
}

void record_summary_print(const struct record_summary *s)
{
	char bytes[NUM_SIZE_TEXT], raw[NUM_SIZE_TEXT], memory[NUM_SIZE_TEXT], text[LOSSES_TEXT];
	struct recorder_totals t;
	uint64_t rejected;
	struct losses l;

	recorder_totals(s->recorder, &t);
	get_losses(s, &t, &l);
	show_cpus(s);
	log_debug("memory: %s locked in rings and maps, %s with the recorder's own",
		  num_size_text(t.memory_bytes, memory),
		  num_size_text(t.memory_bytes + budget_own_bytes(), bytes));
	show_urgency(&t.urgency);
	log_info("%s: %.3f s, %u %s, %s, %s%s%s", s->output, (t.stop_ns - t.start_ns) / 1e9, s->cpus_cnt,
		 s->cpus_cnt == 1 ? "CPU" : "CPUs", counts_text(s, &t, &l, text), num_size_text(t.bytes, bytes),
		 t.raw_bytes == t.bytes ? "" : s->is_other_format ? ", as FXT " : ", uncompressed ",
		 t.raw_bytes == t.bytes ? "" : num_size_text(t.raw_bytes, raw));
	log_info("%s", losses_sum_text(&l, text));
	record_cost_print(recorder_budget(s->recorder));
	rejected = tracepoints_filtered(sources_state(s->sources, RAW_TRACEPOINT));
	if (rejected)
		log_debug("%" PRIu64 " of the filtered were rejected by a tracepoint's filter", rejected);
	show_losses(&t, &l);
	show_logs_without_level(sources_state(s->sources, RAW_LOG));
	if (s->funcs)
		func_opts_show_end(s->funcs, &t.of[LEDGER_CALLS]);
	if (s->stacks)
		stack_opts_show_end(s->stacks);
	if (s->keeps)
		record_window_show(s->triggers, recorder_budget(s->recorder), &t);
}

enum exit_code record_summary_verdict(const struct record_summary *s)
{
	struct recorder_totals t;
	struct funcs_counts funcs;
	const char *first;
	struct losses l;

	recorder_totals(s->recorder, &t);
	get_losses(s, &t, &l);
	if (losses_lost(&l) || l.over_budget || l.implied || l.names || l.names_late || l.shared_koids || s->cpus_changed)
		return EXIT_PROBLEMS;
	funcs_counts(s->funcs, &funcs);
	if (tracepoints_refused(sources_state(s->sources, RAW_TRACEPOINT), &first) || funcs.refused || s->nameless || l.late_cnt ||
	    (s->stacks && stack_source_is_partial(s->stacks)))
		return EXIT_INCOMPLETE;
	return EXIT_OK;
}

/* ---- for scripts ---------------------------------------------------------------------- */

static void print_row(struct json *j, const struct ledger_row *row, enum ledger_source source)
{
	unsigned int i;

	json_object(j);
	json_key_u64(j, "seen", row->seen);
	json_key_u64(j, "drained", row->taken);
	json_key_u64(j, "filtered", row->filtered);
	json_key_u64(j, "ratelimited", row->ratelimited);
	json_key_u64(j, "over_budget", row->over_budget);
	json_key_u64(j, "records", row->records);
	json_key_u64(j, "implied", row->implied);
	if (source == LEDGER_SAMPLES) {
		json_key_u64(j, "idle", row->idle);
		json_key_u64(j, "short", row->brief);
	}
	for (i = 0; i < LEDGER_LOSS_CNT; i++)
		json_key_u64(j, ledger_loss_names[i], row->lost[i]);
	json_end(j);
}

static void print_cpu(struct json *j, const struct record_summary *s, unsigned int i)
{
	enum ledger_source source;
	struct ledger_row row;

	json_line(j, "    ");
	json_object(j);
	json_key_u64(j, "cpu", s->cpus[i]);
	for (source = 0; source < LEDGER_NAMES; source++) {
		recorder_cpu(s->recorder, i, source, &row);
		json_line(j, "     ");
		json_key(j, ledger_source_names[source]);
		print_row(j, &row, source);
	}
	json_end(j);
}

static void print_count(struct json *j, const char *name, uint64_t cnt)
{
	json_line(j, "  ");
	json_key_u64(j, name, cnt);
}

static void print_total(struct json *j, const struct recorder_totals *t)
{
	enum ledger_source source;

	json_line(j, "  ");
	json_key(j, "total");
	json_object(j);
	for (source = 0; source < LEDGER_SOURCE_CNT; source++) {
		json_line(j, "    ");
		json_key(j, ledger_source_names[source]);
		print_row(j, &t->of[source], source);
	}
	json_line(j, "  ");
	json_end(j);
}

static void print_cpus(struct json *j, const struct record_summary *s)
{
	unsigned int i;

	json_line(j, "  ");
	json_key(j, "cpus");
	json_array(j);
	for (i = 0; i < s->cpus_cnt; i++)
		print_cpu(j, s, i);
	json_line(j, "  ");
	json_end(j);
}

/* Sources that did not record from the beginning on. */
static void print_late(struct json *j, const struct losses *l)
{
	unsigned int i;

	json_line(j, "  ");
	json_key(j, "late");
	json_array(j);
	for (i = 0; i < l->late_cnt; i++) {
		json_object(j);
		json_key_text(j, "source", l->late[i].source);
		if (l->late[i].after_ns)
			json_key_u64(j, "after_ns", l->late[i].after_ns);
		else
			json_key_text(j, "why", l->late[i].why);
		json_end(j);
	}
	json_end(j);
}

/* How the recorder itself was scheduled. */
static void print_urgency(struct json *j, const struct urgency_totals *u)
{
	json_line(j, "  ");
	json_key(j, "scheduling");
	json_object(j);
	json_key_bool(j, "realtime", u->realtime);
	json_key_bool(j, "refused", u->refused);
	json_key_u64(j, "raised", u->raised);
	json_key_u64(j, "yielded", u->yielded);
	json_end(j);
}

void record_summary_print_json(const void *ctx)
{
	const struct record_summary *s = ctx;
	struct recorder_totals t;
	struct losses l;
	struct json j;

	recorder_totals(s->recorder, &t);
	get_losses(s, &t, &l);
	json_init(&j, stdout, true);
	json_schema_object(&j);
	json_line(&j, "  ");
	json_key_text(&j, "output", s->output);
	print_count(&j, "duration_ns", t.stop_ns - t.start_ns);
	print_count(&j, "bytes", t.bytes);
	print_count(&j, "raw_bytes", t.raw_bytes);
	print_count(&j, "memory_bytes", t.memory_bytes);
	print_count(&j, "recorded", losses_recorded(&l));
	print_count(&j, "expected", losses_recorded(&l) + losses_lost(&l));
	json_line(&j, "  ");
	json_key_bool(&j, "complete", record_summary_verdict(s) == EXIT_OK);
	record_cost_print_json(&j, recorder_budget(s->recorder));
	print_count(&j, "procstat_excess_switches", t.unreported_switches);
	print_count(&j, "shared_koids", t.shared_koids);
	print_late(&j, &l);
	print_urgency(&j, &t.urgency);
	if (s->stacks) {
		json_line(&j, "  ");
		json_key(&j, "user_stacks");
		stack_opts_print_json(&j, s->stacks);
	}
	if (s->keeps)
		record_window_print_json(&j, s->triggers, recorder_budget(s->recorder), &t);
	print_total(&j, &t);
	print_cpus(&j, s);
	json_line(&j, "");
	json_end(&j);
}
