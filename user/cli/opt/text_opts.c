// SPDX-License-Identifier: GPL-2.0
/*
 * From the words of --redact to its expressions.
 */
#include "text_opts.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "base/redact.h"
#include "capture/tasks.h"
#include "cli/exit.h"

const char *text_opts_check_redact(const char *regex)
{
	static char line[400];
	struct redact *r;
	char why[256];
	int err;

	if (redact_open(&r))
		return NULL;
	err = redact_add(r, regex, why, sizeof(why));
	redact_close(r);
	if (err == -EINVAL)
		snprintf(line, sizeof(line), "%s: '%.80s'", why, regex);
	return err == -EINVAL ? line : NULL;
}

int text_opts_choose(const struct text_opts *opts, const char *command, struct tasks_hidden *out)
{
	struct redact *r = NULL;
	char why[256];
	unsigned int i;
	int err = opts->redact.cnt ? redact_open(&r) : 0;

	for (i = 0; !err && i < opts->redact.cnt; i++) {
		err = redact_add(r, opts->redact.items[i], why, sizeof(why));
		if (err == -EINVAL)
			log_error("%s: --redact: %s: '%s'", command, why, opts->redact.items[i]);
	}
	if (err) {
		if (err == -ENOMEM)
			log_error("%s: --redact: %s", command, strerror(ENOMEM));
		redact_close(r);
		return exit_of(err);
	}
	*out = (struct tasks_hidden){ .cmdlines = opts->no_cmdlines, .redact = r };
	return EXIT_OK;
}
