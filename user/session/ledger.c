// SPDX-License-Identifier: GPL-2.0
/*
 * The counts of both sides, brought together.
 */
#include "ledger.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fxt/fxt.h"
#include "capture/sources.h"
#include "format/perfetto/packets.h"
#include "capture/programs.h"
#include "ring/ring.h"
#include "base/file.h"

#define MARKS		4
#define NAME_BYTES	32
#define ARGS_MAX	15	/* of a record */
#define WHOLE_ARGS	8	/* of write_whole(), at most: five of a source, three of none */

struct ledger {
	struct ledger_cfg cfg;
	struct ledger_drained (*drained)[LEDGER_SOURCE_CNT];	/* by position in cfg.cpus */
	uint64_t unwritten[LEDGER_SOURCE_CNT];	/* records taken back */
	uint64_t switches[MARKS];		/* /proc/stat; 0: unknown */
};

const char *const ledger_source_names[LEDGER_SOURCE_CNT] = {
#define X(id, name, one, many) name,
	COUNT_CLASSES(X)
#undef X
};

const char *const ledger_loss_names[LEDGER_LOSS_CNT] = {
#define X(id, name) name,
	COUNT_LOSSES(X)
#undef X
};

int ledger_open(struct ledger **out, const struct ledger_cfg *cfg)
{
	struct ledger *l = calloc(1, sizeof(*l));

	if (!l)
		return -ENOMEM;
	l->cfg = *cfg;
	l->drained = calloc(cfg->cpus_cnt, sizeof(*l->drained));
	if (!l->drained) {
		ledger_close(l);
		return -ENOMEM;
	}
	*out = l;
	return 0;
}

struct ledger_drained *ledger_drained(struct ledger *l, unsigned int i)
{
	return l->drained[i];
}

uint64_t *ledger_unwritten(struct ledger *l)
{
	return l->unwritten;
}

void ledger_mark(struct ledger *l, unsigned int call)
{
	const char *line;
	char *text;
	size_t len;

	if (text_file_read("/proc/stat", PROC_STAT_BYTES_MAX, &text, &len))
		return;
	line = strstr(text, "\nctxt ");
	l->switches[call] = line ? strtoull(line + strlen("\nctxt "), NULL, 10) : 0;
	free(text);
}

/* ---- rows ----------------------------------------------------------------------------- */

static void take_counts(struct ledger_row *row, const struct event_counts *counts)
{
	row->seen = counts->seen;
	row->filtered = counts->filtered;
	row->lost[LEDGER_RING_FULL] = counts->lost;
	row->contended = counts->contended;
}

static void leave_out(struct ledger_row *row, uint64_t events)
{
	row->seen += events;
	row->over_budget = events;
}

static void take_cpu(struct ledger_row *row, const struct cpu_ctl *ctl, enum ledger_source source)
{
	switch (source) {
	case LEDGER_SWITCHES:
		row->seen = ctl->seen_switches;
		row->taken = ctl->switches;
		row->filtered = ctl->filtered_switches;
		row->lost[LEDGER_RING_FULL] = ctl->lost_switches;
		row->lost[LEDGER_UNREPORTED] = ctl->unreported_switches;
		break;
	case LEDGER_WAKEUPS:
		row->seen = ctl->seen_wakeups;
		row->taken = ctl->wakeups;
		row->filtered = ctl->filtered_wakeups;
		row->implied = ctl->unreported_wakeups;
		row->lost[LEDGER_RING_FULL] = ctl->lost_wakeups;
		break;
	case LEDGER_CALLS:
		take_counts(row, &ctl->calls);
		row->ratelimited = ctl->ratelimited_calls;
		leave_out(row, ctl->shed[SHED_CALLS]);
		row->lost[LEDGER_TOO_DEEP] = ctl->deep_calls;
		row->lost[LEDGER_UNRETURNED] = ctl->lost_returns;
		break;
	case LEDGER_LOGS:
		take_counts(row, &ctl->logs);
		break;
	case LEDGER_EVENTS:
		take_counts(row, &ctl->raws);
		row->unpaired = ctl->unpaired_raws;
		leave_out(row, ctl->shed[SHED_SYSCALLS] + ctl->shed[SHED_TRACEPOINTS] + ctl->shed[SHED_PRESETS]);
		break;
	case LEDGER_SAMPLES:
		row->brief = ctl->short_sleeps;
		row->lost[LEDGER_UNSAMPLED] = ctl->missed_sleeps;
		break;
	default:
		break;
	}
}

/* What a program saw and nothing became of. More than was seen is as wrong. */
static uint64_t unaccounted(const struct ledger_row *row)
{
#define X(id, name) + row->lost[LEDGER_##id]
	const uint64_t accounted = row->taken + row->filtered + row->ratelimited + row->over_budget + row->idle PROGRAM_LOSSES(X);
#undef X

	return row->seen > accounted ? row->seen - accounted : accounted - row->seen;
}

void ledger_row(const struct ledger *l, unsigned int i, enum ledger_source source, struct ledger_row *row)
{
	const struct ledger_drained *drained = &l->drained[i][source];
	const uint64_t overwritten = sources_overwritten(l->cfg.sources, source, i);

	*row = (struct ledger_row){ 0 };
	take_cpu(row, programs_ring(l->cfg.probes, i)->ctl, source);
	sources_row(l->cfg.sources, source, i, row);
	if (source != LEDGER_SWITCHES && source != LEDGER_WAKEUPS) {
		row->taken = drained->taken;
		row->records = drained->records;
	} else {
		row->records = row->taken - drained->unwritten;
	}
	row->seen += overwritten;
	row->lost[LEDGER_RING_FULL] += overwritten;
	row->overwritten = overwritten;
	row->lost[LEDGER_UNWRITTEN] = drained->unwritten;
	row->lost[LEDGER_UNACCOUNTED] = unaccounted(row);
}

/* What is counted for no CPU, by source. The programs are asked once for all of them. */
static void read_whole(const struct ledger *l, const struct programs_counts *probes,
		       struct ledger_row rows[LEDGER_SOURCE_CNT])
{
	struct source_counts c;
	enum ledger_source s;

	for (s = 0; s < LEDGER_SOURCE_CNT; s++) {
		sources_counts(l->cfg.sources, s, &c);
		rows[s] = (struct ledger_row){
			.seen = c.taken + c.lost + c.unreturned, .taken = c.taken, .records = c.records,
			.lost[LEDGER_RING_FULL] = c.lost, .lost[LEDGER_UNWRITTEN] = c.unwritten,
			.lost[LEDGER_UNRETURNED] = c.unreturned,
			.lost[LEDGER_SKIPPED] = probes->skipped[s] + c.skipped,
		};
	}
	rows[LEDGER_NAMES].seen = probes->names_seen;
	rows[LEDGER_NAMES].lost[LEDGER_RING_FULL] = probes->names_lost;
	rows[LEDGER_NAMES].taken = rows[LEDGER_NAMES].records = probes->names_seen - probes->names_lost;
}

static void add_row(struct ledger_row *sum, const struct ledger_row *row)
{
	unsigned int i;

	sum->seen += row->seen;
	sum->taken += row->taken;
	sum->filtered += row->filtered;
	sum->ratelimited += row->ratelimited;
	sum->over_budget += row->over_budget;
	sum->idle += row->idle;
	sum->brief += row->brief;
	sum->records += row->records;
	sum->implied += row->implied;
	sum->contended += row->contended;
	sum->unpaired += row->unpaired;
	sum->overwritten += row->overwritten;
	for (i = 0; i < LEDGER_LOSS_CNT; i++)
		sum->lost[i] += row->lost[i];
}

void ledger_totals(const struct ledger *l, struct ledger_row rows[LEDGER_SOURCE_CNT])
{
	struct programs_counts probes;
	struct ledger_row part;
	enum ledger_source s;
	unsigned int i;

	programs_counts(l->cfg.probes, &probes);
	read_whole(l, &probes, rows);
	for (s = 0; s < LEDGER_SOURCE_CNT; s++) {
		for (i = 0; i < l->cfg.cpus_cnt; i++) {
			ledger_row(l, i, s, &part);
			add_row(&rows[s], &part);
		}
		rows[s].records -= l->unwritten[s];
		rows[s].lost[LEDGER_UNWRITTEN] += l->unwritten[s];
	}
}

uint64_t ledger_kept(const struct ledger_row *row)
{
	return row->taken > row->lost[LEDGER_UNWRITTEN] ? row->taken - row->lost[LEDGER_UNWRITTEN] : 0;
}

uint64_t ledger_selected(const struct ledger_row *row)
{
	uint64_t expected = ledger_kept(row);
	unsigned int i;

	for (i = 0; i < LEDGER_LOSS_CNT; i++)
		expected += row->lost[i];
	return expected;
}

uint64_t ledger_lost_by_now(const struct ledger_row *row)
{
	return ledger_selected(row) - ledger_kept(row) - row->lost[LEDGER_UNACCOUNTED];
}

/*
 * Between the second reading and the third all CPUs recorded: what the kernel counted there is at
 * most what we saw.
 */
uint64_t ledger_unreported_switches(const struct ledger *l)
{
	const uint64_t counted = l->switches[2] - l->switches[1];
	uint64_t seen = 0;
	struct ledger_row row;
	unsigned int i;

	for (i = 0; i < MARKS; i++)
		if (!l->switches[i])
			return 0;
	for (i = 0; i < l->cfg.cpus_cnt; i++) {
		ledger_row(l, i, LEDGER_SWITCHES, &row);
		seen += row.seen;
	}
	return counted > seen ? counted - seen : 0;
}

/* ---- writing -------------------------------------------------------------------------- */

int ledger_write_event(struct fxt_writer *w, const char *name, uint64_t ts, const struct fxt_arg *args,
		       unsigned int nargs)
{
	const struct fxt_event event = {
		.type = FXT_INSTANT,
		.ts = ts,
		.thread = { .process = getpid(), .thread = gettid() },
		.category = fxt_str("kfxt"),
		.name = fxt_str(name),
	};

	return fxt_write_event(w, &event, args, nargs);
}

/* Numbers by the names they have in the file: "switches", "seen_switches", "lost_switches", ... */
struct row_args {
	struct fxt_arg args[ARGS_MAX];
	char names[ARGS_MAX][NAME_BYTES];
	unsigned int cnt;
};

static void put_number(struct row_args *a, const char *what, enum ledger_source source, uint64_t number)
{
	char *name = a->names[a->cnt];

	snprintf(name, NAME_BYTES, "%s%s%s", what, *what ? "_" : "", ledger_source_names[source]);
	a->args[a->cnt++] = fxt_arg_u64(name, number);
}

static int write_row(struct fxt_writer *w, uint64_t ts, uint32_t cpu, enum ledger_source source,
		     const struct ledger_row *row)
{
	struct row_args a = { .args[0] = fxt_arg_u32("cpu", cpu), .cnt = 1 };
	unsigned int i;

	put_number(&a, "seen", source, row->seen);
	put_number(&a, "drained", source, row->taken);
	put_number(&a, "filtered", source, row->filtered);
	if (source != LEDGER_LOGS)
		put_number(&a, "", source, row->records);
	put_number(&a, "lost", source, row->lost[LEDGER_RING_FULL]);
	if (row->contended)
		put_number(&a, "contended", source, row->contended);
	if (row->unpaired)
		put_number(&a, "unpaired", source, row->unpaired);
	if (row->overwritten)
		put_number(&a, "overwritten", source, row->overwritten);
	if (row->implied)
		put_number(&a, "unreported", source, row->implied);
	if (row->ratelimited)
		put_number(&a, "ratelimited", source, row->ratelimited);
	if (row->over_budget)
		put_number(&a, "over_budget", source, row->over_budget);
	if (row->idle)
		put_number(&a, "idle", source, row->idle);
	if (row->brief)
		put_number(&a, "short", source, row->brief);
	for (i = LEDGER_RING_FULL + 1; i < LEDGER_LOSS_CNT; i++)
		if (row->lost[i])
			put_number(&a, ledger_loss_names[i], source, row->lost[i]);
	return ledger_write_event(w, "ledger", ts, a.args, a.cnt);
}

/* Of what the others count as records, what could not be written after all. */
static int write_cut(const struct ledger *l, struct fxt_writer *w, uint64_t ts)
{
	struct row_args a = { .cnt = 0 };
	enum ledger_source s;

	for (s = 0; s < LEDGER_SOURCE_CNT; s++)
		if (l->unwritten[s])
			put_number(&a, "cut", s, l->unwritten[s]);
	return a.cnt ? ledger_write_event(w, "ledger", ts, a.args, a.cnt) : 0;
}

/* What no CPU counts, in as many records as it takes. The last of the ledgers: it says that they are whole. */
static int write_whole(const struct ledger *l, struct fxt_writer *w, uint64_t ts)
{
	struct programs_counts probes;
	struct ledger_row rows[LEDGER_SOURCE_CNT];
	struct row_args a = { .cnt = 0 };
	uint64_t skipped = 0;
	enum ledger_source s;
	int err = 0;

	programs_counts(l->cfg.probes, &probes);
	read_whole(l, &probes, rows);
	for (s = 0; !err && s < LEDGER_SOURCE_CNT; s++) {
		const struct ledger_row row = rows[s];

		if (a.cnt + WHOLE_ARGS > ARGS_MAX) {
			err = ledger_write_event(w, "ledger", ts, a.args, a.cnt);
			a.cnt = 0;
		}
		if (s == LEDGER_NAMES || ((s == LEDGER_EVENTS || s == LEDGER_SAMPLES) && (row.seen || row.records))) {
			put_number(&a, "", s, row.records);
			put_number(&a, "drained", s, row.taken);
			put_number(&a, "lost", s, row.lost[LEDGER_RING_FULL]);
		} else if (s == LEDGER_LOGS && sources_have(l->cfg.sources, s)) {
			put_number(&a, "", s, row.records);
		} else if (s == LEDGER_CALLS && sources_have(l->cfg.sources, s)) {
			put_number(&a, "unreturned", s, row.lost[LEDGER_UNRETURNED]);
			put_number(&a, "missed", s, row.lost[LEDGER_SKIPPED]);
			continue;
		}
		if (row.lost[LEDGER_UNWRITTEN])
			put_number(&a, "write_failed", s, row.lost[LEDGER_UNWRITTEN]);
		if (s == LEDGER_NAMES && row.lost[LEDGER_SKIPPED])
			put_number(&a, "prog_skipped", s, row.lost[LEDGER_SKIPPED]);
		else
			skipped += row.lost[LEDGER_SKIPPED];
	}
	a.args[a.cnt++] = fxt_arg_u64("prog_skipped", skipped);
	a.args[a.cnt++] = fxt_arg_u64("shared_koids", probes.generations_exhausted);
	a.args[a.cnt++] = fxt_arg_u64("procstat_excess_switches", ledger_unreported_switches(l));
	return err ?: ledger_write_event(w, "ledger", ts, a.args, a.cnt);
}

static bool is_recorded(const struct ledger *l, enum ledger_source source)
{
	return source <= LEDGER_WAKEUPS || sources_have(l->cfg.sources, source);
}

/* Of which @lost is what is missing of that CPU, all together. */
static int write_cpu(const struct ledger *l, struct fxt_writer *w, uint64_t ts, unsigned int i, uint64_t *lost)
{
	struct ledger_row row;
	enum ledger_source s;
	int err = 0;

	for (s = 0; !err && s < LEDGER_NAMES; s++) {
		ledger_row(l, i, s, &row);
		if (!is_recorded(l, s) && !row.seen)
			continue;
		*lost += ledger_selected(&row) - ledger_kept(&row) - row.lost[LEDGER_UNREPORTED];
		err = write_row(w, ts, l->cfg.cpus[i], s, &row);
	}
	return err;
}

int ledger_write(const struct ledger *l, struct fxt_writer *w, struct packets *packets, uint64_t ts)
{
	uint64_t lost[l->cfg.cpus_cnt], sum = 0;
	unsigned int i;
	int err = 0;

	for (i = 0; !err && i < l->cfg.cpus_cnt; i++) {
		lost[i] = 0;
		err = write_cpu(l, w, ts, i, &lost[i]);
		sum += lost[i];
	}
	err = err ?: write_cut(l, w, ts);
	err = err ?: write_whole(l, w, ts);
	if (!err && sum)
		err = fxt_write_provider_event(w, LEDGER_PROVIDER, FXT_PROVIDER_EVENT_BUFFER_FULL);
	if (!err && sum && packets)
		err = packets_write_lost(packets, lost, l->cfg.cpus_cnt);
	return err;
}

void ledger_close(struct ledger *l)
{
	if (l)
		free(l->drained);
	free(l);
}
