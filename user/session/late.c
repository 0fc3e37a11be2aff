// SPDX-License-Identifier: GPL-2.0
/*
 * What the kernel lets wait: sources when the recording begins, most of which a process of its own attaches, and command lines; and
 * cgroups for which there is no place. The trace says since when they are recorded, or again and again, for each of several
 * files, that they are not.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "capture/sources.h"
#include "capture/sources_aside.h"
#include "capture/thread_filter.h"
#include "detacher.h"
#include "fxt/fxt.h"
#include "io/sink.h"
#include "kernel/btf.h"
#include "ledger.h"
#include "session_p.h"

#define NS_PER_MS	1000000ULL
#define AGAIN_NS	1000000000ULL
#define LOOK_MS		20
#define STARVED_NS	(100 * NS_PER_MS)	/* runnable and not run: as with the recorder itself */
#define PATIENCE_NS	(500 * NS_PER_MS)	/* without a step and without a CPU; a grace period is mostly over in a tenth of a second */

/* ---- the process that attaches ---------------------------------------------------------------- */

static void attach(void *ctx, int until_fd)
{
	sources_aside_attach(ctx, until_fd);
	kernel_btf_release();
}

static void count(void *ctx)
{
	sources_aside_count(ctx);
}

static void detach_first(void *ctx)
{
	sources_aside_detach(ctx);
}

/* How far it is. */
struct progress {
	unsigned int steps;
	uint64_t ran_ns;
	uint64_t since_ns;		/* it has made none since */
};

/* Since when it has made none. */
static uint64_t none_since(struct progress *p, unsigned int steps, const struct detacher_look *look, uint64_t now_ns)
{
	if (!p->since_ns || steps != p->steps || look->ran_ns != p->ran_ns)
		*p = (struct progress){ steps, look->ran_ns, now_ns };
	return p->since_ns;
}

static void say_what_for(const struct detacher_look *look, char *text, size_t size)
{
	if (look->state == 'R')
		snprintf(text, size, "the process that attaches, kfxt-attach, does not get a CPU");
	else if (look->state == 'T' || look->state == 't')
		snprintf(text, size, "the process that attaches, kfxt-attach, is stopped");
	else if (strstr(look->where, "rcu"))
		snprintf(text, size, "the kernel waits for an RCU grace period");
	else if (strstr(look->where, "cpuhp"))
		snprintf(text, size, "the kernel waits for its thread cpuhp/N of a CPU");
	else
		snprintf(text, size, "the kernel lets kfxt-attach wait%s%s", look->where[0] ? " in " : "", look->where);
}

static bool go_on(const struct recorder *r, const struct sources_aside_look *look)
{
	if (!r->cfg->progress)
		return true;
	return r->cfg->progress(r->cfg->progress_ctx, "attaching", look->done, look->all, look->what ?: "functions and tracepoints");
}

static int wait_for_it(struct recorder *r, const char **what)
{
	struct progress progress = { 0 };
	struct sources_aside_look aside;
	struct detacher_look look;
	uint64_t now_ns, since_ns;
	bool attached;

	while (true) {
		attached = detacher_attached(r->detacher, LOOK_MS);
		sources_aside_look(r->cfg->sources, &aside);
		*what = aside.which;
		if (aside.err || attached)
			return aside.err;
		*what = "the process that attaches, kfxt-attach, was ended";
		if (!detacher_lives(r->detacher))
			return -ECHILD;
		if (!go_on(r, &aside))
			return -ECANCELED;
		now_ns = clock_ns(CLOCK_MONOTONIC);
		look = detacher_look(r->detacher);
		since_ns = none_since(&progress, aside.steps, &look, now_ns);
		if (now_ns - since_ns > PATIENCE_NS)
			break;
		if (now_ns - since_ns > STARVED_NS && look.state == 'R')
			detacher_hurry(r->detacher);
	}
	say_what_for(&look, r->waits, sizeof(r->waits));
	return 0;
}

/* Of several files each is trimmed when it is complete, and not held open nor changed after that. -1: none. */
static int output_of(const struct recorder *r)
{
	return r->rotation.is_open ? -1 : sink_file(r->sink);
}

int recorder_attach_aside(struct recorder *r, const struct idle_times *begin, const char **what)
{
	struct sources *sources = r->cfg->sources;
	const bool any = sources_aside_any(sources);
	int err;

	*what = "starting a process";
	err = detacher_open(&r->detacher, &(struct detacher_cfg){
		.attach = any ? attach : NULL, .count = sources_detach_at_stop(sources) ? count : NULL, .first = detach_first,
		.ctx = sources, .begin = begin, .says = any && log_get_level() >= LOG_LEVEL_DEBUG, .output = output_of(r), .sources = sources,
	});
	/* Without it what is attached is detached by the recorder, as long as that takes. */
	if (err)
		err = any ? err : 0;
	else if (any)
		err = wait_for_it(r, what);
	if (!err)
		*what = NULL;
	return err;
}

void recorder_open_detacher(struct recorder *r)
{
	detacher_open(&r->detacher, &(struct detacher_cfg){ .output = output_of(r), .sources = r->cfg->sources });
}

/* ---- in the trace ------------------------------------------------------------------------------ */

static int write_late(struct recorder *r, const struct source_late *late, uint64_t at_ns)
{
	const struct fxt_arg args[] = {
		fxt_arg_str("source", fxt_str(late->name)),
		late->since_ns ? fxt_arg_u64("after_ns", late->since_ns - r->start_ns) :
				 fxt_arg_str("why", fxt_str_inline(late->why, strlen(late->why))),
	};

	return ledger_write_event(r->w, "late", late->since_ns ?: at_ns, args, 2);
}

bool recorder_late(const struct recorder *r, unsigned int *kind, struct source_late *late)
{
	if (sources_late(r->cfg->sources, kind, late))
		return true;
	while (*kind < LATE_CNT)
		if ((*kind)++ == LATE_NAMES ? tasks_late(r->tasks, late) : filter_late(r->cfg->filter, late))
			return true;
	return false;
}

void recorder_look_for_detacher(struct recorder *r)
{
	if (!detacher_lives(r->detacher))
		sources_aside_end(r->cfg->sources, "the process that has it attached, kfxt-detach, was ended");
}

int recorder_write_late(struct recorder *r, uint64_t at_ns, bool end)
{
	struct source_late late;
	unsigned int kind = 0;
	int err = 0;

	recorder_look_for_detacher(r);
	while (!err && recorder_late(r, &kind, &late)) {
		struct said_late *said = &r->said_late[kind - 1];

		if (late.since_ns ? said->since_ns == late.since_ns : !end && said->at_ns && at_ns - said->at_ns < AGAIN_NS)
			continue;
		*said = (struct said_late){ late.since_ns, at_ns };
		err = write_late(r, &late, at_ns);
	}
	return err;
}
