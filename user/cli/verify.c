// SPDX-License-Identifier: GPL-2.0
/*
 * kfxt verify: runs the checks of verify_format.c and verify_sense.c over a
 * trace and prints what they found.
 */
#include <stdio.h>
#include <stdlib.h>

#include "analysis/findings.h"
#include "base/log.h"
#include "cmd.h"
#include "exit.h"
#include "cli/opt/opt.h"
#include "output.h"
#include "repair.h"
#include "report/verify_print.h"
#include "trace.h"

struct verify_cfg {
	bool quiet, json, repair;
	const char *output;
};

static const struct opt verify_rows[] = {
	{ .name = "quiet", .letter = 'q', .kind = OPT_FLAG,
	  .help = "print nothing, only set the exit status",
	  .offset = offsetof(struct verify_cfg, quiet) },
	{ .name = "json", .letter = 'j', .kind = OPT_FLAG, .help = "print one JSON object",
	  .offset = offsetof(struct verify_cfg, json) },
	{ .name = "repair", .kind = OPT_FLAG, .help = "write a whole trace of a damaged or cut one",
	  .offset = offsetof(struct verify_cfg, repair) },
	{ .name = "output", .letter = 'o', .kind = OPT_STRING, .metavar = "FILE",
	  .help = "where --repair writes it",
	  .offset = offsetof(struct verify_cfg, output) },
	{ 0 },
};

static const struct opt_command verify_command = {
	.name = "verify",
	.operands = "FILE...",
	.summary = "Check a trace for damage and contradictions; FILE may be -, gzip, zstd.\n"
		   "Several files: also that each begins where the one before it ends.\n"
		   "Exit status: 0 clean, 3 problems found, 1 not readable.",
	.rows = verify_rows,
	.examples = "kfxt verify trace.fxt\n"
		    "kfxt record -o - -d 10 | kfxt verify -\n"
		    "kfxt verify --repair cut.fxt -o whole.fxt\n",
	.operands_min = 1,
	.operands_max = OPT_ROWS_MAX * 1000,
};

/* Returns 0 or -errno, the message is printed; what came before damaged compression is judged. */
static int verify_trace(struct verify *v, struct trace *t)
{
	struct fxt_record rec;
	int got, err = 0;

	while (!err && (got = trace_next(t, &rec)) > 0)
		err = verify_format_record(v, &rec, fxt_reader_ticks_per_second(t->reader));
	if (!err && got < 0 && !input_was_readable(got))
		return got;
	if (!err)
		err = verify_finish(v, t->reader);
	if (err)
		log_error("verify: %s: %s", input_name(t->in), input_error(err));
	return err ?: got;
}

/* With its place among @files->cnt of them. */
struct files {
	char **paths;
	int cnt, at;
	struct verify_joint joint;
};

static int verify_path(const struct verify_cfg *cfg, struct verify *v, struct files *files)
{
	const char *path = files->paths[files->at];
	bool is_damaged;
	struct trace t;
	int err;

	err = trace_open(&t, "verify", path);
	if (err)
		return trace_exit_code(err);
	err = verify_trace(v, &t);
	is_damaged = trace_is_damaged(&t);
	trace_close(&t);
	if (err && !input_was_readable(err))
		return EXIT_FAILED;
	if (files->cnt > 1)
		verify_joint(v, &files->joint, !files->at);
	if (files->cnt > 1 && !cfg->json && !cfg->quiet)
		printf("%s%s:\n", files->at ? "\n" : "", path);
	if (cfg->json && !cfg->quiet)
		verify_print_json(v);
	else if (!cfg->quiet)
		verify_print_text(v);
	if (err)
		return EXIT_FAILED;
	return verify_count(v) || is_damaged ? EXIT_PROBLEMS : EXIT_OK;
}

/* Which of the options go together; the message is printed. */
static bool is_wrong(const struct verify_cfg *cfg, int cnt)
{
	const char *why = !cfg->repair && cfg->output ? "--output: only with --repair" :
			  cfg->repair && !cfg->output ? "--repair: needs a file to write (-o FILE)" :
			  cfg->repair && cfg->json ? "--json: not with --repair" :
			  cfg->repair && cnt > 1 ? "--repair: one file at a time" : NULL;

	if (why)
		log_error("verify: %s", why);
	return why;
}

/* The worst exit code there was: what cannot be read says less of the rest than of itself. */
static int verify_files(const struct verify_cfg *cfg, struct verify *v, struct files *files)
{
	int code = EXIT_OK, one;

	for (; files->at < files->cnt; files->at++) {
		if (verify_init(v)) {
			log_error("verify: out of memory");
			return EXIT_FAILED;
		}
		one = verify_path(cfg, v, files);
		verify_fini(v);
		if (one == EXIT_FAILED || code == EXIT_OK)
			code = one;
	}
	return code;
}

int cmd_verify(int argc, char **argv)
{
	struct verify_cfg cfg = { 0 };
	int operand = opt_parse(&verify_command, &cfg, argc, argv);
	struct files *files;
	struct verify *v;
	int code = EXIT_FAILED;

	if (operand <= 0)
		return operand ? EXIT_USAGE : EXIT_OK;
	if (is_wrong(&cfg, argc - operand))
		return EXIT_USAGE;
	if (cfg.quiet)
		log_set_level(LOG_LEVEL_ERROR);
	if (cfg.repair)
		return repair_file(argv[operand], cfg.output);
	output_begin();
	v = malloc(sizeof(*v));
	files = calloc(1, sizeof(*files));
	if (v && files) {
		files->paths = argv + operand;
		files->cnt = argc - operand;
		code = verify_files(&cfg, v, files);
	} else {
		log_error("verify: out of memory");
	}
	free(files);
	free(v);
	return code;
}
