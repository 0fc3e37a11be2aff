// SPDX-License-Identifier: GPL-2.0
/*
 * Counts of programs and of our own threads, and what they come to.
 */
#include "cost.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "ledger.h"
#include "base/clock.h"
#include "base/num.h"
#include "fxt/fxt.h"
#include "io/sink.h"
#include "kernel/bpf_sys.h"
#include "bpf/abi/ctl.h"
#include "capture/programs.h"
#include "session_p.h"
#include "capture/sources.h"

#define NS_PER_SECOND	1000000000ULL
#define EMPTY_RUNS	4000	/* the first ones take longer */
#define SPAN_NS		800000000ULL	/* of measuring, at least */
#define SOON_NS		(NS_PER_SECOND / 2)
#define SHED_RUN_NS	10	/* of a program that finds that its event is to be left out, where all is as typical */
#define SLOWNESS_MAX	5

/* ---- arithmetic ------------------------------------------------------------------------------------ */

#define TYPICAL_NS	100	/* of sources that say nothing else */

/*
 * ns of an event with what it takes to call the programs, on x86-64 of 2026 (docs/performance.md): orders of
 * magnitude, for where nothing can be measured.
 */
static double typical_ns(const struct source_ops *const *table, unsigned int item)
{
	static const double own[COST_SOURCES] = { [COST_SWITCHES] = 33, [COST_WAKEUPS] = 35, [COST_NAMES] = 500 };

	return item < COST_SOURCES ? own[item] : table[item - COST_SOURCES]->typical_ns ?: TYPICAL_NS;
}

void cost_rates_typical(struct cost_rates *rates, const struct source_ops *const *table)
{
	unsigned int i;

	*rates = (struct cost_rates){ .table = table };
	for (i = 0; i < COST_CNT; i++)
		rates->event_ns[i] = typical_ns(table, i);
}

/* Time of an item's programs between two moments. */
static double runs_ns(const struct cost_runs *from, const struct cost_runs *to, double empty_ns)
{
	const double own = (double)(to->ns - from->ns) - (double)(to->cnt - from->cnt) * empty_ns;

	return (own > 0 ? own : 0) + (double)(to->entry_ns - from->entry_ns);
}

/*
 * Where a source loads copies of a program, only that one is among those that are asked. Each event is a run at
 * least: those that are missing are taken to be like the others.
 */
static double missing_runs(const struct cost_rates *rates, unsigned int item, uint64_t runs, uint64_t seen)
{
	const bool may_miss = item >= COST_SOURCES && rates->table[item - COST_SOURCES]->loads_copies;

	return may_miss && runs && seen > runs ? (double)seen / (double)runs : 1;
}

void cost_rates_measure(struct cost_rates *rates, const struct cost_counts *from, const struct cost_counts *to,
			double empty_ns)
{
	const double all_ns = (double)(to->now_ns - from->now_ns);
	unsigned int i;

	for (i = 0; i < COST_CNT && all_ns > 0; i++) {
		const uint64_t seen = to->seen[i] - from->seen[i], runs = to->runs[i].cnt - from->runs[i].cnt;
		const double ns = runs_ns(&from->runs[i], &to->runs[i], empty_ns) * missing_runs(rates, i, runs, seen);

		rates->share[i] = seen < COST_EVENTS_MIN ? ns / all_ns : 0;
		if (seen >= COST_EVENTS_MIN && runs)
			rates->event_ns[i] = ns / (double)seen;
	}
}

/* A window compresses later, in blocks. */
static void add_bytes(struct cost_shares *out, const struct cost_counts *from, const struct cost_counts *to, double seconds)
{
	const double raw = num_growth(from->raw_bytes, to->raw_bytes), packed_from = num_growth(from->packed_from, to->packed_from);

	out->raw_bytes_per_s = raw / seconds;
	out->bytes_per_s = num_growth(from->bytes, to->bytes) / seconds;
	out->packed = 1;
	if (!to->is_kept)
		return;
	out->packed = raw > 0 ? packed_from / raw : 0;
	out->bytes_per_s = out->packed > 0 ? out->bytes_per_s / out->packed : 0;
}

void cost_shares_between(struct cost_shares *out, const struct cost_counts *from, const struct cost_counts *to,
			 const struct cost_rates *rates)
{
	const double ns = (double)(to->now_ns - from->now_ns), seconds = ns / NS_PER_SECOND;
	unsigned int i;

	*out = (struct cost_shares){ .ns = to->now_ns - from->now_ns, .end_ns = to->now_ns };
	if (!out->ns)
		return;
	for (i = 0; i < COST_CNT; i++) {
		const uint64_t seen = to->seen[i] - from->seen[i];

		out->seen_per_s[i] = (double)seen / seconds;
		/* What is in the rings counts as recorded until it cannot be written: then it is less. */
		out->recorded_per_s[i] = num_growth(from->recorded[i], to->recorded[i]) / seconds;
		out->item[i] = rates->share[i] && seen < COST_EVENTS_MIN ? rates->share[i] : (double)seen * rates->event_ns[i] / ns;
		out->kernel += out->item[i];
	}
	for (i = 0; i < SHED_CNT; i++) {
		out->shed_per_s[i] = num_growth(from->shed[i], to->shed[i]) / seconds;
		out->shed[i] = out->shed_per_s[i] * rates->shed_ns[i] / NS_PER_SECOND;
		out->kernel += out->shed[i];
	}
	out->drain = num_growth(from->drain_ns, to->drain_ns) / ns;
	out->output = num_growth(from->output_ns, to->output_ns) / ns;
	add_bytes(out, from, to, seconds);
}

const char *cost_text(const struct cost_shares *shares, char buf[COST_TEXT])
{
	const double recorder = shares->drain + shares->output;

	snprintf(buf, COST_TEXT, "cost %.2f %% of one CPU (kernel %.2f, recorder %.2f)", (shares->kernel + recorder) * 100,
		 shares->kernel * 100, recorder * 100);
	return buf;
}

/* ---- in the trace ---------------------------------------------------------------------------------- */

static unsigned int put_shares(struct fxt_arg args[2], const struct cost_shares *shares)
{
	args[0] = fxt_arg_f64("kernel", shares->kernel * 100);
	args[1] = fxt_arg_f64("recorder", (shares->drain + shares->output) * 100);
	return 2;
}

int cost_write_counter(const struct cost_shares *shares, uint64_t ts, struct fxt_thread at, struct fxt_writer *w)
{
	const struct fxt_event event = {
		.type = FXT_COUNTER, .ts = ts, .thread = at, .category = fxt_str("kfxt"),
		.name = fxt_str("kfxt cost"),
	};
	struct fxt_arg args[2];

	return fxt_write_event(w, &event, args, put_shares(args, shares));
}

int cost_write_event(const struct cost_shares *shares, uint64_t ts, struct fxt_writer *w)
{
	struct fxt_arg args[2];

	return ledger_write_event(w, "cost", ts, args, put_shares(args, shares));
}

/* ---- of a recording -------------------------------------------------------------------------------- */

/* A program that is loaded. */
struct program {
	int fd;
	unsigned int item;
	unsigned int entry_ns;	/* of a run */
};

struct cost {
	const struct recorder *r;
	struct cost_cfg cfg;
	struct program *programs;
	unsigned int programs_cnt;
	int stats_fd;			/* -1: the statistics are off */
	int err;			/* why they never were on */
	double empty_ns;
	struct cost_rates rates;
	uint64_t own_ns;		/* CPU time that counting took */
	uint64_t settled_ns;		/* when that will be; 0: before the first look */
	unsigned int looks;		/* 0: @from, @before and @to are not known */
	struct cost_counts from, before, to;
	struct cost_counts span;	/* since when @rates are measured */
	bool is_known;			/* such a span is over */
	bool soon;			/* the next look is */
};

/*
 * What the kernel takes to come to a program, by its section: measured with programs that do nothing, less what
 * the statistics count of them.
 */
static unsigned int entry_ns(const char *section)
{
	static const struct {
		const char *prefix;
		unsigned int ns;
	} ways[] = {
		{ "tp_btf", 9 }, { "raw_tp", 9 }, { "tp", 24 }, { "fentry", 10 }, { "fexit", 15 }, { "kprobe.multi", 50 },
		{ "kprobe", 60 }, { "kretprobe", 120 }, { "uprobe", 700 }, { "uretprobe", 1400 }, { "usdt", 700 },
		{ "perf_event", 1000 },
	};
	unsigned int i;

	section += *section == '?';
	for (i = 0; i < sizeof(ways) / sizeof(ways[0]); i++)
		if (!strncmp(section, ways[i].prefix, strlen(ways[i].prefix)))
			return ways[i].ns;
	return 0;
}

static unsigned int item_of(const struct sources *sources, const char *program)
{
	unsigned int kind;

	if (!strncmp(program, "on_sched_switch", strlen("on_sched_switch")))
		return COST_SWITCHES;
	if (!strncmp(program, "on_sched_wak", strlen("on_sched_wak")))
		return COST_WAKEUPS;
	kind = sources_kind_of_program(sources, program);
	return kind < RAW_KIND_CNT ? COST_SOURCES + kind : COST_NAMES;
}

/* How much slower than typical this machine executes the programs of an item, as far as that was measured. */
static double slowness(const struct cost_rates *rates, unsigned int item)
{
	const double ratio = rates->event_ns[item] / typical_ns(rates->table, item);

	return ratio < 1 ? 1 : ratio < SLOWNESS_MAX ? ratio : SLOWNESS_MAX;
}

/* What is left of an event that is left out: the way to each of its programs, and its count. */
static void set_shed_ns(struct cost *c)
{
	const struct source_ops *source;
	const struct program *p;
	double ns;

	memset(c->rates.shed_ns, 0, sizeof(c->rates.shed_ns));
	for (p = c->programs; p < c->programs + c->programs_cnt; p++) {
		if (p->item < COST_SOURCES)
			continue;
		source = c->rates.table[p->item - COST_SOURCES];
		ns = source->shed_runs * (p->entry_ns + SHED_RUN_NS * slowness(&c->rates, p->item));
		if (ns > c->rates.shed_ns[source->shed_class])
			c->rates.shed_ns[source->shed_class] = ns;
	}
}

static int list_programs(struct cost *c)
{
	struct bpf_program *prog;
	unsigned int n = 0;

	for (prog = NULL; (prog = programs_next_program(c->r->programs, prog)); )
		n++;
	c->programs = calloc(n, sizeof(*c->programs));
	if (!c->programs)
		return -ENOMEM;
	for (prog = NULL; (prog = programs_next_program(c->r->programs, prog)); )
		if (bpf_program__fd(prog) >= 0)
			c->programs[c->programs_cnt++] = (struct program){
				.fd = bpf_program__fd(prog), .entry_ns = entry_ns(bpf_program__section_name(prog)),
				.item = item_of(c->r->cfg->sources, bpf_program__name(prog)),
			};
	return 0;
}

/* What the statistics count of a program that does nothing. */
static int measure_empty(double *ns)
{
	LIBBPF_OPTS(bpf_test_run_opts, opts);
	struct bpf_prog_info info = { 0 };
	uint32_t len = sizeof(info);
	unsigned int i;
	int prog = bpf_call_load_nothing(BPF_PROG_TYPE_RAW_TRACEPOINT, 0, 0), err = 0;

	if (prog < 0)
		return prog;
	for (i = 0; !err && i < EMPTY_RUNS; i++)
		err = bpf_prog_test_run_opts(prog, &opts);
	err = err ?: bpf_obj_get_info_by_fd(prog, &info, &len);
	close(prog);
	if (!err && !info.run_cnt)
		err = -ENODATA;
	if (!err)
		*ns = (double)info.run_time_ns / (double)info.run_cnt;
	return err;
}

int cost_open(struct cost **out, const struct recorder *r, const struct cost_cfg *cfg)
{
	struct cost *c = calloc(1, sizeof(*c));
	int err = -ENOMEM;

	if (!c)
		return err;
	c->r = r;
	c->cfg = *cfg;
	cost_rates_typical(&c->rates, sources_table(r->cfg->sources));
	c->stats_fd = -1;
	err = list_programs(c);
	if (err) {
		cost_close(c);
		return err;
	}
	set_shed_ns(c);
	c->stats_fd = bpf_enable_stats(BPF_STATS_RUN_TIME);
	c->err = c->stats_fd < 0 ? c->stats_fd : measure_empty(&c->empty_ns);
	if (c->err && c->stats_fd >= 0) {
		close(c->stats_fd);
		c->stats_fd = -1;
	}
	*out = c;
	return 0;
}

int cost_error(const struct cost *c)
{
	return c->err;
}

static void count_runs(const struct cost *c, struct cost_runs runs[COST_CNT])
{
	const struct program *p;
	struct bpf_prog_info info;
	uint32_t len;

	for (p = c->programs; p < c->programs + c->programs_cnt; p++) {
		len = sizeof(info);
		info = (struct bpf_prog_info){ 0 };
		if (bpf_obj_get_info_by_fd(p->fd, &info, &len))
			continue;
		runs[p->item].cnt += info.run_cnt;
		runs[p->item].ns += info.run_time_ns;
		runs[p->item].entry_ns += info.run_cnt * p->entry_ns;
	}
}

static void count_class(const struct recorder *r, enum ledger_source class, uint64_t *seen, uint64_t *recorded)
{
	struct ledger_row row;
	unsigned int i;

	for (i = 0; i < r->cfg->cpus_cnt; i++) {
		ledger_row(r->ledger, i, class, &row);
		*seen += row.seen - row.over_budget;
		*recorded += row.records;
	}
}

/* Sources that are the only ones of their class have its counts, the others those of their deferred records. */
static void count_sources(const struct recorder *r, struct cost_counts *to)
{
	const struct sources *sources = r->cfg->sources;
	enum ledger_source class;
	unsigned int kind;

	for (kind = 0; kind < RAW_KIND_CNT; kind++) {
		uint64_t *seen = &to->seen[COST_SOURCES + kind], *recorded = &to->recorded[COST_SOURCES + kind];

		if (!sources_selected(sources, kind, &class))
			continue;
		if (class == LEDGER_EVENTS)
			*seen = *recorded = sources_decoded(sources, kind);
		else
			count_class(r, class, seen, recorded);
	}
}

static void count_shed(const struct recorder *r, uint64_t shed[SHED_CNT])
{
	unsigned int i, class;

	for (i = 0; i < r->cfg->cpus_cnt; i++)
		for (class = 0; class < SHED_CNT; class++)
			shed[class] += __atomic_load_n(&programs_ring(r->programs, i)->ctl->shed[class], __ATOMIC_RELAXED);
}

static void count(struct cost *c, struct cost_counts *to)
{
	const uint64_t begin = clock_ns(CLOCK_THREAD_CPUTIME_ID), process = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
	const uint64_t watch = urgency_cpu_ns(c->r->cfg->urgency);
	const struct recorder *r = c->r;
	struct recorder_totals output = { 0 };

	recorder_output_totals(r, &output);
	*to = (struct cost_counts){
		.now_ns = clock_ns(CLOCK_BOOTTIME),
		.drain_ns = begin - c->own_ns + watch,
		.output_ns = process > begin + watch ? process - begin - watch : 0,
		.bytes = output.bytes, .raw_bytes = output.raw_bytes,
		.seen = { [COST_NAMES] = programs_names_seen(r->programs) },
		.recorded = { [COST_NAMES] = programs_names_seen(r->programs) },
	};
	if (r->flight) {
		to->is_kept = true;
		to->bytes = output.window.packed_bytes;
		to->raw_bytes = output.window.added_bytes;
		to->packed_from = output.window.packed_from_bytes;
	}
	count_class(r, LEDGER_SWITCHES, &to->seen[COST_SWITCHES], &to->recorded[COST_SWITCHES]);
	count_class(r, LEDGER_WAKEUPS, &to->seen[COST_WAKEUPS], &to->recorded[COST_WAKEUPS]);
	to->seen[COST_POLLED] = to->recorded[COST_POLLED] = sources_ctx(r->cfg->sources)->events;
	count_sources(r, to);
	count_shed(r, to->shed);
	if (c->stats_fd < 0)
		return;
	count_runs(c, to->runs);
	c->own_ns += clock_ns(CLOCK_THREAD_CPUTIME_ID) - begin;
}

void cost_leave_out(struct cost *c, uint64_t ns)
{
	c->own_ns += ns;
}

uint64_t cost_round_bytes(const struct cost *c)
{
	return c->looks > 1 && c->to.raw_bytes > c->before.raw_bytes ? c->to.raw_bytes - c->before.raw_bytes : 0;
}

void cost_keep_rates(struct cost *c)
{
	if (c->stats_fd >= 0)
		close(c->stats_fd);
	c->stats_fd = -1;
}

/* The last whole span counts: at first rings and caches are cold. Ends the measuring when its time is over. */
static void measure(struct cost *c)
{
	if (c->is_known && c->to.now_ns - c->span.now_ns < SPAN_NS)
		return;
	cost_rates_measure(&c->rates, &c->span, &c->to, c->empty_ns);
	set_shed_ns(c);
	if (c->cfg.measure_ns == UINT64_MAX || c->to.now_ns - c->span.now_ns < SPAN_NS)
		return;
	c->is_known = true;
	c->span = c->to;
	if (c->to.now_ns - c->from.now_ns >= c->cfg.measure_ns)
		cost_keep_rates(c);
}


void cost_look_soon(struct cost *c)
{
	c->soon = true;
}

bool cost_look(struct cost *c)
{
	const uint64_t now = clock_ns(CLOCK_BOOTTIME);

	if (!c->settled_ns)
		c->settled_ns = now + c->cfg.settle_ns;
	if (now < c->settled_ns)
		return false;
	if (c->looks && !cost_is_measuring(c) && c->cfg.measure_ns < UINT64_MAX &&
	    now - c->to.now_ns < (c->soon ? SOON_NS : NS_PER_SECOND))
		return false;
	c->soon = false;
	c->before = c->to;
	count(c, &c->to);
	if (!c->looks++)
		c->from = c->span = c->to;
	else if (c->stats_fd >= 0)
		measure(c);
	return true;
}

void cost_end(struct cost *c)
{
	c->before = c->to;
	count(c, &c->to);
	if (!c->looks++)
		c->from = c->span = c->to;
	else if (c->stats_fd >= 0)
		measure(c);
}

bool cost_is_measuring(const struct cost *c)
{
	return c->stats_fd >= 0 && !c->is_known;
}

bool cost_so_far(const struct cost *c, struct cost_shares *out)
{
	if (c->looks < 2)
		return false;
	cost_shares_between(out, &c->from, &c->to, &c->rates);
	return true;
}

bool cost_lately(const struct cost *c, struct cost_shares *out)
{
	if (c->looks < 2)
		return false;
	cost_shares_between(out, &c->before, &c->to, &c->rates);
	return true;
}

void cost_close(struct cost *c)
{
	if (!c)
		return;
	cost_keep_rates(c);
	free(c->programs);
	free(c);
}
