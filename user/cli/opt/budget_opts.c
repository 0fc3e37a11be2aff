// SPDX-License-Identifier: GPL-2.0
#include "budget_opts.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "cli/exit.h"

#define PERCENT_MIN	0.001
#define PERCENT_MAX	100000.0	/* of a thousand CPUs all */
#define DIGITS_MAX	12

/* Digits with at most one point in or before them, and a percent sign. */
static const char *check(const char *text, double *percent)
{
	const size_t len = strspn(text, "0123456789.");
	const char *point = memchr(text, '.', len);

	if (strcmp(text + len, "%") != 0)
		return "not a percentage of one CPU (1%, 0.5%)";
	if (len > DIGITS_MAX || (point && memchr(point + 1, '.', text + len - point - 1)) || !isdigit(text[len ? len - 1 : 0]))
		return "not a number";
	*percent = strtod(text, NULL);
	return *percent < PERCENT_MIN || *percent > PERCENT_MAX ? "not from 0.001% to 100000%" : NULL;
}

const char *budget_opts_check(const char *text)
{
	static char line[160];
	double percent;
	const char *why = check(text, &percent);

	if (why)
		snprintf(line, sizeof(line), "%s: '%.80s'", why, text);
	return why ? line : NULL;
}

int budget_opts_choose(const struct budget_opts *opts, const char *command, double *limit)
{
	double percent = 0;
	const char *why = opts->percent ? check(opts->percent, &percent) : NULL;

	*limit = percent / 100;
	if (!why)
		return EXIT_OK;
	log_error("%s: --budget: %s: '%s'", command, why, opts->percent);
	return EXIT_USAGE;
}
