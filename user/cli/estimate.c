// SPDX-License-Identifier: GPL-2.0
/*
 * kfxt estimate: records for two seconds, keeps nothing, and prints what a recording with the same options costs.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/log.h"
#include "base/num.h"
#include "session/cost.h"
#include "session/session.h"
#include "capture/source.h"
#include "cli/opt/opt.h"
#include "cmd.h"
#include "exit.h"
#include "io/compress.h"
#include "io/output_cost.h"
#include "record/record.h"
#include "record/record_summary.h"
#include "report/schema.h"
#include "source/table.h"
#include "trigger/trigger.h"

#define NS_PER_SECOND	1000000000ULL
#define SETTLE_NS	1000000000ULL	/* names of what runs already are written in this time */
#define ROUND_NS	200000000ULL	/* between two looks */
#define KEEP_MAX	3
#define BLOCKS		64		/* of a window, as of user/window */
#define BLOCKS_MEASURED	4		/* at least so many are to end while it counts */

struct estimate_cfg {
	struct record_cfg record;	/* first: its options are taken, too */
	bool json;
};

static const struct opt rows[] = {
	{ .name = "duration", .letter = 'd', .kind = OPT_DURATION, .metavar = "TIME",
	  .help = "count for TIME: 10, 500ms, 2m", .offset = offsetof(struct estimate_cfg, record.duration_ns),
	  .value = "2", .min = 100000000 },
	{ .name = "json", .letter = 'j', .kind = OPT_FLAG, .help = "print one JSON object",
	  .offset = offsetof(struct estimate_cfg, json) },
	{ 0 },
};

static const struct opt_command command = {
	.name = "estimate",
	.operands = "[-- COMMAND ARGS]",
	.summary = "Measure what a recording with these options costs, without keeping a trace.",
	.rows = rows,
	.also = &record_command,
	.examples = "kfxt estimate                         # scheduling and the kernel's log\n"
		    "kfxt estimate -e syscalls -e irq -zzstd\n"
		    "kfxt estimate --keep 256M --trigger 'runq>10ms' -e syscalls\n"
		    "kfxt estimate --config /etc/kfxt/kfxt.conf\n"
		    "kfxt estimate -d 10 --json -- make -j8\n",
	.operands_max = OPT_ROWS_MAX * 1000,
	.stops_at_operand = true,
};

/* A window of the flight recorder. */
struct keep {
	uint64_t age_ns, bytes;		/* 0: not given */
	double seconds, need;		/* how long @bytes last; how many bytes @age_ns takes; 0: not known */
};

struct estimate {
	const struct estimate_cfg *cfg;
	struct record_use *use;
	char *dir;			/* of the output; NULL: stdout */
	struct cost *cost;
	struct output_cost *byte;
	struct keep keep[KEEP_MAX];
	unsigned int keep_cnt;
	/* What came of it: */
	struct cost_shares shares;
	struct recorder_totals totals;
	unsigned int cpus_cnt;
	const struct triggers *triggers;	/* NULL: none */
	uint64_t times_before[TRIGGERS_MAX], times[TRIGGERS_MAX];	/* they were true, at the first look that counted and since then */
	bool is_counting;
	double recorder, output;	/* shares: the draining thread, the one that compresses or makes another format */
	bool output_selected;		/* and that one is part of the recording that was asked for */
};

/* ---- the window ------------------------------------------------------------------------------------ */

static bool is_kept(const struct estimate *e)
{
	return e->use->keep_ns || e->use->keep_bytes;
}

/* Of the window that was asked for, or of usual ones. */
static void compute_keep(struct estimate *e)
{
	static const uint64_t usual[KEEP_MAX] = { 64 << 20, 256 << 20, 1 << 30 };
	const double bytes_per_s = e->shares.bytes_per_s;
	struct keep *k;

	for (; e->keep_cnt < (is_kept(e) ? 1 : KEEP_MAX); e->keep_cnt++)
		e->keep[e->keep_cnt].bytes = usual[e->keep_cnt];
	if (is_kept(e))
		e->keep[0] = (struct keep){ .age_ns = e->use->keep_ns, .bytes = e->use->keep_bytes };
	for (k = e->keep; k < e->keep + e->keep_cnt && bytes_per_s > 0; k++) {
		k->seconds = (double)k->bytes / bytes_per_s;
		k->need = (double)k->age_ns / NS_PER_SECOND * bytes_per_s;
	}
}

/* ---- the recording --------------------------------------------------------------------------------- */

static int opened(void *ctx, const struct record_summary *s)
{
	const struct cost_cfg cfg = { .settle_ns = SETTLE_NS, .measure_ns = UINT64_MAX };
	struct estimate *e = ctx;
	int err = cost_open(&e->cost, s->recorder, &cfg) ?: output_cost_open(&e->byte, e->dir);

	if (err) {
		log_error("estimate: %s", strerror(-err));
		return EXIT_FAILED;
	}
	if (cost_error(e->cost))
		log_warn("estimate: the cost in the kernel is not measured but what is typical: statistics of BPF programs: %s%s",
			 strerror(-cost_error(e->cost)), cost_error(e->cost) == -EPERM ? " (CAP_SYS_ADMIN is needed)" : "");
	e->triggers = s->triggers;
	return EXIT_OK;
}

/* With each look at the costs: what is open when the recording ends makes triggers true after the last one. */
static void count_triggers(struct estimate *e)
{
	struct trigger_counts t;
	unsigned int i;

	for (i = 0; e->triggers && i < TRIGGERS_MAX && triggers_counts(e->triggers, i, &t); i++) {
		if (!e->is_counting)
			e->times_before[i] = t.fired + t.suppressed;
		e->times[i] = t.fired + t.suppressed - e->times_before[i];
	}
	e->is_counting = true;
}

static void tick(void *ctx)
{
	struct estimate *e = ctx;
	uint64_t since;

	if (!cost_look(e->cost))
		return;
	count_triggers(e);
	since = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	output_cost_write(e->byte, cost_round_bytes(e->cost));
	cost_leave_out(e->cost, clock_ns(CLOCK_THREAD_CPUTIME_ID) - since);
}

static double share_of_bytes(double bytes_per_s, double ns)
{
	return bytes_per_s * ns / NS_PER_SECOND;
}

/* Of a window all is compressed, and written at times only. Blocks that were not complete are yet to be. */
static void compute_window_shares(struct estimate *e)
{
	const struct cost_shares *m = &e->shares;

	e->output_selected = true;
	e->recorder = m->drain;
	e->output = m->packed > 0 ? m->output / m->packed : m->output;
	if (!(m->packed > 0) && m->raw_bytes_per_s > 0)
		log_warn("estimate: nothing of the window was compressed in that time: a longer one says what that costs (-d 10)");
}

/* Nothing was written, and all was compressed: the shares are as if it had been done as the options say. */
static void compute_shares(struct estimate *e, const struct record_summary *s)
{
	const struct cost_shares *m = &e->shares;

	if (is_kept(e)) {
		compute_window_shares(e);
		return;
	}
	e->output_selected = e->cfg->record.compress.how || s->is_other_format;
	e->recorder = m->drain;
	if (!e->output_selected)
		e->recorder += share_of_bytes(m->raw_bytes_per_s, output_cost_write_ns(e->byte) - output_cost_copy_ns(e->byte));
	if (e->recorder < 0)
		e->recorder = 0;
	e->output = m->output + share_of_bytes(m->bytes_per_s, output_cost_write_ns(e->byte));
}

static double total_share(const struct estimate *e)
{
	return e->shares.kernel + e->recorder + (e->output_selected ? e->output : 0);
}

/* ---- what is printed ------------------------------------------------------------------------------- */

static const char *item_name(unsigned int item)
{
	static const char *const own[COST_SOURCES] = {
		[COST_SWITCHES] = "switches", [COST_WAKEUPS] = "wakeups", [COST_NAMES] = "names", [COST_POLLED] = "polled",
	};
	const struct source_ops *source;

	if (item < COST_SOURCES)
		return own[item];
	source = source_table[item - COST_SOURCES];
	return source->many ?: source->name;
}

/* What there was nothing of is not printed, but for scheduling. */
static bool is_shown(const struct estimate *e, unsigned int item)
{
	return item <= COST_WAKEUPS || e->shares.seen_per_s[item] > 0 || e->shares.item[item] > 0;
}

/* "zstd:1"; "" if nothing is compressed. */
static const char *compression_text(const struct estimate *e, char buf[16])
{
	const struct compress_cfg *c = &e->use->compress;

	buf[0] = 0;
	if (c->method != COMPRESS_NONE)
		snprintf(buf, 16, "%s:%d", compress_name(c->method), c->level);
	return buf;
}

static const char *seconds_text(double s, char buf[32])
{
	if (s < 180)
		snprintf(buf, 32, s < 10 ? "%.1f s" : "%.0f s", s);
	else if (s < 3 * 3600)
		snprintf(buf, 32, "%.0f min", s / 60);
	else if (s < 72 * 3600)
		snprintf(buf, 32, "%.1f hours", s / 3600);
	else
		snprintf(buf, 32, "%.0f days", s / 86400);
	return buf;
}

static void print_items(const struct estimate *e)
{
	unsigned int i;

	printf("%-14s %12s %12s %9s %12s\n", "", "events/s", "recorded/s", "ns each", "% of one CPU");
	for (i = 0; i < COST_CNT; i++) {
		if (!is_shown(e, i))
			continue;
		printf("%-14s %12.0f %12.0f ", item_name(i), e->shares.seen_per_s[i], e->shares.recorded_per_s[i]);
		if (e->shares.item[i] > 0 && e->shares.seen_per_s[i] > 0)
			printf("%9.0f %12.3f\n", e->shares.item[i] * NS_PER_SECOND / e->shares.seen_per_s[i],
			       e->shares.item[i] * 100);
		else
			printf("%9s %12.3f\n", "-", e->shares.item[i] * 100);
	}
}

static void print_keep(const struct estimate *e)
{
	char text[NUM_SIZE_TEXT], seconds[32];
	const struct keep *k;

	for (k = e->keep; k < e->keep + e->keep_cnt && e->shares.bytes_per_s > 0; k++) {
		if (k->bytes)
			printf("keep     %s: %s\n", num_size_text(k->bytes, text), seconds_text(k->seconds, seconds));
		if (k->age_ns)
			printf("keep     %s: %s\n", seconds_text((double)k->age_ns / NS_PER_SECOND, seconds),
			       num_size_text((uint64_t)k->need, text));
	}
}

/* Each that fires so often would be a file, but for --cooldown. */
static void print_triggers(const struct estimate *e)
{
	struct trigger_counts t;
	unsigned int i;

	for (i = 0; e->triggers && triggers_counts(e->triggers, i, &t); i++)
		printf("trigger  %s: %" PRIu64 " time%s%s%s\n", t.word, e->times[i], e->times[i] == 1 ? "" : "s",
		       t.blind ? ", blind: " : "", t.blind ?: "");
}

static void print_text(const struct estimate *e)
{
	char how[16], raw[NUM_SIZE_TEXT], bytes[NUM_SIZE_TEXT];
	const struct cost_shares *m = &e->shares;

	print_items(e);
	compression_text(e, how);
	printf("\ntrace    %s/s as FXT, %s/s %s%s\n", num_size_text((uint64_t)m->raw_bytes_per_s, raw),
	       num_size_text((uint64_t)m->bytes_per_s, bytes), how[0] ? "with " : "as it is written", how);
	printf("cost     %.2f %% of one CPU: kernel %.2f, recorder %.2f", total_share(e) * 100, m->kernel * 100, e->recorder * 100);
	if (e->output_selected)
		printf(", output %.2f\n", e->output * 100);
	else
		printf("; with %s %.2f more\n", how, e->output * 100);
	printf("memory   %s in rings and maps\n", num_size_text(e->totals.memory_bytes, bytes));
	print_keep(e);
	print_triggers(e);
}

static void print_json_items(struct json *j, const struct estimate *e)
{
	const struct cost_shares *m = &e->shares;
	unsigned int i;

	json_line(j, "  ");
	json_key(j, "sources");
	json_array(j);
	for (i = 0; i < COST_CNT; i++) {
		if (!is_shown(e, i))
			continue;
		json_line(j, "    ");
		json_object(j);
		json_key_text(j, "name", item_name(i));
		json_key_fixed(j, "events_per_s", m->seen_per_s[i], 1);
		json_key_fixed(j, "recorded_per_s", m->recorded_per_s[i], 1);
		json_key_fixed(j, "cpu_percent", m->item[i] * 100, 4);
		json_end(j);
	}
	json_line(j, "  ");
	json_end(j);
}

static void print_json_cost(struct json *j, const struct estimate *e)
{
	json_line(j, "  ");
	json_key(j, "cost");
	json_object(j);
	json_key_bool(j, "measured", !cost_error(e->cost));
	json_key_fixed(j, "total_percent", total_share(e) * 100, 4);
	json_key_fixed(j, "kernel_percent", e->shares.kernel * 100, 4);
	json_key_fixed(j, "recorder_percent", e->recorder * 100, 4);
	json_key_fixed(j, "output_percent", e->output * 100, 4);
	json_key_bool(j, "output_in_total", e->output_selected);
	json_end(j);
}

static void print_json_keep(struct json *j, const struct estimate *e)
{
	const struct keep *k;

	json_line(j, "  ");
	json_key(j, "keep");
	json_array(j);
	for (k = e->keep; k < e->keep + e->keep_cnt && e->shares.bytes_per_s > 0; k++) {
		json_line(j, "    ");
		json_object(j);
		if (k->bytes) {
			json_key_u64(j, "bytes", k->bytes);
			json_key_fixed(j, "seconds", k->seconds, 1);
		}
		if (k->age_ns) {
			json_key_u64(j, "age_ns", k->age_ns);
			json_key_u64(j, "age_bytes", (uint64_t)k->need);
		}
		json_end(j);
	}
	json_line(j, "  ");
	json_end(j);
}

static void print_json_triggers(struct json *j, const struct estimate *e)
{
	struct trigger_counts t;
	unsigned int i;

	json_line(j, "  ");
	json_key(j, "triggers");
	json_array(j);
	for (i = 0; e->triggers && triggers_counts(e->triggers, i, &t); i++) {
		json_line(j, "    ");
		json_object(j);
		json_key_text(j, "trigger", t.word);
		json_key_u64(j, "times", e->times[i]);
		json_key_text(j, "blind", t.blind);
		json_end(j);
	}
	json_line(j, "  ");
	json_end(j);
}

static void print_json(const struct estimate *e)
{
	struct json j;
	char how[16];

	json_init(&j, stdout, true);
	json_schema_object(&j);
	json_line(&j, "  ");
	json_key_u64(&j, "duration_ns", e->shares.ns);
	json_key_u64(&j, "cpus", e->cpus_cnt);
	print_json_items(&j, e);
	json_line(&j, "  ");
	json_key_fixed(&j, "raw_bytes_per_s", e->shares.raw_bytes_per_s, 0);
	json_key_fixed(&j, "output_bytes_per_s", e->shares.bytes_per_s, 0);
	json_key_text(&j, "compression", compression_text(e, how)[0] ? how : NULL);
	print_json_cost(&j, e);
	json_line(&j, "  ");
	json_key_u64(&j, "memory_bytes", e->totals.memory_bytes);
	json_key_u64(&j, "full_cpus", e->totals.full_cpus);
	print_json_keep(&j, e);
	print_json_triggers(&j, e);
	json_line(&j, "");
	json_end(&j);
}

static int ended(void *ctx, const struct record_summary *s)
{
	struct estimate *e = ctx;

	if (!cost_so_far(e->cost, &e->shares)) {
		log_error("estimate: ended after less than %.1f s: nothing was counted", (SETTLE_NS + ROUND_NS) / 1e9);
		return EXIT_FAILED;
	}
	recorder_totals(s->recorder, &e->totals);
	e->cpus_cnt = s->cpus_cnt;
	compute_shares(e, s);
	compute_keep(e);
	if (e->totals.full_cpus)
		log_warn("estimate: the rings of %u CPU%s were full: a recording would lose events (larger -m)",
			 e->totals.full_cpus, e->totals.full_cpus == 1 ? "" : "s");
	if (e->cfg->json)
		print_json(e);
	else
		print_text(e);
	return EXIT_OK;
}

/* The directory that the trace would be in; NULL: none. */
static char *dir_of(const char *output)
{
	const char *slash = strrchr(output, '/');

	if (!strcmp(output, "-"))
		return NULL;
	return slash ? strndup(output, slash == output ? 1 : slash - output) : strdup(".");
}

int cmd_estimate(int argc, char **argv)
{
	struct estimate_cfg cfg = { 0 };
	struct record_use use = {
		.name = "estimate",
		.compress = { COMPRESS_ZSTD, compress_level_default(COMPRESS_ZSTD) },
		.opened = opened, .tick = tick, .ended = ended,
	};
	struct estimate e = { .cfg = &cfg, .use = &use };
	int first = opt_parse(&command, &cfg, argc, argv), code;

	if (first <= 0)
		return first ? EXIT_USAGE : EXIT_OK;
	use.age_max_ns = cfg.record.duration_ns * BLOCKS / BLOCKS_MEASURED;
	cfg.record.duration_ns += SETTLE_NS + ROUND_NS;
	e.dir = dir_of(cfg.record.output);
	use.ctx = &e;
	code = record_run(&cfg.record, &use, first < argc ? argv + first : NULL);
	cost_close(e.cost);
	output_cost_close(e.byte);
	free(e.dir);
	opt_config_close(&cfg.record.config);
	return code;
}
