// SPDX-License-Identifier: GPL-2.0
/*
 * kfxt report --stacks: where threads used CPU time, where they blocked, and who woke them.
 */
#include "report_stacks.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analysis/stacks_view.h"
#include "report/columns.h"
#include "base/log.h"
#include "exit.h"
#include "inlined.h"
#include "report/schema.h"
#include "report/stacks_print.h"
#include "trace.h"

#define TOP_TEXT	40

/* ---- reading ----------------------------------------------------------------- */

static int read_stacks(struct stacks *s, struct trace *t)
{
	struct fxt_record rec;
	int got, err = 0;

	while (!err && (got = trace_next(t, &rec)) > 0)
		err = stacks_read(s, &rec);
	if (err) {
		log_error("%s: %s: %s", t->command, input_name(t->in), input_error(err));
		return err;
	}
	return got;
}

/* What was not as it should be, of samples that were read. */
static void warn_of_samples(const struct stacks *s, const struct trace *t)
{
	struct profile_stats stats;

	if (!s->reader)
		return;
	profile_reader_stats(s->reader, &stats);
	if (stats.skipped || stats.damaged)
		log_warn("%s: %s: %" PRIu64 " samples could not be used, %" PRIu64 " BLOBs are damaged", t->command,
			 input_name(t->in), stats.skipped, stats.damaged);
	if (stats.unknown_stack || stats.unknown_frames)
		log_warn("%s: %s: %" PRIu64 " samples refer to stacks and %" PRIu64 " stacks to frames or names that are not in it",
			 t->command, input_name(t->in), stats.unknown_stack, stats.unknown_frames);
	if (stats.dropped)
		log_warn("%s: %s: %" PRIu64 " names, frames and stacks are left out: too many", t->command,
			 input_name(t->in), stats.dropped);
}

static void warn_of_damage(const struct trace *t)
{
	struct fxt_reader_stats stats;

	fxt_reader_stats(t->reader, &stats);
	if (stats.by_kind[FXT_KIND_DAMAGED])
		log_warn("%s: %s: damaged, samples are missing (see kfxt verify)", t->command, input_name(t->in));
	trace_is_damaged(t);
}

static bool has_samples(const struct stacks *s)
{
	enum profile_source source = 0;

	while (source < PROFILE_SOURCE_CNT && !s->counts[source].all.samples)
		source++;
	return source < PROFILE_SOURCE_CNT;
}

static int read_trace(struct stacks *s, struct trace *t)
{
	int err = read_stacks(s, t);

	if (err && !input_was_readable(err))
		return EXIT_FAILED;
	warn_of_damage(t);
	warn_of_samples(s, t);
	return err ? EXIT_FAILED : EXIT_OK;
}

int stacks_of_path(struct stacks **out, const struct stacks_cfg *cfg, const char *command, const char *path)
{
	struct stacks *s;
	struct trace t;
	int code, err = trace_open(&t, command, path);

	if (err)
		return trace_exit_code(err);
	if (stacks_open(&s, cfg)) {
		log_error("%s: out of memory", command);
		trace_close(&t);
		return EXIT_FAILED;
	}
	code = read_trace(s, &t);
	if (has_samples(s)) {
		*out = s;
	} else {
		if (code == EXIT_OK)
			log_error("%s: %s: no stack samples%s (kfxt record --sample, --off-cpu and --wakers record them)",
				  command, input_name(t.in),
				  cfg->from_ns || cfg->to_ns || cfg->process != STACKS_PROCESS_ANY ? " selected" : "");
		code = EXIT_FAILED;
		stacks_close(s);
	}
	trace_close(&t);
	return code;
}

enum profile_source stacks_source_word(const char *command, const char *word)
{
	enum profile_source source = stacks_source_named(word);

	if (source == PROFILE_SOURCE_CNT)
		log_error("%s: --stacks: %s: not a source (cpu, off-cpu, waker, other)", command, word);
	return source;
}

/* ---- printing ---------------------------------------------------------------- */

struct run {
	const struct report_cfg *cfg;
	struct stacks_view_cfg view;
	struct stacks *stacks;
	struct json json;
};

static int print_source(struct run *run, enum profile_source source)
{
	struct stacks_print print = { .top = run->cfg->top };
	struct stacks_view v;
	int err;

	run->view.source = source;
	err = stacks_view_init(&v, run->stacks, &run->view);
	if (err) {
		log_error("report: out of memory");
	} else if (run->cfg->json) {
		stacks_print_json(&run->json, &v, &print);
	} else {
		print.top = print.top == REPORT_TOP_DEFAULT ? TOP_TEXT : print.top;
		print.width = columns_of_terminal(STDOUT_FILENO);
		stacks_print_text(&v, &print);
	}
	stacks_view_fini(&v);
	return err ? EXIT_FAILED : EXIT_OK;
}

/* Each source of which there are samples. */
static int print_sources(struct run *run)
{
	enum profile_source source;
	int code = EXIT_OK;
	bool is_first = true;

	for (source = 0; source < PROFILE_SOURCE_CNT && code == EXIT_OK; source++) {
		if (!run->stacks->counts[source].all.samples)
			continue;
		if (!is_first && !run->cfg->json)
			putchar('\n');
		is_first = false;
		code = print_source(run, source);
	}
	return code;
}

static int print_all(struct run *run, enum profile_source source)
{
	int code;

	if (run->cfg->json) {
		json_init(&run->json, stdout, false);
		json_schema_object(&run->json);
		json_key(&run->json, "stacks");
		json_array(&run->json);
	}
	code = source == PROFILE_SOURCE_CNT ? print_sources(run) : print_source(run, source);
	if (run->cfg->json) {
		json_end(&run->json);
		json_end(&run->json);
	}
	return code;
}

/* ---- options ----------------------------------------------------------------- */

static int parse_by(const char *word, enum stacks_by *by)
{
	static const char *const words[STACKS_BY_CNT] = {
		"", "thread", "process", "comm", "cgroup", "container", "unit",
	};

	*by = STACKS_BY_NOTHING;
	if (!word)
		return EXIT_OK;
	for (*by = STACKS_BY_THREAD; *by < STACKS_BY_CNT; (*by)++)
		if (!strcmp(words[*by], word))
			return EXIT_OK;
	log_error("report: --by: %s: not a group (thread, process, comm, cgroup, container, unit)", word);
	return EXIT_USAGE;
}

/* Reads the stacks with the functions inlined in them, if these are asked for. An enum exit_code. */
static int read_path(struct run *run, const char *path)
{
	const struct report_cfg *cfg = run->cfg;
	struct stacks_cfg stacks_cfg = { .from_ns = cfg->from_ns, .to_ns = cfg->to_ns, .process = cfg->pid };
	struct inlined *inlined = NULL;
	int code;

	if (cfg->debuginfod && !getenv("DEBUGINFOD_URLS"))
		log_warn("report: --debuginfod: DEBUGINFOD_URLS is not set (only debug files on this machine are used)");
	if (cfg->inlines || cfg->debuginfod) {
		if (inlined_open(&inlined, cfg->debuginfod)) {
			log_error("report: out of memory");
			return EXIT_FAILED;
		}
		stacks_cfg.inlined = inlined_frames;
		stacks_cfg.inlined_ctx = inlined;
	}
	code = stacks_of_path(&run->stacks, &stacks_cfg, "report", path);
	inlined_close(inlined);
	return code;
}

int report_stacks(const struct report_cfg *cfg, const char *path)
{
	struct run run = { .cfg = cfg, .view = { .inverted = cfg->inverted, .comm = cfg->comm } };
	enum profile_source source = PROFILE_SOURCE_CNT;
	int code = parse_by(cfg->by, &run.view.by), printed;

	if (code == EXIT_OK && *cfg->stacks) {
		source = stacks_source_word("report", cfg->stacks);
		code = source == PROFILE_SOURCE_CNT ? EXIT_USAGE : EXIT_OK;
	}
	if (code == EXIT_OK)
		code = read_path(&run, path);
	if (!run.stacks)
		return code;
	if (source != PROFILE_SOURCE_CNT && !run.stacks->counts[source].all.samples) {
		log_error("report: %s: no %s samples in it", path, cfg->stacks);
		code = EXIT_FAILED;
	} else {
		printed = print_all(&run, source);
		code = printed ? printed : code;
	}
	stacks_close(run.stacks);
	return code;
}
