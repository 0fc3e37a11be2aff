// SPDX-License-Identifier: GPL-2.0
/*
 * kfxt diff: which functions have more or less of one trace than of another, by their stack samples.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "analysis/stacks_diff.h"
#include "analysis/stacks_folded.h"
#include "report/columns.h"
#include "base/log.h"
#include "cli/opt/opt.h"
#include "cmd.h"
#include "exit.h"
#include "output.h"
#include "report/schema.h"
#include "report/stacks_diff_print.h"
#include "report_stacks.h"

#define TOP_DEFAULT	UINT64_MAX
#define TOP_TEXT	20

struct diff_cfg {
	const char *stacks, *comm;
	uint64_t top;
	bool total, folded, json;
};

static const struct opt diff_rows[] = {
	{ .name = "top", .letter = 'n', .kind = OPT_U64, .metavar = "N", .help = "show the N functions that changed most [20]",
	  .offset = offsetof(struct diff_cfg, top), .max = 1000000 },
	{ .name = "json", .letter = 'j', .kind = OPT_FLAG, .help = "print one JSON object",
	  .offset = offsetof(struct diff_cfg, json) },
	{ .name = "stacks", .kind = OPT_STRING, .metavar = "SOURCE", .help = "compare samples of: cpu, off-cpu, waker",
	  .offset = offsetof(struct diff_cfg, stacks) },
	{ .name = "total", .kind = OPT_FLAG, .help = "compare functions with all they called",
	  .offset = offsetof(struct diff_cfg, total) },
	{ .name = "comm", .kind = OPT_STRING, .metavar = "GLOB", .help = "only threads of that name",
	  .offset = offsetof(struct diff_cfg, comm) },
	{ .name = "folded", .kind = OPT_FLAG, .help = "print each stack with its value before and after",
	  .offset = offsetof(struct diff_cfg, folded) },
	{ 0 },
};

static const struct opt_command diff_command = {
	.name = "diff",
	.operands = "BEFORE AFTER",
	.summary = "Compare the stack samples of two traces; a file may be -, gzip, zstd.",
	.rows = diff_rows,
	.examples = "kfxt diff before.fxt after.fxt\n"
		    "kfxt diff --stacks=off-cpu --total --comm 'nginx*' before.fxt after.fxt\n"
		    "kfxt diff --folded before.fxt after.fxt > diff.folded\n",
	.operands_min = 2,
	.operands_max = 2,
};

/* Both traces. */
struct run {
	const struct diff_cfg *cfg;
	const char *paths[STACKS_SIDES];
	struct stacks *stacks[STACKS_SIDES];
	enum profile_source source;
};

/* The CPU's, or else the first of which both traces have samples. */
static enum profile_source common_source(const struct run *run)
{
	enum profile_source source = 0;

	while (source < PROFILE_SOURCE_CNT && (!run->stacks[STACKS_BEFORE]->counts[source].all.samples ||
					       !run->stacks[STACKS_AFTER]->counts[source].all.samples))
		source++;
	return source;
}

static int choose_source(struct run *run)
{
	unsigned int side;

	if (run->source == PROFILE_SOURCE_CNT) {
		run->source = common_source(run);
		if (run->source == PROFILE_SOURCE_CNT) {
			log_error("diff: there is no source of stack samples that both traces have");
			return EXIT_FAILED;
		}
		if (stacks_only_source(run->stacks[STACKS_BEFORE]) == PROFILE_SOURCE_CNT ||
		    stacks_only_source(run->stacks[STACKS_AFTER]) == PROFILE_SOURCE_CNT)
			log_info("diff: stacks of %s (--stacks chooses others)", profile_source_name(run->source));
	}
	for (side = 0; side < STACKS_SIDES; side++) {
		if (run->stacks[side]->counts[run->source].all.samples)
			continue;
		log_error("diff: %s: no %s samples in it", run->paths[side], profile_source_name(run->source));
		return EXIT_FAILED;
	}
	return EXIT_OK;
}

static int print_folded(const struct run *run)
{
	struct stacks_folded f = { .comm = run->cfg->comm };
	int err = stacks_folded_add(&f, run->stacks[STACKS_BEFORE], run->source, STACKS_BEFORE);

	err = err ? err : stacks_folded_add(&f, run->stacks[STACKS_AFTER], run->source, STACKS_AFTER);
	if (!err)
		stacks_folded_write(&f, stdout, STACKS_SIDES);
	stacks_folded_fini(&f);
	return err;
}

static void print_json(const struct stacks_diff *d, const struct stacks_diff_print *print)
{
	struct json j;

	json_init(&j, stdout, false);
	json_schema_object(&j);
	stacks_diff_print_json(&j, d, print);
	json_end(&j);
}

static int print_functions(const struct run *run)
{
	const struct diff_cfg *cfg = run->cfg;
	const struct stacks_diff_cfg diff_cfg = { .source = run->source, .total = cfg->total, .comm = cfg->comm };
	struct stacks_diff_print print = { .top = cfg->top, .width = columns_of_terminal(STDOUT_FILENO) };
	struct stacks_diff d;
	int err = stacks_diff_init(&d, run->stacks[STACKS_BEFORE], run->stacks[STACKS_AFTER], &diff_cfg);

	memcpy(print.paths, run->paths, sizeof(print.paths));
	if (!err && cfg->json) {
		print_json(&d, &print);
	} else if (!err) {
		print.top = cfg->top == TOP_DEFAULT ? TOP_TEXT : cfg->top;
		stacks_diff_print_text(&d, &print);
	}
	stacks_diff_fini(&d);
	return err;
}

static int print_all(struct run *run)
{
	int code = choose_source(run);

	if (code)
		return code;
	if (run->cfg->folded ? print_folded(run) : print_functions(run)) {
		log_error("diff: out of memory");
		return EXIT_FAILED;
	}
	return EXIT_OK;
}

static int check_words(struct run *run)
{
	const struct diff_cfg *cfg = run->cfg;

	run->source = PROFILE_SOURCE_CNT;
	if (cfg->stacks) {
		run->source = stacks_source_word("diff", cfg->stacks);
		if (run->source == PROFILE_SOURCE_CNT)
			return EXIT_USAGE;
	}
	if (cfg->folded && (cfg->json || cfg->total || cfg->top != TOP_DEFAULT)) {
		log_error("diff: --folded: not together with --json, --total and -n");
		return EXIT_USAGE;
	}
	if (!strcmp(run->paths[STACKS_BEFORE], "-") && !strcmp(run->paths[STACKS_AFTER], "-")) {
		log_error("diff: -: standard input is one trace only");
		return EXIT_USAGE;
	}
	return EXIT_OK;
}

int cmd_diff(int argc, char **argv)
{
	const struct stacks_cfg stacks_cfg = { .process = STACKS_PROCESS_ANY };
	struct diff_cfg cfg = { .top = TOP_DEFAULT };
	int operand = opt_parse(&diff_command, &cfg, argc, argv), code, printed;
	struct run run = { .cfg = &cfg };
	unsigned int side;

	if (operand <= 0)
		return operand ? EXIT_USAGE : EXIT_OK;
	memcpy(run.paths, argv + operand, sizeof(run.paths));
	code = check_words(&run);
	if (code)
		return code;
	output_begin();
	for (side = 0; side < STACKS_SIDES && (!side || run.stacks[side - 1]); side++) {
		printed = stacks_of_path(&run.stacks[side], &stacks_cfg, "diff", run.paths[side]);
		code = code ? code : printed;
	}
	if (run.stacks[STACKS_BEFORE] && run.stacks[STACKS_AFTER]) {
		printed = print_all(&run);
		code = printed ? printed : code;
	}
	stacks_close(run.stacks[STACKS_BEFORE]);
	stacks_close(run.stacks[STACKS_AFTER]);
	return code;
}
