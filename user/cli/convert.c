// SPDX-License-Identifier: GPL-2.0
/*
 * kfxt convert: what others recorded, as FXT. One pass through wrapper peeling,
 * line parser and trace builder; nothing is kept but tables of threads and names.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../build/builder.h"
#include "../ftrace/census.h"
#include "../ftrace/parse.h"
#include "../ftrace/peel.h"
#include "../fxt/fxt.h"
#include "../record/clock.h"
#include "../record/sink.h"
#include "cmd.h"
#include "convert.h"
#include "exit.h"
#include "input.h"
#include "log.h"
#include "opt.h"
#include "output.h"

#define READ_BYTES	(1 << 20)
#define NS_PER_SECOND	1000000000ULL

struct convert_cfg {
	const char *output;
	const char *input_format;
	const char *stats;
	uint64_t clock_rate;
	bool strict;
};

static const struct opt rows[] = {
	{ "output", 'o', OPT_STRING, "FILE", "write to FILE; - is stdout, for a pipe",
	  offsetof(struct convert_cfg, output), "trace.fxt", 0, 0 },
	{ "input-format", 0, OPT_STRING, "F", "auto, text, html or json",
	  offsetof(struct convert_cfg, input_format), "auto", 0, 0 },
	{ "clock-rate", 0, OPT_U64, "HZ", "rate of integer time stamps (x86-tsc and the like)",
	  offsetof(struct convert_cfg, clock_rate), NULL, 1, 0 },
	{ "stats", 0, OPT_STRING, "FORMAT", "json: print all counts to stdout",
	  offsetof(struct convert_cfg, stats), NULL, 0, 0 },
	{ "strict", 0, OPT_FLAG, NULL, "exit 3 if any line could not be parsed",
	  offsetof(struct convert_cfg, strict), NULL, 0, 0 },
	{ 0 },
};

static const struct opt_command command = {
	.name = "convert",
	.operands = "FILE",
	.summary = "Convert ftrace text, bare or wrapped in HTML, JSON or gzip, to FXT.",
	.rows = rows,
	.examples = "kfxt convert -o trace.fxt /sys/kernel/tracing/trace\n"
		    "trace-cmd report | kfxt convert -o - - > trace.fxt\n"
		    "kfxt convert --stats json systrace.html | jq .input\n",
	.operands_min = 1,
	.operands_max = 1,
};

/* One conversion. */
struct run {
	const struct convert_cfg *cfg;
	const char *path;
	enum peel_format format;
	struct input *in;
	struct peel *peel;
	struct ftrace_parser *parser;
	struct census *census;		/* NULL: not asked for */
	struct builder *builder;
	struct fxt_writer *w;
	struct sink *sink;
	uint64_t size_bytes;		/* of the input, 0 if not known */
	uint64_t read_bytes, shown_ns;
	bool progress;
};

/* Counts and builds; an ftrace_emit_fn. */
static int take(void *ctx, const struct ftrace_event *event)
{
	struct run *run = ctx;
	int err = run->census ? census_add(run->census, event) : 0;

	return err ? err : builder_add(run->builder, event);
}

static long read_input(void *ctx, void *buf, size_t len)
{
	struct run *run = ctx;
	long got = input_read(run->in, buf, len);

	if (got > 0)
		run->read_bytes += got;
	return got;
}

static void show_progress(struct run *run)
{
	uint64_t now;

	if (!run->progress)
		return;
	now = clock_ns(CLOCK_MONOTONIC);
	if (now - run->shown_ns < NS_PER_SECOND / 4)
		return;
	run->shown_ns = now;
	if (run->size_bytes)
		fprintf(stderr, "\r%.0f %% of %.1f MiB\033[K", 100.0 * run->read_bytes / run->size_bytes,
			run->size_bytes / 1048576.0);
	else
		fprintf(stderr, "\r%.1f MiB\033[K", run->read_bytes / 1048576.0);
}

/* The input's own error, with its words; -EPIPE and the like are the output's. */
static int convert_text(struct run *run, bool *of_input)
{
	char *buf = malloc(READ_BYTES);
	bool begins, first = true;
	long got = 0;
	int err = buf ? 0 : -ENOMEM;

	while (!err && (got = peel_read(run->peel, buf, READ_BYTES, &begins)) > 0) {
		if (begins && !first)
			err = ftrace_parser_end(run->parser);
		first = false;
		err = err ? err : ftrace_parser_feed(run->parser, buf, got);
		show_progress(run);
	}
	*of_input = got < 0;
	if (got < 0)
		err = got;
	err = err ? err : ftrace_parser_end(run->parser);
	if (run->progress)
		fprintf(stderr, "\r\033[K");
	free(buf);
	return err;
}

static int open_all(struct run *run)
{
	const struct builder_cfg builder_cfg = {
		.source = "ftrace",
		.ticks_per_second = run->cfg->clock_rate,
	};
	int err = fxt_writer_open(&run->w, sink_write, run->sink);

	err = err ? err : builder_open(&run->builder, run->w, &builder_cfg);
	err = err ? err : peel_open(&run->peel, run->format, read_input, run);
	err = err ? err : ftrace_parser_open(&run->parser, take, run);
	if (!err && run->cfg->stats)
		err = census_open(&run->census);
	return err;
}

static int open_input(struct run *run)
{
	struct stat st;
	int err = input_open(&run->in, run->path);

	if (err) {
		log_error("convert: %s: %s", run->path, input_error(err));
		return err == -ENOTTY ? EXIT_USAGE : EXIT_FAILED;
	}
	if (strcmp(run->path, "-") && !stat(run->path, &st) && S_ISREG(st.st_mode))
		run->size_bytes = st.st_size;
	return EXIT_OK;
}

static int open_output(struct run *run)
{
	const char *hint;
	int err = sink_open(&run->sink, &(struct sink_cfg){ .path = run->cfg->output }, &hint);

	if (!err)
		return EXIT_OK;
	log_error("convert: %s: %s%s%s%s", run->cfg->output,
		  err == -ENOTTY ? "is a terminal" : strerror(-err), hint ? " (" : "",
		  hint ? hint : "", hint ? ")" : "");
	return err == -ENOTTY ? EXIT_USAGE : EXIT_FAILED;
}

/* What is to be said of the input, once it is known. */
static int judge(const struct run *run, const struct convert_totals *t)
{
	unsigned int i;

	if (t->peel.problem)
		log_warn("%s: %s at byte %llu (what could be read was converted)", run->path, t->peel.problem,
			 (unsigned long long)t->peel.problem_offset);
	for (i = 0; i < t->input.unparsed && i < FTRACE_UNPARSED_KEPT; i++)
		log_debug("%s:%llu: %s", run->path, (unsigned long long)t->input.first_unparsed[i].line,
			  t->input.first_unparsed[i].reason);
	if (t->peel.trace_events)
		log_warn("%s: %llu Trace Event JSON events are not converted, only its ftrace text",
			 run->path, (unsigned long long)t->peel.trace_events);
	if (!t->input.records) {
		log_error("convert: %s: no ftrace record in it (read as %s; --input-format forces a format)",
			  run->path, t->peel.wrapper);
		return EXIT_FAILED;
	}
	return run->cfg->strict && t->input.unparsed ? EXIT_PROBLEMS : EXIT_OK;
}

static int finish(struct run *run, int err, bool of_input)
{
	struct convert_totals totals = { .path = run->path, .output = run->cfg->output };
	int code;

	err = err ? err : builder_end(run->builder);
	err = err ? err : fxt_writer_flush(run->w);
	if (err) {
		log_error("convert: %s: %s", of_input ? run->path : run->cfg->output,
			  of_input ? input_error(err) : strerror(-err));
		return EXIT_FAILED;
	}
	totals.census = run->census;
	peel_info(run->peel, &totals.peel);
	ftrace_parser_stats(run->parser, &totals.input);
	builder_stats(run->builder, &totals.built);
	fxt_writer_stats(run->w, &totals.written);
	code = judge(run, &totals);
	if (code == EXIT_FAILED && strcmp(run->cfg->output, "-"))
		unlink(run->cfg->output);	/* a trace of nothing */
	if (run->cfg->stats)
		convert_print_json(&totals);
	if (code != EXIT_FAILED)
		convert_print_summary(&totals);
	return code;
}

static void close_all(struct run *run)
{
	ftrace_parser_close(run->parser);
	peel_close(run->peel);
	builder_close(run->builder);
	census_close(run->census);
	fxt_writer_close(run->w);
	sink_close(run->sink);
	input_close(run->in);
}

static int check_words(struct run *run)
{
	const struct convert_cfg *cfg = run->cfg;

	while (run->format < PEEL_FORMAT_CNT &&
	       strcmp(cfg->input_format, peel_format_name(run->format)))
		run->format++;
	if (run->format == PEEL_FORMAT_CNT) {
		log_error("convert: --input-format: %s: not a format (auto, text, html, json)",
			  cfg->input_format);
		return EXIT_USAGE;
	}
	if (cfg->stats && strcmp(cfg->stats, "json")) {
		log_error("convert: --stats: %s: not a format (json)", cfg->stats);
		return EXIT_USAGE;
	}
	if (cfg->stats && !strcmp(cfg->output, "-")) {
		log_error("convert: --stats: stdout is taken by the trace (name a file with -o)");
		return EXIT_USAGE;
	}
	return EXIT_OK;
}

int cmd_convert(int argc, char **argv)
{
	struct convert_cfg cfg = { 0 };
	struct run run = { .cfg = &cfg };
	int first = opt_parse(&command, &cfg, argc, argv), code, err;
	bool of_input = false;

	if (first <= 0)
		return first ? EXIT_USAGE : EXIT_OK;
	run.path = argv[first];
	run.progress = isatty(STDERR_FILENO) && log_get_level() >= LOG_LEVEL_INFO;
	output_begin();
	code = check_words(&run);
	code = code ? code : open_input(&run);
	code = code ? code : open_output(&run);
	if (!code) {
		err = open_all(&run);
		err = err ? err : convert_text(&run, &of_input);
		code = finish(&run, err, of_input);
	}
	close_all(&run);
	return output_end("convert", code);
}
