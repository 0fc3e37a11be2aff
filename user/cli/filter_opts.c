// SPDX-License-Identifier: GPL-2.0
/*
 * From the options about threads to the filter.
 */
#include <errno.h>

#include "../record/filter.h"
#include "exit.h"
#include "filter_opts.h"
#include "log.h"

int filter_opts_choose(const struct filter_opts *opts, bool has_command, struct filter **out)
{
	const struct filter_cfg cfg = {
		.pids = { opts->pids.items, opts->pids.cnt }, .tids = { opts->tids.items, opts->tids.cnt },
		.comms = { opts->comms.items, opts->comms.cnt },
		.cgroups = { opts->cgroups.items, opts->cgroups.cnt }, .follow = opts->follow,
	};
	char why[512];
	int err;

	if (cfg.follow && !has_command) {
		log_error("record: --follow needs a command");
		return EXIT_USAGE;
	}
	err = filter_open(out, &cfg, why, sizeof(why));
	if (err)
		log_error("record: %s", why);
	return exit_of(err);
}
