/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The options of kfxt record and a recording by them, also for a command that records for another reason than to
 * keep a trace.
 */
#ifndef CLI_RECORD_H
#define CLI_RECORD_H

#include <stdbool.h>
#include <stdint.h>

#include "base/num.h"
#include "cli/opt/archive_opts.h"
#include "cli/opt/budget_opts.h"
#include "cli/opt/compress_opts.h"
#include "cli/opt/filter_opts.h"
#include "cli/opt/func_opts.h"
#include "cli/opt/opt.h"
#include "cli/opt/self_opts.h"
#include "cli/opt/stack_opts.h"
#include "cli/opt/stats_opts.h"
#include "cli/opt/text_opts.h"
#include "io/compress.h"

struct record_summary;

struct record_cfg {
	const char *output;
	const char *output_format;	/* NULL: by the name of the output */
	uint64_t duration_ns;
	uint64_t ring_bytes;
	struct num_cpus cpus;
	bool no_perfetto_packets;
	bool propagate_exit, strict;
	struct opt_list events;
	struct func_opts funcs;
	struct stack_opts stacks;
	struct filter_opts filter;
	struct self_opts self;
	struct compress_opts compress;
	struct stats_opts stats;
	struct text_opts texts;
	struct archive_opts archive;
	struct budget_opts budget;
	struct opt_config config;	/* closed once nothing else is used */
};

/* What another command does with a recording, whose output it does not keep: it is written to /dev/null. */
struct record_use {
	const char *name;		/* of the command, for messages */
	struct compress_cfg compress;	/* if the options select none, and the output is FXT */
	uint64_t age_max_ns;		/* of a window, which makes no files: its blocks are a part of it */
	uint64_t keep_ns, keep_bytes;	/* set by record_run(): as the options have it; 0: not given */
	void *ctx;			/* of the functions */
	/* All is attached and nothing recorded yet; rights are as at the start. An exit code; the message is printed. */
	int (*opened)(void *ctx, const struct record_summary *s);
	/* A few times a second, after the rings were drained. The first one begins the time of @duration_ns. */
	void (*tick)(void *ctx);
	/* The recording has ended; in place of its summary and counts. The same as opened(). */
	int (*ended)(void *ctx, const struct record_summary *s);
};

extern const struct opt_command record_command;

/*
 * Records by the options in @cfg, which it completes, until what they say ends it. @argv: the command to run, or NULL.
 * @use: NULL for kfxt record itself; its @compress becomes what is used. An exit code; messages are printed.
 */
int record_run(struct record_cfg *cfg, struct record_use *use, char **argv);

#endif
