// SPDX-License-Identifier: GPL-2.0
/*
 * kfxt convert: from one format to another. One pass through a reader, the trace builder (which
 * FXT does not need) and a writer; nothing is kept but tables of threads and names, and what a
 * writer sorts.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "model/builder.h"
#include "format/formats.h"
#include "fxt/fxt.h"
#include "base/clock.h"
#include "io/sink.h"
#include "cmd.h"
#include "exit.h"
#include "io/input.h"
#include "base/log.h"
#include "cli/opt/opt.h"
#include "output.h"
#include "output_format.h"
#include "convert_stats.h"

#define NS_PER_SECOND	1000000000ULL

struct convert_cfg {
	const char *output;
	const char *input_format;
	const char *output_format;	/* NULL: by the name of the output */
	const char *sched;
	const char *stacks;
	const char *stats;
	uint64_t clock_rate;
	bool strict;
};

static const struct opt rows[] = {
	{ .name = "output", .letter = 'o', .kind = OPT_STRING, .metavar = "FILE", .help = "write to FILE; - is stdout, for a pipe",
	  .offset = offsetof(struct convert_cfg, output), .value = "trace.fxt" },
	{ .name = "input-format", .kind = OPT_STRING, .metavar = "F", .help = "text, html, json, trace-event, perfetto, fxt",
	  .offset = offsetof(struct convert_cfg, input_format), .value = "auto" },
	{ .name = "output-format", .kind = OPT_STRING, .metavar = "F", .help = "fxt, json, perfetto, folded, pprof, speedscope",
	  .offset = offsetof(struct convert_cfg, output_format) },
	{ .name = "sched", .kind = OPT_STRING, .metavar = "FORM", .help = "scheduling in JSON as ftrace, slices or states",
	  .offset = offsetof(struct convert_cfg, sched) },
	{ .name = "stacks", .kind = OPT_STRING, .metavar = "SOURCE", .help = "which samples a profile is of: cpu, off-cpu, waker",
	  .offset = offsetof(struct convert_cfg, stacks) },
	{ .name = "clock-rate", .kind = OPT_U64, .metavar = "HZ", .help = "rate of integer time stamps (x86-tsc and the like)",
	  .offset = offsetof(struct convert_cfg, clock_rate), .min = 1 },
	{ .name = "stats", .kind = OPT_STRING, .metavar = "FORMAT", .help = "json: print all counts to stdout",
	  .offset = offsetof(struct convert_cfg, stats) },
	{ .name = "strict", .kind = OPT_FLAG, .help = "exit 3 if a line was not parsed or out of order",
	  .offset = offsetof(struct convert_cfg, strict) },
	{ 0 },
};

static const struct opt_command command = {
	.name = "convert",
	.operands = "FILE",
	.summary = "Convert ftrace text, JSON, Perfetto traces and FXT to these, stacks to profiles.",
	.rows = rows,
	.examples = "kfxt convert -o trace.fxt /sys/kernel/tracing/trace\n"
		    "trace-cmd report | kfxt convert -o - - > trace.fxt\n"
		    "kfxt convert -o trace.json.gz trace.fxt\n"
		    "kfxt convert -o trace.pftrace trace.fxt\n"
		    "kfxt convert --stacks=off-cpu -o trace.folded trace.fxt\n"
		    "kfxt convert --stats json systrace.html | jq .input\n",
	.operands_min = 1,
	.operands_max = 1,
};

/* One conversion. */
struct run {
	const struct convert_cfg *cfg;
	const char *path;
	struct input *in;
	const struct reader_ops *reader;
	const char *form;		/* of the reader's input, NULL: by content */
	void *reading;
	struct builder *builder;
	struct fxt_writer *w;
	const struct writer_ops *writer;
	void *writing;
	const char *sched;		/* one of the writer's */
	enum compress_method method;
	struct sink *sink;
	bool input_failed, output_failed, published;
	char head[FORMATS_HEAD_BYTES];		/* read before it was known what reads it */
	size_t head_len, head_at;
	const char *hint;		/* why it could not be published */
	uint64_t size_bytes;		/* of the input, 0 if not known */
	uint64_t read_bytes, shown_ns;
	bool progress;
};

static bool has_records(const struct run *run)
{
	struct builder_stats built;
	struct reader_counts read;

	if (!run->builder) {
		run->reader->counts(run->reading, &read);
		return read.records;
	}
	builder_stats(run->builder, &built);
	return built.records;
}

/* The output takes its name once there is an event in it; a format_write_fn. */
static int write_output(void *ctx, const void *data, size_t len)
{
	struct run *run = ctx;
	int err = sink_write(run->sink, data, len);

	if (err || run->published || !has_records(run))
		return err;
	run->published = true;
	return sink_publish(run->sink, &run->hint);
}

/* What the builder makes; an fxt_write_fn. */
static int write_records(void *ctx, const void *data, size_t len)
{
	struct run *run = ctx;
	int err = run->writer->record(run->writing, data, len);

	run->output_failed |= err != 0;
	return err;
}

/* What was looked at already. */
static long read_head(struct run *run, void *buf, size_t len)
{
	size_t left = run->head_len - run->head_at;

	len = len < left ? len : left;
	memcpy(buf, run->head + run->head_at, len);
	run->head_at += len;
	return (long)len;
}

static long read_input(void *ctx, void *buf, size_t len)
{
	struct run *run = ctx;
	long got = read_head(run, buf, len);

	if (got)
		return got;
	got = input_read(run->in, buf, len);
	if (got > 0)
		run->read_bytes += got;
	run->input_failed = got < 0;
	return got;
}

/* A format_read_at_fn. */
static long read_input_at(void *ctx, void *buf, size_t len, uint64_t offset)
{
	struct run *run = ctx;
	long got = input_read_at(run->in, buf, len, offset);

	run->input_failed = got < 0;
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

static int read_all(struct run *run)
{
	int more;

	while ((more = run->reader->read(run->reading)) > 0)
		show_progress(run);
	if (run->progress)
		fprintf(stderr, "\r\033[K");
	return more;
}

static int open_builder(struct run *run)
{
	const struct builder_cfg cfg = {
		.source = run->reader->name,
		.ticks_per_second = run->cfg->clock_rate,
	};
	const struct writer_cfg writer_cfg = { .write = write_output, .ctx = run, .sched = run->sched, .stacks = run->cfg->stacks };
	int err = run->writer->open(&run->writing, &writer_cfg);

	if (err || run->reader->makes_records)
		return err;
	err = fxt_writer_open(&run->w, write_records, run);
	return err ? err : builder_open(&run->builder, run->w, &cfg);
}

static int open_reader(struct run *run)
{
	const struct reader_cfg reader_cfg = {
		.form = run->form,
		.read = read_input,
		.read_at = input_can_seek(run->in) ? read_input_at : NULL,
		.read_ctx = run,
		.builder = run->builder,
		.statistics = run->cfg->stats,
		.record = write_records,
		.record_ctx = run,
	};

	return run->reader->open(&run->reading, &reader_cfg);
}

/* Reads as much as shows which reader it is for. */
static int recognize(struct run *run)
{
	long got = 1;

	while (got > 0 && !formats_is_enough(run->head, run->head_len)) {
		got = input_read(run->in, run->head + run->head_len, sizeof(run->head) - run->head_len);
		run->head_len += got > 0 ? (size_t)got : 0;
	}
	run->read_bytes = run->head_len;
	if (got < 0) {
		log_error("convert: %s: %s", run->path, input_error((int)got));
		return EXIT_FAILED;
	}
	run->reader = formats_recognize(run->path, run->head, run->head_len);
	return EXIT_OK;
}

/* FXT that is to be written as FXT is left to the reader that refuses it. */
static void check_reader(struct run *run)
{
	if (run->reader->makes_records && run->writer->writes_fxt) {
		run->reader = formats_reader("text", &run->form);
		run->form = NULL;
	}
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
	return run->reader ? EXIT_OK : recognize(run);
}

static int output_error(const struct run *run, int err, const char *hint)
{
	log_error("convert: %s: %s%s%s%s%s", run->cfg->output, err == -ENOTTY ? "is a terminal" : "cannot write: ",
		  err == -ENOTTY ? "" : strerror(-err), hint ? " (" : "", hint ?: "", hint ? ")" : "");
	return err == -ENOTTY ? EXIT_USAGE : EXIT_FAILED;
}

/* By the name, of what is not FXT: record's option -z is how that is compressed. */
static struct compress_cfg compression_of(const struct run *run)
{
	const enum compress_method method = run->method;

	return (struct compress_cfg){ .method = method, .level = method ? compress_level_default(method) : 0 };
}

static int open_output(struct run *run)
{
	const struct sink_cfg cfg = {
		.path = run->cfg->output, .compress = compression_of(run), .any_bytes = !run->writer->writes_fxt,
		.remove_on_signal = true,
	};
	const char *hint;
	int err = sink_open(&run->sink, &cfg, &hint);

	return err ? output_error(run, err, hint) : EXIT_OK;
}

/* What is to be said of the input, once it is known. */
static int judge(const struct run *run, const struct convert_totals *t)
{
	convert_print_problems(t);
	if (t->input.trace_events)
		log_warn("%s: %llu Trace Event JSON events are not converted, only its ftrace text",
			 run->path, (unsigned long long)t->input.trace_events);
	if (t->input.shifted_s)
		log_warn("%s: the first times are negative: all are shown %llu s later", run->path,
			 (unsigned long long)t->input.shifted_s);
	if (t->built.shifted)
		log_warn("%s:%llu: a second trace overlaps the first in time: shifted by %llu s%s", run->path,
			 (unsigned long long)t->built.shifted_line, (unsigned long long)t->built.shifted_s,
			 t->built.shifted > 1 ? "; those after it likewise" : "");
	if (t->built.out_of_order)
		log_warn("%s:%llu: %llu scheduling records are out of order, here and after: they are instants, not switches or wakeups",
			 run->path, (unsigned long long)t->built.out_of_order_line, (unsigned long long)t->built.out_of_order);
	if (!t->input.records && t->input.foreign) {
		log_error("convert: %s: %s%s, not %s (%s)", run->path, t->input.foreign_is_guess ? "looks like " : "",
			  t->input.foreign, t->input.expected ? t->input.expected : run->reader->about,
			  t->input.foreign_hint);
		return EXIT_FAILED;
	}
	if (!run->read_bytes) {
		log_error("convert: %s: is empty", run->path);
		return EXIT_FAILED;
	}
	if (!t->input.records) {
		if (*t->input.left_out)
			log_error("convert: %s: no %s record in it: %s not converted", run->path, run->reader->name, t->input.left_out);
		else
			log_error("convert: %s: no %s record in it (read as %s; --input-format forces a format)",
				  run->path, run->reader->name, t->input.wrapper);
		return EXIT_FAILED;
	}
	return run->cfg->strict && (t->input.unparsed || t->input.damaged || t->built.out_of_order) ? EXIT_PROBLEMS : EXIT_OK;
}

static int close_writer(struct run *run)
{
	void *writing = run->writing;

	run->writing = NULL;
	return run->writer->close(writing);
}

static void count_left_out(const struct run *run, struct convert_totals *t)
{
	const struct writer_ops *ops = run->writer;
	struct convert_left_out *kind;
	unsigned int i;

	if (!run->writing || !ops->left_out)
		return;
	t->left_out = ops->left_out(run->writing);
	for (i = 0; ops->left_out_kind && i < CONVERT_LEFT_OUT_KINDS - 1; i++) {
		kind = &t->left_out_by_kind[i];
		kind->cnt = ops->left_out_kind(run->writing, i, &kind->one, &kind->many);
		if (!kind->one)
			break;
	}
}

/* Whether there is something to write into a profile; the message is printed, as is which samples are chosen. */
static bool has_samples(const struct run *run)
{
	const char *source;
	bool several;

	if (!run->writer->source)
		return true;
	source = run->writer->source(run->writing, &several);
	if (!source)
		log_error("convert: %s: no %s%sstack samples in it%s", run->path, run->cfg->stacks ?: "",
			  run->cfg->stacks ? " " : "", several ? " (--stacks chooses others)" : "");
	else if (several && !run->cfg->stacks)
		log_info("%s: stacks of %s (--stacks chooses others)", run->cfg->output, source);
	return source;
}

static int finish(struct run *run, int err)
{
	struct convert_totals totals = { .path = run->path, .output = run->cfg->output, .format = run->writer->name };
	bool of_input = run->input_failed && !run->output_failed;
	int code;

	if (run->builder) {
		err = err ? err : builder_end(run->builder);
		err = err ? err : fxt_writer_flush(run->w);
	}
	if (!err && !has_samples(run))
		return EXIT_FAILED;
	count_left_out(run, &totals);
	err = err ? err : close_writer(run);
	err = err ? err : sink_finish(run->sink);
	if (err && !of_input)
		return output_error(run, err, run->hint);
	if (err) {
		log_error("convert: %s: %s", run->path, input_error(err));
		return EXIT_FAILED;
	}
	run->reader->counts(run->reading, &totals.input);
	if (!run->published && totals.input.records) {
		log_error("convert: %s: nothing in it that can be written as %s", run->path, run->writer->name);
		return EXIT_FAILED;
	}
	if (run->builder) {
		builder_stats(run->builder, &totals.built);
		fxt_writer_stats(run->w, &totals.written);
	}
	code = judge(run, &totals);
	if (run->cfg->stats)
		convert_print_json(&totals, run->reader, run->reading);
	if (code != EXIT_FAILED && run->builder)
		convert_print_summary(&totals);
	else if (code != EXIT_FAILED)
		convert_print_passed(&totals);
	return code;
}

static void close_all(struct run *run)
{
	if (run->reader)
		run->reader->close(run->reading);
	builder_close(run->builder);
	fxt_writer_close(run->w);
	if (run->writing)
		close_writer(run);
	sink_close(run->sink);
	input_close(run->in);
}

static int choose_writer(struct run *run)
{
	const char *word = run->cfg->output_format;

	run->writer = output_format(run->cfg->output, &run->method);
	if (!run->writer) {
		log_error("convert: %s", strerror(ENOMEM));
		return EXIT_FAILED;
	}
	if (word)
		run->writer = formats_writer_named(word);
	if (!run->writer) {
		log_error("convert: --output-format: %s: not a format (fxt, json, perfetto, folded, pprof, speedscope)", word);
		return EXIT_USAGE;
	}
	if (run->writer->is_gzip && run->method == COMPRESS_NONE)
		run->method = COMPRESS_GZIP;
	return EXIT_OK;
}

static bool is_pipe(const char *path)
{
	struct stat st;

	return !strcmp(path, "-") || (!stat(path, &st) && !S_ISREG(st.st_mode));
}

static int choose_sched(struct run *run)
{
	const char *const *sched = run->writer->scheds, *word = run->cfg->sched;

	if (!sched) {
		if (word)
			log_error("convert: --sched: only of Trace Event JSON (-o FILE.json)");
		return word ? EXIT_USAGE : EXIT_OK;
	}
	if (!word)
		sched += is_pipe(run->cfg->output);
	while (word && *sched && strcmp(*sched, word) != 0)
		sched++;
	if (!*sched)
		log_error("convert: --sched: %s: not a form (ftrace, slices, states)", word);
	run->sched = *sched;
	return *sched ? EXIT_OK : EXIT_USAGE;
}

static int check_stacks(const struct run *run)
{
	const char *const *source = run->writer->sources, *word = run->cfg->stacks;

	if (!word)
		return EXIT_OK;
	while (source && *source && strcmp(*source, word) != 0)
		source++;
	if (!source)
		log_error("convert: --stacks: only of profiles (-o FILE.folded, FILE.pprof, FILE.speedscope.json)");
	else if (!*source)
		log_error("convert: --stacks: %s: not a source (cpu, off-cpu, waker, other)", word);
	return source && *source ? EXIT_OK : EXIT_USAGE;
}

static int check_words(struct run *run)
{
	const struct convert_cfg *cfg = run->cfg;
	int code = choose_writer(run);

	code = code ? code : choose_sched(run);
	code = code ? code : check_stacks(run);
	if (code)
		return code;
	run->reader = formats_reader(cfg->input_format, &run->form);
	if (!run->reader && strcmp(cfg->input_format, "auto")) {
		log_error("convert: --input-format: %s: not a format (auto, text, html, json, trace-event, perfetto, fxt)",
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

	if (first <= 0)
		return first ? EXIT_USAGE : EXIT_OK;
	run.path = argv[first];
	run.progress = isatty(STDERR_FILENO) && log_get_level() >= LOG_LEVEL_INFO;
	output_begin();
	code = check_words(&run);
	code = code ? code : open_input(&run);
	if (!code)
		check_reader(&run);
	code = code ? code : open_output(&run);
	if (!code) {
		err = open_builder(&run);
		err = err ? err : open_reader(&run);
		err = err ? err : read_all(&run);
		code = finish(&run, err);
	}
	close_all(&run);
	return output_end("convert", code);
}
