/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The option -z: whether, how and how much to compress what is written.
 */
#ifndef CLI_OPT_COMPRESS_OPTS_H
#define CLI_OPT_COMPRESS_OPTS_H

#include "io/compress.h"
#include "opt.h"

struct compress_opts {
	const char *how;		/* NULL: not given */
	char output[16];		/* the default's name with the method's suffix */
};

/* Rows of a command whose config type @cfg has a struct compress_opts @field. */
#define COMPRESS_OPTS(cfg, field) \
	{ .name = "compress", .letter = 'z', .kind = OPT_OPTIONAL, .metavar = "HOW", \
	  .help = "compress, with gzip: -z, -z9, or zstd: -zzstd:5", \
	  .offset = offsetof(cfg, field.how) }

/*
 * HOW is a method, a level, or METHOD:LEVEL. Without a method, one that @output is named
 * for, or gzip. If @output is @default_output (the same pointer), it gets the method's
 * suffix. An exit code; the message is printed, as @command's.
 */
int compress_opts_choose(struct compress_opts *opts, const char *command, const char **output,
			 const char *default_output, struct compress_cfg *cfg);

#endif
