// SPDX-License-Identifier: GPL-2.0
/*
 * From the options about threads to the filter.
 */
#include <errno.h>

#include "capture/thread_filter.h"
#include "cli/exit.h"
#include "filter_opts.h"
#include "base/log.h"

int filter_opts_choose(const struct filter_opts *opts, const char *command, bool has_command, bool stays,
		       struct filter **out)
{
	const struct filter_cfg cfg = {
		.pids = { opts->pids.items, opts->pids.cnt }, .tids = { opts->tids.items, opts->tids.cnt },
		.comms = { opts->comms.items, opts->comms.cnt },
		.cgroups = { opts->cgroups.items, opts->cgroups.cnt }, .follow = opts->follow,
		.stays = stays,
	};
	char why[512];
	int err;

	if (cfg.follow && !has_command) {
		log_error("%s: --follow needs a command", command);
		return EXIT_USAGE;
	}
	err = filter_open(out, &cfg, why, sizeof(why));
	if (err)
		log_error("%s: %s", command, why);
	else if (filter_absent(*out))
		log_warn("%s: --cgroup %s: there is none yet", command, filter_absent(*out));
	return exit_of(err);
}
