// SPDX-License-Identifier: GPL-2.0
#include "compress_opts.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "cli/exit.h"
#include "base/log.h"
#include "base/num.h"

static bool ends_with(const char *text, const char *end)
{
	const size_t len = strlen(text), end_len = strlen(end);

	return len >= end_len && !strcmp(text + len - end_len, end);
}

static enum compress_method method_of_name(const char *output)
{
	enum compress_method m;

	for (m = COMPRESS_NONE + 1; m < COMPRESS_METHOD_CNT; m++)
		if (ends_with(output, compress_suffix(m)))
			return m;
	return COMPRESS_NONE;
}

/* Takes a method's name off the beginning of *@how. */
static enum compress_method take_method(const char **how)
{
	const size_t len = strcspn(*how, ":");
	enum compress_method m;

	for (m = COMPRESS_NONE + 1; m < COMPRESS_METHOD_CNT; m++) {
		if (strlen(compress_name(m)) == len && !strncmp(*how, compress_name(m), len)) {
			*how += len + ((*how)[len] && (*how)[len + 1]);
			return m;
		}
	}
	return COMPRESS_NONE;
}

static int choose(const char *how, const char *command, const char *output, struct compress_cfg *cfg)
{
	const char *level = how, *why;
	uint64_t number;
	int max;

	cfg->method = take_method(&level) ?: method_of_name(output) ?: COMPRESS_GZIP;
	cfg->level = compress_level_default(cfg->method);
	max = compress_level_max(cfg->method);
	if (!*level)
		return EXIT_OK;
	if (num_parse_u64(level, &number, &why)) {
		log_error("%s: --compress: not gzip, zstd or a level: '%s'", command, how);
		return EXIT_USAGE;
	}
	if (number < 1 || number > (uint64_t)max) {
		log_error("%s: --compress: levels of %s are 1 to %d: '%s'", command, compress_name(cfg->method),
			  max, how);
		return EXIT_USAGE;
	}
	cfg->level = (int)number;
	return EXIT_OK;
}

int compress_opts_choose(struct compress_opts *opts, const char *command, const char **output,
			 const char *default_output, struct compress_cfg *cfg)
{
	cfg->method = COMPRESS_NONE;
	if (!opts->how) {
		if (method_of_name(*output))
			log_warn("%s: is not compressed despite its name (-z compresses)", *output);
		return EXIT_OK;
	}
	if (choose(opts->how, command, *output, cfg))
		return EXIT_USAGE;
	if (*output == default_output) {
		snprintf(opts->output, sizeof(opts->output), "%s%s", default_output, compress_suffix(cfg->method));
		*output = opts->output;
	}
	return EXIT_OK;
}
