// SPDX-License-Identifier: GPL-2.0
/*
 * kfxt dump: the records of a trace, one line each. This file owns options and
 * filters; report/dump_text.c and dump_json.c print.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "analysis/timeline.h"
#include "base/suggest.h"
#include "cmd.h"
#include "exit.h"
#include "base/log.h"
#include "cli/opt/opt.h"
#include "output.h"
#include "profile/profile.h"
#include "report/dump.h"
#include "trace.h"

#define ANY	UINT64_MAX	/* a filter that was not given */
#define KIND_SAMPLE	FXT_KIND_CNT	/* of samples in BLOBs, after the kinds of records */

struct dump_cfg {
	bool json;
	struct opt_list types;
	uint64_t tid, cpu, from_ns, to_ns;
	uint32_t kinds;		/* bits of enum fxt_kind and KIND_SAMPLE, from @types; 0: all */
};

static const struct opt dump_rows[] = {
	{ .name = "json", .letter = 'j', .kind = OPT_FLAG, .help = "print one JSON object per line",
	  .offset = offsetof(struct dump_cfg, json) },
	{ .name = "type", .letter = 't', .kind = OPT_LIST, .metavar = "T[,T]",
	  .help = "only these kinds, such as wakeup",
	  .offset = offsetof(struct dump_cfg, types) },
	{ .name = "tid", .kind = OPT_U64, .metavar = "N", .help = "only records that name this thread",
	  .offset = offsetof(struct dump_cfg, tid) },
	{ .name = "cpu", .kind = OPT_U64, .metavar = "N", .help = "only scheduling records of this CPU",
	  .offset = offsetof(struct dump_cfg, cpu), .max = NUM_CPUS_MAX - 1 },
	{ .name = "from", .kind = OPT_DURATION, .metavar = "T",
	  .help = "only from this time on: 12.5, 12500ms",
	  .offset = offsetof(struct dump_cfg, from_ns) },
	{ .name = "to", .kind = OPT_DURATION, .metavar = "T", .help = "only up to this time",
	  .offset = offsetof(struct dump_cfg, to_ns) },
	{ 0 },
};

static const struct opt_command dump_command = {
	.name = "dump",
	.operands = "FILE",
	.summary = "Print the records of a trace, one line each; FILE may be -, gzip, zstd.",
	.rows = dump_rows,
	.examples = "kfxt dump trace.fxt | less\n"
		    "kfxt dump --type context_switch,wakeup --tid 4711 trace.fxt\n"
		    "kfxt dump --json --from 12.5 --to 13 trace.fxt.gz | jq .\n",
	.operands_min = 1,
	.operands_max = 1,
};

_Static_assert(KIND_SAMPLE < 32, "dump_cfg.kinds has a bit for each kind");

/* ---- options ---------------------------------------------------------------- */

static const char *kind_name(unsigned int kind)
{
	return kind == KIND_SAMPLE ? DUMP_SAMPLE : fxt_kind_name((enum fxt_kind)kind);
}

/* " (kinds: a, b, ...)" of all kinds, for a word that is like none of them; @text, which it returns. */
static const char *kinds_text(char *text, size_t size)
{
	unsigned int kind;
	size_t len = 0;

	for (kind = 0; kind <= KIND_SAMPLE && len < size; kind++)
		len += snprintf(text + len, size - len, "%s%s", kind ? ", " : " (kinds: ", kind_name(kind));
	if (len < size)
		snprintf(text + len, size - len, ")");
	return text;
}

static int add_kind(struct dump_cfg *cfg, const char *name)
{
	char near[SUGGEST_CNT][SUGGEST_BYTES], text[SUGGEST_TEXT_BYTES];
	const char *names[KIND_SAMPLE + 1];
	unsigned int kind;

	for (kind = 0; kind <= KIND_SAMPLE; kind++) {
		names[kind] = kind_name(kind);
		if (!strcmp(names[kind], name)) {
			cfg->kinds |= 1U << kind;
			return 0;
		}
	}
	suggest_names(name, names, KIND_SAMPLE + 1, near);
	log_error("dump: --type: no such kind: '%s'%s", name,
		  *near[0] ? suggest_text(text, "", near) : kinds_text(text, sizeof(text)));
	return -EINVAL;
}

/* Splits each --type at its commas. */
static int add_kinds(struct dump_cfg *cfg)
{
	char name[32];
	const char *s;
	unsigned int i;
	size_t len;
	int err;

	for (i = 0; i < cfg->types.cnt; i++) {
		for (s = cfg->types.items[i];; s += len + 1) {
			len = strcspn(s, ",");
			snprintf(name, sizeof(name), "%.*s", (int)len, s);
			err = add_kind(cfg, name);
			if (err)
				return err;
			if (!s[len])
				break;
		}
	}
	return 0;
}

/* ---- filters ---------------------------------------------------------------- */

static bool wakeup_names(const struct fxt_record *rec, uint64_t tid)
{
	const struct fxt_arg *waker = fxt_record_arg(rec, "waker");

	return rec->wakeup.thread == tid ||
	       (waker && waker->type == FXT_ARG_KOID && waker->u64 == tid);
}

static bool names_thread(const struct fxt_record *rec, uint64_t tid)
{
	switch (rec->kind) {
	case FXT_KIND_SWITCH:
		return rec->context_switch.out == tid || rec->context_switch.in == tid;
	case FXT_KIND_LEGACY_SWITCH:
		return rec->legacy_switch.out.thread == tid || rec->legacy_switch.in.thread == tid;
	case FXT_KIND_WAKEUP:
		return wakeup_names(rec, tid);
	case FXT_KIND_EVENT:
		return rec->event.thread.thread == tid;
	case FXT_KIND_THREAD:
		return rec->thread.value.thread == tid;
	case FXT_KIND_KERNEL_OBJECT:
		return rec->object.kind == FXT_KOBJ_THREAD && rec->object.id == tid;
	case FXT_KIND_LOG:
		return rec->log.thread.thread == tid;
	case FXT_KIND_MODULE:
		return rec->module.thread.thread == tid;
	case FXT_KIND_MMAP:
		return rec->mmap.thread.thread == tid;
	case FXT_KIND_BACKTRACE:
		return rec->backtrace.thread.thread == tid;
	case FXT_KIND_LARGE_BLOB:
		return rec->large_blob.format == FXT_LARGE_WITH_METADATA &&
		       rec->large_blob.thread.thread == tid;
	default:
		return false;
	}
}

static bool is_of_cpu(const struct fxt_record *rec, uint64_t cpu)
{
	switch (rec->kind) {
	case FXT_KIND_SWITCH:
		return rec->context_switch.cpu == cpu;
	case FXT_KIND_LEGACY_SWITCH:
		return rec->legacy_switch.cpu == cpu;
	case FXT_KIND_WAKEUP:
		return rec->wakeup.cpu == cpu;
	default:
		return false;
	}
}

/* Damage is shown whatever was asked for: it may hide what was asked for. */
static bool is_selected(const struct dump_cfg *cfg, const struct fxt_record *rec, bool has_ts,
		      uint64_t ts_ns)
{
	if (rec->kind == FXT_KIND_DAMAGED)
		return true;
	if (cfg->kinds && !(cfg->kinds >> rec->kind & 1))
		return false;
	if (cfg->tid != ANY && !names_thread(rec, cfg->tid))
		return false;
	if (cfg->cpu != ANY && !is_of_cpu(rec, cfg->cpu))
		return false;
	if (cfg->from_ns != ANY && (!has_ts || ts_ns < cfg->from_ns))
		return false;
	return cfg->to_ns == ANY || (has_ts && ts_ns <= cfg->to_ns);
}

static bool is_selected_sample(const struct dump_cfg *cfg, const struct profile_sample *s)
{
	if (cfg->kinds && !(cfg->kinds >> KIND_SAMPLE & 1))
		return false;
	if (cfg->tid != ANY && s->thread != cfg->tid)
		return false;
	if (cfg->cpu != ANY && (s->cpu < 0 || (uint64_t)s->cpu != cfg->cpu))
		return false;
	return (cfg->from_ns == ANY || s->ts >= cfg->from_ns) && (cfg->to_ns == ANY || s->ts <= cfg->to_ns);
}

/* ---- the run ---------------------------------------------------------------- */

/* Samples of the BLOB at hand are printed after it. */
struct sample_ctx {
	const struct dump_cfg *cfg;
	struct profile_reader *reader;
	uint64_t offset;	/* of the BLOB */
};

static int dump_sample(void *ctx, const struct profile_sample *s)
{
	const struct sample_ctx *c = ctx;

	if (!is_selected_sample(c->cfg, s))
		return 0;
	if (c->cfg->json)
		dump_print_sample_json(s, c->offset);
	else
		dump_print_sample_text(s, c->offset);
	return 0;
}

static int dump_samples(struct sample_ctx *c, const struct fxt_record *rec)
{
	if (rec->kind != FXT_KIND_BLOB || rec->blob.type != FXT_BLOB_PERFETTO)
		return 0;
	c->offset = rec->offset;
	return profile_reader_blob(c->reader, rec->blob.data, rec->blob.len);
}

static void dump_record(const struct dump_cfg *cfg, const struct fxt_record *rec,
			uint64_t ticks_per_second)
{
	uint64_t ts_ns = 0;
	bool has_ts = rec->has_ts && timeline_ns(rec->ts, ticks_per_second, &ts_ns);

	if (!is_selected(cfg, rec, has_ts, ts_ns))
		return;
	if (cfg->json)
		dump_print_json(rec, has_ts, ts_ns);
	else
		dump_print_text(rec, has_ts, ts_ns);
}

/* 0, or -errno of what cannot be read; messages are printed. */
static int dump_records(const struct dump_cfg *cfg, struct trace *t)
{
	struct sample_ctx samples = { .cfg = cfg };
	struct fxt_record rec;
	int got = 0, err = profile_reader_open(&samples.reader, dump_sample, &samples);

	while (!err && !output_failed() && (got = trace_next(t, &rec)) > 0) {
		dump_record(cfg, &rec, fxt_reader_ticks_per_second(t->reader));
		err = dump_samples(&samples, &rec);
	}
	if (err)
		log_error("dump: %s: %s", input_name(t->in), strerror(-err));
	profile_reader_close(samples.reader);
	return err ? err : got;
}

static int dump_trace(const struct dump_cfg *cfg, struct trace *t)
{
	struct fxt_reader_stats stats;

	if (dump_records(cfg, t) < 0)
		return EXIT_FAILED;
	fxt_reader_stats(t->reader, &stats);
	if (!stats.by_kind[FXT_KIND_DAMAGED])
		return !output_failed() && trace_is_damaged(t) ? EXIT_PROBLEMS : EXIT_OK;
	log_error("dump: %s: damaged in %" PRIu64 " place%s: %" PRIu64 " %s",
		  input_name(t->in), stats.by_kind[FXT_KIND_DAMAGED],
		  stats.by_kind[FXT_KIND_DAMAGED] == 1 ? "" : "s", stats.skipped_bytes,
		  stats.skipped_bytes == 1 ? "byte is not a record" : "bytes are not records");
	return EXIT_PROBLEMS;
}

int cmd_dump(int argc, char **argv)
{
	struct dump_cfg cfg = { .tid = ANY, .cpu = ANY, .from_ns = ANY, .to_ns = ANY };
	int operand = opt_parse(&dump_command, &cfg, argc, argv);
	struct trace t;
	int err, code;

	if (!operand)
		return EXIT_OK;
	if (operand < 0 || add_kinds(&cfg))
		return EXIT_USAGE;
	if (cfg.from_ns != ANY && cfg.to_ns < cfg.from_ns) {
		log_error("dump: --to: is before --from");
		return EXIT_USAGE;
	}
	err = trace_open(&t, "dump", argv[operand]);
	if (err)
		return trace_exit_code(err);
	output_begin();
	code = dump_trace(&cfg, &t);
	trace_close(&t);
	return code;
}
