// SPDX-License-Identifier: GPL-2.0
/*
 * From the options about functions to the choice, and back to words.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "session/session.h"
#include "elf/user_symbols.h"
#include "cli/exit.h"
#include "func_opts.h"
#include "base/log.h"

#define NAMES_SHOWN	5

int func_opts_choose(const struct func_opts *opts, const char *command, bool only_list,
		     struct funcs **out)
{
	const struct funcs_cfg cfg = {
		.globs = opts->globs.items, .globs_cnt = opts->globs.cnt,
		.user = opts->user.items, .user_cnt = opts->user.cnt,
		.via = opts->via.items, .via_cnt = opts->via.cnt,
		.returns = opts->returns, .parents = opts->parents, .no_excludes = opts->no_excludes,
		.comms = opts->comms,
		.max_rate = opts->max_rate,
		.strings_from = recorder_strings_from, .only_list = only_list,
	};
	char why[1536];
	int err;

	if (!cfg.globs_cnt && !cfg.user_cnt) {
		if (!cfg.returns && !cfg.parents && !cfg.via_cnt && !cfg.max_rate)
			return EXIT_OK;
		log_error("%s: --returns, --caller, --func-via and --func-max-rate need -f or -u", command);
		return EXIT_USAGE;
	}
	err = funcs_open(out, &cfg, why, sizeof(why));
	if (!err)
		return EXIT_OK;
	log_error("%s: %s", command, why);
	return exit_of(err);
}

static void show_refused(const struct funcs *f, unsigned int refused)
{
	unsigned int cnt, i, shown = 0;
	const struct func *funcs = funcs_all(f, &cnt);
	char names[512];
	size_t len = 0;

	for (i = 0; i < cnt; i++) {
		if (!funcs[i].refused)
			continue;
		if (shown++ < NAMES_SHOWN && len < sizeof(names))
			len += snprintf(names + len, sizeof(names) - len, "%s%s", len ? ", " : "", funcs[i].name);
		log_debug("refused: %s", funcs[i].name);
	}
	log_warn("%u function%s not traced, the kernel refuses %s: %s%s", refused, refused == 1 ? " is" : "s are",
		 refused == 1 ? "it" : "them", names,
		 refused > NAMES_SHOWN ? ", ... (-v lists all)" : "");
}

const char *func_opts_noun(bool user, unsigned int cnt)
{
	if (user)
		return cnt == 1 ? "function of a program" : "functions of programs";
	return cnt == 1 ? "kernel function" : "kernel functions";
}

void func_opts_show_attached(const struct funcs *f)
{
	struct funcs_counts c;

	funcs_counts(f, &c);
	if (c.kernel)
		log_info("%u %s by %s%s", c.kernel, func_opts_noun(false, c.kernel), func_features[funcs_via(f, false)].name,
			 c.excluded ? " (excluding those that kfxt itself calls)" : "");
	if (c.user)
		log_info("%u %s by %s", c.user, func_opts_noun(true, c.user), func_features[funcs_via(f, true)].name);
	if (c.usdt)
		log_info("%u USDT probe%s", c.usdt, c.usdt == 1 ? "" : "s");
	if (c.attach_ns)
		log_info("attached in %.2f s", c.attach_ns / 1e9);
	if (c.refused)
		show_refused(f, c.refused);
}

/* Which functions --func-max-rate left out most. */
static void show_ratelimited(const struct funcs *f, uint64_t all)
{
	unsigned int cnt, i, n;
	const struct func *funcs = funcs_all(f, &cnt);
	uint64_t limit = UINT64_MAX;
	char names[512];
	size_t len = 0;

	for (n = 0; n < NAMES_SHOWN && len < sizeof(names); n++) {
		unsigned int best = 0;
		uint64_t most = 0;

		for (i = 0; i < cnt; i++) {
			uint64_t left_out = funcs_ratelimited(f, i);

			if (left_out > most && left_out < limit) {
				most = left_out;
				best = i;
			}
		}
		if (!most)
			break;
		limit = most;
		len += snprintf(names + len, sizeof(names) - len, "%s%s %llu", len ? ", " : "",
				funcs[best].name, (unsigned long long)most);
	}
	for (i = 0; i < cnt; i++)
		if (funcs_ratelimited(f, i))
			log_debug("rate-limited: %s %llu", funcs[i].name, (unsigned long long)funcs_ratelimited(f, i));
	log_warn("%llu call%s rate-limited by --func-max-rate: %s", (unsigned long long)all, all == 1 ? "" : "s", names);
}

static void warn_callers(uint64_t cnt, const char *what)
{
	if (cnt)
		log_warn("%llu caller%s %s", (unsigned long long)cnt, cnt == 1 ? "" : "s", what);
}

static void show_unnamed_callers(const struct funcs *f)
{
	struct user_symbols_counts c;

	funcs_user_parents(f, &c);
	if (c.events_err)
		log_warn("callers in short-lived programs have no names: new mappings are not reported: %s "
			 "(root helps, or kernel.perf_event_paranoid at most 2)", strerror(-c.events_err));
	if (c.maps_lost)
		log_warn("lost %llu record%s of mappings: too many at once", (unsigned long long)c.maps_lost,
			 c.maps_lost == 1 ? "" : "s");
	warn_callers(c.unmapped, "without a name: what was mapped there is not known");
	warn_callers(c.no_file, "without a name: their code is in no file");
	warn_callers(c.unreadable, "named by file and offset: the file could not be read, or was replaced");
}

void func_opts_show_end(const struct funcs *f, const struct ledger_row *calls)
{
	struct funcs_counts c;

	funcs_counts(f, &c);
	if (calls->ratelimited)
		show_ratelimited(f, calls->ratelimited);
	show_unnamed_callers(f);
	if (c.unfinished)
		log_info("%llu call%s had not returned at the end (argument unfinished)",
			 (unsigned long long)c.unfinished, c.unfinished == 1 ? "" : "s");
}
