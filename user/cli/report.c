// SPDX-License-Identifier: GPL-2.0
/*
 * kfxt report: a trace in a page: how much happened, who was busy and who had
 * to wait for a CPU.
 */
#include "analysis/cpu_time.h"
#include "analysis/stacks.h"
#include "cmd.h"
#include "exit.h"
#include "base/log.h"
#include "cli/opt/opt.h"
#include "output.h"
#include "report/report.h"
#include "report_stacks.h"
#include "trace.h"

#define TOP_THREADS	10

static const struct opt report_rows[] = {
	{ .name = "top", .letter = 'n', .kind = OPT_U64, .metavar = "N",
	  .help = "show N threads [10] or lines of stacks [40]",
	  .offset = offsetof(struct report_cfg, top), .max = 1000000 },
	{ .name = "json", .letter = 'j', .kind = OPT_FLAG, .help = "print one JSON object",
	  .offset = offsetof(struct report_cfg, json) },
	{ .name = "stacks", .kind = OPT_OPTIONAL, .metavar = "SOURCE",
	  .help = "a tree of stack samples: cpu, off-cpu, waker",
	  .offset = offsetof(struct report_cfg, stacks) },
	{ .name = "inverted", .kind = OPT_FLAG, .help = "stacks: callers below the functions they called",
	  .offset = offsetof(struct report_cfg, inverted) },
	{ .name = "by", .kind = OPT_STRING, .metavar = "WHAT", .help = "stacks: a tree by thread, process, comm or cgroup",
	  .offset = offsetof(struct report_cfg, by) },
	{ .name = "comm", .kind = OPT_STRING, .metavar = "GLOB", .help = "stacks: only of threads of that name",
	  .offset = offsetof(struct report_cfg, comm) },
	{ .name = "pid", .kind = OPT_U64, .metavar = "PID", .help = "stacks: only of this process",
	  .offset = offsetof(struct report_cfg, pid) },
	{ .name = "inlines", .kind = OPT_FLAG, .help = "stacks: with functions that were inlined",
	  .offset = offsetof(struct report_cfg, inlines) },
	{ .name = "debuginfod", .kind = OPT_FLAG, .help = "stacks: fetch debug files (network), with inlines",
	  .offset = offsetof(struct report_cfg, debuginfod) },
	{ .name = "from", .kind = OPT_DURATION, .metavar = "T", .help = "stacks: only from this time on: 12.5, 12500ms",
	  .offset = offsetof(struct report_cfg, from_ns) },
	{ .name = "to", .kind = OPT_DURATION, .metavar = "T", .help = "stacks: only up to this time",
	  .offset = offsetof(struct report_cfg, to_ns) },
	{ 0 },
};

static const struct opt_command report_command = {
	.name = "report",
	.operands = "FILE",
	.summary = "Summarise a trace: CPUs, rates, busy threads, stacks; FILE may be -, gzip, zstd.",
	.rows = report_rows,
	.examples = "kfxt report trace.fxt\n"
		    "kfxt report -n 3 --json trace.fxt | jq '.busiest[].thread'\n"
		    "kfxt report --stacks=off-cpu --comm 'nginx*' trace.fxt\n"
		    "kfxt report --stacks=cpu --inverted --by process trace.fxt\n",
	.operands_min = 1,
	.operands_max = 1,
};

/* Returns 0 or -errno, the message is printed; what came before damaged compression is there. */
static int read_trace(struct report *r, struct trace *t)
{
	struct fxt_reader_stats stats;
	struct fxt_record rec;
	int got, err = 0;

	while (!err && (got = trace_next(t, &rec)) > 0)
		err = timeline_add(r->tl, &rec, fxt_reader_ticks_per_second(t->reader));
	if (!err && got < 0 && !input_was_readable(got))
		return got;
	fxt_reader_stats(t->reader, &stats);
	if (!err)
		err = cpu_time_count(&r->time, r->tl, stats.by_kind[FXT_KIND_DAMAGED] || got < 0);
	if (err) {
		log_error("report: %s: %s", input_name(t->in), input_error(err));
		return err;
	}
	summary_init(&r->summary, r->tl, &stats);
	if (stats.by_kind[FXT_KIND_DAMAGED])
		log_warn("report: %s: damaged, what follows is incomplete (see kfxt verify)",
			 input_name(t->in));
	if (timeline_is_cut(r->tl))
		log_warn("report: %s: cut short, its end is missing (see kfxt verify)",
			 input_name(t->in));
	return got;
}

static int report_path(const struct report_cfg *cfg, struct report *r, const char *path)
{
	struct trace t;
	int err;

	err = trace_open(&t, "report", path);
	if (err)
		return trace_exit_code(err);
	err = read_trace(r, &t);
	trace_is_damaged(&t);
	trace_close(&t);
	if (err && !input_was_readable(err))
		return EXIT_FAILED;
	(cfg->json ? report_threads.json : report_threads.text)(r, cfg);
	return err ? EXIT_FAILED : EXIT_OK;
}

static int report_threads_of(struct report_cfg *cfg, const char *path)
{
	struct report r = { 0 };
	int code = EXIT_FAILED;

	if (cfg->top == REPORT_TOP_DEFAULT)
		cfg->top = TOP_THREADS;
	if (timeline_open(&r.tl))
		log_error("report: out of memory");
	else
		code = report_path(cfg, &r, path);
	cpu_time_free(&r.time);
	timeline_close(r.tl);
	return code;
}

/* The option that has no meaning without --stacks; NULL: there is none. */
static const char *stray_option(const struct report_cfg *cfg)
{
	return cfg->inverted ? "inverted" : cfg->inlines ? "inlines" : cfg->debuginfod ? "debuginfod" : cfg->by ? "by" : cfg->comm ? "comm" : cfg->pid != STACKS_PROCESS_ANY ? "pid" :
	       cfg->from_ns ? "from" : cfg->to_ns ? "to" : NULL;
}

int cmd_report(int argc, char **argv)
{
	struct report_cfg cfg = { .top = REPORT_TOP_DEFAULT, .pid = STACKS_PROCESS_ANY };
	int operand = opt_parse(&report_command, &cfg, argc, argv);

	if (operand <= 0)
		return operand ? EXIT_USAGE : EXIT_OK;
	if (!cfg.stacks && stray_option(&cfg)) {
		log_error("report: --%s: only with --stacks", stray_option(&cfg));
		return EXIT_USAGE;
	}
	output_begin();
	return cfg.stacks ? report_stacks(&cfg, argv[operand]) : report_threads_of(&cfg, argv[operand]);
}
